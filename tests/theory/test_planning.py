"""Plans against every banding there is."""

import json
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import ArtefactError, OptionError, UnreachableRecallError
from lookalike.theory import Banding, Plan, SimilaritySample, costs, plan
from lookalike.theory.dependence import least_chance

thresholds = st.floats(0.05, 1)
recalls = st.floats(0.01, 0.999)


def every_banding(slots):
    return [
        Banding(bands=bands, rows=rows)
        for rows in range(1, slots + 1)
        for bands in range(1, slots // rows + 1)
    ]


def keeps(banding, threshold, recall):
    """Whether a promise is kept but for the last digits of a float: two bands find 0.19 of pairs at 0.1."""
    return banding.miss(threshold) <= (1 - recall) * (1 + 1e-12)


def sample(*, zero=0, items=100_000, slots=128, levels=None):
    counts = [zero, *[0] * slots]
    for level, count in (levels or {}).items():
        counts[level] += count
    return SimilaritySample(counts=tuple(counts), items=items, bytes_per_item=2700)


def cost(banding, similarities):
    """The sum the planner is meant to make least, written out."""
    candidates = similarities.total_pairs * similarities.candidate_rate(banding)
    keys = similarities.items * banding.bands * costs.KEY_NS
    return 1e-9 * (keys + candidates * (costs.PAIR_NS + 2 * similarities.bytes_per_item * costs.BYTE_NS))


def able_to_keep(slots, threshold, recall):
    """Bandings that keep a promise, as well as any can: slots are not independent.

    One under .6 is kept with .012 to spare, and all of them whatever the size of the sets.
    """
    able = [banding for banding in every_banding(slots) if keeps(banding, threshold, recall)]
    wary = [banding for banding in able if least_chance(banding, threshold, slots=slots) >= recall - 1e-12]
    sparing = [banding for banding in wary if keeps(banding, threshold, recall + 0.012)]
    return (sparing if recall < 0.6 else []) or wary or able


def test_the_default_plan_is_thirteen_bands_of_seven_rows():
    assert plan(0.8, recall=0.95, slots=128).banding == Banding(bands=13, rows=7)
    assert plan(0.8) == plan(0.8, recall=0.95, slots=128)


@given(thresholds, recalls, st.integers(1, 40))
def test_of_all_bandings_that_keep_the_promise_the_fewest_dissimilar_pairs_pass(threshold, recall, slots):
    able = able_to_keep(slots, threshold, recall)
    if not able:
        with pytest.raises(UnreachableRecallError):
            plan(threshold, recall=recall, slots=slots)
        return
    chosen = plan(threshold, recall=recall, slots=slots)
    assert chosen.reached == chosen.banding.probability(threshold) >= recall - 1e-12
    assert chosen.banding.slots <= slots
    least = min(banding.false_positive_area(threshold) for banding in able)
    assert chosen.false_positives == pytest.approx(least, rel=1e-8)
    assert chosen.false_negatives == chosen.banding.false_negative_area(threshold)
    assert chosen.expected_candidates is None
    assert chosen.expected_cost is None


@given(
    thresholds,
    st.floats(0.5, 0.99),
    st.lists(st.integers(0, 10**6), min_size=2, max_size=33),
    st.integers(0, 10**7),
)
@settings(deadline=None)
def test_with_a_sample_no_banding_that_keeps_the_promise_is_cheaper(threshold, recall, counts, items):
    similarities = SimilaritySample(counts=tuple(counts), items=items, bytes_per_item=500)
    able = able_to_keep(128, threshold, recall)
    if able:
        chosen = plan(threshold, recall=recall, similarities=similarities)
        assert chosen.reached >= recall - 1e-12
        assert chosen.expected_cost == pytest.approx(cost(chosen.banding, similarities))
        assert chosen.expected_cost <= min(cost(banding, similarities) for banding in able) * (1 + 1e-8)
        assert chosen.expected_candidates == similarities.likely_candidates(chosen.banding)


def test_data_without_similar_pairs_needs_fewer_bands():
    many = plan(0.8, similarities=sample(zero=1_000_000))
    assert many.banding.bands < plan(0.8).banding.bands
    assert many.reached >= 0.95


def test_a_small_sample_without_similar_pairs_is_not_trusted():
    assert plan(0.8, similarities=sample(zero=1000)).banding == plan(0.8).banding


def test_the_larger_the_sample_without_similar_pairs_the_fewer_rows():
    rows = [plan(0.8, similarities=sample(zero=zero)).banding.rows for zero in (10**3, 10**5, 10**6, 10**9)]
    assert rows == sorted(rows, reverse=True)
    assert rows[0] > rows[-1] >= 3  # 128 slots cannot rule out similarities that would flood fewer rows


def test_more_items_never_want_fewer_rows():
    rows = [plan(0.8, similarities=sample(zero=10**6, items=10**n)).banding.rows for n in range(2, 9)]
    assert rows == sorted(rows)


def test_a_template_shared_by_all_wants_more_rows():
    distinct = plan(0.8, similarities=sample(zero=10**6))
    alike = plan(0.8, similarities=sample(levels={64: 10**6}))
    assert alike.banding.rows > distinct.banding.rows
    assert alike.expected_candidates > 1000 * distinct.expected_candidates


def test_among_equals_the_fewest_slots_are_used():
    nothing_to_do = sample(items=0)
    assert plan(0.8, similarities=nothing_to_do).banding == Banding(bands=2, rows=1)


def test_a_promise_met_exactly_is_met():
    # One band of one row finds half of the pairs at 0.5, two find exactly three quarters.
    assert plan(0.5, recall=0.5, slots=1).banding == Banding(bands=1, rows=1)
    assert plan(0.5, recall=0.75, slots=2).banding == Banding(bands=2, rows=1)
    assert plan(0.75, recall=0.9375, slots=2).banding == Banding(bands=2, rows=1)


def test_equal_items_take_every_slot_in_one_band():
    assert plan(1.0, slots=128).banding == Banding(bands=1, rows=128)


def test_the_specimen_of_an_unreachable_recall():
    with pytest.raises(UnreachableRecallError) as caught:
        plan(0.2, recall=0.99, slots=16)
    assert str(caught.value) == (
        "16 slots find at most 97.2% of pairs at similarity 0.2, short of recall=0.99:"
        " use slots=21 or more, or accept recall=0.97"
    )


@given(st.floats(0.001, 0.3), st.floats(0.9, 0.999999), st.integers(1, 6))
@settings(deadline=None)
def test_both_ways_out_of_an_unreachable_recall_work(threshold, recall, slots):
    with pytest.raises(UnreachableRecallError) as caught:
        plan(threshold, recall=recall, slots=slots)
    message = str(caught.value)
    needed = int(message.split("slots=")[1].split(" ")[0])
    assert plan(threshold, recall=recall, slots=needed).banding == Banding(bands=needed, rows=1)
    with pytest.raises(UnreachableRecallError):
        plan(threshold, recall=recall, slots=needed - 1)
    if "accept" in message:
        accepted = float(message.split("accept recall=")[1])
        assert accepted < recall
        assert plan(threshold, recall=accepted, slots=slots).reached >= accepted - 1e-12


def test_a_hopeless_threshold_is_not_answered_with_impossible_slots():
    with pytest.raises(UnreachableRecallError) as caught:
        plan(1e-9, recall=0.9)
    assert str(caught.value) == (
        "128 slots find at most 0.1% of pairs at similarity 1e-09, short of recall=0.9: raise the threshold"
    )


def test_a_near_miss_is_told_apart_from_the_recall_it_misses():
    with pytest.raises(
        UnreachableRecallError, match=r"at most 97\.185% .* short of recall=0\.97186: use slots=17"
    ):
        plan(0.2, recall=0.97186, slots=16)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            {"threshold": 80},
            "threshold=80 is out of range: over 0 and at most 1; did you mean threshold=0.8?",
        ),
        ({"threshold": 0}, "threshold=0 is out of range: over 0 and at most 1"),
        ({"threshold": -0.5}, "threshold=-0.5 is out of range: over 0 and at most 1"),
        ({"threshold": float("nan")}, "threshold=nan is out of range: over 0 and at most 1"),
        ({"threshold": "high"}, "threshold='high' is not a number: give one between 0 and 1"),
        ({"threshold": None}, "threshold=None is not a number: give one between 0 and 1"),
        ({"recall": 95}, "recall=95 is out of range: over 0 and under 1; did you mean recall=0.95?"),
        ({"recall": 0}, "recall=0 is out of range: over 0 and under 1"),
        ({"recall": 1}, "exact for vectors and bits) finds every pair; or use recall=0.999"),
        ({"slots": 0}, "slots=0 is out of range: a whole number from 1 to 65,536"),
        ({"slots": 12.5}, "slots=12.5 is out of range"),
        ({"slots": 10**9}, "slots=1000000000 is out of range"),
    ],
)
def test_numbers_out_of_range_are_refused_with_their_name_and_range(asked, says):
    with pytest.raises(OptionError) as caught:
        plan(**{"threshold": 0.8, **asked})
    assert says in str(caught.value)


