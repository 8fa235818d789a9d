"""How many threads to use when nobody says."""

from __future__ import annotations

import os

from lookalike.errors import OptionError
from lookalike.theory.ranges import whole

#: More threads than any machine has cores only wait for each other.
MOST_THREADS = 1024


def cores() -> int:
    """The processors this process may use. Results never depend on it, only their time does."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """A number of threads: the one asked for, or all cores."""
    if threads is None:
        return cores()
    number = whole(threads)
    if number is None or not 1 <= number <= MOST_THREADS:
        raise OptionError(
            f"threads={threads!r} is out of range: 1 to {MOST_THREADS:,}, or leave it out for all cores"
        )
    return number
