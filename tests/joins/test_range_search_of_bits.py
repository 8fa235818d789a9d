"""Range queries over bits (SPEC M18, M21): near points are answered as promised, and looking stops."""

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import LookalikeError, OptionError
from lookalike.joins.range_search import RangeSearch

WIDTH = 128


def flipped(row, count, numbers):
    """A row of flags with so many of them turned."""
    other = row.copy()
    other[numbers.permutation(len(row))[:count]] ^= True
    return other


def planted(seed=0, points=500, radius=8, probes=60):
    """Random rows of flags, and for some of them a probe that differs in `radius` bits exactly."""
    numbers = np.random.default_rng(seed)
    rows = numbers.random((points, WIDTH)) < 0.5
    return rows, np.array([flipped(row, radius, numbers) for row in rows[:probes]])


def test_a_third_of_the_bits_and_a_factor_of_two_give_the_known_chances():
    """M21: c = 2, r = N/3, so P1 = 2/3, P2 = 1/3, and ρ = .369; M18 for a thousand points."""
    rows = np.random.default_rng(0).random((1000, 96)) < 0.5
    plan = RangeSearch.of(rows, measure="hamming", radius=32, factor=2, recall=0.1).query_plan
    assert (plan.near, plan.far) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert round(plan.rho, 3) == 0.369
    assert plan.rows == int(np.ceil(np.log(1000) / np.log(3)))
    assert plan.tables == int(np.ceil(1000**plan.rho * 1.5))
    assert la.RangeQuery(items=10**6, near=plan.near, far=plan.far).rows == 13
    assert la.RangeQuery(items=10**6, near=plan.near, far=plan.far).tables == 246


@pytest.mark.parametrize("seed", [0, 1])
def test_answers_are_near_and_near_points_are_answered(seed):
    rows, probes = planted(seed)
    search = RangeSearch.of(rows, measure="hamming", radius=8, factor=2.5, recall=0.8, seed=seed)
    answers = [search.query(probe) for probe in probes]
    for probe, answer in zip(probes, answers, strict=True):
        if answer is not None:
            assert answer.distance == (rows[answer.row] != probe).sum() <= 20
            assert 1 <= answer.checked <= search.query_plan.most_checks * len(search.structures)
    assert sum(answer is not None for answer in answers) >= 0.8 * len(probes)


def test_one_structure_meets_near_points_as_often_as_its_plan_says():
    met, trials = 0, 0
    rows, probes = planted(points=60)
    for seed in range(40):
        search = RangeSearch.of(rows, measure="hamming", radius=8, factor=3, recall=0.1, seed=seed)
        assert len(search.structures) == 1
        for row, probe in enumerate(probes):
            met += row in search.structures[0].bucket_rows(search.points.read(probe), search.query_plan)
            trials += 1
    chance = search.query_plan.meets
    assert chance >= 1 - 1 / np.e
    # Queries of a seed share functions: as if only every tenth were a trial of its own.
    assert met / trials >= chance - 4 * np.sqrt(chance * (1 - chance) / (trials / 10))


def test_the_stop_comes_after_2l_points_a_structure():
    """A crowd that is just not near enough is met in few draws; looking then ends, however many they are."""
    crowd = np.zeros((20, 8), bool)
    crowd[:, :3] = True
    looked = []
    for seed in range(200):
        search = RangeSearch.of(crowd, measure="hamming", radius=1, factor=2, recall=0.1, seed=seed)
        probe = np.zeros(8, bool)
        assert search.query(probe) is None
        rows = search.structures[0].bucket_rows(search.points.read(probe), search.query_plan)
        looked.append(len(rows))
        assert search.query_plan.most_checks == 10
    assert set(looked) == {0, 10}
    # Five tables of eleven bits each: 1 − (1 − (5/8)¹¹)⁵ of the draws, .028.
    assert 1 <= looked.count(10) <= 15


def test_where_nothing_is_near_there_is_no_answer():
    rows, _ = planted()
    search = RangeSearch.of(rows, measure="hamming", radius=8, factor=2)
    assert search.query(np.random.default_rng(9).random(WIDTH) < 0.5) is None


@pytest.mark.parametrize("width", [8, 60, 64, 65, 200])
def test_bits_and_queries_come_in_every_form_and_find_the_same(width):
    flags = np.random.default_rng(width).random((50, width)) < 0.5
    bits = la.as_bits(np.packbits(flags, axis=1), width=width)
    search = RangeSearch.of(bits, measure="hamming", radius=1, factor=2, recall=0.99)
    for row in range(50):
        assert search.query(bits[row : row + 1]) == search.query(flags[row])
        assert search.query(flags[row]).distance <= 2
    if width == 64:
        for form in (bits.to_bytes()[3], bits.to_bytes()[3].tobytes(), bits.to_bytes()[3].tobytes().hex()):
            assert search.query(form) == search.query(flags[3])
        assert search.query(int(bits.to_bytes()[3].tobytes().hex(), 16)) == search.query(flags[3])


def test_a_search_shows_itself_in_a_line():
    rows, _ = planted()
    shown = repr(RangeSearch.of(rows, measure="hamming", radius=8, factor=3))
    assert shown.startswith("RangeSearch(500 rows of bits by hamming: 22 structures of ")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"radius": 0}, "radius=0 is out of range: over 0"),
        ({"radius": 128}, "radius=128 is out of range: of 128 bits, a whole number from 0 to 127 may differ"),
        ({"radius": 2.5}, r"radius=2\.5 is out of range"),
        ({"radius": "20deg"}, "radius=20deg is out of range"),
        ({"factor": 1}, "factor=1 is out of range: over 1 and under 16, where all bits differ"),
        ({"factor": 16}, "under 16, where all bits differ"),
        ({"probes": 4}, "probes=4 goes with vectors"),
        ({"measure": "jaccard"}, "no distance of vectors or bits: choose angle, l2, l1 or hamming"),
        ({"radius": 1, "factor": 1.0001}, "may be drawn: use a greater factor or a greater radius$"),
    ],
)
def test_what_makes_no_search_is_told(options, says):
    rows, _ = planted()
    with pytest.raises(OptionError, match=says):
        RangeSearch.of(rows, **{"measure": "hamming", "radius": 8, **options})


def test_queries_and_collections_that_do_not_fit_are_told():
    search = RangeSearch.of(["ff00", "00ff"], measure="hamming", radius=2)
    for query, says in [("ff", "one row of 16 bits, not 1 of 8"), (["ff00", "ff00"], "not 2 of 16")]:
        with pytest.raises(OptionError, match=says):
            search.query(query)
    with pytest.raises(LookalikeError):
        RangeSearch.of([], measure="hamming", radius=2)
    with pytest.raises(LookalikeError, match="nothing to search"):
        RangeSearch.of(np.zeros((0, 4), np.uint8), measure="hamming", radius=2)
