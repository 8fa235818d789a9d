"""Plans by every measure, against every banding there is."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from lookalike.errors import OptionError, UnreachableRecallError
from lookalike.theory import Banding, DistanceSample, Plan, SimilaritySample, costs, plan
from lookalike.theory.collisions import (
    BitSamplingCollision,
    CauchyCollision,
    GaussianCollision,
    HyperplaneCollision,
    SignsCollision,
    UnaryCollision,
)

ASKED = [
    ("weighted-jaccard", 0.6, {}),
    ("cosine", 0.9, {}),
    ("angle", "25deg", {}),
    ("l2", 1.5, {}),
    ("l1", 4.0, {}),
    ("l1", 4.0, {"collision": UnaryCollision(100)}),
    ("hamming", 5, {"collision": BitSamplingCollision(64)}),
]
asked = pytest.mark.parametrize(("measure", "threshold", "more"), ASKED)


def every_banding(slots, most_rows):
    return [
        Banding(bands=bands, rows=rows)
        for rows in range(1, min(slots, most_rows or slots) + 1)
        for bands in range(1, slots // rows + 1)
    ]


@asked
@pytest.mark.parametrize("recall", [0.3, 0.95])
def test_the_promise_is_kept_and_no_banding_that_keeps_it_lets_fewer_pass(measure, threshold, more, recall):
    slots = 40
    chosen = plan(threshold, measure=measure, recall=recall, slots=slots, **more)
    agreement = chosen.collision.probability(chosen.scale.distance(chosen.threshold))
    assert chosen.reached == pytest.approx(chosen.banding.probability(agreement))
    assert chosen.reached >= recall - 1e-12
    assert chosen.banding.slots <= slots
    assert chosen.cascade.probability(chosen.scale.distance(chosen.threshold)) == pytest.approx(
        chosen.reached
    )
    furthest = chosen.scale.furthest(chosen.threshold, chosen.collision)
    even = np.linspace(chosen.scale.distance(chosen.threshold), furthest, 801)
    agreements = chosen.collision.probabilities(even)

    def passed(banding):
        return trapezoid(banding.probabilities(agreements), even)

    able = [
        banding
        for banding in every_banding(slots, chosen.collision.most_rows)
        if banding.miss(agreement) <= (1 - recall) * (1 + 1e-12)
    ]
    assert passed(chosen.banding) <= min(map(passed, able)) * (1 + 1e-4)
    assert chosen.false_positives == pytest.approx(passed(chosen.banding), rel=1e-3)
    near = np.linspace(0, even[0], 801)
    missed = 1 - chosen.banding.probabilities(chosen.collision.probabilities(near))
    assert chosen.false_negatives == pytest.approx(trapezoid(missed, near), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("measure", ["l2", "l1"])
def test_the_width_suits_the_threshold_and_grows_with_it(measure):
    small, large = (plan(radius, measure=measure) for radius in (1.0, 10.0))
    assert small.banding == large.banding
    assert large.collision.width == pytest.approx(10 * small.collision.width)
    for ratio in (0.5, 2.0):
        other = type(small.collision)(ratio * small.collision.width)
        worse = plan(1.0, measure=measure, collision=other)
        assert worse.false_positives >= small.false_positives


def test_a_family_given_is_the_family_planned():
    assert plan("30deg", measure="angle", collision=SignsCollision()).collision == SignsCollision()
    assert plan(2.0, measure="l2", collision=GaussianCollision(5)).collision == GaussianCollision(5)
    with pytest.raises(OptionError, match="is not for measure='l2': that takes gaussian"):
        plan(2.0, measure="l2", collision=CauchyCollision(5))


def test_a_cosine_is_planned_as_its_angle():
    cosine, angle = plan("20deg", measure="cosine", slots=512), plan("20deg", measure="angle", slots=512)
    assert cosine.banding == angle.banding
    assert cosine.reached == pytest.approx(angle.reached)
    assert cosine.false_positives == pytest.approx(angle.false_positives)


def test_bands_of_hyperplanes_are_at_most_64_bits():
    assert plan(0, measure="angle", slots=1024).banding == Banding(bands=1, rows=64)
    assert plan(1, measure="angle", slots=4096).banding.rows == 64


def test_rows_of_sampled_bits_are_at_most_the_bits():
    assert plan(0, measure="hamming", bits=16, slots=1024).banding.rows == 16


def distances(angles, items, *, values=128):
    return DistanceSample.from_distances(angles, items=items, values_per_item=values)


def far_apart(pairs=20_000):
    return np.random.default_rng(1).normal(90, 5, pairs).clip(0, 180)


@given(st.sampled_from(["15deg", "25deg", "40deg"]), st.integers(1, 7), st.floats(0.5, 0.99))
@settings(max_examples=20, deadline=None)
def test_with_distances_no_banding_that_keeps_the_promise_is_cheaper(threshold, magnitude, recall):
    sampled = distances(far_apart(500), 10**magnitude)
    chosen = plan(threshold, measure="angle", recall=recall, slots=256, distances=sampled)
    law = HyperplaneCollision()
    agreement = law.probability(chosen.threshold)
    candidates = sampled.candidates(law)

    def cost(banding):
        signing = sampled.items * banding.slots * 128 * costs.VALUE_NS
        keys = sampled.items * banding.bands * costs.KEY_NS
        checks = candidates(banding) * (costs.PAIR_NS + 2 * 128 * costs.VALUE_NS)
        return 1e-9 * (signing + keys + checks)

    # More bands than the fewest that keep the promise only cost more.
    able = []
    for rows in range(1, 65):
        for bands in range(1, 256 // rows + 1):
            if Banding(bands=bands, rows=rows).miss(agreement) <= (1 - recall) * (1 + 1e-12):
                able.append(Banding(bands=bands, rows=rows))
                break
    assert chosen.expected_cost == pytest.approx(cost(chosen.banding))
    assert chosen.expected_cost <= min(map(cost, able)) * (1 + 1e-8)
    assert chosen.expected_candidates == sampled.likely_candidates(chosen.banding, law)


def test_more_items_want_more_rows():
    rows = [
        plan(
            "25deg", measure="angle", slots=1024, distances=distances(far_apart(), 10**magnitude)
        ).banding.rows
        for magnitude in (2, 4, 6)
    ]
    assert rows == sorted(rows)
    assert rows[0] < rows[-1]


def test_crowded_data_wants_other_widths_than_spread_data():
    crowded = plan(1.0, measure="l2", distances=distances(np.full(5000, 2.0), 10**5))
    spread = plan(1.0, measure="l2", distances=distances(np.full(5000, 50.0), 10**5))
    assert crowded.expected_candidates > spread.expected_candidates
    assert crowded.reached >= 0.95
    assert spread.banding.slots < crowded.banding.slots


def test_agreements_of_bits_are_a_sample_too():
    agreements = np.random.default_rng(2).binomial(256, 0.5, 5000)
    similarities = SimilaritySample.from_agreements(agreements, slots=256, items=10**5, bytes_per_item=512)
    chosen = plan("25deg", measure="angle", slots=256, similarities=similarities)
    assert chosen.reached >= 0.95
    assert chosen.expected_candidates == similarities.likely_candidates(chosen.banding)


def test_samples_that_cannot_be_used_are_refused():
    similarities = SimilaritySample(counts=(1, 1), items=5, bytes_per_item=1)
    with pytest.raises(OptionError, match="width of buckets: give distances"):
        plan(1.0, measure="l2", similarities=similarities)
    with pytest.raises(OptionError, match="one sample"):
        plan(
            "20deg",
            measure="angle",
            similarities=similarities,
            distances=distances([90.0], 5),
        )


@pytest.mark.parametrize(
    ("measure", "threshold", "more", "says"),
    [
        (
            "angle",
            "170deg",
            {"slots": 16},
            "16 slots find at most 59.9% of pairs at angle 170°, short of recall=0.95:"
            " use slots=53 or more, or accept recall=0.59",
        ),
        (
            "hamming",
            63,
            {"slots": 16, "collision": BitSamplingCollision(64)},
            "16 slots find at most 22.3% of pairs at distance 63 bits, short of recall=0.95:"
            " use slots=191 or more, or accept recall=0.22",
        ),
        (
            "angle",
            "179.9999deg",
            {"recall": 0.999999},
            "at angle 180°, short of recall=0.999999: lower the threshold",
        ),
    ],
)
def test_recall_out_of_reach_says_what_is_within_it(measure, threshold, more, says):
    with pytest.raises(UnreachableRecallError) as caught:
        plan(threshold, measure=measure, **more)
    assert says in str(caught.value)


@asked
def test_a_plan_round_trips_through_json(measure, threshold, more):
    chosen = plan(threshold, measure=measure, **more)
    assert Plan.from_dict(json.loads(json.dumps(chosen.to_dict()))) == chosen


@asked
def test_the_curve_of_a_plan_passes_its_threshold_at_what_is_reached(measure, threshold, more):
    chosen = plan(threshold, measure=measure, **more)
    values, chances = chosen.curve(2001)
    assert np.interp(chosen.threshold, values, chances) == pytest.approx(chosen.reached, abs=1e-3)
    falling = np.diff(chances) * (1 if chosen.scale.rises else -1)
    assert (falling >= -1e-12).all()
    assert chosen.probabilities(chosen.threshold) == pytest.approx(chosen.reached)


def test_the_summary_says_what_a_slot_is():
    assert str(plan("20deg", measure="angle", slots=1024)) == (
        "44 bands of 23 rows, 1,012 of 1,024 slots\n"
        "finds 95.2% of the pairs at angle 20° (promised 95%)\n"
        "a slot is the side of a random hyperplane: 88.9% agree at angle 20°\n"
        "if all angles were equally common,"
        " misses 0.42% of the pairs within it and looks at 6.9% of those beyond"
    )
    assert "if all distances up to 7.5 were equally common" in str(plan(1.5, measure="l2"))
    assert "a slot is one of 64 bits: 95.3% agree at distance 3 bits" in str(
        plan(3, measure="hamming", bits=64)
    )


@pytest.mark.parametrize(("threshold", "extent"), [(5, 20), (2, 9), (3, 10), (3, 20), (5, 5.5)])
def test_the_curve_of_vectors_in_a_box_ends_where_the_box_does(threshold, extent):
    chosen = plan(threshold, measure="l1", collision=UnaryCollision(extent))
    values, chances = chosen.curve(51)
    assert values[-1] <= extent
    assert np.all(np.diff(chances) <= 1e-12)
