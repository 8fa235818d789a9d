"""Similar pairs by weights against all pairs: documents by meaning, weighted sets, sparse vectors."""

import math
import random
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance import oracle

import lookalike as la
from lookalike import _core
from lookalike.applications.documents.weighted import WeightedOptions
from lookalike.engines import LocalEngine
from lookalike.errors import EmptySourceError, OptionError, SourceError, UnreachableRecallError
from lookalike.families import MinHash
from lookalike.measures.distances import cosine
from lookalike.measures.exact import bag_jaccard, jaccard
from lookalike.measures.weights import as_weighted_sets
from lookalike.shingles import Shingle
from lookalike.types import string_buffers

WORDS = [
    "sun",
    "moon",
    "star",
    "wind",
    "rain",
    "snow",
    "tree",
    "leaf",
    "root",
    "bird",
    "nest",
    "song",
    "river",
    "stone",
    "fish",
    "boat",
    "sail",
    "rope",
    "salt",
    "bread",
]


def documents(count=120, seed=0):
    """Documents of a few topics: words drawn from some of the vocabulary, and copies of some of them."""
    draw = random.Random(seed)
    texts = []
    for _ in range(count):
        topic = draw.sample(WORDS, 6)
        texts.append(" ".join(draw.choices(topic, k=draw.randint(4, 30))))
        if draw.random() < 0.4:
            words = texts[draw.randrange(len(texts))].split()
            draw.shuffle(words)
            texts.append(" ".join([*words, draw.choice(WORDS)]))
    return texts


def vectors(texts):
    counts = [Counter(oracle.words(text)) for text in texts]
    holding = Counter(word for count in counts for word in count)
    return [
        {word: tf * math.log(1 + len(texts) / holding[word]) for word, tf in count.items()}
        for count in counts
    ]


def by_brute_force(rows, threshold, measure, pairs=None):
    pairs = pairs or combinations(range(len(rows)), 2)
    return {(a, b): s for a, b in pairs if (s := measure(rows[a], rows[b])) >= threshold}


def found(pairs):
    return {(row["a"], row["b"]): row["similarity"] for row in pairs}


def check(pairs, expected, recall=0.95):
    """Nothing but what brute force finds, with its similarity, and no less of it than was promised."""
    seen = found(pairs)
    assert set(seen) <= set(expected)
    for pair, similarity in seen.items():
        assert similarity == pytest.approx(expected[pair], rel=1e-12)
    assert len(seen) >= recall * len(expected)


# Documents by meaning.


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.95])
def test_documents_close_in_meaning_are_those_of_a_double_loop(threshold):
    texts = documents()
    expected = by_brute_force(vectors(texts), threshold, cosine)
    assert len(expected) > 5
    pairs = la.similar_pairs(texts, measure="tfidf", threshold=threshold)
    check(pairs, expected)
    assert pairs.account.measure == "tfidf"
    assert pairs.account.recall.estimated_total == pytest.approx(len(expected), rel=0.2)


def test_weights_of_terms_are_their_frequency_times_their_rarity():
    texts = documents(30)
    shingler = Shingle(k=1).shingler()
    buffers = string_buffers(pa.array(texts))
    frequencies = _core.DocumentFrequencies(buffers, shingler, most=100)
    elements, offsets, weights = _core.term_weights(
        buffers, shingler, frequencies, documents=len(texts), threads=2
    )
    for row, vector in enumerate(vectors(texts)):
        of = slice(offsets[row], offsets[row + 1])
        named = {int(shingler.shingles(word.encode())[0]): weight for word, weight in vector.items()}
        assert elements[of].tolist() == sorted(named)
        assert weights[of].tolist() == pytest.approx([named[x] for x in sorted(named)], rel=1e-14)


def rich(count, seed=0):
    """Texts of a large vocabulary, and retellings of some that keep most of their words."""
    draw = random.Random(seed)
    texts = []
    for _ in range(count):
        words = [f"w{int(10 ** (7 * draw.random()))}" for _ in range(30)]
        if texts and draw.random() < 0.3:
            words = [*draw.choice(texts).split()[: draw.randint(15, 30)], *words[: draw.randint(1, 15)]]
            draw.shuffle(words)
        texts.append(" ".join(words))
    return texts


