"""Stored Arrow tables: written and read a batch at a time, and no damaged batch is ever handed out.

    8 bytes   magic
    …         the schema, as an Arrow IPC stream without batches
    …         the batches, each an IPC stream of its own, so that any of them can be read alone
    …         description: the header; size, rows and checksum of each of the above, as JSON
    8 bytes   length of the description, little-endian
    16 bytes  checksum of the description and its length
    8 bytes   magic again

The description comes last because checksums are known only once the batches are written; a file that was cut
off has no end, and is refused at once. Blocks of data carry a CRC-32, which runs at the speed of memory and
misses no damage of up to 32 bits in a row. Every byte is under a checksum or compared.

For tables between the stages of a run. What a run leaves for its user is Parquet (`tables.py`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import FileIO
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, Literal

import pyarrow as pa

from lookalike.atomic import atomic_rename
from lookalike.errors import LookalikeError, SourceError
from lookalike.runs.header import Header, damaged

_MAGIC = b"LKALIKET"
_DIGEST_BYTES = 16
_END = 8 + _DIGEST_BYTES + len(_MAGIC)
_PIECE = 1 << 20


@dataclass(frozen=True)
class _Block:
    """One run of bytes of the file with a checksum of its own."""

    begin: int
    size: int
    rows: int
    checksum: int


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A table in a file, of which one batch at a time is in memory.

    Made by `write` or `open`. Every batch is checked as it is read, so threads may read different batches of
    one table at the same time, and a disk that fails later is noticed too.

    Examples
    --------
    >>> import tempfile
    >>> batches = pa.table({"row": [0, 1, 2]}).to_batches(max_chunksize=2)
    >>> path = Path(tempfile.mkdtemp()) / "rows"
    >>> stored = StoredTable.write(path, batches[0].schema, batches, Header(kind="rows", algorithm=1))
    >>> stored.batch_rows, stored.batch(1)["row"].to_pylist()
    ((2, 1), [2])
    """

    path: Path
    header: Header
    schema: pa.Schema
    _blocks: tuple[_Block, ...]

    @classmethod
    def write(
        cls,
        path: str | Path,
        schema: pa.Schema,
        batches: Iterable[pa.RecordBatch],
        header: Header,
        *,
        compression: Literal["lz4"] | None = None,
    ) -> StoredTable:
        """Write `batches` to `path` as they come; the file takes its name once it is whole and on disk.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with atomic_rename(path) as hidden, open(hidden, "xb") as file:
            file.write(_MAGIC)
            blocks = [_write_block(file, schema, None, options)]
            blocks.extend(_write_block(file, schema, batch, options) for batch in batches)
            file.write(_described(header, blocks))
        return cls.open(path, header)

    @classmethod
    def open(cls, path: str | Path, header: Header | None = None) -> StoredTable:
        """Open a stored table; with `header`, only one of its kind, algorithm version and parameters.

        Its description is checked here, every batch when it is read, all of them by `verify`.

        Raises
        ------
        ArtefactError
            If the file is damaged, not ours, or not what `header` asks for.
        SourceError
            If there is no such file, or it cannot be read.
        """
        path = Path(path)
        stored, blocks = _description(path)
        if header is not None:
            _require_same(stored, header, where=str(path))
        with pa.ipc.open_stream(_read_block(path, blocks[0])) as reader:
            return cls(path, stored, reader.schema, tuple(blocks[1:]))

    @property
    def batch_rows(self) -> tuple[int, ...]:
        """How many rows each batch has."""
        return tuple(block.rows for block in self._blocks)

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.batch_rows)

    @property
    def nbytes(self) -> int:
        """How many bytes of the file are batches."""
        return sum(block.size for block in self._blocks)

    def batch(self, index: int) -> pa.RecordBatch:
        """One batch, after checking all its bytes; they are in memory only as long as the batch is.

        Raises
        ------
        ArtefactError
            If its bytes are not those that were written.
        """
        return self.decoded(self.block(index))

    def block(self, index: int, *, check: bool = True) -> pa.Buffer:
        """The bytes of one batch; unchecked for those who have a checksum of their own."""
        return _read_block(self.path, self._blocks[index], check=check)

    @staticmethod
    def decoded(block: pa.Buffer) -> pa.RecordBatch:
        """The batch that a block's bytes are."""
        with pa.ipc.open_stream(block) as reader:
            return reader.read_next_batch()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches in order, each checked before it is handed out."""
        return (self.batch(index) for index in range(len(self._blocks)))

    def verify(self) -> bool:
        """Whether every byte of the file is as it was written; a file that is gone is not."""
        try:
            if self.open(self.path, self.header)._blocks != self._blocks:
                return False
            with _opened(self.path) as file:
                return all(_checksum_in(file, block) == block.checksum for block in self._blocks)
        except LookalikeError:
            return False


def _require_same(stored: Header, asked: Header, *, where: str) -> None:
    """Refuse a header that differs from the one asked for, be it by a parameter too many."""
    parameters = as_stored(asked.parameters)
    missing = dict.fromkeys(stored.parameters.keys() - parameters.keys())
    stored.require(
        where=where, kind=asked.kind, algorithm=asked.algorithm, parameters={**parameters, **missing}
    )


def as_stored(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as they come back from a file: JSON knows no tuples."""
    stored: dict[str, Any] = json.loads(json.dumps(dict(parameters), allow_nan=False))
    return stored


