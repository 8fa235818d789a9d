"""Runs of equal keys, however little memory there is: the same rows as Python's own sort brings together."""

import tracemalloc
from collections import Counter
from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.engines import Table, memory
from lookalike.engines.memory import Budget
from lookalike.engines.parts import Part, bounded, deal
from lookalike.engines.runs import Runs
from lookalike.engines.spill import Spilled

#: From nothing at all, where everything is dealt out to the last key, to where all fits.
SIZES = [0, 300, 1500, 6000, 40_000, 10**9]
KEYS = st.one_of(
    st.lists(st.integers(0, 3) | st.sampled_from([2**63, 2**64 - 1]), max_size=60),
    st.lists(st.integers(0, 2**64 - 1), max_size=60),
    # Bits that a bad mix would lose.
    st.lists(st.integers(0, 20).map(lambda bit: 1 << (3 * bit)), max_size=60),
    # One key that most rows have.
    st.builds(
        lambda many, few: [7] * many + few, st.integers(0, 80), st.lists(st.integers(0, 9), max_size=9)
    ),
)


def budget(size):
    made = Budget(memory.LEAST)
    made.size = size
    return made


def table(keys, *, cut, extra=()):
    """Rows with their place, a text, a list and further columns, in batches of `cut`."""
    count = len(keys)
    columns = {
        "key": pa.array(keys, pa.uint64()),
        "row": pa.array(np.arange(count)),
        "text": pa.array([f"text {at}" * (at % 3) for at in range(count)], pa.large_string()),
        "elements": pa.array([list(range(at % 4)) for at in range(count)], pa.large_list(pa.uint64())),
        "slots": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(2 * count, dtype=np.uint32)), 2),
    }
    columns |= {name: pa.array(values, pa.int64()) for name, values in extra}
    batch = pa.record_batch(columns)
    return Table([batch.slice(at, cut) for at in range(0, count, cut)], batch.schema)


def runs(size, *, order=(), least=1, most=None, repeat_first=False, batch_rows=10, threads=1):
    return Runs(
        key="key",
        order=order,
        least=least,
        most=most,
        repeat_first=repeat_first,
        batch_rows=batch_rows,
        threads=threads,
        budget=budget(size),
    )


def made(batches):
    return [make() for make in batches]


def collected(batches, batch_rows, most, repeat_first, *, fits=False):
    """{key: its rows in order}, after a look at how they were cut."""
    found = {}
    last = None
    for batch in batches:
        batch.validate(full=True)
        keys = batch["key"].to_pylist()
        assert keys == sorted(keys)
        assert len(batch) <= max(batch_rows, most or 0) + repeat_first
        for key, group in groupby(batch.to_pylist(), key=lambda row: row["key"]):
            rows = list(group)
            if key in found:
                # Only a run longer than a batch is cut, and its pieces follow one another.
                assert most is None
                assert last == key
                assert len(set(keys)) == 1
                if repeat_first:
                    assert rows[0] == found[key][0]
                    rows = rows[1:]
            found.setdefault(key, []).extend(rows)
            last = key
    if most is None and fits:
        assert all(len(found[key]) > batch_rows for key in _cut(batches))
    return found


def _cut(batches):
    times = Counter(key for batch in batches for key in set(batch["key"].to_pylist()))
    return {key for key, count in times.items() if count > 1}


