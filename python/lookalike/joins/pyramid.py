"""The Hamming pyramid: sets as columns of a boolean matrix, banded where their density tells them apart.

    fold      rows of the matrix are elements in random order; OR-ing them in pairs halves it, level by level
    sample    a hundred rows of each level, in bands, of the columns that fill 20% to 80% of it; every level
              has an order of its own, so that levels miss pairs independently
    meet      columns that are equal in a band of some level are candidates
    verify    the exact similarity of every candidate

Folding and sampling read a set once for each of its two or three levels, and nothing but bits is compared
before the check. Two columns of density d that have nothing to do with each other agree in a row with chance
d² + (1−d)², so a fixed share of all pairs of like size become candidates (`plan.stray`): of a hundred rows
.003 at threshold .8, .04 at .7, but four in five at .5. A road for high thresholds and some hundred thousand
sets.

What is found is exact. What is missed is a matter of chance: a recall is promised beforehand, and afterwards
it is estimated from what was found (`theory.pyramid`). Both are means over all draws of the orders. Pairs
that differ in the same elements are found or missed together, so one run over such pairs may find fewer.

Memory: the engine's, for 12 bytes a set, level and band, 12 a candidate and 16 a pair found; at the driver
9 bytes a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Table
from lookalike.joins.elements import Sizes, sets_of, shingler_of
from lookalike.joins.found import Found
from lookalike.joins.items import Items
from lookalike.joins.meetings import count_meetings, meetings, unpacked
from lookalike.runs.watch import Watch
from lookalike.theory.pyramid import MOST_LEVELS, PyramidPlan, levels, plan_pyramid
from lookalike.theory.recall import recall_from_chances
from lookalike.types import F64, I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Pyramided(Found):
    """What the pyramid found, and how it was cut."""

    plan: PyramidPlan


def pyramid(
    items: Items,
    *,
    threshold: float,
    seed: int,
    engine: Engine,
    watch: Watch,
    recall: float = 0.95,
    sampled: int = 100,
) -> Pyramided:
    """Find pairs of sets whose Jaccard similarity reaches the threshold, with a promised recall.

    Parameters
    ----------
    threshold
        From .5 on: sets less alike may have no density in common.
    seed
        Draws the orders of the rows.
    recall
        The promised chance that a pair at the threshold is found.
    sampled
        Rows looked at a level. More of them make longer bands for the same recall, and fewer candidates.
    """
    cut = plan_pyramid(threshold, recall=recall, sampled=sampled)
    fold = Fold(shingler_of(items), cut.bands, cut.rows, seed)

    def met() -> Table:
        with watch.stage("fold", items.rows, size=items.bytes) as advance:
            keys = engine.map(items.table, fold, advance=advance)
        with watch.stage("candidates", keys.rows, unit="keys"):
            pairs = meetings(engine, keys, "bucket", boundary=items.boundary)
            return engine.map(count_meetings(engine, pairs, most=MOST_LEVELS * cut.bands), unpacked)

    candidates = engine.settle("candidates", met)
    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        exact = items.exact(at_least=threshold)
        pairs = engine.fetch(items.table, candidates, ("a", "b"), exact, advance=advance)
    recall_ = recall_from_chances(*_chances(cut, pairs, items, engine))
    return Pyramided.of(engine, pairs, candidates.rows, plan=cut, recall=recall_)


def _chances(cut: PyramidPlan, pairs: Table, items: Items, engine: Engine) -> tuple[F64, I64]:
    """The chances that pairs had to be found, by the sizes of their sets, and how many had each."""
    # Only sets of pairs are measured: texts have to be cut into shingles for it once more.
    marked = np.zeros(items.rows, np.bool_)
    for batch in pairs.batches:
        marked[batch["a"].to_numpy()] = marked[batch["b"].to_numpy()] = True
    measured = engine.map(items.table, Sizes(shingler_of(items), marked))
    sizes = np.zeros(items.rows)
    sizes[measured.column("row")] = measured.column("size")

    def kinds_of(batch: pa.RecordBatch) -> _Kinds:
        a, b = (sizes[batch[side].to_numpy()] for side in ("a", "b"))
        similarity = batch["similarity"].to_numpy()
        shared = np.rint(similarity * (a + b) / (1 + similarity))
        return _counted(np.stack([shared, a, b]), np.ones(len(a), np.int64))

    # Pairs of equal sizes repeat.
    found = engine.fold(pairs, kinds_of, _together)
    if found is None or not len(found[1]):
        return np.empty(0), np.empty(0, np.int64)
    kinds, counts = found
    return cut.chance(*kinds), counts


#: What pairs share and the sizes of their sets, each kind of pair once, and how many there are of each.
_Kinds = tuple[F64, I64]


def _counted(kinds: F64, counts: I64) -> _Kinds:
    each, place = np.unique(kinds, axis=1, return_inverse=True)
    several = np.zeros(each.shape[1], np.int64)
    np.add.at(several, place.ravel(), counts)
    return each, several


def _together(one: _Kinds, other: _Kinds) -> _Kinds:
    """The kinds of both."""
    return _counted(np.concatenate([one[0], other[0]], axis=1), np.concatenate([one[1], other[1]]))


@dataclass(frozen=True)
class Fold:
    """A stage: items → a key a level and band (`bucket`, `row`), at the levels that suit each set's size."""

    shingler: _core.Shingler | None
    bands: int
    rows: int
    seed: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sets = sets_of(batch, self.shingler)
        first, last = levels(np.diff(sets.offsets))
        keys, of = _core.pyramid_keys(
            (sets.elements, sets.offsets), first, last, bands=self.bands, rows=self.rows, seed=self.seed
        )
        row = batch["row"].to_numpy().astype(np.uint32)[of]
        return pa.record_batch({"bucket": pa.array(keys), "row": pa.array(row)})
