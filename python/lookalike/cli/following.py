"""What follows a run: its stages are measured from the start of the command, and shown as that was asked."""

from __future__ import annotations

import time

from lookalike.cli import first_sign
from lookalike.cli.output import note
from lookalike.cli.typed import began
from lookalike.runs import Progress, choose_progress
from lookalike.runs.watch import Watch


def following(progress: str) -> Watch:
    """A watch for the command that is running."""
    return Watch(shown(progress), note, began=began.get() or time.monotonic())


def shown(progress: str) -> Progress:
    """The progress that was asked for."""
    return choose_progress(progress, between=first_sign.current())  # type: ignore[arg-type]
