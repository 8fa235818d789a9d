"""The benchmark beside MLlib asks both for the same recall, and sees wrong answers before it gives a time."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from benchmarks.near_judge import RECALL, Result, Truth, codes, judged

import lookalike as la
from benchmarks import mllib, spark_lsh

ROOT = Path(mllib.__file__).parents[1]
GOOD = Result(
    contestant="MLlib", threshold=0.1, seconds=2.0, recall=0.97, precision=1.0, pairs=10, compared=100
)


def brute_force(vectors, threshold):
    wide = vectors.astype(np.float64)
    return {
        (a, b) for a, b in combinations(range(len(wide)), 2) if np.linalg.norm(wide[a] - wide[b]) <= threshold
    }


def columns(pairs):
    a, b = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    return a, b


def told(pairs, vectors, truth):
    return judged(pairs, vectors, truth, contestant="somebody", seconds=1.0, compared=0)


@pytest.mark.parametrize("threshold", [0.02, 0.2, 5.0])
def test_the_truth_is_what_brute_force_says_of_its_rows(threshold):
    vectors = mllib.spread_vectors(300)
    truth = Truth.of(vectors, threshold, 40)
    rows = set(truth.rows.tolist())
    pairs = {pair for pair in brute_force(vectors, threshold) if rows & set(pair)}
    assert len(pairs) >= 3
    assert set(truth.pairs.tolist()) == set(codes(*columns(pairs), 300).tolist())


def test_missing_false_and_repeated_pairs_are_seen():
    vectors = mllib.spread_vectors(300)
    truth = Truth.of(vectors, 0.2, 300)
    pairs = brute_force(vectors, 0.2)
    assert len(pairs) > 50
    right = told(columns(pairs), vectors, truth)
    assert (right.recall, right.precision, right.pairs, right.objections) == (1.0, 1.0, len(pairs), [])
    fewer = told(columns(sorted(pairs)[len(pairs) // 10 :]), vectors, truth)
    assert fewer.recall == pytest.approx(0.9, abs=0.01)
    assert "under the promised 0.95" in fewer.objections[0]
    stranger = next(pair for pair in combinations(range(300), 2) if pair not in pairs)
    assert "only" in told(columns(pairs | {stranger}), vectors, truth).objections[0]
    a, b = columns(pairs)
    mirrored = told((np.append(a, b[0]), np.append(b, a[0])), vectors, truth)
    assert mirrored.recall == 1
    assert len(mirrored.objections) == 1
    none = told(columns(set()), vectors, truth)
    assert (none.recall, none.precision) == (0.0, 1.0)


def test_our_answer_stands():
    vectors = mllib.spread_vectors(3_000)
    truths = {threshold: Truth.of(vectors, threshold, 3_000) for threshold in (0.1, 0.2)}
    results = mllib.our_results(vectors, truths)
    assert [(result.threshold, result.objections) for result in results] == [(0.1, []), (0.2, [])]
    assert results[0].pairs == len(mllib.our_join(vectors, 0.1))
    assert results[0].compared >= results[0].pairs > 500


@pytest.mark.parametrize("tables", [1, 3, 6])
def test_bucket_lengths_keep_the_promise_at_the_threshold_and_no_more(tables):
    draw = np.random.default_rng(tables)
    trials, dimensions = 20_000, 128
    length = spark_lsh.settings(0.5, tables=tables, dimensions=dimensions, recall=RECALL).length
    met = np.zeros(trials, np.bool_)
    for _ in range(tables):
        directions = draw.normal(size=(trials, dimensions))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        place = draw.uniform(0, length, size=trials)
        met |= np.floor(place / length) == np.floor((place + 0.5 * directions[:, 0]) / length)
    # Lines of unit length are a little more even than Gaussian ones: in 128 dimensions by under .002.
    assert abs(met.mean() - RECALL) < 4 * np.sqrt(RECALL * (1 - RECALL) / trials) + 0.002


def test_what_cannot_stand_gets_no_time(monkeypatch, capsys):
    ours = replace(GOOD, contestant="lookalike", seconds=0.05)
    for recall, status in ((0.97, 0), (0.9, 1)):
        peer = replace(GOOD, recall=recall)
        monkeypatch.setattr(spark_lsh, "missing", lambda: None)
        monkeypatch.setattr(mllib, "our_results", lambda *_: [ours])
        monkeypatch.setattr(mllib, "peer_results", lambda *_, peer=peer: ([peer], {2: 1.0}))
        assert mllib.main(["--rows", "100", "--sweep-rows", "50", "--thresholds", "0.1"]) == status
        said = capsys.readouterr().out
        assert ("goal of 20 is reached" in said) == (status == 0)
        assert ("recall 0.900 is under the promised 0.95" in said) == (status == 1)
        assert ("seconds" in said) == (status == 0)


def test_without_java_or_pyspark_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert mllib.main(["--rows", "100"]) == 2
    assert "extra spark" in capsys.readouterr().out


def test_mllib_finds_what_it_is_planned_for_and_is_timed_beside_us():
    if (why := spark_lsh.missing()) is not None:
        pytest.skip(why)
    # In a process of its own, with which its Java machine ends.
    sizes = [
        "--rows",
        "2000",
        "--sample",
        "1000",
        "--sweep-rows",
        "500",
        "--tables",
        "2",
        "--thresholds",
        "0.1",
    ]
    path = os.pathsep.join([str(ROOT), str(Path(la.__file__).parents[1])])
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.mllib", *sizes],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr[-2_000:]
    lines = [line.strip("│").split("│") for line in run.stdout.splitlines() if line.startswith("│")]
    table = {cells[1].strip(): [float(cell.replace(",", "")) for cell in cells[2:]] for cells in lines}
    assert set(table) == {"lookalike", "MLlib"}
    for seconds, _, recall, precision, pairs, compared in table.values():
        assert seconds > 0
        assert recall >= RECALL
        assert precision == 1
        assert compared >= pairs > 500