@settings(max_examples=300)
@given(keys=KEYS | KEYS.map(sorted), size=st.sampled_from(SIZES), data=st.data())
def test_runs_are_what_sorting_gives_whatever_the_budget(keys, size, data):
    count = len(keys)
    extra = [
        (
            name,
            data.draw(
                st.lists(
                    st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1), min_size=count, max_size=count
                )
            ),
        )
        for name in ("first", "second")
    ]
    order = data.draw(st.sampled_from([(), ("first",), ("first", "second"), ("second", "row"), ("row",)]))
    least = data.draw(st.integers(1, 4))
    most = data.draw(st.none() | st.integers(1, 70))
    batch_rows = data.draw(st.integers(1, 12))
    repeat_first = data.draw(st.booleans())
    whole = table(keys, cut=data.draw(st.integers(1, 30)), extra=extra)
    rows = [row for batch in whole.batches for row in batch.to_pylist()]
    expected = {}
    for row in sorted(rows, key=lambda row: [row["key"], *(row[name] for name in order)]):
        expected.setdefault(row["key"], []).append(row)
    expected = {key: run for key, run in expected.items() if least <= len(run) <= (most or count)}
    asked = runs(size, order=order, least=least, most=most, repeat_first=repeat_first, batch_rows=batch_rows)
    batches = made(asked.of(whole))
    assert collected(batches, batch_rows, most, repeat_first, fits=size == SIZES[-1]) == expected


@pytest.mark.parametrize("count", [30, 5_000])
def test_runs_that_stand_in_order_are_cut_out_few_or_many(count):
    keys = np.repeat(np.arange(count, dtype=np.uint64), np.arange(count) % 4)
    whole = table(keys, cut=97)
    rows = [row for batch in whole.batches for row in batch.to_pylist()]
    expected = {key: run for key in range(count) if 2 <= len(run := rows_of(rows, keys, key)) <= 2}
    assert len(expected) == -(-(count - 2) // 4)
    assert collected(made(runs(10**9, least=2, most=2).of(whole)), 10, 2, False) == expected


def rows_of(rows, keys, key):
    return rows[np.searchsorted(keys, key) : np.searchsorted(keys, key, side="right")]


@pytest.mark.parametrize("size", [0, 1000, 10**9])
@pytest.mark.parametrize("order", [(), ("first",), ("first", "row")])
def test_one_giant_key_comes_in_order_and_in_pieces(size, order):
    values = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, 500)
    # As many equal ones as nothing can tell apart.
    values[100:400] = 5
    whole = table([9] * 500, cut=40, extra=[("first", values)])
    batches = made(runs(size, order=order, repeat_first=True).of(whole))
    found = collected(batches, 10, None, True)[9]
    rows = [row for batch in whole.batches for row in batch.to_pylist()]
    assert found == sorted(rows, key=lambda row: [row[name] for name in order])


@pytest.mark.parametrize("size", [0, 1000])
def test_a_run_that_may_not_be_cut_is_not_and_one_that_is_too_long_is_left_out(size):
    whole = table([1] * 300 + [2] * 301 + [3] * 2, cut=50)
    found = collected(made(runs(size, least=3, most=300).of(whole)), 10, 300, False)
    assert {key: len(rows) for key, rows in found.items()} == {1: 300}


@pytest.mark.parametrize("size", [0, 2000, 10**9])
def test_nothing_comes_of_nothing(size):
    assert made(runs(size).of(table([], cut=5))) == []


@given(keys=KEYS, size=st.sampled_from(SIZES), cut=st.integers(1, 30), threads=st.integers(1, 3))
def test_dealing_keeps_every_row_once_and_in_order(keys, size, cut, threads):
    whole = table(keys, cut=cut)
    if not keys:
        return

    def number_of(batch):
        return batch["key"].to_numpy()

    parts = list(deal(bounded(whole, number_of), number_of, budget(size), threads))
    assert [part.table.rows for part in parts] == [part.table.rows for part in parts if part.table.rows]
    seen = [row for part in parts for batch in part.table.batches for row in batch.to_pylist()]
    assert Counter(row["row"] for row in seen) == Counter(range(len(keys)))
    assert all(
        row == {**row, "key": keys[row["row"]], "text": f"text {row['row']}" * (row["row"] % 3)}
        for row in seen
    )
    last = -1
    for part in parts:
        numbers = part.table.column("key")
        assert (int(numbers.min()), int(numbers.max())) == (part.low, part.high)
        assert last < part.low
        last = part.high
        rows = part.table.column("row").tolist()
        assert rows == sorted(rows)
        assert len(parts) == 1 or part.table.rows < len(keys)
        assert all(isinstance(piece, Spilled) for piece in part.table.batches.pieces)


