"""Stored Parquet tables: any Parquet reader opens them, and ours notices a single flipped bit.

The header lies in the file's key-value metadata under `lookalike`. Its checksum covers every byte of the
file, the footer included, taken with the checksum's own digits as zeros; so it can be written into the
finished file in place.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from lookalike.atomic import atomic_rename
from lookalike.errors import ArtefactError, SourceError
from lookalike.runs.header import MAGIC, Header, damaged

_DIGEST_BYTES = 16
#: A file is read so many bytes at a time.
_SOME_BYTES = 1 << 20
_BLANK = "0" * (2 * _DIGEST_BYTES)


def write_parquet(
    path: str | Path,
    table: pa.Table | Iterable[pa.RecordBatch],
    header: Header,
    *,
    schema: pa.Schema | None = None,
) -> None:
    """Write `table` to `path` atomically, under `header`; or batches and their `schema`."""
    import pyarrow.parquet as pq

    tables = [table] if isinstance(table, pa.Table) else (pa.Table.from_batches([batch]) for batch in table)
    schema = table.schema if isinstance(table, pa.Table) else schema
    if schema is None:
        raise TypeError("write_parquet needs schema= when it is given batches")
    # Metadata of the schema would follow the header in the footer, where the checksum must be the last of
    # its name.
    schema = schema.remove_metadata()
    blank = dataclasses.replace(header, checksum=_BLANK).to_json()
    with atomic_rename(path) as hidden:
        with pq.ParquetWriter(hidden, schema, compression="zstd") as writer:
            for part in tables:
                writer.write_table(part)
            # Not part of the Arrow schema: there it would be stored a second time, encoded, out of our reach.
            writer.add_key_value_metadata({MAGIC: blank})
        _fill_in_checksum(hidden)


def read_parquet(
    path: str | Path,
    *,
    kind: str | None = None,
    algorithm: int | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> tuple[pa.Table, Header]:
    """Read a table back with its header, after checking every byte of it.

    Raises
    ------
    ArtefactError
        If the file is damaged, not ours, or not of the asked kind, algorithm version or parameters.
    """
    import pyarrow.parquet as pq

    where = str(path)
    content = _content(Path(path))
    header = _checked_header(content, where)
    header.require(where=where, kind=kind, algorithm=algorithm, parameters=parameters)
    return pq.read_table(pa.BufferReader(content)), header


def read_header(path: str | Path) -> Header:
    """Read only the header of a stored table; the content is not checked."""
    where = str(path)
    return _header_of(_content(Path(path)), where)


def _content(path: Path) -> pa.Buffer:
    try:
        with pa.memory_map(str(path), "r") as file:
            return file.read_buffer()
    except FileNotFoundError as error:
        raise SourceError(f"there is no file {path}: check the name") from error
    except OSError as error:
        # An empty file cannot be mapped either.
        if path.is_file() and path.stat().st_size == 0:
            raise damaged(str(path), "it is empty") from error
        raise SourceError(f"cannot read {path}: {error}") from error


def _header_of(content: pa.Buffer, where: str) -> Header:
    import pyarrow.parquet as pq

    try:
        stored = pq.read_metadata(pa.BufferReader(content)).metadata or {}
    except Exception as error:
        # A damaged footer makes the Thrift decoder fail in many ways, MemoryError among them.
        raise damaged(where, "it is not a whole Parquet file") from error
    text = stored.get(MAGIC.encode())
    if text is None:
        raise ArtefactError(
            f"{where} is not a file of Lookalike (it has no header): name a file that a run has written"
        )
    return Header.from_json(text, where=where)


def _checked_header(content: pa.Buffer, where: str) -> Header:
    footer = content.slice(max(0, content.size - _footer_size(content, where))).to_pybytes()
    try:
        start, stored = _checksum_place(footer)
    except ValueError as error:
        # Perhaps a stranger's file, and then the header reader says so.
        _header_of(content, where)
        raise damaged(where, "its checksum is gone") from error
    begin = content.size - len(footer) + start
    if _digest(content, begin) != stored:
        _header_of(content, where)
        raise damaged(where, "its checksum does not fit")
    return _header_of(content, where)


def _footer_size(content: pa.Buffer, where: str) -> int:
    if content.size < 12:
        raise damaged(where, "it is too short")
    return int.from_bytes(content.slice(content.size - 8, 4).to_pybytes(), "little") + 8


def _checksum_place(footer: bytes) -> tuple[int, str]:
    """Where in the footer the checksum's digits begin, and the digits."""
    mark = b'"checksum":"'
    start = footer.rindex(mark) + len(mark)
    digits = footer[start : start + len(_BLANK)]
    if len(digits) < len(_BLANK):
        raise ValueError("the digits are cut off")
    return start, digits.decode("ascii", errors="replace")


def _digest(content: pa.Buffer, checksum_at: int) -> str:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    digest.update(content.slice(0, checksum_at))
    digest.update(_BLANK.encode())
    digest.update(content.slice(checksum_at + len(_BLANK)))
    return digest.hexdigest()


def _fill_in_checksum(path: Path) -> None:
    content = _content(path)
    footer = content.slice(content.size - _footer_size(content, str(path))).to_pybytes()
    begin = content.size - len(footer) + _checksum_place(footer)[0]
    del content
    # Read rather than mapped, which would count as memory; what is blank now is blank in the checksum.
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    with open(path, "r+b") as file:
        while some := file.read(_SOME_BYTES):
            digest.update(some)
        file.seek(begin)
        file.write(digest.hexdigest().encode())
