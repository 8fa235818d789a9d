"""A dry run: everything is read and signed, the bands are planned, and nothing is compared or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lookalike.applications.documents.collection import collect
from lookalike.applications.documents.options import DedupOptions, PairOptions
from lookalike.applications.documents.summary import rehearsal_lines, shingle_advice
from lookalike.applications.documents.units import collect_units
from lookalike.engines import Engine
from lookalike.families import MinHash
from lookalike.io import Source
from lookalike.joins.items import Items
from lookalike.joins.prepare import prepare
from lookalike.joins.rare import by_rarest_words
from lookalike.runs import Stage
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.theory import Plan


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What a run would begin with, and what it would cost.

    `advice` is what the user may want to change first. `expected_seconds` are those that bands and checks are
    expected to take on `threads` threads, beyond the reading and signing that `stages` tells; by the
    committed costs, which know nothing of the machine.
    """

    options: PairOptions
    plan: Plan
    documents: int
    #: Parts of documents that would be compared, if not documents.
    units: int | None
    unreadable: int
    empty: int
    short: int
    copies: int
    text_bytes: int
    threads: int
    advice: Sequence[str]
    stages: Sequence[Stage]

    @property
    def expected_seconds(self) -> float:
        """Seconds still to come in a run, without the writing."""
        assert self.plan.expected_cost is not None
        return self.plan.expected_cost / self.threads

    def summary(self) -> str:
        """A few lines for a person."""
        return "\n".join(rehearsal_lines(self.counts, self.plan, self.expected_seconds, self.stages))

    @property
    def counts(self) -> dict[str, int]:
        """What was counted, under the names that a run uses."""
        names = ("documents", "units", "unreadable", "empty", "short", "copies", "text_bytes")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "job": "dry-run",
            "parameters": self.options.to_dict(),
            "counts": self.counts,
            "plan": self.plan.to_dict(),
            "expected_candidates": self.plan.expected_candidates,
            "expected_seconds": self.expected_seconds,
            "stages": [asdict(stage) for stage in self.stages],
        }


def rehearse(source: Source, options: PairOptions, *, engine: Engine, watch: Watch) -> Rehearsal:
    """Read and sign a source once, and plan what a run would do with it."""
    collection = collect(source, engine, watch)
    table = collection.table
    if isinstance(options, DedupOptions) and options.unit != "document":
        with watch.stage("units", collection.rows):
            table = collect_units(collection, options.unit, engine).table
    items = Items(
        table=table,
        bytes=int(collection.text_bytes.sum()),
        shingle=Shingle.parse(options.shingle),
        seed=options.seed,
    )
    prepared = prepare(
        by_rarest_words(items, engine=engine, watch=watch),
        threshold=options.threshold,
        recall=options.recall,
        family=MinHash(slots=options.slots, seed=options.seed),
        engine=engine,
        watch=watch,
    )
    return Rehearsal(
        options=options,
        plan=prepared.plan,
        documents=collection.rows,
        units=None if table is collection.table else table.rows,
        unreadable=source.unreadable.rows,
        empty=prepared.empty,
        short=prepared.short,
        copies=prepared.copies,
        text_bytes=items.bytes,
        threads=engine.threads,
        advice=shingle_advice(
            options,
            texts=items.rows - prepared.empty,
            unspaced=prepared.unspaced,
            median_similarity=prepared.median_similarity,
        ),
        stages=watch.stages,
    )
