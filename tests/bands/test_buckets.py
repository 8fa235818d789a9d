"""Signatures to bucket keys, and buckets to candidates."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core
from lookalike.bands import Buckets, Once, PairUp, bands_of, key_columns, rows_of
from lookalike.bands.buckets import run_starts
from lookalike.engines import LocalEngine, Table

SIZES = st.lists(st.integers(1, 12), max_size=8)


def in_buckets(sizes):
    """Rows in buckets of the given sizes, numbered so that no bucket has its rows in order."""
    total = sum(sizes)
    rows = np.random.default_rng(total).permutation(total).astype(np.uint32)
    return Table.of(bucket=np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes), row=rows)


def members(table, sizes):
    """The rows of each bucket, sorted."""
    rows, ends = table.column("row"), np.cumsum(sizes)
    return [sorted(rows[end - size : end].tolist()) for size, end in zip(sizes, ends, strict=True)]


@given(SIZES, st.integers(1, 30), st.sampled_from([1, 2]))
def test_small_buckets_give_all_their_pairs(sizes, batch_rows, threads):
    table = in_buckets(sizes)
    pairs = LocalEngine(threads, batch_rows=batch_rows).group(table, "bucket", PairUp(), most=5)
    expected = [pair for rows in members(table, sizes) if len(rows) <= 5 for pair in combinations(rows, 2)]
    low, high = rows_of(pairs.column("pair"))
    assert sorted(zip(low.tolist(), high.tolist(), strict=True)) == sorted(expected)


@given(SIZES, st.sampled_from([1, 2]))
def test_between_two_collections_only_pairs_across_are_made(sizes, threads):
    table = in_buckets(sizes)
    first = np.arange(sum(sizes)) % 3 != 0
    second = np.arange(sum(sizes)) % 3 != 1
    pairs = LocalEngine(threads).group(table, "bucket", PairUp((first, second)), most=64)
    expected = [
        (a, b)
        for rows in members(table, sizes)
        for a, b in combinations(rows, 2)
        if (first[a] and second[b]) or (second[a] and first[b])
    ]
    low, high = rows_of(pairs.column("pair"))
    assert sorted(zip(low.tolist(), high.tolist(), strict=True)) == sorted(expected)


@given(st.lists(st.integers(0, 20), max_size=60), st.integers(1, 9))
def test_pairs_that_meet_often_are_one(pairs, batch_rows):
    table = Table.of(pair=np.array(pairs, np.uint64))
    once = LocalEngine(1, batch_rows=batch_rows).group(table, "pair", Once(), most=60)
    assert sorted(once.column("pair").tolist()) == sorted(set(pairs))


@pytest.mark.parametrize(
    ("keys", "starts"), [([], [0]), ([7], [0, 1]), ([1, 1, 1], [0, 3]), ([1, 2, 2, 9, 9, 9], [0, 1, 3, 6])]
)
def test_runs_begin_where_the_key_changes(keys, starts):
    assert run_starts(np.array(keys, np.uint64)).tolist() == starts


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.data())
def test_the_same_key_means_the_same_slots_of_the_same_band(bands, rows, spare, data):
    """Few values, so that bands agree often; slots that no band uses do not matter."""
    slots = bands * rows + spare
    count = data.draw(st.integers(1, 8))
    matrix = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 1), min_size=slots, max_size=slots), min_size=count, max_size=count
            )
        ),
        np.uint32,
    )
    keys = _core.band_keys(matrix, bands=bands, rows=rows)
    batch = pa.record_batch({"row": pa.array(np.arange(count) + 10)} | key_columns(keys))
    marked = np.ones(count + 10, np.bool_)
    marked[data.draw(st.integers(0, count + 9))] = False
    start = data.draw(st.integers(0, count - 1))
    first = data.draw(st.integers(0, bands - 1))
    made = Buckets(first, bands, marked)(batch.slice(start))
    keyed = made.append_column("band", pa.array(bands_of(made["bucket"].to_numpy()))).to_pylist()
    assert [(row["band"], row["row"]) for row in keyed] == [
        (band, 10 + row) for band in range(first, bands) for row in range(start, count) if marked[10 + row]
    ]
    for one, two in combinations(keyed, 2):
        same = one["band"] == two["band"] and np.array_equal(
            *(matrix[row["row"] - 10, row["band"] * rows : (row["band"] + 1) * rows] for row in (one, two))
        )
        assert (one["bucket"] == two["bucket"]) == same
