"""The most similar of every row: exactly where that is affordable, else by candidates, and how well.

    exact   every two rows that share anything are counted (`nearest`)
    lsh     sign        every row
            copies      same shingle set: found once, handed to all (`classes`)
            candidates  rows side by side where they share a slot (`beside`), the likeliest of each row
                        by their signatures
            verify      the exact similarity of every candidate, and the best of each row
            measure     the true neighbours of a few rows, to say what share was found (`measured`)

Similarities are exact on both roads; the second may miss neighbours, the more the less similar they are.
Memory: that of `nearest`, or of `beside`, 4 bytes a slot, 40 a pair that stands side by side in some slots at
a time, and 16 a candidate of every row; the driver holds 12 bytes a row and the answer, 24 a neighbour.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from lookalike.bands.buckets import packed, rows_of, run_starts
from lookalike.engines import Engine, Held, Table
from lookalike.families import MinHash
from lookalike.joins.beside import REACH, most_beside, side_by_side
from lookalike.joins.best import Worst, best, lines_of, similarity_of
from lookalike.joins.classes import Classes
from lookalike.joins.copies import representatives
from lookalike.joins.flags import EMPTY
from lookalike.joins.items import Items
from lookalike.joins.measured import MeasuredRecall, measured_recall
from lookalike.joins.nearest import Effort, effort, nearest, nearest_of
from lookalike.joins.sample import least_glances
from lookalike.measures.candidates import Agreement, Exact
from lookalike.runs.watch import Watch
from lookalike.types import F64, I64, U8, Bools

Method = Literal["exact", "lsh"]

#: Candidates of a row that are verified, for each neighbour asked for.
TRIED = 6
#: Rows whose true neighbours are looked for to measure recall.
SAMPLE_ROWS = 200
#: Nanoseconds of one core on the second road: a row and slot, a pair side by side there, a candidate that is
#: verified, and a byte of its text.
SLOT_NS, PAIR_NS, TRIED_NS, BYTE_NS = 300.0, 500.0, 600.0, 1.1
#: Seconds of one core that the exact road may take even if the other would take fewer.
PATIENCE = 30.0


@dataclass(frozen=True, kw_only=True)
class TopAccount:
    """What was done to find the most similar, and how well.

    Attributes
    ----------
    method
        The road taken.
    items, empty
        Rows there are, and those that hold nothing.
    copies
        Rows that are exact copies of others; None where that was not looked at.
    elements
        Of all sets together.
    candidates
        Pairs of rows whose similarity was counted; None for exact, where all were that share anything.
    exact_seconds, lsh_seconds
        What the roads were expected to take of one core.
    recall
        As measured on a sample; None for exact, where nothing is missing.
    """

    method: Method
    items: int
    empty: int
    copies: int | None
    elements: int
    candidates: int | None
    exact_seconds: float
    lsh_seconds: float
    recall: MeasuredRecall | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {**asdict(self), "recall": None if self.recall is None else self.recall.to_dict()}


@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbours:
    """Neighbours by row numbers, sorted by `row`, then by rank: most similar first, of equals the lower."""

    row: I64
    other: I64
    similarity: F64
    account: TopAccount


def top(
    items: Items, k: int, *, family: MinHash, method: Method | None, engine: Engine, watch: Watch
) -> Neighbours:
    """Find the `k` most similar items of every item; none that shares nothing with it.

    Of two collections: the neighbours that items of the first have in the second. `method` is chosen by what
    the roads are expected to cost if it is None.
    """
    with watch.stage("weigh", items.rows, size=items.bytes):
        cost = Effort.from_table(engine.settle("weighed", lambda: effort(items, engine).to_table()))
    by_lsh = lsh_seconds(items, k, family.slots, cost)
    if method is None:
        method = "exact" if cost.seconds <= max(PATIENCE, by_lsh) else "lsh"
    if method == "exact":
        lines = engine.settle("neighbours", lambda: nearest(items, k, engine=engine, watch=watch))
    else:
        lines = engine.settle("neighbours", lambda: _by_candidates(items, k, family, engine, watch))
    row, other, similarity = _in_order(lines)
    recall = None
    if method == "lsh":

        def measured() -> Table:
            return Table.of(json=[json.dumps(_measured(items, k, row, similarity, engine).to_dict())])

        with watch.stage("measure", items.rows, size=items.bytes):
            stored = engine.settle("measured", measured).batches[0]["json"][0].as_py()
            recall = MeasuredRecall.from_dict(json.loads(stored))
    account = TopAccount(
        method=method,
        items=items.rows,
        empty=cost.empty,
        copies=_counted(lines, "copies"),
        elements=cost.elements,
        candidates=_counted(lines, "candidates"),
        exact_seconds=cost.seconds,
        lsh_seconds=by_lsh,
        recall=recall,
    )
    return Neighbours(row=row, other=other, similarity=similarity, account=account)


def lsh_seconds(items: Items, k: int, slots: int, cost: Effort) -> float:
    """What the second road is expected to take of one core."""
    # What a row shares with all others, over the size of two rows: with so many it agrees in a slot.
    agreeing = (cost.meetings / max(1, cost.elements) - 1) / 2
    beside = SLOT_NS + min(agreeing / 2, REACH) * PAIR_NS
    bytes_per_row = items.bytes / max(1, items.rows)
    # As if those it meets at all were a quarter like it.
    tried = min(TRIED * k, 4 * agreeing) * (TRIED_NS + 2 * bytes_per_row * BYTE_NS)
    return items.rows * (slots * beside + tried) * 1e-9


def _by_candidates(items: Items, k: int, family: MinHash, engine: Engine, watch: Watch) -> Table:
    """Neighbours as lines; the table says how many rows are copies, and how many candidates were verified."""
    with watch.stage("sign", items.rows, size=items.bytes) as advance:
        signed = engine.map(items.table, items.sign(family), advance=advance, settled="signed")
        filled = (_flags(signed, items.rows) & EMPTY) == 0
    with watch.stage("copies", items.rows):
        settled = engine.settle(
            "copies", lambda: Table.of(representative=representatives(engine, items, signed, filled))
        )
        representative: I64 = settled.column("representative")
        marked = filled & (representative == np.arange(items.rows))
        classes = Classes.of(representative, filled, items.boundary)
    sides = items.sides(representative)

    def found() -> Table:
        beside = side_by_side(engine, signed, marked, sides, slots=family.slots)
        return likeliest(engine, signed, beside, TRIED * k, rows=items.rows, both_ways=sides is None)

    with watch.stage("candidates", int(np.count_nonzero(marked))):
        candidates = engine.settle("candidates", found)
    with watch.stage("verify", candidates.rows, unit="candidates") as advance:
        check = Verify(items.exact(at_least=0.0), classes)
        lines = engine.fetch(items.table, candidates, ("a", "b"), check, advance=advance)
        own = classes.own()
        near = best(engine, Table.together([lines, Table((own,), own.schema)]), k + 1, most=TRIED * k + 1)
        handed = classes.hand_out(engine, near, k)
    counts = {"copies": np.count_nonzero(filled & ~marked), "candidates": candidates.rows}
    told = {name: str(count) for name, count in counts.items()}
    return Table(handed.batches, handed.schema.with_metadata(told))


def _counted(lines: Table, name: str) -> int | None:
    """What a table of neighbours says of how they were found; None if that was not counted."""
    told = (lines.schema.metadata or {}).get(name.encode())
    return None if told is None else int(told)


def likeliest(
    engine: Engine, signed: Table, tables: Iterable[Table], count: int, *, rows: int, both_ways: bool
) -> Table:
    """Of pairs (`a`, `b`) those that are among the `count` of a row whose signatures agree most with its own.

    Pairs come a table at a time, and only the best of all before are held beside one. Each comes once in the
    end, and `ways` says who asks: 1 if `a` does, 2 if `b` does, 3 if both.
    """
    most = most_beside(signed.schema.field("slots").type.list_size)
    worst = Worst(rows, count)
    kept: Table | None = None
    for pairs in tables:
        agreeing = engine.fetch(signed, pairs, ("a", "b"), Agreement(0.0))
        lines = engine.map(agreeing, Directed(both_ways, worst))
        del agreeing
        so_far = lines if kept is None else Table.together([kept, lines])
        kept = best(engine, so_far, count, most=most + count)
        engine.write(kept, worst.of)
    assert kept is not None
    return engine.group(engine.map(kept, Asked(both_ways)), "pair", once, most=2)


@dataclass(frozen=True, eq=False)
class Directed:
    """A stage: pairs → lines, as similar as signatures agree; `both_ways` from each of the two.

    Lines that come behind the `worst` of their row so far are left out.
    """

    both_ways: bool
    worst: Worst

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        a, b, estimate = (batch[name].to_numpy() for name in ("a", "b", "similarity"))
        if self.both_ways:
            a, b, estimate = np.concatenate([a, b]), np.concatenate([b, a]), np.tile(estimate, 2)
        return self.worst.better(lines_of(a, b, estimate))


@dataclass(frozen=True)
class Asked:
    """A stage: lines → pairs and who asks (`pair`, `ways`)."""

    light: ClassVar[bool] = True

    both_ways: bool

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        row, other = batch["row"].to_numpy(), batch["other"].to_numpy()
        turned = (row > other) & self.both_ways
        a, b = np.where(turned, other, row), np.where(turned, row, other)
        return pa.record_batch({"pair": pa.array(packed(a, b)), "ways": pa.array(np.where(turned, 2, 1))})


def once(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A stage over grouped pairs: candidates `a`, `b`, and who of them asks (`ways`)."""
    pairs, ways = batch["pair"].to_numpy(), batch["ways"].to_numpy()
    starts = run_starts(pairs)[:-1]
    a, b = rows_of(pairs[starts])
    columns = {"a": a, "b": b, "ways": np.add.reduceat(ways, starts) if len(starts) else ways}
    return pa.record_batch({name: pa.array(column) for name, column in columns.items()})


