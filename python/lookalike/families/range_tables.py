"""Which measurements the tables of range buckets look at, so that a promised recall is kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from lookalike import _core
from lookalike.types import I64, Bools

#: So many choices of measurements are all looked at; of more, about so many are drawn.
_LOOKED_AT = 1 << 14
#: Numbers drawn at a time at most.
_AT_ONCE = 1 << 22


def tables_for(
    dimensions: int, close: int, rows: int, *, least: int, recall: float, seed: int
) -> tuple[tuple[int, ...], ...]:
    """Different tables of so many rows, at least `least` if there are.

    As many that, of all choices of `close` measurements, a share of `recall` holds all of some table. Where
    choices are too many to look at: of some that are drawn, and by two standard errors more, but not more
    than twice as many tables as `least`.

    Examples
    --------
    Whichever two of three measurements are close, a table of two must look at those.

    >>> sorted(tables_for(3, 2, 2, least=1, recall=0.95, seed=0))
    [(0, 1), (0, 2), (1, 2)]
    """
    choices, all_of_them = _choices(dimensions, close, seed)
    covered = np.zeros(len(choices), np.bool_)
    chosen: list[tuple[int, ...]] = []
    for table in _different(dimensions, rows, seed):
        chosen.append(table)
        covered |= choices[:, table].all(axis=1)
        share = float(covered.mean())
        error = 0.0 if all_of_them else 2 * math.sqrt(share * (1 - share) / len(choices))
        enough = share - error >= recall or (not all_of_them and len(chosen) >= 2 * least)
        if len(chosen) >= least and enough:
            break
    return tuple(chosen)


def chance_of_tables(dimensions: int, close: int, rows: int, tables: int) -> float:
    """The chance that, of so many different tables, one looks at nothing but measurements that are close.

    Examples
    --------
    Of the three tables of two measurements one will do, if two measurements are close.

    >>> [round(chance_of_tables(3, 2, 2, tables), 3) for tables in (1, 2, 3)]
    [0.333, 0.667, 1.0]
    """
    count, good = math.comb(dimensions, rows), math.comb(close, rows)
    if tables > count - good:
        return 1.0
    return -math.expm1(math.fsum(math.log1p(-good / (count - drawn)) for drawn in range(tables)))


def _choices(dimensions: int, close: int, seed: int) -> tuple[Bools, bool]:
    """Choices of measurements, a row each, and whether these are all there are."""
    count = math.comb(dimensions, close)
    if count <= _LOOKED_AT:
        which = np.array(list(combinations(range(dimensions), close)), np.int64).reshape(count, close)
    else:
        which = _drawn(max(64, min(_LOOKED_AT, _AT_ONCE // dimensions)), dimensions, close, ~seed)
    choices = np.zeros((len(which), dimensions), np.bool_)
    np.put_along_axis(choices, which, True, axis=1)
    return choices, count <= _LOOKED_AT


def _different(dimensions: int, rows: int, seed: int) -> Iterator[tuple[int, ...]]:
    """All tables there are, or as many as anybody asks for, in an order drawn by the seed."""
    count = math.comb(dimensions, rows)
    if count <= _LOOKED_AT:
        tables = list(combinations(range(dimensions), rows))
        ranks = _core.mix_integers(np.arange(count, dtype=np.uint64), seed=seed, threads=1)
        yield from (tables[place] for place in np.argsort(ranks, kind="stable").tolist())
        return
    seen: set[tuple[int, ...]] = set()
    at_once = max(1, min(1_024, _AT_ONCE // dimensions))
    # Draws repeat more and more often as few are left: past half of them nobody asks for more.
    for batch in range(0, 2**62, at_once):
        for row in _drawn(at_once, dimensions, rows, seed, first=batch).tolist():
            table = tuple(row)
            if table not in seen:
                seen.add(table)
                yield table


def _drawn(count: int, dimensions: int, size: int, seed: int, *, first: int = 0) -> I64:
    """So many choices of `size` measurements each, in order, no two of one choice the same; by hashes."""
    numbers = np.arange(first * dimensions, (first + count) * dimensions, dtype=np.uint64)
    ranks = _core.mix_integers(numbers, seed=seed % 2**64, threads=1).reshape(count, dimensions)
    return np.sort(np.argsort(ranks, axis=1, kind="stable")[:, :size], axis=1)
