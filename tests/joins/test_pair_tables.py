"""Pairs as tables: whichever batches they lie in."""

import numpy as np
import pytest

from lookalike.engines import LocalEngine, Table
from lookalike.joins.pair_tables import columns_of, distinct_pairs, nearest_to, pair_table, sorted_pairs


def in_batches(table, cut):
    whole = table.batches[0]
    return Table([whole.slice(at, cut) for at in range(0, len(whole), cut)], table.schema)


@pytest.mark.parametrize("cut", [1, 7, 1_000])
def test_pairs_are_sorted_by_both_rows_and_each_is_kept_once(cut):
    draw = np.random.default_rng(cut)
    a, b = draw.integers(0, 2**32 - 1, (2, 300))
    a[:150], b[:150] = draw.integers(0, 5, (2, 150))
    value = (a * 7 + b) % 1_000 / 1_000
    engine = LocalEngine(1)
    pairs = sorted_pairs(engine, in_batches(Table.of(a=a, b=b, similarity=value), cut))
    assert list(zip(*columns_of(pairs), strict=True)) == sorted(zip(a, b, value, strict=True))
    distinct = distinct_pairs(engine, in_batches(pairs, cut) if pairs.batches else pairs, most=150)
    assert list(zip(*columns_of(distinct), strict=True)) == sorted(set(zip(a, b, value, strict=True)))


@pytest.mark.parametrize("cut", [1, 7, 1_000])
@pytest.mark.parametrize("count", [1, 10, 500])
def test_pairs_nearest_to_a_threshold_are_told_by_rows_where_they_are_equally_near(cut, count):
    draw = np.random.default_rng(cut)
    a, b = draw.integers(0, 20, (2, 300))
    value = (a * 3 + b) % 8 / 8
    near = nearest_to(in_batches(pair_table(a, b, value), cut), 0.5, count)
    every = {(abs(v - 0.5), x, y, v) for x, y, v in zip(a.tolist(), b.tolist(), value.tolist(), strict=True)}
    assert list(zip(*(column.tolist() for column in near), strict=True)) == [
        row[1:] for row in sorted(every)[:count]
    ]


def test_of_no_pairs_none_is_nearest():
    empty = pair_table(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    assert [len(column) for column in nearest_to(empty, 0.5, 5)] == [0, 0, 0]
