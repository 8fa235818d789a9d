"""How long a stage took, how much it read, and how much memory it needed at its highest."""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_STATUS = "/proc/self/status"
_CLEAR_REFS = "/proc/self/clear_refs"
_RESET_PEAK = "5"


@dataclass(kw_only=True)
class Stage:
    """One stage of a run. The stage itself fills in `bytes` and `items`, the stopwatch the rest.

    `peak_is` says what `peak_bytes` is the peak of: the `stage`, or, where the system does not let us
    begin a new measurement, the whole `process` so far.
    """

    name: str
    seconds: float = 0.0
    items: int | None = None
    bytes: int | None = None
    peak_bytes: int = 0
    peak_is: str = "process"


class Stages(list[Stage]):
    """The stages of a run so far, and how long the whole of it took, wall to wall.

    Parameters
    ----------
    began
        When the run began, by `time.monotonic`; now, if nothing is said.

    Examples
    --------
    >>> stages = Stages(began=time.monotonic() - 2)
    >>> stages.stop()
    >>> round(stages.took, 1), round(sum(stage.seconds for stage in stages), 1)
    (2.0, 0)
    """

    def __init__(self, began: float | None = None) -> None:
        super().__init__()
        self._began = time.monotonic() if began is None else began
        self._ended: float | None = None

    @property
    def took(self) -> float:
        """Seconds from the beginning to the end, or to now if the run goes on: stages and what is between."""
        return (time.monotonic() if self._ended is None else self._ended) - self._began

    def stop(self) -> None:
        """Let the run end here: whoever looks at its result later does not count what passed since."""
        self._ended = time.monotonic()


def took(stages: Sequence[Stage]) -> float:
    """How long a run of these stages took; the sum of them, where nobody noted when it began."""
    return stages.took if isinstance(stages, Stages) else sum(stage.seconds for stage in stages)


class Stopwatch:
    """Measures stages, which may lie inside each other. Measuring never fails a run.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch.stage("sign") as stage:
    ...     stage.items = 20_000
    >>> [stage.name for stage in watch.stages]
    ['sign']
    """

    def __init__(self, began: float | None = None) -> None:
        self.stages = Stages(began)
        self._open: list[Stage] = []

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Measure the block as the stage `name`."""
        stage = Stage(name=name)
        self.stages.append(stage)
        # A new measurement forgets the peak so far, which belongs to the stages around this one.
        self._note_peak()
        stage.peak_is = "stage" if _forget_peak() else "process"
        self._open.append(stage)
        started = time.perf_counter()
        try:
            yield stage
        finally:
            stage.seconds = time.perf_counter() - started
            self._note_peak()
            self._open.remove(stage)

    def _note_peak(self) -> None:
        peak = peak_memory()
        for stage in self._open:
            stage.peak_bytes = max(stage.peak_bytes, peak)


def peak_memory() -> int:
    """The most memory this process has held at once, in bytes, since the measurement began."""
    try:
        with open(_STATUS, encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _forget_peak() -> bool:
    """Begin a new measurement of the peak; False where that is not permitted."""
    try:
        with open(_CLEAR_REFS, "w", encoding="ascii") as clear:
            clear.write(_RESET_PEAK)
    except OSError:
        return False
    return True
