"""lookalike itself, through its public door."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike import dedup

from . import Answer, Job, components


def run(texts: pa.LargeStringArray, job: Job) -> Any:
    """Return the result of `dedup`: pairs verified exactly, and their clusters."""
    return dedup(
        texts,
        threshold=job.threshold,
        recall=job.recall,
        shingle=f"words:{job.words}",
        slots=job.slots,
        threads=job.threads,
    )


def answer(outcome: Any, rows: int, *, pairs: bool) -> Answer:
    """Return the cluster of every row and, if asked for, every pair that the result stands for."""
    table = outcome.clusters.to_arrow()
    cluster = np.arange(rows, dtype=np.int64)
    cluster[table["id"].to_numpy()] = table["cluster"].to_numpy()
    found = _every_pair(outcome.pairs.to_arrow(), rows) if pairs else []
    return Answer(pairs=np.array(found, dtype=np.int64).reshape(-1, 2), cluster=cluster)


def _every_pair(table: pa.Table, rows: int) -> list[components.Pair]:
    """Give each exact copy the pairs of its representative.

    Copies are reported as edges to one representative, and near pairs between representatives; the judge
    looks for every true pair by name.
    """
    edges = list(zip(*(table[name].to_pylist() for name in ("a", "b", "similarity")), strict=True))
    label = components.label(((a, b) for a, b, similarity in edges if similarity == 1.0), rows)
    members: dict[int, list[int]] = {}
    for row, first in enumerate(label):
        members.setdefault(first, []).append(row)

    pairs = {pair for group in members.values() for pair in combinations(group, 2)}
    for a, b, similarity in edges:
        if similarity < 1.0:
            pairs.update((min(pair), max(pair)) for pair in product(members[label[a]], members[label[b]]))
    return sorted(pairs)
