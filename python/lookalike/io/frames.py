"""A source in memory: lists, Arrow, and whatever speaks Arrow's capsule protocol.

polars, pandas, duckdb and the like hand over their columns through `__arrow_c_stream__`; none of them is
imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.errors import SourceError
from lookalike.io.columns import (
    Wanted,
    check_called_once,
    choose,
    common_types,
    missing_column,
    settle,
    with_texts,
)
from lookalike.io.edits import Edits
from lookalike.io.faults import Faults, OnError
from lookalike.io.layout import Census, Layout, Mask, Rows
from lookalike.io.source import Source
from lookalike.wording import an

_LABEL = "input"


class FrameSource(Source):
    """Rows of something in memory, in the order given. Ids default to row numbers."""

    in_memory = True

    #: What kept rows are written as.
    KEPT_NAME = "kept.parquet"

    def __init__(self, data: Any, wanted: Wanted, on_error: OnError = "raise") -> None:
        super().__init__(wanted, on_error)
        #: The number of the first row, which is 0 unless others came before.
        self._first = 0
        self._given, content = _arrow(data, wanted)
        self._has_columns = isinstance(content, pa.Table)
        if _is_pandas(self._given):
            content = _without_types_of_nothing(content)
        if isinstance(content, pa.Table):
            names = wanted.names
            for name in names:
                if name not in content.column_names:
                    raise missing_column(name, f"the {self.format}", content.column_names)
                check_called_once(name, f"the {self.format}", content.column_names)
        else:
            # A plain column of texts, without a name.
            names = ["text"]
            if wanted.names[1:]:
                within = " (it is nothing but texts; give a table or a frame)"
                raise missing_column(wanted.names[1], an(self.format), [], within=within)
            content = pa.table({"text": content})
        self._table = pa.table(
            [content.column(name) for name in names], names=[str(at) for at in range(len(names))]
        )
        own = pa.schema([(name, kind) for name, kind in zip(names, self._table.schema.types, strict=True)])
        wanted.check(f"the {self.format}", own)
        types = wanted.settled(common_types([own]))
        self._schema = pa.schema(list(zip(wanted.labels, types, strict=True)))

    def number_on(self, numbers: Iterable[int | None]) -> None:
        """Number rows from the greatest of these numbers on, if rows have no ids and none is un known."""
        known = list(numbers)
        if self.wanted.id is None and None not in known:
            self._first = max((number for number in known if number is not None), default=0)

    @property
    def format(self) -> str:
        """The type that was given, such as `list` or `polars.DataFrame`."""
        kind = type(self._given)
        module = kind.__module__.split(".")[0]
        return kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"

    @property
    def text_column(self) -> str:
        """The column of the text in what `write_kept` writes."""
        return self.wanted.text if self._has_columns else "text"

    @property
    def order(self) -> str:
        """What the order of rows is, in words."""
        return "rows as given"

    @property
    def bytes(self) -> int:
        """Size of the wanted columns in memory."""
        return int(self._table.nbytes)

    def kept(self, mask: Mask, edits: Edits | None = None) -> Any:
        """The kept rows with all columns: a list, Array, Table, Series or DataFrame, like what was given.

        With edited texts a list, a table or a column, and a pandas or polars frame, stay what they are;
        anything else is given as Arrow.
        """
        if edits is not None:
            return self._edited(mask, edits)
        keep = self.layout.rows_of(0, mask)
        given = self._given
        if isinstance(given, list):
            return [given[row] for row in np.flatnonzero(keep)]
        if isinstance(given, np.ndarray):
            return given[keep]
        if isinstance(given, pa.ChunkedArray):
            return choose(self._content(), keep).column(0)
        if isinstance(given, pa.Array):
            return pa.concat_arrays(choose(self._content(), keep).column(0).chunks)
        match type(given).__module__.split(".")[0]:
            case "pandas":
                return given[keep]
            case "polars":
                import polars

                # Older versions know no NumPy masks.
                return given.filter(polars.Series(keep))
            case "datasets":
                return given.select(np.flatnonzero(keep))
        return choose(self._content(), keep)

    def _edited(self, mask: Mask, edits: Edits) -> Any:
        content, given = self._edited_content(mask, edits), self._given
        texts = content.column(content.column_names.index(edits.column) if self._has_columns else 0)
        if isinstance(given, list):
            return texts.to_pylist()
        if isinstance(given, pa.Table):
            return content
        kept = self.kept(mask)
        match type(given).__module__.split(".")[0], type(given).__name__:
            case "pandas", "DataFrame":
                return kept.assign(**{edits.column: texts.to_pylist()})
            case "pandas", "Series":
                return type(given)(texts.to_pylist(), index=kept.index, name=given.name)
            case "polars", "DataFrame":
                return kept.with_columns(type(kept[edits.column])(edits.column, texts.to_pylist()))
            case "polars", "Series":
                return type(given)(given.name, texts.to_pylist())
        return content if self._has_columns else texts

    def _edited_content(self, mask: Mask, edits: Edits) -> pa.Table:
        """All columns of the kept rows, their texts edited."""
        keep = self.layout.rows_of(0, mask)
        content = choose(self._content(), keep)
        numbers = self.layout.numbers_of(0)[keep]
        name = edits.column if self._has_columns else "text"
        return with_texts(content, name, edits, numbers) if content.num_rows else content

    def write_kept(self, folder: Path, mask: Mask, edits: Edits | None = None) -> list[Path]:
        """Write the kept rows with all columns as one Parquet file."""
        import pyarrow.parquet as pq

        folder.mkdir(parents=True, exist_ok=True)
        target = folder / self.KEPT_NAME
        content = (
            choose(self._content(), self.layout.rows_of(0, mask))
            if edits is None
            else self._edited_content(mask, edits)
        )
        pq.write_table(content, target, compression="zstd")
        return [target]

    def _content(self) -> pa.Table:
        """All columns of what was given."""
        _, content = _arrow(self._given)
        return content if isinstance(content, pa.Table) else pa.table({"text": content})

    def _read(self, faults: Faults, census: Census, batch_bytes: int) -> Iterator[pa.RecordBatch]:
        census.open_file()
        faults.open(_LABEL)
        done = 0
        for part in self._table.to_batches():
            start = done
            done += part.num_rows
            batch = settle(
                part.columns,
                self._schema,
                self.wanted,
                faults,
                rows=start + np.arange(part.num_rows),
                place=lambda at, start=start: f"row {start + at} (counted from 0)",  # type: ignore[misc]
            )
            census.add(batch)
            yield batch
        census.close_file(faults.bad_rows())

    def _places(self, rows: Rows) -> pa.Array:
        return pa.array(self.layout.locate(rows)[1] + self._first)

    def _place(self, layout: Layout, row: int) -> str:
        return f"row {int(layout.locate(np.array([row]))[1][0])}"


def _arrow(data: Any, wanted: Wanted | None = None) -> tuple[Any, pa.Table | pa.ChunkedArray]:
    """What was given (an iterator as a list, a reader as a table), and it as a table, or as a column.

    Of a frame that has to be converted only the columns that are `wanted`, if these are given.
    """
    if isinstance(data, (pa.Table, pa.ChunkedArray)):
        return data, data
    if isinstance(data, pa.RecordBatch):
        return data, pa.Table.from_batches([data])
    if isinstance(data, pa.Array):
        return data, pa.chunked_array([data])
    if hasattr(data, "__arrow_c_stream__"):
        content = _from_stream(data if wanted is None else _narrowed(data, wanted))
        # A reader is used up by reading it, and a frame of pandas may be changed in place.
        used_up = isinstance(data, pa.RecordBatchReader)
        return (content if used_up else data.copy(deep=False) if _is_pandas(data) else data), content
    if hasattr(data, "__arrow_c_array__"):
        return data, _from_array(data)
    hint = _HINTS.get(type(data).__name__, "")
    if hasattr(data, "with_format") and hasattr(data, "column_names") and not hint:
        return data, _from_dataset(data)
    # NumPy has arrays without rows: a text by itself.
    alone = data.ndim == 0 if isinstance(data, np.ndarray) else isinstance(data, (str, bytes, Mapping))
    if isinstance(data, Iterable) and not alone and not hint:
        # A list of our own: whoever changes theirs must not change what is kept of it.
        texts = list(data)
        return (data if isinstance(data, np.ndarray) else texts), _from_strings(texts)
    raise SourceError(
        f"{an(type(data).__name__)} cannot be read: give a list of strings, an Arrow table, a polars or "
        f"pandas frame, a dataset (one split of it), or paths{hint}"
    )


#: What to do with what holds documents, but has to be asked for them in some way.
_HINTS = {
    "DatasetDict": "; of this one a split, such as data['train']",
    "IterableDatasetDict": "; of this one a split, as a Dataset that is loaded without streaming",
    "IterableDataset": "; load this one without streaming, or give the texts: (row['text'] for row in data)",
    "LazyFrame": "; of this one what .collect() gives",
}


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.split(".")[0] == "pandas"


def _without_types_of_nothing(content: pa.Table | pa.ChunkedArray) -> pa.Table | pa.ChunkedArray:
    """Columns without a value have a type in pandas that nobody chose, that of numbers."""
    if len(content):
        return content
    if isinstance(content, pa.Table):
        return pa.table([pa.nulls(0)] * content.num_columns, names=content.column_names)
    return pa.chunked_array([pa.nulls(0)])


def _is_pandas_frame(data: Any) -> bool:
    return _is_pandas(data) and type(data).__name__ == "DataFrame"


def _narrowed(data: Any, wanted: Wanted) -> Any:
    """The wanted columns of a pandas frame: others may hold what Arrow has no type for."""
    if not _is_pandas_frame(data):
        return data
    columns, where = [str(name) for name in data.columns], "the pandas.DataFrame"
    for name in wanted.names:
        if name not in columns:
            raise missing_column(name, where, columns)
        check_called_once(name, where, columns)
    return data.iloc[:, sorted({columns.index(name) for name in wanted.names})]


def _from_stream(data: Any) -> pa.Table | pa.ChunkedArray:
    try:
        try:
            return pa.RecordBatchReader.from_stream(data).read_all()
        except pa.ArrowInvalid:
            if _is_pandas_frame(data):
                raise
            # Not a stream of records but of values: a Series.
            return pa.chunked_array(data)
    except (pa.ArrowException, ValueError) as error:
        hint = (
            "; give the column one type, as astype(str) does" if isinstance(error, pa.ArrowException) else ""
        )
        raise SourceError(
            f"the {type(data).__name__} does not convert to Arrow: {'; '.join(map(str, error.args))}{hint}"
        ) from error


def _from_array(data: Any) -> pa.Table | pa.ChunkedArray:
    array = pa.array(data)
    if pa.types.is_struct(array.type):
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(array)])
    return pa.chunked_array([array])


def _from_dataset(data: Any) -> pa.Table:
    """A Hugging Face dataset; through its own indexing, since a filtered one is a view of a larger table."""
    table = data.with_format("arrow")[:]
    return table if isinstance(table, pa.Table) else pa.table(table)


def _from_strings(strings: list[Any]) -> pa.ChunkedArray:
    try:
        return pa.chunked_array([pa.array(strings, pa.large_string())])
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        # One by one: lone surrogates become bytes that are not UTF-8, which `settle` finds and names.
        return pa.chunked_array(
            [pa.array([_encoded(at, value) for at, value in enumerate(strings)], pa.large_binary())]
        )


def _encoded(at: int, value: Any) -> bytes | None:
    match value:
        case str():
            return value.encode("utf-8", errors="surrogatepass")
        case bytes() | None:
            return value
    hint = ": give paths alone to read files" if isinstance(value, Path) else ""
    hint = ": pyarrow.Table.from_pylist makes a table of dicts" if isinstance(value, dict) else hint
    raise SourceError(f"row {at} of the list is {an(type(value).__name__)}, not a string{hint}")
