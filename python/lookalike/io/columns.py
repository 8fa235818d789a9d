"""Which columns are wanted, and how what lies in them becomes text that kernels may trust.

Whatever the source, a batch leaves this room with the text first, as valid UTF-8 without nulls; then the
id, if one was asked for, with its type kept; then the extra columns in the order asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lookalike.errors import MissingColumnError, OptionError, SourceError
from lookalike.io.faults import Faults
from lookalike.wording import agreeing, hides_something, meant, visible


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The columns of a source that a job asks for, by their names in the source."""

    text: str = "text"
    id: str | None = None
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.names:
            if not isinstance(name, str):
                raise OptionError(
                    f"{name!r} is not the name of a column: give a string, such as {str(name)!r:.40}"
                )

    @property
    def names(self) -> list[str]:
        """Text, id if any, extra columns: the order of every batch."""
        return [self.text, *([] if self.id is None else [self.id]), *self.columns]

    @property
    def labels(self) -> list[str]:
        """The names in a batch: text and id are called so, whatever they were called in the source."""
        # An extra column may be the text or the id once more, and is then called so only once.
        taken = {"text"} | ({"id"} if self.id is not None else set())
        extra = [f"extra {name}" if name in taken else name for name in self.columns]
        return ["text", *([] if self.id is None else ["id"]), *extra]

    @property
    def required(self) -> int:
        """How many columns, from the first on, must hold a value in every row."""
        return 1 if self.id is None else 2

    @property
    def whole(self) -> frozenset[str]:
        """Columns of jsonl whose integers stay integers; a score may begin with 1 and go on with 0.5."""
        return frozenset() if self.id is None else frozenset([self.id])

    def settled(self, types: Sequence[pa.DataType]) -> list[pa.DataType]:
        """The types of a batch, from those that lie in the source."""
        return [pa.large_string(), *types[1:]]

    def take(
        self, position: int, array: pa.Array, flaws: dict[int, str], *, checked: bool = False
    ) -> pa.Array:
        """The column at a position as read, made what is wanted; text is valid, unless it was `checked`.

        Rows that cannot be are added to `flaws`.
        """
        name = self.names[position]
        if is_text(array.type) and not checked:
            array = _valid_text(array, name, flaws)
        return self.convert(name, array, flaws)

    def convert(self, name: str, array: pa.Array, flaws: dict[int, str]) -> pa.Array:
        """A column, its text valid, made what is wanted; rows that cannot be are added to `flaws`."""
        return array

    def check(self, where: str, schema: pa.Schema) -> None:
        """Raise unless `schema` (types in the order of `names`) can serve as text, id and extra columns."""
        text = schema.field(0).type
        if not (is_text(text) or pa.types.is_null(text)):
            wrong = SourceError(
                f"column {self.text!r} of {where} holds {text}, not text: name the text column with "
                "text='COLUMN'"
            )
            if is_list(text):
                floats = pa.types.is_floating(text.value_type)
                wrong.add_note(
                    "Near vectors: similar_pairs(data, measure='angle', threshold='20deg')"
                    if floats
                    else f"Lists of tokens are sets: similar_pairs(read_sets(data, items={self.text!r}))"
                )
            raise wrong
        for name, kind in zip(self.names[1:], schema.types[1:], strict=True):
            if pa.types.is_nested(kind):
                use = "an id" if name == self.id else "an extra column"
                raise SourceError(
                    f"column {name!r} of {where} holds {kind}, which cannot serve as {use}: name a column of "
                    "numbers or strings"
                )


def missing_column(name: str, where: str, columns: Iterable[str], *, within: str = "") -> MissingColumnError:
    """The error for a column that is not there: which there are, and which was perhaps meant.

    Examples
    --------
    >>> print(missing_column("text", "a.csv", ["id", "text "]))
    a.csv has no column 'text': it has id, 'text '. Did you mean 'text ', with the blank?
    """
    there = list(columns)
    near = meant(name, there)
    # The default, which nobody typed who may not know how to name another.
    option = {"text": "text", "bits": "column"}.get(name)
    how = f", {option}='COLUMN'" if option is not None else ""
    if near is not None:
        hint = f". Did you mean {near!r}{_what_hides(name, near)}?"
    else:
        hint = f". Name the one you mean{how}" if there else ""
    listed = (
        ", ".join(map(_short, there[:20])) + (" …" if len(there) > 20 else "") if there else "none at all"
    )
    return MissingColumnError(f"{where} has no column {name!r}{within}: it has {listed}{hint}")


def _what_hides(name: str, near: str) -> str:
    """How two names differ that look the same."""
    if not (hides_something(name) or hides_something(near)):
        return ""
    if near.replace(" ", "") == name.replace(" ", ""):
        end = "" if len(near) > len(name) else "out"
        return f", with{end} the {agreeing(abs(len(near) - len(name)), 'blank', 'blanks')}"
    return ""


