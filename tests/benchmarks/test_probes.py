"""The benchmark of probes counts tables, and sees a broken promise before it says what it spared."""

from __future__ import annotations

from benchmarks import probes


def test_tables_are_counted_with_and_without_probes(capsys):
    assert probes.main(["--rows", "1500", "--sample", "50"]) == 0
    said = capsys.readouterr().out
    assert "Several buckets a table" in said
    assert "300 × 768, probes=8" in said
    assert "one query, probes=16" in said


def test_a_broken_promise_is_a_wrong_answer(capsys, monkeypatch):
    monkeypatch.setattr(probes.Sample, "recall", lambda sample, found: 0.5)
    assert probes.main(["--rows", "500", "--sample", "50"]) == 1
    assert "probes=1: recall 0.500" in capsys.readouterr().out