def test_keys_that_share_all_their_high_bits_are_told_apart():
    """The worst case of dealing by ranges: one bit at a time."""
    keys = [2**64 - 1 - (1 << bit) for bit in range(64)] * 3
    whole = table(keys, cut=17)
    part = Part(table=whole)
    depth = 0
    while part.low < part.high:
        part = max(deal(part, lambda b: b["key"].to_numpy(), budget(0)), key=lambda p: p.table.rows)
        depth += 1
        assert depth < 70
    assert part.table.rows == 3


def test_texts_of_more_than_two_gibibytes_are_not_lost(monkeypatch):
    """Offsets of 32 bits end there; pretend that they end much earlier."""
    from lookalike.engines import gather

    monkeypatch.setattr(gather, "_NARROW_BYTES", 100)
    count = 200
    batch = pa.record_batch(
        {
            "key": np.arange(count, dtype=np.uint64)[::-1] % 7,
            "word": pa.array([f"word {at}" for at in range(count)]),
            "blob": pa.array([bytes([at]) for at in range(count)]),
            "list": pa.array([[at] * (at % 3) for at in range(count)], pa.list_(pa.int16())),
        }
    )
    whole = Table([batch.slice(at, 30) for at in range(0, count, 30)], batch.schema)
    batches = made(runs(10**9, batch_rows=50).of(whole))
    assert all(piece.schema == batch.schema for piece in batches)
    rows = [row for piece in batches for row in piece.to_pylist()]
    assert rows == sorted(batch.to_pylist(), key=lambda row: row["key"])


@pytest.mark.parametrize("skewed", [False, True])
def test_a_group_larger_than_its_budget_stays_within_it(skewed, tmp_path):
    """Of 32 MB in a budget of 16, with keys that mostly fall into one part and with even ones."""
    allowed = Budget(16_000_000, tmp_path)
    draw = np.random.default_rng(3)
    spilling = memory.Spilling(allowed)
    pieces, schema, total = [], None, 0
    for at in range(40):
        keys = draw.integers(0, 2**64, 50_000, dtype=np.uint64)
        if skewed:
            keys[50:] = 77
        batch = pa.record_batch({"key": keys, "row": np.arange(50_000 * at, 50_000 * (at + 1))})
        total += int(keys.sum())
        schema = batch.schema
        pieces += spilling.append(batch)
    del batch, keys
    whole = Table(pieces, schema)
    asked = Runs(
        key="key",
        order=("row",),
        least=1,
        most=None,
        repeat_first=False,
        batch_rows=4096,
        threads=2,
        budget=allowed,
    )
    seen, summed, arrow = 0, 0, 0
    pa.default_memory_pool().release_unused()
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    for make in asked.of(whole):
        batch = make()
        seen += len(batch)
        summed += int(batch["key"].to_numpy().sum())
        arrow = max(arrow, pa.total_allocated_bytes() - before)
    python = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (seen, summed % 2**64) == (2_000_000, total % 2**64)
    # What Arrow and NumPy take; what kernels take to sort is not seen here, and counted with 28 bytes a row.
    assert arrow + python < 12_000_000


@given(KEYS, st.sampled_from(SIZES), st.integers(1, 50), st.integers(1, 9))
@settings(max_examples=200)
def test_rows_are_sorted_from_batch_to_batch_too(keys, size, cut, batch_rows):
    runs = Runs(
        key="key",
        order=("row",),
        least=1,
        most=None,
        repeat_first=False,
        batch_rows=batch_rows,
        threads=1,
        budget=budget(size),
    )
    batches = [make() for make in runs.in_order(table(keys, cut=cut))]
    found = [
        pair
        for batch in batches
        for pair in zip(batch["key"].to_pylist(), batch["row"].to_pylist(), strict=True)
    ]
    assert found == sorted(zip(keys, range(len(keys)), strict=True))
