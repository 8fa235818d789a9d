"""Hashes, pairs of which differ in the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from .collection import Collection, Planted, groups_of


def flipped(
    rng: np.random.Generator,
    *,
    pairs: int,
    width: int,
    apart: int,
    groups: int,
    share: float,
    strangers: int = 0,
) -> Planted:
    """Random rows, and each again with so many bits flipped; a group has its bits in common."""
    first = rng.integers(2, size=(pairs, width), dtype=np.uint8)
    patterns = np.argsort(rng.random((groups + pairs, width)), axis=1)[:, :apart]
    kinds = groups_of(rng, pairs, groups, share)
    which = patterns[np.where(kinds < 0, groups + np.arange(pairs), kinds)]
    second = first.copy()
    np.put_along_axis(second, which, 1 - np.take_along_axis(first, which, axis=1), axis=1)
    others = rng.integers(2, size=(strangers, width), dtype=np.uint8)
    return Planted.in_halves(np.packbits(np.concatenate([first, second, others]), axis=1), pairs)


def collections() -> Iterator[Collection]:
    """Of bits."""

    def of(
        name: str, apart: int, *, pairs: int, width: int, groups: int, share: float = 1.0, strangers: int = 0
    ) -> Collection:
        return Collection(
            name=f"bits: {name}",
            family="sampled bits",
            measure="hamming",
            threshold=apart,
            groups=groups,
            share=share,
            pairs=pairs,
            plant=partial(
                flipped,
                pairs=pairs,
                width=width,
                apart=apart,
                groups=groups,
                share=share,
                strangers=strangers,
            ),
        )

    yield of("one bit", 1, pairs=1000, width=64, groups=1)
    yield of("the same 4 bits", 4, pairs=1000, width=64, groups=1)
    yield of("half in the same 3 bits", 3, pairs=1200, width=64, groups=1, share=0.5)
    yield of("the same 7 of 128, few pairs", 7, pairs=300, width=128, groups=1, strangers=1500)
    yield of("3 single bits", 1, pairs=1200, width=64, groups=3)
    yield of("3 times 5 bits", 5, pairs=1200, width=64, groups=3)
    yield of("30 times 8 of 256", 8, pairs=1200, width=256, groups=30)
    yield of("none", 3, pairs=1000, width=64, groups=0)
    yield of("none, few pairs", 6, pairs=300, width=128, groups=0, strangers=1500)
