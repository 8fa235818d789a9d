"""Several things worked on at once, handed on in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


def in_turn(things: Iterable[S], step: Callable[[S], T], threads: int, *, wait: bool = True) -> Generator[T]:
    """The steps' results in the order of the things, up to so many at work at once.

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
    pool = ThreadPoolExecutor(threads)
    waiting: deque[Future[T]] = deque()
    try:
        for thing in things:
            waiting.append(pool.submit(step, thing))
            # Enough in reserve that no thread waits, few enough that results do not pile up unseen.
            while len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # After an error or Ctrl-C: what has not begun never begins.
        pool.shutdown(wait=wait, cancel_futures=True)
