"""Ctrl-C: what is lost where nobody can catch it comes again a moment later, and the end is as we say."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

#: Long enough for what is being cleared away to be gone, in seconds.
_MOMENT = 0.02


@contextlib.contextmanager
def lost_interrupts_come_again() -> Iterator[None]:
    """Inside the block, a KeyboardInterrupt that Python drops is raised again in the main thread.

    Python handles signals between any two instructions, be they of a finalizer or of a generator that is
    cleared away; what is raised there it can only report.
    """
    usual = sys.unraisablehook

    def report(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = threading.Timer(_MOMENT, _interrupt)
            again.daemon = True
            again.start()
        else:
            usual(lost)

    sys.unraisablehook = report
    try:
        yield
    finally:
        sys.unraisablehook = usual


def nothing_left_to_interrupt() -> None:
    """Let a process that is done, or has cleared away, end with the exit code it chooses."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # If Python was interrupted in code that was made of a string, as dataclasses make theirs, it takes the
    # interruption for one that nobody caught, and at exit kills itself by it. The next such code, which is
    # this, makes it forget.
    eval("None")


def _interrupt() -> None:
    """Send the signal itself: it wakes a main thread that waits, too."""
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGINT)
