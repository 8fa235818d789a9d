"""Stored tables and arrays come back as they were, or not at all."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lookalike.errors import ArtefactError, SourceError
from lookalike.runs import Header, read_arrays, read_header, read_parquet, write_arrays, write_parquet

HEADER = Header(kind="pairs", algorithm=1, parameters={"note": 'a "checksum":"0" in a note'})
TABLE = pa.table(
    {
        "id": pa.array(["a", "ü", None], pa.large_string()),
        "similarity": pa.array([0.5, 1.0, 0.8]),
        "text": ['"checksum":"' + "0" * 32 + '"', "b", "c"],
    }
)
ARRAYS = {"signatures": np.arange(24, dtype=np.uint32).reshape(4, 6), "offsets": np.array([0, 3, 7])}

one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def test_a_table_comes_back_with_its_types_and_its_header(tmp_path):
    write_parquet(tmp_path / "t.parquet", TABLE, HEADER)
    table, header = read_parquet(tmp_path / "t.parquet", kind="pairs", algorithm=1)
    assert table.equals(TABLE)
    assert table.schema.equals(TABLE.schema)
    assert (header.kind, header.parameters) == (HEADER.kind, HEADER.parameters)
    assert read_header(tmp_path / "t.parquet") == header


def test_any_parquet_reader_can_open_a_stored_table(tmp_path):
    write_parquet(tmp_path / "t.parquet", TABLE, HEADER)
    assert pq.read_table(tmp_path / "t.parquet").equals(TABLE)
    assert b"lookalike" in pq.read_metadata(tmp_path / "t.parquet").metadata


def test_a_table_can_be_written_batch_by_batch(tmp_path):
    batches = TABLE.to_batches(max_chunksize=1)
    write_parquet(tmp_path / "t.parquet", iter(batches), HEADER, schema=TABLE.schema)
    assert read_parquet(tmp_path / "t.parquet")[0].equals(TABLE)


def test_metadata_of_a_schema_does_not_hide_the_checksum(tmp_path):
    table = TABLE.replace_schema_metadata({"zz": '"checksum":"' + "1" * 32 + '"'})
    write_parquet(tmp_path / "t.parquet", table, HEADER)
    assert read_parquet(tmp_path / "t.parquet")[0].equals(TABLE)


def test_the_same_table_makes_the_same_bytes(tmp_path):
    write_parquet(tmp_path / "a.parquet", TABLE, HEADER)
    write_parquet(tmp_path / "b.parquet", TABLE, HEADER)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_every_flipped_bit_of_a_stored_table_is_noticed(tmp_path):
    path = tmp_path / "t.parquet"
    write_parquet(path, pa.table({"a": [1, 2, 3]}), HEADER)
    whole = path.read_bytes()
    for position in range(len(whole)):
        path.write_bytes(flip(whole, 8 * position + position % 8))
        with pytest.raises(ArtefactError):
            read_parquet(path)


@one_folder
@given(data=st.data())
def test_flips_cuts_and_additions_to_a_table_are_noticed(tmp_path, data):
    path = tmp_path / "t.parquet"
    write_parquet(path, TABLE, HEADER)
    path.write_bytes(data.draw(harmed(path.read_bytes())))
    with pytest.raises(ArtefactError, match=r"damaged|not a file of Lookalike"):
        read_parquet(path)


def test_a_parquet_file_of_someone_else_is_not_taken_for_ours(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    with pytest.raises(ArtefactError, match="not a file of Lookalike"):
        read_parquet(tmp_path / "t.parquet")


def test_a_table_of_another_kind_is_refused(tmp_path):
    write_parquet(tmp_path / "t.parquet", TABLE, HEADER)
    with pytest.raises(ArtefactError, match="holds pairs, not clusters"):
        read_parquet(tmp_path / "t.parquet", kind="clusters")


@one_folder
@given(
    arrays=st.dictionaries(
        st.text(max_size=8),
        hnp.arrays(
            dtype=st.sampled_from(["u1", "?", "<u4", "<i8", "<f8", ">i4"]),
            shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
        ),
        max_size=4,
    )
)
def test_arrays_come_back_as_they_were(tmp_path, arrays):
    write_arrays(tmp_path / "a.bin", arrays, HEADER)
    stored, header = read_arrays(tmp_path / "a.bin", kind="pairs")
    assert header == HEADER
    assert list(stored) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(stored[name], array)
        assert stored[name].dtype == array.dtype.newbyteorder("<")
        assert stored[name].shape == array.shape


def test_stored_arrays_are_aligned_and_read_only(tmp_path):
    write_arrays(tmp_path / "a.bin", ARRAYS, HEADER)
    for array in read_arrays(tmp_path / "a.bin")[0].values():
        assert array.ctypes.data % 64 == 0
        assert not array.flags.writeable


def test_arrays_that_are_not_contiguous_are_stored_by_value(tmp_path):
    array = np.arange(20).reshape(4, 5).T[::2]
    write_arrays(tmp_path / "a.bin", {"a": array}, HEADER)
    np.testing.assert_array_equal(read_arrays(tmp_path / "a.bin")[0]["a"], array)


def test_arrays_of_objects_are_refused(tmp_path):
    with pytest.raises(TypeError, match="only numbers"):
        write_arrays(tmp_path / "a.bin", {"a": np.array(["x"], dtype=object)}, HEADER)


def test_every_flipped_bit_of_stored_arrays_is_noticed(tmp_path):
    path = tmp_path / "a.bin"
    write_arrays(path, ARRAYS, HEADER)
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        path.write_bytes(flip(whole, bit))
        with pytest.raises(ArtefactError, match="damaged"):
            read_arrays(path)


@one_folder
@given(data=st.data())
def test_flips_cuts_and_additions_to_arrays_are_noticed(tmp_path, data):
    path = tmp_path / "a.bin"
    write_arrays(path, ARRAYS, HEADER)
    path.write_bytes(data.draw(harmed(path.read_bytes())))
    with pytest.raises(ArtefactError, match="damaged"):
        read_arrays(path)


@pytest.mark.parametrize("read", [read_arrays, read_parquet])
def test_a_missing_file_is_named(tmp_path, read):
    with pytest.raises(SourceError, match="there is no file"):
        read(tmp_path / "missing")


def flip(whole: bytes, bit: int) -> bytes:
    harmed_bytes = bytearray(whole)
    harmed_bytes[bit // 8] ^= 1 << (bit % 8)
    return bytes(harmed_bytes)


def harmed(whole: bytes) -> st.SearchStrategy[bytes]:
    flips = st.integers(0, 8 * len(whole) - 1).map(lambda bit: flip(whole, bit))
    cuts = st.integers(0, len(whole) - 1).map(lambda size: whole[:size])
    additions = st.binary(min_size=1, max_size=200).map(lambda more: whole + more)
    holes = st.tuples(st.integers(0, len(whole) - 1), st.integers(1, 64)).map(
        lambda hole: whole[: hole[0]] + whole[hole[0] + hole[1] :]
    )
    return flips | cuts | additions | holes
