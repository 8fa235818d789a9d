"""Rows of bits held for queries: built once, asked many times."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.engines import LocalEngine, checked_threads
from lookalike.errors import OptionError
from lookalike.families import Covering
from lookalike.joins.bitchoice import cheapest_query, covers_of, draw_bits
from lookalike.joins.bitrows import BitItems
from lookalike.measures.bits import as_bits, one_item
from lookalike.theory.ranges import whole
from lookalike.types import Bits, Tabular
from lookalike.wording import several

TableMethod = Literal["auto", "pieces", "covering"]
#: A table has at most so many times as many masks as there are pieces: each takes memory.
MORE_MASKS = 4


class HammingTable:
    """Whoever is within a small radius of a query, without looking at everybody.

    Masks cover the radius: whoever is within it agrees with the query under one of them, so nothing is
    missed. It pays as long as masks have about as many bits as it takes to count the rows: ten million hashes
    of 64 bits within 3 bits, for one. Memory: the rows, and 12 to 16 bytes a row and mask.

    Parameters
    ----------
    bits
        The rows, as `as_bits` takes them.
    radius
        The most bits that a query may ask for.
    method
        `pieces` cuts the bits into one piece more than the radius, the fewest masks there can be; `covering`
        takes more masks of more bits each, for bits that are so much alike that many rows share a piece;
        `auto` the one by which a query is expected to cost less, of up to four times as many masks.

    Examples
    --------
    >>> table = HammingTable(["00ff", "00fe", "ff00"], radius=2)
    >>> table.query("00fc").to_arrow().to_pylist()
    [{'row': 0, 'distance': 2}, {'row': 1, 'distance': 1}]
    """

    def __init__(
        self, bits: Any, radius: int = 3, *, method: TableMethod = "auto", threads: int | None = None
    ) -> None:
        rows = as_bits(bits)
        number = whole(radius)
        if number is None:
            raise OptionError(f"radius={radius!r} is not a whole number of bits")
        radius = number
        self.radius, self.width, self._rows = radius, rows.width, len(rows)
        if method not in ("auto", "pieces", "covering"):
            raise OptionError(f"method={method!r} is unknown: choose auto, pieces or covering")
        self.cover = _cover(rows, radius, method, checked_threads(threads))
        self._table = _core.BitTable(
            rows.words, self.cover.positions, radius=radius, threads=checked_threads(threads)
        )

    def __len__(self) -> int:
        return self._rows

    def query(self, item: Any, radius: int | None = None) -> Neighbours:
        """The rows within `radius` bits of an item (a hexadecimal string, a number of 64 bits, or bytes).

        Sorted by row.
        """
        most = self.radius if radius is None else whole(radius)
        if most is None or not 0 <= most <= self.radius:
            raise OptionError(f"radius={radius!r} is out of range: this table answers for 0 to {self.radius}")
        sought = as_bits(one_item(item))
        if len(sought.words) != 1:
            raise OptionError(f"{len(sought.words)} items are sought: ask for one at a time")
        if sought.width != self.width:
            raise OptionError(
                f"an item of {several(sought.width, 'bit')} is sought among rows of {self.width}"
            )
        rows, distances = self._table.query(sought.words[0], most=most)
        columns = {"row": pa.array(rows.astype(np.int64)), "distance": pa.array(distances.astype(np.int64))}
        return Neighbours(pa.table(columns))


def _cover(rows: Bits, radius: int, method: TableMethod, threads: int) -> Covering:
    """The masks by which rows are looked up."""
    pieces = Covering(rows.width, radius, parts=radius + 1)
    covers = [] if method == "pieces" else covers_of(rows.width, radius, pieces.seed)
    few = [cover for cover in covers if cover.slots <= MORE_MASKS * pieces.slots]
    if method == "covering":
        few = few[1:]
    if len(few) < 2:
        return few[0] if few else pieces
    engine = LocalEngine(threads)
    return cheapest_query(draw_bits(BitItems.of(engine, rows), engine), few)


class Neighbours(Tabular):
    """Rows near a query: `row`, `distance`."""

    _names = ("row", "rows")
