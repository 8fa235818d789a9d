"""`auto` for measurements: ranges planned for a recall, or ranges that miss nothing, whichever costs less.

A few hundred rows are put in the buckets of both, so what both cost is seen in the same way: how many buckets
an item is in, how often two items share one, and how many pairs that are. Rows are drawn by a hash of what
they hold and of their number, copies as often as they occur, since copies are candidates here like any other
two. A crowd of items that all share a bucket is seen as what it is, all pairs of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands.buckets import run_starts
from lookalike.charts.numbers import seconds
from lookalike.engines import Engine, Table, as_it_is
from lookalike.errors import OptionError
from lookalike.families import Ranges
from lookalike.joins.least import Least
from lookalike.joins.ranges import RangeKeys, value_matrix
from lookalike.joins.sample import Sign
from lookalike.theory import Choice, RoadEstimate
from lookalike.theory.costs import EXACT_WORTH, seconds_for_ranges
from lookalike.types import I64, U64

#: Rows sampled of each side: over a hundred thousand pairs.
SAMPLE_ROWS = 512
_ODD = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass(frozen=True)
class LeastMeasured(Least):
    """A stage for `fold`: rows with the least hashes of their measurements and their number."""

    def hashes(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        """Of all rows."""
        rows = batch["row"].to_numpy()
        # 0 and −0 are one number.
        values = np.ascontiguousarray(value_matrix(batch) + 0.0)
        offsets = np.arange(len(values) + 1, dtype=np.int64) * values.shape[1] * values.itemsize
        held = _core.hash_strings((values.reshape(-1).view(np.uint8), offsets), seed=0, threads=1)
        return _core.mix_integers(held + rows.astype(np.uint64) * _ODD, seed=0, threads=1), rows


def choose_ranges(
    items: Table,
    planned: Ranges,
    exact: Callable[[], Ranges],
    *,
    boundary: int | None,
    engine: Engine,
) -> Choice:
    """Choose between ranges that keep a promise and ranges that miss nothing, if there are such."""

    def choice() -> Table:
        made = _choice(items, planned, exact, boundary, engine)
        return Table.of(json=[json.dumps(made.to_dict())])

    stored = json.loads(engine.settle("choice", choice).batches[0]["json"][0].as_py())
    roads = {name: RoadEstimate(**road) for name, road in stored["roads"].items()}
    return Choice(**(stored | {"roads": roads}))


def _choice(
    items: Table, planned: Ranges, exact: Callable[[], Ranges], boundary: int | None, engine: Engine
) -> Choice:
    try:
        others = exact()
    except OptionError as reason:
        return Choice(method="lsh", why=f"no ranges would miss nothing: {reason}", roads={})
    sampled = _Sampled.drawn(items, boundary, engine)
    roads = {"lsh": sampled.estimate(planned), "exact": sampled.estimate(others)}
    method = "exact" if roads["exact"].seconds <= EXACT_WORTH * roads["lsh"].seconds else "lsh"
    why = (
        f"ranges that miss nothing would take about {seconds(roads['exact'].seconds)} of one core, ranges"
        f" planned for a recall {seconds(roads['lsh'].seconds)}"
    )
    return Choice(method=method, why=why, roads=roads)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sampled:
    """A few rows, in order, and what they stand for."""

    batch: pa.RecordBatch
    #: Rows of the whole, and of the second collection if there are two.
    rows: int
    boundary: int | None

    @classmethod
    def drawn(cls, items: Table, boundary: int | None, engine: Engine) -> _Sampled:
        edges = [0, items.rows] if boundary is None else [0, boundary, items.rows]
        chosen = [
            LeastMeasured(count=SAMPLE_ROWS, first=first, last=last).drawn(engine, items)
            for first, last in pairwise(edges)
        ]
        asked = Table.of(row=np.concatenate(chosen))
        few = engine.fetch(items, asked, ("row",), Sign(as_it_is))
        nothing = pa.RecordBatch.from_pylist([], items.schema)
        batch = pa.concat_batches([nothing, *few.batches])
        order = np.argsort(batch["row"].to_numpy(), kind="stable")
        return cls(batch=batch.take(pa.array(order)), rows=items.rows, boundary=boundary)

    def estimate(self, ranges: Ranges) -> RoadEstimate:
        """What ranges are expected to cost."""
        numbers = self.batch["row"].to_numpy()
        few = len(numbers)
        first = few if self.boundary is None else int(np.searchsorted(numbers, self.boundary))
        keyed = RangeKeys(ranges)(self.batch)
        keys = keyed["bucket"].to_numpy()
        order = np.argsort(keys, kind="stable")
        place = np.searchsorted(numbers, keyed["row"].to_numpy()[order])
        starts = run_starts(keys[order])
        meets, meetings = np.zeros((few, few), np.bool_), 0
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            if end - start < 2:
                continue
            here = place[start:end]
            if self.boundary is None:
                meetings += (end - start) * (end - start - 1) // 2
                meets[np.ix_(here, here)] = True
            else:
                left, right = here[here < first], here[here >= first]
                meetings += len(left) * len(right)
                meets[np.ix_(left, right)] = True
        if self.boundary is None:
            pairs, total = few * (few - 1) / 2, self.rows * (self.rows - 1) / 2
            met = (float(meets.sum()) - float(meets.diagonal().sum())) / 2
        else:
            pairs, total = first * (few - first), self.boundary * (self.rows - self.boundary)
            met = float(meets.sum())
        each = total / max(1.0, pairs)
        spent = seconds_for_ranges(
            len(keys) * self.rows / max(1, few), meetings * each, met * each, ranges.dimensions
        )
        return RoadEstimate(seconds=spent, candidates=met * each)
