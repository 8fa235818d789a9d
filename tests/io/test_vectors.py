"""Vectors in files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.errors import MissingColumnError, SourceError
from lookalike.io.vectors import read_ids, read_vectors

ROWS = np.arange(12).reshape(4, 3)


def write_vecs(path, rows, kind):
    with open(path, "wb") as file:
        for row in rows:
            np.array([len(row)], "<i4").tofile(file)
            np.asarray(row, kind).tofile(file)


@pytest.mark.parametrize(("suffix", "kind"), [("fvecs", "<f4"), ("bvecs", "u1"), ("ivecs", "<i4")])
def test_vecs_files_are_read(tmp_path, suffix, kind):
    path = tmp_path / f"base.{suffix}"
    write_vecs(path, ROWS, kind)
    read = read_vectors(path)
    np.testing.assert_array_equal(read, ROWS)
    assert read.dtype == np.dtype(kind)


def test_npy_files_are_mapped(tmp_path):
    np.save(tmp_path / "x.npy", ROWS.astype(np.float32))
    read = read_vectors(tmp_path / "x.npy")
    assert isinstance(read, np.memmap)
    np.testing.assert_array_equal(read, ROWS)


def test_parquet_columns_are_found_or_named(tmp_path):
    table = pa.table({"id": ["a", "b", "c", "d"], "v": ROWS.tolist(), "w": (ROWS * 2.0).tolist()})
    pq.write_table(table.drop_columns("w"), tmp_path / "one.parquet")
    pq.write_table(table, tmp_path / "two.parquet")
    assert read_vectors(tmp_path / "one.parquet").to_pylist() == ROWS.tolist()
    assert read_vectors(tmp_path / "two.parquet", column="w").to_pylist() == (ROWS * 2.0).tolist()
    assert read_ids(tmp_path / "one.parquet", "id").to_pylist() == ["a", "b", "c", "d"]
    with pytest.raises(MissingColumnError, match=r"several columns of vectors \(v, w\)"):
        read_vectors(tmp_path / "two.parquet")
    with pytest.raises(MissingColumnError, match="no column 'x': name one of v, w"):
        read_vectors(tmp_path / "two.parquet", column="x")
    with pytest.raises(MissingColumnError, match="no column 'key'"):
        read_ids(tmp_path / "one.parquet", "key")


def test_damaged_files_are_named(tmp_path):
    write_vecs(tmp_path / "cut.fvecs", ROWS, "<f4")
    whole = (tmp_path / "cut.fvecs").read_bytes()
    (tmp_path / "cut.fvecs").write_bytes(whole[:-1])
    (tmp_path / "empty.bvecs").write_bytes(b"")
    wrong = bytearray(whole)
    wrong[16:20] = (2).to_bytes(4, "little")
    (tmp_path / "wrong.fvecs").write_bytes(wrong)
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "text.parquet").write_text("hello")
    np.save(tmp_path / "flat.npy", np.arange(3))
    (tmp_path / "x.csv").write_text("1,2\n")
    for name, message in {
        "cut.fvecs": "no whole number of vectors",
        "empty.bvecs": "0 bytes",
        "wrong.fvecs": "row 1 says it has 2 coordinates, the first 3",
        "text.npy": "no matrix of numbers",
        "text.parquet": "cannot be read as Parquet",
        "flat.npy": r"shape \(3,\)",
        "x.csv": "none of",
        "absent.npy": "there is no file",
    }.items():
        with pytest.raises(SourceError, match=message):
            read_vectors(tmp_path / name)
    with pytest.raises(SourceError, match="numbers only"):
        read_ids(tmp_path / "flat.npy", "id")


@pytest.mark.parametrize("saved", ["several", "text"])
def test_a_file_that_is_no_npy_is_not_taken_for_pickles(tmp_path, saved):
    place = tmp_path / "x.npy"
    if saved == "several":
        with place.open("wb") as file:
            np.savez(file, np.ones((2, 2)))
    else:
        place.write_text("1 2 3")
    with pytest.raises(SourceError, match=r"is no matrix of numbers that numpy.save wrote$"):
        read_vectors(place)
