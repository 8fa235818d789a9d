"""lookalike dedup, from files to a folder."""

import gzip
import io
import json
import os
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

import lookalike
from lookalike.runs import RunRecord


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_folder_holds_kept_rows_clusters_pairs_samples_and_the_record(type_, corpus, tmp_path):
    out = tmp_path / "out"
    ended = type_("dedup", corpus, "--id", "id", "-o", out)
    assert ended.code == 0
    assert ended.err == ""
    assert sorted(entry.name for entry in out.iterdir()) == [
        "clusters.parquet",
        "kept",
        "keys.table",
        "pairs.parquet",
        "run.json",
        "samples.parquet",
    ]
    assert [row["id"] for row in lines_of(out / "kept" / "corpus.jsonl")] == ["d0", "d1", "d4"]
    clusters = {
        row["id"]: row["representative"] for row in pq.read_table(out / "clusters.parquet").to_pylist()
    }
    assert clusters == {"d0": "d0", "d1": "d1", "d2": "d0", "d3": "d1", "d4": "d4"}
    RunRecord.read(out).verify(out)


def test_the_command_finds_what_the_library_finds(type_, large_corpus, tmp_path):
    out = tmp_path / "out"
    assert type_("dedup", large_corpus, "-t", "0.7", "--group", "star", "-o", out).code == 0
    result = lookalike.dedup(large_corpus, threshold=0.7, group="star")
    assert pq.read_table(out / "clusters.parquet").to_pylist() == result.clusters.to_arrow().to_pylist()
    assert pq.read_table(out / "pairs.parquet").to_pylist() == result.pairs.to_arrow().to_pylist()


def test_duplicates_may_be_told_by_cosine(type_, tmp_path):
    # A text and its half: of Jaccard similarity .5, of cosine √.5.
    whole = "one two three four five six seven eight nine ten eleven twelve"
    half = "one two three four five six seven eight"
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in (whole, half)))
    assert type_("dedup", path, "-t", "0.7", "-o", tmp_path / "jaccard").code == 0
    assert len(lines_of(tmp_path / "jaccard" / "kept" / "texts.jsonl")) == 2
    assert type_("dedup", path, "-t", "0.7", "--measure", "cosine", "-o", tmp_path / "cosine").code == 0
    assert lines_of(tmp_path / "cosine" / "kept" / "texts.jsonl") == [{"text": whole}]


def test_the_summary_is_for_people(type_, corpus, tmp_path):
    out = type_("dedup", corpus, "--method", "lsh", "-o", tmp_path / "out").out
    facts = {line[:13].strip(): line[14:] for line in out.splitlines()}
    assert facts["documents"].startswith("5, ")
    assert facts["exact copies"] == "1"
    assert facts["short"].startswith("1,")
    assert facts["near pairs"] == "1 at 0.8 or over"
    assert facts["clusters"] == "2, the largest of 2 and 2 documents"
    assert facts["kept"] == "3 (60.0%), dropped 2"
    assert "95.0% promised at 0.8" in facts["recall"]
    assert "peak memory" in facts["took"]
    assert facts["written"].startswith(str(tmp_path / "out"))


def test_json_is_the_record_of_the_run(type_, corpus, tmp_path):
    ended = type_("dedup", corpus, "-o", tmp_path / "out", "--json")
    assert json.loads(ended.out) == json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert json.loads(ended.out)["counts"]["kept"] == 3
    assert json.loads(ended.out)["command"][:3] == ["lookalike", "dedup", str(corpus)]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [("first", ["d0", "d1", "d4"]), ("longest", ["d1", "d2", "d4"]), ("max:score", ["d2", "d3", "d4"])],
)
def test_which_document_is_kept_can_be_chosen(type_, corpus, tmp_path, keep, kept):
    out = tmp_path / "out"
    assert type_("dedup", corpus, "--id", "id", "--keep", keep, "-o", out).code == 0
    assert [row["id"] for row in lines_of(out / "kept" / "corpus.jsonl")] == kept


def test_a_drop_list_names_what_was_dropped_instead(type_, corpus, tmp_path):
    out = tmp_path / "out"
    assert type_("dedup", corpus, "--id", "id", "--drop-list", "-o", out).code == 0
    assert not (out / "kept").exists()
    assert pq.read_table(out / "dropped.parquet").to_pylist() == [
        {"id": "d2", "representative": "d0"},
        {"id": "d3", "representative": "d1"},
    ]


def test_a_dry_run_tells_the_plan_and_writes_nothing(type_, corpus, tmp_path):
    before = set(tmp_path.iterdir())
    ended = type_("dedup", corpus, "--method", "lsh", "-o", tmp_path / "out", "--dry-run")
    assert ended.code == 0
    assert "bands of" in ended.out
    assert "nothing was written" in ended.out
    assert set(tmp_path.iterdir()) == before
    # Where to write need not be known yet.
    assert type_("dedup", corpus, "--dry-run").code == 0


