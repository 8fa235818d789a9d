"""Bands of bits dealt out from shuffles: their law by enumeration and in whole numbers, and plans by it."""

import re
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from lookalike.errors import UnreachableRecallError
from lookalike.theory import Banding, DistanceSample, Plan, costs, plan
from lookalike.theory.collisions import BitSamplingCollision, DealtBandsCollision, DealtBitsCollision
from lookalike.theory.dealing import FEW, chances, few_agree, fewest_bands, together


def missed(bits, banding, distance):
    """Exactly, by inclusion and exclusion over the bands of each shuffle."""

    def of_shuffle(bands):
        whole = (
            (-1) ** j * comb(bands, j) * comb(bits - j * banding.rows, distance) for j in range(bands + 1)
        )
        return Fraction(sum(whole), comb(bits, distance))

    at_once = bits // banding.rows
    times, rest = divmod(banding.bands, at_once)
    return of_shuffle(at_once) ** times * of_shuffle(rest)


@pytest.mark.parametrize(("bits", "rows"), [(7, 2), (8, 4), (9, 3), (6, 6), (8, 1), (10, 3)])
def test_the_law_of_one_shuffle_is_the_share_of_all_ways_to_differ(bits, rows):
    """Whichever way the positions are shuffled: so it is that of the first bands in order."""
    for bands in range(1, bits // rows + 1):
        banding = Banding(bands=bands, rows=rows)
        for distance in range(bits + 1):
            agreed = [
                sum(not set(range(band * rows, band * rows + rows)) & set(differing) for band in range(bands))
                for differing in combinations(range(bits), distance)
            ]
            met, none = chances(bits, [banding], [distance])
            assert none[0, 0] == pytest.approx(agreed.count(0) / len(agreed), abs=1e-15)
            assert met[0, 0] == pytest.approx(1 - agreed.count(0) / len(agreed), abs=1e-15)
            few = few_agree(bits, banding, [distance])[0]
            assert few.tolist() == pytest.approx(
                [agreed.count(number) / len(agreed) for number in range(FEW + 1)], abs=1e-15
            )


@given(
    st.integers(1, 300), st.integers(1, 300), st.integers(1, 60), st.lists(st.integers(0, 300), min_size=1)
)
@settings(deadline=None)
def test_neither_chance_loses_its_digits(bits, rows, bands, distances):
    banding = Banding(bands=bands, rows=min(rows, bits))
    distances = [min(distance, bits) for distance in distances]
    met, none = chances(bits, [Banding(bands=1, rows=1), banding], distances)
    for column, distance in enumerate(distances):
        exactly = missed(bits, banding, distance)
        if exactly > Fraction(1, 10**290):
            assert none[1, column] == pytest.approx(float(exactly), rel=1e-11, abs=0)
        if 1 - exactly > Fraction(1, 10**290):
            assert met[1, column] == pytest.approx(float(1 - exactly), rel=1e-11, abs=0)
        assert met[0, column] == pytest.approx(1 - distance / bits, abs=1e-13)


def test_fewer_differences_than_bands_of_a_shuffle_never_spoil_them_all():
    met, none = chances(64, [Banding(bands=2, rows=32), Banding(bands=4, rows=16)], [0, 1, 3])
    assert met[0, :2].tolist() == met[1].tolist()[:2] == [1.0, 1.0]
    assert met[1, 2] == 1
    assert none[1].tolist() == [0.0, 0.0, 0.0]


def test_bands_of_two_draws_are_told_together():
    one, other = (few_agree(64, Banding(bands=bands, rows=16), [6, 9]) for bands in (4, 8))
    # Four bands are a whole shuffle, so eight more are two of the same.
    assert together(one, other) == pytest.approx(few_agree(64, Banding(bands=12, rows=16), [6, 9]))


@given(st.integers(1, 120), st.integers(0, 30), st.sampled_from([0.5, 0.9, 0.95, 0.999]), st.integers(1, 400))
@settings(deadline=None)
def test_no_fewer_bands_would_keep_the_promise(bits, distance, recall, most):
    distance = min(distance, bits - 1)
    fewest = fewest_bands(bits, range(1, bits + 1), distance, recall, most=most)
    for rows, bands in enumerate(fewest, 1):
        assert rows * bands <= most
        assert missed(bits, Banding(bands=bands, rows=rows), distance) <= (1 - recall) * (1 + 1e-9)
        if bands > 1:
            assert missed(bits, Banding(bands=bands - 1, rows=rows), distance) > (1 - recall) * (1 - 1e-9)
    if len(fewest) < bits:
        rows = len(fewest) + 1
        assert (
            missed(bits, Banding(bands=max(1, most // rows), rows=rows), distance) > 1 - recall or rows > most
        )


@pytest.mark.parametrize(
    ("distance", "rows", "alone", "dealt"), [(4, 14, 6, 5), (5, 12, 7, 5), (6, 10, 7, 5), (7, 10, 8, 6)]
)
def test_bands_that_share_no_bit_are_fewer_for_the_same_promise(distance, rows, alone, dealt):
    independent = BitSamplingCollision(64).probability(distance) ** rows
    fewest = next(bands for bands in range(1, 99) if (1 - independent) ** bands <= 0.05)
    assert (fewest, fewest_bands(64, [rows], distance, 0.95, most=8192)) == (alone, [dealt])


def dealt(threshold, **options):
    return plan(threshold, measure="hamming", **options)


def area(bits, banding, first, last, part):
    met, none = chances(bits, [banding], np.arange(first, last + 1))
    return trapezoid((none if part == "missed" else met)[0])


@pytest.mark.parametrize(
    ("bits", "threshold", "slots"), [(64, 5, 60), (20, 2, 100), (40, 1, 30), (16, 0, 64)]
)
def test_the_planned_banding_keeps_the_promise_and_lets_the_fewest_pass(bits, threshold, slots):
    chosen = dealt(threshold, bits=bits, slots=slots)
    assert chosen.collision == DealtBitsCollision(bits)
    reached = 1 - missed(bits, chosen.banding, threshold)
    assert chosen.reached == pytest.approx(float(reached))
    assert reached >= 0.95
    assert chosen.probabilities([threshold])[0] == pytest.approx(chosen.reached)
    assert chosen.cascade.probability(threshold) == pytest.approx(chosen.reached)
    one = comb(bits - chosen.banding.rows, threshold) / comb(bits, threshold)
    assert chosen.band_chance_at_threshold == pytest.approx(one)
    most = bits // 2 if threshold else bits
    able = [
        Banding(bands=bands, rows=rows)
        for rows in range(1, min(slots, most) + 1)
        for bands in range(1, slots // rows + 1)
        if missed(bits, Banding(bands=bands, rows=rows), threshold) <= 0.05
    ]
    assert chosen.banding in able
    least = min(area(bits, banding, threshold, bits, "passed") for banding in able)
    assert chosen.false_positives == pytest.approx(least, abs=1e-12)
    assert chosen.false_negatives == pytest.approx(
        area(bits, chosen.banding, 0, threshold, "missed"), abs=1e-12
    )
    assert Plan.from_dict(chosen.to_dict()) == chosen
    values, found = chosen.curve(5)
    assert found.tolist() == pytest.approx(
        DealtBandsCollision(bits, bands=chosen.banding.bands, rows=chosen.banding.rows)
        .probabilities(values)
        .tolist()
    )


def test_with_distances_no_banding_that_keeps_the_promise_is_cheaper():
    distances = np.random.default_rng(1).binomial(64, 0.4, 5000)
    sample = DistanceSample.from_distances(distances, items=200_000, values_per_item=1)
    chosen = dealt(6, bits=64, slots=8192, distances=sample)

    def cost(banding):
        met, _ = chances(64, [banding], sample.levels)
        # One pair more, which may be at any distance.
        unknown = banding.false_positive_area(1.0)
        seen = float(met[0] @ np.array(sample.counts))
        candidates = sample.total_pairs * (seen + unknown) / (sample.pairs + 1)
        slots = sample.items * banding.slots * costs.VALUE_NS
        return 1e-9 * (
            slots
            + sample.items * banding.bands * costs.KEY_NS
            + candidates * (costs.PAIR_NS + 2 * costs.VALUE_NS)
        )

    bandings = [
        Banding(bands=bands, rows=rows)
        for rows, bands in enumerate(fewest_bands(64, range(1, 33), 6, 0.95, most=8192), 1)
    ]
    assert chosen.banding == min(bandings, key=cost)
    assert chosen.expected_cost == pytest.approx(cost(chosen.banding), rel=1e-6)


def test_few_slots_say_how_many_would_do():
    # Of 64 positions three miss 40 that differ in C(40, 3) of C(64, 3) draws.
    said = (
        "3 slots find at most 76.3% of pairs at distance 40 bits, short of recall=0.95: use slots=7 or more"
    )
    with pytest.raises(UnreachableRecallError, match=re.escape(said)):
        dealt(40, bits=64, slots=3)
    assert dealt(40, bits=64, slots=7).banding == Banding(bands=7, rows=1)
    with pytest.raises(UnreachableRecallError):
        dealt(40, bits=64, slots=6)


def test_who_bands_a_signature_of_bits_drawn_anew_plans_for_that():
    chosen = plan(5, measure="hamming", slots=256, collision=BitSamplingCollision(64))
    assert chosen.reached == chosen.banding.probability(1 - 5 / 64)
