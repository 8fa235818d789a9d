"""Searches among vectors and bits that are killed go on, on every road, with the same answer."""

import json
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.killing import (
    answer,
    check_flipped_bits,
    check_killed_anywhere,
    check_nothing_is_done_again,
    interrupt,
)

from lookalike.cli import main
from lookalike.engines import LocalEngine
from lookalike.joins import bitblocks, crowds, hamming, products
from lookalike.theory.recall_of_bits import BitsDraw

#: Kills a road.
KILLS = 5

ANGLE, HAMMING = ["--measure", "angle", "-t", "15deg"], ["--bits", "--text", "hash", "-t", "3"]
#: What is asked, and what of it is settled at the end.
ROADS = {
    "vectors, lsh": ([*ANGLE, "--method", "lsh"], {"sample", "keyed", "copies", "candidates", "found"}),
    "vectors, probes": ([*ANGLE, "--method", "lsh", "--probes", "4"], {"copies", "candidates", "found"}),
    "vectors, exact": ([*ANGLE, "--method", "exact"], {"copies", "compared-0-to-64", "compared-64-to-128"}),
    "vectors, auto": (["--measure", "l2", "-t", "0.5"], {"sample", "copies"}),
    "bits, exact": ([*HAMMING, "--method", "exact"], {"copies", "blocks", "compared-0", "compared-4"}),
    "bits, pieces": ([*HAMMING, "--method", "pieces"], {"copies", "masks-0-to-2-in-4", "masks-2-to-4-in-4"}),
    "bits, covering": ([*HAMMING, "--method", "covering"], {"copies", "sample", "masks-4-to-6-in-2"}),
    "bits, lsh": (
        [*HAMMING, "--method", "lsh"],
        {"sample", "dealt-0-to-2", "dealt-large-0-to-2", "hits-0", "found"},
    ),
    "bits, auto": (["--bits", "--text", "hash"], {"sample", "copies"}),
    "bits, packed": (["--bits", "--text", "packed", "--method", "exact"], {"copies", "blocks", "compared-0"}),
    "bits, jaccard": (
        ["--bits", "--text", "hash", "--measure", "jaccard", "-t", "0.8"],
        {"copies", "blocks", "compared-0"},
    ),
}
#: Reading is done again; it numbers rows by their ids, and leaves out what was told apart.
READING = {"Renumber", "Only"}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Vectors, and hashes of 32 bits, with copies and near ones; their ids are not in order."""
    folder = tmp_path_factory.mktemp("given")
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(80, 6))
    rows = np.concatenate([rows, rows + draw.normal(0, 0.05, rows.shape), rows[:20]])
    hashes = draw.integers(0, 1 << 32, 80)
    near = hashes ^ (1 << draw.integers(0, 32, 80))
    hashes = np.concatenate([hashes, near, hashes[:20]])
    count = len(rows)
    table = pa.table(
        {
            "name": [f"id{row * 37 % count:04}" for row in range(count)],
            "vector": list(rows),
            "hash": [f"{value:08x}" for value in hashes.tolist()],
            "packed": [value.to_bytes(4, "big") for value in hashes.tolist()],
        }
    )
    pq.write_table(table, folder / "all.parquet")
    return folder / "all.parquet"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """So small that a few rows are several blocks, strips and large buckets."""
    for module, name, value in [
        (products, "HELD", 64),
        (bitblocks, "BLOCK_ROWS", 50),
        (bitblocks, "STRIP", 4),
        (hamming, "LARGE", 2),
        (crowds, "ALL_PAIRS", 3),
        (crowds, "AFFORDABLE", 0),
        (LocalEngine, "group_rows", 400),
    ]:
        monkeypatch.setattr(module, name, value)
    # Batches as the commands make them: of 64 vectors, so that there are several.
    monkeypatch.setattr("lookalike.applications.vectors.collection._BATCH_ROWS", 64)


def arguments(given, road, out, *more):
    options = ROADS[road][0]
    return ["pairs", str(given), "-o", str(out), "--id", "name", *options, "--progress", "off", *more]


def stopped_before_writing(monkeypatch, given, road, out, *more):
    """Leaves an unfinished run with all stages done."""
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.cli.outcome.PairsOutcome.write_into", interrupt)
        assert main(arguments(given, road, out, *more)) == 130
    return out.parent / f".{out.name}.unfinished"


@pytest.mark.parametrize("road", [road for road in ROADS if not road.endswith("auto")])
def test_a_run_killed_anywhere_ends_as_one_never_killed(monkeypatch, given, tmp_path, road):
    found = check_killed_anywhere(
        monkeypatch, tmp_path, partial(arguments, given, road), kills=KILLS, seed=road
    )
    assert found["pairs.parquet"]


@pytest.mark.parametrize("road", ROADS)
def test_what_is_done_is_not_done_again(monkeypatch, given, tmp_path, road, capsys):
    check_nothing_is_done_again(
        monkeypatch,
        tmp_path,
        partial(arguments, given, road),
        partial(stopped_before_writing, monkeypatch, given, road),
        settled=ROADS[road][1],
        reading=READING,
    )
    assert "going on" in capsys.readouterr().err


def test_a_run_that_adds_bands_of_bits_and_is_killed_goes_on(monkeypatch, given, tmp_path):
    """Three rounds of a band each, whatever the draw found."""
    monkeypatch.setattr(BitsDraw, "bands_to_add", lambda *_, **__: 1)
    road = "bits, lsh"
    command = partial(arguments, given, road)
    check_killed_anywhere(monkeypatch, tmp_path, command, kills=KILLS, seed="added")
    record = json.loads((tmp_path / "whole" / "run.json").read_text())
    assert [added["bands"] for added in record["estimates"]["added_bands"]] == [1, 1, 1]
    check_nothing_is_done_again(
        monkeypatch,
        tmp_path / "again",
        command,
        partial(stopped_before_writing, monkeypatch, given, road),
        settled={"hits-0", "hits-3", "found"},
        reading=READING,
    )


@pytest.mark.parametrize("road", ["vectors, lsh", "vectors, exact", "bits, exact", "bits, lsh"])
def test_a_flipped_bit_is_noticed_and_the_stage_done_again(monkeypatch, given, tmp_path, road):
    stop = partial(stopped_before_writing, monkeypatch, given, road)
    check_flipped_bits(tmp_path, partial(arguments, given, road), stop, seed=road, most=4)


def test_blocks_that_are_cut_elsewhere_are_not_mixed(monkeypatch, given, tmp_path):
    road = "vectors, exact"
    assert main(arguments(given, road, tmp_path / "whole")) == 0
    stopped_before_writing(monkeypatch, given, road, tmp_path / "out")
    # As if another budget had cut the table into other batches.
    monkeypatch.setattr("lookalike.applications.vectors.collection._BATCH_ROWS", 50)
    assert main(arguments(given, road, tmp_path / "out", "--resume")) == 0
    assert answer(tmp_path / "out") == answer(tmp_path / "whole")


@pytest.mark.parametrize(
    ("road", "another", "said"),
    [
        ("vectors, lsh", ["--seed", "4"], "seed"),
        ("vectors, exact", ["-t", "16deg"], "threshold"),
        ("vectors, auto", ["--recall", "0.9"], "recall"),
        ("bits, exact", ["-t", "2"], "threshold"),
        ("bits, lsh", ["--on-error", "skip"], "--on-error"),
    ],
)
def test_another_question_is_refused_with_what_differs(
    monkeypatch, given, tmp_path, capsys, road, another, said
):
    out = tmp_path / "out"
    stopped_before_writing(monkeypatch, given, road, out)
    for more, reason in [(another, said), (["--with", str(given)], "files_by_collection")]:
        capsys.readouterr()
        assert main(arguments(given, road, out, "--resume", *more)) == 2
        assert reason in capsys.readouterr().err
    assert main(arguments(given, road, out, "--resume")) == 0


@pytest.mark.parametrize("road", ["vectors, lsh", "bits, covering"])
def test_a_changed_file_is_refused(monkeypatch, given, tmp_path, capsys, road):
    table = pq.read_table(given)
    pq.write_table(table, tmp_path / "some.parquet")
    stopped_before_writing(monkeypatch, tmp_path / "some.parquet", road, tmp_path / "out")
    pq.write_table(table.slice(1), tmp_path / "some.parquet")
    capsys.readouterr()
    assert main(arguments(tmp_path / "some.parquet", road, tmp_path / "out", "--resume")) == 2
    assert "some.parquet" in capsys.readouterr().err
