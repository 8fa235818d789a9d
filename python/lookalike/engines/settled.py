"""Tables that a run settles: one that is killed and goes on finds them again (`runs.ledger`)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from itertools import chain

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.gather import joined
from lookalike.engines.memory import Budget
from lookalike.engines.spill import OnDisk
from lookalike.engines.verbs import Table
from lookalike.engines.widths import Widths, kept_widths
from lookalike.runs.header import damaged
from lookalike.runs.ledger import Ledger
from lookalike.runs.space import RESUMABLE, require_space
from lookalike.runs.stored import StoredTable


class Settled(OnDisk):
    """A batch of a table that a run has settled."""

    numbers = None

    def __init__(self, table: StoredTable, place: int) -> None:
        self._table = table
        self._place = place
        #: Several times as fast as the one in the file, and taken of bytes that were right by that.
        self._checksum: int | None = None
        #: Known once it has been read, as by whoever asks for the numbers of its rows.
        self.widths: Widths | None = None
        self.num_rows = table.batch_rows[place]
        # All of a table's batches are about as wide, though their rows may not be.
        self.nbytes = table.nbytes * self.num_rows // max(1, table.rows)

    def load(self) -> pa.RecordBatch:
        """Read it, checked: against the file's own checksum first, then against one taken of that."""
        stored = self._table.block(self._place, check=self._checksum is None)
        checksum = _core.checksum(np.frombuffer(stored, np.uint8))
        if self._checksum is None:
            batch = self._table.decoded(stored)
            self.widths, self._checksum = kept_widths(batch), checksum
            return batch
        if checksum != self._checksum:
            raise damaged(
                str(self._table.path), f"batch {self._place} is not what it was when it was checked"
            )
        return self._table.decoded(stored)


def stored_table(stored: StoredTable) -> Table:
    """A stored table where it lies, each batch read and checked when it is asked for."""
    return Table([Settled(stored, place) for place in range(len(stored.batch_rows))], stored.schema)


class Settling:
    """A table that is settled while it is made: nothing is spilled, and no passage comes after the last.

    Parameters
    ----------
    of_rows
        From how many rows of another table it is made, each as large as the next: the disk is asked for room
        when the first are there.
    """

    def __init__(self, ledger: Ledger, name: str, budget: Budget, *, of_rows: int) -> None:
        self._ledger, self._name, self._budget, self._of_rows = ledger, name, budget, of_rows
        #: What was made now, as long as all of it fits memory.
        self._held: list[pa.RecordBatch] | None = None

    def table(
        self, make: Callable[[], Generator[tuple[pa.RecordBatch, int]]], schema: Callable[[], pa.Schema]
    ) -> Table:
        """The table settled under this name, or made now: batches in order, each with of how many rows.

        Without a batch nothing says what is made: `schema` does.
        """

        def made() -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
            results = make()
            first = next(results, None)
            if first is None:
                return schema(), ()
            return first[0].schema, self._passed_on(first, results)

        self._held = None
        stored = self._ledger.step(self._name, made)
        held, self._held = self._held, None
        return stored_table(stored) if held is None else Table(held, stored.schema)

    def _passed_on(
        self, first: tuple[pa.RecordBatch, int], others: Generator[tuple[pa.RecordBatch, int]]
    ) -> Generator[pa.RecordBatch]:
        """Batches to be written, small ones joined: whoever reads them has less to do with a large one."""
        self._held = []
        small: list[pa.RecordBatch] = []
        size, enough = 0, self._budget.piece_bytes // 2
        # Closed whatever happens: an error that somebody keeps would keep threads and batches.
        with closing(others):
            self._ask_for_room(*first)
            for batch, _ in chain([first], others):
                self._hold(batch)
                small.append(batch)
                size += batch.nbytes
                if size >= enough:
                    yield joined(small)
                    small, size = [], 0
            if small:
                yield joined(small)

    def _hold(self, batch: pa.RecordBatch) -> None:
        taken = None if self._held is None else self._budget.take(batch)
        if taken is None:
            # What memory there is goes to tables that lie nowhere else.
            self._held = None
        elif self._held is not None:
            self._held.append(taken)

    def _ask_for_room(self, batch: pa.RecordBatch, rows: int) -> None:
        expected = batch.nbytes * self._of_rows // max(1, rows)
        require_space(self._ledger.folder, expected, f"stage {self._name}", advice=RESUMABLE)


def settle(ledger: Ledger, name: str, make: Callable[[], Table], *, soon: bool) -> Table:
    """The table that was settled under a name, or the one made now; see the verb."""
    made: list[Table] = []

    def batches() -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
        made.append(make())
        require_space(ledger.folder, made[0].batches.nbytes, f"stage {name}", advice=RESUMABLE)
        return made[0].schema, made[0].batches

    stored = ledger.step(name, batches)
    if soon and made and made[0].batches.at_hand:
        return made[0]
    # What was spilled is now here, and need not be on disk twice.
    return stored_table(stored)