def test_a_dry_run_shows_what_auto_thinks_of_both_roads(type_, corpus, large_corpus):
    facts = type_("dedup", corpus, "--dry-run").out
    assert "exact prefixes: " in facts
    assert "expected; bands (LSH) would take " in facts
    assert "\n  lsh         about" in facts
    assert "\n  prefix      about" in facts
    told = json.loads(type_("dedup", large_corpus, "--dry-run", "--json").out)
    assert told["choice"]["roads"].keys() == {"lsh", "prefix"}
    assert told["choice"]["why"]


def test_every_method_that_tells_duplicates_is_at_hand(type_, corpus, tmp_path):
    for method in ("auto", "lsh", "prefix", "divide", "signature", "external", "pyramid"):
        out = tmp_path / method
        ended = type_("dedup", corpus, "--method", method, "-o", out, "--json")
        assert ended.code == 0
        record = json.loads(ended.out)
        assert record["counts"]["kept"] == 3
        assert record["estimates"]["method"] == (method if method != "auto" else "prefix")
        assert type_("dedup", corpus, "--method", method, "--dry-run").code == 0


def test_a_dry_run_plans_what_the_run_then_does(type_, large_corpus, tmp_path):
    plan = json.loads(type_("dedup", large_corpus, "--dry-run", "--json").out)
    run = json.loads(type_("dedup", large_corpus, "-o", tmp_path / "out", "--json").out)
    assert plan["plan"] == run["estimates"]["plan"]
    shared = plan["counts"].keys() & run["counts"].keys()
    assert {"documents", "copies", "empty", "short"} <= shared
    assert {name: plan["counts"][name] for name in shared} == {name: run["counts"][name] for name in shared}
    assert plan["expected_seconds"] > 0


def test_a_dry_run_by_bands_counts_the_candidates(type_, large_corpus, write_lines, tmp_path):
    bands = ("--method", "lsh")
    plan = json.loads(type_("dedup", large_corpus, *bands, "--dry-run", "--json").out)
    run = json.loads(type_("dedup", large_corpus, *bands, "-o", tmp_path / "out", "--json").out)
    assert plan["expected_candidates"] == run["counts"]["candidates"] > 100
    # Of a crowd, all that is known is who is in it.
    words = [f"word{at}" for at in range(400)]
    crowd = [" ".join([*words[:at], "other", *words[at + 1 :]]) for at in range(400)]
    path = write_lines(tmp_path / "crowd.jsonl", [{"text": text} for text in crowd])
    assert "in large buckets, compared with leaders" in type_("dedup", path, *bands, "--dry-run").out


def test_a_dry_run_by_rarest_words_plans_what_the_run_then_does(type_, corpus, tmp_path):
    form = ("--shingle", "words:1+rare4")
    plan = json.loads(type_("dedup", corpus, "--dry-run", "--json", *form).out)
    run = json.loads(type_("dedup", corpus, "-o", tmp_path / "out", "--json", *form).out)
    assert plan["plan"] == run["estimates"]["plan"]
    assert plan["counts"]["text_bytes"] == run["counts"]["text_bytes"] > 300
    assert run["counts"]["copies"] == plan["counts"]["copies"] == 1


def test_a_dry_run_still_checks_where_the_output_would_go(refused, corpus, tmp_path):
    (tmp_path / "out").write_text("in the way")
    assert "is a file" in refused("dedup", corpus, "-o", tmp_path / "out", "--dry-run")


def test_standard_input_is_jsonl(corpus, tmp_path):
    command = [sys.executable, "-m", "lookalike", "dedup", "-", "-o", str(tmp_path / "out"), "--json"]
    with open(corpus, "rb") as lines:
        ended = subprocess.run(command, stdin=lines, capture_output=True, check=True)
    assert json.loads(ended.stdout)["counts"]["documents"] == 5
    assert len(lines_of(tmp_path / "out" / "kept" / "standard-input.jsonl")) == 3


def test_folders_globs_and_compressed_files_are_read_and_kept_as_they_came(type_, corpus, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "one.jsonl.gz").write_bytes(gzip.compress(corpus.read_bytes()))
    (folder / "notes.md").write_text("not a kind that is read")
    ended = type_("dedup", f"{folder}/*", tmp_path / "in", "-o", tmp_path / "out")
    assert ended.code == 0
    assert "1 file" in ended.err
    with gzip.open(tmp_path / "out" / "kept" / "one.jsonl.gz", "rt", encoding="utf-8") as kept:
        assert len(kept.readlines()) == 3


def test_progress_goes_to_standard_error_and_can_be_read_by_machines(type_, corpus, tmp_path):
    ended = type_("dedup", corpus, "-o", tmp_path / "out", "--method", "lsh", "--progress", "jsonl", "--json")
    json.loads(ended.out)
    stages = [json.loads(line)["stage"] for line in io.StringIO(ended.err)]
    assert {"read", "sign", "copies", "plan", "candidates", "verify", "cluster", "write"} <= set(stages)


