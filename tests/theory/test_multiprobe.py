"""Multi-probe by ranks: the list is the best of all sets, its chances add up, and plans need fewer bands."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.errors import OptionError, UnreachableRecallError
from lookalike.theory import DistanceSample, plan
from lookalike.theory.collisions import (
    BitSamplingCollision,
    CauchyCollision,
    GaussianCollision,
    HyperplaneCollision,
)
from lookalike.theory.multiprobe import (
    checked_probes,
    found,
    most_probes,
    ranked_sets,
    set_chances,
    steps_of,
)
from lookalike.theory.probed_plans import ProbedPlan, plan_probes
from lookalike.theory.probed_queries import ProbedQuery
from lookalike.theory.probing import neighbours, probed
from lookalike.theory.range_queries import RangeQuery

LAWS = [HyperplaneCollision(), GaussianCollision(8.0), CauchyCollision(8.0)]
DISTANCE = {"hyperplanes": 25.0, "gaussian": 2.0, "cauchy": 2.0}


def all_sets(rows, sided):
    """Every set of steps that leaves no slot twice, by score, then more steps, then earlier ones."""
    ways = [(None, False, True) if sided else (None, False)] * rows
    listed = []
    for taken in itertools.product(*ways):
        steps = [(rank, far) for rank, far in enumerate(taken) if far is not None]
        score = sum(2 * (rows + 1) - rank - 1 if far else rank + 1 for rank, far in steps)
        # Nearer edges first, by rank; behind them the farther ones, that of the greatest margin first.
        order = sorted(2 * rows - 1 - rank if far else rank for rank, far in steps)
        listed.append((score, -len(steps), order, frozenset(steps)))
    return [steps for _, _, _, steps in sorted(listed, key=lambda each: each[:3])]


@pytest.mark.parametrize("sided", [False, True])
@pytest.mark.parametrize("rows", range(1, 8))
def test_the_list_is_the_best_of_all_sets_in_their_order(rows, sided):
    expected = all_sets(rows, sided)
    for probes in {1, 2, 3, 7, 20, min(128, len(expected))}:
        listed = ranked_sets(rows, probes, sided=sided)
        assert [frozenset(steps) for steps in listed] == expected[:probes]


@given(st.integers(1, 70), st.integers(1, 128), st.booleans())
def test_sets_are_handed_to_kernels_as_one_step_more_than_an_earlier_one(rows, probes, sided):
    law = GaussianCollision(1.0) if sided else HyperplaneCollision()
    listed = ranked_sets(rows, probes, sided=sided)
    built = [()]
    for earlier, step in steps_of(law, rows, probes).tolist():
        assert 0 <= earlier < len(built)
        built.append((*built[earlier], (~step, True) if step < 0 else (step, False)))
    assert tuple(built) == listed
    assert len(listed) == min(probes, most_probes(law, rows))
    for steps in listed:
        assert len({rank for rank, _ in steps}) == len(steps)
        assert all(0 <= rank < rows for rank, _ in steps)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.family)
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_all_buckets_together_hold_whatever_is_at_most_one_step_away(law, rows):
    distance = DISTANCE[law.family]
    same, beside, ways = neighbours(law, distance)
    chances = set_chances(law, distance, rows=rows, probes=(ways + 1) ** rows)
    assert len(chances) == (ways + 1) ** rows
    assert chances.sum() == pytest.approx((same + beside) ** rows, rel=1e-9)
    assert chances[0] == pytest.approx(same**rows)


@given(st.sampled_from(LAWS), st.integers(1, 40), st.floats(0.02, 3), st.integers(1, 60))
# Its last bucket has a chance of 1e-26, less than what rounding leaves of the others.
@example(law=GaussianCollision(8.0), rows=2, share=0.25, probes=8)
def test_a_list_finds_more_than_buckets_at_random_and_no_bucket_more_than_the_own(law, rows, share, probes):
    distance = DISTANCE[law.family] * share
    probes = min(probes, most_probes(law, rows))
    chances = set_chances(law, distance, rows=rows, probes=probes)
    assert (chances >= 0).all()
    assert (chances <= chances[0] * (1 + 1e-9) + 1e-15).all()
    assert chances.sum() <= 1 + 1e-9
    blind = probed(law, distance, rows=rows, probes=probes)
    # Where farther edges are looked at for want of others, counting differing values may do better; and so
    # by Cauchy's law, where one slot is often far off and several seldom are a little.
    if rows >= 8 and not isinstance(law, CauchyCollision):
        assert chances.sum() >= blind * (1 - 1e-6)


def test_chances_fall_with_the_distance_and_have_their_ends():
    for law in LAWS:
        distances = np.linspace(0, 7 * DISTANCE[law.family], 41)
        chances = found(law, distances, rows=12, probes=16)
        assert chances[0] == 1
        assert (np.diff(chances) <= 1e-9).all()
    assert found(HyperplaneCollision(), 180.0, rows=3, probes=8) == pytest.approx(1)
    assert found(HyperplaneCollision(), 180.0, rows=9, probes=8) == pytest.approx(0)


def sample(items=100_000):
    levels = np.concatenate([np.full(20, 5.0), np.linspace(60, 120, 200_000)])
    return DistanceSample.from_distances(levels, items=items, values_per_item=64)


def test_plans_keep_the_promise_with_fewer_bands():
    plain = plan("20deg", measure="angle", slots=4096, distances=sample())
    bands = [plain.banding.bands]
    for probes in (2, 8, 32):
        chosen = plan_probes("20deg", measure="angle", probes=probes, distances=sample())
        assert chosen.probes == probes
        assert chosen.reached >= 0.95
        assert chosen.probabilities(20.0) == pytest.approx(chosen.reached, rel=1e-6)
        once = found(chosen.collision, 20, rows=chosen.banding.rows, probes=probes)
        assert chosen.reached == pytest.approx(1 - (1 - once) ** chosen.banding.bands)
        bands.append(chosen.banding.bands)
    assert bands == sorted(bands, reverse=True)
    assert bands[-1] < bands[0] / 3


def test_a_plan_goes_through_json_and_says_how_many_buckets():
    chosen = plan_probes("20deg", measure="angle", probes=8, distances=sample())
    assert ProbedPlan.from_dict(chosen.to_dict()) == chosen
    assert "8 buckets a band" in str(chosen)
    _, chances = chosen.curve(50)
    assert (np.diff(chances) <= 1e-9).all()
    assert chosen.false_negatives == pytest.approx(
        np.trapezoid(1 - chosen.probabilities(np.linspace(0, 20, 2000)), np.linspace(0, 20, 2000)), rel=0.02
    )


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.family)
def test_range_queries_take_fewer_tables_for_the_same_promise(law):
    radius = DISTANCE[law.family] / 2
    plain = RangeQuery(items=10_000, near=law.probability(radius), far=law.probability(3 * radius))
    tables = [plain.tables]
    for probes in (1, 4, 16, 64):
        query = ProbedQuery.of(10_000, law, radius=radius, factor=3, probes=probes)
        assert query.meets >= 1 - 1 / math.e
        assert 10_000 * found(law, 3 * radius, rows=query.rows, probes=probes) <= 1 + 1e-9
        assert 10_000 * found(law, 3 * radius, rows=query.rows - 1, probes=probes) > 1
        assert query.most_checks == 2 * query.tables
        tables.append(query.tables)
    assert tables == sorted(tables, reverse=True)
    assert tables[-1] < tables[0] / 2
    assert query.to_dict()["probes"] == 64


def test_what_cannot_be_is_refused():
    for bad in (0, 129, 1.5, True):
        with pytest.raises(OptionError, match="from 1, a bucket a table, to 128"):
            checked_probes(bad)
    with pytest.raises(OptionError, match="bit-sampling have no neighbours"):
        found(BitSamplingCollision(64), 3, rows=8, probes=2)
    with pytest.raises(UnreachableRecallError, match="looked at in 3 buckets each"):
        plan_probes("120deg", measure="angle", slots=3, probes=3, distances=sample(), recall=0.999)
    with pytest.raises(OptionError, match="probes=0"):
        ProbedQuery.of(1000, HyperplaneCollision(), radius=5, factor=2, probes=0)


def test_a_table_has_as_many_buckets_as_a_query_looks_into():
    query = ProbedQuery.of(1, GaussianCollision(1.0), radius=1, factor=100, probes=10)
    assert query.rows == 3
