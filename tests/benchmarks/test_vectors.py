"""The benchmark of near vectors sees wrong answers before it says how fast they came."""

from __future__ import annotations

import lookalike as la
from benchmarks import vectors


def test_the_sample_knows_what_is_near_and_what_is_not():
    rows = vectors.clustered(3_000)
    sample = vectors.Sample.of(rows, 200)
    pairs = la.similar_pairs(rows, measure="angle", threshold="25deg", method="exact")
    found = set(zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True))
    assert sample.pairs <= found
    assert sample.recall(found) == 1.0
    assert sample.false_pairs(found) == set()
    assert sample.recall(found - set(list(sample.pairs)[:10])) < 1
    row = int(sample.rows[0])
    stranger = next(other for other in range(3_000) if other > row and (row, other) not in found)
    assert sample.false_pairs(found | {(row, stranger)}) == {(row, stranger)}


def test_a_run_says_what_it_measured(capsys):
    assert vectors.main(["--rows", "5000", "--sample", "100"]) == 0
    said = capsys.readouterr().out
    assert "All pairs within 25°" in said
    assert "extrapolated" in said


def test_tables_are_counted_with_and_without_probes(capsys):
    assert vectors.main(["--probes", "--rows", "1500", "--sample", "50"]) == 0
    said = capsys.readouterr().out
    assert "Several buckets a table" in said
    assert "300 × 768, probes=8" in said
    assert "one query, probes=16" in said
