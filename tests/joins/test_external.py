"""The external MinHash join: it equals signature agreement, some slots at a time."""

import re

import numpy as np
import pytest
from tests.joins import roads

from lookalike.engines import LocalEngine
from lookalike.families import MinHash
from lookalike.joins import external as externals
from lookalike.joins.agree import agree
from lookalike.joins.external import external
from lookalike.runs.watch import Watch


@pytest.mark.parametrize("orders", ["bucketed", "khash", "universal"])
@pytest.mark.parametrize("threshold", [0.1, 0.6, 0.9])
def test_it_equals_signature_agreement(orders, threshold):
    items, family = roads.items_of(roads.edited(400, 8), cut=90), MinHash(slots=48, orders=orders)
    options = {"family": family, "threshold": threshold}
    truth = roads.walked(agree, items, way="blocks", **options)
    assert len(truth) > 20
    assert roads.walked(external, items, **options) == truth
    assert roads.walked(agree, items, way="pieces", **options) == truth


@pytest.mark.parametrize("rows", [1, 100, 1000])
def test_how_many_slots_are_sorted_at_once_changes_nothing(rows):
    items = roads.items_of(roads.edited(150, 2), cut=40)

    def walk(group_rows):
        engine = LocalEngine(2)
        engine.group_rows = group_rows
        return external(items, family=MinHash(slots=20), threshold=0.3, engine=engine, watch=Watch())

    some, all_at_once = walk(rows), walk(1 << 22)
    np.testing.assert_array_equal(some.a, all_at_once.a)
    np.testing.assert_array_equal(some.b, all_at_once.b)
    np.testing.assert_array_equal(some.similarity, all_at_once.similarity)
    assert some.candidates == all_at_once.candidates


def test_candidates_are_the_pairs_that_agree_anywhere():
    items = roads.items_of([{1, 2, 3}, {1, 2, 3}, {1, 2, 4}, {99}, set()])
    found = external(items, family=MinHash(slots=256), threshold=1.0, engine=LocalEngine(1), watch=Watch())
    assert (found.a.tolist(), found.b.tolist(), found.candidates) == ([0], [1], 3)


@pytest.mark.parametrize(("boundary", "agreements"), [(None, 16 * 300 * 299 // 2), (100, 16 * 100 * 200)])
def test_much_work_is_said_before_with_what_would_be_less(monkeypatch, boundary, agreements):
    monkeypatch.setattr(externals, "MANY_MEETINGS", 1e5)
    said = []

    def walk(sets):
        items, watch = roads.items_of(sets, boundary=boundary), Watch(say=said.append)
        return external(items, family=MinHash(slots=16), threshold=0.9, engine=LocalEngine(2), watch=watch)

    assert len(walk([{1, 2, 3}] * 300).a) == agreements // 16
    assert len(said) == 1
    assert int(re.search("about ([0-9,]+) agreements", said[0])[1].replace(",", "")) == pytest.approx(
        agreements, rel=0.02
    )
    assert "Method signature finds the same pairs" in said[0]
    assert len(walk([{row} for row in range(300)]).a) == 0
    assert len(said) == 1
