"""What is shown while a stage runs: nothing, a bar on a terminal, or JSON lines for machines.

All of it goes to standard error, and none of it can fail a run.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO

from lookalike.errors import OptionError

if TYPE_CHECKING:
    import rich.progress

ProgressKind = Literal["auto", "bar", "jsonl", "off"]
_KINDS = ("auto", "bar", "jsonl", "off")


class StageProgress(Protocol):
    """One running stage."""

    def advance(self, count: int) -> None:
        """Say that `count` more items are done. Any thread may call it."""


class Between(Protocol):
    """Something that is on the terminal where no bar is."""

    def now(self, name: str) -> None:
        """A stage of this name begins."""

    def bar(self, shown: bool) -> None:
        """A bar appears, or is gone."""


class Progress(Protocol):
    """Follows the stages of a run."""

    def stage(
        self, name: str, total: int | None = None, unit: str = "documents"
    ) -> contextlib.AbstractContextManager[StageProgress]:
        """Open a stage of `total` items, or of a number not yet known."""


def choose_progress(
    kind: ProgressKind = "auto", stream: TextIO | None = None, *, between: Between | None = None
) -> Progress:
    """The progress named `kind`, on standard error; `auto` is a bar on a terminal, else nothing.

    What is there `between` bars is told when to make room for one.
    """
    if kind not in _KINDS:
        raise OptionError(f"progress={kind!r} is unknown: choose one of {', '.join(_KINDS)}")
    stream = sys.stderr if stream is None else stream
    if kind == "jsonl":
        return LinesProgress(stream)
    if kind == "bar" or (kind == "auto" and stream is not None and stream.isatty()):
        return BarProgress(stream, between=between)
    return SilentProgress()


class SilentProgress:
    """Shows nothing."""

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "documents") -> Iterator[StageProgress]:
        """Open a stage that shows nothing."""
        yield _Silent()


class _Silent:
    def advance(self, count: int) -> None:
        pass


class LinesProgress:
    """Writes a JSON line when a stage begins, every `interval` seconds at most, and when it ends.

    Each line holds `stage`, `event` (begin, advance, end, or stopped if the stage failed), `done`, `total`,
    `unit`, `seconds`, and `rate` in units a second.
    """

    def __init__(
        self, stream: TextIO, *, interval: float = 0.5, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._interval = interval
        self._clock = clock

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "documents") -> Iterator[StageProgress]:
        """Open a stage."""
        lines = _Lines(self._stream, self._interval, self._clock, name, total, unit)
        lines.write("begin")
        try:
            yield lines
        except BaseException:
            lines.write("stopped")
            raise
        lines.write("end")


class _Lines:
    def __init__(
        self,
        stream: TextIO,
        interval: float,
        clock: Callable[[], float],
        name: str,
        total: int | None,
        unit: str,
    ) -> None:
        self._stream, self._interval, self._clock = stream, interval, clock
        self._name, self._total, self._unit = name, total, unit
        self._done = 0
        self._started = self._written = clock()
        self._lock = threading.Lock()

    def advance(self, count: int) -> None:
        with self._lock:
            self._done += count
            due = self._clock() - self._written >= self._interval
        if due:
            self.write("advance")

    def write(self, event: str) -> None:
        with self._lock:
            self._written = self._clock()
            seconds = self._written - self._started
            line = {
                "stage": self._name,
                "event": event,
                "done": self._done,
                "total": self._total,
                "unit": self._unit,
                "seconds": round(seconds, 3),
                "rate": round(self._done / seconds, 1) if seconds > 0 else None,
            }
            # A reader that has gone away (a closed pipe) is no reason to stop the run.
            with contextlib.suppress(OSError, ValueError):
                self._stream.write(json.dumps(line) + "\n")
                self._stream.flush()


class BarProgress:
    """A bar with rate and time left, for stages that last longer than `patience` seconds."""

    def __init__(
        self,
        stream: TextIO,
        *,
        patience: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
        between: Between | None = None,
    ) -> None:
        self._between = between
        self._stream = stream
        self._patience = patience
        self._clock = clock

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "documents") -> Iterator[StageProgress]:
        """Open a stage."""
        if self._between is not None:
            self._between.now(name)
        bar = _Bar(self._stream, self._patience, self._clock, name, total, unit, self._between)
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    def __init__(
        self,
        stream: TextIO,
        patience: float,
        clock: Callable[[], float],
        name: str,
        total: int | None,
        unit: str,
        between: Between | None,
    ) -> None:
        self._between = between
        self._stream, self._patience, self._clock = stream, patience, clock
        self._name, self._total, self._unit = name, total, unit
        self._done = 0
        self._started = clock()
        self._shown: tuple[rich.progress.Progress, Any] | None = None
        self._closed = False
        self._lock = threading.Lock()
        # A stage that cannot say how far it is must not be silent either.
        self._timer = threading.Timer(patience, self._appear)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, count: int) -> None:
        with self._lock:
            self._done += count
            if self._shown is None and self._clock() - self._started >= self._patience:
                self._shown = self._show()
            self._update()

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._shown is not None:
                self._shown[0].stop()
                if self._between is not None:
                    self._between.bar(False)

    def _appear(self) -> None:
        with self._lock:
            if self._shown is None and not self._closed:
                self._shown = self._show()
                self._update()

    def _update(self) -> None:
        if self._shown is None or not self._done:
            return
        bar, task = self._shown
        seconds = self._clock() - self._started
        of_total = f"/{self._total:,}" if self._total else ""
        rate = f"{self._done / seconds:,.0f} {self._unit}/s" if seconds > 0 else ""
        count = f"{self._done:,}{of_total}"
        bar.update(task, total=self._total, completed=self._done, count=count, rate=rate)

    def _show(self) -> tuple[rich.progress.Progress, Any]:
        # rich takes a tenth of a second to import; most stages end before a bar is due.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn() if self._total else TimeElapsedColumn(),
            console=Console(file=self._stream),
            transient=True,
        )
        if self._between is not None:
            self._between.bar(True)
        bar.start()
        # Until something is done, the bar only moves to and fro.
        return bar, bar.add_task(self._name, total=None, count="", rate="")
