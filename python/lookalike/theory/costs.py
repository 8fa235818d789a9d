"""What the stages of a banded join cost, as committed constants.

The planner weighs bands against checks by these numbers and by the data, never by the machine it runs on: a
plan made here is the plan made anywhere. They are nanoseconds of one core; only their ratios change a plan.
"""

from __future__ import annotations

KEY_NS = 40.0
"""One bucket key: one item's rows of one band hashed to a key, radix-sorted and grouped with its equals."""

PAIR_NS = 300.0
"""One candidate pair whatever its size: dropped if met before, its two items fetched, its answer stored."""

BYTE_NS = 1.1
"""One byte of text shingled again for the exact check of a pair, intersection included."""

_NS = 1e-9


def seconds_for_keys(items: int, bands: int) -> float:
    """Making, sorting and grouping one bucket key for each item and band."""
    return items * bands * KEY_NS * _NS


def seconds_for_checks(candidates: float, bytes_per_item: float) -> float:
    """Checking candidates exactly. Both texts of a pair are shingled, as if no text came twice."""
    return candidates * (PAIR_NS + 2 * bytes_per_item * BYTE_NS) * _NS
