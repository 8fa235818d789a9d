"""Ten million documents in two gigabytes: how much memory a run takes, and whether its time stays linear.

    python -m benchmarks.budget [--documents 10000000] [--memory 2GB] [--folder DIR] [--record]

Documents of some 200 bytes are written to parquet files, a few at a time, and deduplicated from there by the
command, on two threads, with a memory budget. Of every ten, one is a copy of an earlier one and one differs
from it in a word; the others have nothing in common. The answer is checked first: all copies are dropped, of
the variants as many as recall promises, nothing else, and every document is either kept on disk or named as
dropped. Then the peak memory of the process is set against its budget, and its time a document against that
of a hundred thousand. Starting Python is not counted there: it would make small runs look slow.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lookalike.runs.sizes import parse_size

from . import machine, record

#: What a process may take beyond its budget: the interpreter, its libraries, readers, and what allocators
#: keep.
BESIDE = 500_000_000
#: How many times as long a document may take as among `_FEW`.
SLOWER = 1.3
_THREADS = 2
#: How often a run is looked at, in seconds.
_LOOK = 0.02
_FEW, _FEW_RUNS = 100_000, 3
#: Words of a document, and letters of a word with the blank behind it.
WORDS, LETTERS = 33, 6
_A_FILE = 3_500_000
_TENTH = 10
_VOCABULARY = 100_000


def write_documents(folder: Path, count: int, *, words: int = WORDS, seed: int = 0) -> None:
    """Write documents of so many words to parquet files; of ten, the last two are like the first."""
    letters = np.random.default_rng(seed).integers(
        ord("a"), ord("z") + 1, (_VOCABULARY, LETTERS), dtype=np.uint8
    )
    letters[:, -1] = ord(" ")
    folder.mkdir(parents=True)
    # Of whole tens, so that the first of ten is in the same file.
    rows = _A_FILE // words // _TENTH * _TENTH
    for number, start in enumerate(range(0, count, rows)):
        ids = np.arange(start, min(count, start + rows))
        drawn = np.random.default_rng([seed, number]).integers(0, _VOCABULARY, (len(ids), words))
        like = np.flatnonzero(ids % _TENTH >= _TENTH - 2)
        last = drawn[like, -1]
        drawn[like] = drawn[like - ids[like] % _TENTH]
        varied = ids[like] % _TENTH == _TENTH - 2
        drawn[like[varied], -1] = last[varied]
        texts = pa.LargeStringArray.from_buffers(
            len(ids),
            pa.py_buffer(np.arange(len(ids) + 1, dtype=np.int64) * LETTERS * words),
            pa.py_buffer(letters[drawn].reshape(-1)),
        )
        pq.write_table(pa.table({"id": ids, "text": texts}), folder / f"{number:05}.parquet")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run of the command took.

    `seconds` are those of its stages, `elapsed` also those that Python takes to start; `peak` is the most
    memory the process ever held; `read` and `written` are bytes through files, of whatever kind.
    """

    documents: int
    peak: int
    seconds: float
    elapsed: float
    method: str
    stages: dict[str, float]
    counts: dict[str, Any]
    bands: int | None
    read: int
    written: int


def run(
    source: Path,
    output: Path,
    memory: int,
    threads: int = _THREADS,
    *,
    method: str = "auto",
    environment: dict[str, str] | None = None,
) -> Run:
    """Deduplicate by the command; `environment` is added to that of this process."""
    command = [sys.executable, "-m", "lookalike", "dedup", str(source), "--output", str(output)]
    command += ["--id", "id", "--memory", str(memory), "--threads", str(threads), "--overwrite"]
    command += ["--method", method]
    passed = {"rchar": 0, "wchar": 0}
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, env=os.environ | (environment or {})
        )
        # What went through files is known only while the process is there.
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            passed |= _through_files(process.pid)
            time.sleep(_LOOK)
        elapsed = time.perf_counter() - begin
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"the command ended with {process.returncode}: {errors.read()}")
    told = json.loads((output / "run.json").read_text())
    plan = told["estimates"]["plan"]
    return Run(
        documents=told["counts"]["documents"],
        # The command measures each stage anew, which makes the system forget the peak before.
        peak=max(usage.ru_maxrss * 1024, *(stage["peak_bytes"] for stage in told["stages"])),
        seconds=sum(stage["seconds"] for stage in told["stages"]),
        elapsed=elapsed,
        method=told["estimates"]["method"],
        stages={stage["name"]: stage["seconds"] for stage in told["stages"]},
        counts=told["counts"],
        bands=None if plan is None else plan["banding"]["bands"],
        read=passed["rchar"],
        written=passed["wchar"],
    )


def _through_files(process: int) -> dict[str, int]:
    try:
        lines = Path(f"/proc/{process}/io").read_text().splitlines()
    except OSError:
        return {}
    counts = (line.split(": ") for line in lines)
    return {name: int(count) for name, count in counts if name in ("rchar", "wchar")}


