"""The benchmark of bands and prefixes sees wrong answers before it says which road was faster."""

from __future__ import annotations

from dataclasses import replace

from benchmarks import crossover, prefix
from lookalike.joins.pair_tables import pair_table


def test_bands_that_find_less_or_something_else_are_at_fault():
    items = prefix.zipf(6_000).items()
    exact, _ = crossover.walk(items, "prefix", 0.6, 1)
    banded, _ = crossover.walk(items, "lsh", 0.6, 1)
    assert len(exact.a) >= 100
    half = replace(exact, near=pair_table(exact.a[::2], exact.b[::2], exact.similarity[::2]))
    assert any("bands find" in fault for fault in crossover.faults(half, exact, 0.6))
    other = replace(banded, near=pair_table(banded.a, banded.b, banded.similarity + 0.1))
    assert any("bands claim" in fault for fault in crossover.faults(other, exact, 0.6))
    assert not any("bands claim" in fault for fault in crossover.faults(banded, exact, 0.6))


def test_texts_are_items_of_all_their_bytes():
    items = crossover.texts(200, 300, "words:5")
    assert items.rows == 200
    assert 150 * 200 < items.bytes < 600 * 200


def test_a_run_says_what_it_measured(capsys, monkeypatch):
    # So small that choosing may take longer than joining: the status tells of time, the answers are right.
    monkeypatch.setattr(crossover, "THRESHOLDS", (0.8,))
    crossover.main(["--scale", "0.02", "--runs", "1"])
    said = capsys.readouterr().out
    assert "Bands or prefixes" in said
    assert "bands find" not in said
    assert "bands claim" not in said
