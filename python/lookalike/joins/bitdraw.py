"""What a run by bands of bits knows of its own draw: how found pairs differ, and what an exact look shows.

The bits in which a pair differs say in which bands it agrees, large buckets or not, so no key is kept. Pairs
that differ in the same bits are counted together. Of more than `MOST` words of differences those of the
pairs with the least hashes of both rows are looked at, which depends on no order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import Engine, Held, Table
from lookalike.families import DealtBits
from lookalike.families.dealtbits import mask_words
from lookalike.joins.bitchoice import TakeBits
from lookalike.joins.bitrows import BitItems, Digest, FoundBits, all_words, bits_column, words_of
from lookalike.joins.exact_look import LOOKED_AT
from lookalike.joins.least import Least
from lookalike.theory.added_bands import ExactLook
from lookalike.theory.recall_of_bits import BitsDraw
from lookalike.types import I64, U64, Bools

#: Words of differences that are looked at: more would tell little more.
MOST = 1 << 12
#: And so many pairs at least.
_LEAST = 1 << 10
#: So many pairs of a few rows that differ in the same bits are a kind, and no coincidence.
_A_KIND = 3


@dataclass(frozen=True, eq=False)
class Differences:
    """In which bits pairs differ: distinct rows of words, and how many pairs differ so."""

    words: U64
    counts: I64

    def met(self, masks: U64) -> Bools:
        """In which bands such pairs agree: a row a difference, a column a band."""
        agree = np.ones((len(self.words), len(masks)), np.bool_)
        for word in range(self.words.shape[1]):
            agree &= (self.words[:, word, None] & masks[:, word]) == 0
        return agree

    def to_table(self) -> Table:
        """As a table that can be settled."""
        batch = pa.record_batch({"bits": bits_column(self.words), "count": pa.array(self.counts)})
        return Table((batch,), batch.schema)

    @classmethod
    def from_table(cls, table: Table) -> Differences:
        """Read back what `to_table` made."""
        return cls(all_words(table.batches), table.column("count"))

    @classmethod
    def of(cls, words: U64) -> Differences:
        """Count the differences of pairs, a row each."""
        if words.shape[1] == 1:
            distinct, counts = np.unique(words[:, 0], return_counts=True)
            return cls(distinct.reshape(-1, 1), counts.astype(np.int64))
        distinct, counts = np.unique(words, axis=0, return_counts=True)
        return cls(np.ascontiguousarray(distinct), counts.astype(np.int64))


def draw_of_bits(engine: Engine, items: BitItems, met: FoundBits, draws: Sequence[DealtBits]) -> BitsDraw:
    """What the pairs tell that bands of all draws found; the counts are settled."""
    settled = engine.settle(f"hits-{len(draws) - 1}", lambda: _differences(engine, items, met).to_table())
    differences = Differences.from_table(settled)
    masks = mask_words(draws)
    return BitsDraw(
        bits=items.width,
        bandings=[draw.banding for draw in draws],
        bands=unpacked(masks, items.width),
        differs=unpacked(differences.words, items.width),
        counts=differences.counts,
        met=differences.met(masks),
    )


def _differences(engine: Engine, items: BitItems, met: FoundBits) -> Differences:
    a, b = met.a, met.b
    most = max(_LEAST, MOST // items.words)
    if len(a) > most:
        stage = HashOfBoth(Digest(items.width))
        hashed = engine.fetch(items.table, Table.of(a=a, b=b), ("a", "b"), stage).column("hash")
        chosen = np.argpartition(hashed, most)[:most]
        a, b = a[chosen], b[chosen]
    differing = engine.fetch(items.table, Table.of(a=a, b=b), ("a", "b"), Differing())
    return Differences.of(all_words(differing.batches) if len(a) else _nothing(items))


@dataclass(frozen=True)
class Differing:
    """A stage for `fetch`: pairs → the bits in which they differ."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        words = held.whole(all_words)
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        return pa.record_batch({"bits": bits_column(words[a] ^ words[b])})


