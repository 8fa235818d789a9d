"""Every road to verified pairs, held against brute force over all pairs."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance import oracle, texts

import lookalike as la
from lookalike.bands import buckets

#: So high that on the fixed collections here nothing is missed, and what is found is all there is.
SURE = 0.9999

# Few words, so that texts overlap in every way; odd ones, so that cutting and folding are tested along.
TOKENS = st.sampled_from(["a", "B", "ß", "SS", "e\u0301", "É", "हि", "12", "İ", "x_y", "don't"])
DOCUMENTS = st.lists(st.lists(TOKENS, max_size=14).map(" ".join), min_size=1, max_size=12)


COPIES = st.sampled_from(["all", "stars", None])


def found(pairs, column="similarity"):
    """{(a, b): similarity}; a pair given twice would not go unseen."""
    rows = [(row["a"], row["b"], row[column]) for row in pairs]
    assert len({row[:2] for row in rows}) == len(rows)
    return {(a, b): similarity for a, b, similarity in rows}


@given(DOCUMENTS, st.sampled_from([0.1, 1 / 3, 0.5, 0.8, 1.0]), st.integers(1, 6), st.booleans(), COPIES)
def test_a_reported_pair_has_exactly_the_similarity_that_brute_force_counts(docs, threshold, k, bag, copies):
    sets = [(oracle.bag if bag else oracle.shingles)(text, k) for text in docs]
    truth = oracle.pairs(sets, threshold)
    shingle = f"words:{k}" + "+bag" * bag
    pairs = la.similar_pairs(docs, threshold=threshold, shingle=shingle, copies=copies)
    assert found(pairs).items() <= truth.items()


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.9, 1.0])
def test_all_pairs_are_found_those_of_copies_too(threshold):
    docs = [*texts.families(30, seed=1), "", "short", "Short!", "...", ""]
    truth = oracle.pairs([oracle.shingles(text) for text in docs], threshold)
    assert len(truth) > 20
    assert found(la.similar_pairs(docs, threshold=threshold, recall=SURE, method="lsh")) == truth


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8, 1.0])
def test_all_pairs_across_two_collections_are_found(threshold):
    rows = texts.families(30, seed=2)
    # Copies within the first, within the second, and across, in any dress; empty ones match nothing.
    first = [*rows[::2], texts.dressed(rows[0], 1), texts.dressed(rows[1], 2), rows[2], "", "only here"]
    second = ["", *rows[1::2], texts.dressed(rows[1], 3), texts.dressed(rows[0], 4), rows[1], "only there"]
    one, two = ([oracle.shingles(text) for text in side] for side in (first, second))
    truth = oracle.pairs_across(one, two, threshold)
    assert len(truth) > 15
    assert found(la.similar_pairs(first, second, threshold=threshold, recall=SURE, method="lsh")) == truth


@pytest.mark.parametrize(("one", "other"), [(40, 40), (1, 60), (60, 1)])
@pytest.mark.parametrize("large", [2, 5, 64])
def test_pairs_across_are_right_in_large_buckets_too(monkeypatch, large, one, other):
    monkeypatch.setattr(buckets, "LARGE", large)
    template = texts.prose(120, 3)
    first = texts.joined([*texts.variants(template, one, 1), template])
    second = texts.joined([*texts.variants(template, other, 2), template])
    truth = oracle.pairs_across(
        [oracle.shingles(x) for x in first], [oracle.shingles(x) for x in second], 0.7
    )
    pairs = la.similar_pairs(first, second, threshold=0.7, recall=SURE, method="lsh")
    assert found(pairs).items() <= truth.items()
    if large == 64 and one + other <= 62:
        assert found(pairs) == truth
    # Leaders or not, no row goes without a match.
    assert {a for a, _ in found(pairs)} == {a for a, _ in truth}
    assert {b for _, b in found(pairs)} == {b for _, b in truth}


def test_copies_across_in_a_large_bucket_are_no_pair_with_themselves(monkeypatch):
    monkeypatch.setattr(buckets, "LARGE", 3)
    docs = texts.joined(texts.variants(texts.prose(100, 5), 12, 1))
    pairs = found(la.similar_pairs(docs, docs, threshold=0.9999, recall=0.5, method="lsh"))
    assert pairs == {(row, row): 1.0 for row in range(12)}


def test_a_pair_has_the_lesser_id_first_or_the_first_collection():
    docs = texts.families(10, seed=4)
    ids = [f"{(row * 7919) % 1000:03}" for row in range(len(docs))]
    table = {"text": docs, "id": ids}
    one = la.similar_pairs(pa.table(table), id="id", threshold=0.3)
    assert len(one) > 5
    assert all(row["a"] < row["b"] for row in one)
    assert [(row["a"], row["b"]) for row in one] == sorted((row["a"], row["b"]) for row in one)
    other = pa.table({"text": docs[::-1], "id": range(len(docs))})
    across = la.similar_pairs(pa.table(table), other, id="id", threshold=0.3)
    assert across["a"].type == pa.string()
    assert across["b"].type == pa.int64()


@pytest.mark.parametrize("shingle", ["chars:3", "words:2-case", "stopwords"])
def test_other_shingles_keep_the_promise_of_verified_pairs(shingle):
    docs = [text.replace("w1", "the ").replace("w2", "you ") for text in texts.families(12, seed=6)]

    def windows(text):
        if shingle == "chars:3":
            return frozenset(oracle.windows(text.casefold(), 3))
        if shingle == "words:2-case":
            return frozenset(oracle.windows(text.split(), 2))
        tokens = oracle.words(text)
        return frozenset(
            tuple(tokens[at : at + 3]) for at, word in enumerate(tokens[:-2]) if word in ("the", "you")
        )

    truth = oracle.pairs([windows(text) for text in docs], 0.5)
    assert len(truth) > 5
    assert found(la.similar_pairs(docs, shingle=shingle, threshold=0.5, recall=SURE, method="lsh")) == truth
