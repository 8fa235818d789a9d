"""A memory budget: which tables stay in memory, and how much a verb may work with.

Half of the budget is for tables and for what the driver sets aside for its arrays. A table that no longer
fits in it goes to disk from there on; what is in memory counts until nobody holds it any more. The other half
is for the verb at work.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa

from lookalike.engines.gather import joined
from lookalike.engines.spill import ADVICE, Batches, Piece, Spilled, SpillFile
from lookalike.engines.verbs import Table
from lookalike.errors import OptionError
from lookalike.runs.sizes import default_budget
from lookalike.runs.space import require_space
from lookalike.theory.ranges import whole

#: Less than this, and a budget could not hold the batches that threads have in hand.
LEAST = 16_000_000
#: Up to so many bytes, tables on disk share a file: a join may make more of them than a process may have
#: files open. A larger table goes on in one of its own, whose space is free again when the table is gone.
SHARED = 64_000_000
#: Batches on disk are cut to this part of the budget, so that each thread can have a few in hand,
_PIECES = 32
#: and to so many bytes: memory for more comes fresh from the system, zeroed page by page, with every batch.
LARGEST_PIECE = 4_000_000
#: A batch may keep so many bytes alive that it does not hold, for the copy to be spared.
_FEW = 1 << 16


#: Hands freed memory back to the system; only glibc has it.
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None


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
        number = max(LEAST, default_budget()) if size is None else whole(size)
        if number is None:
            raise OptionError(f"memory={size!r} is no number of bytes: give a whole number, such as {2**30}")
        if number < LEAST:
            raise OptionError(
                f"memory={number:,} bytes is too little to work with: allow {LEAST // 10**6} MB or more"
            )
        self.size = number
        self.scratch = scratch
        self._held = 0
        self._lock = threading.Lock()
        #: Sizes of batches that are gone. Those may go at any moment, even while the lock is held.
        self._gone: deque[int] = deque()
        self._shared: weakref.ref[SpillFile] | None = None

    @property
    def for_a_verb(self) -> int:
        """What a verb may work with."""
        return self.size // 2

    @property
    def held(self) -> int:
        """What tables take."""
        with self._lock:
            return self._counted()

    def commit(
        self,
        batches: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        *,
        expected: Callable[[], int] | None = None,
    ) -> Table:
        """Hold batches as a table, in memory while there is room; `expected` are its bytes, or fewer."""
        committing = Committing(self, expected=expected)
        for batch in batches:
            committing.add(batch)
        return Table(Batches(committing.done()), schema)

    def relieve(self, table: Table, *, whole: bool = False) -> Table:
        """Put as much of a table to disk, from its end, as tables have too much by now, or the `whole` of it.

        For a table that only the caller holds: what the driver set aside beside it has grown to the end.
        """
        pieces = list(table.batches.pieces)
        schema = table.schema
        del table
        spilling = Spilling(self)
        moved: list[Piece] = []
        while pieces and (whole or self.is_over):
            last = pieces.pop()
            moved[:0] = spilling.append(last) if isinstance(last, pa.RecordBatch) else [last]
            del last
        return Table(Batches([*pieces, *moved]), schema)

    def set_aside(self) -> Aside:
        """Room that the driver takes for arrays of its own."""
        return Aside(self)

    def give_back(self) -> None:
        """Hand back what Arrow and NumPy keep of the memory that a verb worked with, for others to have.

        glibc keeps what threads have freed, too, until it is asked.
        """
        pa.default_memory_pool().release_unused()
        if _TRIM is not None:
            _TRIM(0)

    def require_disk(self, size: float) -> None:
        """Refuse to set so many bytes aside on a disk that has no room for them.

        Raises
        ------
        OutputError
            Naming the folder, what is needed and what is free.
        """
        folder = Path(tempfile.gettempdir()) if self.scratch is None else self.scratch
        require_space(folder, int(size), "work that does not fit memory", advice=ADVICE)

    def shared_file(self) -> SpillFile:
        """The file that small tables share now."""
        with self._lock:
            file = None if self._shared is None else self._shared()
            if file is None or file.size > SHARED or file.owner != os.getpid():
                file = SpillFile(self.scratch)
                self._shared = weakref.ref(file)
            return file

    @property
    def is_over(self) -> bool:
        """Whether tables and arrays of the driver take more than their half."""
        return self.held > self.size // 2

    @property
    def piece_bytes(self) -> int:
        """How large batches on disk are: so that each thread can have a few in hand."""
        return min(LARGEST_PIECE, max(1 << 10, self.size // _PIECES))

    def take(self, batch: pa.RecordBatch) -> pa.RecordBatch | None:
        """Count a batch, or what is to be held in its place; None if there is no room."""
        size = batch.nbytes
        with self._lock:
            if self._counted() + size > self.size // 2:
                return None
            self._held += size
        batch = _on_its_own(batch)
        weakref.finalize(batch, self.shrink, size).atexit = False
        return batch

    def grow(self, size: int) -> None:
        """Count so much more, whether there is room or not."""
        with self._lock:
            self._held += size

    def shrink(self, size: int) -> None:
        """Count so much less. May be called at any moment."""
        self._gone.append(size)

    def _counted(self) -> int:
        while self._gone:
            self._held -= self._gone.popleft()
        return self._held


class Aside:
    """Bytes set aside for arrays of the driver, until nobody holds this."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._size = [0]
        weakref.finalize(self, lambda size: budget.shrink(size[0]), self._size).atexit = False

    def grow(self, size: int) -> None:
        """Set so many more bytes aside."""
        self._budget.grow(size)
        self._size[0] += size


