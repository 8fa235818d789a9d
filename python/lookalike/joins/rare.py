"""Texts → sets of their rarest words, where the shingle asks for them; joins go on as over any sets."""

from __future__ import annotations

from dataclasses import replace
from operator import add

import pyarrow as pa

from lookalike.engines import Engine, Table
from lookalike.joins.items import Items
from lookalike.runs.watch import Watch
from lookalike.shingles import CountDocuments, RarestWords, add_frequencies, no_frequencies
from lookalike.types import list_buffers


def by_rarest_words(items: Items, *, engine: Engine, watch: Watch) -> Items:
    """Items as they are to be joined: sets of rare words, or as they were if all shingles count.

    Two passes over the texts: one counts in how many documents each word occurs (of two collections, over
    both), one picks. What the driver holds of it is the table of counts, which does not grow.
    """
    shingle = items.shingle
    if shingle is None or shingle.rare is None:
        return items

    def rarest() -> Table:
        counted = engine.fold(items.table, CountDocuments(shingle, items.seed), add_frequencies)
        frequencies = no_frequencies() if counted is None else counted
        return engine.map(items.table, RarestWords(shingle, items.seed, frequencies), advance=advance)

    with watch.stage("rare words", items.rows, size=items.bytes) as advance:
        table = engine.settle("rare", rarest)
    held = engine.fold(table, _element_bytes, add)
    return replace(items, table=table, bytes=held or 0, shingle=None)


def _element_bytes(batch: pa.RecordBatch) -> int:
    elements, offsets = list_buffers(batch["elements"])
    return elements.itemsize * int(offsets[-1] - offsets[0])
