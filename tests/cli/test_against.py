"""lookalike dedup --against: files that come later, and what may be wrong with the folder they come to."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.said_last import said_last
from tests.conformance import texts as made

from lookalike.applications.documents import keys
from lookalike.cli import main
from lookalike.engines import LocalEngine

OPTIONS = ("-t", "0.6", "--method", "lsh", "--progress", "off")


@pytest.fixture
def batches(tmp_path, write_lines, monkeypatch):
    """Three files of one corpus, of texts long enough that their keys are stored."""
    docs = made.families(25, 3, words=250, most=5, changes=8)
    monkeypatch.chdir(tmp_path)
    for at in range(3):
        rows = [{"key": f"k{at}-{row:03}", "body": text} for row, text in enumerate(docs[at::3])]
        write_lines(tmp_path / f"{at}.jsonl", rows)
    return docs


@pytest.fixture
def earlier(batches, type_):
    ended = type_("dedup", "0.jsonl", "--text", "body", "-o", "run", *OPTIONS)
    assert ended.code == 0
    return "run"


def append(type_, *arguments, out="out"):
    return type_(*said_last(["dedup", *OPTIONS, "--text", "body", "-o", out, *arguments]))


def answer(folder):
    tables = [pq.read_table(folder / f"{name}.parquet").to_pylist() for name in ("clusters", "pairs")]
    return [*tables, sorted((path.name, path.read_bytes()) for path in (folder / "kept").iterdir())]


def test_new_files_are_compared_with_what_the_earlier_run_kept(type_, earlier, tmp_path):
    ended = append(type_, "1.jsonl", "--against", earlier)
    assert ended.code == 0
    assert ended.err == ""
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    counts = record["counts"]
    assert counts["duplicates_of_earlier"] > 10
    assert (
        counts["documents"] == counts["kept"] + counts["duplicates_of_earlier"] + counts["duplicates_of_new"]
    )
    assert f"{counts['duplicates_of_earlier']} dropped as like earlier ones" in ended.out
    assert record["parameters"]["against"][0]["folder"] == str(tmp_path / "run")
    rows = pq.read_table(tmp_path / "out" / "clusters.parquet").to_pylist()
    assert all(row["id"].startswith("1.jsonl:") for row in rows)
    # Kept before and kept now, together, are as a corpus without near-duplicates should be.
    hanging = [row for row in rows if row["representative"].startswith("0.jsonl:")]
    assert len(hanging) == counts["duplicates_of_earlier"]
    lines = (tmp_path / "out" / "kept" / "1.jsonl").read_text().splitlines()
    assert len(lines) == counts["kept"]


def test_a_third_batch_comes_to_both(type_, earlier, tmp_path):
    assert append(type_, "1.jsonl", "--against", earlier).code == 0
    both = append(type_, "2.jsonl", "--against", "run/", "out/", out="third")
    assert both.code == 0
    repeated = append(type_, "--against", "out", "2.jsonl", "--against", "run", out="again")
    assert repeated.code == 0
    assert answer(tmp_path / "third") == answer(tmp_path / "again")
    assert json.loads((tmp_path / "third" / "run.json").read_text())["counts"]["earlier_runs"] == 2
    alone = append(type_, "2.jsonl", "--against", "out", out="alone")
    assert "was itself compared with" in alone.err
    assert str(tmp_path / "run") in alone.err


def test_the_same_file_again_leaves_nothing(type_, earlier, tmp_path):
    (tmp_path / "copy.jsonl").write_bytes((tmp_path / "run" / "kept" / "0.jsonl").read_bytes())
    assert append(type_, "copy.jsonl", "--against", earlier).code == 0
    assert (tmp_path / "out" / "kept" / "copy.jsonl").read_text() == ""
    # And nothing comes after nothing.
    assert append(type_, "1.jsonl", "--against", "out", "run", out="next").code == 0


def test_memory_threads_and_scratch_change_nothing(type_, earlier, tmp_path):
    assert append(type_, "1.jsonl", "--against", earlier, "--threads", "1").code == 0
    more = ("--memory", "16MB", "--scratch", str(tmp_path / "scratch"))
    assert append(type_, "1.jsonl", "--against", earlier, *more, out="other").code == 0
    assert answer(tmp_path / "out") == answer(tmp_path / "other")


def test_an_interrupted_append_goes_on(type_, earlier, tmp_path, monkeypatch):
    assert append(type_, "1.jsonl", "--against", earlier, out="whole").code == 0
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.applications.documents.result.DedupResult.write_into", _interrupt)
        assert append(type_, "1.jsonl", "--against", earlier).code == 130
    with monkeypatch.context() as patch:
        patch.setattr(LocalEngine, "group", _interrupt)
        ended = append(type_, "1.jsonl", "--against", earlier, "--resume")
    assert ended.code == 0
    assert "everything signed, what shares a bucket looked up" in ended.err
    assert answer(tmp_path / "out") == answer(tmp_path / "whole")


def test_an_append_does_not_go_on_with_another_earlier_run(type_, earlier, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.applications.documents.result.DedupResult.write_into", _interrupt)
        assert append(type_, "1.jsonl", "--against", earlier).code == 130
    shutil.copytree(tmp_path / "run", tmp_path / "moved")
    ended = append(type_, "1.jsonl", "--against", "moved", "--resume")
    assert ended.code == 2
    assert "moved" in ended.err


def _interrupt(*_, **__):
    raise KeyboardInterrupt


def flip(path, at=-100):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def _unfinished(folder):
    shutil.move(folder, folder.parent / "elsewhere")
    hidden = folder.parent / ".run.unfinished"
    hidden.mkdir()
    (hidden / "ledger.json").write_text('{"magic":"lookalike"}')


def _grown(folder):
    with open(folder / "kept" / "0.jsonl", "a") as file:
        file.write('{"body": "one more"}\n')


# Each what is done to the folder of the earlier run, further arguments, and words of the error.
WRONG = {
    "no folder": (shutil.rmtree, [], ["run is not a run folder", "name one"]),
    "not finished": (_unfinished, [], ["not finished", "--resume"]),
    "kept files edited": (_grown, [], ["0.jsonl", "bytes", "put it back"]),
    "kept files changed in place": (lambda run: flip(run / "kept" / "0.jsonl"), [], ["0.jsonl is damaged"]),
    "kept files gone": (lambda run: (run / "kept" / "0.jsonl").unlink(), [], ["0.jsonl is missing"]),
    "keys damaged": (lambda run: flip(run / "keys.table", 300), [], ["keys.table is damaged"]),
    "clusters damaged": (lambda run: flip(run / "clusters.parquet", 60), [], ["clusters.parquet is damaged"]),
    "another threshold": (None, ["-t", "0.7"], ["--threshold 0.6", "--threshold 0.7"]),
    "another shingle": (None, ["--shingle", "chars:9"], ["--shingle words:5", "--shingle chars:9"]),
    "another seed": (None, ["--seed", "3"], ["--seed 0"]),
    "other slots": (None, ["--slots", "64"], ["--slots 128"]),
    "paragraphs": (None, ["--unit", "paragraph"], ["--unit paragraph", "document"]),
    "the output in its place": (None, ["-o", "run", "--overwrite"], ["output folder"]),
}


@pytest.mark.parametrize(("spoil", "arguments", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_appended_to_is_refused(refused, earlier, tmp_path, spoil, arguments, words):
    if spoil is not None:
        spoil(tmp_path / "run")
    common = ("--text", "body", "-o", "out", *OPTIONS)
    message = refused(*said_last(["dedup", "1.jsonl", "--against", earlier, *common, *arguments]))
    for word in words:
        assert word in message
    assert len(message) < 400
    assert not (tmp_path / "out").exists()


OTHER_RUNS = {
    "lines": (["dedup", "0.jsonl", "--unit", "line"], ["--unit line", "so use --unit line"]),
    "pairs": (["pairs", "0.jsonl"], ["pairs", "dedup"]),
}


@pytest.mark.parametrize(("command", "words"), OTHER_RUNS.values(), ids=OTHER_RUNS)
def test_runs_of_another_kind_are_refused(type_, refused, batches, command, words):
    assert type_(*command, "--text", "body", "-o", "run", *OPTIONS).code == 0
    message = refused("dedup", "1.jsonl", "--against", "run", "--text", "body", "-o", "out", *OPTIONS)
    for word in words:
        assert word in message


def test_a_run_of_an_older_version_is_refused(refused, earlier, tmp_path):
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    del record["files"]["keys.table"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    message = refused("dedup", "1.jsonl", "--against", earlier, "--text", "body", "-o", "out", *OPTIONS)
    assert "keys.table" in message
    assert "run it again" in message


def test_documents_are_told_apart_by_files_or_ids(refused, type_, earlier, tmp_path):
    common = ("--text", "body", "-o", "out", *OPTIONS)
    assert "0.jsonl was read" in refused("dedup", "0.jsonl", "1.jsonl", "--against", earlier, *common)
    assert type_("dedup", "0.jsonl", "--id", "key", "--text", "body", "-o", "ids", *OPTIONS).code == 0
    message = refused("dedup", "0.jsonl", "1.jsonl", "--id", "key", "--against", "ids", *common)
    assert "'k0-000'" in message
    # A document that was dropped keeps its id too.
    dropped = next(
        row["id"]
        for row in pq.read_table(tmp_path / "ids" / "clusters.parquet").to_pylist()
        if not row["kept"]
    )
    (tmp_path / "again.jsonl").write_text(json.dumps({"key": dropped, "body": "something else"}) + "\n")
    assert dropped in refused("dedup", "again.jsonl", "--id", "key", "--against", "ids", *common)


def test_columns_may_be_called_otherwise(type_, earlier, tmp_path, write_lines):
    rows = [json.loads(line) for line in (tmp_path / "1.jsonl").read_text().splitlines()]
    write_lines(tmp_path / "other.jsonl", [{"content": row["body"]} for row in rows])
    assert append(type_, "1.jsonl", "--against", earlier).code == 0
    assert (
        type_("dedup", "other.jsonl", "--text", "content", "--against", earlier, "-o", "b", *OPTIONS).code
        == 0
    )
    kept = [
        [row["kept"] for row in pq.read_table(tmp_path / out / "clusters.parquet").to_pylist()]
        for out in ("out", "b")
    ]
    assert kept[0] == kept[1]


def test_text_files_and_standard_input_come_to_a_run_too(start, type_, tmp_path, batches, monkeypatch):
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    for at, text in enumerate(batches[:20]):
        (tmp_path / "folder" / ("deep" if at % 2 else ".") / f"{at}.txt").write_text(text)
    assert type_("dedup", "folder", "-o", "run", *OPTIONS).code == 0
    process = start("dedup", "-", "--against", "run", "-o", "out", *OPTIONS, stdin=-1)
    given = "".join(json.dumps({"text": text}) + "\n" for text in [*batches[:20], "something else"])
    _, errors = process.communicate(given, timeout=60)
    assert process.returncode == 0, errors
    kept = [
        row["id"] for row in pq.read_table(tmp_path / "out" / "clusters.parquet").to_pylist() if row["kept"]
    ]
    assert "-:20" in kept
    # Chained ones aside, everything hangs on what the folder kept.
    chained = json.loads((tmp_path / "run" / "run.json").read_text())["counts"]["chained"]
    assert len(kept) <= 1 + chained


def test_without_stored_keys_the_answer_is_the_same(type_, earlier, tmp_path, monkeypatch):
    assert append(type_, "1.jsonl", "--against", earlier).code == 0
    monkeypatch.setattr(keys, "_WORTH", 1 << 40)
    assert type_("dedup", "0.jsonl", "--text", "body", "-o", "run", "--overwrite", *OPTIONS).code == 0
    sure = ("--method", "prefix")
    assert append(type_, "1.jsonl", "--against", earlier, out="signed").code == 0
    assert append(type_, "1.jsonl", "--against", earlier, *sure, out="exact").code == 0
    kept = [
        [row["kept"] for row in pq.read_table(tmp_path / out / "clusters.parquet").to_pylist()]
        for out in ("out", "signed", "exact")
    ]
    assert kept[0] == kept[1] == kept[2]


def test_a_dry_run_says_what_an_append_would_read_and_writes_nothing(type_, earlier, tmp_path):
    ended = append(type_, "1.jsonl", "--against", earlier, "--dry-run", "--json")
    assert ended.code == 0
    assert not (tmp_path / "out").exists()
    counts = json.loads(ended.out)["counts"]
    kept = json.loads((tmp_path / "run" / "run.json").read_text())["counts"]["kept"]
    assert (counts["earlier_runs"], counts["earlier_documents"], counts["earlier_files"]) == (1, kept, 1)
    assert counts["earlier_file_bytes"] == (tmp_path / "run" / "kept" / "0.jsonl").stat().st_size
    assert append(type_, "1.jsonl", "--against", earlier).code == 0
    done = json.loads((tmp_path / "out" / "run.json").read_text())
    fetched = next(stage for stage in done["stages"] if stage["name"] == "fetch")
    assert counts["earlier_met"] == fetched["items"] < kept
    for name in ("documents", "empty", "short", "text_bytes"):
        assert counts[name] == done["counts"][name]
    said = append(type_, "1.jsonl", "--against", earlier, "--dry-run", out="other").out
    assert f"{counts['earlier_met']} share a bucket with a new one: 1 file to read" in said
    every = ("--against", earlier, "--dry-run", "--method", "prefix", "-t", "0.6", "--text", "body")
    exact = type_("dedup", "1.jsonl", *every).out
    assert "all of them take part: 1 file to read" in exact
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text(json.dumps({"body": "unlike anything else"}) + "\n")
    said = append(type_, "nothing.jsonl", "--against", earlier, "--dry-run", out="other").out
    assert "0 share a bucket with a new one: 0 files to read, 0 B" in said


def test_another_column_of_texts_is_noted(type_, earlier, tmp_path, write_lines):
    write_lines(tmp_path / "other.jsonl", [{"content": "some text that is new here"}])
    ended = type_("dedup", "other.jsonl", "--text", "content", "--against", earlier, "-o", "b", *OPTIONS)
    assert "texts of run were read from the column 'body', and new ones from 'content'" in ended.err
    (tmp_path / "new.txt").write_text("some text that is new here")
    ended = type_("dedup", "new.txt", "--against", earlier, "-o", "c", *OPTIONS)
    assert (ended.code, ended.err) == (0, "")


def test_numbers_in_a_csv_are_ids_like_numbers_elsewhere(type_, refused, batches, tmp_path, write_lines):
    rows = [{"key": row * 3, "body": text} for row, text in enumerate(batches[:20])]
    write_lines(tmp_path / "numbers.jsonl", rows)
    command = ("--id", "key", "--text", "body", *OPTIONS)
    assert type_("dedup", "numbers.jsonl", "-o", "numbers", *command).code == 0

    def csv(name, keys):
        lines = [f"{key},{text}" for key, text in zip(keys, batches[10:], strict=False)]
        (tmp_path / name).write_text("\n".join(["key,body", *lines]) + "\n")

    csv("new.csv", range(100, 140))
    assert type_("dedup", "new.csv", "--against", "numbers", "-o", "out", *command).code == 0
    found = pq.read_table(tmp_path / "out" / "clusters.parquet")
    known = {str(row["key"]) for row in rows}
    assert len(known & set(found["representative"].to_pylist())) > 3
    # And numbers may follow a csv of numbers.
    write_lines(
        tmp_path / "more.jsonl", [{"key": 1000 + at, "body": text} for at, text in enumerate(batches)]
    )
    assert type_("dedup", "more.jsonl", "--against", "numbers", "out", "-o", "more", *command).code == 0
    found = pq.read_table(tmp_path / "more" / "clusters.parquet")
    assert found["id"].type == "int64"
    assert set(found["representative"].to_pylist()) & {*range(100, 140)}
    csv("again.csv", range(30, 40))
    assert "the id '30' is in numbers too" in refused(
        "dedup", "again.csv", "--against", "numbers", "-o", "no", *command
    )
    # Such as ids of posts: as long as 64 bits have room for.
    csv("long.csv", range(2**63 - 40, 2**63))
    assert type_("dedup", "long.csv", "--against", "numbers", "-o", "long", *command).code == 0
    longer = [{"key": 2**62 + at, "body": text} for at, text in enumerate(batches)]
    write_lines(tmp_path / "longer.jsonl", longer)
    assert type_("dedup", "longer.jsonl", "--against", "long", "-o", "longer", *command).code == 0
    found = pq.read_table(tmp_path / "longer" / "clusters.parquet")
    assert set(found["representative"].to_pylist()) & {*range(2**63 - 40, 2**63)}
    for wrong in ("007", "n7", "7.0", str(2**63)):
        csv("wrong.csv", ["200", wrong])
        message = refused("dedup", "wrong.csv", "--against", "numbers", "-o", "no", *command)
        assert f"{wrong!r} is not a whole number" in message
        assert "--id" in message
    for name, wrong in {"empty": "", "words": "n7"}.items():
        write_lines(tmp_path / f"{name}.jsonl", [{"key": wrong, "body": "a text that is called so"}])
        assert type_("dedup", f"{name}.jsonl", "-o", name, *command).code == 0
        message = refused("dedup", "numbers.jsonl", "--against", name, "-o", "no", *command)
        assert f"{wrong!r} is not a whole number" in message


@pytest.mark.parametrize("command", ["dedup", "dedup against", "pairs", "pairs with"])
def test_ids_in_a_csv_are_in_the_order_of_the_same_numbers(type_, batches, tmp_path, command):
    # Copies are listed with the first of them, so the order of ids decides which pairs there are.
    docs = [text for text in batches[:30] for _ in range(3)]
    for name, some in {"old": docs[::2], "new": docs[1::2]}.items():
        numbers = [(at * 7 + (name == "new")) % 1000 for at in range(2, len(some) + 2)]
        pq.write_table(pa.table({"key": numbers, "body": some}), tmp_path / f"{name}.parquet")
        lines = [f"{key},{text}" for key, text in zip(numbers, some, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["key,body", *lines]) + "\n")
    how = ("--id", "key", "--text", "body", *OPTIONS)
    assert type_("dedup", "old.parquet", "-o", "run", *how).code == 0
    job, _, more = command.partition(" ")
    extra = {"": [], "against": ["--against", "run"], "with": ["--with", "old.parquet"]}[more]
    for kind in ("csv", "parquet"):
        assert type_(job, f"new.{kind}", *extra, "-o", kind, *how).code == 0
    for name in ("pairs", *(["clusters"] if job == "dedup" else [])):
        found = [
            pq.read_table(tmp_path / kind / f"{name}.parquet").to_pylist() for kind in ("csv", "parquet")
        ]
        as_text = [[{key: str(value) for key, value in row.items()} for row in rows] for rows in found]
        assert as_text[0] == as_text[1]
        assert len(found[0]) > 20


def test_help_shows_it(capsys):
    assert main(["dedup", "--help"]) == 0
    assert "--against RUN..." in capsys.readouterr().out
