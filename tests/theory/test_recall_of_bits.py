"""The recall of a draw of dealt bits, by simulated draws whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.theory import Banding
from lookalike.theory.dealing import chances
from lookalike.theory.recall_of_bits import BitsDraw


def bands_of(rng, bits, banding):
    """Which bits each band looks at, by the definition."""
    bands = np.zeros((banding.bands, bits), np.bool_)
    at_once = bits // banding.rows
    for band in range(banding.bands):
        if band % at_once == 0:
            order = rng.permutation(bits)
        start = band % at_once * banding.rows
        bands[band, order[start : start + banding.rows]] = True
    return bands


def drawn(rng, differs, banding):
    """What one draw shows, and what it found."""
    distinct, counts = np.unique(differs, axis=0, return_counts=True)
    bands = bands_of(rng, differs.shape[1], banding)
    met = ~(distinct[:, None] & bands).any(axis=2)
    found = met.any(axis=1)
    draw = BitsDraw(
        bits=differs.shape[1],
        bandings=[banding],
        bands=bands,
        differs=distinct[found],
        counts=counts[found],
        met=met[found],
    )
    return draw, counts[found].sum() / counts.sum()


def own(rng, bits, distance, pairs, shared=()):
    """Pairs that each differ in bits of their own, beside those that they share."""
    differs = np.zeros((pairs, bits), np.bool_)
    left = np.setdiff1d(np.arange(bits), shared)
    for row in differs:
        row[list(shared)] = True
        row[rng.permutation(left)[: distance - len(shared)]] = True
    return differs


def kinds(rng, bits, distance, pairs, number):
    return own(rng, bits, distance, number)[rng.integers(0, number, pairs)]


@pytest.mark.parametrize(
    ("shared", "error", "of_law"), [((), 0.012, 0.012), ((10,), 0.01, 0.02), ((3, 40), 0.012, 0.03)]
)
def test_pairs_nearly_missed_tell_of_those_missed(shared, error, of_law):
    banding = Banding(bands=7, rows=11)
    errors, law = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        draw, truth = drawn(rng, own(rng, 64, 6, 1000, shared), banding)
        said = draw.estimate()
        errors.append(said.recall - truth)
        law.append(said.by_law - truth)
        assert said.low <= truth <= said.high
        assert not said.hard
    assert np.sqrt(np.mean(np.square(errors))) < error
    assert abs(np.mean(errors)) < 0.006
    assert shared == () or np.sqrt(np.mean(np.square(law))) > of_law - 0.01
    assert np.sqrt(np.mean(np.square(errors))) < 1.5 * np.sqrt(np.mean(np.square(law)))


@pytest.mark.parametrize("number", [1, 3, 10, 30])
def test_kinds_are_found_or_lost_together_and_bands_are_added(number):
    banding = Banding(bands=14, rows=16)
    covered = short = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        draw, truth = drawn(rng, kinds(rng, 64, 6, 1000, number), banding)
        said = draw.estimate()
        if truth == 0:
            assert said.recall is None
            continue
        assert said.hard
        assert draw.bands_to_add(radius=6, promised=0.95, rows=16) > 0
        covered += said.low <= truth <= said.high
        short += truth < 0.93
    assert covered >= 35
    assert short or number == 1


def test_what_the_law_finds_for_certain_is_found_but_for_a_pair():
    rng = np.random.default_rng(0)
    draw, truth = drawn(rng, own(rng, 64, 3, 500), Banding(bands=4, rows=16))
    said = draw.estimate()
    assert truth == said.recall == said.high == 1
    assert said.low == pytest.approx(500 / 501)
    assert draw.bands_to_add(radius=3, promised=0.95, rows=16) == 0


def test_a_bit_that_all_share_spoils_its_bands_and_the_others_are_reckoned_with():
    """With one bit in common two others cannot spoil what is left of three bands, if no band holds it."""
    rng = np.random.default_rng(1)
    banding = Banding(bands=3, rows=20)
    differs = own(rng, 64, 3, 600, shared=(5,))
    spoilt = 0
    for seed in range(40):
        draw, truth = drawn(np.random.default_rng(seed), differs, banding)
        holds = draw.bands[:, 5].any()
        spoilt += holds
        if not holds:
            assert truth == draw.estimate().recall == 1
        else:
            said = draw.estimate()
            assert said.low <= truth <= said.high
            assert truth < 1
    assert 0 < spoilt < 40


def test_parts_in_any_order_and_a_sample_of_them_say_the_same():
    rng = np.random.default_rng(2)
    draw, _ = drawn(rng, own(rng, 64, 6, 400), Banding(bands=7, rows=11))
    said = draw.estimate()
    order = rng.permutation(len(draw.counts))
    again = BitsDraw(
        bits=64,
        bandings=draw.bandings,
        bands=draw.bands,
        differs=draw.differs[order],
        counts=draw.counts[order],
        met=draw.met[order],
    )
    assert again.estimate() == said
    more = draw.estimate(10 * draw.pairs)
    assert more.found == 10 * said.found
    assert more.recall == pytest.approx(said.recall)


def test_few_pairs_are_reckoned_by_the_law_and_none_tell_nothing():
    rng = np.random.default_rng(3)
    banding = Banding(bands=7, rows=11)
    draw, _ = drawn(rng, own(rng, 64, 6, 8), banding)
    said = draw.estimate()
    assert said.few
    assert said.recall == pytest.approx(float(chances(64, [banding], [6])[0][0, 0]))
    assert draw.bands_to_add(radius=6, promised=0.95, rows=11) == 0
    nothing, _ = drawn(rng, own(rng, 64, 30, 50), Banding(bands=1, rows=30))
    assert nothing.estimate().recall is None
    assert nothing.none_near_threshold(6)


def test_ordinary_pairs_ask_for_no_more_bands():
    asked = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        draw, _ = drawn(rng, own(rng, 64, 6, 1000), Banding(bands=7, rows=11))
        asked += draw.bands_to_add(radius=6, promised=0.95, rows=11) > 0
    assert asked <= 3
