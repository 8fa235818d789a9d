"""Stored NumPy arrays: signatures, offsets and the like, read back without a copy.

    8 bytes   magic
    8 bytes   length of the description, little-endian
    16 bytes  checksum of the two above and the description
    …         description: the header, and name, type, shape and checksum of every array, as JSON
    …         the arrays, each from a multiple of 64 bytes on, padded with zeros to the next

Every byte is under one of the checksums, padding included.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from lookalike.atomic import atomic_write
from lookalike.errors import SourceError
from lookalike.runs.header import Header, damaged

_MAGIC = b"LKALIKE1"
_DIGEST_BYTES = 16
_FIXED = len(_MAGIC) + 8 + _DIGEST_BYTES
_ALIGNMENT = 64

Arrays = Mapping[str, npt.NDArray[Any]]


def write_arrays(path: str | Path, arrays: Arrays, header: Header) -> None:
    """Write named arrays to `path` atomically, under `header`. Numbers and booleans only."""
    stored = {name: _storable(name, array) for name, array in arrays.items()}
    entries = [
        {
            "name": name,
            "type": array.dtype.str,
            "shape": list(array.shape),
            "checksum": _digest(_bytes_of(array), _padding(array.nbytes)).hex(),
        }
        for name, array in stored.items()
    ]
    text = json.dumps({"header": header.to_json(), "arrays": entries}, separators=(",", ":")).encode()
    length = len(text).to_bytes(8, "little")

    def write(file: BinaryIO) -> None:
        file.write(_MAGIC + length + _digest(_MAGIC, length, text) + text)
        file.write(_padding(_FIXED + len(text)))
        for array in stored.values():
            file.write(_bytes_of(array))
            file.write(_padding(array.nbytes))

    atomic_write(path, write)


def read_arrays(
    path: str | Path,
    *,
    kind: str | None = None,
    algorithm: int | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> tuple[dict[str, npt.NDArray[Any]], Header]:
    """Read the arrays back with their header, after checking every byte.

    The arrays are read-only views of the mapped file.

    Raises
    ------
    ArtefactError
        If the file is damaged, not ours, or not of the asked kind, algorithm version or parameters.
    """
    where = str(path)
    content = _content(Path(path))
    text, position = _description(content, where)
    described = json.loads(text)
    header = Header.from_json(described["header"], where=where)
    header.require(where=where, kind=kind, algorithm=algorithm, parameters=parameters)
    arrays = {}
    for entry in described["arrays"]:
        dtype, shape = np.dtype(entry["type"]), tuple(entry["shape"])
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        padded = size + len(_padding(size))
        block = content[position : position + padded]
        if len(block) != padded or _digest(block).hex() != entry["checksum"]:
            raise damaged(where, f"the checksum of {entry['name']} does not fit")
        arrays[entry["name"]] = np.frombuffer(block, dtype, count=size // dtype.itemsize).reshape(shape)
        position += padded
    if position != len(content):
        raise damaged(where, "it is longer than it was written")
    return arrays, header


def _content(path: Path) -> memoryview:
    try:
        with open(path, "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError as error:
        raise SourceError(f"there is no file {path}: check the name") from error
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        # An empty file cannot be mapped.
        raise damaged(str(path), "it is empty") from error


def _description(content: memoryview, where: str) -> tuple[bytes, int]:
    """The description, and where the first array begins."""
    if content[: len(_MAGIC)] != _MAGIC or len(content) < _FIXED:
        raise damaged(where, "it does not begin as a file of arrays")
    length = content[8:16]
    end = _FIXED + int.from_bytes(length, "little")
    text = bytes(content[_FIXED:end])
    if _digest(_MAGIC, length, text) != content[16:_FIXED]:
        raise damaged(where, "the checksum of its description does not fit")
    begin = end + len(_padding(end))
    if any(content[end:begin]):
        raise damaged(where, "its padding is not zeros")
    return text, begin


def _storable(name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind not in "biuf":
        raise TypeError(f"array {name} holds {array.dtype}: only numbers and booleans are stored")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _bytes_of(array: npt.NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _padding(size: int) -> bytes:
    return bytes(-size % _ALIGNMENT)


def _digest(*parts: bytes | memoryview) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        digest.update(part)
    return digest.digest()
