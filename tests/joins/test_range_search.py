"""Range queries: what is answered is near enough, what is near is answered as often as promised."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import LookalikeError, MalformedRowError, OptionError, SourceError
from lookalike.joins.range_search import RangeSearch
from lookalike.measures.vectors import distance

RADII = {"angle": "12deg", "l2": 1.0, "l1": 3.0}


def planted(measure, seed=0, points=400, width=12):
    """Points far from each other, and a probe for each of a few, just within the radius."""
    numbers = np.random.default_rng(seed)
    rows = 6 * numbers.normal(size=(points, width))
    step = numbers.normal(size=(60, width))
    if measure == "angle":
        step *= (
            0.19
            * np.linalg.norm(rows[:60], axis=1, keepdims=True)
            / np.linalg.norm(step, axis=1, keepdims=True)
        )
    elif measure == "l2":
        step *= 0.99 / np.linalg.norm(step, axis=1, keepdims=True)
    else:
        step *= 2.9 / np.abs(step).sum(axis=1, keepdims=True)
    return rows, rows[:60] + step


@pytest.mark.parametrize("measure", RADII)
def test_answers_are_near_and_near_points_are_answered(measure):
    rows, probes = planted(measure)
    search = RangeSearch.of(rows, measure=measure, radius=RADII[measure], factor=2, recall=0.8)
    reach = 2 * float(str(RADII[measure]).removesuffix("deg"))
    answers = [search.query(probe) for probe in probes]
    for probe, answer in zip(probes, answers, strict=True):
        if answer is not None:
            assert answer.distance == distance(rows[answer.row], probe, measure) <= reach
            assert answer.checked <= search.query_plan.most_checks * len(search.structures)
    assert sum(answer is not None for answer in answers) >= 0.8 * len(probes)


def test_the_stop_comes_after_2l_points_a_structure():
    """A crowd in the query's buckets that is not near enough: looking ends, however many they are."""
    rows = np.tile([[1.0, 0.0]], (5000, 1)) + 0.001 * np.random.default_rng(0).normal(size=(5000, 2))
    search = RangeSearch.of(rows, measure="l2", radius=0.00001, factor=1.5, recall=0.3)
    probe = [1.0, 0.5]
    for structure in search.structures:
        assert (
            len(structure.bucket_rows(np.array([rows[0]]), search.query_plan))
            <= search.query_plan.most_checks
        )
    assert search.query(probe) is None


def test_where_nothing_is_near_there_is_no_answer():
    rows, _ = planted("l2")
    assert RangeSearch.of(rows, measure="l2", radius=0.1).query(rows[0] + 50) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measure": "cosine", "radius": 0.9}, "no distance of vectors"),
        ({"radius": "20deg", "factor": 1}, "over 1"),
        ({"radius": "100deg", "factor": 2}, "out of range"),
        ({"radius": "20deg", "recall": 2}, "recall"),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(LookalikeError, match=message):
        RangeSearch.of(np.ones((3, 2)), **given)
    search = la.RangeSearch.of(np.ones((3, 2)), radius="20deg")
    with pytest.raises(LookalikeError, match="one vector of 2 coordinates"):
        search.query([1.0, 2.0, 3.0])


@pytest.mark.parametrize("measure", RADII)
@pytest.mark.parametrize("probes", [4, 16])
def test_looking_into_more_buckets_takes_fewer_tables_and_keeps_the_promise(measure, probes):
    rows, near = planted(measure)
    asked = {"measure": measure, "radius": RADII[measure], "factor": 2, "recall": 0.8}
    plain = RangeSearch.of(rows, **asked)
    search = RangeSearch.of(rows, **asked, probes=probes)
    assert search.query_plan.tables < plain.query_plan.tables / (1 + np.log2(probes) / 6)
    assert len(search.structures) == len(plain.structures)
    assert search.structures[0].keys.shape == (search.query_plan.tables, len(rows))
    reach = 2 * float(str(RADII[measure]).removesuffix("deg"))
    answers = [search.query(probe) for probe in near]
    for probe, answer in zip(near, answers, strict=True):
        if answer is not None:
            assert answer.distance == distance(rows[answer.row], probe, measure) <= reach
            assert answer.checked <= search.query_plan.most_checks * len(search.structures)
    assert sum(answer is not None for answer in answers) >= 0.8 * len(near)


def test_one_structure_meets_near_points_as_often_as_its_plan_says():
    """Over many seeds: the point at the radius is in a bucket that is looked into with 1 − 1/e or more."""
    rows, near = planted("l2", points=60)
    met = 0
    for seed in range(20):
        search = RangeSearch.of(rows, measure="l2", radius=1.0, factor=3, recall=0.1, probes=8, seed=seed)
        for row, probe in enumerate(near):
            met += row in search.structures[0].bucket_rows(probe[np.newaxis], search.query_plan)
    trials = 20 * len(near)
    chance = search.query_plan.meets
    # Queries of a seed share functions: as if only every tenth were a trial of its own.
    assert met / trials >= chance - 4 * np.sqrt(chance * (1 - chance) / (trials / 10))


