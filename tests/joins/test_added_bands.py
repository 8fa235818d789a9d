"""Bands that are added where the draw of a run falls short of its promise."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from tests.conformance import oracle

import lookalike as la
from lookalike import _core
from lookalike.measures.sets import as_sets
from lookalike.theory import RecallEstimate
from lookalike.theory.added_bands import AddedBands, ExactLook, FinalBands, seed_of_round

#: Seeds of collections whose first draw falls short of the promise.
UNLUCKY = (10, 17, 36)


def with_footer(seed: int, *, pairs: int = 400, own: int = 40, footer: int = 10) -> list[list[int]]:
    """Sets, and each of them again with a footer that all have in common: pairs at own / (own + footer)."""
    draw = np.random.default_rng(seed)
    sets = [draw.integers(2**62, size=own).tolist() for _ in range(pairs)]
    common = [2**62 + number + 1000 * seed for number in range(footer)]
    return sets + [one + common for one in sets]


def joined(sets: list[list[int]], **options: object) -> la.Pairs:
    return la.similar_pairs(sets, **{"threshold": 0.8, "method": "lsh", **options})


def rows_of(pairs: la.Pairs) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in pairs]


@pytest.mark.parametrize("seed", UNLUCKY)
def test_a_draw_that_falls_short_gets_bands_and_keeps_the_promise(seed):
    pairs = joined(with_footer(seed))
    account = pairs.account
    assert account.added
    assert {added.reason for added in account.added} <= {"short", "alike"}
    assert len(pairs) / 400 > 0.93
    assert account.recall.low <= len(pairs) / 400 <= account.recall.high
    assert account.estimates()["added_bands"] == [added.to_dict() for added in account.added]


def test_one_footer_is_measured_where_the_law_errs():
    errors, of_law = [], []
    for seed in range(20):
        pairs = joined(with_footer(seed, pairs=1000), seed=seed)
        found = len(pairs) / 1000
        errors.append(abs(pairs.account.recall.recall - found))
        of_law.append(abs(pairs.account.recall.by_law - found))
    assert max(errors) < 0.03
    assert max(of_law) > 0.03
    assert np.mean(errors) < np.mean(of_law) / 2


def test_the_answer_depends_on_no_order_threads_or_memory():
    sets = with_footer(UNLUCKY[0])
    expected = joined(sets)
    shuffled = list(range(len(sets)))
    random.Random(1).shuffle(shuffled)
    for options in ({"threads": 1}, {"threads": 3}, {"memory": "16MB"}):
        other = joined(sets, **options)
        assert rows_of(other) == rows_of(expected)
        assert other.account.added == expected.account.added
        assert other.account.recall == expected.account.recall
    other = joined([sets[place] for place in shuffled])
    named = sorted((*sorted((shuffled[a], shuffled[b])), similarity) for a, b, similarity in rows_of(other))
    assert named == rows_of(expected)
    assert other.account.recall == expected.account.recall


def test_pairs_found_are_those_that_meet_in_a_band_of_the_final_list():
    # Each seed's pairs by brute force over the keys that the family makes, whenever a band was added.
    sets = with_footer(UNLUCKY[1], pairs=200)
    pairs = joined(sets)
    account = pairs.account
    assert account.added
    final = account.final_bands
    assert final == FinalBands(banding=account.plan.banding, added=account.added)
    rows, bands = final.banding.rows, final.banding.bands
    near = oracle.pairs([frozenset(one) for one in sets], 0.8)
    hashed = as_sets(sets, seed=0)
    meeting = _meeting(near, la.MinHash().signatures(hashed), bands, rows)
    for added in final.added:
        again = la.Sets(_core.mix_integers(hashed.elements, seed=added.seed, threads=1), hashed.offsets)
        meeting |= _meeting(near, la.MinHash(seed=added.seed).signatures(again), added.bands, rows)
    assert {(a, b) for a, b, _ in rows_of(pairs)} == meeting


def _meeting(near, signatures, bands, rows):
    """The pairs that have the same slots in some band."""
    cut = signatures.slots[:, : bands * rows].reshape(-1, bands, rows)
    return {(a, b) for a, b in near if (cut[a] == cut[b]).all(axis=1).any()}


def test_nothing_found_is_told_from_nothing_there():
    draw = np.random.default_rng(3)
    sets = [draw.integers(2**62, size=40).tolist() for _ in range(600)]
    nothing = joined(sets)
    assert len(nothing) == 0
    assert nothing.account.look == ExactLook(rows=300, near=0, found=0)
    assert nothing.account.look.at_most == pytest.approx(0.01, abs=5e-4)
    assert not nothing.account.added
    assert nothing.account.recall.recall is None


def test_a_look_at_few_rows_finds_bundles_that_the_bands_lost():
    # Two sets in many near copies of each other: found or lost as one. Whatever the seed, the run says what
    # it found, and finds as much as it promised.
    draw = np.random.default_rng(5)
    for seed in range(20):
        sets = []
        for bundle in range(2):
            ours, theirs = (draw.integers(2**62, size=4).tolist() for _ in range(2))
            base = draw.integers(2**62, size=32).tolist()
            for row in range(40):
                own = [2**62 + 1000 * bundle + row]
                sets.append(base + (ours if row % 2 else theirs) + own)
        truth = oracle.pairs([frozenset(one) for one in sets], 0.75)
        pairs = joined(sets, threshold=0.75, seed=seed)
        recall = pairs.account.recall
        found = len(pairs) / len(truth)
        assert found > 0.93, seed
        assert recall.low <= found <= recall.high


def test_seeds_of_rounds_are_recorded_and_read_back():
    bands = FinalBands(
        banding=la.Banding(bands=3, rows=2),
        added=(AddedBands(seed=seed_of_round(0, 1), bands=4, reason="short"),),
    )
    assert FinalBands.from_dict(bands.to_dict()) == bands
    assert bands.count == 7


@pytest.mark.parametrize("seed", [0, 6, 21])
def test_a_promise_of_little_is_kept_where_hardly_any_of_many_pairs_were_found(seed):
    pairs = joined(with_footer(seed, pairs=300, own=20, footer=5), seed=seed, recall=0.6)
    assert len(pairs) / 300 > 0.58


def test_a_run_that_found_none_of_the_pairs_that_are_there_says_so_in_plain_numbers():
    account = joined(with_footer(1), threshold=0.5, bands=1, rows=64).account
    assert account.look.near > 0
    assert account.look.found == 0
    assert account.recall.recall == 0.0
    assert account.recall.estimated_total == account.look.near
    json.dumps(account.to_dict(), allow_nan=False)


def test_a_run_that_found_pairs_is_not_said_to_have_found_none():
    found = replace(RecallEstimate.certain(3), recall=0.06)
    told = ExactLook(rows=300, near=1, found=0).seen_by(RecallEstimate.certain(3))
    assert (told.recall, told.estimated_total) == (0.25, 12.0)
    assert ExactLook(rows=300, near=6, found=0).seen_by(found).recall == 0.06