def test_a_recall_that_would_be_refused_is_not_advised():
    with pytest.raises(OptionError, match=r"recall=100 is out of range: over 0 and under 1$"):
        plan(0.8, recall=100)


@pytest.mark.parametrize("similarities", [None, sample(zero=10**6, levels={3: 100, 120: 5})])
def test_a_plan_round_trips_through_json(similarities):
    chosen = plan(0.8, similarities=similarities)
    assert Plan.from_dict(json.loads(json.dumps(chosen.to_dict()))) == chosen


@pytest.mark.parametrize("damage", [{"banding": None}, {"banding": {"bands": 3}}, {"surprise": 1}])
def test_a_damaged_plan_is_not_read(damage):
    with pytest.raises(ArtefactError, match="not a stored plan"):
        Plan.from_dict({**plan(0.8).to_dict(), **damage})


def test_a_sample_of_shorter_signatures_than_a_band_is_planned_by_all_the_same():
    short = SimilaritySample(counts=(5, 0), items=2, bytes_per_item=500)
    assert plan(1.0, recall=0.5, similarities=short).banding == Banding(bands=1, rows=128)


def test_the_curve_of_a_plan_goes_from_nothing_to_certainty():
    similarities, probabilities = plan(0.8).curve(points=11)
    assert similarities.tolist() == pytest.approx([n / 10 for n in range(11)])
    assert probabilities.tolist() == [Banding(bands=13, rows=7).probability(s) for s in similarities]
    with pytest.raises(OptionError, match="points=1"):
        plan(0.8).curve(points=1)


