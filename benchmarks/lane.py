"""One contestant alone in a fresh process, so that memory, warm-up and threads are its own.

The parent calls `run`; the child (`python -m benchmarks.lane REQUEST`) imports the contestant, maps the
corpus, runs the job under a clock, and writes its answer and figures to files. Not timed, for all alike:
starting Python, imports, reading the corpus from disk, and putting the answer in the judge's form.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from . import contestants
from .contestants import Answer, Job

ROOT = Path(__file__).resolve().parents[1]
_THREAD_VARIABLES = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_PAGE = 4_096


class LaneError(Exception):
    """A contestant did not reach the end."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Finish:
    """How a contestant arrived: its time, its peak memory over what the imports held, and its answer."""

    seconds: float
    peak_bytes: int
    answer: Answer


def run(contestant: str, corpus: Path, job: Job, *, pairs: bool = True) -> Finish:
    """Run a contestant on a corpus (see `write_texts`); `pairs=False` asks for clusters alone."""
    with TemporaryDirectory() as folder:
        request = Path(folder) / "request.json"
        request.write_text(
            json.dumps({"contestant": contestant, "corpus": str(corpus), "job": asdict(job), "pairs": pairs})
        )
        environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, str(job.threads))
        child = subprocess.run(
            [sys.executable, "-m", "benchmarks.lane", str(request)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if child.returncode != 0:
            last_words = child.stderr.strip().splitlines()[-1:] or ["no message"]
            raise LaneError(f"{contestant} failed (exit {child.returncode}): {last_words[0]}")
        figures = json.loads((Path(folder) / "figures.json").read_text())
        with np.load(Path(folder) / "answer.npz") as stored:
            answer = Answer(pairs=stored["pairs"], cluster=stored["cluster"])
    return Finish(seconds=figures["seconds"], peak_bytes=figures["peak_bytes"], answer=answer)


def read_texts(corpus: Path) -> pa.LargeStringArray:
    """Map the texts of a corpus into memory, every page of them present."""
    column = pa.ipc.open_file(pa.memory_map(str(corpus))).read_all()["text"]
    texts = column.chunk(0)
    for buffer in texts.buffers():
        if buffer is not None:
            np.frombuffer(buffer, dtype=np.uint8)[::_PAGE].max(initial=0)
    return texts


def write_texts(texts: pa.LargeStringArray, corpus: Path) -> None:
    """Write a corpus for `read_texts`, as one batch."""
    table = pa.table({"text": texts})
    with pa.OSFile(str(corpus), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=max(1, len(texts)))


def main(request_file: str) -> None:
    """Be the child."""
    folder = Path(request_file).parent
    request = json.loads(Path(request_file).read_text())
    contestant, variant = contestants.load(request["contestant"])
    job = replace(Job(**request["job"]), variant=variant)
    # As many cores as threads, so that a library that ignores the variables gains nothing by it.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job.threads])

    # pyarrow imports pandas, where there is one, with its first array: an import like any other.
    pa.array([0])
    gc.collect()
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # starts the peak, VmHWM, anew
    texts = read_texts(Path(request["corpus"]))
    start = time.perf_counter()
    outcome = contestant.run(texts, job)
    seconds = time.perf_counter() - start
    peak_bytes = _memory("VmHWM") - before

    answer = contestant.answer(outcome, len(texts), pairs=request["pairs"])
    np.savez(folder / "answer.npz", pairs=answer.pairs, cluster=answer.cluster)
    (folder / "figures.json").write_text(json.dumps({"seconds": seconds, "peak_bytes": peak_bytes}))


def _memory(field: str) -> int:
    """Return a figure of /proc/self/status, in bytes.

    Not `ru_maxrss`: a child inherits that from the parent it was forked from.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1_024
    raise LaneError(f"/proc/self/status has no {field}")


if __name__ == "__main__":
    main(sys.argv[1])
