"""Pages as sets of elements: a pair has one body, and a header on one side or a footer on the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from .collection import Collection, Planted, groups_of


def pages(
    rng: np.random.Generator,
    *,
    pairs: int,
    body: int,
    header: int = 0,
    footer: int,
    groups: int,
    share: float,
    nearer: int = 0,
    strangers: int = 0,
) -> Planted:
    """Pairs of J = body / (header + body + footer); `nearer` ones have bodies up to three times as long.

    `strangers` have half of a common footer, and no near pair.
    """

    def fresh(size: int) -> list[int]:
        return rng.integers(2**62, size=size).tolist()

    headers, footers = ([fresh(size) for _ in range(groups)] for size in (header, footer))
    kinds = groups_of(rng, pairs + nearer, groups, share)
    first, second = [], []
    for number, kind in enumerate(kinds):
        own = fresh(body if number < pairs else int(rng.integers(body + 1, 3 * body)))
        first.append(own + (headers[kind] if kind >= 0 else fresh(header)))
        second.append(own + (footers[kind] if kind >= 0 else fresh(footer)))
    common = fresh(max(1, footer // 2))
    others = [fresh(body) + common for _ in range(strangers)]
    return Planted.in_halves(pa.array([*first, *second, *others]), pairs, nearer=nearer)


def versions(rng: np.random.Generator, *, pages: int, body: int, added: int) -> Planted:
    """Pages in three versions: as they are, with one banner, and with another; half of the pairs each."""
    own = rng.integers(2**62, size=(pages, body)).tolist()
    one, other = rng.integers(2**62, size=(2, added)).tolist()
    plain = np.arange(pages)
    items = pa.array([*own, *(page + one for page in own), *(page + other for page in own)])
    at = np.concatenate([np.stack([plain, plain + pages], 1), np.stack([plain, plain + 2 * pages], 1)])
    return Planted(items=items, at=at, nearer=np.empty((0, 2), np.int64))


def collections() -> Iterator[Collection]:
    """Of sets."""

    def of(
        name: str, threshold: float, *, pairs: int, groups: int, share: float = 1.0, **sizes: int
    ) -> Collection:
        return Collection(
            name=f"sets: {name}",
            family="MinHash",
            measure="jaccard",
            threshold=threshold,
            groups=groups,
            share=share,
            pairs=pairs,
            plant=partial(pages, pairs=pairs, groups=groups, share=share, **sizes),
        )

    yield of("one footer", 0.8, pairs=1200, groups=1, body=96, footer=24)
    yield of("one header and footer", 0.7, pairs=1200, groups=1, body=42, header=9, footer=9)
    yield of("one element more", 0.9, pairs=1000, groups=1, body=9, footer=1)
    yield of("half with one footer", 0.85, pairs=1200, groups=1, share=0.5, body=51, footer=9)
    yield of("one footer, most pairs nearer", 0.65, pairs=400, groups=1, body=65, footer=35, nearer=900)
    yield of("one footer, few pairs", 0.75, pairs=300, groups=1, body=60, footer=20, strangers=1500)
    yield of("3 footers", 0.5, pairs=1200, groups=3, body=20, footer=20)
    yield of("3 headers and footers", 0.6, pairs=1000, groups=3, share=0.8, body=60, header=25, footer=15)
    yield of("30 footers", 0.9, pairs=1500, groups=30, body=108, footer=12)
    yield of("none", 0.6, pairs=1200, groups=0, body=60, footer=40)
    yield of("none, few pairs", 0.8, pairs=300, groups=0, body=100, footer=25, strangers=1500)
    yield Collection(
        name="sets: two banners",
        family="MinHash",
        measure="jaccard",
        threshold=0.55,
        groups=2,
        pairs=1200,
        plant=partial(versions, pages=600, body=55, added=45),
    )
