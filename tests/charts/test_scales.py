"""Ticks are round, within the axis, and not too many."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.charts.scales import CountScale, round_ticks, share_ticks


@given(st.floats(0, 30))
def test_shares_are_ticked_from_end_to_end(most):
    ticks = share_ticks(most)
    assert (ticks[0], ticks[-1]) == (0, 1)
    assert len(ticks) <= max(2, most)


@given(st.floats(0, 0.9), st.floats(0.01, 1), st.integers(2, 12))
def test_round_ticks_lie_within_the_axis_and_are_evenly_spaced(low, length, most):
    ticks = round_ticks(low, low + length, most)
    assert len(ticks) <= most + 1
    assert all(low - 1e-6 <= tick <= low + length + 1e-6 for tick in ticks)
    gaps = {round(b - a, 9) for a, b in pairwise(ticks)}
    assert len(gaps) <= 1


def test_round_ticks_are_round():
    assert round_ticks(0.5, 1.0, 6) == [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert round_ticks(0.0, 1.0, 6) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])


@given(st.integers(0, 10**12), st.booleans(), st.integers(2, 12))
def test_a_count_scale_has_room_for_the_largest_count_and_ends_at_a_tick(largest, log, most):
    scale = CountScale.over(largest, log=log)
    ticks = scale.ticks(most)
    assert 0 <= scale.height(largest) <= 1 + 1e-12
    assert (ticks[0], ticks[-1]) == (0, scale.top)
    assert ticks == sorted(ticks)
    assert len(ticks) <= most + 1
    assert all(tick == int(tick) for tick in ticks)
    if largest > 1 and not log:
        assert scale.height(largest) > 0.6  # no more empty paper than round numbers need


@given(st.integers(2, 10**9))
def test_a_logarithmic_scale_lifts_single_pairs_into_sight(largest):
    linear, log = CountScale.over(largest), CountScale.over(largest, log=True)
    assert log.height(0) == 0
    assert log.height(1) >= 0.03
    assert linear.height(1) == pytest.approx(1 / linear.top)
