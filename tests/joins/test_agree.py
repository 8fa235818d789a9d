"""Signature agreement: the pieces that lose nothing, the blocks, and which of them is taken."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.joins import roads

from lookalike import _core
from lookalike.engines import LocalEngine, memory
from lookalike.errors import OptionError
from lookalike.families import MinHash
from lookalike.joins import blocks
from lookalike.joins.agree import agree, pieces_not_all_different
from lookalike.joins.signatures import least_agreeing
from lookalike.runs.watch import Watch

# The room may offer the function under the module's name.
road = importlib.import_module("lookalike.joins.agree")


@given(slots=st.integers(1, 300), data=st.data())
def test_signatures_that_agree_in_enough_slots_are_the_same_in_a_piece(slots, data):
    least = data.draw(st.integers(1, slots))
    pieces = pieces_not_all_different(slots, least)
    assert pieces.slots <= slots
    differing = data.draw(st.sets(st.integers(0, slots - 1), max_size=slots - least))
    untouched = set(range(pieces.bands)) - {slot // pieces.rows for slot in differing}
    assert untouched


@given(slots=st.integers(1, 500), threshold=st.floats(1e-6, 1.0))
def test_the_least_agreement_is_the_first_that_reaches_the_threshold(slots, threshold):
    least = least_agreeing(threshold, slots)
    assert least / slots >= threshold > (least - 1) / slots


@pytest.mark.parametrize("path", _core.paths())
@given(
    rows=st.integers(0, 12),
    others=st.integers(0, 12),
    slots=st.sampled_from([1, 31, 32, 33, 64, 100]),
    seed=st.integers(0, 99),
)
def test_blocks_agree_as_a_double_loop_says_on_every_path(path, rows, others, slots, seed):
    draw = np.random.default_rng(seed)
    left, right = (draw.integers(0, 3, (count, slots), dtype=np.uint32) for count in (rows, others))
    for least in (0, 1, slots // 3, slots // 2, slots):
        i, j, agreeing = _core.agreeing_pairs(left, right, least=least, path=path)
        expected = [(a, b, int((left[a] == right[b]).sum())) for a in range(rows) for b in range(others)]
        assert list(zip(i, j, agreeing, strict=True)) == [row for row in expected if row[2] >= least]
        i, j, agreeing = _core.agreeing_pairs(left, least=least, path=path)
        expected = [(a, b, int((left[a] == left[b]).sum())) for a in range(rows) for b in range(a + 1, rows)]
        assert list(zip(i, j, agreeing, strict=True)) == [row for row in expected if row[2] >= least]


def test_blocks_of_different_widths_are_refused():
    with pytest.raises(OptionError, match="blocks of 3 and 4 slots"):
        _core.agreeing_pairs(np.zeros((2, 3), np.uint32), np.zeros((2, 4), np.uint32), least=1)


def way_taken(monkeypatch, sets, **options):
    """The way that was taken, and what was found."""
    taken = []
    monkeypatch.setattr(
        road,
        "compare_blocks",
        lambda *args, **kw: taken.append("blocks") or blocks.compare_blocks(*args, **kw),
    )
    family = MinHash(slots=64)
    found = agree(
        roads.items_of(sets, cut=500), family=family, engine=LocalEngine(2), watch=Watch(), **options
    )
    return (taken or ["pieces"])[0], found


def test_unlike_rows_are_compared_by_pieces_and_few_or_like_rows_by_blocks(monkeypatch):
    unlike = roads.edited(6000, 1)
    assert way_taken(monkeypatch, unlike, threshold=0.8)[0] == "pieces"
    assert way_taken(monkeypatch, unlike[:50], threshold=0.8)[0] == "blocks"
    alike = [{*range(100), 1000 + row} for row in range(1500)]
    assert way_taken(monkeypatch, alike, threshold=0.99)[0] == "blocks"


def test_candidates_are_the_pairs_that_were_compared(monkeypatch):
    sets = [{row, -1} for row in range(30)]
    _, found = way_taken(monkeypatch, sets, threshold=0.9, way="blocks")
    assert found.candidates == 30 * 29 // 2


def test_many_small_blocks_give_what_one_block_gives(monkeypatch):
    sets, options = roads.edited(200, 5), {"threshold": 0.4, "way": "blocks"}
    _, whole = way_taken(monkeypatch, sets, **options)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 7)
    monkeypatch.setattr(blocks, "STRIP", 1)
    monkeypatch.setattr(blocks, "TILE", 3)
    _, parts = way_taken(monkeypatch, sets, **options)
    assert len(whole.a) > 50
    for column in ("a", "b", "similarity"):
        np.testing.assert_array_equal(getattr(whole, column), getattr(parts, column))


def test_blocks_are_as_small_as_memory_asks(monkeypatch):
    monkeypatch.setattr(memory, "LEAST", 0)
    family = MinHash(slots=2048)
    items, sets = roads.items_of(roads.edited(150, 5)), {"threshold": 0.4, "way": "blocks"}
    much, little = (
        agree(items, family=family, engine=LocalEngine(2, memory=size), watch=Watch(), **sets)
        for size in (10**9, 500_000)
    )
    np.testing.assert_array_equal(much.a, little.a)
    np.testing.assert_array_equal(much.b, little.b)


@pytest.mark.parametrize("threshold", [0, -1, 1.01, "high"])
def test_a_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(OptionError, match="threshold="):
        agree(
            roads.items_of([{1}]), family=MinHash(), threshold=threshold, engine=LocalEngine(1), watch=Watch()
        )
