"""A row that is larger than the whole budget is refused by the table that would hold it."""

import numpy as np
import pyarrow as pa
import pytest

from lookalike.engines import LocalEngine, Table
from lookalike.errors import RowTooLargeError

BUDGET = 16_000_000


def texts(lengths):
    return pa.record_batch(
        {
            "row": np.arange(len(lengths)),
            "text": pa.array(["x" * size for size in lengths], pa.large_string()),
        }
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_a_scan_refuses_a_row_larger_than_the_budget_and_says_what_would_do(threads):
    engine = LocalEngine(threads, memory=BUDGET)
    batch = texts([5, 17_000_000, 16_500_000])
    with pytest.raises(
        RowTooLargeError, match=r"^row 1 takes about 17,000,\d+ .*allow memory='69MB'"
    ) as raised:
        engine.scan([texts([3]), batch], batch.schema)
    assert raised.value.rows == (1,)
    enough = LocalEngine(threads, memory=raised.value.enough)
    assert enough.scan([batch], batch.schema).rows == 3


def test_a_map_refuses_a_row_that_it_makes_larger_than_the_budget():
    def doubled(batch):
        lists = [np.zeros(size, np.uint64) for size in batch["size"].to_pylist()]
        return pa.record_batch({"row": batch["row"], "elements": pa.array(lists, pa.large_list(pa.uint64()))})

    engine = LocalEngine(2, memory=BUDGET)
    sizes = Table.of(row=[7, 8, 9], size=[100, 2_100_000, 3])
    with pytest.raises(RowTooLargeError, match=r"^row 8 takes about 16,8"):
        engine.map(sizes, doubled)


def test_many_small_rows_that_are_large_together_are_none():
    engine = LocalEngine(2, memory=BUDGET)
    batch = texts([100_000] * 300)
    assert engine.scan([batch], batch.schema).rows == 300


def test_what_is_in_memory_anyway_may_be_of_any_size():
    batch = texts([17_000_000])
    assert LocalEngine(1, memory=BUDGET).scan([batch], batch.schema, lasting=True).rows == 1
