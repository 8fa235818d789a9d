"""What a hundred million documents of 3 KB would need, from rates measured on as many as fit here.

    python -m benchmarks.hundred_million [--documents 400000] [--folder DIR] [--record]

A model of the large run, to scale: documents of 3 KB in parquet files, deduplicated by the command with a
memory budget that is as small beside them as 15 GB are beside 300 GB, so that texts are read again for every
stage that looks at them, and tables go to disk and come back as they would there. The answer is checked
first. The model runs on one thread and on two; of each stage that gives a rate, and the part of it that does
not become faster with threads (Amdahl's law). Rates times a hundred million are the statement. Reading counts
once as reading; to read again, as `sign` and `copies` do, is part of the search. What the model cannot show
is measured apart: how fast the disk really is, since what a small run reads and sets aside stays in the
system's cache, and how many bytes a row takes that are in memory whatever the budget is. In the model
documents lie near those they are like; shuffled, with the rows of a family anywhere, `copies` took 1.4 and
`verify` 3 times as long, the whole search 1.35 times.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lookalike.engines.memory import LEAST

from . import budget, machine, record
from .budget import Run

#: The large run.
DOCUMENTS, BYTES, MEMORY = 100_000_000, 3_000, 15_000_000_000
#: What is wished for: minutes beside reading the documents, and bytes of memory.
MINUTES, AT_MOST = 15, 16_000_000_000
#: Rows whose bytes are counted: of short documents, on the road that long ones take, with so little memory
#: that tables have none beside what is set aside for rows.
_ROWS, _SHORT, _LITTLE, _ROAD = (2_000_000, 10_000_000), 10, 4 * LEAST, "lsh"
#: Arrays of so many rows are small enough to come out of a heap that keeps their room; those of a hundred
#: million come from the system one by one, and so shall these.
_ONE_BY_ONE = {"MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
_DISK_BYTES, _BLOCK = 1_000_000_000, 8_000_000
_MOST_CORES = 1024
#: Stages that read the documents, or write what is kept: beside the search, and told apart.
_BESIDE = ("read", "write")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stage of the model: its seconds on one thread and on two, and how much work it did.

    `per` says what it is that was counted.
    """

    name: str
    one: float
    two: float
    work: float
    per: str

    @property
    def serial(self) -> float:
        """The part of one thread's time that further threads do not shorten."""
        return min(1.0, max(0.0, 2 * self.two / self.one - 1)) if self.one else 1.0

    def seconds(self, cores: int) -> float:
        """Of the model, on so many cores."""
        return self.one * (self.serial + (1 - self.serial) / cores)


def stages_of(one: Run, two: Run) -> list[Stage]:
    """The stages of the model, with what each of them counts."""
    documents = float(one.documents)
    text = float(one.counts["text_bytes"])
    keys = documents * (one.bands or 1)
    work = {
        "read": (text, "byte of text"),
        "sign": (text, "byte of text"),
        "candidates": (keys, "key"),
        "verify": (float(one.counts["candidates"]), "candidate"),
        "write": (float(one.counts["kept"]), "document kept"),
    }
    return [
        Stage(
            name=name,
            one=seconds,
            two=two.stages[name],
            work=work.get(name, (documents, ""))[0],
            per=work.get(name, (documents, "document"))[1],
        )
        for name, seconds in one.stages.items()
    ]


def cores_for(seconds: float, takes: Callable[[int], float]) -> int | None:
    """The fewest cores on which it takes at most so long; None if no number of them is enough."""
    return next((cores for cores in range(1, _MOST_CORES + 1) if takes(cores) <= seconds), None)


