"""Shares of items with the rows they name: all items, the right rows, and no more memory than there is."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table, memory
from lookalike.engines.memory import Budget
from lookalike.engines.numbering import Numbers
from lookalike.engines.reach import Index
from lookalike.engines.reach import shares as shares_within
from lookalike.engines.spill import Spilled, SpillFile
from lookalike.engines.widths import in_bytes, kept_widths, row_bytes
from lookalike.errors import InternalError, RowTooLargeError


def texts(numbers, lengths, *, cut, spilled=lambda at: True):
    """A table of numbered texts, some batches of it on disk."""
    batch = pa.record_batch(
        {
            "row": np.array(numbers, np.int64),
            "text": pa.array(
                [f"{n}:".ljust(size, "x") for n, size in zip(numbers, lengths, strict=True)],
                pa.large_string(),
            ),
        }
    )
    file = SpillFile(None)
    pieces = [batch.slice(at, cut) for at in range(0, len(batch), cut)]
    return Table([file.append(p) if spilled(at) else p for at, p in enumerate(pieces)], batch.schema)


def items(pairs, cut=100):
    a, b = np.array(pairs, np.int64).reshape(-1, 2).T
    batch = Table.of(a=a, b=b).batches[0]
    return Table([batch.slice(at, cut) for at in range(0, len(batch), cut)], batch.schema)


def shares(index, named, on, room):
    return shares_within(index, named, on, room, Budget(memory.LEAST))


def text_at(held, rows):
    found = pa.chunked_array([batch["text"] for batch in held.batches], pa.large_string())
    return found.take(pa.array(held.at(rows))).to_pylist()


NUMBERS = st.one_of(
    st.integers(1, 40).map(lambda count: list(range(count))),
    st.lists(st.integers(0, 60), min_size=1, max_size=40, unique=True),
    st.lists(st.integers(0, 2**40), min_size=1, max_size=40, unique=True),
)


@settings(max_examples=200)
@given(numbers=NUMBERS, cut=st.integers(1, 15), room=st.integers(150, 3000), data=st.data())
def test_every_item_comes_once_with_its_rows_at_hand(numbers, cut, room, data):
    count = len(numbers)
    lengths = data.draw(st.lists(st.integers(0, 40), min_size=count, max_size=count))
    pairs = data.draw(st.lists(st.tuples(*[st.sampled_from(numbers)] * 2), max_size=60))
    on_disk = data.draw(st.sampled_from([lambda at: True, lambda at: at > 1, lambda at: at % 2]))
    table = texts(numbers, lengths, cut=cut, spilled=on_disk)
    index = Index(table.batches.pieces)
    text_of = {n: f"{n}:".ljust(size, "x") for n, size in zip(numbers, lengths, strict=True)}
    seen = []
    for share in shares(index, items(pairs, cut=data.draw(st.integers(1, 50))), ("a", "b"), room):
        # What is in memory already may be held as it is.
        held_bytes = sum(
            batch.nbytes
            for batch in share.held.batches
            if not any(batch is piece for piece in table.batches.pieces)
        )
        # Validity is not stored, and offsets are one more than rows.
        assert held_bytes <= room + 8 * len(share.held.batches)
        for name in ("a", "b"):
            rows = share.items[name].to_numpy()
            assert text_at(share.held, rows) == [text_of[row] for row in rows.tolist()]
        seen += zip(share.items["a"].to_pylist(), share.items["b"].to_pylist(), strict=True)
    assert seen == pairs


def test_items_are_as_many_at_a_time_as_have_room_themselves():
    table = texts(range(10), [5] * 10, cut=3)
    many = [(at % 10, (at + 1) % 10) for at in range(50_000)]
    sizes = [
        len(share.items) for share in shares(Index(table.batches.pieces), items(many), ("a", "b"), 10_000)
    ]
    assert sum(sizes) == 50_000
    assert max(sizes) * 16 <= 10_000 + 16 * 100


def test_rows_from_all_over_the_table_are_dealt_out_and_not_read_once_a_share(monkeypatch):
    rows = 4_000
    table = texts(range(rows), [1000] * rows, cut=100)
    pairs = np.random.default_rng(0).permutation(rows)[:2_000].reshape(-1, 2)
    loads = []
    load = Spilled.load
    monkeypatch.setattr(Spilled, "load", lambda piece: loads.append(piece.nbytes) or load(piece))
    seen = []
    for share in shares(Index(table.batches.pieces), items(pairs), ("a", "b"), 200_000):
        assert sum(batch.nbytes for batch in share.held.batches) <= 200_000
        a = share.items["a"].to_numpy()
        assert [int(text.split(":")[0]) for text in text_at(share.held, a)] == a.tolist()
        seen += a.tolist()
    assert seen == pairs[:, 0].tolist()
    # The table once and what was named once; one by one it would be the table ten times.
    assert sum(loads) < 2 * table.batches.nbytes


def test_large_rows_among_small_ones_count_as_large():
    """An average would let all the large ones in at once."""
    lengths = [100_000 if at % 100 == 0 else 10 for at in range(1000)]
    index = Index(texts(range(1000), lengths, cut=500).batches.pieces)
    large = [(at, at + 100) for at in range(0, 800, 100)]
    held = [
        sum(b.nbytes for b in share.held.batches)
        for share in shares(index, items(large), ("a", "b"), 400_000)
    ]
    assert len(held) > 1
    assert max(held) <= 400_000


def test_rows_too_large_for_the_room_are_named():
    index = Index(texts([3, 9, 5], [10, 90_000, 90_000], cut=3).batches.pieces)
    with pytest.raises(RowTooLargeError, match=r"row 9 and row 5 take together about .* allow memory='1MB'"):
        list(shares(index, items([(3, 9), (9, 5)]), ("a", "b"), 120_000))
    with pytest.raises(RowTooLargeError, match=r"^row 5 takes about"):
        list(shares(index, items([(5, 5)]), ("a", "b"), 60_000))


def test_one_row_that_fits_alone_is_compared_with_itself():
    index = Index(texts([0], [900], cut=3).batches.pieces)
    assert len(list(shares(index, items([(0, 0)] * 5), ("a", "b"), 1100))) == 1


@pytest.mark.parametrize("spilled", [True, False])
@pytest.mark.parametrize("numbers", [[0, 1, 2], [2, 0, 1], [7, 5, 1], [10, 2**33, 4]])
@pytest.mark.parametrize("asked", [-1, 3, 6, 2**32, 2**32 + 1, 2**63 - 1])
def test_a_row_that_is_not_there_is_an_error_and_not_another_row(spilled, numbers, asked):
    table = texts(numbers, [9] * 3, cut=2, spilled=lambda at: spilled)

    def stage(batch, held):
        text_at(held, batch["a"].to_numpy())
        return batch

    with pytest.raises(InternalError, match=f"row {asked} "):
        LocalEngine(1).fetch(table, Table.of(a=np.array([numbers[0], asked])), ("a",), stage)


@given(st.lists(st.integers(0, 30) | st.integers(0, 2**50), unique=True), st.data())
def test_numbers_tell_where_rows_stand(numbers, data):
    known = Numbers(np.array(numbers, np.int64))
    places = data.draw(st.lists(st.integers(0, max(0, len(numbers) - 1)), max_size=20 if numbers else 0))
    rows = np.array([numbers[place] for place in places], np.int64)
    assert known.places(rows).tolist() == places
    assert known.at(np.array(places, np.int64)).tolist() == rows.tolist()


def test_numbers_of_other_kinds_are_found_too():
    known = Numbers(np.array([4, 2, 7], np.int64))
    for kind in (np.uint32, np.uint64, np.int32):
        assert known.places(np.array([7, 4], kind)).tolist() == [2, 0]


# Widths


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=30), st.integers(0, 5))
def test_widths_are_never_too_little_and_at_most_a_tenth_too_much(values, skip):
    batch = pa.record_batch(
        {
            "row": np.arange(len(values)),
            "wide": pa.array(values, pa.large_binary()),
            "list": pa.array([list(value) for value in values], pa.list_(pa.uint16())),
        }
    ).slice(min(skip, len(values) - 1))
    true = [8 + (8 + len(value)) + (4 + 2 * len(value)) for value in values[min(skip, len(values) - 1) :]]
    assert row_bytes(batch).tolist() == true
    widths = in_bytes(kept_widths(batch))
    assert all(size <= width * (1 + 1e-12) <= size * 1.0906 for size, width in zip(true, widths, strict=True))


def test_rows_without_numbers_or_of_one_size_need_no_widths():
    assert kept_widths(pa.record_batch({"text": ["a", "bb"]})) is None
    assert kept_widths(pa.record_batch({"row": [1, 2], "x": [1.5, 2.5]})) is None


# The verb


@pytest.mark.parametrize("threads", [1, 2])
def test_fetch_answers_in_the_order_of_the_items_wherever_rows_are(monkeypatch, threads):
    monkeypatch.setattr(memory, "LEAST", 0)
    draw = np.random.default_rng(5)
    numbers = draw.permutation(300)
    table = texts(numbers.tolist(), (numbers % 50).tolist(), cut=20)
    pairs = draw.integers(0, 300, (5000, 2))

    def stage(batch, held):
        joined = [x + y for x, y in zip(*(text_at(held, batch[n].to_numpy()) for n in "ab"), strict=True)]
        return pa.record_batch({"both": joined})

    expected = LocalEngine(1).fetch(
        texts(numbers.tolist(), (numbers % 50).tolist(), cut=20, spilled=lambda at: False),
        items(pairs),
        ("a", "b"),
        stage,
    )
    for size in (2000, 8000, 10**6):
        engine = LocalEngine(threads, memory=size)
        found = engine.fetch(table, items(pairs), ("a", "b"), stage)
        assert found.column("both").tolist() == expected.column("both").tolist()
