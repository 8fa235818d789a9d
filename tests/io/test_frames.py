"""Lists, Arrow, polars, pandas, and whatever speaks the capsule protocol."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike import dedup, similar_pairs
from lookalike.errors import (
    DuplicateIdError,
    EmptySourceError,
    MalformedRowError,
    MissingColumnError,
    OptionError,
    SourceError,
)
from lookalike.io import columns, open_source

TEXTS = ["eins", "zwei ü", "", "vier"]
COLUMNS = {"text": TEXTS, "key": ["a", "b", "c", "d"], "n": [4, 3, 2, 1]}
MASK = np.array([True, False, False, True])


class StreamOnly:
    """A stranger that offers nothing but the capsule protocol, as duckdb relations do."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class ArrayOnly:
    def __init__(self, array):
        self._array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self._array.__arrow_c_array__(requested_schema)


class Dataset:
    """What a Hugging Face dataset looks like after a filter: a view, by indices, of a larger table."""

    def __init__(self, table, indices, form=None):
        self._table, self._indices, self._form = table, indices, form
        self.column_names = table.column_names

    def with_format(self, form):
        return Dataset(self._table, self._indices, form)

    def __getitem__(self, rows):
        assert self._form == "arrow"
        return self._table.take(pa.array(self._indices[rows]))


Dataset.__module__ = "datasets.arrow_dataset"


TABLES = {
    "arrow": pa.table(COLUMNS),
    "arrow in chunks": pa.concat_tables([pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)]),
    "record batch": pa.RecordBatch.from_pydict(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "pandas": pd.DataFrame(COLUMNS, index=[9, 8, 7, 6]),
    "pandas of objects": pd.DataFrame(COLUMNS).astype(object),
    "pandas of categories": pd.DataFrame(COLUMNS).astype("category"),
    "a stream": StreamOnly(pa.table(COLUMNS)),
    "a struct array": ArrayOnly(pa.table(COLUMNS).to_struct_array().combine_chunks()),
    "a dataset": Dataset(pa.concat_tables([pa.table(COLUMNS), pa.table(COLUMNS)]), [4, 1, 6, 3]),
}

COLUMNS_ALONE = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "numpy": np.array(TEXTS),
    "numpy objects": np.array(TEXTS, dtype=object),
    "Array": pa.array(TEXTS),
    "ChunkedArray": pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
    "bytes": pa.array([text.encode() for text in TEXTS]),
    "polars Series": pl.Series("x", TEXTS),
    "pandas Series": pd.Series(TEXTS),
    "an array": ArrayOnly(pa.array(TEXTS)),
}


@pytest.mark.parametrize("data", TABLES.values(), ids=TABLES)
def test_tables_of_every_make_are_read_with_their_ids(data, read_all):
    source = open_source(data, id="key", columns=["n"])
    table = read_all(source)
    assert table.to_pydict() == {"text": TEXTS, "id": COLUMNS["key"], "n": COLUMNS["n"]}
    assert table.schema.field("text").type == pa.large_string()
    assert source.ids(np.array([3, 1])).to_pylist() == ["d", "b"]
    assert source.rows == source.read == 4


@pytest.mark.parametrize("data", COLUMNS_ALONE.values(), ids=COLUMNS_ALONE)
def test_columns_of_every_make_are_read_and_named_by_number(data, read_all):
    source = open_source(data)
    assert read_all(source)["text"].to_pylist() == TEXTS
    assert source.ids(np.array([3, 1])).equals(pa.array([3, 1]))


@pytest.mark.parametrize("batch_bytes", [1, 20, 1 << 20])
def test_a_source_can_be_scanned_again_and_the_rows_do_not_depend_on_the_batch(batch_bytes):
    source = open_source(text for text in TEXTS)
    for _ in range(2):
        assert [text for batch in source.scan(batch_bytes) for text in batch["text"].to_pylist()] == TEXTS


