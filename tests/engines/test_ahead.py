"""Batches read ahead are the same batches, and nobody waits for a reader that is no longer needed."""

import threading
import time

import pyarrow as pa
import pytest

from lookalike.engines import LocalEngine
from lookalike.engines.ahead import AHEAD, read_ahead


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "read-ahead"]


@pytest.mark.parametrize("count", [0, 1, AHEAD, 100])
def test_everything_comes_in_order_and_the_reader_ends(count):
    assert list(read_ahead(iter(range(count)))) == list(range(count))
    assert readers() == []


def test_the_next_is_read_while_one_is_worked_on_and_no_more_than_a_few():
    read = []

    def things():
        for number in range(100):
            read.append(number)
            yield number

    ahead = read_ahead(things())
    assert next(ahead) == 0
    deadline = time.monotonic() + 10
    while len(read) < AHEAD + 2 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.02)
    assert len(read) == AHEAD + 2
    ahead.close()
    assert readers() == []


def test_an_error_of_the_reader_comes_after_what_was_read_before():
    def things():
        yield 1
        yield 2
        raise ValueError("the third cannot be read")

    got = []
    with pytest.raises(ValueError, match="the third"):
        got.extend(read_ahead(things()))
    assert (got, readers()) == ([1, 2], [])


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_whoever_stops_early_leaves_no_reader_and_the_source_closed(stop):
    closed = []

    def things():
        try:
            while True:
                yield 0
        finally:
            closed.append(True)

    def work():
        for _ in read_ahead(things()):
            raise stop

    with pytest.raises(stop):
        work()
    deadline = time.monotonic() + 10
    while readers() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert (readers(), closed) == ([], [True])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_scan_reads_ahead_only_where_there_are_threads_for_it(threads):
    by = []

    def batches():
        for number in range(5):
            by.append(threading.current_thread().name)
            yield pa.record_batch({"x": [number]})

    table = LocalEngine(threads).scan(batches(), pa.schema([("x", pa.int64())]))
    assert table.column("x").tolist() == [0, 1, 2, 3, 4]
    assert set(by) == {"MainThread" if threads == 1 else "read-ahead"}
