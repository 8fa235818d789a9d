"""What all pairs would cost and what signatures weigh (SPEC M17): known answers."""

import math

import pytest

import lookalike as la
from lookalike.errors import OptionError
from lookalike.theory.outlay import Outlay


def test_a_million_columns_take_five_days_and_four_fifths():
    outlay = la.plan(0.8).outlay(10**6)
    assert outlay.pairs == math.comb(10**6, 2)
    assert outlay.seconds == outlay.pairs * 1e-6
    assert round(outlay.seconds / 86_400, 1) == 5.8


def test_a_hundred_thousand_signatures_of_a_hundred_slots_weigh_forty_megabytes():
    assert la.plan(0.8, slots=100).outlay(100_000).signature_bytes == 40_000_000


@pytest.mark.parametrize(
    ("asked", "row"),
    [
        ({"threshold": 0.8}, 4 * 128),
        ({"threshold": 0.8, "measure": "weighted-jaccard"}, 4 * 128),
        ({"threshold": "20deg", "measure": "angle"}, 16),
        ({"threshold": 3, "measure": "hamming", "bits": 64, "slots": 100}, 13),
        ({"threshold": 1, "measure": "l2"}, 8 * 128),
    ],
)
def test_a_signature_takes_what_its_family_makes_of_a_slot(asked, row):
    plan = la.plan(**{"recall": 0.5, **asked})
    outlay = plan.outlay(1000)
    assert outlay.signature_bytes == 1000 * row
    assert outlay.key_bytes == 8 * 1000 * plan.banding.bands


def test_signatures_weigh_what_they_weigh():
    signed = la.MinHash(slots=100).signatures([[n] for n in range(50)])
    assert signed.slots.nbytes == la.plan(0.8, slots=100).outlay(50).signature_bytes


def test_another_cost_a_pair_is_another_time():
    assert la.plan(0.8).outlay(5, pair_seconds=2.0).seconds == 20
    assert la.plan(0.8).outlay(1).pairs == 0


@pytest.mark.parametrize(("given", "said"), [({"items": 0}, "items=0"), ({"items": 2.5}, "items=2.5")])
def test_numbers_of_items_are_whole(given, said):
    with pytest.raises(OptionError, match=said):
        Outlay.of(slots=1, **given)
    with pytest.raises(OptionError, match="pair_seconds=0 is out of range"):
        Outlay.of(items=1, slots=1, pair_seconds=0)
