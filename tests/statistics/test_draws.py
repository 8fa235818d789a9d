"""What a run says of its recall is true of its own draw, and the promise is kept by it: a fixed tenth of the
benchmark of draws, two of the twenty seeds of every collection.

In full (`python -m benchmarks.draws`) each family of hash functions is judged by itself. Two seeds say little
of one collection, so here sets and texts are judged together, and all others.
"""

from __future__ import annotations

import pytest
from benchmarks.alike import COLLECTIONS, judge
from benchmarks.alike.judge import COVERED_AT_LEAST, Pooled


@pytest.fixture(scope="module")
def judged():
    return [judge.judge(collection, range(2)) for collection in COLLECTIONS]


@pytest.mark.parametrize(("minhash", "most"), [(True, 0.01), (False, 0.02)])
def test_hardly_any_run_finds_less_than_promised_by_much(judged, minhash, most):
    of = Pooled(judged=tuple(one for one in judged if (one.collection.family == "MinHash") == minhash))
    short = [(one.collection.name, run) for one in of.judged for run in one.runs if run.short]
    assert of.short < most, short


def test_the_interval_covers_the_truth(judged):
    every = Pooled(judged=tuple(judged))
    beside = [(one.collection.name, run) for one in judged for run in one.runs if not run.covered]
    assert every.covered >= COVERED_AT_LEAST, beside


def test_what_a_run_says_is_nearer_to_the_truth_than_the_law(judged):
    every = Pooled(judged=tuple(judged))
    assert every.error < 0.6 * every.error_of_law


def test_ordinary_runs_are_left_alone(judged):
    every = Pooled(judged=tuple(judged))
    assert every.added(many=True) <= 0.1
    assert every.added(many=False) <= 0.25
