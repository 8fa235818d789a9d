"""The command: what a person types, and what comes back.

app.py           the commands there are: dedup, pairs, top, cluster, compare, decontaminate, baskets, plan
                 and demo are each a function in a file of that name, loaded when it is called

options.py       options that several commands share; pair_options.py: those of `pairs` alone
given.py         what a command is to read
repeated.py      options with several values; typed.py: which options were typed
output.py        what is checked before a run begins, and notes to standard error
unfinished.py    runs that may be killed; done.py: what such a run has done, in words
outcome.py       what a run comes to
ending.py        how it ends: exit codes, and errors in a sentence; wording.py: in the words that were typed
following.py     how a run is followed; first_sign.py: what a terminal shows before and between bars;
                 clock.py: when the process was started
interrupts.py    Ctrl-C that would be lost, and how it ends

searches.py      how `pairs` runs, whatever is compared: documents and sets in pairs.py itself, and
                 bits.py, measurements.py, vectors.py, strings.py, meaning.py (by weights)
side_by_side.py  two texts beside each other, for `compare`
paper.py         standard output in colours and columns
steps.py         what `demo` shows while it runs

Exit codes: 0 done, 1 our fault, 2 the user's (usage, input, output), 130 interrupted.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import time
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    # Arrow's allocator hands memory back a hundredth of a second after it was last used, and gets it cleared
    # again: a run would spend a tenth of its time on that. Read when Arrow is loaded.
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "1000")
    began = _began(sys.argv[1:]) if arguments is None else time.monotonic()
    try:
        # Imported here, so that Ctrl-C is answered in one line even while modules load.
        from lookalike.cli import typed
        from lookalike.cli.app import run
        from lookalike.cli.interrupts import lost_interrupts_come_again, nothing_left_to_interrupt

        typed.began.set(began)
        with lost_interrupts_come_again():
            code = run(sys.argv[1:] if arguments is None else list(arguments))
        if arguments is None:
            # The result is there and printed. What is left is to give memory back, which may take a while.
            nothing_left_to_interrupt()
        return code
    except KeyboardInterrupt:
        from lookalike.cli.ending import interrupted
        from lookalike.cli.interrupts import nothing_left_to_interrupt

        if arguments is None:
            nothing_left_to_interrupt()
        return interrupted()


def command() -> NoReturn:
    """Run the command line of this process, and end it.

    At once: nobody should wait for Python to take its modules apart and to give memory back, which is a tenth
    of a short run. Whatever asked to be called at exit still is.
    """
    code = main()
    for stream in (sys.stdout, sys.stderr):
        # What could not be written was answered; there may be no stream at all.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def _began(arguments: list[str]) -> float:
    """When this process was started; whoever waits at a terminal is shown that it was."""
    from lookalike.cli import first_sign
    from lookalike.cli.clock import process_began

    began = process_began()
    quiet = {"-h", "--help", "--version", "off", "jsonl", "--progress=off", "--progress=jsonl"}
    if arguments and quiet.isdisjoint(arguments) and sys.stderr is not None and sys.stderr.isatty():
        first_sign.begin(sys.stderr, began=began)
    return began
