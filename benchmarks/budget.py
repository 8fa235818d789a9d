"""Ten million documents in two gigabytes: how much memory a run takes, and whether its time stays linear.

    python -m benchmarks.budget [--documents 10000000] [--memory 2GB] [--folder DIR] [--record]

Documents of some 200 bytes are written to parquet files, a few at a time, and deduplicated from there by a
process of its own with a memory budget. Of every ten, one is a copy of an earlier one and one differs from it
in a word; the others have nothing in common. The answer is checked first: all copies are dropped, of the
variants as many as recall promises, nothing else, and every document is either kept on disk or named as
dropped. Then the peak memory of the process is set against its budget, and its time a document against that
of a hundred thousand.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import lookalike
from lookalike.engines import LocalEngine
from lookalike.runs.sizes import parse_size

from . import machine, record

#: What a process may take beyond its budget: the interpreter, its libraries, and 100 bytes a document for the
#: driver's arrays and the result.
BESIDE, A_DOCUMENT = 250_000_000, 100
#: How many times as long a document may take as where everything fits memory.
SLOWER = 2.0
_FEW = 100_000
_A_FILE = 100_000
_TENTH = 10
_WORDS, _VOCABULARY = 33, 100_000


def write_documents(folder: Path, count: int, seed: int = 0) -> None:
    """Write so many documents to parquet files (`id`, `text`); of ten, the last two are like the first."""
    letters = np.random.default_rng(seed).integers(ord("a"), ord("z") + 1, (_VOCABULARY, 6), dtype=np.uint8)
    letters[:, 5] = ord(" ")
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, count, _A_FILE)):
        ids = np.arange(start, min(count, start + _A_FILE))
        # Of whole tens, so that the first of ten is in the same file.
        words = np.random.default_rng([seed, number]).integers(0, _VOCABULARY, (len(ids), _WORDS))
        like = np.flatnonzero(ids % _TENTH >= _TENTH - 2)
        last = words[like, -1]
        words[like] = words[like - ids[like] % _TENTH]
        varied = ids[like] % _TENTH == _TENTH - 2
        words[like[varied], -1] = last[varied]
        texts = pa.LargeStringArray.from_buffers(
            len(ids),
            pa.py_buffer(np.arange(len(ids) + 1, dtype=np.int64) * 6 * _WORDS),
            pa.py_buffer(letters[words].reshape(-1)),
        )
        pq.write_table(pa.table({"id": ids, "text": texts}), folder / f"{number:05}.parquet")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a process says of its run: bytes before it and at most, and seconds."""

    documents: int
    before: int
    peak: int
    seconds: float
    writing: float
    stages: dict[str, float]


def run(source: Path, output: Path, memory: int) -> Run:
    """Deduplicate in this process."""
    before = _peak()
    begin = time.perf_counter()
    result = lookalike.dedup(source, id="id", engine=LocalEngine(memory=memory, scratch=output.parent))
    done = time.perf_counter()
    result.write(output)
    end = time.perf_counter()
    return Run(
        documents=result.counts["documents"],
        before=before,
        peak=_peak(),
        seconds=end - begin,
        writing=end - done,
        stages={stage.name: round(stage.seconds, 2) for stage in result.stages},
    )


def _peak() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def run_apart(source: Path, output: Path, memory: int) -> Run:
    """Deduplicate in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.budget", "--run", str(source), str(output), str(memory)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    return Run(**json.loads(ended.stdout))


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
    if options.run:
        source, output, memory = options.run
        print(json.dumps(asdict(run(Path(source), Path(output), int(memory)))))
        return 0
    console, memory = record.console(), parse_size(options.memory)
    runs: list[Run] = []
    for count in dict.fromkeys((min(_FEW, options.documents), options.documents)):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            source, output = Path(folder) / "documents", Path(folder) / "output"
            write_documents(source, count)
            runs.append(run_apart(source, output, memory))
            wrong = faults(output, count)
        if wrong:
            console.print(*(f"{count:,} documents: {fault}" for fault in wrong), sep="\n", style="red")
            return 1
    bounds = _bounds(runs[0], runs[-1], memory)
    made = record.Record(
        name="budget",
        title=f"Deduplication within {options.memory}",
        date=datetime.date.today().isoformat(),
        machine=str(machine.describe(("lookalike", "numpy", "pyarrow"))),
        columns=(
            "documents",
            "µs a document",
            "seconds",
            "of it writing",
            "peak, MB",
            "beyond the start, MB",
        ),
        rows=tuple(_row(one) for one in runs),
        notes=(
            f"Documents of {6 * _WORDS} bytes; of ten, one is a copy and one a variant of another.",
            "Seconds by stage: " + ", ".join(f"{name} {took:g}" for name, took in runs[-1].stages.items()),
            *(f"{said}: {'kept' if kept else 'not kept'}." for said, kept in bounds),
        ),
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 0 if all(kept for _, kept in bounds) else 1


def _row(one: Run) -> tuple[str, ...]:
    return (
        f"{one.documents:,}",
        f"{1e6 * one.seconds / one.documents:.1f}",
        f"{one.seconds:.1f}",
        f"{one.writing:.1f}",
        f"{one.peak / 1e6:,.0f}",
        f"{(one.peak - one.before) / 1e6:,.0f}",
    )


def _bounds(few: Run, many: Run, memory: int) -> list[tuple[str, bool]]:
    allowed = memory + BESIDE + A_DOCUMENT * many.documents
    slower = (many.seconds / many.documents) / (few.seconds / few.documents)
    return [
        (
            f"At most the budget, {BESIDE / 1e6:,.0f} MB and {A_DOCUMENT} bytes a document, "
            f"{allowed / 1e6:,.0f} MB",
            many.peak <= allowed,
        ),
        (
            f"A document takes at most {SLOWER:g} times as long as among {few.documents:,} ({slower:.2f})",
            slower <= SLOWER,
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
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
