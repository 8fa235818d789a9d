"""Batches on disk come back as they were, or as an error; and their files are gone when they are."""

import errno
import gc
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from lookalike.engines import spill
from lookalike.engines.spill import Batches, SpillFile, loaded, row_numbers
from lookalike.errors import ArtefactError, OutputError

COLUMNS = {
    "int64": pa.array([1, -2, 3, 4, 5]),
    "uint64": pa.array([1, 2**64 - 1, 3, 4, 5], pa.uint64()),
    "uint32": pa.array([1, 2**32 - 1, 3, 4, 5], pa.uint32()),
    "uint8": pa.array([0, 255, 3, 4, 5], pa.uint8()),
    "float64": pa.array([0.5, float("inf"), -0.0, 1e-300, 2]),
    "bool": pa.array([True, False, True, True, False]),
    "large_string": pa.array(["", "ä", "three words here", "", "x" * 5000], pa.large_string()),
    "string": pa.array(["", "ä", "three words here", None, "x" * 5000]),
    "nulls": pa.array([1, None, None, 4, None]),
    "large_list": pa.array([[], [1, 2], [2**64 - 1], [], list(range(99))], pa.large_list(pa.uint64())),
    "list": pa.array([[], [1, 2], None, [], list(range(99))], pa.list_(pa.int32())),
    "slots": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(40, dtype=np.uint32)), 8),
    "timestamp": pa.array([1, 2, None, 4, 5], pa.timestamp("us", "UTC")),
}


@pytest.fixture
def file(tmp_path):
    return SpillFile(tmp_path)


@pytest.mark.parametrize("name", COLUMNS)
def test_every_kind_of_column_comes_back_as_it_was(file, name):
    batch = pa.record_batch({"row": np.arange(5), "value": COLUMNS[name]})
    for some in (batch, batch.slice(1, 3), batch.slice(4), batch.slice(0, 1), batch.slice(2).slice(1, 1)):
        back = file.append(some).load()
        back.validate(full=True)
        assert back.equals(some)
        assert back.schema == batch.schema


def test_what_is_put_away_is_as_large_as_a_slice_is_and_not_as_what_it_was_cut_from(file):
    long = pa.record_batch({"text": pa.array(["x" * 1000] * 1000, pa.large_string())})
    assert file.append(long.slice(17, 3)).stored < 5000


def test_a_batch_without_columns_or_rows_comes_back(file):
    empty = pa.record_batch({"text": pa.array([], pa.large_string())})
    assert file.append(empty).load().equals(empty)


def test_batches_of_other_schemas_may_share_a_file(file):
    numbers, words = pa.record_batch({"x": [1, 2]}), pa.record_batch({"word": ["a", "b", "c"]})
    pieces = [file.append(numbers), file.append(words), file.append(numbers)]
    assert [piece.load() for piece in pieces] == [numbers, words, numbers]


@pytest.mark.parametrize("place", [0, 1, 7, 100, -1])
def test_a_flipped_bit_is_an_error_and_never_an_answer(file, place):
    piece = file.append(pa.record_batch({"x": np.arange(100)}))
    at = place % piece.stored
    byte = os.pread(file._descriptor, 1, at)
    os.pwrite(file._descriptor, bytes([byte[0] ^ 4]), at)
    with pytest.raises(ArtefactError, match="came back changed"):
        piece.load()


def test_a_file_that_was_cut_off_is_an_error(file):
    piece = file.append(pa.record_batch({"x": np.arange(100)}))
    os.ftruncate(file._descriptor, piece.stored - 1)
    with pytest.raises(ArtefactError, match="came back changed"):
        piece.load()


def test_reads_and_writes_that_the_system_cuts_short_go_on(file, monkeypatch):
    write, read = os.pwrite, os.preadv
    monkeypatch.setattr(spill.os, "pwrite", lambda fd, data, at: write(fd, data[:7], at))
    monkeypatch.setattr(spill.os, "preadv", lambda fd, views, at: read(fd, [views[0][:5]], at))
    batch = pa.record_batch({"x": np.arange(100)})
    pieces = [file.append(batch), file.append(batch.slice(3, 9))]
    assert [piece.load() for piece in pieces] == [batch, batch.slice(3, 9)]


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "is full"), (errno.EIO, "cannot be used")])
def test_a_disk_that_takes_no_more_is_an_error_that_says_what_to_do(
    file, monkeypatch, tmp_path, number, words
):
    kept = file.append(pa.record_batch({"x": np.arange(5)}))

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(spill.os, "pwrite", refuse)
    with pytest.raises(OutputError, match=words) as caught:
        file.append(pa.record_batch({"x": np.arange(100)}))
    assert all(word in str(caught.value) for word in (str(tmp_path), "scratch='FOLDER'", "memory="))
    monkeypatch.undo()
    # What was there before is still there, and the file goes on.
    assert file.append(kept.load()).load() == kept.load()


