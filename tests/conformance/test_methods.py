"""Every method and every measure, asked for by the one call, held against brute force."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance import oracle, texts
from tests.joins import roads

import lookalike as la
from lookalike.errors import OptionError
from lookalike.families import MinHash
from lookalike.measures import exact
from lookalike.measures.sets import as_sets

FORMULAS = {
    "jaccard": exact.jaccard,
    "containment": exact.containment,
    "cosine": exact.set_cosine,
    "overlap": lambda a, b: float(exact.overlap(a, b)),
}
THRESHOLDS = {"jaccard": (0.3, 0.8, 1.0), "containment": (0.5, 1.0), "cosine": (0.6, 0.9), "overlap": (1, 3)}
#: Exact methods, each with every measure; auto takes the exact road for all but jaccard.
EXACT = [(method, measure) for method in ("prefix", "divide") for measure in FORMULAS]
EXACT += [("auto", measure) for measure in FORMULAS if measure != "jaccard"]
SIGNED = ("signature", "external")
SETS = st.lists(st.sets(st.integers(0, 11), max_size=8), min_size=1, max_size=14)


def found(pairs, column="similarity"):
    rows = [(row["a"], row["b"], row[column]) for row in pairs]
    assert len({row[:2] for row in rows}) == len(rows)
    assert [row[:2] for row in rows] == sorted(row[:2] for row in rows)
    return {(a, b): similarity for a, b, similarity in rows}


def as_lists(sets):
    return [sorted(row) for row in sets]


def truth(sets, measure, threshold):
    return roads.brute_force(
        lambda a, b: FORMULAS[measure](sets[a], sets[b]),
        len(sets),
        threshold,
        both_ways=measure == "containment",
    )


def truth_across(first, second, measure, threshold):
    similarities = {
        (a, b): FORMULAS[measure](one, other) for a, one in enumerate(first) for b, other in enumerate(second)
    }
    return {pair: value for pair, value in similarities.items() if value > 0 and value >= threshold}


@pytest.mark.parametrize("name", [name for name in roads.ADVERSARIAL if name != "no rows"])
@pytest.mark.parametrize(("method", "measure"), EXACT)
def test_exact_methods_find_what_brute_force_finds_in_hostile_collections(name, method, measure):
    sets = roads.ADVERSARIAL[name]
    for threshold in THRESHOLDS[measure]:
        options = {"method": method, "measure": measure, "threshold": threshold}
        pairs = la.similar_pairs(as_lists(sets), **options)
        assert found(pairs) == truth(sets, measure, threshold)
        assert pairs.account.recall.recall == 1
        half = len(sets) // 2
        if half:
            across = la.similar_pairs(as_lists(sets[:half]), as_lists(sets[half:]), **options)
            assert found(across) == truth_across(sets[:half], sets[half:], measure, threshold)


@settings(max_examples=40)
@pytest.mark.parametrize(("method", "measure"), EXACT)
@given(SETS, SETS, st.data())
def test_exact_methods_find_what_brute_force_finds(method, measure, sets, other, data):
    threshold = data.draw(st.sampled_from(THRESHOLDS[measure]))
    options = {"method": method, "measure": measure, "threshold": threshold}
    pairs = found(la.similar_pairs(as_lists(sets), **options))
    assert pairs == truth(sets, measure, threshold)
    # Without expansion: some of them, and everything is still connected.
    fewer = found(la.similar_pairs(as_lists(sets), **options))
    assert fewer.items() <= pairs.items()
    assert oracle.components(len(sets), fewer) == oracle.components(len(sets), pairs)
    across = found(la.similar_pairs(as_lists(sets), as_lists(other), **options))
    assert across == truth_across(sets, other, measure, threshold)


@settings(max_examples=30)
@pytest.mark.parametrize("method", SIGNED)
@given(SETS, st.sampled_from([0.3, 0.8, 1.0]))
def test_signature_methods_find_every_pair_whose_signatures_agree(method, sets, threshold):
    signed = MinHash(slots=64, seed=5).signatures(as_sets(as_lists(sets), seed=5))
    agreeing = roads.brute_force(
        lambda a, b: signed.similarity(a, b) if sets[a] and sets[b] else 0.0, len(sets), threshold
    )
    options = {"method": method, "threshold": threshold, "slots": 64, "seed": 5}
    pairs = la.similar_pairs(as_lists(sets), **options)
    assert found(pairs, "estimate") == agreeing


@given(SETS, st.sampled_from([0.5, 0.8, 1.0]))
def test_the_pyramid_claims_no_wrong_pair(sets, threshold):
    pairs = la.similar_pairs(as_lists(sets), method="pyramid", threshold=threshold)
    assert found(pairs).items() <= truth(sets, "jaccard", threshold).items()


@given(SETS, st.sampled_from([0.3, 0.8, 1.0]))
def test_auto_claims_no_wrong_pair_and_says_why_it_went_where_it_did(sets, threshold):
    pairs = la.similar_pairs(as_lists(sets), threshold=threshold)
    assert found(pairs).items() <= truth(sets, "jaccard", threshold).items()
    choice = pairs.account.choice
    assert choice.method == pairs.account.method
    assert choice.roads.keys() == {"lsh", "prefix"}
    assert choice.why


@pytest.mark.parametrize("method", ["prefix", "divide"])
@pytest.mark.parametrize("measure", ["jaccard", "containment", "cosine"])
def test_documents_take_the_same_roads(method, measure):
    docs = [*texts.families(30, seed=1), "", "short", "Short!", "...", ""]
    sets = [oracle.shingles(text) for text in docs]
    pairs = la.similar_pairs(docs, method=method, measure=measure, threshold=0.5)
    assert found(pairs) == truth(sets, measure, 0.5)
    assert (pairs.account.empty, pairs.account.short) == (2, 3)


@pytest.mark.parametrize("method", ["prefix", "divide"])
@pytest.mark.parametrize("group", ["components", "star"])
def test_clusters_of_exact_methods_are_those_of_brute_force(method, group):
    docs = texts.families(40, seed=3)
    result = la.dedup(docs, method=method, threshold=0.6, group=group)
    edges = oracle.pairs([oracle.shingles(text) for text in docs], 0.6)
    if group == "components":
        assert result.clusters["cluster"].to_pylist() == oracle.components(len(docs), edges)
    by_lsh = la.dedup(docs, method="lsh", recall=0.9999, threshold=0.6, group=group)
    assert result.clusters.to_arrow() == by_lsh.clusters.to_arrow()


def test_duplicates_are_told_by_cosine_too():
    docs = texts.families(30, seed=4)
    result = la.dedup(docs, measure="cosine", threshold=0.7)
    sets = [oracle.shingles(text) for text in docs]
    edges = [pair for pair, value in truth(sets, "cosine", 0.7).items() if value]
    assert result.clusters["cluster"].to_pylist() == oracle.components(len(docs), edges)


REFUSED = [
    ({"measure": "containment", "method": "lsh"}, "choose method='prefix' or method='divide'"),
    ({"measure": "cosine", "method": "pyramid"}, "not by cosine"),
    ({"measure": "overlap"}, "overlap is a count"),
    ({"measure": "overlap", "threshold": 1.5}, "whole number"),
    ({"measure": "overlap", "threshold": 0}, "1 or more"),
    ({"measure": "levenshtein"}, "similar_strings"),
    ({"method": "pyramid", "threshold": 0.4}, "0.5 or more"),
    ({"method": "prefix", "verify": "signature"}, "leave it at 'exact'"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_no_road_does_is_refused(options, said):
    with pytest.raises(OptionError, match=said):
        la.similar_pairs([[1, 2], [1, 2, 3]], **options)


def test_a_low_threshold_is_within_reach_of_an_exact_method():
    with pytest.raises(OptionError, match="slots find at most"):
        la.similar_pairs([[1, 2], [2, 3]], threshold=0.01)
    assert found(la.similar_pairs([[1, 2], [2, 3]], threshold=0.01, method="prefix")) == {(0, 1): 1 / 3}


@pytest.mark.parametrize("measure", ["containment", "overlap"])
def test_duplicates_are_not_told_by_what_is_contained_or_counted(measure):
    with pytest.raises(OptionError, match="choose jaccard or cosine"):
        la.dedup(["a", "b"], measure=measure, threshold=1)
