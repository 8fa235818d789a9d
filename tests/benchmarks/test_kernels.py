"""The benchmark of kernels checks signatures and orders before it says how fast they came."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import kernels
from lookalike import _core
from lookalike.applications.planted import plant


@pytest.fixture
def quick(monkeypatch):
    """Little text, few keys and tokens, one run of each, and this process keeps its cores."""
    monkeypatch.setattr(kernels, "_BYTES", 1 << 18)
    monkeypatch.setattr(kernels, "_KEYS", (1 << 12, 1 << 14))
    monkeypatch.setattr(kernels, "_TOKENS", 20_000)
    monkeypatch.setattr(kernels, "_RUNS", 1)
    monkeypatch.setattr(kernels.os, "sched_setaffinity", lambda *_: None)


def test_signatures_that_are_off_are_faults(monkeypatch):
    texts = plant(60, seed=1, copies=0.5, mean_bytes=600).texts
    assert kernels.faults(texts) == []
    monkeypatch.setattr(kernels, "_jaccard", lambda a, b: 0.5)
    assert any("estimates are off" in fault for fault in kernels.faults(texts))


def test_a_wrong_signature_gets_no_time(quick, monkeypatch, capsys):
    monkeypatch.setattr(kernels, "faults", lambda texts: ["paths disagree"])
    assert kernels.main([]) == 1
    said = capsys.readouterr().out
    assert "paths disagree" in said
    assert "GB/s" not in said


def test_keys_in_a_wrong_order_get_no_time(quick, monkeypatch):
    sort = _core.sorted_runs

    def reversed_runs(columns, **options):
        keys, places = sort(columns, **options)
        return keys[::-1], places[::-1]

    monkeypatch.setattr(kernels._core, "sorted_runs", reversed_runs)
    with pytest.raises(AssertionError, match="not the order"):
        next(kernels.key_rows())


def test_a_run_says_what_it_measured(quick, capsys):
    pytest.importorskip("rensa", reason="rensa is not installed: it comes with the extra bench")
    assert kernels.main([]) == 0
    said = capsys.readouterr().out
    for title in ("Text to signature", "Prehashed sets to signature", "Bucket keys sorted"):
        assert title in said
    assert all(f"sign words:5, {path}" in said for path in _core.paths())
    assert np.isfinite(float(said.split("reading memory")[1].split("│")[1]))
