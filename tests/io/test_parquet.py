"""Parquet: every layout of strings in, the same schema out, damage named."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.errors import MalformedRowError, MissingColumnError, SourceError
from lookalike.io import Source, open_files, parquet

TEXTS = ["ü", "", "three", "four", "five"]


def layouts():
    yield "string", pa.array(TEXTS, pa.string())
    yield "large_string", pa.array(TEXTS, pa.large_string())
    yield "string_view", pa.array(TEXTS, pa.string_view())
    yield "binary", pa.array([text.encode() for text in TEXTS], pa.binary())
    yield "large_binary", pa.array([text.encode() for text in TEXTS], pa.large_binary())
    yield "dictionary", pa.array(TEXTS).dictionary_encode()


@pytest.mark.parametrize("column", [array for _, array in layouts()], ids=[name for name, _ in layouts()])
def test_strings_of_every_layout_are_text(tmp_path, read_all, column):
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet", row_group_size=2)
    table = read_all(open_files(tmp_path))
    assert table.schema == pa.schema([("text", pa.large_string())])
    assert table["text"].to_pylist() == TEXTS


@pytest.mark.parametrize("batch_bytes", [1, 100, 1 << 20])
def test_rows_come_in_order_whatever_the_batch(tmp_path, batch_bytes):
    texts = [f"document {row}" for row in range(5000)]
    pq.write_table(pa.table({"text": texts, "key": range(5000)}), tmp_path / "a.parquet", row_group_size=700)
    source = open_files(tmp_path, id="key")
    batches = list(source.scan(batch_bytes))
    assert [text for batch in batches for text in batch["text"].to_pylist()] == texts
    assert all(batch.nbytes <= batch_bytes or batch.num_rows == 1 for batch in batches)
    assert source.ids(np.array([4999, 0])).equals(pa.array([4999, 0]))


def test_kept_rows_have_the_schema_the_compression_and_the_order_of_the_input(tmp_path):
    table = pa.table(
        {
            "text": pa.array(TEXTS, pa.string_view()),
            "tags": [["a"], [], None, ["b", "c"], ["d"]],
            "when": pa.array(range(5), pa.timestamp("us", tz="UTC")),
            "code": pa.array(["x", "y", "x", None, "y"]).dictionary_encode(),
        }
    ).replace_schema_metadata({"owner": "someone"})
    codecs = {"text": "gzip", "tags.list.element": "none", "when": "zstd", "code": "snappy"}
    path = tmp_path / "in" / "a.parquet"
    path.parent.mkdir()
    pq.write_table(table, path, row_group_size=2, compression=codecs)
    mask = np.array([True, False, False, False, True])
    (kept,) = open_files(path.parent).write_kept(tmp_path / "kept", mask)
    stored = pq.read_table(kept)
    assert stored.to_pylist() == [table.to_pylist()[row] for row in (0, 4)]
    assert stored.schema.equals(pq.read_table(path).schema, check_metadata=True)
    metadata = pq.read_metadata(kept)
    assert metadata.num_row_groups == 2
    columns = [metadata.row_group(0).column(number) for number in range(4)]
    assert {column.path_in_schema: column.compression for column in columns} == {
        "text": "GZIP",
        "tags.list.element": "UNCOMPRESSED",
        "when": "ZSTD",
        "code": "SNAPPY",
    }


def test_a_file_of_which_nothing_is_kept_is_an_empty_table_of_the_same_schema(tmp_path):
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "a.parquet")
    (kept,) = open_files(tmp_path / "a.parquet").write_kept(tmp_path / "kept", np.zeros(5, dtype=bool))
    assert pq.read_table(kept).equals(pa.table({"text": pa.array([], pa.string())}))


@pytest.mark.parametrize(
    "harm",
    [
        lambda whole: whole[:-10],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b"",
        lambda whole: b"PAR1",
        lambda whole: b"x" * 1000,
        lambda whole: whole[:-4] + b"PAR2",
    ],
    ids=["cut at the end", "half", "empty", "magic alone", "something else", "wrong magic"],
)
def test_a_broken_file_is_refused_or_counted(tmp_path, read_all, harm):
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(harm((tmp_path / "a.parquet").read_bytes()))
    with pytest.raises(
        SourceError, match=r"b\.parquet: it cannot be read .*Replace the file.*on_error='skip'"
    ):
        open_files(tmp_path)
    source = open_files(tmp_path, on_error="skip")
    assert read_all(source)["text"].to_pylist() == TEXTS
    assert source.unreadable.files == 1
    assert [path.name for path in source.write_kept(tmp_path / "kept", np.ones(5, dtype=bool))] == [
        "a.parquet"
    ]


@pytest.fixture(params=[False, True], ids=["small groups", "large groups"])
def large_groups(request, monkeypatch):
    """Whether row groups are large enough to be read and written in pieces."""
    if request.param:
        monkeypatch.setattr(parquet, "_LARGE_GROUP", 20_000)
        monkeypatch.setattr(parquet, "_KEPT_GROUP", 15_000)
        monkeypatch.setattr(parquet, "_PIECE", 7_000)


@pytest.mark.usefixtures("large_groups")
@pytest.mark.parametrize("batch_bytes", [1, 9_000, 1 << 20])
def test_rows_come_and_are_kept_in_order_whatever_the_size_of_groups(tmp_path, read_all, batch_bytes):
    path = tmp_path / "a.parquet"
    texts = [f"document {row} " * (row % 40) for row in range(3000)]
    pq.write_table(pa.table({"text": texts, "n": range(3000)}), path, row_group_size=1100)
    source = open_files(path)
    assert read_all(source, batch_bytes)["text"].to_pylist() == texts
    mask = np.arange(3000) % 7 < 3
    mask[1100:2200] = False
    (kept,) = source.write_kept(tmp_path / "kept", mask)
    written = pq.read_table(kept)
    assert written["n"].to_pylist() == np.flatnonzero(mask).tolist()
    assert written["text"].to_pylist() == [texts[row] for row in np.flatnonzero(mask)]
    metadata = pq.read_metadata(kept)
    assert all(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))


def test_little_room_means_no_scanner_and_changes_nothing(tmp_path, read_all, monkeypatch):
    path = tmp_path / "a.parquet"
    texts = [f"document {row} " * (row % 40) for row in range(3000)]
    pq.write_table(pa.table({"text": texts, "n": range(3000)}), path, row_group_size=700)
    scanned = []
    scan = parquet._scan
    monkeypatch.setattr(parquet, "_scan", lambda *asked: [scanned.append(room), scan(*asked)][1])
    kept = []
    for room in (None, 1 << 30, 1 << 17, 0):
        source = open_files(path)
        source.room = room
        assert read_all(source)["text"].to_pylist() == texts
        kept.append(source.write_kept(tmp_path / f"kept {room}", np.arange(3000) % 7 < 3)[0].read_bytes())
    assert scanned == [None, 1 << 30]
    assert len(set(kept)) == 1


@pytest.mark.usefixtures("large_groups")
@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
@pytest.mark.parametrize("room", [None, 0])
def test_a_damaged_row_group_loses_its_rows_and_no_others(tmp_path, read_all, batch_bytes, room, monkeypatch):
    monkeypatch.setattr(Source, "room", room)
    path = tmp_path / "a.parquet"
    texts = [f"document {row} " * 20 for row in range(3000)]
    table = pa.table({"text": texts, "n": range(3000)})
    pq.write_table(table, path, row_group_size=1000, use_dictionary=False, write_page_checksum=True)
    column = pq.read_metadata(path).row_group(1).column(0)
    whole = bytearray(path.read_bytes())
    middle = column.data_page_offset + column.total_compressed_size // 2
    whole[middle : middle + 40] = bytes(40)
    path.write_bytes(whole)

    with pytest.raises(MalformedRowError, match=r"a\.parquet, rows 1000 to 1999: row group 1 is damaged"):
        read_all(open_files(path), batch_bytes)
    source = open_files(path, on_error="skip")
    assert read_all(source, batch_bytes)["text"].to_pylist() == texts[:1000] + texts[2000:]
    assert (source.read, source.rows, source.unreadable.rows) == (2000, 3000, 1000)
    assert source.ids(np.array([999, 1000])).to_pylist() == [f"{path}:999", f"{path}:2000"]
    (kept,) = source.write_kept(tmp_path / "kept", np.arange(2000) % 1000 == 0)
    assert pq.read_table(kept)["n"].to_pylist() == [0, 2000]


def test_bytes_that_are_not_utf8_are_named_by_row_and_offset(tmp_path, read_all):
    column = pa.array([b"fine", b"ok\xff", b"fine"], pa.binary())
    for name, array in ("bytes", column), ("string", column.view(pa.string())):
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({"text": array}), path)
        message = rf"{name}\.parquet, row 1 \(counted from 0\): 'text' is not UTF-8: byte 0xff at offset 2"
        with pytest.raises(MalformedRowError, match=message):
            read_all(open_files(path))
        source = open_files(path, on_error="skip")
        assert read_all(source)["text"].to_pylist() == ["fine", "fine"]
        assert source.unreadable.rows == 1


def test_null_text_is_named_or_counted(tmp_path, read_all):
    pq.write_table(pa.table({"text": ["a", None, "c"]}), tmp_path / "a.parquet")
    with pytest.raises(MalformedRowError, match=r"row 1 .*'text' is null"):
        read_all(open_files(tmp_path))
    assert read_all(open_files(tmp_path, on_error="skip"))["text"].to_pylist() == ["a", "c"]


def test_a_column_without_any_value_is_all_null(tmp_path, read_all):
    pq.write_table(pa.table({"text": pa.nulls(3)}), tmp_path / "a.parquet")
    with pytest.raises(MalformedRowError, match=r"row 0 .*'text' is null"):
        read_all(open_files(tmp_path))


@pytest.mark.parametrize(
    ("column", "kind"), [([1, 2], "int64"), ([["a"], ["b"]], "list"), ([{"a": 1}, {"a": 2}], "struct")]
)
def test_text_that_is_not_text_is_refused(tmp_path, column, kind):
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=rf"'text' of .*a\.parquet holds {kind}.*, not text.*text='COLUMN'"):
        open_files(tmp_path)


def test_an_id_that_cannot_be_one_is_refused(tmp_path):
    pq.write_table(pa.table({"text": ["a"], "key": [[1]]}), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="cannot serve as an id"):
        open_files(tmp_path, id="key")


def test_a_missing_column_is_named(tmp_path):
    pq.write_table(pa.table({"body": ["a"], "n": [1]}), tmp_path / "a.parquet")
    with pytest.raises(MissingColumnError, match="no column 'text': it has body, n"):
        open_files(tmp_path)
    with pytest.raises(MissingColumnError, match="no column 'key'"):
        open_files(tmp_path, text="body", id="key")


def test_a_name_that_two_columns_have_is_refused_where_it_is_asked_for(tmp_path):
    table = pa.table([["a"], ["b"], [1], [2]], names=["text", "text", "n", "n"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=r"a\.parquet has 2 columns called 'text': rename all but one"):
        open_files(tmp_path)
    pq.write_table(table.select([0, 2, 3]), tmp_path / "a.parquet")
    assert open_files(tmp_path).read == 1
    with pytest.raises(SourceError, match="2 columns called 'n'"):
        open_files(tmp_path, id="n")


def test_an_id_that_no_common_type_holds_is_named_with_its_row(tmp_path):
    pq.write_table(pa.table({"text": ["a", "b"], "key": pa.array([-1, 2])}), tmp_path / "a.parquet")
    large = pa.array([5, 2**64 - 1], pa.uint64())
    pq.write_table(pa.table({"text": ["c", "d"], "key": large}), tmp_path / "b.parquet")
    with pytest.raises(MalformedRowError, match=r"b\.parquet, row 1 .*'key' is 18446744073709551615, which"):
        assert open_files(tmp_path, id="key").read
    source = open_files(tmp_path, id="key", on_error="skip")
    assert source.ids(np.arange(source.read)).to_pylist() == [-1, 2, 5]
    assert (source.unreadable.rows, source.unreadable.files) == (1, 0)


def test_decimals_and_whole_numbers_are_ids_together(tmp_path):
    pq.write_table(pa.table({"text": ["a"], "key": [2**53 + 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["b"], "key": [Decimal("0.5")]}), tmp_path / "b.parquet")
    source = open_files(tmp_path, id="key")
    assert source.ids(np.arange(source.read)).to_pylist() == [str(2**53 + 1), "0.5"]
