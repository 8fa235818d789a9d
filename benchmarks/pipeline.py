"""From files to files: lookalike's command beside datatrove's MinHash pipeline, on the same shards.

    python -m benchmarks.pipeline [--documents 20000] [--record]

A planted corpus lies on disk as jsonl shards. Each contestant is a command that reads them and writes the
documents it keeps as jsonl; it is timed from its start to its end, Python and imports included, on two cores.
What it wrote is judged before its time is printed: removal.py says how. datatrove_minhash.py is the peer.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lookalike.applications.planted import PlantOptions

from . import course, judge, lane, machine, record, removal
from .contestants import Job
from .course import Course
from .removal import Outcome, Verdict

_SEED = 1
_US = "lookalike"
# Two for each core, so that neither waits long for the other at the end of a stage.
_SHARDS = 4
_OF_THE_PEER = (
    "datatrove: its defaults, word 5-grams in 14 buckets of 8 hashes. What meets in a bucket is not "
    "compared, so it has no threshold; by its own account 92% of the pairs at 0.8 meet. Words are cut "
    "at spaces after its own normalisation, the least a tokeniser can do; spaCy's is left out."
)


class PipelineError(Exception):
    """A command did not reach its end, or wrote no deduplicated corpus."""


@dataclass(frozen=True, kw_only=True)
class Shards:
    """A corpus as files: the folder, and the first row of each file in the order of their names."""

    folder: Path
    starts: list[int]


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A command from folder to folder, and how to read which cluster it put a row in.

    `promises` says whether it promises the recall it is asked for, and checks what it removes.
    """

    name: str
    command: Callable[[Path, Path, Job], list[str]]
    clusters: Callable[[Path, Shards, int], NDArray[np.int64]]
    promises: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """The times of a contestant's runs, and how what it wrote was judged."""

    contestant: str
    seconds: tuple[float, ...] = ()
    verdict: Verdict | None = None
    objections: tuple[str, ...] = ()

    @property
    def median(self) -> float:
        """The time that counts."""
        return statistics.median(self.seconds)


def write_shards(texts: pa.LargeStringArray, folder: Path, shards: int = _SHARDS) -> Shards:
    """Write texts as jsonl files of about as many rows each; a document's id is its row."""
    folder.mkdir()
    starts = []
    for number, rows in enumerate(np.array_split(np.arange(len(texts)), shards)):
        starts.append(int(rows[0]))
        with (folder / f"{number:05d}.jsonl").open("w", encoding="utf-8") as file:
            for row, text in zip(rows.tolist(), texts.take(pa.array(rows)).to_pylist(), strict=True):
                file.write(json.dumps({"id": str(row), "text": text}) + "\n")
    return Shards(folder=folder, starts=starts)


def _our_command(shards: Path, output: Path, job: Job) -> list[str]:
    options = {"threshold": job.threshold, "recall": job.recall, "shingle": f"words:{job.words}"}
    options |= {"slots": job.slots, "threads": job.threads}
    given = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return ["-m", "lookalike", "dedup", str(shards), "-o", str(output), *given]


def _our_clusters(output: Path, shards: Shards, rows: int) -> NDArray[np.int64]:
    """Read clusters.parquet, where a document is called FILE:ROW."""
    table = pq.read_table(output / "clusters.parquet", columns=["id", "cluster"])
    cluster = np.full(rows, -1, dtype=np.int64)
    for name, representative in zip(table["id"].to_pylist(), table["cluster"].to_pylist(), strict=True):
        cluster[_row(name, shards)] = _row(representative, shards)
    if (missing := int((cluster < 0).sum())) > 0:
        raise PipelineError(f"{missing:,} documents are not in clusters.parquet")
    return cluster


def _row(name: str, shards: Shards) -> int:
    file, _, place = name.rpartition(":")
    return shards.starts[int(Path(file).stem)] + int(place)


def _peer_command(shards: Path, output: Path, job: Job) -> list[str]:
    return ["-m", "benchmarks.datatrove_minhash", str(shards), str(output), "--workers", str(job.threads)]


def _peer_clusters(output: Path, shards: Shards, rows: int) -> NDArray[np.int64]:
    """Read the files of datatrove's third stage: pairs of 32-bit numbers, a place in the shard and a cluster.

    Documents that are not there are alone, and get numbers from `rows` on, where no cluster's number reaches.
    """
    cluster = np.arange(rows, 2 * rows, dtype=np.int64)
    for file in sorted((output / "clusters").glob("*.clusters")):
        place, number = np.fromfile(file, dtype="<u4").reshape(-1, 2).astype(np.int64).T
        cluster[shards.starts[int(file.stem)] + place] = number
    return cluster


CONTESTANTS = (
    Contestant(name=_US, command=_our_command, clusters=_our_clusters, promises=True),
    Contestant(name="datatrove", command=_peer_command, clusters=_peer_clusters),
)


