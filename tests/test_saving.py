"""Results as files: what is read back is what was written, and a file is there whole or not at all."""

import csv
import json
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike import saving
from lookalike.cli import main
from lookalike.errors import OutputError
from lookalike.saving import write_table

PAIRS = la.Pairs.of(a=["x", 'q"uote', "ü,"], b=["y", "new\nline", "z\t"], similarity=[1.0, 1 / 3, 0.85])


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(saving, "_PART_ROWS", 2)


def test_parquet_holds_the_very_table(tmp_path):
    assert PAIRS.write(tmp_path / "pairs.parquet") == tmp_path / "pairs.parquet"
    assert pq.read_table(tmp_path / "pairs.parquet").equals(PAIRS.to_arrow())


@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("tsv", "\t"), ("CSV", ",")])
def test_separated_values_are_read_back_by_python(tmp_path, ending, separator):
    with open(PAIRS.write(str(tmp_path / f"pairs.{ending}")), encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=separator))
    assert rows[0] == ["a", "b", "similarity"]
    assert [[a, b, float(similarity)] for a, b, similarity in rows[1:]] == [
        list(pair.values()) for pair in PAIRS
    ]


def test_json_lines_are_what_iterating_gives(tmp_path):
    written = PAIRS.write(tmp_path / "pairs.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line) for line in written.splitlines()] == list(PAIRS)


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl"])
def test_no_pairs_are_a_file_too(tmp_path, ending):
    path = la.Pairs.of(a=[], b=[], similarity=[]).write(tmp_path / f"none.{ending}")
    assert path.exists()
    assert [entry.name for entry in tmp_path.iterdir()] == [f"none.{ending}"]


def test_dates_and_bytes_are_written_as_text_where_json_has_no_form_for_them(tmp_path):
    table = pa.table({"a": [date(2024, 1, 31)], "b": [b"\x01"]})
    assert json.loads(write_table(table, tmp_path / "t.jsonl").read_text()) == {
        "a": "2024-01-31",
        "b": "b'\\x01'",
    }


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_the_command_groups_what_was_written(tmp_path, ending, capsys):
    path = la.Pairs.of(a=["x", "y"], b=["y", "z"], similarity=[1.0, 1.0]).write(tmp_path / f"pairs.{ending}")
    assert main(["cluster", str(path), "-o", str(tmp_path / "clusters.parquet")]) == 0
    assert pq.read_table(tmp_path / "clusters.parquet")["cluster"].to_pylist() == ["x"] * 3


def test_a_file_that_is_there_is_replaced_only_if_that_is_said(tmp_path):
    path = PAIRS.write(tmp_path / "pairs.csv")
    before = path.read_bytes()
    with pytest.raises(OutputError, match="exists: choose another name, or replace it with overwrite=True"):
        PAIRS[:1].write(path)
    assert path.read_bytes() == before
    assert len(PAIRS[:1].write(path, overwrite=True).read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "pairs.xlsx",
            "does not say what to write: let it end in .parquet, .csv, .tsv or .jsonl",
        ),
        ("pairs", "does not say what to write"),
        ("folder.csv", "is a folder, and the output is a file"),
        ("missing/pairs.csv", "there is no folder .*missing to write pairs.csv in: make it first"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is(tmp_path, name, says):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(OutputError, match=says):
        PAIRS.write(tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.csv"]


def test_nothing_is_no_name():
    with pytest.raises(OutputError, match="'' is no file to write"):
        PAIRS.write("")


def test_a_writer_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = PAIRS.write(tmp_path / "pairs.jsonl")
    before = path.read_bytes()

    def fail(table, hidden):
        hidden.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(saving._WRITERS, ".jsonl", fail)
    with pytest.raises(OutputError, match="full"):
        PAIRS.write(path, overwrite=True)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["pairs.jsonl"]
