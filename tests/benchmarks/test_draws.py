"""The benchmark of draws plants what it says, sees wrong answers, and says what does not hold."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.alike import COLLECTIONS, judge, truth
from benchmarks.alike.judge import Judged, Pooled, Run

import lookalike as la
from benchmarks import draws

BY_NAME = {one.name: one for one in COLLECTIONS}
NONE = BY_NAME["sets: none"]


def run(**changes):
    sound = Run(
        seed=0,
        at_threshold=0.95,
        found=0.95,
        said=0.95,
        low=0.94,
        high=0.96,
        by_law=0.95,
        added=0,
        seconds=1.0,
    )
    return replace(sound, **changes)


def pooled(*runs, of=NONE):
    return {of.family: Pooled(judged=(Judged(collection=of, runs=runs),))}


def test_there_are_forty_collections_and_more_of_every_kind():
    assert len(BY_NAME) == len(COLLECTIONS) >= 40
    assert {0, 1, 3, 30} <= {one.groups for one in COLLECTIONS}
    assert min(one.pairs for one in COLLECTIONS) >= 300
    similarities = {one.threshold for one in COLLECTIONS if one.measure == "jaccard"}
    assert {0.5, 0.6, 0.7, 0.8, 0.9} <= similarities
    ordinary = Counter(one.family for one in COLLECTIONS if one.ordinary)
    assert set(ordinary) == set(judge.SHORT_AT_MOST)
    for name in ("footer", "header", "one bit", "changed coordinate", "bundles"):
        assert any(name in one for one in BY_NAME)


def test_a_collection_is_the_same_each_time_it_is_made():
    bits = BY_NAME["bits: one bit"]
    assert np.array_equal(bits.planted().items, bits.planted().items)


@pytest.mark.parametrize("name", ["sets: none, few pairs", "bits: one bit", "angle: one direction, half"])
def test_a_pair_that_was_not_planted_or_is_not_near_is_seen_before_anything_is_run(name):
    collection = BY_NAME[name]
    planted = collection.planted()
    truth.check(collection, planted)
    with pytest.raises(AssertionError, match="are near"):
        truth.check(collection, replace(planted, at=planted.at[1:]))
    with pytest.raises(AssertionError, match="are near"):
        truth.check(collection, replace(planted, nearer=np.array([[0, 1]])))
    # A pair that is nearer than the threshold is not at it.
    with pytest.raises(AssertionError, match="are near"):
        truth.check(collection, replace(planted, at=planted.at[1:], nearer=planted.at[:1]))


def test_a_pair_a_hair_outside_of_the_threshold_is_seen():
    collection = BY_NAME["l2: none"]
    planted = collection.planted()
    outside = planted.items.astype(np.float64)
    outside[planted.at[0, 1]] += 2 * truth.HAIR * (outside[planted.at[0, 1]] - outside[planted.at[0, 0]])
    with pytest.raises(AssertionError, match="hair outside"):
        truth.check(collection, replace(planted, items=outside))


def test_the_truth_of_weighted_sets_is_that_of_the_formula():
    collection = BY_NAME["weights: 3 terms"]
    planted = collection.planted()
    a, b = planted.at[5]
    one, other = (planted.items[row].toarray() for row in (a, b))
    assert np.minimum(one, other).sum() / np.maximum(one, other).sum() == collection.threshold
    truth.check(collection, planted)


def test_runs_are_judged_and_shown(capsys, tmp_path):
    kept = tmp_path / "times.json"
    asked = ["--only", "sets: none", "--seeds", "2", "--times", str(kept)]
    assert draws.main(asked) == 0
    said = capsys.readouterr().out
    assert "2 collections whose pairs differ alike" in said
    assert "sets: none, few pairs" in said
    times = json.loads(kept.read_text())
    kept.write_text(json.dumps({name: time - 1 for name, time in times.items()}))
    assert draws.main(asked) == 1
    assert "Takes longer: sets: none:" in capsys.readouterr().out
    assert draws.main(["--only", "no such name"]) == 2


@pytest.mark.parametrize(
    ("listed", "what"), [([(0, 1)], "0 and 1 are not near"), ([(0, 1200), (1200, 0)], "listed twice")]
)
def test_a_false_pair_and_one_listed_twice_are_wrong_answers(capsys, monkeypatch, listed, what):
    class Answer(dict):
        account = la.similar_pairs([[1, 2], [1, 2]]).account

    made = Answer(a=[a for a, _ in listed], b=[b for _, b in listed])
    monkeypatch.setattr(la, "similar_pairs", lambda *items, **options: made)
    assert draws.main(["--only", "sets: none", "--seeds", "1"]) == 1
    assert what in capsys.readouterr().out


def test_what_holds_is_not_complained_of():
    assert judge.broken(pooled(*[run()] * 20)) == []


@pytest.mark.parametrize(
    ("changes", "count", "what"),
    [
        ({"at_threshold": 0.929}, 1, "MinHash: 5.0% of runs found less than promised"),
        ({"low": 0.955}, 2, "MinHash: intervals cover 90.0%"),
        ({"high": 0.945}, 5, "sets: none: intervals cover 75%"),
        ({"low": None, "high": None, "said": None}, 2, "MinHash: intervals cover 90.0%"),
        ({"added": 7}, 1, "with 1,000 pairs or more, 5.0% added bands"),
    ],
)
def test_what_does_not_hold_is_said(changes, count, what):
    runs = [run(**changes)] * count + [run()] * (20 - count)
    assert any(said.startswith(what) or what in said for said in judge.broken(pooled(*runs)))


def test_few_pairs_may_add_bands_more_often():
    few = BY_NAME["sets: none, few pairs"]
    some = [run(added=5)] * 4 + [run()] * 16
    assert judge.broken(pooled(*some, of=few)) == []
    assert judge.broken(pooled(run(added=5), *some[:19], of=few)) != []


def test_errors_are_those_of_what_was_said_and_of_the_law():
    of = pooled(run(said=0.92, by_law=0.90), run(said=None, by_law=None))["MinHash"]
    assert of.error == pytest.approx(0.03)
    assert of.error_of_law == pytest.approx(0.05)


def test_a_run_may_take_a_little_longer():
    one = Judged(collection=NONE, runs=(run(seconds=1.025), run(seconds=9.0, added=3)))
    assert judge.slower([one], {NONE.name: 1.0}) == []
    assert judge.slower([one], {NONE.name: 0.99}) == [f"{NONE.name}: 1025 ms, 990 before"]
