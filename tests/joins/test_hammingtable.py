"""A table of bits answers every query as a linear scan does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core
from lookalike.errors import OptionError
from lookalike.joins.hammingtable import HammingTable
from lookalike.measures.bits import as_bits


def scanned(table, query, radius):
    apart = (table != query).sum(axis=1)
    return [(int(row), int(apart[row])) for row in np.flatnonzero(apart <= radius)]


def answers(table, query, radius=None):
    return [tuple(row.values()) for row in table.query(query, radius).to_arrow().to_pylist()]


@given(st.integers(1, 150), st.integers(0, 80), st.integers(0, 2**32), st.data())
def test_queries_are_answered_as_by_looking_at_every_row(width, rows, seed, data):
    rng = np.random.default_rng(seed)
    radius = data.draw(st.integers(0, min(width - 1, 6)))
    centre = rng.integers(0, 2, width, dtype=np.uint8)
    table = centre ^ (rng.random((rows, width)) < 2 / width).astype(np.uint8)
    method = data.draw(st.sampled_from(["auto", "pieces", "covering"]))
    held = HammingTable(as_bits(np.packbits(table, axis=1), width=width), radius, method=method)
    assert len(held) == rows
    for query in (centre, *table[:3], rng.integers(0, 2, width, dtype=np.uint8)):
        packed = as_bits(np.packbits(query[None], axis=1), width=width)
        for most in (radius, 0):
            assert answers(held, packed, most) == scanned(table, query, most)
            for path in _core.paths():
                rows_found, apart = held._table.query(packed.words[0], most=most, path=path)
                found = list(zip(rows_found.tolist(), apart.tolist(), strict=True))
                assert found == scanned(table, query, most)


def test_a_table_of_bits_that_are_much_alike_takes_more_masks():
    """Of 64 bits twelve differ at all: pieces of sixteen tell hardly any rows apart."""
    rng = np.random.default_rng(7)
    spread = rng.integers(0, 2**64, 60_000, dtype=np.uint64)
    alike = spread & np.uint64(0x0101_0101_0101_0F0F)
    assert HammingTable(spread, 3).cover.slots == HammingTable(spread, 3, method="pieces").cover.slots == 4
    chosen, forced = HammingTable(alike, 3), HammingTable(spread, 3, method="covering")
    assert chosen.cover.slots > 4
    assert forced.cover.slots > 4
    words = as_bits(alike).words
    for row in range(5):
        near, apart = _core.scan_bits(words, words[row], most=3)
        assert answers(chosen, alike[row]) == list(zip(near.tolist(), apart.tolist(), strict=True))
    with pytest.raises(OptionError, match="method='scan' is unknown: choose auto, pieces or covering"):
        HammingTable(spread, 3, method="scan")


def test_a_query_may_be_a_string_a_number_or_bytes():
    numbers = np.array([0xFF, 0xFE, 0xFF00, 0xFF], np.uint64)
    table = HammingTable(numbers, radius=2)
    expected = [(0, 0), (1, 1), (3, 0)]
    for query in (0xFF, np.uint64(0xFF), "00000000000000ff", bytes([0] * 7 + [255]), numbers[:1]):
        assert answers(table, query) == expected
    assert answers(table, 0xFF, 0) == [(0, 0), (3, 0)]
    assert answers(HammingTable(numbers[:0]), 1) == []


@pytest.mark.parametrize(
    ("query", "radius", "said"),
    [
        ("ff", None, "an item of 8 bits is sought among rows of 64"),
        (0, 4, "radius=4 is out of range: this table answers for 0 to 3"),
        (0, -1, "radius=-1 is out of range"),
        (0, 1.5, "radius=1.5 is out of range"),
        (2**64, None, "not a number of 64 bits"),
    ],
)
def test_queries_out_of_range_are_refused(query, radius, said):
    table = HammingTable(np.arange(9, dtype=np.uint64))
    with pytest.raises(OptionError, match=said):
        table.query(query, radius)


def test_a_radius_needs_a_bit_a_piece():
    with pytest.raises(OptionError, match="radius=64 is out of range: of 64 bits, 0 to 63 may differ"):
        HammingTable(np.arange(3, dtype=np.uint64), radius=64)


def test_one_item_is_asked_for_at_a_time():
    rows = np.arange(32, dtype=np.uint8).reshape(4, 8)
    table = HammingTable(rows, radius=2)
    for item in (rows[1], rows[[1]], bytes(rows[1]), np.unpackbits(rows[1]).astype(np.bool_)):
        assert table.query(item).to_arrow()["row"].to_pylist() == [1]
    with pytest.raises(OptionError, match="2 items are sought: ask for one at a time"):
        table.query(rows[:2])
