"""What auto chose, in words that need no others."""

import pytest

import lookalike as la
from lookalike.applications.chosen import told
from lookalike.theory import Choice
from lookalike.theory.choice import RoadEstimate


def roads(**costs):
    return {
        name: RoadEstimate(seconds=abs(cost), candidates=None if cost < 0 else 5.0)
        for name, cost in costs.items()
    }


@pytest.mark.parametrize(
    ("method", "costs", "said"),
    [
        (
            "lsh",
            {"lsh": 0.9, "prefix": -3.4},
            "bands (LSH): 0.90 s expected; exact prefixes would take over 3.40 s",
        ),
        (
            "prefix",
            {"lsh": 2.0, "prefix": 1.0},
            "exact prefixes: 1.00 s expected; bands (LSH) would take 2.00 s and may miss pairs",
        ),
        (
            "prefix",
            {"lsh": 1.0, "prefix": 1.2},
            "exact prefixes: 1.20 s expected; bands (LSH) would take 1.00 s and may miss pairs",
        ),
        (
            "lsh",
            {"lsh": 2.0, "prefix": 1.0},
            "bands (LSH): 2.00 s expected; exact prefixes would take 1.00 s; for a reason",
        ),
        (
            "pieces",
            {"exact": 4.0, "pieces": 1.0, "lsh": 3.0},
            "pieces of bits: 1.00 s expected; comparing all with all would take 4.00 s, bands (LSH) 3.00 s "
            "and may miss pairs",
        ),
        ("divide", {}, "counting all that is shared: for a reason"),
        ("something", {}, "something: for a reason"),
    ],
)
def test_the_road_taken_and_the_others_are_told_with_their_costs(method, costs, said):
    assert told(Choice(method=method, why="for a reason", roads=roads(**costs))) == said


def test_a_summary_tells_it():
    line = next(
        line for line in la.dedup(["a b c d e f"] * 3).summary().splitlines() if line.startswith("method")
    )
    assert "expected; " in line
    assert "would take" in line
