"""Sets with weights, whose pairs differ in the weights of a few terms: Σmin/Σmax, and the cosine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp

from .collection import HAIR, Collection, Planted, groups_of


def reweighted(
    rng: np.random.Generator,
    *,
    pairs: int,
    own: int,
    before: tuple[int, ...],
    after: tuple[int, ...],
    groups: int,
    share: float,
) -> Planted:
    """Items of whole weights that add up to `own`, and terms that weigh `before` here and `after` there."""
    kinds = groups_of(rng, pairs, groups, share)
    # Weights of 1, 2 and 3 in turn, whatever their order.
    weights = [1, 2, 3] * (own // 6) + [1] * (own % 6)
    rows = np.concatenate([np.tile(weights, (pairs, 1)), np.tile(weights, (pairs, 1))])
    terms = np.stack([np.where(kinds < 0, groups + np.arange(pairs), kinds)] * len(before), axis=1)
    terms = terms * len(before) + np.arange(len(before))
    first_own = (groups + pairs) * len(before)
    elements = first_own + np.arange(pairs * len(weights)).reshape(pairs, -1)
    columns = np.tile(np.concatenate([elements, terms], axis=1), (2, 1))
    changed = np.concatenate([np.tile(before, (pairs, 1)), np.tile(after, (pairs, 1))])
    return Planted.in_halves(_rows(np.concatenate([rows, changed], axis=1), columns), pairs)


def turned(
    rng: np.random.Generator, *, pairs: int, own: int, terms: int, cosine: float, groups: int, share: float
) -> Planted:
    """Items of as many terms of their own, and again with terms more that leave so much of the cosine."""
    kinds = groups_of(rng, pairs, groups, share)
    weights = rng.lognormal(0, 0.5, size=(pairs, own))
    kind = np.where(kinds < 0, groups + np.arange(pairs), kinds)
    more = rng.lognormal(0, 0.7, size=(groups + pairs, terms))
    more /= np.linalg.norm(more, axis=1, keepdims=True)
    angle = np.arccos(cosine * (1 + HAIR))
    added = np.tan(angle) * np.linalg.norm(weights, axis=1, keepdims=True) * more[kind]
    elements = (groups + pairs) * terms + np.arange(pairs * own).reshape(pairs, -1)
    columns = np.concatenate([elements, kind[:, None] * terms + np.arange(terms)], axis=1)
    both = np.concatenate(
        [np.concatenate([weights, np.zeros_like(added)], axis=1), np.concatenate([weights, added], axis=1)]
    )
    return Planted.in_halves(_rows(both, np.tile(columns, (2, 1))), pairs)


def _rows(weights: np.ndarray, columns: np.ndarray) -> sp.csr_matrix:
    ends = np.arange(len(weights) + 1) * weights.shape[1]
    made = sp.csr_matrix(
        (weights.reshape(-1).astype(np.float64), columns.reshape(-1), ends),
        shape=(len(weights), int(columns.max()) + 1),
    )
    made.eliminate_zeros()
    made.sort_indices()
    return made


def collections() -> Iterator[Collection]:
    """Of sets with weights."""

    def of(
        name: str,
        threshold: float,
        *,
        pairs: int,
        groups: int,
        own: int,
        before: tuple[int, ...],
        after: tuple[int, ...],
        share: float = 1.0,
    ) -> Collection:
        return Collection(
            name=f"weights: {name}",
            family="weighted MinHash",
            measure="weighted-jaccard",
            threshold=threshold,
            groups=groups,
            share=share,
            pairs=pairs,
            plant=partial(
                reweighted, pairs=pairs, own=own, before=before, after=after, groups=groups, share=share
            ),
        )

    yield of("one term heavier", 0.8, pairs=1000, groups=1, own=60, before=(4,), after=(20,))
    yield of("one heavy term more", 0.5, pairs=1000, groups=1, own=36, before=(0,), after=(36,))
    yield of("one footer", 0.7, pairs=1000, groups=1, own=84, before=(0,) * 12, after=(1, 2, 3, 4, 5, 3) * 2)
    yield of(
        "half with one term lighter", 0.9, pairs=1200, groups=1, share=0.5, own=48, before=(12,), after=(6,)
    )
    yield of("3 terms", 0.6, pairs=1200, groups=3, own=48, before=(0, 6), after=(30, 12))
    yield of("30 terms", 0.75, pairs=1200, groups=30, own=54, before=(3,), after=(22,))
    yield of("none", 0.65, pairs=1000, groups=0, own=78, before=(0, 0), after=(12, 30))
    yield of("none, few pairs", 0.8, pairs=300, groups=0, own=96, before=(0, 0, 0), after=(8, 8, 8))

    def cosine(
        name: str, threshold: float, *, pairs: int, groups: int, terms: int, own: int = 40, share: float = 1.0
    ) -> Collection:
        return Collection(
            name=f"cosine of weights: {name}",
            family="hyperplanes",
            measure="weighted-cosine",
            threshold=threshold,
            groups=groups,
            share=share,
            pairs=pairs,
            plant=partial(
                turned, pairs=pairs, own=own, terms=terms, cosine=threshold, groups=groups, share=share
            ),
        )

    yield cosine("one term more", 0.8, pairs=1000, groups=1, terms=1)
    yield cosine("3 footers", 0.9, pairs=1000, groups=3, terms=15)
    yield cosine("none", 0.7, pairs=1000, groups=0, terms=10)