@pytest.mark.parametrize("two", [False, True])
def test_cosines_of_a_large_vocabulary_are_exact(two):
    """In 2²⁰ counters some tens of thousands of these terms would share theirs with another."""
    texts = rich(12_000)
    expected = vectors(texts)
    assert len({word for vector in expected for word in vector}) > 100_000
    given = (texts[:6000], texts[6000:]) if two else (texts,)
    pairs = la.similar_pairs(*given, measure="tfidf", threshold=0.7)
    assert pairs.account.frequencies == "exact"
    assert len(pairs) > 500
    for (a, b), similarity in found(pairs).items():
        assert similarity == pytest.approx(cosine(expected[a], expected[b + 6000 * two]), abs=1e-12)


@pytest.mark.parametrize("most", [None, 100])
def test_frequencies_do_not_depend_on_memory_threads_or_order(monkeypatch, most):
    if most is not None:
        monkeypatch.setattr("lookalike.shingles.terms.MOST_TERMS", most)
    texts = rich(1500, seed=1)
    options = {"measure": "tfidf", "threshold": 0.6}
    expected = la.similar_pairs(texts, **options)
    assert len(expected) > 50
    assert expected.account.frequencies == ("exact" if most is None else "shared")
    for engine in (
        LocalEngine(threads=1, memory=16_000_000),
        LocalEngine(threads=3, batch_rows=50),
    ):
        again = la.similar_pairs(
            pa.chunked_array([texts[:7], texts[7:2000], texts[2000:]]), **options, engine=engine
        )
        assert again.to_arrow() == expected.to_arrow()
        assert again.account.frequencies == expected.account.frequencies
    shuffled = random.Random(2).sample(range(len(texts)), len(texts))
    again = found(la.similar_pairs([texts[row] for row in shuffled], **options))
    renamed = {tuple(sorted((shuffled[a], shuffled[b]))): s for (a, b), s in again.items()}
    assert renamed == found(la.similar_pairs(texts, **options))


def test_shared_counters_make_terms_no_rarer_and_change_similarities_little(monkeypatch):
    texts = rich(12_000)
    exact = found(la.similar_pairs(texts, measure="tfidf", threshold=0.7))
    monkeypatch.setattr("lookalike.shingles.terms.MOST_TERMS", 50_000)
    shared = found(la.similar_pairs(texts, measure="tfidf", threshold=0.7))
    both = set(exact) & set(shared)
    assert len(both) > 0.95 * len(exact)
    apart = [abs(exact[pair] - shared[pair]) for pair in both]
    assert 1e-6 < max(apart) < 0.05


def test_a_threshold_may_be_an_angle():
    texts = documents()
    degrees = la.similar_pairs(texts, measure="tfidf", threshold="30deg")
    assert found(degrees) == found(
        la.similar_pairs(texts, measure="tfidf", threshold=math.cos(math.radians(30)))
    )


def test_what_is_close_in_meaning_and_not_copied_is_left():
    story = "the old harbour town rebuilt its stone lighthouse after the winter storm broke the lamp"
    copied = story.replace("winter", "autumn")
    retold = "after the storm broke its lamp the old stone harbour lighthouse was rebuilt by the winter town"
    texts = [story, copied, story, retold, "sugar prices fell in london on monday as traders sold"]
    close = found(la.similar_pairs(texts, measure="tfidf", threshold=0.6))
    assert set(close) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    left = found(la.similar_pairs(texts, measure="tfidf", threshold=0.6, not_copies=0.2))
    assert set(left) == {(0, 3), (1, 3), (2, 3)}
    for a, b in close:
        alike = jaccard(oracle.shingles(texts[a]), oracle.shingles(texts[b]))
        assert (alike < 0.2) == ((a, b) in left)


def test_between_two_collections_pairs_go_across():
    texts = documents()
    across = [(a, b) for a in range(60) for b in range(60, len(texts))]
    expected = {(a, b - 60): s for (a, b), s in by_brute_force(vectors(texts), 0.8, cosine, across).items()}
    assert len(expected) > 5
    check(la.similar_pairs(texts[:60], texts[60:], measure="tfidf", threshold=0.8), expected)


def test_crowds_copies_and_empty_documents():
    texts = ["", *["sun moon star"] * 300, *[f"wind rain {word}" for word in WORDS * 5], " "]
    pairs = la.similar_pairs(texts, measure="tfidf", threshold=0.9, copies="stars")
    stars = [(a, b) for a, b in found(pairs) if texts[a] == texts[b] == "sun moon star"]
    assert stars == [(1, b) for b in range(2, 301)]
    assert pairs.account.empty == 2
    assert all(row["similarity"] >= 0.9 for row in pairs)