def test_kept_rows_come_as_what_was_given():
    assert open_source(TEXTS).kept(MASK) == ["eins", "vier"]
    assert open_source(np.array(TEXTS)).kept(MASK).tolist() == ["eins", "vier"]
    for kind in (pa.string(), pa.string_view()):
        array = pa.array(TEXTS, kind)
        assert open_source(array).kept(MASK).equals(pa.array(["eins", "vier"], kind))
        chunks = pa.chunked_array([array[:1], array[1:]])
        assert open_source(chunks).kept(MASK).equals(pa.chunked_array([["eins", "vier"]], kind))
    table = open_source(pa.table(COLUMNS)).kept(MASK)
    assert table.equals(pa.table(COLUMNS).filter(pa.array(MASK)))
    frame = open_source(pl.DataFrame(COLUMNS)).kept(MASK)
    assert frame.equals(pl.DataFrame(COLUMNS).filter(pl.Series(MASK)))
    series = open_source(pl.Series("x", TEXTS)).kept(MASK)
    assert series.to_list() == ["eins", "vier"]
    frame = open_source(pd.DataFrame(COLUMNS, index=[9, 8, 7, 6])).kept(MASK)
    assert frame.index.tolist() == [9, 6]
    assert frame["n"].tolist() == [4, 1]
    assert open_source(pd.Series(TEXTS)).kept(MASK).tolist() == ["eins", "vier"]
    table = open_source(StreamOnly(pa.table(COLUMNS))).kept(MASK)
    assert table.equals(pa.table(COLUMNS).filter(pa.array(MASK)))


def test_a_reader_is_read_once_and_kept_as_a_table(read_all):
    reader = pa.RecordBatchReader.from_batches(pa.table(COLUMNS).schema, pa.table(COLUMNS).to_batches())
    source = open_source(reader)
    assert read_all(source).equals(read_all(source))
    assert source.kept(MASK).equals(pa.table(COLUMNS).filter(pa.array(MASK)))


def test_kept_rows_can_be_written(tmp_path):
    (kept,) = open_source(pl.DataFrame(COLUMNS)).write_kept(tmp_path, MASK)
    assert pq.read_table(kept)["n"].to_pylist() == [4, 1]
    (kept,) = open_source(TEXTS).write_kept(tmp_path, MASK)
    assert pq.read_table(kept).to_pydict() == {"text": ["eins", "vier"]}


def test_arrow_strings_are_not_copied():
    column = pa.array(TEXTS)
    (batch,) = open_source(column).scan()
    assert batch["text"].buffers()[2].address == column.buffers()[2].address


def test_rows_that_cannot_serve_are_skipped_and_keep_their_numbers(read_all):
    texts = ["a", None, "b", "\ud800", "c"]
    source = open_source(texts, on_error="skip")
    assert read_all(source)["text"].to_pylist() == ["a", "b", "c"]
    assert (source.read, source.rows) == (3, 5)
    assert source.ids(np.array([0, 1, 2])).to_pylist() == [0, 2, 4]
    assert source.kept(np.array([False, True, True])) == ["b", "c"]
    assert [str(fault) for fault in source.unreadable.places] == [
        "input, row 1 (counted from 0): 'text' is null or missing",
        "input, row 3 (counted from 0): 'text' is not UTF-8: byte 0xed at offset 0",
    ]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("looked_at", [3, 1 << 20])