def faults(output: Path, documents: int, recall: float = 0.95) -> list[str]:
    """What is wrong with an answer, a line each."""
    dropped = np.zeros(documents, np.bool_)
    seen = np.zeros(documents, np.uint8)
    for ids, kept in _columns(output / "clusters.parquet", ("id", "kept")):
        dropped[ids[~kept]] = True
        np.add.at(seen, ids[~kept], 1)
    for path in sorted((output / "kept").iterdir()):
        for (ids,) in _columns(path, ("id",)):
            np.add.at(seen, ids, 1)
    place = np.arange(documents) % _TENTH
    copies, variants = place == _TENTH - 1, place == _TENTH - 2
    found = np.count_nonzero(dropped & variants) / max(1, np.count_nonzero(variants))
    said = {
        f"{np.count_nonzero(seen != 1):,} documents are not kept or dropped once": np.any(seen != 1),
        f"{np.count_nonzero(copies & ~dropped):,} copies were kept": np.any(copies & ~dropped),
        f"{found:.1%} of the variants were dropped": found < recall,
        "documents like no other were dropped": np.any(dropped & ~copies & ~variants),
    }
    return [fault for fault, true in said.items() if true]


def _columns(path: Path, names: tuple[str, ...]) -> list[tuple[NDArray[np.generic], ...]]:
    batches = pq.ParquetFile(path).iter_batches(columns=list(names))
    return [tuple(batch[name].to_numpy(zero_copy_only=False) for name in names) for batch in batches]


def main(arguments: list[str] | None = None) -> int:
    """Check, measure and print; the exit status is 1 for a wrong answer or a bound that is not kept."""
    options = _parser().parse_args(arguments)
    console, memory = record.console(), parse_size(options.memory)
    runs: list[Run] = []
    for count in dict.fromkeys((min(_FEW, options.documents), options.documents)):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            source, output = Path(folder) / "documents", Path(folder) / "output"
            write_documents(source, count)
            # A short run tells less by itself; the best of several makes the larger one look slowest.
            times = _FEW_RUNS if count == _FEW else 1
            runs.append(min((run(source, output, memory) for _ in range(times)), key=lambda one: one.seconds))
            wrong = faults(output, count)
        if wrong:
            console.print(*(f"{count:,} documents: {fault}" for fault in wrong), sep="\n", style="red")
            return 1
    bounds = _bounds(runs[0], runs[-1], memory)
    made = record.Record(
        name="budget",
        title=f"Deduplication within {options.memory}",
        date=datetime.date.today().isoformat(),
        command=record.command("budget", arguments),
        machine=str(machine.describe(("lookalike", "numpy", "pyarrow"))),
        columns=(
            "documents",
            "method",
            "seconds",
            "with the start of Python",
            "µs a document",
            "× the fewest",
            "peak, MB",
        ),
        rows=tuple(_row(one, runs[0]) for one in runs),
        notes=(
            f"Documents of {LETTERS * WORDS} bytes in parquet files; of ten, one is a copy and one a variant "
            f"of another. `lookalike dedup --id id --memory {options.memory} --threads {_THREADS}`; the "
            "answers were checked.",
            *(f"Seconds by stage of {one.documents:,}: {_stages(one)}." for one in runs),
            *(f"{said}: {'kept' if kept else 'not kept'}." for said, kept in bounds),
        ),
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 0 if all(kept for _, kept in bounds) else 1


def _row(one: Run, fewest: Run) -> tuple[str, ...]:
    return (
        f"{one.documents:,}",
        one.method,
        f"{one.seconds:.1f}",
        f"{one.elapsed:.1f}",
        f"{1e6 * one.seconds / one.documents:.2f}",
        f"{_slower(fewest, one):.2f}",
        f"{one.peak / 1e6:,.0f}",
    )


def _stages(one: Run) -> str:
    return ", ".join(f"{name} {took:.2f}" for name, took in one.stages.items())


def _slower(few: Run, many: Run) -> float:
    return (many.seconds / many.documents) / (few.seconds / few.documents)


def _bounds(few: Run, many: Run, memory: int) -> list[tuple[str, bool]]:
    allowed = memory + BESIDE
    return [
        (
            f"At most the budget and {BESIDE / 1e6:,.0f} MB, {allowed / 1e6:,.0f} MB",
            many.peak <= allowed,
        ),
        (
            f"A document takes at most {SLOWER:g} times as long as among {few.documents:,} "
            f"({_slower(few, many):.2f})",
            _slower(few, many) <= SLOWER,
        ),
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.budget", description="Deduplication within a memory budget."
    )
    parser.add_argument("--documents", type=int, default=10_000_000, help="how many, besides 100,000")
    parser.add_argument("--memory", default="2GB", help="the budget")
    parser.add_argument("--folder", help="where documents, results and scratch files go while it runs")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


if __name__ == "__main__":
    sys.exit(main())
