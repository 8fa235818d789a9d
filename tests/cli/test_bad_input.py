"""Whatever is wrong with input, options or output: a short error that says what to do, and exit 2."""

import gzip
import json
import os
import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.errors import SourceError

GOOD = {"id": 1, "text": "a line that can be read by anybody who reads lines"}


def lines(*rows):
    """JSON lines: objects as JSON, bytes as they are."""
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


# Each a file, its content, further arguments, and words that the error must contain.
BROKEN = {
    "a missing column": (
        "in.jsonl",
        lines({"id": 1, "body": "x y z"}),
        [],
        ["'text'", "body", "--text COLUMN"],
    ),
    "a missing id column": ("in.jsonl", lines(GOOD), ["--id", "key"], ["in.jsonl", "'key'"]),
    "a broken line": ("in.jsonl", lines(GOOD, b'{"text": "unclos', GOOD), [], ["in.jsonl", "line 2", "skip"]),
    "a line that is no object": ("in.jsonl", lines(GOOD, b"[1, 2]"), [], ["in.jsonl", "line 2"]),
    "null text": ("in.jsonl", lines(GOOD, {"text": None}), [], ["in.jsonl", "line 2", "null"]),
    "text that is not UTF-8": ("in.jsonl", lines(GOOD, b'{"text": "caf\xe9"}'), [], ["line 2", "UTF-8"]),
    "a txt file that is not UTF-8": ("in.txt", b"caf\xe9 au lait", [], ["in.txt", "UTF-8"]),
    "a csv file that is not UTF-8": ("in.csv", b"text\nfine\ncaf\xe9\n", [], ["in.csv", "UTF-8"]),
    "a csv row with too many fields": ("in.csv", b"id,text\n1,a\n2,b,c\n", [], ["in.csv", "line 3"]),
    "broken parquet": ("in.parquet", b"PAR1 and then nothing of the kind PAR1", [], ["in.parquet"]),
    "an empty parquet file": ("in.parquet", b"", [], ["in.parquet"]),
    "broken gzip": ("in.jsonl.gz", gzip.compress(lines(GOOD) * 50)[:40], [], ["in.jsonl.gz"]),
    "what is no gzip at all": ("in.jsonl.gz", lines(GOOD), [], ["in.jsonl.gz"]),
    "duplicate ids": ("in.jsonl", lines(GOOD, GOOD), ["--id", "id"], ["in.jsonl", "1"]),
    "nothing in the file": ("in.jsonl", b"", [], ["nothing to read"]),
    "a kind that cannot be read": ("in.docx", b"?", [], ["in.docx", ".jsonl"]),
    "no column to keep by": ("in.jsonl", lines(GOOD), ["--keep", "max:stars"], ["'stars'"]),
    "a column to keep by that has no order": (
        "in.jsonl",
        lines({"text": "x", "stars": "many"}, {"text": "y", "stars": "few"}),
        ["--keep", "max:stars"],
        ["numbers"],
    ),
    "columns separated by semicolons": ("in.csv", b"id;text\n1;a\n", [], ["separated by ';'", "','"]),
    "tabs in a csv file": ("in.csv", b"id\ttext\n1\ta\n", [], ["separated by '\\t'", ".tsv"]),
    "ids that are no whole numbers": (
        "in.jsonl",
        lines({"id": 1, "text": "a"}, {"id": 1.5, "text": "b"}),
        ["--id", "id"],
        ["in.jsonl, line 2: 1.5 is no int64, as the numbers before it are"],
    ),
    "ids of more than 64 bits": (
        "in.jsonl",
        lines({"id": 2**70, "text": "a"}),
        ["--id", "id"],
        [f"in.jsonl, line 1: {2**70} is no uint64"],
    ),
    "text that is a number": ("in.jsonl", lines({"text": 7}), [], ["'text'", "--text"]),
}


@pytest.mark.parametrize(("name", "content", "arguments", "words"), BROKEN.values(), ids=BROKEN)
def test_input_that_cannot_be_used_is_named(refused, tmp_path, name, content, arguments, words):
    (tmp_path / name).write_bytes(content)
    message = refused("dedup", tmp_path / name, *arguments, "-o", tmp_path / "out")
    for word in words:
        assert word in message
    assert len(message) < 400
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name]


