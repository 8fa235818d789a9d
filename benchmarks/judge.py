"""Judges an answer against the truth, before anybody looks at its time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lookalike.applications.planted import truth

from .cases import Case
from .contestants import Answer
from .course import Course

# "At the threshold" means from it to this much above: there recall is at its lowest.
AT = 0.02
# One-sided 99% of a normal variable.
_Z = 2.326


@dataclass(frozen=True, kw_only=True)
class Score:
    """Counts behind recall and precision.

    Attributes
    ----------
    true_at, found_at : true pairs with similarity in [t, t + .02], and those of them that were reported
    true_above, found_above : the same over all true pairs, similarity ≥ t
    reported, right : pairs reported, and those of them whose exact similarity reaches t
    together : true pairs whose two rows are in one cluster, reported or not
    overlooked : reported pairs that are true, and that the truth did not list: a fault of the truth
    """

    true_at: int
    found_at: int
    true_above: int
    found_above: int
    reported: int
    right: int
    together: int
    overlooked: int

    @property
    def recall_at(self) -> float:
        """Share of the true pairs at the threshold that were reported."""
        return _share(self.found_at, self.true_at)

    @property
    def recall_above(self) -> float:
        """Share of all true pairs that were reported."""
        return _share(self.found_above, self.true_above)

    @property
    def precision(self) -> float:
        """Share of the reported pairs that are true."""
        return _share(self.right, self.reported)

    @property
    def clustered(self) -> float:
        """Share of all true pairs that ended in one cluster."""
        return _share(self.together, self.true_above)


def judge(answer: Answer, course: Course, *, threshold: float, words: int) -> Score:
    """Compare an answer with every true pair.

    A reported pair that is not among them is compared by brute force itself: whether it is wrong does not
    hang on the truth being complete.
    """
    rows = len(course.texts)
    a, b, similarity = (course.truth[name].to_numpy() for name in ("a", "b", "similarity"))
    true = _codes(a, b, rows)
    reported = np.unique(_codes(answer.pairs[:, 0], answer.pairs[:, 1], rows))
    found = np.isin(true, reported)
    at = similarity <= threshold + AT
    overlooked = _count_true(np.setdiff1d(reported, true), course.texts, threshold=threshold, words=words)
    return Score(
        true_at=int(at.sum()),
        found_at=int(found[at].sum()),
        true_above=len(true),
        found_above=int(found.sum()),
        reported=len(reported),
        right=int(found.sum()) + overlooked,
        together=int((answer.cluster[a] == answer.cluster[b]).sum()),
        overlooked=overlooked,
    )


def objections(contestant: str, score: Score, case: Case) -> list[str]:
    """Return why an answer cannot stand; nothing if it can."""
    found = []
    if score.overlooked:
        found.append(f"{score.overlooked} true pairs are missing from the truth: mend the benchmark first")
    if contestant not in case.held_to:
        if not score.recall_above >= case.others_recall_at_least:
            found.append(
                f"recall {score.recall_above:.3f} is no answer (under {case.others_recall_at_least})"
            )
        return found
    promise = case.recall_at_least
    if upper_bound(score.found_at, score.true_at) < promise:
        found.append(
            f"recall {score.recall_at:.3f} of {score.true_at} pairs at the threshold is under the promised "
            f"{promise}, and chance does not explain it (99%)"
        )
    if not score.recall_above >= promise:
        found.append(f"recall {score.recall_above:.3f} is under the promised {promise}")
    if not score.precision >= case.precision_at_least:
        found.append(f"precision {score.precision:.4f} is under {case.precision_at_least}")
    return found


def upper_bound(found: int, total: int) -> float:
    """Return Wilson's 99% upper bound of a share."""
    if total == 0:
        return 1.0
    share, z = found / total, _Z
    centre = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return (centre + spread) / (1 + z * z / total)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _codes(a: NDArray[np.int64], b: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """Write each pair as one number, whichever way round it was reported."""
    codes: NDArray[np.int64] = np.minimum(a, b) * rows + np.maximum(a, b)
    return codes


def _count_true(codes: NDArray[np.int64], texts: pa.LargeStringArray, *, threshold: float, words: int) -> int:
    """Count the pairs that reach the threshold after all, by brute force."""
    count = 0
    for pair in zip(*np.divmod(codes, len(texts)), strict=True):
        left, right = (truth.shingles(texts[int(row)].as_py(), words) for row in pair)
        count += truth.jaccard(left, right) >= threshold
    return count
