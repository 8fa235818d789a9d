"""What travels along the road: value objects on arrays.

Texts Sets        things and sets of hashed elements, ragged: values and where each row begins
Kinds             what the elements were before they were hashed
WeightedSets      sets whose elements have weights
Bits              perceptual hashes and fingerprints, packed
Vectors           a matrix of floats, one row an item
Signatures        one row of slots an item
Pairs Clusters    results, Arrow inside, for people and for data frames

Rows are numbered from 0; user ids come in at the door and go out with results, never in between.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, SupportsIndex, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike.saving import write_table

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
I32 = npt.NDArray[np.int32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
#: A matrix or an array of either width of floats.
Floats = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def string_buffers(array: pa.Array) -> tuple[U8, I64]:
    """The bytes and int64 offsets of an Arrow string array, its bytes not copied."""
    if array.type != pa.large_string():
        array = array.cast(pa.large_string())
    _, offsets, values = array.buffers()
    starts = np.frombuffer(offsets, dtype=np.int64, count=array.offset + len(array) + 1)[array.offset :]
    return np.frombuffer(values, dtype=np.uint8) if values else np.empty(0, np.uint8), starts


def list_buffers(array: pa.LargeListArray) -> tuple[U64, I64]:
    """The elements and int64 offsets of an Arrow list of uint64, nothing copied."""
    starts = np.frombuffer(array.buffers()[1], dtype=np.int64, count=array.offset + len(array) + 1)
    return array.values.to_numpy(zero_copy_only=True), starts[array.offset :]


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """What tokens were before they were hashed: of each kind one that was seen, or None.

    Attributes
    ----------
    integer, negative, large
        An integer; one under 0; one over 2⁶³−1.
    string, numeral
        A string; one written like a whole number that is its characters nevertheless, as in memory.
    written
        A token as it is written in files, where strings may be integers.
    """

    integer: int | None = None
    negative: int | None = None
    large: int | None = None
    string: str | None = None
    numeral: str | None = None
    written: str | None = None

    def __or__(self, other: Kinds) -> Kinds:
        mine, others = vars(self), vars(other)
        return Kinds(**{kind: others[kind] if one is None else one for kind, one in mine.items()})


@dataclass(frozen=True, eq=False)
class Sets:
    """Many sets in two arrays, as kernels read them; `as_sets` makes them.

    Attributes
    ----------
    elements
        Hashes of what is in the sets, 64 bits each: set after set, each sorted, each element once.
    offsets
        Where each set begins in `elements`, and where the last one ends.
    kinds
        What the elements were; nothing of them if it is not known.

    Examples
    --------
    >>> from lookalike import as_sets
    >>> sets = as_sets([["jazz", "blues"], [], ["opera"]])
    >>> len(sets), sets.offsets.tolist()
    (3, [0, 2, 2, 3])
    """

    elements: U64
    offsets: I64
    kinds: Kinds = field(default_factory=Kinds, repr=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> U64:
        return self.elements[self.offsets[row] : self.offsets[row + 1]]

    def to_arrow(self) -> pa.LargeListArray:
        """As Arrow lists of uint64, without a copy."""
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), pa.array(self.elements))


@dataclass(frozen=True, eq=False)
class WeightedSets:
    """Sets whose elements have weights over 0: sorted by element, each element once. Also sparse vectors."""

    elements: U64
    offsets: I64
    weights: F64
    kinds: Kinds = field(default_factory=Kinds, repr=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> tuple[U64, F64]:
        of = slice(self.offsets[row], self.offsets[row + 1])
        return self.elements[of], self.weights[of]

    @property
    def buffers(self) -> tuple[U64, I64, F64]:
        """As kernels take them."""
        return self.elements, self.offsets, self.weights


@dataclass(frozen=True, eq=False)
class Bits:
    """Rows of as many bits each: perceptual hashes, molecular fingerprints; `as_bits` makes them.

    Attributes
    ----------
    words
        A matrix of uint64, one row an item: its bytes, padded with zeros, read as little-endian words.
    width
        How many bits an item has.

    Examples
    --------
    >>> from lookalike import as_bits
    >>> bits = as_bits(["ff00", "00ff"])
    >>> len(bits), bits.width, bits[:1].to_bytes().tolist()
    (2, 16, [[255, 0]])
    """

    words: U64
    width: int

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rows: Any) -> Bits:
        """Some rows, by a slice, a mask or row numbers."""
        return Bits(np.ascontiguousarray(self.words[rows].reshape(-1, self.words.shape[1])), self.width)

    def to_bytes(self) -> U8:
        """The rows as packed bytes, as `as_bits` takes them."""
        every: U8 = self.words.astype("<u8", copy=False).view(np.uint8)
        return every[:, : -(-self.width // 8)]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of one width, a row each, row by row in memory: float32 or float64, every number finite.

    Whatever takes vectors makes these of what it is given, and checks them then.

    Examples
    --------
    >>> vectors = Vectors(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> len(vectors), vectors.dimensions
    (2, 2)
    """

    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> Floats:
        vector: Floats = self.values[row]
        return vector

    @property
    def dimensions(self) -> int:
        """How many coordinates a vector has."""
        return int(self.values.shape[1])

    def to_arrow(self) -> pa.FixedSizeListArray:
        """As Arrow lists of one size, without a copy."""
        return pa.FixedSizeListArray.from_arrays(pa.array(self.values.reshape(-1)), self.dimensions)