def disk_rates(folder: Path) -> tuple[float, float]:
    """Bytes a second that the disk takes and gives, with the system's cache out of the way."""
    block = os.urandom(_BLOCK)
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0) as file:
        begin = time.perf_counter()
        for _ in range(_DISK_BYTES // _BLOCK):
            file.write(block)
        os.fsync(file.fileno())
        written = time.perf_counter()
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.seek(0)
        ready = time.perf_counter()
        while file.read(_BLOCK):
            pass
        return _DISK_BYTES / (written - begin), _DISK_BYTES / (time.perf_counter() - ready)


def bytes_a_row(folder: Path) -> float:
    """How much more memory a run takes for every further row, if tables may have none."""
    peaks = []
    for rows in _ROWS:
        source, output = folder / f"rows-{rows}", folder / f"rows-{rows}-output"
        budget.write_documents(source, rows, words=_SHORT)
        peaks.append(budget.run(source, output, _LITTLE, method=_ROAD, environment=_ONE_BY_ONE).peak)
    return (peaks[1] - peaks[0]) / (_ROWS[1] - _ROWS[0])


@dataclass(frozen=True, kw_only=True)
class Measured:
    """All that the statement is made of."""

    one: Run
    two: Run
    #: Bytes set aside on disk, and brought back or read again, by the run on two threads.
    aside: int
    back: int
    disk: tuple[float, float]
    row: float

    @property
    def times(self) -> float:
        """How many times as large as the model the large run is."""
        return DOCUMENTS / self.one.documents

    @property
    def search(self) -> list[Stage]:
        """The stages beside reading and writing."""
        return [stage for stage in stages_of(self.one, self.two) if stage.name not in _BESIDE]

    def minutes(self, cores: int) -> float:
        """Of the search on so many cores, if the disk kept up."""
        return self.times * sum(stage.seconds(cores) for stage in self.search) / 60

    @property
    def disk_minutes(self) -> float:
        """What the disk needs for what is set aside and brought back."""
        return self.times * (self.aside / self.disk[0] + self.back / self.disk[1]) / 60

    @property
    def peak(self) -> float:
        """The memory of the large run: its budget and what comes beside it.

        Rows count in the half of the budget that tables have, and over it only what does not fit there.
        """
        over = max(0.0, self.row * DOCUMENTS - MEMORY / 2)
        return MEMORY + over + max(0, self.two.peak - self.model_memory)

    @property
    def model_memory(self) -> int:
        """The budget of the model."""
        return model_memory(self.one.documents)


def model_memory(documents: int) -> int:
    """A budget as small beside so many documents as the large one beside the large run."""
    return max(LEAST, MEMORY * documents // DOCUMENTS)


def measure(documents: int, folder: Path) -> Measured | list[str]:
    """Run the model; or what is wrong with its answer."""
    source, output = folder / "documents", folder / "output"
    budget.write_documents(source, documents, words=BYTES // budget.LETTERS)
    given = sum(path.stat().st_size for path in source.iterdir())
    runs = []
    for threads in (1, 2):
        runs.append(budget.run(source, output, model_memory(documents), threads))
        wrong = budget.faults(output, documents)
        if wrong:
            return wrong
    result = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    return Measured(
        one=runs[0],
        two=runs[1],
        # Documents are read once, and once more to be written; results are read for their checksums.
        aside=max(0, runs[1].written - result),
        back=max(0, runs[1].read - 2 * given - result),
        disk=disk_rates(folder),
        row=bytes_a_row(folder),
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; the exit status is 1 only for a wrong answer."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hundred_million", description="What 100 million documents of 3 KB need."
    )
    parser.add_argument("--documents", type=int, default=400_000, help="of the model")
    parser.add_argument("--folder", help="where documents, results and scratch files go while it runs")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    options = parser.parse_args(arguments)
    console = record.console()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measured = measure(options.documents, Path(folder))
    if isinstance(measured, list):
        console.print(*measured, sep="\n", style="red")
        return 1
    made = record.Record(
        name="hundred-million",
        title="A hundred million documents of 3 KB",
        date=datetime.date.today().isoformat(),
        command=record.command("hundred_million", arguments),
        machine=str(machine.describe(("lookalike", "numpy", "pyarrow"))),
        columns=("stage", "1 thread", "2 threads", "not faster with threads", "1 core, min", "2 cores, min"),
        rows=tuple(_row(stage, measured.times) for stage in stages_of(measured.one, measured.two)),
        notes=tuple(_notes(measured)),
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 0


def _row(stage: Stage, times: float) -> tuple[str, ...]:
    return (
        stage.name,
        *(
            f"{1e9 * seconds / max(1.0, stage.work):,.1f} ns a {stage.per}"
            for seconds in (stage.one, stage.two)
        ),
        f"{stage.serial:.0%}",
        *(f"{times * seconds / 60:,.1f}" for seconds in (stage.one, stage.two)),
    )


def _notes(measured: Measured) -> list[str]:
    search, disk, peak = measured.minutes(2), measured.disk_minutes, measured.peak
    fits = "reached" if peak < AT_MOST else "missed"
    enough = cores_for(60 * MINUTES, lambda cores: 60 * measured.minutes(cores))
    return [
        f"Measured on {measured.one.documents:,} documents of {BYTES:,} bytes with "
        f"{measured.model_memory / 1e6:,.0f} MB, {measured.times:,.0f} times fewer than a hundred million "
        f"with {MEMORY / 1e9:g} GB; the answers were checked. Minutes are seconds of the model times "
        f"{measured.times:,.0f} / 60. Documents lie near those they are like; scattered, it takes longer.",
        f"Beside reading the documents and writing those kept: {measured.minutes(1):,.0f} minutes on one "
        f"core, {search:,.0f} on two; on c cores, stage by stage, t · (s + (1 - s) / c) with s the share "
        "that was not faster with threads.",
        f"Goal of {MINUTES} minutes, if the disk keeps up: "
        + ("reached on two cores." if search <= MINUTES else "missed on two cores, " + _reached(enough)),
        f"Disk: {measured.times * measured.aside / 1e9:,.0f} GB are set aside and "
        f"{measured.times * measured.back / 1e9:,.0f} GB brought back or read again; the disk here takes "
        f"{measured.disk[0] / 1e6:,.0f} MB/s and gives {measured.disk[1] / 1e6:,.0f}, {disk:,.0f} minutes"
        + (f", more than the goal: {_faster(disk)}." if disk > MINUTES else "."),
        f"Memory: {measured.row:.0f} bytes a row are in memory whatever the budget, "
        f"{measured.row * DOCUMENTS / 1e9:.1f} GB for all; with --memory {MEMORY / 1e9:g}GB the peak is "
        f"about {peak / 1e9:.1f} GB. Goal of {AT_MOST / 1e9:g} GB: {fits}.",
    ]


def _reached(cores: int | None) -> str:
    return "and on no number of cores." if cores is None else f"reached on {cores} cores."


def _faster(minutes: float) -> str:
    return f"a disk {minutes / MINUTES:.1f} times as fast would keep up with it"


if __name__ == "__main__":
    sys.exit(main())
