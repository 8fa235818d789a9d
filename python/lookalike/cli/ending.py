"""How a run ends: an exit code, and for everything but success a sentence that says what to do."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Protocol, TextIO, runtime_checkable

from lookalike.cli import first_sign
from lookalike.cli.wording import as_typed, hints_as_typed
from lookalike.errors import InternalError, LookalikeError

DONE, OUR_FAULT, USERS_FAULT, INTERRUPTED = 0, 1, 2, 130


@runtime_checkable
class UsageMistake(Protocol):
    """What the parser of the command line raises; its class has moved between versions of typer."""

    exit_code: int

    def show(self) -> None:
        """Print the mistake with a line of usage."""


def explain(
    error: Exception, arguments: Sequence[str], *, debug: bool, options: Mapping[str, str] | None = None
) -> int:
    """Say in a sentence why a run ended, and return its exit code.

    `options` are those of the command by the names of its parameters, which the library's messages use.
    """
    if isinstance(error, BrokenPipeError):
        return reader_left()
    first_sign.end()
    if isinstance(error, UsageMistake):
        with contextlib.suppress(OSError):
            error.show()
        return USERS_FAULT
    if debug:
        with contextlib.suppress(OSError):
            traceback.print_exception(error)
    if isinstance(error, LookalikeError):
        complain(". ".join([as_typed(str(error), options or {}), *hints_as_typed(error)]))
        return OUR_FAULT if isinstance(error, InternalError) else USERS_FAULT
    if isinstance(error, MemoryError):
        complain(
            "there is not enough memory for this: give it a part of the input at a time, use fewer --slots, "
            "or run it on a machine with more"
        )
        return USERS_FAULT
    if isinstance(error, OSError):
        why = error.strerror or str(error)
        if _gave_up_unwritable():
            complain(f"standard output cannot be written ({why}): make room there, or send it elsewhere")
        else:
            complain(f"the system refuses: {why}{f' ({error.filename})' if error.filename else ''}")
        return USERS_FAULT
    complain(
        f"this is a defect of Lookalike, please report it: {type(error).__name__}: {error}\n"
        f"  With the place where it happened: {shlex.join(['lookalike', '--debug', *arguments])}"
    )
    return OUR_FAULT


def complain(message: str) -> None:
    """Print an error to standard error, wherever that leads."""
    first_sign.end()
    with contextlib.suppress(OSError, ValueError):
        print(f"Error: {message}", file=sys.stderr, flush=True)


def interrupted() -> int:
    """The ending of Ctrl-C."""
    first_sign.end()
    with contextlib.suppress(OSError, ValueError):
        # The terminal has just printed ^C: begin a line of our own.
        print("\nInterrupted.", file=sys.stderr, flush=True)
    forget_unwritten(sys.stdout)
    return INTERRUPTED


def reader_left() -> int:
    """The ending of `lookalike … | head`: whoever read the result has seen enough, and nothing is wrong."""
    forget_unwritten(sys.stdout)
    return DONE


def _gave_up_unwritable() -> bool:
    """Whether it is standard output that cannot be written; then it is not tried again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        forget_unwritten(sys.stdout)
        return True
    return False


def forget_unwritten(stream: TextIO) -> None:
    """Let what is still buffered lead nowhere: at exit it would be written to a pipe that nobody reads."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
