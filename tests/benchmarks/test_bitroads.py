"""The benchmark of the roads of bits sees wrong answers before it says which road was faster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import bitroads, bits


def small(radius=3):
    return bitroads.Case(name="some", make=lambda: bits.alike_bits(1_500, causes=6), radius=radius)


def test_roads_that_differ_fail(monkeypatch):
    roads, auto, pairs = bitroads.walk(small(), 1)
    assert {road.method for road in roads} == {"pieces", "covering", "exact"}
    assert auto.name in {road.name for road in roads}
    assert pairs > 0
    honest = bitroads.compare_bit_blocks

    def one_short(*given, **options):
        found = honest(*given, **options)
        return replace(found, a=found.a[1:], b=found.b[1:], apart=found.apart[1:])

    monkeypatch.setattr(bitroads, "compare_bit_blocks", one_short)
    with pytest.raises(AssertionError, match="scan finds"):
        bitroads.walk(small(), 1)


def test_constants_are_found_again_from_times_made_of_them():
    rng = np.random.default_rng(1)
    constants = np.array([31.0, 2.0, 95.0, 0.14])
    work = rng.random((20, 4)) * [1e6, 1e7, 1e6, 1e9]
    walked = [bitroads.Walked("", "", 1e-9 * float(row @ constants), 0.0, 0, tuple(row)) for row in work]
    assert bitroads.fitted(walked) == pytest.approx(constants, rel=1e-6)


def test_a_run_says_what_it_measured(capsys, monkeypatch):
    monkeypatch.setattr(bitroads, "cases", lambda scale: [small()])
    assert bitroads.main(["--runs", "1", "--fit", "--scale", "0.01"]) in (0, 1)
    said = capsys.readouterr().out
    assert "BIT_KEY_NS" in said
    assert "BIT_LOOK_NS" in said
    assert "15 masks" in said


def test_hashes_of_pictures_share_more_of_their_bits_than_even_ones_do():
    table = np.unpackbits(bits.alike_bits(2_000, causes=10).to_bytes(), axis=1).astype(np.float64)
    correlations = np.corrcoef(table.T[table.std(axis=0) > 0])
    assert np.abs(correlations[np.triu_indices(len(correlations), 1)]).mean() > 0.1
    assert np.abs(table.mean(axis=0) - 0.5).mean() > 0.05