OPTIONS = {
    "threshold over 1": (["--threshold", "80"], ["--threshold 80", "0.8"]),
    "threshold 0": (["--threshold", "0"], ["--threshold 0"]),
    "threshold that is no number": (["--threshold", "nan"], ["--threshold nan"]),
    "recall 1": (["--recall", "1"], ["--recall 1", "0.999"]),
    "recall out of reach": (
        ["--threshold", "0.2", "--recall", "0.99", "--slots", "16"],
        ["97.2%", "--slots 21", "--recall 0.97"],
    ),
    "no slots": (["--slots", "0"], ["--slots 0"]),
    "an unknown shingle": (["--shingle", "lines:3"], ["'lines:3'", "words:5"]),
    "an unknown shingle option": (["--shingle", "words:5+fold"], ["'fold'", "nfkc"]),
    "an unknown keep": (["--keep", "shortest"], ["shortest", "longest"]),
    "an unknown group": (["--group", "rings"], ["rings", "star"]),
    "an unknown check": (["--verify", "hope"], ["hope", "signature"]),
    "an unknown method": (["--method", "magic"], ["magic", "lsh"]),
    "no threads": (["--threads", "0"], ["--threads 0"]),
    "a negative seed": (["--seed", "-1"], ["--seed -1"]),
    "an unknown progress": (["--progress", "dots"], ["--progress dots", "jsonl"]),
    "memory that is no size": (["--memory", "lots"], ["--memory lots", "4GB"]),
    "an unknown answer to errors": (["--on-error", "ignore"], ["ignore", "skip"]),
}


@pytest.mark.parametrize(("arguments", "words"), OPTIONS.values(), ids=OPTIONS)
def test_options_out_of_range_are_refused_with_what_is_possible(refused, corpus, tmp_path, arguments, words):
    before = set(tmp_path.iterdir())
    message = refused("dedup", corpus, *arguments, "-o", tmp_path / "out")
    for word in words:
        assert word in message
    assert set(tmp_path.iterdir()) == before


def test_input_that_is_not_there(refused, tmp_path):
    assert "there is no file" in refused("dedup", tmp_path / "nowhere.jsonl", "-o", tmp_path / "out")
    (tmp_path / "bare").mkdir()
    assert "nothing to read" in refused("dedup", tmp_path / "bare", "-o", tmp_path / "out")
    assert "matches" in refused("dedup", f"{tmp_path}/*.jsonl", "-o", tmp_path / "out")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bare"]


def test_unreadable_rows_are_skipped_and_counted_when_asked(type_, tmp_path):
    (tmp_path / "in").mkdir()
    bad = [b'{"text": "unclos', {"text": None}, b'{"text": "caf\xe9"}']
    (tmp_path / "in" / "a.jsonl").write_bytes(lines(GOOD, *bad, {"text": "another line entirely"}))
    (tmp_path / "in" / "b.parquet").write_bytes(b"not parquet")
    ended = type_("dedup", tmp_path / "in", "--on-error", "skip", "-o", tmp_path / "out", "--json")
    assert ended.code == 0
    counts = json.loads(ended.out)["counts"]
    assert (counts["documents"], counts["unreadable"], counts["unreadable_files"]) == (2, 3, 1)
    assert "3 rows and 1 file could not be read" in ended.err
    assert "line 2" in ended.err
    assert len((tmp_path / "out" / "kept" / "a.jsonl").read_bytes().splitlines()) == 2


def test_skipping_everything_is_still_an_error(refused, tmp_path):
    (tmp_path / "in.jsonl").write_bytes(b"{\n{\n")
    message = refused("dedup", tmp_path / "in.jsonl", "--on-error", "skip", "-o", tmp_path / "out")
    assert "nothing could be read" in message or "no column" in message
    assert not (tmp_path / "out").exists()