class Committing:
    """A table on its way: batches are added in order, and may be on disk before they are.

    Parameters
    ----------
    of_rows, expected
        From how many rows of another table it is made, each as large as the next; or how many bytes it will
        have at least. With either the disk is asked for room when the table first needs it.
    """

    def __init__(
        self, budget: Budget, *, of_rows: int | None = None, expected: Callable[[], int] | None = None
    ) -> None:
        self._budget = budget
        self._spilling: Spilling | None = None
        self._of_rows, self._expected = of_rows, expected
        self._done = 0
        self._pieces: list[Piece] = []
        #: Small batches on their way to disk: whoever reads them has less to do with one large one.
        self._small: list[pa.RecordBatch] = []
        self._small_bytes = 0
        self._enough = budget.piece_bytes // 2

    def ahead(self, batch: pa.RecordBatch) -> pa.RecordBatch | list[Spilled]:
        """The batch, or where it is on disk if the table goes there anyway; for the thread that made it."""
        if self._spilling is None or batch.nbytes < self._enough:
            return batch
        return self._spilling.append(batch)

    def add(self, batch: pa.RecordBatch | list[Spilled], rows: int = 0) -> None:
        """Take the next batch, or what became of it `ahead`; it was made from so many rows."""
        self._done += rows
        if isinstance(batch, list):
            self._flush()
            self._pieces += batch
        elif len(batch):
            # Once on disk, always: a last small batch in memory would keep what it was cut from there too.
            taken = self._budget.take(batch) if self._spilling is None else None
            if taken is not None:
                self._pieces.append(taken)
                return
            if self._spilling is None:
                self._ask_for_room(batch.nbytes)
                self._spilling = Spilling(self._budget)
            self._small.append(batch)
            self._small_bytes += batch.nbytes
            if self._small_bytes >= self._enough:
                self._flush()

    def done(self) -> list[Piece]:
        """The table's batches, once all are added."""
        self._flush()
        return self._pieces

    def _flush(self) -> None:
        if self._small:
            assert self._spilling is not None
            self._pieces += self._spilling.append(joined(self._small))
            self._small, self._small_bytes = [], 0

    def _ask_for_room(self, size: int) -> None:
        """For what is to come, this batch included. Asked only now: it might all have fitted memory."""
        held = sum(piece.nbytes for piece in self._pieces)
        if self._expected is not None:
            self._budget.require_disk(max(size, self._expected() - held))
        elif self._of_rows is not None and self._done:
            to_come = (held + size) * max(0, self._of_rows - self._done) / self._done
            self._budget.require_disk(size + to_come)


class Spilling:
    """Batches on their way to disk, of one table or of its parts; from several threads at once."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._file = budget.shared_file()
        self._is_shared = True
        self._lock = threading.Lock()

    def append(self, batch: pa.RecordBatch) -> list[Spilled]:
        """Put a batch on disk, in pieces that are not too large."""
        return [self._append(piece) for piece in cut(batch, self._budget.piece_bytes)]

    def _append(self, batch: pa.RecordBatch) -> Spilled:
        with self._lock:
            if self._is_shared and self._file.size > SHARED:
                self._file, self._is_shared = SpillFile(self._budget.scratch), False
        return self._file.append(batch)


def cut(batch: pa.RecordBatch, most: int) -> list[pa.RecordBatch]:
    """A batch in even pieces of about so many bytes, or fewer."""
    rows = max(1, -(-len(batch) // max(1, -(-batch.nbytes // most))))
    return [batch.slice(start, rows) for start in range(0, len(batch), rows)]


def _on_its_own(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, or a copy if it would keep alive much more than it holds.

    A column of a batch that was read from disk keeps all of that batch, and narrow tables are made from wide
    ones.
    """
    whole: dict[int, int] = {}
    used = 0
    for buffer in (buffer for column in batch.columns for buffer in column.buffers()):
        if buffer is not None and buffer.parent is not None:
            root = buffer.parent
            while root.parent is not None:
                root = root.parent
            whole[root.address] = root.size
            used += buffer.size
    if sum(whole.values()) <= 2 * used + _FEW:
        return batch
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)
