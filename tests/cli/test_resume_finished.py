"""A finished run that is resumed says so and succeeds: a supervisor starts again without looking.

One that was asked otherwise, or whose inputs have changed since, is another run: it is refused and named.
"""

import json
import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.cli import main
from lookalike.runs import asked

JOBS = {
    "dedup": "dedup docs.jsonl",
    "dedup by paragraphs": "dedup docs.jsonl --unit paragraph",
    "dedup with a drop list": "dedup docs.jsonl --drop-list",
    "dedup against a run": "dedup more.jsonl --id id --against earlier",
    "pairs of documents": "pairs docs.jsonl",
    "pairs of two collections": "pairs docs.jsonl --with more.jsonl",
    "pairs of sets": "pairs --sets sets.dat",
    "pairs of weighted sets": "pairs --sets sets.dat --measure weighted-jaccard",
    "pairs by meaning": "pairs docs.jsonl --measure tfidf",
    "pairs of strings": "pairs docs.jsonl --measure levenshtein --distance 2",
    "pairs of bits": "pairs bits.parquet --bits",
    "pairs of measurements": "pairs faces.parquet --measurements x y --within 1",
    "pairs of vectors": "pairs vectors.parquet --measure angle --threshold 20deg",
    "top": "top docs.jsonl",
    "top of two collections": "top docs.jsonl --with more.jsonl",
    "decontaminate": "decontaminate docs.jsonl --with more.jsonl",
}
#: For each job something that would change its answer, and how that is told.
OTHERWISE = {
    "dedup": ("--threshold 0.7", "threshold was 0.8 and is 0.7 now"),
    "dedup by paragraphs": ("--keep longest", "keep was 'first' and is 'longest' now"),
    "dedup with a drop list": ("--id id", "id was None and is 'id' now"),
    "dedup against a run": ("--group star", "group was 'components' and is 'star' now"),
    "pairs of documents": ("--seed 3", "seed was 0 and is 3 now"),
    "pairs of two collections": ("--copies stars", "copies was 'all' and is 'stars' now"),
    "pairs of sets": ("--recall 0.9", "recall was 0.95 and is 0.9 now"),
    "pairs of weighted sets": ("--threshold 0.5", "threshold was 0.8 and is 0.5 now"),
    "pairs by meaning": ("--not-copies 0.5", "not_copies was None and is 0.5 now"),
    "pairs of strings": ("--on-error skip", "on_error was 'raise' and is 'skip' now"),
    "pairs of bits": ("--threshold 5", "threshold was None and is '5' now"),
    "pairs of measurements": ("--threshold 0.5", "threshold was 0.8 and is 0.5 now"),
    "pairs of vectors": ("--slots 512", "slots was 4096 and is 512 now"),
    "top": ("-k 3", "k was 10 and is 3 now"),
    "top of two collections": ("--shingle words:2", "shingle was 'words:5' and is 'words:2' now"),
    "decontaminate": ("--run 4", "run was 13 and is 4 now"),
}


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, letter, texts):
        rows = [{"id": f"{letter}{at}", "text": text} for at, text in enumerate(texts)]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    texts = [
        "one two three four five six seven",
        "one two three four five six seven!",
        "eight nine\n\nten eleven",
    ]
    write("docs.jsonl", "d", texts)
    write("more.jsonl", "m", [*texts[1:], "a text of its own that nobody has"])
    (tmp_path / "sets.dat").write_text("1 2 3\n1 2 3 4\n7 8\n")
    pq.write_table(pa.table({"bits": ["ff00", "ff01", "00ff"]}), tmp_path / "bits.parquet")
    pq.write_table(pa.table({"x": [1.0, 1.5, 9.0], "y": [2.0, 2.0, 9.0]}), tmp_path / "faces.parquet")
    pq.write_table(pa.table({"vector": [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]}), tmp_path / "vectors.parquet")
    assert main(["dedup", "docs.jsonl", "--id", "id", "-o", "earlier"]) == 0
    return tmp_path


