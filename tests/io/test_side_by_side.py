"""Small parquet files read and written by several threads: the same as one after the other."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.errors import MalformedRowError, SourceError
from lookalike.io import open_files

FILES, ROWS = 9, 50


@pytest.fixture
def folder(tmp_path):
    for file in range(FILES):
        first = file * ROWS
        texts = [f"document {row} " + "x" * (row % 17) for row in range(first, first + ROWS)]
        table = pa.table({"text": texts, "key": range(first, first + ROWS)})
        (tmp_path / "in").mkdir(exist_ok=True)
        pq.write_table(table, tmp_path / "in" / f"{file}.parquet")
    return tmp_path / "in"


def opened(folder, threads, on_error="raise"):
    source = open_files(folder, id="key", on_error=on_error)
    source.room, source.threads = 1 << 20, threads
    return source


def rows_of(batches):
    return pa.Table.from_batches(list(batches)).to_pylist()


@pytest.mark.parametrize("threads", [2, 4])
def test_rows_are_those_of_one_thread(folder, threads):
    one, several = opened(folder, 1), opened(folder, threads)
    assert several._are_small
    assert not one._are_small
    whole = rows_of(one.scan(400))
    assert rows_of(several.scan(400)) == whole
    assert np.array_equal(several.layout.starts, one.layout.starts)
    for row in (0, 1, ROWS - 1, ROWS, 4 * ROWS + 7, FILES * ROWS - 1):
        assert rows_of(several.scan_from(row, 400)) == whole[row:]
    assert list(several.scan_from(FILES * ROWS, 400)) == []


def test_kept_files_are_those_of_one_thread(folder, tmp_path):
    mask = np.random.default_rng(0).random(FILES * ROWS) < 0.5
    written = {}
    for threads in (1, 3):
        source = opened(folder, threads)
        list(source.scan())
        source.room = 1 << 30
        paths = source.write_kept(tmp_path / f"kept-{threads}", mask)
        written[threads] = {path.name: path.read_bytes() for path in paths}
        assert [path.name for path in paths] == [f"{file}.parquet" for file in range(FILES)]
    assert written[1] == written[3]


def test_files_that_are_not_small_are_read_one_after_the_other(folder):
    source = opened(folder, 2)
    source.room = 4 * 2 * 100
    assert not source._are_small
    assert len(rows_of(source.scan())) == FILES * ROWS


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_damaged_file_is_named(folder, threads):
    for file in (5, 3):
        content = bytearray((folder / f"{file}.parquet").read_bytes())
        content[20:60] = bytes(40)
        (folder / f"{file}.parquet").write_bytes(content)
    with pytest.raises((MalformedRowError, SourceError), match=r"3\.parquet"):
        list(opened(folder, threads).scan())
    skipping = opened(folder, threads, on_error="skip")
    rows = rows_of(skipping.scan())
    assert {row["id"] // ROWS for row in rows} == set(range(FILES)) - {3, 5}
    assert skipping.layout.unreadable.rows + skipping.layout.unreadable.files >= 2


@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_that_changes_between_two_readings_is_named(folder, threads):
    source = opened(folder, threads)
    list(source.scan())
    path = folder / "4.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(SourceError, match=r"4\.parquet was changed"):
        list(source.scan_from(0))


@pytest.mark.parametrize("threads", [1, 2])
def test_damage_in_a_column_that_nobody_read_is_told_with_its_file(tmp_path, threads):
    for file in range(3):
        texts = [f"text {row}" for row in range(ROWS)]
        others = [f"another {row} {file}" * 5 for row in range(ROWS)]
        table = pa.table({"text": texts, "other": others})
        (tmp_path / "in").mkdir(exist_ok=True)
        pq.write_table(table, tmp_path / "in" / f"{file}.parquet", use_dictionary=False)
    path = tmp_path / "in" / "1.parquet"
    chunk = pq.read_metadata(path).row_group(0).column(1)
    content = bytearray(path.read_bytes())
    middle = chunk.data_page_offset + chunk.total_compressed_size // 2
    content[middle : middle + 30] = bytes(30)
    path.write_bytes(content)
    source = open_files(tmp_path / "in")
    source.room, source.threads = 1 << 30, threads
    list(source.scan())
    with pytest.raises(SourceError, match=r"1\.parquet: a column beside those that were read is damaged"):
        source.write_kept(tmp_path / "kept", np.ones(3 * ROWS, np.bool_))
