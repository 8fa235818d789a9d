"""lookalike pairs of vectors."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike import similar_pairs
from lookalike.cli import main
from lookalike.errors import OptionError
from lookalike.joins import crowds
from lookalike.runs import RunRecord

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0], [1.0, 0.0]])


@pytest.fixture
def vectors(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    return tmp_path / "x.npy"


@pytest.mark.parametrize(("measure", "threshold"), [("angle", "20deg"), ("cosine", "0.9"), ("l2", "0.2")])
def test_the_command_finds_what_the_library_finds(type_, vectors, tmp_path, measure, threshold):
    out = tmp_path / "out"
    ended = type_("pairs", vectors, "--measure", measure, "--threshold", threshold, "-o", out)
    assert (ended.code, ended.err) == (0, "")
    expected = similar_pairs(ROWS, measure=measure, threshold=threshold)
    assert pq.read_table(out / "pairs.parquet").to_pylist() == expected.to_arrow().to_pylist()
    record = RunRecord.read(out)
    record.verify(out)
    assert record.counts["vectors"] == 5
    assert "5 of 2 coordinates" in ended.out
    assert "all near pairs found" in ended.out


def test_two_collections_ids_and_columns(type_, vectors, tmp_path):
    table = pa.table({"name": list("ab"), "v": [[2.0, 0.0], [0.0, 2.0]], "w": [[1.0, 0.0], [1.0, 0.0]]})
    pq.write_table(table, tmp_path / "y.parquet")
    out = tmp_path / "out"
    given = (
        "pairs",
        tmp_path / "y.parquet",
        "--text",
        "v",
        "--id",
        "name",
        "--measure",
        "angle",
        "-t",
        "10deg",
    )
    assert type_(*given, "-o", out, "--json").code == 0
    ended = type_(
        "pairs",
        vectors,
        "--with",
        vectors,
        "--measure",
        "angle",
        "-t",
        "10deg",
        "--method",
        "lsh",
        "--json",
        "-o",
        out,
        "--overwrite",
    )
    record = json.loads(ended.out)
    assert record["parameters"]["method"] == "lsh"
    assert record["counts"]["vectors_by_collection"] == [5, 5]
    assert record["estimates"]["plan"]["measure"] == "angle"


def test_bad_input_is_refused(refused, vectors, tmp_path):
    out = ("-o", tmp_path / "out")
    near = ("--measure", "angle", "-t", "20deg")
    assert "need a threshold" in refused("pairs", vectors, "--measure", "angle", *out)
    assert "no file" in refused("pairs", tmp_path / "absent.npy", *near, *out)
    assert "one file, not 2" in refused("pairs", vectors, vectors, *near, *out)
    assert "holds vectors" in refused("pairs", vectors, "-t", "0.9", *out)
    assert "--distance has no meaning" in refused("pairs", vectors, *near, "--distance", "1", *out)
    assert "unknown for vectors" in refused("pairs", vectors, *near, "--method", "prefix", *out)
    assert "holds vectors" in refused("pairs", vectors, "-t", "20deg", *out)
    (tmp_path / "docs.jsonl").write_text('{"text": "a b c d e f"}\n')
    assert "angles go with" in refused("pairs", tmp_path / "docs.jsonl", "-t", "20deg", *out)
    assert "choose another folder" in refused("pairs", vectors, *near, "-o", tmp_path, "--overwrite")
    np.save(tmp_path / "bad.npy", np.zeros((2, 2)))
    assert "row 0 is all zeros" in refused("pairs", tmp_path / "bad.npy", *near, *out)
    assert not (tmp_path / "out").exists()


def test_probes_are_asked_for_and_recorded(type_, tmp_path):
    numbers = np.random.default_rng(0)
    rows = np.repeat(numbers.normal(size=(60, 12)), 5, axis=0) + 0.1 * numbers.normal(size=(300, 12))
    np.save(tmp_path / "x.npy", rows)
    out = tmp_path / "out"
    asked = ("pairs", tmp_path / "x.npy", "--measure", "angle", "-t", "20deg", "--method", "lsh")
    ended = type_(*asked, "--probes", 8, "-o", out)
    assert (ended.code, ended.err) == (0, "")
    record = RunRecord.read(out)
    assert record.parameters["probes"] == 8
    assert record.estimates["plan"]["probes"] == 8
    expected = similar_pairs(rows, measure="angle", threshold="20deg", method="lsh", probes=8)
    assert pq.read_table(out / "pairs.parquet").to_pylist() == expected.to_arrow().to_pylist()
    ended = type_(*asked, "--probes", 200, "-o", tmp_path / "more")
    assert ended.code == 2
    assert "--probes 200 is out of range" in ended.err
    (tmp_path / "a.txt").write_text("a text")
    ended = type_("pairs", tmp_path / "a.txt", "--probes", 8)
    assert ended.code == 2
    assert "--probes goes with vectors" in ended.err


def test_who_asks_for_probes_gets_buckets(tmp_path, capsys):
    np.save(tmp_path / "few.npy", np.random.default_rng(3).normal(size=(200, 16)))
    asked = ["pairs", str(tmp_path / "few.npy"), "--measure", "angle", "-t", "30deg", "--probes", "4"]
    assert main([*asked, "-o", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"]["method"] == "lsh"


def test_what_large_buckets_leave_out_is_told_with_the_interval_of_the_recall(type_, tmp_path, monkeypatch):
    for name, value in (("FOLLOWING", 4), ("ALL_PAIRS", 9), ("AFFORDABLE", 0)):
        monkeypatch.setattr(crowds, name, value)
    numbers = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", numbers.normal(size=12) + 0.25 * numbers.normal(size=(300, 12)))
    asked = ("pairs", tmp_path / "x.npy", "--measure", "angle", "-t", "15deg", "--method", "lsh")
    ended = type_(*asked, "-o", tmp_path / "out")
    recall = RunRecord.read(tmp_path / "out").estimates["recall"]
    assert "pairs of very large buckets; by a sample about" in ended.out
    told = re.search(r"about (\S+)% of all near pairs found \((\S+)% to (\S+)%\)", ended.out)
    expected = [100 * recall[name] for name in ("recall", "low", "high")]
    assert [float(number) for number in told.groups()] == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize("suffix", [".npy", ".fvecs"])
def test_a_column_is_refused_where_no_collection_has_one(refused, type_, tmp_path, suffix):
    matrix = np.eye(3, dtype=np.float32)
    np.save(tmp_path / "v.npy", matrix)
    lengths = np.full((3, 1), 3, "<i4").view(np.float32)
    (tmp_path / "v.fvecs").write_bytes(np.hstack([lengths, matrix]).tobytes())
    pq.write_table(pa.table({"e": matrix.tolist(), "f": matrix.tolist()}), tmp_path / "v.parquet")
    asked = ["--measure", "angle", "--threshold", "20deg", "-o", tmp_path / "near"]
    said = refused("pairs", tmp_path / f"v{suffix}", "--text", "e", *asked)
    assert said == "--text e names a column, and what was given has none: leave it out"
    # Another collection may need it.
    beside = ["pairs", tmp_path / f"v{suffix}", "--with", tmp_path / "v.parquet", "--text", "e", *asked]
    assert type_(*beside).code == 0
    how = {"measure": "angle", "threshold": "20deg", "text": "e"}
    assert len(similar_pairs(matrix, pa.table({"e": matrix.tolist()}), **how)) == 3
    with pytest.raises(OptionError, match="text='e' names a column"):
        similar_pairs(matrix, **how)
