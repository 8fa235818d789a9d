"""A stored table comes back batch by batch as it was, or not at all."""

import errno
import os
import resource
import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.runs.processes import forked, waited

from lookalike.errors import ArtefactError, OutputError, SourceError
from lookalike.runs import Header, StoredTable

HEADER = Header(kind="keys", algorithm=3, parameters={"threshold": 0.8, "sizes": (1, 2)})
TABLE = pa.table(
    {
        "row": pa.array([0, 1, 2, 3, 4], pa.int64()),
        "text": pa.array(["a", None, "ü", "", "dd"], pa.large_string()),
        "set": pa.array([[1, 2], [], None, [3], [4, 5, 6]], pa.list_(pa.uint64())),
        "host": pa.array(["x", "y", "x", None, "x"]).dictionary_encode(),
        "flag": pa.array([True, False, None, True, True]),
    }
)

one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)


def write(path, table=TABLE, size=2, header=HEADER, **options):
    return StoredTable.write(path, table.schema, table.to_batches(max_chunksize=size), header, **options)


def content(stored):
    return pa.Table.from_batches(stored.batches(), stored.schema)


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_a_table_comes_back_in_the_same_batches(tmp_path, compression):
    write(tmp_path / "t", compression=compression)
    stored = StoredTable.open(tmp_path / "t", HEADER)
    assert content(stored).equals(TABLE)
    assert stored.schema.equals(TABLE.schema)
    assert (stored.rows, stored.batch_rows) == (5, (2, 2, 1))
    assert stored.batch(1).equals(TABLE.to_batches(max_chunksize=2)[1])
    assert stored.batch(-1).equals(TABLE.to_batches(max_chunksize=2)[2])
    assert [batch.num_rows for batch in stored.batches()] == [2, 2, 1]
    assert stored.verify()


def test_what_was_written_is_open_at_once(tmp_path):
    stored = write(tmp_path / "t")
    assert content(stored).equals(TABLE)
    assert 0 < stored.nbytes < (tmp_path / "t").stat().st_size


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_a_table_without_rows_keeps_its_schema(tmp_path, batches):
    empty = pa.RecordBatch.from_pylist([], TABLE.schema)
    stored = StoredTable.write(tmp_path / "t", TABLE.schema, [empty] * batches, HEADER)
    assert stored.schema.equals(TABLE.schema)
    assert (stored.rows, stored.batch_rows) == (0, (0,) * batches)
    assert stored.verify()


columns = st.lists(st.none() | st.integers(0, 2**64 - 1), max_size=50)


@one_folder
@given(numbers=columns, size=st.integers(1, 20), begin=st.integers(0, 10))
def test_any_cut_of_any_slice_comes_back(tmp_path, numbers, size, begin):
    table = pa.table({"number": pa.array(numbers, pa.uint64())}).slice(begin)
    assert content(write(tmp_path / "t", table, size)).equals(table)


def test_batches_of_another_schema_are_refused_and_leave_nothing(tmp_path):
    other = pa.record_batch({"other": [1]})
    with pytest.raises(ValueError):
        StoredTable.write(tmp_path / "t", TABLE.schema, [*TABLE.to_batches(), other], HEADER)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "pairs"}, "holds keys, not pairs"),
        ({"algorithm": 4}, "version 3 of the algorithm and this is version 4"),
        ({"parameters": {"threshold": 0.7, "sizes": [1, 2]}}, "threshold=0.8 and threshold=0.7"),
        ({"parameters": {**HEADER.parameters, "seed": 1}}, "seed=None and seed=1"),
        ({"parameters": {"threshold": 0.8}}, r"sizes=\[1, 2\] and sizes=None"),
    ],
)
def test_a_table_made_otherwise_is_refused(tmp_path, changes, said):
    write(tmp_path / "t")
    asked = {"kind": HEADER.kind, "algorithm": HEADER.algorithm, "parameters": HEADER.parameters}
    with pytest.raises(ArtefactError, match=said):
        StoredTable.open(tmp_path / "t", Header(**{**asked, **changes}))