def check_called_once(name: str, where: str, columns: Sequence[str]) -> None:
    """Raise if two columns have the name: nobody could tell which of them is meant."""
    if columns.count(name) > 1:
        raise SourceError(f"{where} has {columns.count(name)} columns called {name!r}: rename all but one")


def _short(name: str) -> str:
    # The first row of a csv file without a header may be whole documents.
    return visible(name if len(name) <= 30 else name[:29] + "…")


def is_text(kind: pa.DataType) -> bool:
    """Whether values of `kind` may be text: strings of any layout, or bytes that should be UTF-8."""
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    # Type names cover the view layouts, for which older pyarrow has no test of its own.
    return str(kind) in {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}


def common_types(schemas: Sequence[pa.Schema]) -> list[pa.DataType]:
    """One type a column for files that may differ: kept if they agree, else the widest, at last strings."""
    columns = zip(*(schema.types for schema in schemas), strict=True)
    return [_common_type(set(types)) for types in columns]


def _common_type(types: set[pa.DataType]) -> pa.DataType:
    types = {_plain(kind) for kind in types if not pa.types.is_null(kind)}
    if len(types) == 1:
        return types.pop()
    if not types:
        return pa.string()
    if len({pa.types.is_decimal(kind) for kind in types}) > 1:
        # Arrow's common type of decimals and other numbers does not hold them all.
        return pa.large_string()
    try:
        fields = [pa.schema([("column", kind)]) for kind in sorted(types, key=str)]
        return pa.unify_schemas(fields, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        return pa.large_string()


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without its layout: dictionaries and views are ways to store strings, not other strings."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    return {"string_view": pa.large_string(), "binary_view": pa.large_binary()}.get(str(kind), kind)


def settle(
    arrays: Sequence[pa.Array],
    schema: pa.Schema,
    wanted: Wanted,
    faults: Faults,
    *,
    rows: npt.NDArray[np.int64],
    place: Callable[[int], str],
    checked: bool = False,
) -> pa.RecordBatch:
    """Make a batch of `schema` from wanted columns as read, without the rows that cannot serve.

    `rows` are the row numbers in the file, and `place` says where a position of the batch lies in it. What
    was `checked` before is text where it says so.
    """
    flaws: dict[int, str] = {}
    settled = []
    for position, (array, field) in enumerate(zip(arrays, schema, strict=True)):
        name = wanted.names[position]
        if pa.types.is_dictionary(array.type):
            array = _decoded(array)
        array = wanted.take(position, array, flaws, checked=checked and array.type == field.type)
        if position < wanted.required:
            for null in np.flatnonzero(_nulls(array)) if array.null_count else ():
                flaws.setdefault(int(null), f"{name!r} is null or missing")
        settled.append(array if array.type == field.type else _cast(array, field.type, name, flaws))
    batch = pa.RecordBatch.from_arrays(settled, schema=schema)
    for position in sorted(flaws):
        faults.row(int(rows[position]), place(position), flaws[position])
    if flaws:
        good = np.ones(len(rows), dtype=bool)
        good[list(flaws)] = False
        batch = batch.filter(pa.array(good))
    return batch


def _cast(array: pa.Array, kind: pa.DataType, name: str, flaws: dict[int, str]) -> pa.Array:
    """The array in the type that the column has in all files, null where a value does not fit it.

    Those positions are added to `flaws`.
    """
    try:
        return array.cast(kind)
    except pa.ArrowInvalid:
        values: list[Any] = []
    for at, value in enumerate(array):
        try:
            values.append(value.cast(kind).as_py())
        except pa.ArrowInvalid:
            flaws.setdefault(at, f"{name!r} is {value.as_py()}, which is no {kind}, as the column is")
            values.append(None)
    return pa.array(values, kind)


def _decoded(array: pa.DictionaryArray) -> pa.Array:
    """The values a dictionary stands for; views, from which Arrow cannot pick, become strings first."""
    plain = array.dictionary.cast(_plain(array.type))
    return pa.DictionaryArray.from_arrays(array.indices, plain).dictionary_decode()


def _valid_text(array: pa.Array, name: str, flaws: dict[int, str]) -> pa.Array:
    """Strings of the array, null where the bytes are not UTF-8; those positions are added to `flaws`."""
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if "binary" not in str(kind):
        try:
            _validate(array)
            return array
        except pa.ArrowInvalid:
            pass
    # Without a check: a cast to string would refuse the whole array for one bad row.
    raw = array.cast(kind).cast(pa.large_binary())
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        values: list[bytes | None] = raw.to_pylist()
    for position, value in enumerate(values):
        reason = None if value is None else not_utf8(value)
        if reason is not None:
            flaws.setdefault(position, f"{name!r} is not UTF-8: {reason}")
            values[position] = None
    return pa.array(values, pa.large_binary()).cast(pa.large_string())


def _validate(array: pa.Array) -> None:
    """Refuse strings that are not UTF-8, as Arrow does, but faster where text is all ASCII."""
    array.validate()
    if array.type not in (pa.string(), pa.large_string()) or not len(array) or array.buffers()[2] is None:
        array.validate(full=True)
        return
    _, offsets, values = array.buffers()
    width = np.dtype(np.int64 if array.type == pa.large_string() else np.int32)
    starts: npt.NDArray[Any] = np.frombuffer(offsets, width, count=array.offset + len(array) + 1)[
        array.offset :
    ]
    if np.any(starts[1:] < starts[:-1]):
        array.validate(full=True)
    # Some rows at a time: one letter with an accent does not make all the others slow.
    edges = np.searchsorted(starts, np.arange(starts[0], starts[-1], _LOOKED_AT))
    text = np.frombuffer(values, np.uint8)
    for start, stop in pairwise([*np.unique(edges).tolist(), len(array)]):
        if text[starts[start] : starts[stop]].max(initial=0) >= _NOT_ASCII:
            array.slice(start, stop - start).validate(full=True)


#: How many bytes are looked at before it is said whether all of them are ASCII, and the least that is not.
_LOOKED_AT = 1 << 20
_NOT_ASCII = 0x80


def not_utf8(data: bytes) -> str | None:
    """Where the bytes stop being UTF-8; None if they never do."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{data[error.start]:02x} at offset {error.start}"
    return None


def _nulls(array: pa.Array) -> npt.NDArray[np.bool_]:
    nulls: npt.NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return nulls


def is_list(kind: pa.DataType) -> bool:
    """Whether values of this Arrow type are lists, in any layout."""
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or "list_view" in str(kind).partition("<")[0]
    )


def plain_lists(array: pa.Array) -> pa.LargeListArray:
    """Lists in any layout as large lists with no values but their own; strings in them as large strings."""
    # List views may lie anywhere and in any order, and Arrow's cast takes the places of empty ones for true.
    values = array.flatten()
    if pa.types.is_dictionary(values.type):
        values = _decoded(values)
    kind = values.type
    if is_text(kind) and "binary" not in str(kind):
        values = values.cast(pa.large_string())
    lengths = np.asarray(array.value_lengths().fill_null(0))
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
    nulls = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=nulls)


def choose(table: pa.Table, mask: npt.NDArray[np.bool_]) -> pa.Table:
    """The rows of the table where `mask` is true."""
    try:
        return table.filter(pa.array(mask))
    except pa.ArrowNotImplementedError:
        # Arrow cannot filter every type, string views among them; but it can slice and join all.
        edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
        runs = [table.slice(start, stop - start) for start, stop in edges.reshape(-1, 2).tolist()]
        return pa.concat_tables([table.slice(0, 0), *runs])


class Apply(Protocol):
    """Gives the texts of rows as they are written."""

    def apply(self, rows: npt.NDArray[np.int64], texts: pa.Array) -> pa.Array:
        """The texts of rows, as read → as they are written."""


def with_texts(table: pa.Table, name: str, edits: Apply, rows: npt.NDArray[np.int64]) -> pa.Table:
    """The table with edited texts in the column `name`, of the type they had."""
    column = table.column(name)
    kind = column.type
    plain = column.cast(_plain(kind)).cast(pa.large_string()).combine_chunks()
    new = edits.apply(rows, pa.concat_arrays(plain.chunks) if isinstance(plain, pa.ChunkedArray) else plain)
    if pa.types.is_dictionary(kind):
        new = new.cast(kind.value_type).dictionary_encode()
    at = table.column_names.index(name)
    return table.set_column(at, table.schema.field(at), new.cast(kind))


def numbers_of(name: str, array: pa.Array, flaws: dict[int, str], *, finite: bool = False) -> pa.Array:
    """The array as float64, null where a string is no number; those positions are added to `flaws`.

    So are numbers that are not `finite`, if they must be.
    """
    numbers = _numbers(name, array, flaws)
    if finite:
        sound = np.isfinite(numbers.fill_null(0.0).to_numpy())
        for at in np.flatnonzero(~sound).tolist():
            flaws.setdefault(at, f"{name!r} is {numbers[at].as_py()}, not a finite number")
    return numbers


def _numbers(name: str, array: pa.Array, flaws: dict[int, str]) -> pa.Array:
    import pyarrow.compute as pc

    if not is_text(array.type):
        return array.cast(pa.float64())
    trimmed = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        values: list[float | None] = []
    for at, text in enumerate(trimmed.to_pylist()):
        try:
            values.append(None if text is None else pa.scalar(text).cast(pa.float64()).as_py())
        except pa.ArrowInvalid:
            flaws.setdefault(at, f"{name!r} is {text!r:.40}, not a number")
            values.append(None)
    return pa.array(values, pa.float64())