# Weighted sets.


def bags(count=150, seed=1):
    draw = random.Random(seed)
    rows = [{draw.randrange(40): draw.choice([0.25, 1, 2.5]) for _ in range(8)} for _ in range(count)]
    for row in rows[: count // 2]:
        near = dict(row)
        near[draw.randrange(40)] = draw.random()
        rows.append(near)
    return rows


@pytest.mark.parametrize("threshold", [0.4, 0.8])
def test_weighted_sets_are_those_of_a_double_loop(threshold):
    rows = bags()
    expected = by_brute_force(rows, threshold, bag_jaccard)
    assert len(expected) > 5
    check(la.similar_pairs(rows, measure="weighted-jaccard", threshold=threshold), expected)


def test_sparse_vectors_are_those_of_a_double_loop():
    draw = np.random.default_rng(4)
    matrix = draw.normal(size=(60, 30)) * (draw.random((60, 30)) < 0.4)
    matrix = np.concatenate([matrix, matrix * 3 + draw.normal(0, 0.3, (60, 30)), -matrix])
    expected = by_brute_force(matrix, 0.9, cosine)
    assert len(expected) > 20
    check(la.similar_pairs(matrix, measure="weighted-cosine", threshold=0.9), expected)


def test_a_set_and_its_double_are_no_copies_but_of_one_direction():
    rows = [{"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 4.0}, {"a": 1.0, "b": 2.0}]
    assert found(la.similar_pairs(rows, measure="weighted-jaccard", threshold=0.5)) == {
        (0, 1): 0.5,
        (0, 2): 1.0,
        (1, 2): 0.5,
    }
    assert set(found(la.similar_pairs(rows, measure="weighted-cosine"))) == {
        (0, 1),
        (0, 2),
        (1, 2),
    }


COLLECTIONS = {
    "all equal": [{1: 0.5, 2: 3.0}] * 200,
    "empty": [{}, {}, {1: 1.0}],
    "one giant": [dict.fromkeys(range(5000), 1.5), {1: 1.5}, {2: 1.0}],
    "disjoint": [{i: 1.0} for i in range(50)],
    "tiny and huge": [{1: 1e-200, 2: 1e200}, {1: 1e-200, 2: 9e199}, {1: 1e-200}],
}


@pytest.mark.parametrize("rows", COLLECTIONS.values(), ids=COLLECTIONS)
def test_hostile_collections(rows):
    expected = by_brute_force(rows, 0.8, bag_jaccard)
    assert found(la.similar_pairs(rows, measure="weighted-jaccard")) == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.dictionaries(st.integers(0, 6), st.integers(1, 3), max_size=5), min_size=1, max_size=12))
def test_small_collections_hold_nothing_that_is_not_there(rows):
    for measure, oracle_measure in [("weighted-jaccard", bag_jaccard), ("weighted-cosine", cosine)]:
        expected = by_brute_force(rows, 0.7, oracle_measure)
        seen = found(la.similar_pairs(rows, measure=measure, threshold=0.7, recall=0.99))
        for pair, similarity in seen.items():
            assert similarity == pytest.approx(oracle_measure(rows[pair[0]], rows[pair[1]]))
        # Cosines a rounding away from the threshold may fall on either side.
        assert all(similarity > 0.7 - 1e-9 for similarity in seen.values())
        certain = {
            pair
            for pair, similarity in expected.items()
            if similarity == 1 and rows[pair[0]] == rows[pair[1]]
        }
        assert certain <= set(seen)


def test_the_promise_is_kept_at_the_threshold():
    # Pairs exactly at a cosine of .8, each with words of its own.
    rows = [row for i in range(400) for row in ({2 * i: 4.0, 2 * i + 1: 3.0}, {2 * i: 1.0})]
    for recall in (0.8, 0.95):
        seen = found(la.similar_pairs(rows, measure="weighted-cosine", threshold=0.8, recall=recall))
        assert set(seen) <= {(2 * i, 2 * i + 1) for i in range(400)}
        error = math.sqrt(recall * (1 - recall) / 400)
        assert len(seen) / 400 > recall - 4 * error


def test_answers_depend_on_neither_threads_nor_memory_nor_order():
    texts = documents(300)
    engines = [LocalEngine(1), LocalEngine(2), LocalEngine(1, memory=16_000_000)]
    seen = [found(la.similar_pairs(texts, measure="tfidf", engine=engine)) for engine in engines]
    assert seen[0]
    assert seen[0] == seen[1] == seen[2]
    backwards = found(la.similar_pairs(texts[::-1], measure="tfidf"))
    last = len(texts) - 1
    assert {(last - b, last - a): s for (a, b), s in backwards.items()} == seen[0]


@pytest.mark.parametrize("slots", [64, 256])
def test_sides_agree_as_often_as_angles_are_small(slots):
    draw = np.random.default_rng(slots)
    surplus = variance = 0.0
    for seed in range(60):
        a, b = draw.normal(size=(2, 7))
        sets = as_weighted_sets(np.stack([a, b]), signed=True)
        one, other = _core.sparse_sides(sets.buffers, slots=slots, seed=seed, threads=1)
        expected = 1 - math.acos(cosine(a, b)) / math.pi
        surplus += (one == other).sum() - slots * expected
        variance += slots * expected * (1 - expected)
    assert abs(surplus / math.sqrt(variance)) < 4


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: la.similar_pairs(["a"], measure="tfidf", threshold=0), OptionError, "threshold=0"),
        (lambda: la.similar_pairs(["a"], measure="tfidf", threshold=-0.5), OptionError, "over 0"),
        (lambda: la.similar_pairs(["a"], measure="tfidf", not_copies=2), OptionError, "not_copies=2"),
        (
            lambda: la.similar_pairs(["a"], measure="tfidf", method="prefix"),
            OptionError,
            "method='prefix' is unknown",
        ),
        (lambda: la.similar_pairs(["a"], measure="tfidf", shingle="words:1+bag"), OptionError, "leave"),
        (
            lambda: la.similar_pairs([{1: 1}], measure="weighted-jaccard", not_copies=0.2),
            OptionError,
            "goes with",
        ),
        (lambda: la.similar_pairs([{1: -1}], measure="weighted-jaccard"), SourceError, "0 or more"),
        (lambda: la.similar_pairs(["a b"], measure="weighted-jaccard"), SourceError, "not a weighted set"),
        (lambda: la.similar_pairs([], measure="weighted-jaccard"), EmptySourceError, "no sets"),
        (
            lambda: la.similar_pairs([{1: 1}], measure="weighted-jaccard", threshold=0.1, slots=4),
            UnreachableRecallError,
            "slots",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_options_survive_json_and_say_their_slots():
    options = WeightedOptions(measure="tfidf", threshold="20deg", not_copies=0.2)
    assert WeightedOptions.of(options.to_dict()) == options
    assert options.slots == 1024
    assert WeightedOptions(measure="weighted-jaccard").slots == MinHash().slots


@pytest.mark.parametrize(("measure", "threshold"), [("weighted-cosine", 0.5), ("weighted-jaccard", 0.25)])
def test_many_somewhat_alike_are_found_with_the_promised_recall(measure, threshold):
    """Three topics of 200: most pairs of a topic are near the threshold, and no row has few neighbours."""
    draw = np.random.default_rng(5)
    rows = []
    for topic in range(3):
        common = draw.random(30) + 0.2
        for _ in range(200):
            own = draw.choice(500, 25, replace=False)
            weights = {f"{topic}.{i}": float(w) for i, w in enumerate(common * draw.uniform(0.2, 1.8, 30))}
            rows.append({**weights, **{f"own {i}": 0.75 for i in own.tolist()}})
    exact = {"weighted-cosine": sparse_cosine, "weighted-jaccard": sparse_jaccard}[measure]
    true = {(a, b) for a, b in combinations(range(600), 2) if exact(rows[a], rows[b]) >= threshold}
    assert len(true) > 5000
    found = la.similar_pairs(rows, measure=measure, threshold=threshold, recall=0.99)
    got = set(zip(found.to_arrow()["a"].to_pylist(), found.to_arrow()["b"].to_pylist(), strict=True))
    assert got <= true
    assert len(got) >= 0.985 * len(true)
    assert abs(found.account.recall.recall - len(got) / len(true)) < 0.01


def sparse_cosine(a, b):
    dot = sum(a[key] * b[key] for key in a.keys() & b.keys())
    return dot / math.sqrt(sum(x * x for x in a.values()) * sum(x * x for x in b.values()))


def sparse_jaccard(a, b):
    shared = sum(min(a[key], b[key]) for key in a.keys() & b.keys())
    return shared / (sum(a.values()) + sum(b.values()) - shared)
