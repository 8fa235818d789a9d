"""From verified pairs to clusters: who belongs together, who is kept, and how every other row hangs on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance import oracle

from lookalike.clusters import assign, component_labels
from lookalike.clusters.similarities import Similarities
from lookalike.errors import OptionError


@given(st.integers(1, 30), st.data())
def test_components_are_what_walking_along_pairs_reaches(rows, data):
    row = st.integers(0, rows - 1)
    edges = data.draw(st.lists(st.tuples(row, row), max_size=40))
    a, b = np.array(edges, np.int64).reshape(-1, 2).T
    assert component_labels(rows, a, b).tolist() == oracle.components(rows, edges)


@st.composite
def collections(draw):
    """Small sets, some of them copies, and an order in which rows are preferred."""
    sets = draw(st.lists(st.frozensets(st.integers(0, 7), max_size=6), min_size=1, max_size=14))
    return sets, draw(st.permutations(range(len(sets))))


class Case:
    """A join of sets that told all near pairs, or only some, and what `assign` made of it."""

    def __init__(self, sets, priority, *, threshold=0.5, group="components", told=None):
        self.sets, self.priority, self.threshold = sets, priority, threshold
        self.copy_of = [sets.index(own) if own else row for row, own in enumerate(sets)]
        self.pairs = {
            pair: similarity
            for pair, similarity in oracle.pairs(sets, threshold).items()
            if all(self.copy_of[row] == row for row in pair)
        }
        if told is not None:
            self.pairs = {pair: self.pairs[pair] for pair in sorted(self.pairs) if told(pair)}
        self.measured = []
        ends = np.array([*self.pairs], np.int64).reshape(-1, 2).T
        self.assigned = assign(
            np.array(self.copy_of),
            *ends,
            np.array([*self.pairs.values()], np.float64),
            priority=np.array(priority),
            threshold=threshold,
            group=group,
            compare=self.compare,
        )

    def similarity(self, a, b):
        return oracle.jaccard(self.sets[a], self.sets[b])

    def compare(self, a, b):
        self.measured += zip(a.tolist(), b.tolist(), strict=True)
        return np.array([self.similarity(*pair) for pair in zip(a, b, strict=True)], np.float64)

    def groups(self, labels):
        return {frozenset(row for row, other in enumerate(labels) if other == label) for label in labels}

    def check_rows(self):
        """What holds for every row, however rows are grouped."""
        made = self.assigned
        for row in range(len(self.sets)):
            kept = int(made.representative[row])
            assert made.kept[kept]
            assert made.kept[row] == (kept == row)
            assert made.cluster[row] == min(np.flatnonzero(made.representative == kept))
            assert made.similarity[row] == (1.0 if kept == row else self.similarity(row, kept))
            via = int(made.via[row])
            if made.kept[row]:
                assert via == -1
            else:
                assert via != row
                assert self.similarity(row, via) >= self.threshold
                assert made.representative[via] == kept
        under = np.count_nonzero(made.similarity < self.threshold)
        assert made.chained == under
        # Nothing is measured twice, and nothing that a pair told.
        assert len({frozenset(pair) for pair in self.measured}) == len(self.measured)
        assert not {tuple(sorted(pair)) for pair in self.measured} & self.pairs.keys()


@given(collections(), st.sampled_from([0.3, 0.5, 0.9]))
def test_components_keep_the_preferred_row_of_everything_connected(given_, threshold):
    sets, priority = given_
    case = Case(sets, priority, threshold=threshold)
    case.check_rows()
    truth = oracle.components(len(sets), oracle.pairs(sets, threshold))
    assert case.groups(case.assigned.cluster.tolist()) == case.groups(truth)
    for group in case.groups(truth):
        preferred = min(group, key=lambda row: priority[row])
        assert {case.assigned.representative[row] for row in group} == {preferred}


@given(collections(), st.sampled_from([0.3, 0.5, 0.9]))
def test_stars_drop_only_what_a_kept_row_is_near_to(given_, threshold):
    sets, priority = given_
    case = Case(sets, priority, threshold=threshold, group="star")
    case.check_rows()
    made = case.assigned
    assert made.chained == 0
    kept = np.flatnonzero(made.kept)
    # No kept row could have been claimed by another; each dropped row was claimed by the first that could.
    for row, own in enumerate(sets):
        near = [other for other in kept if other != row and own and case.similarity(row, other) >= threshold]
        if made.kept[row]:
            assert not near
        else:
            assert made.representative[row] == min(near, key=lambda other: priority[other])


@given(collections(), st.randoms(use_true_random=False))
def test_stars_are_whole_even_if_few_pairs_were_told(given_, random):
    """In large buckets a join tells few pairs: enough to connect rows, too few to claim by."""
    sets, priority = given_
    labels = {}

    def spans(pair):
        one, two = (labels.setdefault(row, row) for row in pair)
        labels.update({row: one for row, label in labels.items() if label == two})
        return one != two or random.random() < 0.2

    few = Case(sets, priority, group="star", told=spans)
    few.check_rows()
    assert (
        few.assigned.representative.tolist()
        == Case(sets, priority, group="star").assigned.representative.tolist()
    )


def test_a_long_chain_makes_stars_after_the_rounds_by_told_pairs_alone():
    chain = [frozenset(range(at, at + 8)) for at in range(60)]
    case = Case(chain, range(60), threshold=7 / 9, group="star")
    case.check_rows()
    assert np.flatnonzero(case.assigned.kept).tolist() == list(range(0, 60, 2))


def test_a_chain_is_one_component_and_says_so():
    chain = [frozenset(range(at, at + 8)) for at in range(5)]
    case = Case(chain, range(5), threshold=7 / 9)
    assert case.assigned.representative.tolist() == [0] * 5
    assert case.assigned.similarity.tolist() == [1.0, 7 / 9, 6 / 10, 5 / 11, 4 / 12]
    # Each hangs on the neighbour that is nearest, the least of equals.
    assert case.assigned.via.tolist() == [-1, 0, 1, 2, 3]
    assert case.assigned.chained == 3


def test_a_copy_of_a_chained_row_hangs_on_its_own_class():
    sets = [frozenset(range(at, at + 8)) for at in (0, 1, 2, 2)]
    case = Case(sets, [0, 1, 2, 3], threshold=7 / 9)
    assert case.assigned.via.tolist() == [-1, 0, 1, 2]
    # The class is measured once, not every copy of it.
    assert case.measured == [(0, 2)]


@pytest.mark.parametrize("group", ["components", "star"])
def test_a_copy_may_be_preferred_to_the_row_that_stands_for_it(group):
    sets = [frozenset({1, 2, 3}), frozenset({1, 2}), frozenset({1, 2, 3})]
    case = Case(sets, [2, 1, 0], group=group)
    case.check_rows()
    assert case.assigned.representative.tolist() == [2, 2, 2]
    assert case.assigned.cluster.tolist() == [0, 0, 0]


@pytest.mark.parametrize("group", ["components", "star"])
def test_no_rows_make_no_clusters(group):
    none = np.empty(0, np.int64)
    made = assign(none, none, none, np.empty(0), priority=none, threshold=0.5, group=group, compare=None)
    assert (len(made.kept), made.chained) == (0, 0)


def test_an_unknown_grouping_is_refused():
    with pytest.raises(OptionError, match="components or star"):
        Case([frozenset({1})], [0], group="cliques")


def test_similarities_are_looked_up_or_measured_once():
    asked = []

    def measure(one, other):
        asked.append(list(zip(one.tolist(), other.tolist(), strict=True)))
        return one + other / 10

    known = Similarities(np.array([0, 2]), np.array([5, 3]), np.array([0.5, 0.6]), measure)
    one, other = np.array([3, 9, 0, 4, 9, 4]), np.array([2, 1, 5, 7, 1, 6])
    assert known(one, other).tolist() == [0.6, 9.1, 0.5, 4.7, 9.1, 4.6]
    assert known(other, one).tolist() == [0.6, 9.1, 0.5, 4.7, 9.1, 4.6]
    assert sorted(asked[0]) == [(4, 6), (4, 7), (9, 1)]
    assert len(asked) == 1
