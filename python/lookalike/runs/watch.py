"""Following a run: each stage is measured for run.json and shown to whoever waits."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator

from lookalike.runs.progress import Progress, SilentProgress
from lookalike.runs.stopwatch import Stages, Stopwatch


class Watch:
    """Measures the stages of a run and shows their progress; says what one should hear before the end.

    Parameters
    ----------
    progress
        Shows the stages; nothing is shown by default.
    say
        Takes a sentence, such as a word before a long stage; by default it becomes a `UserWarning`.
    began
        When the run began, by `time.monotonic`: now, or when the process of the command was started.
    """

    def __init__(
        self,
        progress: Progress | None = None,
        say: Callable[[str], None] | None = None,
        *,
        began: float | None = None,
    ) -> None:
        self._progress = progress or SilentProgress()
        self._stopwatch = Stopwatch(began)
        self.say = say or _warn

    @property
    def stages(self) -> Stages:
        """The stages so far, and how long everything took."""
        return self._stopwatch.stages

    @contextlib.contextmanager
    def stage(
        self, name: str, total: int | None = None, *, unit: str = "documents", size: int | None = None
    ) -> Iterator[Callable[[int], None]]:
        """Follow the block as a stage of `total` items and `size` bytes; calls say how many are done."""
        with self._stopwatch.stage(name) as stage, self._progress.stage(name, total, unit) as shown:
            stage.items, stage.bytes = total, size
            yield shown.advance


def _warn(sentence: str) -> None:
    warnings.warn(sentence, UserWarning, stacklevel=2)