def test_one_bad_row_is_found_among_ascii_and_other_text_however_it_is_sliced(
    kind, looked_at, read_all, monkeypatch
):
    """Text that is all ASCII is known to be UTF-8 without a look at its rows, some rows at a time."""
    monkeypatch.setattr(columns, "_LOOKED_AT", looked_at)
    texts = [b"plain", b"", "é".encode(), None, b"x" * 50, b"half \xc3", b"\xa9", b"plain"]
    array = pa.array(texts, pa.binary() if kind == pa.string() else pa.large_binary()).view(kind)
    for start, stop in combinations(range(len(texts) + 1), 2):
        good = [text.decode() for text in texts[start:stop] if text not in (None, b"half \xc3", b"\xa9")]
        if good:
            source = open_source(array[start:stop], on_error="skip")
            assert read_all(source)["text"].to_pylist() == good


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", None], r"row 1 \(counted from 0\): 'text' is null"),
        (["a", "\ud800"], "row 1 .*not UTF-8"),
        (["a", b"\xff"], "row 1 .*not UTF-8: byte 0xff"),
    ],
)
def test_a_row_that_cannot_serve_is_named(texts, message, read_all):
    with pytest.raises(MalformedRowError, match=message):
        read_all(open_source(texts))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["a", 5], "row 1 of the list is an int, not a string"),
        ([{"text": "a"}], "from_pylist"),
        (7, "an int cannot be read: give a list of strings"),
        (b"bytes", "a bytes cannot be read"),
        ({"train": ["a"]}, "one split"),
        (pa.array([1, 2]), "holds int64, not text"),
        (pd.DataFrame({"text": pd.Series(["a", 5], dtype=object)}), r"does not convert to Arrow: .*astype"),
        (np.array("a text by itself"), "an ndarray cannot be read"),
        (pl.LazyFrame({"text": ["a"]}), "cannot be read"),
        (pa.table([["a"], ["b"]], names=["text", "text"]), "2 columns called 'text'"),
    ],
)
def test_what_holds_no_documents_is_refused(data, message):
    with pytest.raises(SourceError, match=message):
        open_source(data)


def test_a_missing_column_lists_those_there_are():
    with pytest.raises(
        MissingColumnError, match=r"the polars.DataFrame has no column 'keys': .*Did you mean 'key'"
    ):
        open_source(pl.DataFrame(COLUMNS), id="keys")
    # What the only column would be called is no name of one.
    with pytest.raises(MissingColumnError, match=r"a list has no column 'text' \(it is nothing but texts"):
        open_source(["a"], columns=["text"])
    with pytest.raises(MissingColumnError, match="a list has no column 'key'"):
        open_source(TEXTS, id="key")


def test_nothing_to_read_is_an_error(read_all):
    for nothing in ([], pa.table({"text": pa.array([], pa.string())}), iter(())):
        with pytest.raises(EmptySourceError, match="nothing to read"):
            read_all(open_source(nothing))


def test_duplicate_and_missing_ids_are_named(read_all):
    with pytest.raises(DuplicateIdError, match="id 'b' occurs twice, at row 1 and at row 2"):
        read_all(open_source(pl.DataFrame({"text": ["x"] * 4, "key": ["a", "b", "b", "a"]}), id="key"))
    with pytest.raises(MalformedRowError, match=r"row 1 .*'key' is null"):
        read_all(open_source(pl.DataFrame({"text": ["x", "y"], "key": ["a", None]}), id="key"))


def test_a_column_may_serve_twice(read_all):
    source = open_source(pa.table(COLUMNS), id="key", columns=["key", "text"])
    batch = read_all(source).to_batches()[0]
    assert batch.column(1).to_pylist() == batch.column(2).to_pylist() == COLUMNS["key"]
    assert batch.column(3).to_pylist() == TEXTS


def test_opening_a_source_again_gives_the_source():
    source = open_source(TEXTS)
    assert open_source(source) is source


class DatasetDict(dict):
    """Several splits; like a dataset it has columns and formats."""

    column_names = ("text",)

    def with_format(self, form):
        return self


class IterableDataset:
    """A dataset that is streamed: rows can be had one after the other only."""

    column_names = ("text",)

    def with_format(self, form):
        return self

    def __iter__(self):
        return iter([{"text": "a"}])


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (DatasetDict(), r"a split, such as data\['train'\]"),
        (IterableDataset(), r"\(row\['text'\] for row in data\)"),
        (pl.LazyFrame({"text": ["a"]}), r"\.collect\(\)"),
    ],
)
def test_what_has_to_be_asked_for_its_documents_is_refused_with_how(data, hint):
    with pytest.raises(SourceError, match=hint):
        open_source(data)