@dataclass(frozen=True)
class HashOfBoth:
    """A stage for `fetch`: pairs → a hash of the bits of both rows."""

    digest: Digest

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        content = held.whole(self._contents)
        both = content[held.at(batch["a"].to_numpy())] + content[held.at(batch["b"].to_numpy())]
        return pa.record_batch({"hash": pa.array(_core.mix_integers(both, seed=0, threads=1))})

    def _contents(self, batches: Sequence[pa.RecordBatch]) -> U64:
        return np.concatenate([self.digest(batch)["content"].to_numpy() for batch in batches])


@dataclass(frozen=True, eq=False)
class Looked:
    """How the near pairs differ of rows that were compared with all others exactly."""

    rows: int
    differences: Differences

    def outcome(self, draws: Sequence[DealtBits]) -> ExactLook:
        """What the look showed, now that there are these bands."""
        counts, met = self.differences.counts, self._met(draws)
        return ExactLook(rows=self.rows, near=int(counts.sum()), found=int(counts[met].sum()))

    def lost_a_kind(self, draws: Sequence[DealtBits]) -> bool:
        """Whether several pairs that differ in the same bits agree in no band: chance does not do that."""
        return bool((self.differences.counts[~self._met(draws)] >= _A_KIND).any())

    def _met(self, draws: Sequence[DealtBits]) -> Bools:
        met: Bools = self.differences.met(mask_words(draws)).sum(axis=1) > 0
        return met


def look_exactly(
    engine: Engine, items: BitItems, radius: int, crowded: Callable[[], I64], *, count: int = LOOKED_AT
) -> Looked:
    """Compare so many rows with the least contents with all others, but for rows that are in a crowd."""

    def near() -> Table:
        alone = engine.unsettled()
        least = LeastOfBits(count, 0, 1 << 32, Digest(items.width), np.unique(crowded()))
        rows, found = least.drawn(alone, items.table), None
        if len(rows):
            few = all_words(alone.fetch(items.table, Table.of(row=rows), ("row",), TakeBits()).batches)
            found = alone.fold(items.table, NearFew(rows, few, radius, items.boundary), _both)
        table = Differences.of(_nothing(items) if found is None else found).to_table()
        return Table(table.batches, table.schema.with_metadata({_ROWS: str(len(rows))}))

    looked = engine.settle("looked", near)
    return Looked(int(looked.schema.metadata[_ROWS.encode()]), Differences.from_table(looked))


def unpacked(words: U64, width: int) -> Bools:
    """Rows of words as a column a bit."""
    bits = np.unpackbits(np.ascontiguousarray(words, "<u8").view(np.uint8), axis=1)
    return bits[:, :width].astype(np.bool_)


def _nothing(items: BitItems) -> U64:
    return np.empty((0, items.words), np.uint64)


def _both(one: U64, other: U64) -> U64:
    return np.concatenate([one, other])


@dataclass(frozen=True, eq=False)
class LeastOfBits(Least):
    """A stage for `fold`: rows with the least hashes of their bits, some left out."""

    digest: Digest
    left_out: I64

    def hashes(self, batch: pa.RecordBatch) -> tuple[U64, I64]:
        """Of those that are not left out."""
        rows = batch["row"].to_numpy()
        there = ~np.isin(rows, self.left_out)
        return self.digest(batch)["content"].to_numpy()[there], rows[there]


@dataclass(frozen=True, eq=False)
class NearFew:
    """A stage for `fold`: how the rows of a batch differ that are near one of a few rows."""

    rows: I64
    few: U64
    radius: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> U64:
        words, numbers = words_of(batch), batch["row"].to_numpy()
        i, j, _ = _core.bit_pairs(self.few, words, measure="hamming", threshold=self.radius)
        one, other = self.rows[i], numbers[j]
        real = one != other
        if self.boundary is not None:
            real &= (one < self.boundary) != (other < self.boundary)
        differing: U64 = self.few[i[real]] ^ words[j[real]]
        return differing


_ROWS = "rows"
