"""Tables that a run settles: one that is killed and goes on finds them again (`runs.ledger`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.spill import OnDisk
from lookalike.engines.verbs import Table
from lookalike.runs.header import damaged
from lookalike.runs.ledger import Ledger
from lookalike.runs.space import RESUMABLE, require_space
from lookalike.runs.stored import StoredTable


class Settled(OnDisk):
    """A batch of a table that a run has settled."""

    numbers = None
    widths = None

    def __init__(self, table: StoredTable, place: int) -> None:
        self._table = table
        self._place = place
        #: Several times as fast as the one in the file, and taken of bytes that were right by that.
        self._checksum: int | None = None
        self.num_rows = table.batch_rows[place]
        # All of a table's batches are about as wide.
        self.nbytes = table.nbytes * self.num_rows // max(1, table.rows)

    def load(self) -> pa.RecordBatch:
        """Read it, checked: against the file's own checksum first, then against one taken of that."""
        stored = self._table.block(self._place, check=self._checksum is None)
        checksum = _core.checksum(np.frombuffer(stored, np.uint8))
        if self._checksum is None:
            self._checksum = checksum
        elif checksum != self._checksum:
            raise damaged(
                str(self._table.path), f"batch {self._place} is not what it was when it was checked"
            )
        return self._table.decoded(stored)


def stored_table(stored: StoredTable) -> Table:
    """A stored table where it lies, each batch read and checked when it is asked for."""
    return Table([Settled(stored, place) for place in range(len(stored.batch_rows))], stored.schema)


def settle(ledger: Ledger, name: str, make: Callable[[], Table]) -> Table:
    """The table that was settled under a name, or the one made now."""
    made: list[Table] = []

    def batches() -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
        made.append(make())
        require_space(ledger.folder, made[0].batches.nbytes, f"stage {name}", advice=RESUMABLE)
        return made[0].schema, made[0].batches

    stored = ledger.step(name, batches)
    if made and made[0].batches.at_hand:
        return made[0]
    # What was spilled is now here, and need not be on disk twice.
    return stored_table(stored)
