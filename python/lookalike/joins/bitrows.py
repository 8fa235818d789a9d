"""Rows of bits as a table, and exact copies among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Held, Table
from lookalike.joins.only import Only
from lookalike.types import I64, U32, U64, Bits

#: Rows of a batch: of 64 bits half a megabyte.
BATCH_ROWS = 1 << 16


def bits_column(words: U64) -> pa.Array:
    """Rows of words as a column: as numbers if they are one word each, for those are gathered fastest."""
    if words.shape[1] == 1:
        return pa.array(words[:, 0])
    kind = pa.binary(8 * words.shape[1])
    buffers = [None, pa.py_buffer(np.ascontiguousarray(words))]
    return pa.Array.from_buffers(kind, len(words), buffers)


def words_of(batch: pa.RecordBatch) -> U64:
    """The column `bits` as rows of words."""
    column = batch["bits"]
    if column.type == pa.uint64():
        numbers: U64 = column.to_numpy().reshape(-1, 1)
        return numbers
    width = column.type.byte_width // 8
    values = np.frombuffer(column.buffers()[1], np.uint64) if len(column) else np.empty(0, np.uint64)
    return values[column.offset * width :][: len(column) * width].reshape(-1, width)


def all_words(batches: Sequence[pa.RecordBatch]) -> U64:
    """The rows of all batches as one matrix."""
    parts = [words_of(batch) for batch in batches]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@dataclass(frozen=True, kw_only=True, eq=False)
class BitItems:
    """Rows of bits: `row` and `bits`. From the number `boundary` on they are of a second collection.

    Numbers may have gaps, so how many rows are `of_first` is kept apart.
    """

    table: Table
    width: int
    boundary: int | None = None
    of_first: int | None = None

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.table.rows

    @property
    def words(self) -> int:
        """64-bit words of a row."""
        return -(-self.width // 64)

    @classmethod
    def of(cls, engine: Engine, *collections: Bits) -> BitItems:
        """One collection that is in memory, or two of the same width."""
        first_rows = np.cumsum([0, *(len(bits) for bits in collections)]).tolist()
        tables = [
            bit_table(bits, engine, first_row=first)
            for bits, first in zip(collections, first_rows, strict=False)
        ]
        return cls.together(tables, collections[0].width)

    @classmethod
    def together(cls, tables: Sequence[Table], width: int) -> BitItems:
        """One table, or two whose rows are numbered one after the other."""
        boundary = tables[0].rows if len(tables) == 2 else None
        return cls(table=Table.together(tables), width=width, boundary=boundary, of_first=boundary)


def bit_table(bits: Bits, engine: Engine, *, first_row: int = 0) -> Table:
    """Bits that are in memory as a table, its rows numbered from `first_row`."""
    schema = pa.schema([("row", pa.int64()), ("bits", bits_column(bits.words[:0]).type)])

    def batches() -> Iterator[pa.RecordBatch]:
        for at in range(0, len(bits), BATCH_ROWS):
            words = bits.words[at : at + BATCH_ROWS]
            rows = np.arange(first_row + at, first_row + at + len(words), dtype=np.int64)
            yield pa.record_batch([pa.array(rows), bits_column(words)], schema=schema)

    return engine.scan(batches(), schema, lasting=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class DistinctBits:
    """Which rows go on, and how many bits each row has set: 12 bytes a row, with the driver."""

    items: BitItems
    #: Of every row: itself, or the row it is an exact copy of.
    representative: I64
    sizes: U32


def distinct_bits(items: BitItems, *, empty_too: bool, engine: Engine) -> DistinctBits:
    """Set exact copies aside, told within each of two collections; rows without a bit only if `empty_too`."""

    def told() -> Table:
        sizes = np.zeros(items.rows, np.uint32)
        representative = np.arange(items.rows, dtype=np.int64)
        digests = engine.map(items.table, Digest(items.width, items.boundary))
        for batch in digests.batches:
            sizes[batch["row"].to_numpy()] = batch["size"].to_numpy()
        same = engine.group(digests, "content", SameAsFirst(), order=("row",), least=2, repeat_first=True)
        representative[same.column("b")] = same.column("a")
        if not empty_too:
            representative[sizes == 0] = np.flatnonzero(sizes == 0)
        return Table.of(representative=representative, size=sizes)

    settled = engine.settle("copies", told)
    representative, sizes = settled.column("representative"), settled.column("size")
    going_on = representative == np.arange(items.rows)
    if not empty_too:
        going_on &= sizes > 0
    if going_on.all():
        return DistinctBits(items=items, representative=representative, sizes=sizes)
    table = engine.map(items.table, Only(going_on, light=True))
    of_first = None if items.boundary is None else int(np.count_nonzero(going_on[: items.boundary]))
    going = BitItems(table=table, width=items.width, boundary=items.boundary, of_first=of_first)
    return DistinctBits(items=going, representative=representative, sizes=sizes)


@dataclass(frozen=True)
class Digest:
    """A stage: rows → with `content`, the same for equal bits of one collection, and `size`, bits set."""

    width: int
    boundary: int | None = None
    everything: _core.BitMasks = field(init=False, compare=False)

    def __post_init__(self) -> None:
        positions = np.arange(self.width, dtype=np.uint32)
        masks = _core.BitMasks((positions, np.array([0, self.width])), words=-(-self.width // 64))
        object.__setattr__(self, "everything", masks)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        words = words_of(batch)
        content = self.everything.keys(words, 0, 1)[0]
        if self.boundary is not None:
            # The lowest bits of a key say of which mask it is, and there is but one.
            content |= (batch["row"].to_numpy() >= self.boundary).astype(np.uint64)
        columns = {"content": pa.array(content), "row": batch["row"], "bits": batch["bits"]}
        return pa.record_batch({**columns, "size": pa.array(_core.bit_sizes(words))})


@dataclass(frozen=True)
class SameAsFirst:
    """A stage over digests grouped by content: rows (`b`) with the same bits as the first of theirs (`a`)."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        words, rows = words_of(batch), batch["row"].to_numpy()
        starts = run_starts(batch["content"].to_numpy())
        first = np.repeat(starts[:-1], np.diff(starts))
        # A key holds 48 bits of hash: two rows in many millions may share it and be no copies.
        same = (words == words[first]).all(axis=1) & (first != np.arange(len(rows)))
        return pa.record_batch({"a": pa.array(rows[first[same]]), "b": pa.array(rows[same])})


@dataclass(frozen=True)
class NearBits:
    """A stage for `fetch`: candidates (`a`, `b`) → those that differ in at most `radius` bits (`apart`)."""

    radius: int

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        a, b = held.at(batch["a"].to_numpy()), held.at(batch["b"].to_numpy())
        shared, joint = _core.compare_bits(held.whole(all_words), a, b)
        apart = joint - shared
        compared = pa.record_batch({"a": batch["a"], "b": batch["b"], "apart": pa.array(apart)})
        return compared.filter(pa.array(apart <= self.radius))


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundBits:
    """Pairs of rows, sorted by `a`, then `b`, each once, and in how many bits they differ.

    `candidates` says how many pairs had a chance to be looked at.
    """

    a: I64
    b: I64
    apart: I64
    candidates: int

    @classmethod
    def of(cls, pairs: Table, candidates: int) -> FoundBits:
        """What a table of distinct pairs holds, brought to the driver and sorted."""
        a, b, apart = (pairs.column(name).astype(np.int64) for name in ("a", "b", "apart"))
        order = np.lexsort((b, a))
        return cls(a=a[order], b=b[order], apart=apart[order], candidates=candidates)
