"""lookalike pairs --measurements."""

import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.killing import answer, interrupt, killed, steps_of_a_run

from lookalike import Ranges, similar_measurements
from lookalike.cli import main
from lookalike.measures.closeness import close_share
from lookalike.runs import RunRecord

COLUMNS = [f"m{number}" for number in range(6)]


@pytest.fixture
def items():
    """Two looks at each of thirty faces."""
    draw = np.random.default_rng(4)
    return np.repeat(draw.uniform(20, 80, (30, 6)), 2, axis=0) + draw.normal(0, 1.2, (60, 6))


@pytest.fixture
def faces(tmp_path, items):
    return written(tmp_path / "faces.csv", items)


def written(path, items):
    """A file of measurements; ids are not in order."""
    names = [f"face{row * 37 % len(items):03}" for row in range(len(items))]
    columns = dict(zip(COLUMNS, items.T, strict=True))
    table = pa.table({"face": names, **columns})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        rows = [",".join([row["face"], *(repr(row[name]) for name in COLUMNS)]) for row in table.to_pylist()]
        path.write_text("\n".join([",".join(table.column_names), *rows]) + "\n")
    return path


def found(out):
    return {
        (row["a"], row["b"]): row["similarity"] for row in pq.read_table(out / "pairs.parquet").to_pylist()
    }


def near(*more):
    return ("--measurements", *COLUMNS, "--within", "2", "-t", "0.6", "--id", "face", *more)


@pytest.mark.parametrize("name", ["faces.csv", "faces.parquet"])
def test_the_command_finds_what_the_library_finds(type_, tmp_path, items, name):
    path, out = written(tmp_path / name, items), tmp_path / "out"
    ended = type_("pairs", path, *near("--method", "lsh"), "-o", out)
    assert (ended.code, ended.err) == (0, "")
    assert "60 of 6 measurements" in ended.out
    order = np.argsort([row * 37 % len(items) for row in range(len(items))])
    pairs = similar_measurements(items[order], within=2, share=0.6, method="lsh")
    assert len(pairs) > 20
    expected = {(f"face{row['a']:03}", f"face{row['b']:03}"): row["similarity"] for row in pairs}
    assert found(out) == expected
    record = RunRecord.read(out)
    record.verify(out)
    assert (record.counts["items"], record.counts["pairs"]) == (60, len(expected))
    recall = record.estimates["recall"]
    assert recall["promised"] == 0.95
    assert 0.9 < recall["recall"] <= 1
    assert f"about {100 * recall['recall']:.1f}% of all close pairs found, 95.0% promised" in ended.out
    assert record.estimates["ranges"] == Ranges.planned(6, within=2, share=0.6).to_dict() | {
        "chosen": [list(table) for table in Ranges.planned(6, within=2, share=0.6).chosen]
    }


def test_auto_says_what_it_took_and_why_and_a_dry_run_says_it_before(type_, faces, tmp_path, items):
    told = json.loads(type_("pairs", faces, *near("--dry-run", "--json")).out)
    ended = type_("pairs", faces, *near(), "-o", tmp_path / "out")
    estimates = RunRecord.read(tmp_path / "out").estimates
    assert told["choice"] == estimates["choice"]
    assert set(told["choice"]["roads"]) == {"lsh", "exact"}
    assert told["counts"] == {"items": 60, "measurements": 6}
    assert told["expected_candidates"] == estimates["candidates"]
    assert told["expected_seconds"] > 0
    facts = {line[:13].strip(): line[14:] for line in ended.out.splitlines()}
    assert facts["method"].startswith(f"{estimates['method']}: ranges that miss nothing would take about ")
    # The sample is all there is, so what is expected comes.
    assert facts["candidates"].endswith(f"{estimates['candidates']:,.0f} expected from a sample")
    assert RunRecord.read(tmp_path / "out").counts["candidates"] == round(estimates["candidates"])
    said = {
        line[:13].strip(): line[14:] for line in type_("pairs", faces, *near("--dry-run")).out.splitlines()
    }
    assert {"items", "method", "lsh", "exact", "candidates", "seconds"} <= set(said)
    assert said["so far"].endswith("nothing was written")
    for method in ("lsh", "exact"):
        asked = json.loads(type_("pairs", faces, *near("--dry-run", "--json", "--method", method)).out)
        assert (asked["choice"]["why"], asked["expected_candidates"]) == ("asked for", None)


def test_a_high_recall_finds_what_brute_force_finds(type_, faces, tmp_path, items):
    asked = near("--recall", "0.99999", "--range-width", "9,9,9,9,9,9")
    assert type_("pairs", faces, *asked, "-o", tmp_path / "out").code == 0
    names = [f"face{row * 37 % len(items):03}" for row in range(len(items))]
    shares = {
        tuple(sorted((names[a], names[b]))): close_share(items[a], items[b], 2)
        for a in range(len(items))
        for b in range(a)
    }
    assert found(tmp_path / "out") == {pair: share for pair, share in shares.items() if share >= 0.6}


