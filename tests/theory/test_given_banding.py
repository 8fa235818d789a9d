"""Plans of a banding that somebody asked for (SPEC M9): known curves, and what is promised then."""

import pytest

import lookalike as la
from lookalike.errors import OptionError
from lookalike.theory.collisions import BitSamplingCollision, GaussianCollision


@pytest.mark.parametrize(
    ("similarity", "found"),
    [(0.2, 0.006), (0.3, 0.047), (0.4, 0.186), (0.5, 0.470), (0.6, 0.802), (0.7, 0.975), (0.8, 0.9996)],
)
def test_twenty_bands_of_five_promise_what_they_give_at_the_threshold(similarity, found):
    plan = la.plan(similarity, bands=20, rows=5)
    assert plan.banding == la.Banding(bands=20, rows=5)
    assert plan.given
    assert plan.recall == plan.reached == pytest.approx(1 - (1 - similarity**5) ** 20)
    assert plan.reached == pytest.approx(found, abs=5e-4)


def test_one_pair_in_2809_is_missed_at_eight_tenths():
    plan = la.plan(0.8, bands=20, rows=5)
    assert round(1 / plan.banding.miss(0.8)) == 2809
    assert round(100 * la.plan(0.3, bands=20, rows=5).reached, 3) == 4.749


def test_fifteen_bands_miss_more_and_pass_less():
    plan = la.plan(0.8, bands=15, rows=5)
    assert round(1 - plan.reached, 4) == 0.0026
    assert round(float(plan.probabilities([0.3])[0]), 4) == 0.0358


@pytest.mark.parametrize(("rows", "bands", "steepest"), [(2, 25, 0.200), (5, 10, 0.631), (10, 5, 0.851)])
def test_fifty_hashes_cut_three_ways_are_steepest_at_known_places(rows, bands, steepest):
    plan = la.plan(0.5, slots=50, bands=bands, rows=rows)
    assert round(plan.banding.threshold, 3) == steepest


def test_what_was_chosen_is_the_same_when_it_is_asked_for():
    chosen = la.plan(0.8)
    given = la.plan(0.8, bands=13, rows=7)
    assert (given.banding, given.reached, given.false_positives) == (
        chosen.banding,
        chosen.reached,
        chosen.false_positives,
    )
    assert "(promised 95%)" in str(chosen)
    assert "finds 95.3% of the pairs at similarity 0.8 (as bands and rows were given" in str(given)


def test_plans_are_stored_with_whose_banding_it_was():
    for plan in (la.plan(0.8), la.plan(0.8, bands=20, rows=5)):
        assert la.Plan.from_dict(plan.to_dict()) == plan


def test_every_measure_takes_a_banding():
    assert la.plan("20deg", measure="angle", bands=10, rows=8).reached == pytest.approx(
        1 - (1 - (160 / 180) ** 8) ** 10
    )
    sampled = BitSamplingCollision(64)
    assert la.plan(3, measure="hamming", collision=sampled, bands=4, rows=9).reached == pytest.approx(
        1 - (1 - (61 / 64) ** 9) ** 4
    )
    # Bits that are dealt out are in one band each: three differences never spoil four bands.
    assert la.plan(3, measure="hamming", bits=64, bands=4, rows=9).reached == 1
    law = GaussianCollision(4.0)
    plan = la.plan(1, measure="l2", collision=law, bands=20, rows=3)
    assert plan.reached == pytest.approx(1 - (1 - law.probability(1) ** 3) ** 20)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"bands": 20}, "bands=20 needs rows too"),
        ({"rows": 5}, "rows=5 needs bands too"),
        ({"bands": 0, "rows": 5}, "bands=0 is out of range"),
        ({"bands": 20, "rows": 2.5}, "rows=2.5 is out of range"),
        ({"bands": 20, "rows": 7}, "take 140 slots, and there are 128: use slots=140 or more"),
        ({"bands": 2, "rows": 7, "measure": "l2"}, "depends on the width of buckets"),
    ],
)
def test_bandings_that_cannot_be_are_refused(asked, said):
    with pytest.raises(OptionError, match=said):
        la.plan(0.8, **asked)
