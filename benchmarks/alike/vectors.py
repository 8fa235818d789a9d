"""Vectors, pairs of which lie apart in the same directions, or that come in tight bundles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .collection import F64, HAIR, Collection, Family, Planted, groups_of

_FAMILIES: dict[str, Family] = {
    "angle": "hyperplanes",
    "cosine": "hyperplanes",
    "l2": "lines, L2",
    "l1": "lines, L1",
}


def apart(
    rng: np.random.Generator,
    *,
    measure: str,
    threshold: float,
    pairs: int,
    dimensions: int,
    groups: int,
    share: float,
    coordinates: int = 0,
    loose: float = 0.0,
    strangers: int = 0,
) -> Planted:
    """Points, and each again at the threshold, in a direction that a group has in common.

    Directions are of so many `coordinates`, or of all of them. `loose` ones have so much of their own.
    """
    points = _points(rng, pairs + strangers, dimensions, measure, threshold)
    directions = rng.normal(size=(groups + pairs, dimensions))
    if coordinates:
        rank = np.argsort(np.argsort(rng.random((groups + pairs, dimensions)), axis=1), axis=1)
        directions[rank >= coordinates] = 0
    directions = _units(directions, measure)
    kinds = groups_of(rng, pairs, groups, share)
    chosen = directions[np.where(kinds < 0, groups + np.arange(pairs), kinds)]
    if loose:
        chosen = _units(chosen + loose * _units(rng.normal(size=chosen.shape), measure), measure)
    moved = _moved(points[:pairs], chosen, measure, threshold)
    return Planted.in_halves(
        np.concatenate([points[:pairs], moved, points[pairs:]]).astype(np.float32), pairs
    )


def bundles(
    rng: np.random.Generator,
    *,
    measure: str,
    threshold: float,
    groups: int,
    each: int,
    dimensions: int,
    strangers: int,
) -> Planted:
    """As many couples of bundles: each vector of one is at the threshold from each of the other."""
    centres = _points(rng, groups + strangers, dimensions, measure, threshold)
    directions = _units(rng.normal(size=(groups, dimensions)), measure)
    others = _moved(centres[:groups], directions, measure, threshold)
    # The members of a bundle are apart by less than what rounding leaves of the hair.
    width = HAIR / 16 * (np.radians(threshold) if measure == "angle" else threshold)
    points = np.repeat(np.concatenate([centres[:groups], others]), each, axis=0)
    scale = np.linalg.norm(points, axis=1, keepdims=True) if measure == "angle" else 1.0
    points = points + width * scale * _units(rng.normal(size=points.shape), measure)
    items = np.concatenate([points, centres[groups:]]).astype(np.float32)
    first = np.arange(groups * each).reshape(groups, each)
    second = first + groups * each
    at = np.stack([np.repeat(first, each, axis=1), np.tile(second, (1, each))], axis=2).reshape(-1, 2)
    one, two = np.triu_indices(each, k=1)
    nearer = np.concatenate(
        [np.stack([side[:, one], side[:, two]], axis=2).reshape(-1, 2) for side in (first, second)]
    )
    return Planted(items=items, at=at, nearer=nearer)


def _points(rng: np.random.Generator, rows: int, dimensions: int, measure: str, threshold: float) -> F64:
    """Points that are far from each other, for the threshold."""
    points = rng.normal(size=(rows, dimensions))
    return (
        points if measure in ("angle", "cosine") else points * threshold * (1.5 if measure == "l2" else 1.0)
    )


def _units(vectors: F64, measure: str) -> F64:
    units: F64 = vectors / np.linalg.norm(vectors, ord=1 if measure == "l1" else 2, axis=1, keepdims=True)
    return units


def _moved(points: F64, directions: F64, measure: str, threshold: float) -> F64:
    """Each point, a hair less than the threshold away in its direction."""
    if measure not in ("angle", "cosine"):
        return points + threshold * (1 - HAIR) * directions
    angle = np.arccos(threshold * (1 + HAIR)) if measure == "cosine" else np.radians(threshold * (1 - HAIR))
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    units = points / lengths
    across = _units(directions - (directions * units).sum(axis=1, keepdims=True) * units, "l2")
    moved: F64 = lengths * (np.cos(angle) * units + np.sin(angle) * across)
    return moved


def collections() -> Iterator[Collection]:
    """Of vectors."""

    def of(
        measure: str,
        name: str,
        threshold: float,
        *,
        groups: int,
        pairs: int = 1000,
        dimensions: int = 48,
        share: float = 1.0,
        **shape: Any,
    ) -> Collection:
        return Collection(
            name=f"{measure}: {name}",
            family=_FAMILIES[measure],
            measure=measure,
            threshold=f"{threshold:g}deg" if measure == "angle" else threshold,
            groups=groups,
            share=share,
            pairs=pairs,
            plant=partial(
                apart,
                measure=measure,
                threshold=threshold,
                pairs=pairs,
                dimensions=dimensions,
                groups=groups,
                share=share,
                **shape,
            ),
        )

    def bundled(
        measure: str, threshold: float, *, groups: int, each: int, dimensions: int = 48, strangers: int = 1500
    ) -> Collection:
        return Collection(
            name=f"{measure}: {groups} couple{'s' * (groups > 1)} of bundles",
            family=_FAMILIES[measure],
            measure=measure,
            threshold=f"{threshold:g}deg" if measure == "angle" else threshold,
            groups=groups,
            pairs=groups * each**2,
            plant=partial(
                bundles,
                measure=measure,
                threshold=threshold,
                groups=groups,
                each=each,
                dimensions=dimensions,
                strangers=strangers,
            ),
        )

    yield of("angle", "one changed coordinate", 12, groups=1, coordinates=1)
    yield of("angle", "one direction, half", 20, groups=1, share=0.5)
    yield of("angle", "one direction, few pairs", 16, groups=1, pairs=300, strangers=1500)
    yield of("angle", "3 directions, loose", 25, groups=3, loose=0.5)
    yield of("angle", "none", 15, groups=0)
    yield of("angle", "none, few pairs", 10, groups=0, pairs=300, strangers=1500)
    yield of("cosine", "30 directions", 0.85, groups=30, pairs=1200)
    yield bundled("angle", 18, groups=1, each=35)
    yield bundled("angle", 14, groups=3, each=20)
    yield bundled("angle", 22, groups=30, each=7)
    for measure, threshold in (("l2", 0.9), ("l1", 6.0)):
        yield of(measure, "one changed coordinate", threshold, groups=1, coordinates=1)
        yield of(measure, "one direction, half", 2 * threshold, groups=1, share=0.5)
        yield of(measure, "3 changed coordinates", threshold, groups=3, coordinates=1, pairs=1200)
        yield of(measure, "30 directions, loose", threshold, groups=30, coordinates=5, loose=0.3)
        yield of(measure, "none", threshold, groups=0)
        yield of(measure, "none, few pairs", 3 * threshold, groups=0, pairs=300, strangers=1500)
        yield bundled(measure, threshold, groups=1, each=35)
        yield bundled(measure, threshold, groups=10, each=12)