def run(contestant: Contestant, shards: Shards, ground: Course, job: Job) -> tuple[float, Outcome]:
    """Run a command on the shards; return its seconds and what it wrote."""
    with TemporaryDirectory(dir=shards.folder.parent) as scratch:
        output = Path(scratch) / "output"
        cores = sorted(os.sched_getaffinity(0))[: job.threads]
        started = time.perf_counter()
        child = subprocess.run(
            [sys.executable, *contestant.command(shards.folder, output, job)],
            cwd=lane.ROOT,
            env=os.environ | {"HF_HUB_OFFLINE": "1"},
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - started
        if child.returncode != 0:
            last_words = child.stderr.strip().splitlines()[-1:] or ["no message"]
            raise PipelineError(f"failed (exit {child.returncode}): {last_words[0]}")
        try:
            kept = removal.read_kept(output / "kept", ground.texts)
        except ValueError as error:
            raise PipelineError(str(error)) from None
        outcome = Outcome(cluster=contestant.clusters(output, shards, len(ground.texts)), kept=kept)
    if wrong := removal.faults(outcome):
        raise PipelineError("; ".join(wrong))
    return seconds, outcome


def compete(contestant: Contestant, shards: Shards, ground: Course, job: Job, *, runs: int) -> Result:
    """Run a contestant a number of times, judging what it writes each time."""
    result = Result(contestant=contestant.name)
    promise = job.recall if contestant.promises else None
    for _ in range(runs):
        try:
            seconds, outcome = run(contestant, shards, ground, job)
        except PipelineError as error:
            return replace(result, objections=(str(error),))
        verdict = removal.judge_removal(outcome, ground, threshold=job.threshold, words=job.words)
        result = replace(
            result,
            seconds=(*result.seconds, seconds),
            verdict=verdict,
            objections=tuple(removal.objections(verdict, promise=promise)),
        )
        if result.objections:
            break
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run both; the exit status is 1 if what one wrote could not stand."""
    options = _parser().parse_args(arguments)
    console = record.console()
    job = Job(threads=options.threads)
    console.print(f"planting {options.documents:,} documents, counting the true pairs …")
    planted = PlantOptions(documents=options.documents, seed=_SEED)
    ground = course.prepare(planted, threshold=job.threshold, words=job.words)
    results = []
    course.SCRATCH.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=course.SCRATCH) as scratch:
        shards = write_shards(ground.texts, Path(scratch) / "shards")
        for contestant in CONTESTANTS:
            with console.status(f"{contestant.name} is running …"):
                results.append(compete(contestant, shards, ground, job, runs=options.runs))
            for objection in results[-1].objections:
                console.print(f"{contestant.name}: {objection}", style="red")

    made = record.Record(
        name="pipeline",
        title="From files to files",
        date=datetime.date.today().isoformat(),
        command=record.command("pipeline", arguments),
        machine=str(
            machine.describe((*(result.contestant for result in results), "xxhash", "numpy", "pyarrow"))
        ),
        columns=_columns(job),
        rows=tuple(_line(result, results[0], ground) for result in results),
        notes=(_conditions(ground, job), _OF_THE_PEER),
        details={"job": asdict(job), "results": [asdict(result) for result in results]},
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 1 if any(result.objections for result in results) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pipeline", description="Files to files.")
    parser.add_argument("--documents", type=int, default=100_000, help="documents of the corpus")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the median counts")
    parser.add_argument("--threads", type=int, default=Job.threads, help="threads or workers, and cores")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


def _columns(job: Job) -> tuple[str, ...]:
    at, above = f"{job.threshold:g}–{job.threshold + judge.AT:g}", f"≥ {job.threshold:g}"
    recalls = (f"in one cluster {at}", f"in one cluster {above}", "at most one kept")
    return ("contestant", "seconds", "MB/s", "× lookalike", *recalls, "removed", "rightly removed")


def _line(result: Result, ours: Result, ground: Course) -> tuple[str, ...]:
    """Return a line of the table; an answer that does not stand gets no time."""
    figures: tuple[str, ...] = ("–",) * 5
    if (verdict := result.verdict) is not None:
        recalls = (verdict.recall_at, verdict.recall_above, verdict.at_most_one_kept)
        figures = (
            *(f"{share:.3f}" for share in recalls),
            f"{verdict.removed:,}",
            f"{verdict.precision:.3f}",
        )
    if result.objections:
        return (result.contestant, "refused", "–", "–", *figures)
    return (
        result.contestant,
        f"{result.median:.2f}",
        f"{ground.text_bytes / 1e6 / result.median:,.1f}",
        "–" if ours.objections else f"{result.median / ours.median:.1f}",
        *figures,
    )


def _conditions(ground: Course, job: Job) -> str:
    return (
        f"{len(ground.texts):,} documents, {ground.text_bytes / 1e6:,.0f} MB of text in {_SHARDS} jsonl "
        f"files, {ground.truth.num_rows:,} true pairs; {job.threads} cores. lookalike: words:{job.words}, "
        f"{job.slots} slots, threshold {job.threshold:g}."
    )


if __name__ == "__main__":
    sys.exit(main())
