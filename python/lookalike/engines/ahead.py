"""Batches read ahead: while one is worked on, the next is being read.

A source decodes, the engine counts and writes what does not fit memory: both take a core. A thread reads, and
stays a batch or two ahead.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from queue import Queue
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")

#: Batches that wait at most; two more are in hand, one on either side.
AHEAD = 2


def read_ahead(things: Iterable[T]) -> Generator[T]:
    """The same things in the same order, read by a thread of their own.

    An error of the reader is raised here, where it belongs in the order. Whoever stops early, by an error or
    Ctrl-C, waits for no more than the thing that is being read; the iterable is closed by its reader.
    """
    waiting: Queue[tuple[T] | BaseException | None] = Queue(AHEAD)
    stopped = Event()

    def read() -> None:
        last: BaseException | None = None
        try:
            for thing in things:
                waiting.put((thing,))
                if stopped.is_set():
                    break
        except BaseException as error:
            last = error
        finally:
            if isinstance(things, Generator):
                things.close()
            waiting.put(last)

    reader = Thread(target=read, name="read-ahead", daemon=True)
    reader.start()
    try:
        while isinstance(got := waiting.get(), tuple):
            yield got[0]
        if got is not None:
            raise got
    finally:
        stopped.set()
        # What it wants to hand over is taken, so that it comes to its end.
        while reader.is_alive():
            while not waiting.empty():
                waiting.get()
            reader.join(0.01)