def test_an_earlier_run_is_replaced_only_when_asked(type_, refused, corpus, tmp_path):
    out = tmp_path / "out"
    assert type_("dedup", corpus, "-o", out).code == 0
    first = (out / "run.json").read_bytes()
    assert "--overwrite" in refused("dedup", corpus, "-t", "0.5", "-o", out)
    assert (out / "run.json").read_bytes() == first
    assert type_("dedup", corpus, "-t", "0.5", "-o", out, "--overwrite").code == 0
    assert RunRecord.read(out).parameters["threshold"] == 0.5


def test_output_inside_the_input_is_refused_rather_than_read_the_second_time(
    type_, refused, corpus, tmp_path
):
    out = tmp_path / "deduplicated"
    assert type_("dedup", tmp_path, "-o", out).code == 0
    assert "outside the input" in refused("dedup", f"{tmp_path}/**/*.jsonl", "-o", out, "--overwrite")


def test_advice_is_a_note_on_standard_error(type_, tmp_path):
    for row, text in enumerate(["天地玄黃宇宙洪荒日月盈昃辰宿列張", "寒來暑往秋收冬藏閏餘成歲律呂調陽"]):
        (tmp_path / f"{row}.txt").write_text(text, encoding="utf-8")
    for arguments in (["dedup"], ["dedup", "--dry-run"], ["pairs"]):
        ended = type_(*arguments, f"{tmp_path}/*.txt", "-o", tmp_path / "".join(arguments))
        assert ended.code == 0
        assert ended.err.startswith("Note: 2 documents are written without spaces")
        assert "Note" not in ended.out


def test_threads_do_not_change_the_result(type_, large_corpus, tmp_path):
    tables = []
    for threads in (1, 2, 5):
        out = tmp_path / str(threads)
        assert type_("dedup", large_corpus, "--threads", threads, "-o", out).code == 0
        tables.append([pq.read_table(out / f"{name}.parquet") for name in ("pairs", "clusters", "samples")])
    assert tables[0] == tables[1] == tables[2]


def test_paragraphs_can_be_dropped_instead_of_documents(type_, texts, tmp_path, write_lines):
    path = write_lines(
        tmp_path / "in.jsonl", [{"text": "\n\n".join(texts)}, {"text": texts[0]}, {"text": texts[4]}]
    )
    out = tmp_path / "out"
    ended = type_("dedup", path, "--unit", "paragraph", "-o", out)
    assert (ended.code, ended.err) == (0, "")
    assert [row["text"] for row in lines_of(out / "kept" / "in.jsonl")] == [
        f"{texts[0]}\n\n{texts[1]}\n\n{texts[4]}"
    ]
    facts = {line[:13].strip(): line[14:] for line in ended.out.splitlines()}
    assert facts["units"] == "7"
    assert facts["kept"] == "3 (42.9%), dropped 4"
    assert facts["of documents"] == "0 whole, 1 trimmed, 2 dropped with nothing left"
    assert pq.read_table(out / "documents.parquet")["kept"].to_pylist() == [True, False, False]
    planned = json.loads(type_("dedup", path, "--unit", "paragraph", "--dry-run", "--json").out)
    assert planned["counts"]["units"] == 7
    assert planned["parameters"]["unit"] == "paragraph"


def test_standard_input_may_be_a_pipe_that_nobody_can_read_twice(large_corpus, start, tmp_path):
    process = start("dedup", "-", "-o", tmp_path / "piped", "--json", stdin=subprocess.PIPE)
    out, err = process.communicate(large_corpus.read_text(encoding="utf-8"))
    assert (process.returncode, err) == (0, "")
    named = start("dedup", large_corpus, "-o", tmp_path / "named", "--json").communicate()[0]
    assert json.loads(out)["counts"] == json.loads(named)["counts"]
    kept = tmp_path / "named" / "kept" / large_corpus.name
    assert (tmp_path / "piped" / "kept" / "standard-input.jsonl").read_bytes() == kept.read_bytes()


@pytest.mark.parametrize(
    ("typed", "reason"),
    [("", "nothing to read"), ("no json at all\n", "-, line 1"), ('{"body": "x"}\n', "no column 'text'")],
)
def test_what_is_wrong_on_a_pipe_is_said_as_it_is_of_files(start, tmp_path, typed, reason):
    process = start("dedup", "-", "-o", tmp_path / "out", stdin=subprocess.PIPE)
    _, err = process.communicate(typed)
    assert process.returncode == 2
    assert reason in err
    assert not (tmp_path / "out").exists()


def test_the_stages_tell_of_bringing_many_files_to_disk(type_, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    for at in range(40):
        (tmp_path / "in" / f"{at}.txt").write_text(f"the text of file {at} is its own")
    slow = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: [time.sleep(0.2), slow(descriptor)][1])
    assert type_("dedup", tmp_path / "in", "-o", tmp_path / "out", "--progress", "off").code == 0
    stages = json.loads((tmp_path / "out" / "run.json").read_text())["stages"]
    seconds = {stage["name"]: stage["seconds"] for stage in stages}
    # Forty files, 32 at a time, and their folder.
    assert seconds["write"] > 0.6
