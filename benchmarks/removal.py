"""Judges a folder that a deduplicating pipeline wrote: what it kept, what it removed, and whether rightly.

A pipeline from files to files reports no pairs that could be judged one by one. What it leaves is documents,
and which of them it took for one cluster; that is held against the true pairs.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lookalike.applications.planted import truth

from . import judge
from .course import Course


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """A cluster for every row, and whether the row was kept."""

    cluster: NDArray[np.int64]
    kept: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Counts behind recall and precision of what was removed.

    Attributes
    ----------
    true_at, together_at : true pairs with similarity in [t, t + .02], and those of them in one cluster
    true_above, together : the same over all true pairs, similarity ≥ t
    settled : true pairs of which at most one document was kept
    removed, right : documents removed, and those of them with a true duplicate in their cluster
    overlooked : removed documents that are right by a pair that the truth did not list: a fault of the truth
    """

    true_at: int
    together_at: int
    true_above: int
    together: int
    settled: int
    removed: int
    right: int
    overlooked: int

    @property
    def recall_at(self) -> float:
        """Share of the true pairs at the threshold that ended in one cluster."""
        return _share(self.together_at, self.true_at)

    @property
    def recall_above(self) -> float:
        """Share of all true pairs that ended in one cluster."""
        return _share(self.together, self.true_above)

    @property
    def at_most_one_kept(self) -> float:
        """Share of all true pairs of which at most one document was kept."""
        return _share(self.settled, self.true_above)

    @property
    def precision(self) -> float:
        """Share of the removed documents that have a true duplicate in their cluster."""
        return _share(self.right, self.removed)


def read_kept(folder: Path, texts: pa.LargeStringArray) -> NDArray[np.bool_]:
    """Return which rows are in the jsonl files of a folder, each once and with its text as it was.

    Raises
    ------
    ValueError
        If a document is there twice, or with another text.
    """
    kept = np.zeros(len(texts), dtype=bool)
    for file in sorted(folder.glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                row = int(document["id"])
                if kept[row]:
                    raise ValueError(f"document {row} was written twice")
                if document["text"] != texts[row].as_py():
                    raise ValueError(f"document {row} was written with another text")
                kept[row] = True
    return kept


def judge_removal(outcome: Outcome, course: Course, *, threshold: float, words: int) -> Verdict:
    """Compare what was removed with every true pair.

    A removed document without a listed duplicate in its cluster is compared with the whole of it by brute
    force: whether it was wrongly removed does not hang on the truth being complete.
    """
    a, b, similarity = (course.truth[name].to_numpy() for name in ("a", "b", "similarity"))
    together = outcome.cluster[a] == outcome.cluster[b]
    at = similarity <= threshold + judge.AT
    duplicates = np.zeros(len(outcome.kept), dtype=bool)
    duplicates[a[together]] = duplicates[b[together]] = True
    removed = ~outcome.kept
    unexplained = np.flatnonzero(removed & ~duplicates)
    overlooked = sum(
        _has_duplicate(int(row), outcome, course, threshold=threshold, words=words) for row in unexplained
    )
    return Verdict(
        true_at=int(at.sum()),
        together_at=int(together[at].sum()),
        true_above=len(a),
        together=int(together.sum()),
        settled=int((~(outcome.kept[a] & outcome.kept[b])).sum()),
        removed=int(removed.sum()),
        right=int(removed.sum()) - len(unexplained) + overlooked,
        overlooked=overlooked,
    )


def faults(outcome: Outcome) -> list[str]:
    """Return why a folder is no deduplicated corpus: of every cluster exactly one document is kept."""
    clusters = np.unique(outcome.cluster, return_inverse=True)[1]
    kept = np.bincount(clusters, weights=outcome.kept)
    found = []
    if lost := int((kept == 0).sum()):
        found.append(f"of {lost:,} clusters no document was kept")
    if doubled := int((kept > 1).sum()):
        found.append(f"of {doubled:,} clusters more than one document was kept")
    return found


def objections(verdict: Verdict, *, promise: float | None, at_least: float = 0.5) -> list[str]:
    """Return why an answer cannot stand; nothing if it can.

    Who promises a recall is held to it, within chance at the threshold, and to removing nothing wrongly.
    Who does not is only asked to find the share `at_least`: under it we would be misusing the peer.
    """
    found = []
    if verdict.overlooked:
        found.append(f"{verdict.overlooked} duplicates are missing from the truth: mend the benchmark first")
    if promise is None:
        if not verdict.recall_above >= at_least:
            found.append(f"recall {verdict.recall_above:.3f} is no answer (under {at_least})")
        return found
    if judge.upper_bound(verdict.together_at, verdict.true_at) < promise:
        found.append(
            f"recall {verdict.recall_at:.3f} of {verdict.true_at} pairs at the threshold is under the "
            f"promised {promise}, and chance does not explain it (99%)"
        )
    if not verdict.recall_above >= promise:
        found.append(f"recall {verdict.recall_above:.3f} is under the promised {promise}")
    if verdict.right < verdict.removed:
        found.append(f"{verdict.removed - verdict.right:,} documents were removed without a true duplicate")
    return found


def _has_duplicate(row: int, outcome: Outcome, course: Course, *, threshold: float, words: int) -> bool:
    """Whether some other document of its cluster reaches the threshold."""
    own = truth.shingles(course.texts[row].as_py(), words)
    others = np.flatnonzero(outcome.cluster == outcome.cluster[row])
    return any(
        truth.jaccard(own, truth.shingles(course.texts[int(other)].as_py(), words)) >= threshold
        for other in others
        if other != row
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
