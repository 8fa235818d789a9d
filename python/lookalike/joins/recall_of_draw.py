"""What a run's own keys tell of its draw: in which bands the pairs that were found met.

Masks are taken from the keys of both rows, not from the buckets: large ones are not paired out. Of more than
`MOST` pairs those with the least hashes of the contents of both rows are looked at, so which they are depends
on no order, and the least of several parts are the least of all. Only what is looked at comes to the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import contents, key_names
from lookalike.engines import Engine, Held, Table
from lookalike.joins.pair_tables import by_rows
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
        least = _least_pairs(engine, keyed, Table.of(a=a, b=b, chance=chances))
        return _as_table(_hits(engine, keyed, least, bands))

    return Draw(hits=_as_hits(engine.settle(settled, counted), bands))


def draw_of_pairs(
    engine: Engine,
    keyed: Table,
    near: Table,
    chances_of: Callable[[F64], F64],
    *,
    bands: int,
    settled: str = "hits",
) -> Draw:
    """The same of a table of pairs, however many; `chances_of` says of their values the law's chances."""

    def counted() -> Table:
        least = _least_pairs(engine, keyed, engine.map(near, by_rows))
        chances = chances_of(least.column("value"))
        items = Table.of(a=least.column("a"), b=least.column("b"), chance=chances)
        return _as_table(_hits(engine, keyed, items, bands))

    return Draw(hits=_as_hits(engine.settle(settled, counted), bands))


def meet(engine: Engine, keyed: Table, a: I64, b: I64, *, bands: int, settled: str) -> Bools:
    """Which pairs (a, b) have the same key in some band; `settled` under a name."""

    def met() -> Table:
        asked = Table.of(a=a, b=b, chance=np.zeros(len(a)))
        masks = _masks(engine.fetch(keyed, asked, ("a", "b"), InBands(bands)), bands)
        return Table.of(met=(masks != 0).any(axis=1))

    shared: Bools = engine.settle(settled, met).column("met").astype(np.bool_)
    return shared


def _least_pairs(engine: Engine, keyed: Table, pairs: Table) -> Table:
    """Of pairs (`a`, `b` and more) the `MOST` with the least hashes of the contents of both rows."""
    if pairs.rows <= MOST:
        return pairs
    least = LeastHashes(MOST)
    chosen = engine.fold(engine.fetch(keyed, pairs, ("a", "b"), WithHashOfPair()), least, least.of_both)
    assert chosen is not None
    return Table((chosen,), chosen.schema)


def _hits(engine: Engine, keyed: Table, items: Table, bands: int) -> Hits:
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
class WithHashOfPair:
    """A stage for `fetch` from keyed rows: pairs → with a `hash` of the contents of both rows."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        content = held.whole(contents)
        both = content[held.at(batch["a"].to_numpy())] + content[held.at(batch["b"].to_numpy())]
        return batch.append_column("hash", pa.array(_core.mix_integers(both, seed=0, threads=1)))


@dataclass(frozen=True)
class LeastHashes:
    """A stage for `fold`: so many pairs with the least hashes, of equal ones those of the least rows."""

    light: ClassVar[bool] = True

    count: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if len(batch) <= self.count:
            return batch
        hashes = batch["hash"].to_numpy()
        last = np.partition(hashes, self.count - 1)[self.count - 1]
        less, equal = np.flatnonzero(hashes < last), np.flatnonzero(hashes == last)
        # Mostly there is but one.
        ends = batch.select(["b", "a"]).take(pa.array(equal))
        equal = equal[np.lexsort(tuple(column.to_numpy() for column in ends.columns))]
        return batch.take(pa.array(np.concatenate([less, equal])[: self.count]))

    def of_both(self, one: pa.RecordBatch, other: pa.RecordBatch) -> pa.RecordBatch:
        """Those of both together."""
        return self(pa.concat_batches([one, other]))


def _words(bands: int) -> int:
    return -(-bands // 64)
