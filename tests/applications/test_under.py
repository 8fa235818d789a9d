"""What samples.parquet shows of pairs under the threshold, on roads that look at none such themselves."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance import oracle, texts

import lookalike as la
from lookalike.applications.documents import under
from lookalike.joins.joined import MARGIN

EXACT = ("prefix", "divide", "pyramid")
SIGNED = ("signature", "external")
WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9).map(" ".join)


def sample(docs, **options):
    rows = la.dedup(docs, **options).samples.to_pylist()
    column = "estimate" if options.get("method") in SIGNED else "similarity"
    return [(row["a"], row["b"], row[column]) for row in rows if row["side"] == "under"]


def brute_force(docs, threshold, k, similarity):
    """Pairs of different sets that fall short of the threshold by less than the margin, the nearest first."""
    first = {}
    for at, text in enumerate(docs):
        first.setdefault(frozenset(oracle.shingles(text, k)), at)
    sets = sorted((at, own) for own, at in first.items() if own)
    pairs = []
    for place, (a, one) in enumerate(sets):
        for b, other in sets[place + 1 :]:
            value = similarity(one, other)
            if max(threshold - MARGIN, threshold / 2) <= value < threshold:
                pairs.append((a, b, value))
    return sorted(pairs, key=lambda pair: (threshold - pair[2], *pair[:2]))[:50]


@pytest.mark.parametrize("method", EXACT)
@settings(max_examples=8, deadline=None)
@given(docs=st.lists(WORDS, min_size=1, max_size=14), threshold=st.sampled_from([0.05, 0.4, 0.6, 1.0]))
def test_of_few_documents_it_shows_what_brute_force_shows(method, docs, threshold):
    threshold = max(threshold, 0.5) if method == "pyramid" else threshold
    expected = brute_force(docs, threshold, 1, lambda a, b: len(a & b) / len(a | b))
    assert sample(docs, method=method, threshold=threshold, shingle="words:1") == expected


def test_cosine_is_measured_as_cosine():
    docs = texts.families(12, seed=5)
    expected = brute_force(docs, 0.6, 2, lambda a, b: len(a & b) / np.sqrt(len(a) * len(b)))
    assert sample(docs, measure="cosine", threshold=0.6, shingle="words:2") == pytest.approx(expected)


@pytest.mark.parametrize("method", SIGNED)
def test_agreement_of_signatures_is_agreement_there_too(method):
    docs = texts.joined(texts.variants(texts.prose(30, 3), 12, 3, changes=2)) + texts.families(6, seed=5)
    rows = sample(docs, method=method, threshold=0.6, shingle="words:2", slots=64)
    assert rows
    over = la.dedup(docs, method=method, threshold=0.5, shingle="words:2", slots=64).pairs
    known = {(row["a"], row["b"]): row["estimate"] for row in over}
    expected = [(a, b, value) for (a, b), value in known.items() if 0.5 <= value < 0.6]
    assert rows == sorted(expected, key=lambda pair: (0.6 - pair[2], *pair[:2]))[:50]


def test_rows_are_drawn_by_content_whatever_the_order_threads_and_memory(monkeypatch):
    monkeypatch.setattr(under, "_DRAWN", (5, 12))
    docs = texts.families(40, seed=8)
    ids = [f"d{at:03}" for at in range(len(docs))]

    def drawn(order, **how):
        rows = [{"id": ids[at], "text": docs[at]} for at in order]
        result = la.dedup(pa.Table.from_pylist(rows), id="id", threshold=0.6, method="prefix", **how)
        return [row for row in result.samples.to_pylist() if row["side"] == "under"]

    expected = drawn(range(len(docs)), threads=1)
    complete = brute_force(docs, 0.6, 5, lambda a, b: len(a & b) / len(a | b))
    assert 0 < len(expected) < len(complete)
    assert {(row["a"], row["b"]) for row in expected} <= {(ids[a], ids[b]) for a, b, _ in complete}
    shuffled = np.random.default_rng(0).permutation(len(docs)).tolist()
    assert drawn(shuffled, threads=2, memory="16MB") == expected


def test_more_rows_are_drawn_only_where_the_first_have_too_few_pairs(monkeypatch):
    docs = texts.families(40, seed=8)
    counts = []
    least = under.least_glances
    monkeypatch.setattr(
        under,
        "least_glances",
        lambda engine, items, count: counts.append(count) or least(engine, items, count),
    )
    monkeypatch.setattr(under, "_DRAWN", (5, 12))
    sample(docs, threshold=0.6, method="prefix")
    assert counts == [5, 12]
    counts.clear()
    # One crowd a little under the threshold: any row drawn has enough.
    words = [f"w{at}" for at in range(30)]
    crowd = [" ".join([*words, *(f"x{at}y{n}" for n in range(5))]) for at in range(90)]
    rows = sample(crowd, threshold=0.8, method="prefix", shingle="words:1")
    assert counts == [5]
    assert len(rows) == 50
    assert all(similarity == 30 / 40 for *_, similarity in rows)


def test_pairs_of_any_kind_pay_nothing_for_it(monkeypatch):
    monkeypatch.setattr(under, "least_glances", lambda *_: 1 / 0)
    assert la.similar_pairs(texts.families(5, seed=1), method="prefix", threshold=0.6)
