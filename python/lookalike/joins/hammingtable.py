"""Rows of bits held for queries: built once, asked many times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines.cores import checked_threads
from lookalike.errors import OptionError
from lookalike.joins.hamming import pieces_of
from lookalike.measures.bits import as_bits
from lookalike.types import Tabular


class HammingTable:
    """Whoever is within a small radius of a query, without looking at everybody.

    Rows are cut into one piece of bits more than the radius, and whoever is within it agrees with the query
    in a whole piece: nothing is missed. It pays as long as pieces have about as many bits as it takes to
    count the rows: ten million hashes of 64 bits within 3 bits, for one. Memory: the rows, and 12 to 16 bytes
    a row and piece.

    Parameters
    ----------
    bits
        The rows, as `as_bits` takes them.
    radius
        The most bits that a query may ask for.

    Examples
    --------
    >>> table = HammingTable(["00ff", "00fe", "ff00"], radius=2)
    >>> table.query("00fc").to_arrow().to_pylist()
    [{'row': 0, 'distance': 2}, {'row': 1, 'distance': 1}]
    """

    def __init__(self, bits: Any, radius: int = 3, *, threads: int | None = None) -> None:
        rows = as_bits(bits)
        if isinstance(radius, bool) or not isinstance(radius, int):
            raise OptionError(f"radius={radius!r} is not a whole number of bits")
        self.radius, self.width, self._rows = radius, rows.width, len(rows)
        pieces = pieces_of(rows.width, radius)
        self._table = _core.BitTable(rows.words, pieces, threads=checked_threads(threads))

    def __len__(self) -> int:
        return self._rows

    def query(self, item: Any, radius: int | None = None) -> Neighbours:
        """The rows within `radius` bits of an item (a hexadecimal string, a number of 64 bits, or bytes).

        Sorted by row.
        """
        most = self.radius if radius is None else radius
        if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most <= self.radius:
            raise OptionError(f"radius={most!r} is out of range: this table answers for 0 to {self.radius}")
        sought = as_bits(_one(item))
        if sought.width != self.width:
            raise OptionError(f"an item of {sought.width} bits is sought among rows of {self.width}")
        rows, distances = self._table.query(sought.words[0], most=most)
        columns = {"row": pa.array(rows.astype(np.int64)), "distance": pa.array(distances.astype(np.int64))}
        return Neighbours(pa.table(columns))


class Neighbours(Tabular):
    """Rows near a query: `row`, `distance`."""

    _names = ("row", "rows")


def _one(item: Any) -> Any:
    """One item as a collection of it."""
    if isinstance(item, bytes | bytearray):
        return np.frombuffer(bytes(item), np.uint8).reshape(1, -1)
    if isinstance(item, np.ndarray):
        return item.reshape(1, -1) if item.dtype == np.uint8 else item.reshape(-1)
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        if not 0 <= item < 2**64:
            raise OptionError(f"{item} is not a number of 64 bits: give longer items as hexadecimal strings")
        return np.array([item], np.uint64)
    return [item] if isinstance(item, str) else item