def test_every_flipped_bit_is_noticed_before_a_batch_is_handed_out(tmp_path):
    path = tmp_path / "t"
    stored = write(path, TABLE.select(["row", "text"])[:3], 2)
    whole = path.read_bytes()
    batches = list(stored.batches())
    for bit in range(0, 8 * len(whole), 3):
        harmed = bytearray(whole)
        harmed[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(harmed)
        assert not stored.verify()
        seen = []
        with pytest.raises(ArtefactError, match=r"t is damaged"):
            seen.extend(StoredTable.open(path, HEADER).batches())
        assert all(batch.equals(batches[place]) for place, batch in enumerate(seen))


def test_every_cut_is_noticed(tmp_path):
    path = tmp_path / "t"
    stored = write(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        assert not stored.verify()
        with pytest.raises(ArtefactError, match=r"t is damaged"):
            StoredTable.open(path)


@one_folder
@given(data=st.data())
def test_holes_additions_and_other_files_are_noticed(tmp_path, data):
    path = tmp_path / "t"
    write(path)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    hole = whole[:at] + whole[at + data.draw(st.integers(1, 64)) :]
    added = whole[:at] + data.draw(st.binary(min_size=1, max_size=64)) + whole[at:]
    path.write_bytes(
        data.draw(st.sampled_from([hole, added, whole + whole, data.draw(st.binary(max_size=99))]))
    )
    with pytest.raises(ArtefactError, match="damaged"):
        list(StoredTable.open(path).batches())


def test_damage_after_opening_is_noticed_in_the_batch_that_has_it(tmp_path):
    path = tmp_path / "t"
    stored = write(path)
    whole = bytearray(path.read_bytes())
    # The last byte of the last batch, just before the description.
    whole[stored._blocks[-1].begin + stored._blocks[-1].size - 1] ^= 1
    path.write_bytes(whole)
    batches = stored.batches()
    assert next(batches).equals(TABLE.to_batches(max_chunksize=2)[0])
    assert next(batches).equals(TABLE.to_batches(max_chunksize=2)[1])
    with pytest.raises(ArtefactError, match=rf"{path} is damaged"):
        next(batches)


def test_a_file_that_is_gone_is_named(tmp_path):
    stored = write(tmp_path / "t")
    (tmp_path / "t").unlink()
    assert not stored.verify()
    for read in (lambda: stored.batch(0), lambda: StoredTable.open(tmp_path / "t")):
        with pytest.raises(SourceError, match="there is no file"):
            read()


def test_another_table_under_the_same_name_does_not_verify(tmp_path):
    stored = write(tmp_path / "t")
    write(tmp_path / "t", TABLE[::-1])
    assert not stored.verify()


def test_threads_read_different_batches_at_once(tmp_path):
    table = pa.table({"row": np.arange(100_000)})
    stored, seen = write(tmp_path / "t", table, 1000), {}
    threads = [
        threading.Thread(
            target=lambda part=part: seen.update({at: stored.batch(at) for at in range(part, 100, 4)})
        )
        for part in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pa.Table.from_batches([seen[at] for at in range(100)]).equals(table)


def test_batches_can_be_worked_on_where_they_lie(tmp_path):
    stored = write(tmp_path / "t", pa.table({"flag": [1], "number": pa.array([7], pa.uint64())}))
    numbers = stored.batch(0)["number"].to_numpy()
    assert numbers.ctypes.data % 8 == 0
    assert numbers.tolist() == [7]


def test_only_one_batch_is_in_memory(tmp_path):
    """300 MB go through a process that may grow by 100."""

    def work(_):
        path, megabyte = tmp_path / "t", 1 << 20
        schema = pa.schema({"number": pa.int64()})
        made = (pa.record_batch({"number": np.full(megabyte // 8, at)}) for at in range(300))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        stored = StoredTable.write(path, schema, made, HEADER)
        assert stored.verify()
        assert sum(batch["number"][0].as_py() for batch in stored.batches()) == 299 * 150
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024

    assert waited(forked(work)) == 0


def test_a_failed_write_keeps_what_was_there(tmp_path, monkeypatch):
    write(tmp_path / "t")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="full"):
        write(tmp_path / "t", TABLE[:1])
    monkeypatch.undo()
    assert content(StoredTable.open(tmp_path / "t")).equals(TABLE)
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
