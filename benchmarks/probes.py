"""Looking into several buckets of a table: how many tables that spares, at the same promise.

    python -m benchmarks.vectors --probes [--rows 100000] [--record]

The joins find all pairs within 25 degrees among clustered vectors of 64 coordinates, and among a fifth as
many of 768, recall by exact search for a sample of rows. The range queries are of one vector against a tenth
as many, with a near point planted for each; memory is what their tables take. Times are those of cores, all
threads together.
"""

from __future__ import annotations

import datetime
import time

import numpy as np
import numpy.typing as npt

import lookalike as la
from lookalike.theory.probed_plans import ProbedPlan

from . import machine, record
from .vectors import DEGREES, F32, RECALL, Sample, clustered

DIMENSIONS, LONG, TIMES, QUERIES = 64, 768, 2, 200
PROBES = (1, 2, 4, 8, 16)
#: Of the range queries: r, c, and a recall for which a few structures do.
RADIUS, FACTOR, QUERY_RECALL = 15.0, 2.0, 0.5


def joins(rows: int, dimensions: int, sampled: int, several: tuple[int, ...]) -> list[tuple[str, ...]]:
    """A line a number of probes; raises if a pair is false or the promise broken."""
    vectors = clustered(rows, dimensions=dimensions)
    sample = Sample.of(vectors, sampled)
    lines = []
    for probes in several:
        seconds = []
        for _ in range(TIMES):
            started = time.process_time()
            pairs = la.similar_pairs(
                vectors,
                measure="angle",
                threshold=f"{DEGREES}deg",
                recall=RECALL,
                method="lsh",
                probes=probes,
                threads=2,
            )
            seconds.append(time.process_time() - started)
        found = set(zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True))
        recall, plan = sample.recall(found), pairs.account.plan
        if sample.false_pairs(found) or recall < RECALL:
            raise AssertionError(f"probes={probes}: recall {recall:.3f} of {RECALL}, or false pairs")
        assert isinstance(plan, ProbedPlan) == (probes > 1)
        assert pairs.account.recall.recall is not None
        lines.append(
            (
                f"{rows:,} × {dimensions}, probes={probes}",
                f"{plan.banding.bands} of {plan.banding.rows}",
                f"{plan.banding.slots:,}",
                f"{recall:.3f}",
                f"{pairs.account.candidates:,} candidates",
                f"{min(seconds):.2f} s",
            )
        )
    return lines


def queries(points: F32, near: F32) -> list[tuple[str, ...]]:
    """A line a number of probes; raises if fewer queries are answered than promised."""
    lines = []
    for probes in PROBES:
        search = la.RangeSearch.of(
            points, measure="angle", radius=f"{RADIUS}deg", factor=FACTOR, recall=QUERY_RECALL, probes=probes
        )
        started = time.process_time()
        answered = sum(search.query(query) is not None for query in near)
        seconds = time.process_time() - started
        if answered < QUERY_RECALL * len(near):
            raise AssertionError(f"probes={probes}: {answered} of {len(near)} queries are answered")
        tables, rows = search.query_plan.tables, search.query_plan.rows
        size = sum(structure.keys.nbytes + structure.rows.nbytes for structure in search.structures)
        lines.append(
            (
                f"one query, probes={probes}",
                f"{len(search.structures)} × {tables} of {rows}",
                f"{len(search.structures) * tables * rows:,}",
                f"{answered / len(near):.3f}",
                f"{size / 1e6:.1f} MB",
                f"{1000 * seconds / len(near):.2f} ms",
            )
        )
    return lines


def planted(points: F32, count: int, seed: int = 3) -> F32:
    """Vectors at the radius from the first points, in directions of their own."""
    numbers: npt.NDArray[np.float64] = np.random.default_rng(seed).normal(size=(count, points.shape[1]))
    units = points[:count] / np.linalg.norm(points[:count], axis=1, keepdims=True)
    across = numbers - (numbers * units).sum(axis=1, keepdims=True) * units
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angle = np.radians(0.999 * RADIUS)
    turned: F32 = (np.cos(angle) * units + np.sin(angle) * across).astype(np.float32)
    return turned


def table(rows: int, sampled: int, command: str) -> record.Record:
    """Measure both, and say what came of the command."""
    points = clustered(rows // 10, dimensions=DIMENSIONS)
    lines = joins(rows, DIMENSIONS, sampled, PROBES)
    lines += joins(rows // 5, LONG, sampled, PROBES[:: len(PROBES) - 2])
    lines += queries(points, planted(points, min(QUERIES, len(points))))
    return record.Record(
        name="probes",
        title=f"Several buckets a table: vectors within {DEGREES:g}°, and range queries",
        date=datetime.date.today().isoformat(),
        command=command,
        machine=str(machine.describe(("lookalike", "numpy"))),
        columns=("what", "tables of functions", "functions", "recall", "work", "core time"),
        rows=tuple(lines),
        notes=(
            f"All pairs: promised recall {RECALL}, least of {TIMES} runs, planning included;"
            f" recall on {sampled:,} rows, by exact search.",
            f"One query: r = {RADIUS:g}°, c = {FACTOR:g}, {len(points):,} points, promised {QUERY_RECALL};"
            f" recall of {QUERIES} queries with a point planted at r.",
        ),
    )
