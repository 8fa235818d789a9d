"""New documents for an old corpus: what appending a tenth costs, beside doing everything again.

    python -m benchmarks.append [--documents 50000] [--record]

A planted corpus is written to parquet files, ten parts old and one part new, and the old part deduplicated.
The answer comes first: against the exact road over the same earlier run, appending by bands may drop nothing
else, and must drop what recall promises. Then the seconds of appending, by stored keys and without, stand
beside those of old and new together, from files to the folder of the run. An append reads the kept files
again, as far as its documents meet any there; what it saves is signing, joining and writing them.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lookalike as la
from lookalike.applications.documents.keys import KEYS_NAME
from lookalike.applications.documents.result import DedupResult
from lookalike.applications.planted import plant
from lookalike.runs import StoredTable

from . import machine, record

ROUNDS = 3
RECALL = 0.95
_PARTS = 11


def write_corpus(folder: Path, documents: int, seed: int = 0) -> tuple[list[Path], list[Path]]:
    """Write so many planted documents, shuffled, to parquet files; old and new ones."""
    texts = plant(documents, words=20_000, seed=seed).texts
    order = np.random.default_rng(seed).permutation(len(texts))
    folder.mkdir(parents=True)
    files = []
    for part, rows in enumerate(np.array_split(order, _PARTS)):
        files.append(folder / f"{part:02}.parquet")
        pq.write_table(pa.table({"text": texts.take(pa.array(rows))}), files[-1])
    return files[:-1], files[-1:]


def faults(bands: DedupResult, exact: DedupResult) -> list[str]:
    """What is wrong with an append by bands, in the light of the exact one."""
    wrong = int(np.count_nonzero(~bands.kept_rows & exact.kept_rows))
    there, found = (int(np.count_nonzero(~result.kept_rows)) for result in (exact, bands))
    said = [f"{wrong} documents were dropped that are like nothing"] if wrong else []
    if found < RECALL * there:
        said.append(f"{found} of {there} near-duplicates were dropped, short of {RECALL:.0%}")
    return said


@dataclass(frozen=True, kw_only=True)
class Took:
    """The least seconds of a few rounds: to clusters, to the folder, and the latter on all cores."""

    found: float
    written: float
    cores: float
    result: DedupResult


def fastest(job: Callable[[], DedupResult], output: Path, rounds: int = ROUNDS) -> Took:
    """Do a job a few times."""
    found, written, cores = [], [], []
    for _ in range(rounds):
        started, worked = time.perf_counter(), time.process_time()
        result = job()
        found.append(time.perf_counter() - started)
        result.write(output, overwrite=True)
        written.append(time.perf_counter() - started)
        cores.append(time.process_time() - worked)
    return Took(found=min(found), written=min(written), cores=min(cores), result=result)


def measure(documents: int, folder: Path, command: str) -> record.Record:
    """Check the answer and time the roads."""
    old, new = write_corpus(folder / "corpus", documents)
    run = la.dedup(old, method="lsh").write(folder / "run")
    stored = StoredTable.open(run / KEYS_NAME)
    exact = la.dedup(new, against=run, method="prefix")
    jobs: dict[str, Callable[[], DedupResult]] = {
        "old and new together": lambda: la.dedup([*old, *new], method="lsh"),
        "new against old, stored keys": lambda: la.dedup(new, against=run, method="lsh"),
        "new against old, prefix": lambda: la.dedup(new, against=run, method="prefix"),
        "new alone": lambda: la.dedup(new, method="lsh"),
    }
    rows: list[tuple[str, ...]] = []
    details = {}
    wrong = faults(jobs["new against old, stored keys"](), exact)
    if wrong:
        raise SystemExit(f"wrong answer: {'; '.join(wrong)}")
    for name, job in jobs.items():
        took = fastest(job, folder / "output")
        stages = {stage.name: round(stage.seconds, 4) for stage in took.result.stages}
        details[name] = {"found": took.found, "written": took.written, "cores": took.cores, "stages": stages}
        seconds = (f"{value:.2f}" for value in (took.found, took.written, took.cores))
        rows.append((name, *seconds, f"{took.result.counts['kept']:,}"))
    a_row = stored.nbytes / stored.rows
    return record.Record(
        name="append",
        title=f"Appending: {documents:,} documents, one in eleven new",
        date=datetime.date.today().isoformat(),
        command=command,
        machine=str(machine.describe(("lookalike", "numpy", "pyarrow"))),
        columns=("job", "seconds to clusters", "to the folder", "of all cores", "kept"),
        rows=tuple(rows),
        notes=(
            f"keys.table holds {stored.rows:,} kept documents in {a_row:.0f} bytes each.",
            f"The least of {ROUNDS} rounds. An append reads kept files again where its documents meet any.",
        ),
        details=details,
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and perhaps keep the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="append-"))
    try:
        made = measure(asked.documents, folder, record.command("append", arguments))
    finally:
        shutil.rmtree(folder)
    made.show(record.console())
    if asked.record:
        print(record.save(made))


if __name__ == "__main__":
    main()
