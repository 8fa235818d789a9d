"""Some rows of a table, by their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from lookalike.types import Bools


@dataclass(frozen=True, eq=False)
class Only:
    """A stage: keeps the rows whose number is marked. `light` suits short rows, which are soon copied."""

    marked: Bools
    light: bool = False

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.filter(pa.array(self.marked[batch["row"].to_numpy()]))
