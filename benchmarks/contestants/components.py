"""Clusters for peers that stop at pairs: connected components, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from . import Answer

Pair = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Found:
    """Reported pairs, and for every row the least row of its component."""

    pairs: list[Pair]
    label: list[int]


def connect(pairs: list[Pair], rows: int) -> Found:
    """Put the components of the pairs beside them."""
    return Found(pairs=pairs, label=label(pairs, rows))


def label(pairs: Iterable[Pair], rows: int) -> list[int]:
    """Return for every row the least row of its component."""
    parent = list(range(rows))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for a, b in pairs:
        left, right = root(a), root(b)
        parent[max(left, right)] = min(left, right)
    return [root(row) for row in range(rows)]


def answer(found: Found, rows: int, *, pairs: bool) -> Answer:
    """Return what was found as arrays."""
    if len(found.label) != rows:
        raise ValueError(f"{len(found.label)} labels for {rows} rows")
    reported = np.array(found.pairs if pairs else [], dtype=np.int64).reshape(-1, 2)
    return Answer(pairs=reported, cluster=np.array(found.label, dtype=np.int64))
