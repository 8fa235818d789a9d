"""An unknown keyword is an error that names the one that was meant."""

import inspect

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import OptionError, UnknownOptionError

VECTORS = np.eye(3)


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (lambda: la.dedup(["a"], treshold=0.5), "threshold"),
        (lambda: la.dedup(["a"], num_perm=64), "slots"),
        (lambda: la.dedup(["a"], n_jobs=2), "threads"),
        (lambda: la.dedup(["a"], agianst="x"), "against"),
        (lambda: la.similar_pairs([[1]], ngram=3), "shingle"),
        (lambda: la.similar_pairs([[1]], num_perm=3), "slots"),
        (lambda: la.similar_pairs(VECTORS, measure="angle", treshold="20deg"), "threshold"),
        (lambda: la.similar_pairs(["a"], measure="tfidf", treshold=0.2), "threshold"),
        (lambda: la.top([[1]], top_k=3), "k"),
        (lambda: la.similar_bits(["ff"], treshold=2), "threshold"),
        (lambda: la.similar_strings(["a"], max_distance=2), "distance"),
        (lambda: la.similar_measurements([[1]], within=1, shar=1), "share"),
        (lambda: la.frequent_pairs([[1]], min_support=2), "support"),
        (lambda: la.decontaminate(["a"], ["b"], treshold=0.5), "threshold"),
        (lambda: la.compare("a", "b", shingles="words:2"), "shingle"),
        (lambda: la.plan(0.5, num_perm=64), "slots"),
        (lambda: la.read_sets("x", item="y"), "items"),
        (lambda: la.MinHash(num_perm=64), "slots"),
        (lambda: la.WeightedMinHash(random_state=1), "seed"),
        (lambda: la.PairOptions(tresh=0.5), "threshold"),
        (lambda: la.DedupOptions(keeps="first"), "keep"),
        (lambda: la.TopOptions(n_neighbors=5), "k"),
        (lambda: la.LocalEngine(n_jobs=2), "threads"),
    ],
)
def test_the_option_that_was_meant_is_named(call, near):
    with pytest.raises(UnknownOptionError, match=f"did you mean {near}\\?") as raised:
        call()
    # Who knows Python expects the one, who knows Lookalike the other.
    assert isinstance(raised.value, TypeError)
    assert isinstance(raised.value, OptionError)


def test_an_option_like_no_other_is_answered_with_those_there_are():
    with pytest.raises(UnknownOptionError, match="there is no option 'colour': choose among slots, seed"):
        la.MinHash(colour=1)


@pytest.mark.parametrize(
    "name", ["dedup", "similar_pairs", "top", "plan", "MinHash", "PairOptions", "LocalEngine"]
)
def test_signatures_are_still_seen_by_those_who_ask(name):
    known = inspect.signature(getattr(la, name)).parameters
    assert {"args", "arguments", "keywords"}.isdisjoint(known)
    assert getattr(la, name).__doc__
    assert getattr(la, name).__name__ == name
