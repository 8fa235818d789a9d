"""A memory budget: which tables stay in memory, and how much a verb may work with.

Half of the budget is for tables. A batch that no longer fits in it goes to disk as it is committed; what is
in memory counts until nobody holds it any more. The other half is for the verb at work.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from lookalike.engines.spill import Batches, Piece, SpillFile
from lookalike.engines.verbs import Table
from lookalike.errors import OptionError
from lookalike.runs.sizes import default_budget

#: Less than this, and a budget could not hold the batches that threads have in hand.
LEAST = 16_000_000


class Budget:
    """How much memory tables and verbs may take.

    Parameters
    ----------
    size
        In bytes, above what Python itself needs; half of what is free by default.
    scratch
        The folder for what does not fit; the system's one for temporary files by default.
    """

    def __init__(self, size: int | None = None, scratch: Path | None = None) -> None:
        if size is not None and size < LEAST:
            raise OptionError(
                f"memory={size:,} bytes is too little to work with: allow {LEAST // 10**6} MB or more"
            )
        self.size = max(LEAST, default_budget()) if size is None else size
        self.scratch = scratch
        self._held = 0
        self._lock = threading.Lock()

    @property
    def for_a_verb(self) -> int:
        """What a verb may work with."""
        return self.size // 2

    def commit(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Table:
        """Hold batches as a table, in memory while there is room."""
        pieces: list[Piece] = []
        file = None
        for batch in batches:
            if not len(batch):
                continue
            if self._take(batch):
                pieces.append(batch)
            else:
                file = file or SpillFile(schema, self.scratch)
                pieces.append(file.append(batch))
        return Table(Batches(pieces), schema)

    def _take(self, batch: pa.RecordBatch) -> bool:
        size = batch.nbytes
        with self._lock:
            if self._held + size > self.size // 2:
                return False
            self._held += size
        weakref.finalize(batch, self._give_back, size).atexit = False
        return True

    def _give_back(self, size: int) -> None:
        with self._lock:
            self._held -= size
