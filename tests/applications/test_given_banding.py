"""A banding of one's own (SPEC M9): what is found is what shares a bucket and reaches the threshold."""

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.joins.test_added_bands import UNLUCKY, with_footer

import lookalike as la
from lookalike.errors import OptionError
from lookalike.measures.exact import jaccard


def edited_sets(seed, count=150, size=40):
    """Sets, each again with one to twenty of its elements changed; no two are copies."""
    draw = random.Random(seed)
    sets = []
    for number in range(count):
        first = draw.sample(range(1000 * number, 1000 * number + 900), size)
        sets += [first, [*first[draw.randint(1, 20) :], 1000 * number + 950]]
    return sets


def shared_bucket(slots, bands, rows):
    """Every two rows that agree in all slots of a band, one band at a time."""
    met = set()
    for band in range(bands):
        buckets = {}
        for row, slot in enumerate(slots[:, band * rows : (band + 1) * rows].tolist()):
            buckets.setdefault(tuple(slot), []).append(row)
        for members in buckets.values():
            met |= {(a, b) for a in members for b in members if a < b}
    return met


@pytest.mark.parametrize(("bands", "rows"), [(20, 5), (1, 3), (4, 8), (128, 1)])
@pytest.mark.parametrize("method", ["auto", "lsh"])
def test_pairs_are_those_that_share_a_bucket_and_reach_the_threshold(bands, rows, method):
    sets, threshold, seed = edited_sets(7), 0.6, 11
    slots = la.MinHash(slots=128, seed=seed).signatures(sets).slots
    expected = {
        (a, b): jaccard(sets[a], sets[b])
        for a, b in shared_bucket(slots, bands, rows)
        if jaccard(sets[a], sets[b]) >= threshold
    }
    asked = {"threshold": threshold, "seed": seed, "bands": bands, "rows": rows, "method": method}
    pairs = la.similar_pairs(sets, **asked)
    assert {(row["a"], row["b"]): row["similarity"] for row in pairs} == expected
    assert pairs.account.plan.banding == la.Banding(bands, rows)
    assert pairs.account.promised == pairs.account.plan.reached
    candidates = la.candidates(la.MinHash(slots=128, seed=seed).signatures(sets), bands=bands, rows=rows)
    assert pairs.account.candidates == len(candidates)


def test_what_was_asked_for_stays_as_it_is_where_a_run_of_our_own_adds_bands():
    """A draw that falls short gets more bands, but not if somebody named how many there are."""
    sets, asked = with_footer(UNLUCKY[0]), {"threshold": 0.8, "method": "lsh"}
    chosen = la.similar_pairs(sets, **asked).account
    assert chosen.added
    banding = chosen.plan.banding
    given = la.similar_pairs(sets, **asked, bands=banding.bands, rows=banding.rows).account
    assert given.added == ()
    assert given.short_by == 0
    assert given.recall.recall < chosen.recall.recall


def test_documents_are_deduplicated_by_a_banding_of_ones_own():
    docs = [" ".join(f"w{word}" for word in row) for row in edited_sets(3)]
    few, many = (la.dedup(docs, threshold=0.4, shingle="words:1", bands=bands, rows=4) for bands in (1, 32))
    assert len(many.kept) < len(few.kept) < len(docs)
    assert "promised at 0.4 by the bands and rows that were given" in few.summary()
    assert few.account.plan.given


def test_the_recall_of_a_banding_of_ones_own_is_what_it_gives():
    found, within = [], []
    for seed in range(5):
        # 500 pairs at 4/5 exactly.
        sets = [
            row for n in range(500) for row in (range(99 * n, 99 * n + 36), range(99 * n + 4, 99 * n + 40))
        ]
        pairs = la.similar_pairs(sets, threshold=0.8, bands=5, rows=7, seed=seed)
        found.append(len(pairs) / 500)
        within.append(pairs.account.recall.low <= found[-1] <= pairs.account.recall.high)
    assert sum(within) >= 4
    promised = la.plan(0.8, bands=5, rows=7).reached
    assert np.mean(found) == pytest.approx(promised, abs=4 * np.sqrt(promised * (1 - promised) / 2500))


def test_new_documents_are_compared_by_the_banding_that_was_asked_for(tmp_path):
    texts = [" ".join(f"w{word}" for word in row) for row in edited_sets(3)]
    docs = pa.table({"id": [f"{row:04}" for row in range(len(texts))], "text": texts})
    asked = {"threshold": 0.4, "shingle": "words:1", "id": "id", "bands": 16, "rows": 4}
    together = la.dedup(docs, **asked)
    la.dedup(docs.slice(0, 201), **asked).write(tmp_path / "first")
    # By the same bands stored keys serve, by others all is signed anew: the answer is that of the bands.
    for bands in (16, 12):
        appended = la.dedup(docs.slice(201), against=tmp_path / "first", **{**asked, "bands": bands})
        assert appended.account.plan.banding == la.Banding(bands, 4)
        assert appended.account.plan.given
        assert appended.account.added == ()
    appended = la.dedup(docs.slice(201), against=tmp_path / "first", **asked)
    dropped = {row["id"] for row in appended.clusters if not row["kept"]}
    late = {f"{row:04}" for row in range(201, len(texts))}
    assert dropped == {row["id"] for row in together.clusters if not row["kept"]} & late != set()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"bands": 20}, "bands=20 needs rows too"),
        ({"rows": 5}, "rows=5 needs bands too"),
        ({"bands": 20, "rows": 7}, "use slots=140 or more"),
        ({"bands": 20, "rows": 5, "method": "prefix"}, "go with method='lsh' and measure='jaccard'"),
        ({"bands": 20, "rows": 5, "measure": "cosine"}, "go with method='lsh' and measure='jaccard'"),
        ({"bands": 2.5, "rows": 5}, "bands=2.5 is out of range"),
    ],
)
def test_bandings_that_cannot_be_are_refused(asked, said):
    for search in (la.similar_pairs, la.dedup):
        with pytest.raises(OptionError, match=said):
            search(["a b", "c d"], **asked)