def test_output_in_the_way_is_left_alone(refused, corpus, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "is a file" in refused("dedup", corpus, "-o", tmp_path / "file")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("mine")
    assert "not empty" in refused("dedup", corpus, "-o", tmp_path / "folder")
    assert "not replaced" in refused("dedup", corpus, "-o", tmp_path / "folder", "--overwrite")
    assert (tmp_path / "folder" / "mine.txt").read_text() == "mine"
    assert "cannot write" in refused("dedup", corpus, "-o", tmp_path / "file" / "deeper")


def test_output_that_may_not_be_written_is_known_before_anything_is_read(refused, corpus):
    # Not even root may make folders here.
    assert "cannot write" in refused("dedup", corpus, "-o", "/proc/lookalike/out")


def test_the_output_is_checked_before_the_input_is_read(refused, tmp_path):
    (tmp_path / "out").write_text("in the way")
    (tmp_path / "broken.jsonl").write_text("{")
    assert "out is a file" in refused("dedup", tmp_path / "broken.jsonl", "-o", tmp_path / "out")


@pytest.mark.parametrize("name", ["dedup", "pairs"])
def test_recall_out_of_reach_is_known_before_the_input_is_read(refused, tmp_path, name):
    (tmp_path / "broken.jsonl").write_text("{")
    options = ["-t", "0.2", "--recall", "0.99", "--slots", "16", "-o", tmp_path / "out"]
    assert "--slots 21" in refused(name, tmp_path / "broken.jsonl", *options)


@pytest.mark.parametrize("name", ["dedup", "pairs"])
def test_a_run_without_a_place_for_its_result_is_refused(refused, corpus, name):
    assert "-o FOLDER" in refused(name, corpus)


def test_pairs_refuses_as_dedup_does(refused, corpus, tmp_path):
    out = ("-o", tmp_path / "out")
    assert "--threshold 2" in refused("pairs", corpus, "--threshold", "2", *out)
    assert "there is no file" in refused("pairs", corpus, "--with", tmp_path / "nowhere.jsonl", *out)
    assert "'body'" in refused("pairs", corpus, "--text", "body", *out)
    assert [entry.name for entry in tmp_path.iterdir()] == [corpus.name]


def test_a_parquet_file_cut_off_in_the_middle_is_named(refused, tmp_path):
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"text": ["many words that make a document"] * 100}), whole)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[: os.path.getsize(whole) // 2])
    assert "cut.parquet" in refused("dedup", cut, "-o", tmp_path / "out")


ROADS = {
    "dedup": ["dedup"],
    "dedup, lsh": ["dedup", "--method", "lsh"],
    # Sets are numbered anew behind their copies.
    "pairs, prefix": ["pairs", "--method", "prefix"],
    "strings": ["pairs", "--measure", "levenshtein", "--distance", "3"],
    "lines": ["dedup", "--unit", "line"],
}


@pytest.mark.parametrize("command", ROADS.values(), ids=ROADS)
def test_documents_larger_than_the_memory_allowed_are_named_and_what_would_do(refused, tmp_path, command):
    giant = " ".join(f"w{at}" for at in range(600_000))
    rows = [
        {"id": f"small {at // 2}-{at}", "text": f"some words that number {at // 2} has"} for at in range(40)
    ]
    rows += [{"id": f"filler {at}", "text": f"{at} " * 4000} for at in range(1000)]
    rows += [{"id": "giant one", "text": giant}, {"id": "giant two", "text": f"{giant}s"}]
    path = tmp_path / "in.jsonl"
    path.write_bytes(lines(*rows))
    message = refused(*command, path, "--id", "id", "--memory", "16MB", "-o", tmp_path / "out")
    unit = ":0" if "--unit" in command else ""
    assert re.match(rf"(giant (one|two){unit}( and )?)+ take", message.removeprefix("Error: "))
    assert re.search(r"bytes, and the memory budget leaves .* allow --memory [0-9]+MB$", message)
    # No output; what was done before may be kept, to go on with more memory.
    assert {entry.name for entry in tmp_path.iterdir()} <= {"in.jsonl", ".out.unfinished"}


def test_a_name_that_was_left_empty_is_not_the_folder_we_are_in(refused, tmp_path, monkeypatch, corpus):
    monkeypatch.chdir(corpus.parent)
    assert "no name" in refused("dedup", "", "-o", tmp_path / "out")


def test_two_columns_of_one_name_in_parquet(refused, tmp_path):
    pq.write_table(pa.table([["a"], ["b"]], names=["text", "text"]), tmp_path / "in.parquet")
    assert "2 columns called 'text'" in refused("dedup", tmp_path / "in.parquet", "-o", tmp_path / "out")


def test_files_that_may_not_be_read_are_skipped_and_counted_by_a_run(type_, corpus, tmp_path):
    os.symlink("nowhere", tmp_path / "dead.jsonl")
    (tmp_path / "good.jsonl").write_bytes(lines(GOOD))
    ended = type_("dedup", tmp_path, "--on-error", "skip", "--drop-list", "-o", tmp_path / "out", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["counts"]["unreadable_files"] == 1
    assert "1 file could not be read" in ended.err


def test_a_file_of_a_name_that_is_not_utf8_is_deduplicated(type_, tmp_path):
    name = os.fsdecode(b"caf\xe9.jsonl")
    (tmp_path / name).write_bytes(lines(GOOD, {**GOOD, "id": 2}))
    assert type_("dedup", tmp_path / name, "-o", tmp_path / "out").code == 0
    assert len((tmp_path / "out" / "kept" / name).read_bytes().splitlines()) == 1
    assert type_("dedup", tmp_path / name, "-o", tmp_path / "out", "--overwrite").code == 0


def test_the_folder_of_a_run_is_no_input_and_what_it_kept_is(refused, type_, corpus, tmp_path):
    assert type_("dedup", corpus, "-o", tmp_path / "run").code == 0
    message = refused("dedup", tmp_path / "run", "-o", tmp_path / "out")
    assert f"what it kept is in {tmp_path / 'run' / 'kept'}" in message
    assert type_("dedup", tmp_path / "run" / "kept", "-o", tmp_path / "out").code == 0


@pytest.mark.parametrize("command", ["dedup", "pairs", "top"])
def test_a_column_of_lists_is_told_to_hold_sets(refused, type_, tmp_path, command):
    pq.write_table(pa.table({"the words": [["a", "b"], ["a", "b"]]}), tmp_path / "sets.parquet")
    said = refused(command, tmp_path / "sets.parquet", "--text", "the words", "-o", tmp_path / "out")
    assert "holds list<" in said
    hint = "Lists of tokens are sets: lookalike pairs --sets --items 'the words'"
    assert said.endswith(hint)
    typed = shlex.split(hint.partition("lookalike ")[2])
    assert type_(*typed, "-o", tmp_path / "out", tmp_path / "sets.parquet").code == 0


VECTORS = "lookalike pairs --measure angle --threshold 20deg"


@pytest.mark.parametrize(
    "command", ["top {}", "top --sets {}", "dedup {}", "decontaminate {} --with {}", "pairs --sets {}"]
)
def test_a_matrix_where_documents_are_read_is_told_what_compares_it(refused, type_, tmp_path, command):
    matrix = tmp_path / "v.npy"
    np.save(matrix, np.eye(3))
    said = refused(*command.format(matrix, matrix).split(), "-o", tmp_path / "out")
    assert said.startswith(f"{matrix} holds vectors or bits, of which only pairs are looked for")
    assert said.endswith(f"Near vectors: {VECTORS}. Near bits: lookalike pairs --bits")
    assert type_(*VECTORS.split()[1:], "-o", tmp_path / "out", matrix).code == 0
    with pytest.raises(SourceError, match="holds vectors or bits") as caught:
        la.top(matrix)
    assert caught.value.__notes__[0].startswith("Near vectors: similar_pairs(data, measure='angle'")


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("dedup {}", "Name the one you mean, --text COLUMN"),
        ("top {}", "Name the one you mean, --text COLUMN"),
        ("pairs --bits {}", "Name the one you mean, --text COLUMN"),
        ("pairs --sets {} --items body", "also the column of sets, --set-of COLUMN"),
    ],
)
def test_a_column_that_nobody_named_is_named_by_an_option(refused, tmp_path, command, option):
    table = tmp_path / "in.csv"
    table.write_text("key,body\n1,some words\n")
    assert refused(*command.format(table).split(), "-o", tmp_path / "out").endswith(option)


@pytest.mark.parametrize("command", ["dedup", "pairs", "top"])
def test_a_column_of_lists_of_floats_is_told_to_hold_vectors(refused, type_, tmp_path, command):
    pq.write_table(pa.table({"text": [[1.0, 0.5], [1.0, 0.4]]}), tmp_path / "v.parquet")
    said = refused(command, tmp_path / "v.parquet", "-o", tmp_path / "out")
    assert said.endswith(f"Near vectors: {VECTORS}")
    assert type_(*VECTORS.split()[1:], "-o", tmp_path / "out", tmp_path / "v.parquet").code == 0


def test_a_matrix_of_vectors_or_of_bits_is_asked_for_which(refused, tmp_path):
    np.save(tmp_path / "v.npy", np.arange(4, dtype=np.uint64))
    for more in ([], ["--measure", "hamming"]):
        said = refused("pairs", tmp_path / "v.npy", *more, "-o", tmp_path / "out")
        assert said.endswith("by --measure angle, cosine, l2 or l1; or if it holds bits, add --bits")