def test_a_search_shows_itself_in_a_line():
    points = np.random.default_rng(0).normal(size=(100, 4))
    shown = repr(la.RangeSearch.of(points, measure="angle", radius="10deg", factor=3))
    assert shown.startswith("RangeSearch(100 vectors by angle: 22 structures of ")
    assert len(shown) < 200


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"factor": "3"}, r"factor='3' is out of range: over 1$"),
        ({"factor": float("inf")}, r"factor=inf is out of range: over 1$"),
        ({"measure": "angle", "radius": "60deg", "factor": 3}, "over 1 and under 3, where the angle is 180"),
        ({"factor": None}, r"factor=None is out of range: over 1$"),
        ({"measure": "angle", "radius": "1e-15deg"}, "points that far apart cannot be told from nearer ones"),
        ({"radius": 0}, "radius=0 is out of range: a distance by l2 is over 0"),
        ({"measure": "angle", "radius": "0deg"}, "radius='0deg' is out of range: over 0"),
        (
            {"measure": "angle", "radius": "0.001deg"},
            "may be drawn: use a greater factor, a greater radius or more probes",
        ),
        (
            {"recall": 1},
            "similar_pairs with method=.exact. finds every pair",
        ),
        ({"probes": 0}, "probes=0 is out of range"),
        ({"seed": -1}, "seed=-1 is out of range"),
        ({"seed": "a"}, "seed='a' is out of range"),
    ],
)
def test_what_makes_no_search_is_told(options, says):
    asked = {"measure": "l2", "radius": 0.5, **options}
    with pytest.raises(OptionError, match=says):
        la.RangeSearch.of(np.eye(4), **asked)


def test_more_functions_than_may_be_drawn_are_told_with_what_takes_fewer():
    points = np.arange(20_000.0)[:, np.newaxis]
    says = r"^[\d,]+ tables of \d+ functions for 20,000 points are .* use a greater factor or more probes$"
    with pytest.raises(OptionError, match=says):
        la.RangeSearch.of(points, measure="l1", radius=1, factor=1.01)


def test_tables_that_memory_does_not_hold_are_not_begun(monkeypatch):
    points = np.random.default_rng(0).normal(size=(1000, 4))
    asked = {"measure": "l2", "radius": 0.5, "recall": 0.3}
    needed = 12 * 1000 * (2 + 3) * la.RangeSearch.of(points, **asked).query_plan.tables
    for free, held in ((needed, True), (needed - 1, False)):
        monkeypatch.setattr("lookalike.joins.range_search.free_memory", lambda free=free: free)
        if held:
            assert la.RangeSearch.of(points, **asked).query(points[1])
        else:
            with pytest.raises(OptionError, match="of memory are free: use a greater factor, a lower recall"):
                la.RangeSearch.of(points, **asked)


def test_queries_that_are_no_vectors_are_told():
    search = la.RangeSearch.of(np.eye(4, dtype=np.float32), measure="l2", radius=0.5)
    with pytest.raises(SourceError, match="vectors hold numbers"):
        search.query("abc")
    with pytest.raises(MalformedRowError, match="holds inf"):
        search.query([1e300, 0, 0, 0])


@pytest.mark.parametrize("measure", RADII)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_tables_are_those_made_at_once_on_any_number_of_threads(measure, threads):
    rows, _ = planted(measure, points=70)
    rows = np.concatenate([rows, rows])
    search = RangeSearch.of(rows, measure=measure, radius=RADII[measure], factor=2, threads=threads)
    query = search.query_plan
    for structure in search.structures:
        keys = structure.functions.own(rows).reshape(query.tables, -1)
        order = np.argsort(keys, axis=1, kind="stable")
        assert np.array_equal(structure.rows, order)
        assert np.array_equal(structure.keys, np.take_along_axis(keys, order, axis=1))


def test_the_tables_made_so_far_are_shown(capsys):
    rows, _ = planted("angle")
    search = RangeSearch.of(rows, radius="12deg", progress="jsonl")
    tables, others = search.query_plan.tables, len(search._structures.made)
    first = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert others == 1
    assert (first[0]["stage"], first[0]["total"], first[0]["unit"]) == ("tables", tables, "tables")
    assert (first[-1]["event"], first[-1]["done"]) == ("end", tables)
    assert search.prepare() is search
    rest = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert rest[-1]["done"] == rest[-1]["total"] == (len(search.structures) - 1) * tables
    # Nothing is left to be made, and nothing is shown.
    search.prepare()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("measure", RADII)
def test_structures_are_made_when_a_query_comes_to_them_and_that_changes_no_answer(measure):
    rows, probes = planted(measure)
    asked = {"measure": measure, "radius": RADII[measure], "factor": 2}
    late, early = RangeSearch.of(rows, **asked), RangeSearch.of(rows, **asked).prepare()
    assert (len(late._structures.made), len(early._structures.made)) == (1, len(early.structures))
    assert late.query(rows[3]).row == 3
    assert len(late._structures.made) == 1
    assert [late.query(probe) for probe in probes] == [early.query(probe) for probe in probes]
    # What is near nobody is looked up in all of them.
    far = rows[0] + 50 if measure != "angle" else -rows.sum(axis=0)
    assert late.query(far) == early.query(far)


def test_queries_on_several_threads_make_each_structure_once():
    rows, probes = planted("l2")
    late, early = (
        RangeSearch.of(rows, measure="l2", radius=1.0),
        RangeSearch.of(rows, measure="l2", radius=1.0),
    )
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(late.query, [rows[0] + 50, rows[1] - 50, *probes]))
    assert answers == [early.query(probe) for probe in [rows[0] + 50, rows[1] - 50, *probes]]
    assert len(late._structures.made) == len(early.structures)


def test_a_wrong_number_of_threads_or_kind_of_progress_is_refused():
    for wrong in ({"threads": 0}, {"progress": "loud"}):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            RangeSearch.of(np.eye(3), radius="12deg", **wrong)
