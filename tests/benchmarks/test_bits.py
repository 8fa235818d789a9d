"""The benchmark of bits sees wrong answers before it says how fast they came."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from benchmarks import bits


def test_missing_pairs_are_seen():
    hashes = bits.clustered_hashes(4_000)
    pairs = la.similar_bits(hashes, threshold=bits.RADIUS)
    table = la.HammingTable(hashes, bits.RADIUS)
    assert bits.wrong_neighbours(pairs, table, hashes, range(4_000)) == []
    near = np.flatnonzero(pairs["distance"].to_numpy() > 0)
    fewer = la.Pairs(pairs.to_arrow().take(pa.array(np.setdiff1d(np.arange(len(pairs)), near[:1]))))
    assert len(bits.wrong_neighbours(fewer, table, hashes, range(4_000))) >= 2


def test_wrong_tanimoto_pairs_fail_before_a_time_is_given(monkeypatch):
    packed = bits.made_up_fingerprints(400)
    assert len(la.similar_bits(packed, measure="jaccard", threshold=bits.SIMILARITY)) > 0
    monkeypatch.setattr(bits, "plain_scan", lambda words, rows: {(0, 1), (0, 2)})
    with pytest.raises(AssertionError, match="not those of the scan"):
        bits.tanimoto(packed, 1)


def test_a_run_says_what_it_measured(capsys, tmp_path):
    np.save(tmp_path / "some.npy", bits.made_up_fingerprints(300))
    arguments = ["--hashes", "3000", "--fingerprints", str(tmp_path / "some.npy"), "--runs", "1"]
    assert bits.main(arguments) == 0
    said = capsys.readouterr().out
    assert "one query among 3,000 hashes" in said
    assert "read from a file" in said
    assert "hashes much alike" in said
