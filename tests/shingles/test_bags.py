"""Bags: a shingle that occurs twice counts twice, and similarity is Σmin/Σmax."""

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.shingles import oracle
from tests.shingles.kernel import ragged
from tests.shingles.texts import few, prose

from lookalike import _core
from lookalike.measures.exact import bag_jaccard, jaccard
from lookalike.measures.sets import as_sets
from lookalike.shingles import Shingle, sets_of_texts

ROW_0, ROW_1 = np.array([0], np.uint32), np.array([1], np.uint32)

repetitive = prose | few | st.text("ab ", max_size=200)
bags = st.builds(
    Shingle, unit=st.sampled_from(["words", "chars", "stopwords"]), k=st.integers(1, 4), bag=st.just(True)
)


@settings(max_examples=300)
@given(bags, repetitive, repetitive)
def test_set_similarity_of_bags_is_bag_similarity_of_windows(shingle, one, other):
    a, b = Counter(oracle.shingles(one, shingle)), Counter(oracle.shingles(other, shingle))
    least, most = (a & b).total(), (a | b).total()
    sets = sets_of_texts([one, other], shingle)
    assert [len(sets[0]), len(sets[1])] == [a.total(), b.total()]
    assert jaccard(sets[0].tolist(), sets[1].tolist()) == bag_jaccard(a, b)
    assert bag_jaccard(a, b) == (float(Fraction(least, most)) if most else 0.0)
    shared, union = _core.compare_texts(
        [ragged(one, other)], ROW_0, ROW_1, shingle.shingler(), at_least=0.0, threads=1
    )
    assert (shared[0], union[0]) == (least, most)


@given(st.sampled_from(["words:1", "words:3", "chars:4", "stopwords"]), repetitive)
def test_a_text_without_repeats_is_the_same_as_a_bag_and_as_a_set(form, text):
    as_bag, as_set = sets_of_texts([text], form + "+bag")[0], sets_of_texts([text], form)[0]
    assert set(as_set) <= set(as_bag)
    if len(set(oracle.shingles(text, Shingle.parse(form)))) == len(
        oracle.shingles(text, Shingle.parse(form))
    ):
        assert as_bag.tolist() == as_set.tolist()


#: Not 0 and 1 alone: lists of one length of those are taken for a dense matrix.
token_lists = st.lists(st.integers(2, 7), max_size=40)


@given(token_lists, token_lists)
def test_lists_of_tokens_are_bags_when_asked_for(one, other):
    bags = as_sets([one, other], bag=True)
    assert np.diff(bags.offsets).tolist() == [len(one), len(other)]
    assert jaccard(bags[0].tolist(), bags[1].tolist()) == bag_jaccard(one, other)
    sets = as_sets([one, other])
    assert jaccard(sets[0].tolist(), sets[1].tolist()) == jaccard(one, other)


def test_the_order_of_a_bag_does_not_matter():
    one, other = as_sets([[3, 1, 3, 2, 3]], bag=True), as_sets([[1, 2, 3, 3, 3]], bag=True)
    assert one.elements.tolist() == other.elements.tolist()