def test_the_summary_of_a_plan():
    assert str(plan(0.8)) == (
        "13 bands of 7 rows, 91 of 128 slots\n"
        "finds 95.3% of the pairs at similarity 0.8 (promised 95%)\n"
        "if all similarities were equally common,"
        " misses 0.61% of the pairs above it and looks at 20% of those below"
    )
    with_data = str(plan(0.8, similarities=sample(zero=10**6)))
    assert with_data.splitlines()[-1] == "expects about 0 candidates and 0.03 s of one core"
    chosen = plan(0.8, similarities=sample(zero=10**6, levels={64: 5}))
    in_one = math.comb(64, chosen.banding.rows) / math.comb(128, chosen.banding.rows)
    likely = 4_999_950_000 * 5 / 1_000_005 * (1 - (1 - in_one) ** chosen.banding.bands)
    assert f"expects about {likely:,.0f} candidates" in str(chosen)
    assert (
        str(plan(1.0, slots=1))
        == "1 band of 1 row, 1 of 1 slot\nfinds 100% of the pairs at similarity 1 (promised 95%)"
    )


@pytest.mark.parametrize("threshold", [0.3, 0.8, 1.0])
def test_long_signatures_are_planned_at_once(threshold):
    similarities = SimilaritySample(counts=np.arange(1025), items=10**6, bytes_per_item=1000)
    plan(threshold, slots=1024, similarities=similarities)
    start = time.process_time()
    plan(threshold, slots=1024)
    plan(threshold, slots=1024, similarities=similarities)
    assert (
        time.process_time() - start < 0.15
    )  # about 0.05 at threshold 1, hundredths of that below; machines differ