@dataclass(frozen=True, eq=False)
class Verify:
    """A stage for `fetch`: candidates → lines of those who ask, with the exact similarity."""

    exact: Exact
    classes: Classes

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        similarity = self.exact(batch, held)["similarity"].to_numpy()
        a, b, ways = (batch[name].to_numpy() for name in ("a", "b", "ways"))
        # Rows that met by a slot alone, of different elements with one hash there, may share nothing.
        forth, back = (np.flatnonzero((ways & way > 0) & (similarity > 0)) for way in (1, 2))
        asks, other = np.concatenate([a[forth], b[back]]), np.concatenate([b[forth], a[back]])
        named = self.classes.first_offered(other)
        return lines_of(asks, named, np.concatenate([similarity[forth], similarity[back]]))


def _flags(signed: Table, rows: int) -> U8:
    flags = np.zeros(rows, np.uint8)
    for batch in signed.batches:
        flags[batch["row"].to_numpy()] = batch["flags"].to_numpy()
    return flags


def _in_order(lines: Table) -> tuple[I64, I64, F64]:
    row, other = lines.column("row").astype(np.int64), lines.column("other").astype(np.int64)
    unlike = lines.column("unlike")
    order = np.lexsort((other, unlike, row))
    return row[order], other[order], similarity_of(unlike[order])


def _measured(items: Items, k: int, row: I64, similarity: F64, engine: Engine) -> MeasuredRecall:
    asking = items
    if items.boundary is not None:
        asking = replace(items, table=engine.map(items.table, Before(items.boundary)))
    _, drawn = least_glances(engine, asking, SAMPLE_ROWS)
    drawn = np.sort(drawn)
    true_rows, _, true_similarity = nearest_of(items, drawn, k, engine=engine)
    among: Bools = np.isin(row, drawn)
    return measured_recall(len(drawn), (true_rows, true_similarity), (row[among], similarity[among]))


@dataclass(frozen=True)
class Before:
    """A stage: the rows before a boundary."""

    light: ClassVar[bool] = True

    boundary: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.filter(pa.array(batch["row"].to_numpy() < self.boundary))
