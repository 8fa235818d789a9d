"""What a run's own keys tell of its draw: in which bands the pairs that were found met.

Masks are taken from the keys of both rows, not from the buckets: large ones are not paired out. Of more than
`MOST` pairs those with the least hashes of the contents of both rows are looked at, so which they are depends
on no order, and the least of several parts are the least of all. 8 bytes a pair that was found, and 16 a pair
looked at, are with the driver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import contents, key_names
from lookalike.engines import Engine, Held, Table
from lookalike.theory.hits import Hits
from lookalike.theory.recall_of_draw import Draw
from lookalike.types import F64, I64, U64, Bools

#: Pairs whose masks are looked at: more would tell little more, and cost as much as was found.
MOST = 1 << 15


def draw_of(
    engine: Engine, keyed: Table, a: I64, b: I64, chances: F64, *, bands: int, settled: str = "hits"
) -> Draw:
    """What the pairs (a, b) tell that bands of `keyed` rows found and that reach the threshold.

    `chances` are the law's, of each pair, to agree in one band. A pair that shares no key is left out. The
    counts are `settled` under a name.
    """

    def counted() -> Table:
        return _as_table(_hits(engine, keyed, a, b, chances, bands))

    return Draw(hits=_as_hits(engine.settle(settled, counted), bands))


def meet(engine: Engine, keyed: Table, a: I64, b: I64, *, bands: int) -> Bools:
    """Which pairs (a, b) have the same key in some band."""
    asked = Table.of(a=a, b=b, chance=np.zeros(len(a)))
    found = engine.fetch(keyed, asked, ("a", "b"), InBands(bands))
    masks = _masks(found, bands)
    shared: Bools = (masks != 0).any(axis=1)
    return shared


def _hits(engine: Engine, keyed: Table, a: I64, b: I64, chances: F64, bands: int) -> Hits:
    if len(a) > MOST:
        hashed = engine.fetch(keyed, Table.of(a=a, b=b), ("a", "b"), HashOfPair()).column("hash")
        chosen = np.argpartition(hashed, MOST)[:MOST]
        a, b, chances = a[chosen], b[chosen], chances[chosen]
    items = Table.of(a=a, b=b, chance=chances)
    found = engine.fetch(keyed, items, ("a", "b"), InBands(bands))
    return Hits.of(found.column("chance"), _masks(found, bands), bands=bands)


def _as_table(hits: Hits) -> Table:
    words = {f"word{word}": masks for word, masks in enumerate(hits.masks.T)}
    return Table.of(level=hits.levels, count=hits.counts, **words)


def _as_hits(table: Table, bands: int) -> Hits:
    """Read back what `_as_table` made."""
    return Hits(
        bands=bands, levels=table.column("level"), masks=_masks(table, bands), counts=table.column("count")
    )


def _masks(table: Table, bands: int) -> U64:
    return np.stack([table.column(f"word{word}") for word in range(_words(bands))], axis=1)


@dataclass(frozen=True)
class InBands:
    """A stage for `fetch` from keyed rows: pairs → with the bands in which both rows have the same key."""

    bands: int

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        names = key_names(self.bands)
        keys = [[piece[name].to_numpy() for name in names] for piece in held.batches]
        masks = _core.shared_bands(keys, a, b)
        words = {f"word{word}": pa.array(masks[:, word]) for word in range(_words(self.bands))}
        return pa.record_batch({"chance": batch["chance"], **words})


@dataclass(frozen=True)
class HashOfPair:
    """A stage for `fetch` from keyed rows: pairs → a hash of the contents of both rows."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        content = held.whole(contents)
        both = content[held.at(batch["a"].to_numpy())] + content[held.at(batch["b"].to_numpy())]
        return pa.record_batch({"hash": pa.array(_core.mix_integers(both, seed=0, threads=1))})


def _words(bands: int) -> int:
    return -(-bands // 64)
