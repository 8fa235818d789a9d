"""A sample of pairs is the least hashes, however rows are cut into batches."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table
from lookalike.joins.least import Least, draw_pairs


@dataclass(frozen=True)
class LeastValues(Least):
    """Values are their own hashes; 0 is not to be drawn."""

    def hashes(self, batch):
        values, rows = batch["value"].to_numpy(), batch["row"].to_numpy()
        return values[values > 0], rows[values > 0]


def table_of(values, sizes):
    batch = pa.record_batch(
        {"row": pa.array(np.arange(len(values))), "value": pa.array(np.array(values, np.uint64))}
    )
    cuts = np.unique(np.clip(np.cumsum([0, *sizes]), 0, len(values))).tolist()
    bounds = zip([*cuts], [*cuts[1:], len(values)], strict=True)
    return Table(tuple(batch.slice(first, last - first) for first, last in bounds), batch.schema)


def least_rows(values, first, last, count):
    """By the definition: the first row of each value, the least values first."""
    rows = {}
    for row in range(first, last):
        if values[row] > 0:
            rows.setdefault(values[row], row)
    return sorted(rows[value] for value in sorted(rows)[:count])


@given(
    st.lists(st.integers(0, 12), max_size=40),
    st.lists(st.integers(0, 9), max_size=8),
    st.integers(0, 20),
    st.data(),
)
def test_pairs_are_those_of_the_least_hashes(values, sizes, count, data):
    boundary = data.draw(st.none() | st.integers(0, len(values)))
    table = table_of(values, sizes)
    drawn = draw_pairs(LocalEngine(2), table, LeastValues, count=count, boundary=boundary)
    found = list(zip(drawn.a.tolist(), drawn.b.tolist(), strict=True))
    if boundary is None:
        rows = least_rows(values, 0, len(values), count)
        assert found == [(x, y) for at, x in enumerate(rows) for y in rows[at + 1 :]]
    else:
        first = least_rows(values, 0, boundary, count // 2)
        second = least_rows(values, boundary, len(values), count // 2)
        assert found == [(x, y) for x in first for y in second]