@dataclass(frozen=True, eq=False)
class Signatures:
    """A row of slots an item.

    Attributes
    ----------
    slots
        A matrix of uint32, one row an item.
    content
        A hash of each row: equal for equal sets.
    bag
        A digest of each item's bag of shingles: equal for equal texts.
    flags
        What was odd about an item: empty, short, unspaced (bits, see `_core`).
    """

    slots: npt.NDArray[np.uint32]
    content: U64
    bag: U64
    flags: U8

    def __len__(self) -> int:
        return len(self.content)

    def similarity(self, a: int, b: int) -> float:
        """The fraction of slots in which two rows agree: an estimate of their Jaccard similarity."""
        return float(np.mean(self.slots[a] == self.slots[b]))


class Row(tuple[Any, ...]):
    """One row of a result: a tuple whose values also have the names of the columns.

    Examples
    --------
    >>> row = Row(["a", "b", "similarity"], [0, 2, 0.85])
    >>> row, row.b, row["similarity"]
    (Row(a=0, b=2, similarity=0.85), 2, 0.85)
    >>> a, b, similarity = row
    """

    _fields: tuple[str, ...]

    def __new__(cls, names: Iterable[str], values: Iterable[Any]) -> Row:
        row = super().__new__(cls, values)
        row._fields = tuple(names)
        return row

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self._fields, tuple(self)

    def __getattribute__(self, name: str) -> Any:
        # A column may be called like a method of tuples, as `count` of frequent pairs is.
        fields = object.__getattribute__(self, "__dict__").get("_fields", ())
        if name in fields:
            return tuple.__getitem__(self, fields.index(name))
        return object.__getattribute__(self, name)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self._fields:
            raise KeyError(key)
        return super().__getitem__(self._fields.index(key))

    def to_dict(self) -> dict[str, Any]:
        """As a dictionary, which is what iterating over a result gives."""
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"


