"""Blocks of rows as lines of a table, so that an engine can bring any two together, wherever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike.bands.buckets import run_starts
from lookalike.engines import Held
from lookalike.types import I64, U32, U64, concatenate

Matrix = npt.NDArray[Any]


def as_lines(blocks: U64, rows: I64, values: Matrix) -> pa.RecordBatch:
    """Rows that come a block after the other → a line a block: its number (`row`), `rows` and `values`."""
    starts = run_starts(blocks)
    flat = pa.array(values.reshape(-1))
    return pa.record_batch(
        {
            "row": pa.array(blocks[starts[:-1]].astype(np.int64)),
            "rows": pa.LargeListArray.from_arrays(pa.array(starts), pa.array(rows.astype(np.int64))),
            "values": pa.LargeListArray.from_arrays(pa.array(starts * values.shape[1]), flat),
        }
    )


@dataclass(frozen=True)
class CompareBlocks(ABC):
    """A stage for `fetch` from blocks: pairs of blocks → the pairs of their rows that are near enough."""

    boundary: int | None

    @abstractmethod
    def near(self, values: Matrix, others: Matrix | None) -> tuple[U32, U32, U32]:
        """Rows of two blocks, or of one, that are near enough, by their places, and what was counted."""

    @abstractmethod
    def column(self, counts: U32) -> dict[str, Matrix]:
        """What was counted as a column of pairs, by its name."""

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        first_of = np.concatenate([[0], np.cumsum([len(piece) for piece in held.batches])])
        found: list[tuple[I64, I64, U32]] = []
        places = (held.at(batch[side].to_numpy()).tolist() for side in ("a", "b"))
        for one, other in zip(*places, strict=True):
            rows, values = _block(held, first_of, one)
            others, more = (rows, None) if one == other else _block(held, first_of, other)
            i, j, counts = self.near(values, more)
            found.append((rows[i], others[j], counts))
        x, y = (concatenate((part[side] for part in found), np.int64) for side in (0, 1))
        a, b = np.minimum(x, y), np.maximum(x, y)
        columns = {"a": a, "b": b, **self.column(concatenate((part[2] for part in found), np.uint32))}
        pairs = pa.record_batch({name: pa.array(column) for name, column in columns.items()})
        if self.boundary is None:
            return pairs
        return pairs.filter(pa.array((a < self.boundary) & (b >= self.boundary)))


def _block(held: Held, first_of: I64, place: int) -> tuple[I64, Matrix]:
    """The rows of the block that stands at a place, and their values."""
    piece = int(np.searchsorted(first_of, place, side="right")) - 1
    batch, line = held.batches[piece], place - int(first_of[piece])
    rows = batch["rows"][line].values.to_numpy()
    return rows, batch["values"][line].values.to_numpy().reshape(len(rows), -1)