@pytest.mark.parametrize("make", [list, pd.Series, lambda texts: pd.DataFrame({"text": texts})])
def test_what_is_kept_is_of_what_was_given_whatever_becomes_of_it(make):
    given = make(TEXTS)
    source = open_source(given)
    for _ in source.scan():
        pass
    before = source.kept(MASK)
    if isinstance(given, list):
        given.reverse()
        assert source.kept(MASK) == before
        given.clear()
        assert source.kept(MASK) == before
    else:
        given.index = given.index + 100
        assert source.kept(MASK).equals(before)


def test_other_columns_of_a_frame_may_hold_anything(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "meta": [1, "two", {"three": 3}, object()], "n": [4, 3, 2, 1]})
    source = open_source(frame, columns=["n"])
    assert [text for batch in source.scan() for text in batch["text"].to_pylist()] == TEXTS
    assert source.kept(MASK)["meta"].tolist()[0] == 1
    with pytest.raises(SourceError, match=r"does not convert to Arrow: .*meta"):
        source.write_kept(tmp_path, MASK)


def test_columns_of_a_frame_go_by_their_names_as_strings():
    frame = pd.DataFrame([["a", "b"], ["c", "d"]])
    assert [text for batch in open_source(frame, text="1").scan() for text in batch["text"].to_pylist()] == [
        "b",
        "d",
    ]
    with pytest.raises(MissingColumnError, match="it has 0, 1"):
        open_source(frame)
    with pytest.raises(OptionError, match="1 is not the name of a column: give a string, such as '1'"):
        open_source(frame, text=1)


def test_a_name_that_two_columns_have_is_refused_where_it_is_asked_for():
    frame = pd.DataFrame([["a", "b", "c"]], columns=["text", "n", "n"])
    assert open_source(frame).read == 1
    with pytest.raises(SourceError, match=r"pandas\.DataFrame has 2 columns called 'n': rename all but one"):
        open_source(frame, columns=["n"])


@pytest.mark.parametrize(
    "nothing",
    [
        pd.DataFrame({"text": []}),
        pd.DataFrame({"text": []}, dtype=float),
        pd.Series([], dtype=float),
        pl.DataFrame({"text": []}),
        pa.table({"text": pa.array([], pa.string())}),
        [],
    ],
    ids=lambda nothing: f"{type(nothing).__module__.split('.')[0]}.{type(nothing).__name__}",
)
def test_a_frame_without_rows_has_nothing_to_read_whatever_type_its_columns_have(nothing):
    with pytest.raises(EmptySourceError, match="nothing to read"):
        dedup(nothing)
    with pytest.raises(EmptySourceError, match="nothing to read"):
        similar_pairs(nothing)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["text ", "id"], "it has 'text ', id. Did you mean 'text ', with the blank?"),
        (["  text"], "Did you mean '  text', with the blanks?"),
        (["te\xa0xt"], r"it has 'te\xa0xt'. Did you mean 'te\xa0xt'?"),
        (["\ufefftext"], r"it has '\ufefftext'"),
        (["Text", "the body"], "it has Text, the body. Did you mean 'Text'?"),
    ],
)
def test_a_column_whose_name_hides_a_blank_is_shown_with_it(columns, says):
    table = pa.table({name: ["a"] for name in columns})
    with pytest.raises(MissingColumnError) as raised:
        open_source(table)
    assert says in str(raised.value)


def test_a_name_with_a_blank_too_many_is_answered_with_the_one_without():
    with pytest.raises(MissingColumnError, match="Did you mean 'text', without the blank"):
        open_source(pa.table({"text": ["a"]}), text="text ")
