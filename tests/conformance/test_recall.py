"""The promise: recall at the threshold, measured on edited copies whose similarity brute force counted.

Copies differ from their sources by replaced, inserted and deleted words, by crops, by moved paragraphs and by
one word in front. Corpora and hash functions are drawn by fixed seeds and pooled; so the outcome is fixed.
"""

import random
from functools import cache

import pytest
from scipy.stats import beta

import lookalike as la
from lookalike.applications.planted import plant

PROMISE = 0.95
SEEDS = range(8)
EDITS = ("replaced", "inserted", "deleted", "cropped", "moved", "front")


@cache
def planted(seed):
    """A corpus, and {(a, b): similarity} of all its similar pairs. Every other corpus has short documents."""
    corpus = plant(3000, seed=seed, copies=0.6, mean_bytes=900 if seed % 2 else 300, edits=EDITS)
    truth = corpus.truth(0.5).to_pydict()
    return corpus, dict(zip(zip(truth["a"], truth["b"], strict=True), truth["similarity"], strict=True))


def upper_bound(found, of):
    """The 99% upper bound of a rate, after Clopper and Pearson."""
    return beta.ppf(0.99, found + 1, of - found) if found < of else 1.0


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9])
def test_recall_of_edited_copies_is_as_promised(threshold):
    near = {True: 0, False: 0}
    all_of_them = {True: 0, False: 0}
    for seed in SEEDS:
        corpus, truth = planted(seed)
        pairs = la.similar_pairs(corpus.texts, threshold=threshold, recall=PROMISE, method="lsh", seed=seed)
        found = {(row["a"], row["b"]): row["similarity"] for row in pairs}
        # Nothing outside of families is similar, so what was found must be true, to the last bit.
        assert found.items() <= truth.items()
        for pair, similarity in truth.items():
            if similarity >= threshold:
                all_of_them[pair in found] += 1
                near[pair in found] += similarity <= threshold + 0.02
    assert sum(near.values()) > 500
    assert upper_bound(near[True], sum(near.values())) >= PROMISE
    assert all_of_them[True] / sum(all_of_them.values()) >= PROMISE


@pytest.mark.parametrize(("shared", "union"), [(5, 10), (50, 100), (7, 10), (8, 10), (80, 100), (9, 10)])
@pytest.mark.parametrize("consecutive", [False, True])
def test_recall_of_small_sets_exactly_at_the_threshold_is_as_promised(shared, union, consecutive):
    found = planned = 0
    for seed in range(2):
        draw = random.Random(seed)
        items = []
        for first in range(0, 1_500 * union, union):
            elements = (
                list(range(first, first + union))
                if consecutive
                else [draw.getrandbits(60) for _ in range(union)]
            )
            draw.shuffle(elements)
            apart = shared + (union - shared) // 2
            items += [elements[:apart], elements[:shared] + elements[apart:]]
        pairs = la.similar_pairs(items, threshold=shared / union, recall=PROMISE, method="lsh", seed=seed)
        assert all(row["b"] == row["a"] + 1 and row["a"] % 2 == 0 for row in pairs)
        found += len(pairs)
        planned += len(items) // 2
    assert upper_bound(found, planned) >= PROMISE


def test_the_estimate_of_recall_is_near_what_was_measured():
    corpus, truth = planted(0)
    pairs = la.similar_pairs(corpus.texts, threshold=0.7, recall=0.8, method="lsh", seed=5)
    there = sum(similarity >= 0.7 for similarity in truth.values())
    measured = len(pairs) / there
    estimate = pairs.account.recall
    assert estimate.low - 0.01 <= measured <= estimate.high + 0.01
    assert measured < 0.99