class Tabular:
    """A result that is an Arrow table inside and goes to any data frame."""

    #: What one row is called, and several.
    _names = ("row", "rows")

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._table.to_batches(max_chunksize=4096):
            yield from batch.to_pylist()

    @overload
    def __getitem__(self, key: str) -> pa.ChunkedArray: ...

    @overload
    def __getitem__(self, key: SupportsIndex) -> Row: ...

    @overload
    def __getitem__(self, key: slice) -> Self: ...

    def __getitem__(self, key: str | SupportsIndex | slice) -> pa.ChunkedArray | Row | Self:
        """A column by its name, a row by its number, or some rows by a slice."""
        if isinstance(key, str):
            return self._table[key]
        if isinstance(key, slice):
            some = copy.copy(self)
            some._table = _sliced(self._table, range(len(self))[key])
            return some
        # A negative number counts from the end.
        try:
            at = range(len(self))[key]
        except IndexError:
            raise IndexError(f"there is no row {key} among {self._size()}") from None
        return Row(self._table.column_names, self._table.slice(at, 1).to_pylist()[0].values())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._table.column_names)

    def to_arrow(self) -> pa.Table:
        """As a pyarrow Table; nothing is copied."""
        return self._table

    def to_pandas(self) -> Any:
        """As a pandas DataFrame."""
        return self._table.to_pandas()

    def to_polars(self) -> Any:
        """As a polars DataFrame."""
        import polars

        return polars.from_arrow(self._table)

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a file, whole or not at all: `.parquet`, `.csv`, `.tsv` or `.jsonl`, by the end of its name.

        It is written a part at a time, so a table larger than memory stays where it is.

        Raises
        ------
        OutputError
            If the name ends otherwise, if there is such a file already and `overwrite` is not said, or if it
            cannot be written.
        """
        return write_table(self._table, path, overwrite=overwrite)

    def __repr__(self) -> str:
        return f"{self._size()}\n{_text_table(self._shown())}"

    def _repr_html_(self) -> str:
        shown = self._shown()
        head = "".join(f"<th>{_escape(name)}</th>" for name in shown.column_names)
        body = "".join(
            "<tr>" + "".join(f"<td>{_escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
            for row in shown.to_pylist()
        )
        more = f"<p>… {len(self) - shown.num_rows:,} more</p>" if len(self) > shown.num_rows else ""
        title = f"<p><b>{_escape(self._size())}</b></p>"
        return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    def _size(self) -> str:
        return f"{len(self):,} {self._names[len(self) != 1]}"

    def _shown(self) -> pa.Table:
        return self._table.slice(0, 10)


class Pairs(Tabular):
    """Verified pairs: `a`, `b` and `similarity`.

    By a distance the third column is `distance`; if only signatures were compared, `estimate`. Without ids
    `a` and `b` are row numbers from 0. Iterating gives a dictionary a pair, `pairs[0]` a row, `pairs[:10]`
    the first ten, `pairs["a"]` a column; `to_arrow`, `to_pandas` and `to_polars` give tables, `write` a file.
    More pairs than the memory budget has room for lie in a temporary file, from which they are mapped: only
    converting them to NumPy or pandas loads all.

    Attributes
    ----------
    account
        What the join did on the way: its plan, counts, and the recall it estimates it had. None for pairs
        made by hand.

    Examples
    --------
    >>> pairs = Pairs.of(a=[0, 0], b=[1, 2], similarity=[1.0, 0.85])
    >>> pairs
    2 pairs
    a  b  similarity
    0  1  1.0000
    0  2  0.8500
    >>> [pair["b"] for pair in pairs if pair["similarity"] < 1]
    [2]
    >>> pairs[-1], pairs[-1].similarity
    (Row(a=0, b=2, similarity=0.85), 0.85)
    """

    _names = ("pair", "pairs")

    def __init__(self, table: pa.Table, *, account: Any = None) -> None:
        super().__init__(table)
        self.account = account

    @classmethod
    def of(cls, a: Sequence[Any], b: Sequence[Any], similarity: Sequence[float]) -> Pairs:
        """Pairs from three columns."""
        columns = {"a": pa.array(a), "b": pa.array(b), "similarity": pa.array(similarity, pa.float64())}
        return cls(pa.table(columns))


class Clusters(Tabular):
    """What belongs together: a row an item, its `id` and its `cluster`, which is the least id in it.

    Those of `dedup` also have the `representative` that is kept for the cluster, the item's exact
    `similarity` to it, the neighbour `via` which it joined, whether it was `kept`, and a `flag` if it was
    empty or short.

    Examples
    --------
    >>> clusters = Clusters(pa.table({"id": ["x", "y", "z"], "cluster": ["x", "x", "z"]}))
    >>> clusters.groups()
    [['x', 'y']]
    """

    _names = ("item in a cluster", "items in clusters")

    def groups(self) -> list[list[Any]]:
        """The clusters of two items or more, largest first, each a list of ids."""
        table = self._table.select(["cluster", "id"])
        found: dict[Any, list[Any]] = {}
        for cluster, item in zip(table["cluster"].to_pylist(), table["id"].to_pylist(), strict=True):
            found.setdefault(cluster, []).append(item)
        # Python's sort is stable, so clusters of one size stay in the order of their first item.
        return sorted((group for group in found.values() if len(group) > 1), key=len, reverse=True)


def _sliced(table: pa.Table, rows: range) -> pa.Table:
    if rows.step == 1:
        return table.slice(rows.start, len(rows))
    return table.take(pa.array(np.arange(rows.start, rows.stop, rows.step)))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _text_table(table: pa.Table) -> str:
    names = table.column_names
    lines = [names] + [[_cell(value) for value in row.values()] for row in table.to_pylist()]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    return "\n".join(
        "  ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def concatenate(arrays: Iterable[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    """The arrays end to end; an empty array of `dtype` if there is none."""
    arrays = list(arrays)
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.empty(0, dtype)