def state(folder):
    """Every file with its content and its time: nothing may have been touched."""
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("job", JOBS)
def test_the_same_again_says_so_and_other_parameters_are_refused(corpus, type_, refused, job):
    words = [*JOBS[job].split(), "-o", "out"]
    assert type_(*words).code == 0
    before = state(corpus)
    # What does not change the answer may change.
    for more in ([], ["--threads", "1", "--memory", "30MB", "--progress", "off"]):
        again = type_(*words, "--resume", *more)
        assert (again.code, again.out) == (0, "")
        assert re.fullmatch(
            r"Note: the run in \S+out is finished already \(.*\): there is nothing .*\n", again.err
        )
    told = type_(*words, "--resume", "--json")
    assert json.loads(told.out) == json.loads((corpus / "out" / "run.json").read_text())
    other, says = OTHERWISE[job]
    option = other.split()[0]
    kept = words[: words.index(option)] + words[words.index(option) + 2 :] if option in words else words
    message = refused(*kept, *other.split(), "--resume")
    assert "out is finished already" in message
    assert "was asked otherwise" in message
    assert says.partition(" ")[2] in message
    assert "choose another folder, or do it again with --overwrite" in message
    assert state(corpus) == before


@pytest.mark.parametrize("job", ["dedup", "pairs of documents", "top", "decontaminate", "pairs of bits"])
def test_inputs_that_changed_since_are_another_question(corpus, type_, refused, job):
    words = [*JOBS[job].split(), "-o", "out"]
    path = corpus / words[1]
    assert type_(*words).code == 0
    before = state(corpus / "out")
    # A copy with another time is the same file.
    os.utime(path, (1, 1))
    assert type_(*words, "--resume").code == 0
    content = path.read_bytes()
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"bits": ["ff00"]}), path)
    else:
        path.write_bytes(content.replace(b"nine", b"NINE"))
    assert words[1] in refused(*words, "--resume")
    assert state(corpus / "out") == before
    path.write_bytes(content)
    assert type_(*words, "--resume").code == 0


def test_another_job_and_another_file_are_refused(corpus, type_, refused):
    assert type_("dedup", "docs.jsonl", "-o", "out").code == 0
    assert "it was dedup and is top now" in refused("top", "docs.jsonl", "-o", "out", "--resume")
    assert "more.jsonl is new" in refused("dedup", "docs.jsonl", "more.jsonl", "-o", "out", "--resume")
    assert "--drop-list was False and is True" in refused(
        "dedup", "docs.jsonl", "--drop-list", "-o", "out", "--resume"
    )


def test_many_inputs_are_remembered_by_a_digest(corpus, type_, refused, monkeypatch):
    monkeypatch.setattr(asked, "_MOST_REMEMBERED", 1)
    words = ["pairs", "docs.jsonl", "--with", "more.jsonl", "-o", "out"]
    assert type_(*words).code == 0
    assert set(json.loads((corpus / "out" / "run.json").read_text())["asked"]["inputs"]) == {
        "files",
        "digest",
    }
    os.utime(corpus / "docs.jsonl", (1, 1))
    assert type_(*words, "--resume").code == 0
    with open(corpus / "docs.jsonl", "a") as file:
        file.write('{"text": "x"}\n')
    assert "the input files are not the same, or were changed" in refused(*words, "--resume")


def test_a_run_that_does_not_tell_what_it_was_asked_is_neither_taken_nor_replaced(corpus, refused):
    la.dedup("docs.jsonl").write(corpus / "out")
    before = state(corpus / "out")
    message = refused("dedup", "docs.jsonl", "-o", "out", "--resume")
    assert "does not tell all that it was asked" in message
    assert "do it again with --overwrite" in message
    assert state(corpus / "out") == before


def test_a_finished_run_that_lost_a_file_is_not_finished(corpus, type_, refused):
    assert type_("dedup", "docs.jsonl", "-o", "out").code == 0
    (corpus / "out" / "pairs.parquet").unlink()
    message = refused("dedup", "docs.jsonl", "-o", "out", "--resume")
    assert "pairs.parquet is not as the finished run wrote it" in message
    assert type_("dedup", "docs.jsonl", "-o", "out", "--resume", "--overwrite").code == 0
    assert (corpus / "out" / "pairs.parquet").exists()


def test_without_resume_a_finished_run_is_in_the_way_as_ever(corpus, type_, refused):
    assert type_("dedup", "docs.jsonl", "-o", "out").code == 0
    assert "out exists and is not empty" in refused("dedup", "docs.jsonl", "-o", "out")


def test_one_pair_is_told_in_the_singular(corpus, type_):
    for text, told in (('{"text": "a b c d e f"}\n' * 2, "1 pair"), ('{"text": "x"}\n', "0 pairs")):
        (corpus / "two.jsonl").write_text(text)
        words = ["pairs", "two.jsonl", "-o", "alike"]
        assert type_(*words, "--overwrite").code == 0
        assert f"is finished already (pairs, {told})" in type_(*words, "--resume").err
