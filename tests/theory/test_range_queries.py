"""Range queries: the known example, and the promises behind it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.theory import RangeQuery, Sensitivity
from lookalike.theory.range_queries import STRUCTURE_RECALL

MILLION = RangeQuery(items=10**6, near=2 / 3, far=1 / 3)


def test_the_known_example_of_a_million_points():
    assert (MILLION.rows, MILLION.tables, MILLION.most_checks) == (13, 246, 492)
    assert f"{MILLION.rho:.3f}" == "0.369"
    assert Sensitivity(1, 2, 2 / 3, 1 / 3).range_query(10**6) == MILLION
    assert (
        str(MILLION) == "246 tables of 13 functions for 1,000,000 points (ρ = 0.369); stop after 492 checks"
    )


def test_the_promised_recall_fixes_how_many_structures():
    assert pytest.approx(0.1321206) == STRUCTURE_RECALL
    assert MILLION.structures(0.13) == 1
    assert MILLION.structures(0.95) == 22
    for recall in (0.5, 0.95, 0.999):
        needed = MILLION.structures(recall)
        assert 1 - (1 - STRUCTURE_RECALL) ** needed >= recall
        assert 1 - (1 - STRUCTURE_RECALL) ** (needed - 1) < recall


@given(st.integers(2, 10**12), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_near_points_meet_and_far_ones_are_few(items, one, other):
    far, near = sorted((one, other))
    if near == far:
        return
    query = RangeQuery(items=items, near=near, far=far)
    assert query.meets >= (1 - 1 / math.e) * (1 - 1e-9)
    assert query.structure_recall >= STRUCTURE_RECALL * (1 - 1e-8)
    # About one far point a table: fewer functions would let in more.
    assert items * far**query.rows <= 1 + 1e-9
    assert query.rows == 1 or items * far ** (query.rows - 1) > 1 - 1e-9
    assert query.tables >= items**query.rho / near * (1 - 1e-9)


def test_the_ends_are_plain():
    assert (lambda q: (q.rows, q.tables))(RangeQuery(items=1, near=0.5, far=0.25)) == (1, 2)
    assert (lambda q: (q.rows, q.tables, q.rho))(RangeQuery(items=100, near=1.0, far=0.1)) == (2, 1, 0)
    assert (lambda q: (q.rows, q.tables, q.rho))(RangeQuery(items=100, near=0.5, far=0.0)) == (1, 2, 0)


def test_a_query_as_plain_values():
    stored = MILLION.to_dict()
    assert stored["tables"] == 246
    assert RangeQuery(**{name: stored[name] for name in ("items", "near", "far")}) == MILLION


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"items": 0}, "items=0 is out of range"),
        ({"items": 2.5}, "items=2.5 is out of range"),
        ({"near": 0.2}, "cannot tell near points from far ones"),
        ({"near": 1 / 3}, "cannot tell near points from far ones"),
        ({"far": 1.0, "near": 1.0}, "cannot tell near points from far ones"),
    ],
)
def test_numbers_out_of_range_are_refused(wrong, says):
    with pytest.raises(OptionError, match=says):
        RangeQuery(**{"items": 10, "near": 2 / 3, "far": 1 / 3, **wrong})


def test_a_single_table_is_said_as_one():
    assert str(RangeQuery(items=1, near=1.0, far=0.5)).startswith("1 table of 1 function for 1 point ")