class _Summed:
    """A file for Arrow to write to, which keeps the size and the checksum of what goes through it."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = self.checksum = 0

    def write(self, content: Any) -> int:
        view = memoryview(content)
        self._file.write(view)
        self.size += view.nbytes
        self.checksum = zlib.crc32(view, self.checksum)
        return view.nbytes

    def flush(self) -> None:
        """Left to the file itself."""


def _write_block(
    file: BinaryIO, schema: pa.Schema, batch: pa.RecordBatch | None, options: pa.ipc.IpcWriteOptions
) -> _Block:
    begin, sink = file.tell(), _Summed(file)
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        if batch is not None:
            writer.write_batch(batch)
    return _Block(begin, sink.size, 0 if batch is None else batch.num_rows, sink.checksum)


def _described(header: Header, blocks: Sequence[_Block]) -> bytes:
    """The end of the file."""
    entries = [(block.size, block.rows, block.checksum) for block in blocks]
    text = json.dumps({"header": header.to_json(), "blocks": entries}, separators=(",", ":")).encode()
    length = len(text).to_bytes(8, "little")
    return text + length + _digest(text, length) + _MAGIC


def _description(path: Path) -> tuple[Header, list[_Block]]:
    where = str(path)
    with _opened(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        if size < len(_MAGIC) + _END or _exactly(file, len(_MAGIC), where) != _MAGIC:
            raise damaged(where, "it does not begin as a stored table")
        file.seek(size - _END)
        end = _exactly(file, _END, where)
        begin = size - _END - int.from_bytes(end[:8], "little")
        if not end.endswith(_MAGIC) or begin < len(_MAGIC):
            raise damaged(where, "its end is missing")
        file.seek(begin)
        text = _exactly(file, size - _END - begin, where)
    if _digest(text, end[:8]) != end[8 : 8 + _DIGEST_BYTES]:
        raise damaged(where, "the checksum of its description does not fit")
    described = json.loads(text)
    begins = list(accumulate((size for size, _, _ in described["blocks"]), initial=len(_MAGIC)))
    if begins[-1] != begin:
        raise damaged(where, "it is longer or shorter than it was written")
    blocks = [_Block(at, *entry) for at, entry in zip(begins, described["blocks"], strict=False)]
    return Header.from_json(described["header"], where=where), blocks


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[FileIO]:
    """The file for reading, without a buffer: blocks are large, and few."""
    try:
        with FileIO(path) as file:
            yield file
    except FileNotFoundError as error:
        raise SourceError(f"there is no file {path}: check the name") from error
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error


def _read_block(path: Path, block: _Block, *, check: bool = True) -> pa.Buffer:
    """The bytes of a block in one piece of memory, which Arrow reads where it lies."""
    buffer = pa.allocate_buffer(block.size)
    with _opened(path) as file, memoryview(buffer) as view:
        file.seek(block.begin)
        _fill(file, view, str(path))
        if check and zlib.crc32(view) != block.checksum:
            raise damaged(
                str(path), f"the checksum of {block.rows} rows from byte {block.begin} on does not fit"
            )
    return buffer


def _checksum_in(file: FileIO, block: _Block) -> int:
    """The checksum of a block as it lies in the file, read in small pieces."""
    file.seek(block.begin)
    checksum = 0
    with memoryview(bytearray(_PIECE)) as piece:
        for done in range(0, block.size, _PIECE):
            part = piece[: block.size - done]
            _fill(file, part, str(file.name))
            checksum = zlib.crc32(part, checksum)
    return checksum


def _exactly(file: FileIO, size: int, where: str) -> bytes:
    content = bytearray(size)
    with memoryview(content) as view:
        _fill(file, view, where)
    return bytes(content)


def _fill(file: FileIO, view: memoryview, where: str) -> None:
    """Read as many bytes as fit; the system may give fewer at a time, and never more than two gigabytes."""
    done = 0
    while done < len(view):
        read = file.readinto(view[done:])
        if not read:
            raise damaged(where, "it is shorter than it was written")
        done += read


def _digest(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"".join(parts), digest_size=_DIGEST_BYTES).digest()