def test_the_exact_method_finds_what_brute_force_finds(type_, refused, faces, tmp_path, items):
    out = tmp_path / "out"
    ended = type_("pairs", faces, *near("--method", "exact"), "-o", out)
    assert (ended.code, ended.err) == (0, "")
    assert "all close pairs found" in ended.out
    names = [f"face{row * 37 % len(items):03}" for row in range(len(items))]
    shares = {
        tuple(sorted((names[a], names[b]))): close_share(items[a], items[b], 2)
        for a in range(len(items))
        for b in range(a)
    }
    assert found(out) == {pair: share for pair, share in shares.items() if share >= 0.6}
    assert RunRecord.read(out).estimates["recall"]["recall"] == 1
    said = refused("pairs", faces, *near("--method", "prefix"), "-o", tmp_path / "other")
    assert "--method prefix is unknown for measurements: choose auto, lsh or exact" in said


def test_two_collections_and_columns_between_commas(type_, faces, tmp_path):
    asked = ("--measurements", "m0,m1, m2", "--within", "1,1,2", "-t", "1", "--id", "face")
    ended = type_("pairs", faces, "--with", faces, *asked, "-o", tmp_path / "out")
    assert ended.code == 0
    pairs = found(tmp_path / "out")
    assert sum(a == b for a, b in pairs) == 60
    assert {(b, a) for a, b in pairs} == set(pairs)


def test_rows_without_a_number_are_skipped_and_counted(type_, refused, tmp_path):
    path = tmp_path / "faces.csv"
    path.write_text("m0,m1\n1,2\n1.5,x\n,3\n1.2,inf\n1.1,2\n")
    asked = ("--measurements", "m0", "m1", "--within", "1")
    assert "line 3: 'm1' is 'x', not a number" in refused("pairs", path, *asked, "-o", tmp_path / "out")
    ended = type_("pairs", path, *asked, "--on-error", "skip", "-o", tmp_path / "out")
    assert ended.code == 0
    assert "3 rows could not be read" in ended.err
    assert found(tmp_path / "out") == {(f"{path}:0", f"{path}:4"): 1.0}
    assert RunRecord.read(tmp_path / "out").counts["unreadable"] == 3


def test_a_run_killed_anywhere_ends_as_one_never_killed(monkeypatch, faces, tmp_path, capsys):
    def asked(out, *more):
        return ["pairs", str(faces), *near("--progress", "off"), "-o", str(tmp_path / out), *more]

    count = steps_of_a_run(monkeypatch, *asked("whole"))
    draw = random.Random(1)
    for moment in draw.sample(range(1, count + 1), 5):
        assert killed(monkeypatch, moment, *asked(f"out{moment}"))
        assert main(asked(f"out{moment}", "--resume", "--overwrite")) == 0
        assert answer(tmp_path / f"out{moment}") == answer(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.cli.outcome.PairsOutcome.write_into", interrupt)
        assert main(asked("late")) == 130
    settled = {path.stem for path in (tmp_path / ".late.unfinished").glob("*.stage")}
    assert settled == {"choice", "copies", "candidates", "found"}
    capsys.readouterr()
    assert main(asked("late", "--resume", "--seed", "5")) == 2
    assert "seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--measurements", "m0"), "needs --within"),
        (("--within", "2"), "go with --measurements"),
        (("--measurements", "m0", "--within", "two"), "no number"),
        (("--measurements", "m0,m1", "--within", "1,2,3"), "--within 1.0,2.0,3.0 does not go with 2 meas"),
        (("--measurements", "m0", "m0", "--within", "1"), "'m0' is named twice"),
        (("--measurements", "m0", "face", "--within", "1", "--id", "face"), "'face' is named twice"),
        (("--measurements", "m0", "m9", "--within", "1"), "no column 'm9'"),
        (("--measurements", "face", "--within", "1"), "not a number"),
        (("--measurements", ",", "--within", "1"), "no measurements were named"),
        (("--measurements", "--within", "1"), "no measurements were named"),
        (("--measurements", "m0", "--within", "0"), "need a width"),
        (("--measurements", "m0", "--within", "1", "-t", "80"), "--threshold 80"),
        (("--measurements", "m0", "--within", "1", "--measure", "l2"), "--measure has no meaning"),
        (
            ("--measurements", "m0", "--within", "1", "--copies", "none"),
            "--copies none is unknown: choose all or stars",
        ),
    ],
)
def test_bad_input_is_named_and_leaves_nothing(refused, faces, tmp_path, more, said):
    assert said in refused("pairs", faces, *more, "-o", tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == [faces]
