"""In which bands pairs met, by the keys of both rows."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pyarrow as pa
import pytest

from lookalike.bands import key_columns
from lookalike.engines import LocalEngine, Table
from lookalike.joins import recall_of_draw
from lookalike.joins.pair_tables import pair_table
from lookalike.joins.recall_of_draw import draw_of, draw_of_pairs


def keyed_rows(keys: np.ndarray, cuts: list[int]) -> Table:
    """Keyed rows in several batches; a key a band and row is given."""
    rows = keys.shape[1]
    content = np.random.default_rng(2).integers(0, 2**64, rows, dtype=np.uint64)
    batches = [
        pa.record_batch(
            {
                "row": pa.array(np.arange(start, stop)),
                "content": pa.array(content[start:stop]),
                **key_columns(keys[:, start:stop]),
            }
        )
        for start, stop in zip([0, *cuts], [*cuts, rows], strict=True)
    ]
    return Table(batches, batches[0].schema)


@pytest.mark.parametrize("bands", [3, 64, 70])
def test_the_bands_in_which_both_rows_have_the_same_key_are_counted(bands):
    rng = np.random.default_rng(bands)
    keys = rng.integers(0, 4, (bands, 50)).astype(np.uint64)
    a, b = np.triu_indices(50, 1)
    chances = rng.random(len(a))
    expected = (keys[:, a] == keys[:, b]).sum(axis=0)
    for threads, cuts in [(1, []), (2, [7, 7, 31])]:
        keyed = keyed_rows(keys, cuts)
        draw = draw_of(LocalEngine(threads=threads), keyed, a, b, chances, bands=bands)
        # Those that share no key were not found by bands.
        assert draw.hits.pairs == np.count_nonzero(expected)
        assert (draw.hits.agreed * draw.hits.counts).sum() == expected.sum()


def test_of_many_pairs_the_same_ones_are_looked_at_in_any_order(monkeypatch):
    monkeypatch.setattr(recall_of_draw, "MOST", 100)
    keys = np.random.default_rng(5).integers(0, 2, (6, 80)).astype(np.uint64)
    a, b = np.triu_indices(80, 1)
    chances = np.linspace(0.1, 0.9, len(a))
    engine = LocalEngine(threads=2)
    keyed = keyed_rows(keys, [40])
    one = draw_of(engine, keyed, a, b, chances, bands=6)
    shuffled = np.random.default_rng(6).permutation(len(a))
    # Whichever row of a pair comes first, too.
    other = draw_of(engine, keyed, b[shuffled], a[shuffled], chances[shuffled], bands=6)
    assert 90 <= one.hits.pairs <= 100
    for name in ("levels", "masks", "counts"):
        assert np.array_equal(getattr(one.hits, name), getattr(other.hits, name))


def test_pairs_in_a_table_tell_the_same_as_pairs_at_hand(monkeypatch):
    monkeypatch.setattr(recall_of_draw, "MOST", 100)
    keys = np.random.default_rng(7).integers(0, 2, (6, 80)).astype(np.uint64)
    a, b = np.triu_indices(80, 1)
    values = np.linspace(0.5, 0.9, len(a))
    engine = LocalEngine(threads=2)
    keyed = keyed_rows(keys, [40])
    one = draw_of(engine, keyed, a, b, values**3, bands=6)
    for cut in (1, 37, 5_000):
        whole = pair_table(a, b, values).batches[0]
        near = Table([whole.slice(at, cut) for at in range(0, len(whole), cut)], whole.schema)
        other = draw_of_pairs(engine, keyed, near, lambda some: some**3, bands=6)
        for name in ("levels", "masks", "counts"):
            assert np.array_equal(getattr(one.hits, name), getattr(other.hits, name))


@pytest.mark.parametrize("cut", [1, 3, 100])
def test_the_least_hashes_are_told_by_rows_where_they_are_equal(cut):
    draw = np.random.default_rng(8)
    hashes, a, b = draw.integers(0, 4, 60).astype(np.uint64), draw.permutation(60), draw.permutation(60)
    least = recall_of_draw.LeastHashes(20)
    lines = pa.record_batch({"a": pa.array(a), "b": pa.array(b), "hash": pa.array(hashes)})
    parts = [least(lines.slice(at, cut)) for at in range(0, 60, cut)]
    chosen = reduce(least.of_both, parts)
    expected = sorted(zip(hashes.tolist(), a.tolist(), b.tolist(), strict=True))[:20]
    found = (chosen[name].to_pylist() for name in ("hash", "a", "b"))
    assert sorted(zip(*found, strict=True)) == expected
