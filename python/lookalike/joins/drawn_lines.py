"""What the lines that were drawn do to near pairs, beyond what their law says of all draws.

All pairs of a run share its lines. A steep one, of which Cauchy's law draws some, cuts pairs of most
directions apart at once; so where lines are few, or of that law, the recall of one draw may be far from the
mean of all. Of a known line and direction the chance is known: the offset alone is left to it. So the nearest
pairs of a sample show in which directions pairs lie, and of those the chance of this draw is computed: bands
are added until it keeps the promise, and what a run says of its recall goes by it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lookalike.engines import Engine, Table
from lookalike.families import L1, Euclidean
from lookalike.joins.vector_items import VectorItems
from lookalike.measures.vectors import Differences, matrix_of
from lookalike.theory import DistanceSample, Plan
from lookalike.theory.collisions import CauchyCollision, GaussianCollision
from lookalike.theory.planning import with_bands
from lookalike.types import F64, I64

#: At most so many times as many bands as the law asks for, and some more where it asks for few.
_TIMES, _MORE = 4, 16
#: Buckets so much narrower than those of a plan tell where on a line a vector lies.
_FINE = 2.0**-20
#: Distances of which the chance is computed, in parts of the threshold's; between them it is a line.
_STEPS = np.linspace(0.0, 1.0, 33)
#: The least chance that is believed: directions are a sample too.
_LEAST = 0.01


@dataclass(frozen=True, eq=False)
class DrawnChances:
    """The chance of this draw that a pair is found, by distance in parts of the threshold's."""

    threshold: float
    chances: F64

    def __call__(self, distances: npt.ArrayLike) -> F64:
        """For pairs that were found, and so lie within the threshold."""
        chances: F64 = np.interp(np.asarray(distances) / self.threshold, _STEPS, self.chances)
        return chances


def kept_by_draw(
    items: VectorItems, plan: Plan, directions: F64, distances: DistanceSample
) -> tuple[Plan, DrawnChances | None]:
    """The plan with as many more bands as its draw needs to keep the promise, and the chances of that draw.

    Where not even several times as many bands are enough, those are taken, and the chances tell. None if no
    direction is known, or the plan has no lines.
    """
    if not len(directions) or not isinstance(plan.collision, CauchyCollision | GaussianCollision):
        return plan, None
    rows, bands = plan.banding.rows, plan.banding.bands
    most = max(bands, min(plan.slots // rows, _TIMES * bands + _MORE))
    steep = _steepness(items, plan, directions, most * rows)
    found = _found(steep, rows)
    # Rounded, so that two machines agree.
    enough = np.flatnonzero(np.round(found, 9) >= plan.recall)
    wanted = max(bands, int(enough[0]) + 1 if len(enough) else most)
    chances = np.array([_found(step * steep[:, : wanted * rows], rows)[-1] for step in _STEPS])
    if wanted > bands:
        plan = with_bands(plan, wanted, distances)
    return plan, DrawnChances(plan.threshold, np.maximum(chances, _LEAST))


def directions_of(engine: Engine, items: VectorItems, nearest: tuple[I64, I64]) -> F64:
    """The directions in which pairs lie, as vectors of length 1 by the measure."""
    a, b = nearest
    table = engine.settle(
        "directions",
        lambda: engine.fetch(items.table, Table.of(a=a, b=b), ("a", "b"), Differences()),
    )
    apart = np.concatenate(
        [np.empty((0, items.dimensions)), *(matrix_of(batch) for batch in table.batches)], dtype=np.float64
    )
    # First by the greatest, so that no square is beyond the numbers.
    apart = apart[np.abs(apart).max(axis=1) > 0]
    apart /= np.abs(apart).max(axis=1, keepdims=True)
    order = 1 if items.nearness.measure == "l1" else 2
    directions: F64 = apart / np.linalg.norm(apart, ord=order, axis=1, keepdims=True)
    return directions


def _steepness(items: VectorItems, plan: Plan, directions: F64, slots: int) -> F64:
    """How many buckets a pair at the threshold is apart on each line: one row a direction."""
    law = plan.collision
    assert isinstance(law, CauchyCollision | GaussianCollision)
    fine = law.width / plan.threshold * _FINE
    family = (L1 if isinstance(law, CauchyCollision) else Euclidean)(width=fine, slots=slots, seed=items.seed)
    steep: F64 = np.abs(family.signatures(directions, threads=1).astype(np.float64)) * _FINE
    return steep


def _found(steep: F64, rows: int) -> F64:
    """The chance to meet within the first bands, for every number of them: the mean over directions."""
    agree = np.clip(1 - steep, 0, None).reshape(len(steep), -1, rows).prod(axis=2)
    found: F64 = 1 - np.cumprod(1 - agree, axis=1).mean(axis=0)
    return found
