"""By signature first, then by the data (SPEC M10): brute force, the account, and what the filter spares."""

import numpy as np
import pyarrow as pa
import pytest
from tests.applications.test_given_banding import edited_sets, shared_bucket

import lookalike as la
from lookalike.errors import OptionError
from lookalike.measures.exact import jaccard


def expected_pairs(sets, pairs, seed=0, slots=128):
    """Candidates whose signatures agree enough, and whose sets reach the threshold."""
    account = pairs.account
    signed = la.MinHash(slots=slots, seed=seed).signatures(sets).slots
    banding, least = account.plan.banding, account.first_filter.least
    met = shared_bucket(signed, banding.bands, banding.rows)
    looked_at = {(a, b) for a, b in met if (signed[a] == signed[b]).sum() >= least}
    reached = {(a, b): jaccard(sets[a], sets[b]) for a, b in looked_at}
    return met, looked_at, {pair: value for pair, value in reached.items() if value >= account.threshold}


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("seed", [0, 5])
def test_pairs_are_those_whose_signatures_agree_enough_and_whose_sets_do(threshold, seed):
    sets = edited_sets(9)
    pairs = la.similar_pairs(sets, threshold=threshold, seed=seed, verify="both", method="lsh")
    met, looked_at, expected = expected_pairs(sets, pairs, seed)
    assert not pairs.account.added
    assert {(row["a"], row["b"]): row["similarity"] for row in pairs} == expected
    assert pairs.account.candidates == len(met)
    assert pairs.account.dropped_first == len(met) - len(looked_at)
    assert pairs.columns == ["a", "b", "similarity"]


def test_few_dissimilar_candidates_are_left_to_look_at():
    """Of candidates at .5 nearly all are dropped where the threshold is .8, and none of the pairs is."""
    sets = []
    for n in range(400):
        sets += [range(99 * n, 99 * n + 60), range(99 * n + 20, 99 * n + 80)]  # at 1/2
        sets += [range(10**6 + 99 * n, 10**6 + 99 * n + 60), range(10**6 + 99 * n + 3, 10**6 + 99 * n + 63)]
    asked = {"threshold": 0.8, "method": "lsh", "bands": 32, "rows": 4}
    plain = la.similar_pairs(sets, **asked)
    both = la.similar_pairs(sets, **asked, verify="both")
    assert both.to_arrow() == plain.to_arrow()
    assert len(both) == 400
    assert both.account.candidates == plain.account.candidates > 700
    dropped = both.account.dropped_first / (both.account.candidates - 400)
    assert dropped > 0.99


def test_the_promise_is_kept_and_the_account_counts_what_the_filter_loses():
    """Pairs at 4/5 exactly, with few slots, where a filter without a margin would lose half of them."""
    found, said = [], []
    for seed in range(6):
        sets = [
            row for n in range(500) for row in (range(99 * n, 99 * n + 36), range(99 * n + 4, 99 * n + 40))
        ]
        pairs = la.similar_pairs(sets, threshold=0.8, verify="both", method="lsh", seed=seed)
        found.append(len(pairs) / 500)
        said.append(pairs.account.recall.recall)
        assert pairs.account.promised == 0.95
        assert pairs.account.plan.reached * (1 - pairs.account.first_filter.loss) >= 0.95
    assert np.mean(found) >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 3000)
    assert np.mean(said) == pytest.approx(np.mean(found), abs=0.02)


def test_nearly_nothing_is_lost_behind_a_banding_that_finds_nearly_all():
    sets = [row for n in range(1500) for row in (range(99 * n, 99 * n + 36), range(99 * n + 4, 99 * n + 40))]
    lost = 0
    for seed in range(4):
        asked = {"threshold": 0.8, "method": "lsh", "bands": 60, "rows": 2, "seed": seed}
        everything = len(la.similar_pairs(sets, **asked))
        assert everything == 1500
        both = la.similar_pairs(sets, **asked, verify="both")
        lost += everything - len(both)
        assert both.account.promised < both.account.plan.reached
    loss = both.account.first_filter.loss
    assert lost / 6000 <= loss + 4 * np.sqrt(loss / 6000)


def test_run_json_and_the_summary_say_what_was_dropped(tmp_path):
    docs = [" ".join(f"w{word}" for word in row) for row in edited_sets(3)]
    result = la.dedup(docs, threshold=0.7, shingle="words:1", verify="both", method="lsh")
    told = result.account.estimates()["first_filter"]
    assert told["dropped"] == result.account.dropped_first
    assert told["margin"] == pytest.approx(0.7 - told["least"] / 128)
    assert "slots (estimates under 0." in result.summary()
    plain = la.dedup(docs, threshold=0.7, shingle="words:1", method="lsh")
    assert result.kept == plain.kept
    assert "first_filter" not in plain.account.estimates()


def test_the_answer_depends_on_no_threads_or_memory():
    sets = edited_sets(9)
    asked = {"threshold": 0.6, "verify": "both", "method": "lsh"}
    one = la.similar_pairs(sets, **asked, threads=1)
    for how in ({"threads": 2}, {"memory": "20MB"}, {"memory": "20MB", "threads": 1}):
        other = la.similar_pairs(sets, **asked, **how)
        assert other.to_arrow() == one.to_arrow()
        assert other.account.dropped_first == one.account.dropped_first


def test_auto_means_bands_and_other_methods_are_refused():
    sets = edited_sets(9)
    assert la.similar_pairs(sets, threshold=0.6, verify="both").account.method == "lsh"
    for asked in ({"method": "prefix"}, {"method": "signature"}, {"measure": "cosine"}):
        with pytest.raises(OptionError, match="verify='both' goes with method='lsh'"):
            la.similar_pairs(sets, verify="both", **asked)


def test_two_collections_are_compared_alike():
    sets = edited_sets(4)
    first, second = sets[::2], sets[1::2]
    asked = {"threshold": 0.6, "method": "lsh", "bands": 30, "rows": 3}
    plain = la.similar_pairs(first, second, **asked)
    both = la.similar_pairs(first, second, **asked, verify="both")
    assert both.to_arrow() == plain.to_arrow()
    assert len(both) > 50
    assert both.account.first_filter is not None


@pytest.mark.parametrize("verify", ["exact", "both"])
def test_new_documents_are_compared_with_those_of_a_run_that_checked_both_ways(tmp_path, verify):
    texts = [" ".join(f"w{word}" for word in row) for row in edited_sets(3)]
    docs = pa.table({"id": [f"{row:04}" for row in range(len(texts))], "text": texts})
    asked = {"threshold": 0.5, "shingle": "words:1", "id": "id", "method": "lsh"}
    la.dedup(docs.slice(0, 201), **asked, verify="both").write(tmp_path / "first")
    appended = la.dedup(docs.slice(201), against=tmp_path / "first", **asked, verify=verify)
    together = la.dedup(docs, **asked)
    late = {f"{row:04}" for row in range(201, len(texts))}
    dropped = {row["id"] for row in appended.clusters if not row["kept"]}
    assert dropped == {row["id"] for row in together.clusters if not row["kept"]} & late != set()
