"""How often bands meet if it is known how many slots agree, against fractions and against every case."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from lookalike.errors import OptionError
from lookalike.theory import Banding
from lookalike.theory.agreeing import AgreeingSlots, chances_by_agreeing


def by_inclusion_and_exclusion(bands, rows, slots, agreeing):
    """1 − Σⱼ (−1)ʲ C(b, j) C(n − jr, m − jr) / C(n, m), without rounding."""
    none = sum(
        (-1) ** j * comb(bands, j) * comb(slots - j * rows, agreeing - j * rows)
        for j in range(min(bands, agreeing // rows) + 1)
    )
    return 1 - Fraction(none, comb(slots, agreeing))


@pytest.mark.parametrize(("bands", "rows", "slots"), [(1, 1, 1), (2, 1, 3), (3, 2, 6), (2, 3, 8), (4, 2, 9)])
def test_the_chance_is_the_share_of_all_choices_of_slots_in_which_some_band_agrees(bands, rows, slots):
    cut = [set(range(rows * band, rows * (band + 1))) for band in range(bands)]
    chances = chances_by_agreeing(Banding(bands=bands, rows=rows), slots)
    assert len(chances) == slots + 1
    for agreeing in range(slots + 1):
        choices = [set(chosen) for chosen in combinations(range(slots), agreeing)]
        met = sum(any(band <= chosen for band in cut) for chosen in choices)
        assert chances[agreeing] == pytest.approx(met / len(choices), rel=1e-14)
        assert by_inclusion_and_exclusion(bands, rows, slots, agreeing) == Fraction(met, len(choices))


@pytest.mark.parametrize(
    ("bands", "rows", "slots"), [(13, 7, 128), (64, 2, 128), (128, 1, 128), (3, 40, 128), (1, 256, 300)]
)
def test_no_digit_is_lost_however_small_the_chance(bands, rows, slots):
    chances = chances_by_agreeing(Banding(bands=bands, rows=rows), slots)
    for agreeing, chance in enumerate(chances.tolist()):
        exact = by_inclusion_and_exclusion(bands, rows, slots, agreeing)
        assert chance == 0 if exact == 0 else abs(Fraction(chance) / exact - 1) < 1e-13


def test_many_slots_are_as_good_as_independent():
    banding, slots = Banding(bands=10, rows=5), 20_000
    # Cut from so many slots, fifty are drawn almost with replacement.
    few = AgreeingSlots(banding, slots).probabilities([0.3, 0.6, 0.9])
    assert few == pytest.approx(banding.probabilities([0.3, 0.6, 0.9]), abs=1e-3)


def test_a_lone_band_agrees_less_often_than_independent_slots_and_several_more_often():
    lone, several = Banding(bands=1, rows=100), Banding(bands=13, rows=7)
    assert AgreeingSlots(lone, 128).probabilities(0.96) < 0.2 * lone.probability(0.96)
    assert AgreeingSlots(several, 128).probabilities(0.8) > several.probability(0.8) + 0.01


def test_shares_are_read_to_the_nearest_number_of_slots():
    law = AgreeingSlots(Banding(bands=3, rows=2), 7)
    shares = np.arange(8) / 7
    assert law.probabilities(shares).tolist() == chances_by_agreeing(law.banding, 7).tolist()


def test_what_no_signature_can_be_is_refused():
    with pytest.raises(OptionError, match="slots=90 are fewer than 13 bands of 7 rows take: 91 or more"):
        AgreeingSlots(Banding(bands=13, rows=7), 90)
    for share in (-0.1, 1.1):
        with pytest.raises(OptionError, match="from 0 to 1"):
            AgreeingSlots(Banding(bands=13, rows=7), 128).probabilities([0.5, share])
