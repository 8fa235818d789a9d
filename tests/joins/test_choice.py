"""What auto chooses, and that nothing but the data has a say in it."""

import re

import numpy as np
import pyarrow as pa
import pytest
from tests.conformance import texts
from tests.joins import roads

import lookalike as la
from lookalike.engines import LocalEngine
from lookalike.families import MinHash
from lookalike.joins.choice import FilledSets, _let_meet, choose
from lookalike.joins.distinct import distinct
from lookalike.measures.bounds import Bound
from lookalike.measures.overlap import JACCARD
from lookalike.runs.watch import Watch

FAMILY = MinHash(slots=128, seed=0)


def chosen(items, threshold=0.8, *, threads=2, batch_rows=1 << 16):
    return choose(
        items,
        threshold=threshold,
        recall=0.95,
        family=FAMILY,
        engine=LocalEngine(threads, batch_rows=batch_rows),
        watch=Watch(),
    )


def zipf(rows, seed, size=23, universe=50_000):
    rng = np.random.default_rng(seed)
    weights = np.cumsum(1 / np.arange(1, universe + 1))
    drawn = np.searchsorted(weights, rng.random((rows, size)) * weights[-1])
    return [set(row) for row in drawn.tolist()]


def test_small_sets_with_rare_elements_go_by_prefixes():
    for threshold in (0.5, 0.7, 0.8):
        choice = chosen(roads.items_of(zipf(3_000, 1), cut=500), threshold).choice
        assert choice.method == "prefix"
        assert choice.roads["prefix"].seconds < 1.5 * choice.roads["lsh"].seconds
        assert "sets of about 2" in choice.why


def test_long_texts_go_by_bands_without_a_pass_over_their_shingles():
    docs = [" ".join(words) for words in np.random.default_rng(1).integers(0, 9_999, (300, 600)).astype(str)]
    taken = chosen(roads.text_items(docs, "words:5", cut=100))
    assert taken.choice.method == "lsh"
    assert taken.choice.roads["prefix"].candidates is None
    assert taken.sets is None


def test_sets_without_rare_elements_go_by_bands():
    rng = np.random.default_rng(2)
    sets = [set(row) for row in rng.integers(0, 300, (6_000, 23)).tolist()]
    assert chosen(roads.items_of(sets, cut=1_000)).choice.method == "lsh"


def test_a_crowd_goes_by_bands_which_need_not_list_all_its_pairs_to_cluster_it():
    docs = texts.joined(texts.variants(texts.prose(60, 1), 1_500, 3))
    result = la.dedup(docs, threshold=0.7)
    assert result.account.method == "lsh"
    assert len(result.pairs) < 1_500**2 / 10
    # Nobody has more others than there are.
    said = re.search(r"about ([\d,]+) others", result.account.choice.why)
    assert said is None or int(said[1].replace(",", "")) < 1_500


@pytest.mark.parametrize("shuffle", [None, 1, 2])
def test_the_choice_is_the_same_however_rows_come(shuffle):
    sets = zipf(1_500, 3)
    one = chosen(roads.items_of(sets, cut=1_500), 0.6).choice
    other = chosen(roads.items_of(sets, cut=70, shuffle=shuffle), 0.6, threads=1, batch_rows=64).choice
    assert one == other


def test_estimates_of_a_collection_that_the_sample_holds_whole_are_near():
    sets = roads.edited(900, 5)
    taken = chosen(roads.items_of(sets, cut=200), 0.5)
    account = la.similar_pairs([sorted(row) for row in sets], threshold=0.5, method="prefix").account
    assert taken.choice.roads["prefix"].candidates == pytest.approx(account.candidates, rel=0.5, abs=20)


def test_between_two_collections_only_meetings_across_count():
    sets = zipf(800, 6)
    near = [{*sorted(row)[1:], 90_000} for row in sets]
    choice = chosen(roads.items_of([*sets, *near], boundary=800, cut=200), 0.6).choice
    assert choice.roads["prefix"].candidates > 0
    apart = chosen(roads.items_of([*sets, *zipf(800, 7)], boundary=800, cut=200), 0.6).choice
    assert apart.roads["prefix"].candidates < choice.roads["prefix"].candidates


def test_meetings_between_two_collections_are_those_of_one_side_with_the_other():
    sets = zipf(1_200, 6)
    items = roads.items_of(sets, boundary=400, cut=1_200)
    bound, engine = Bound("jaccard", 0.5), LocalEngine(1)
    few = FilledSets(None)(pa.concat_batches(list(items.table.batches)))
    across, within = (_let_meet(few, items.table, bound, boundary, engine) for boundary in (400, None))
    assert across.pairs == 400 * 800
    assert within.pairs == 1_200 * 1_199 // 2
    # Of all pairs, 4 in 9 are of one set on each side.
    assert across.meetings == pytest.approx(within.meetings * 4 / 9, rel=0.2)
    assert across.meetings >= across.candidates > 0


def test_copies_are_set_aside_within_a_collection_and_not_across():
    sets = [{1, 2}, {3}, {1, 2}, set(), {3}, {1, 2}]
    apart = distinct(roads.items_of(sets, cut=2), engine=LocalEngine(1), watch=Watch())
    assert apart.representative.tolist() == [0, 1, 0, 3, 1, 0]
    assert apart.numbers.tolist() == [0, 1]
    assert (apart.copies, apart.empty, apart.items().rows) == (3, 1, 2)
    across = distinct(roads.items_of(sets, boundary=2, cut=4), engine=LocalEngine(1), watch=Watch())
    assert across.representative.tolist() == [0, 1, 2, 3, 4, 2]
    assert across.items().boundary == 2
    compare = across.compare(LocalEngine(1), JACCARD)
    assert compare(np.array([0, 0]), np.array([2, 1])).tolist() == [1.0, 0.0]
