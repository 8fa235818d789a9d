"""How many threads to use when nobody says."""

from __future__ import annotations

import os

from lookalike.errors import OptionError


def cores() -> int:
    """The processors this process may use. Results never depend on it, only their time does."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """A number of threads: the one asked for, or all cores."""
    if threads is None:
        return cores()
    if not isinstance(threads, int) or threads < 1:
        raise OptionError(f"threads={threads!r} is out of range: 1 or more, or leave it out for all cores")
    return threads