def test_a_folder_that_cannot_be_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="file/scratch"):
        SpillFile(tmp_path / "file" / "scratch")


def test_a_folder_is_made_where_there_is_none_and_nothing_is_seen_in_it(tmp_path):
    piece = SpillFile(tmp_path / "new" / "scratch").append(pa.record_batch({"x": np.arange(9)}))
    assert piece.load()["x"].to_pylist() == list(range(9))
    assert list((tmp_path / "new" / "scratch").iterdir()) == []


def open_files():
    return len(os.listdir("/proc/self/fd"))


def test_a_file_is_closed_when_its_last_batch_is_gone(tmp_path):
    gc.collect()
    before = open_files()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pieces = [SpillFile(tmp_path).append(pa.record_batch({"x": [1]})) for _ in range(5)]
        assert open_files() == before + 5
        del pieces[1:]
        assert open_files() == before + 1
        assert pieces[0].load()["x"].to_pylist() == [1]
        del pieces
        assert open_files() == before


def test_many_threads_read_and_write_at_once(file):
    def put(number):
        batch = pa.record_batch({"x": np.full(1000, number)})
        return file.append(batch)

    with ThreadPoolExecutor(8) as pool:
        pieces = list(pool.map(put, range(200)))
        back = list(pool.map(lambda piece: piece.load()["x"].to_numpy(), pieces * 3))
    assert all(np.array_equal(x, np.full(1000, at % 200)) for at, x in enumerate(back))
    assert threading.active_count() < 20


def test_a_forked_child_reads_what_its_parent_put_away(file):
    pieces = [file.append(pa.record_batch({"x": np.full(10, at)})) for at in range(5)]
    child = os.fork()
    if child == 0:
        right = all(piece.load()["x"].to_pylist() == [at] * 10 for at, piece in enumerate(pieces))
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert pieces[4].load()["x"].to_pylist() == [4] * 10


def test_nothing_is_left_of_a_process_that_was_killed(tmp_path):
    code = (
        "import os, signal, sys, pathlib, pyarrow as pa\n"
        "from lookalike.engines.spill import SpillFile\n"
        "piece = SpillFile(pathlib.Path(sys.argv[1])).append(pa.record_batch({'x': list(range(1000))}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)])
    assert ended.returncode == -9
    assert list(tmp_path.iterdir()) == []


# Numbers of rows


@pytest.mark.parametrize(
    "numbers", [[0, 1, 2], [7, 8, 9], [2, 1, 0], [5], [3, 9, 5], [0, 2, 1, 3], [2**32, 2**32 + 1, 2**40]]
)
def test_numbers_of_rows_are_known_of_batches_on_disk(file, numbers):
    batch = pa.record_batch({"row": np.array(numbers), "x": np.arange(len(numbers))})
    piece = file.append(batch)
    assert list(row_numbers(piece)) == list(row_numbers(batch)) == numbers
    follow = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert (piece.numbers is not None) == follow


# Sequences of batches


def test_batches_are_a_sequence_wherever_they_are(file):
    batches = [pa.record_batch({"row": np.arange(at, at + 3)}) for at in (0, 3, 6)]
    mixed = Batches([batches[0], file.append(batches[1]), batches[2]])
    assert (len(mixed), mixed.rows, mixed.at_hand) == (3, 9, False)
    assert list(mixed) == batches
    assert mixed[1] == batches[1]
    assert mixed[-1] == batches[2]
    assert list(mixed[1:]) == batches[1:]
    assert mixed[:1].at_hand
    assert [loaded(piece) for piece in mixed.pieces] == batches
    assert Batches([]).at_hand
    assert Batches([]).rows == 0
