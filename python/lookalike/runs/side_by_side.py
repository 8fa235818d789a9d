"""Several things worked on at once, handed on in their order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")

#: Of each thread that works on steps: `stopped`, an event once nobody waits for what it works on.
_thread = threading.local()


class StoppedError(Exception):
    """Nobody waits for what a step works on; nobody sees this either."""


def still_wanted() -> None:
    """For a long step to ask every now and then: ends it after an error elsewhere or Ctrl-C.

    Those are waited for by whoever began the step. On the only thread they come by themselves.
    """
    stopped: threading.Event | None = getattr(_thread, "stopped", None)
    if stopped is not None and stopped.is_set():
        raise StoppedError


def in_turn(
    things: Iterable[S],
    step: Callable[[S], T],
    threads: int,
    *,
    reserve: int | None = None,
    wait: bool = True,
) -> Generator[T]:
    """The steps' results in the order of the things, up to so many at work at once.

    So many things are in reserve while others are worked on, or results wait for those before them; of large
    things none should be.

    Whoever stops early waits for the steps at work, unless they may as well come to their end alone: a
    generator that nobody asks any more is closed where an interruption would be lost.

    Examples
    --------
    >>> list(in_turn(range(4), lambda number: number**2, threads=2))
    [0, 1, 4, 9]
    """
    if threads == 1:
        yield from map(step, things)
        return
    # Enough in reserve that no thread waits, few enough that results do not pile up unseen.
    most = threads - 1 + (threads + 1 if reserve is None else reserve)
    stopped = threading.Event()
    pool = ThreadPoolExecutor(threads, initializer=lambda: setattr(_thread, "stopped", stopped))
    waiting: deque[Future[T]] = deque()
    try:
        for thing in things:
            waiting.append(pool.submit(step, thing))
            while len(waiting) > most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        stopped.set()
        # After an error or Ctrl-C: what has not begun never begins.
        pool.shutdown(wait=wait, cancel_futures=True)
