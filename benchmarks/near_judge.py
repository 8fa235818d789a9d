"""Judges pairs of vectors within a Euclidean distance, before anybody looks at the time they took."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .vectors import F32

RECALL = 0.95
_BLOCK = 250
_AT_ONCE = 100_000

I64 = npt.NDArray[np.int64]
Pairs = tuple[I64, I64]


@dataclass(frozen=True, eq=False)
class Truth:
    """Some rows, and all pairs within the threshold that they are in, each as one number (`codes`)."""

    threshold: float
    rows: I64
    pairs: I64

    @classmethod
    def of(cls, vectors: F32, threshold: float, count: int, seed: int = 2) -> Truth:
        """Draw rows and compare them with all: products in 32 bits propose, differences in 64 decide."""
        rows = np.random.default_rng(seed).choice(len(vectors), min(count, len(vectors)), replace=False)
        squares = (vectors.astype(np.float64) ** 2).sum(axis=1).astype(np.float32)
        # Room for the rounding of products, which at small distances is larger than the distance.
        most = np.float32(threshold**2 + 1e-4 * squares.max())
        found = [np.empty(0, np.int64)]
        for at in range(0, len(rows), _BLOCK):
            some = rows[at : at + _BLOCK]
            apart = squares[some, np.newaxis] + squares - 2 * (vectors[some] @ vectors.T)
            i, b = np.nonzero(apart <= most)
            a = some[i]
            near = (a != b) & (distances(vectors, a, b) <= threshold)
            found.append(codes(a[near], b[near], len(vectors)))
        return cls(threshold, rows, np.unique(np.concatenate(found)))


@dataclass(frozen=True, kw_only=True)
class Result:
    """A contestant at one threshold: how long it took, and how good its answer is."""

    contestant: str
    threshold: float
    seconds: float
    recall: float
    precision: float
    pairs: int
    compared: int

    @property
    def objections(self) -> list[str]:
        """Why the answer cannot stand; nothing if it can."""
        said = []
        if self.recall < RECALL:
            said.append(f"recall {self.recall:.3f} is under the promised {RECALL}")
        if self.precision < 1:
            said.append(f"of the pairs only {self.precision:.4%} are within it, each reported once")
        return [f"{self.contestant}, distance {self.threshold:g}: {why}" for why in said]


def judged(
    pairs: Pairs, vectors: F32, truth: Truth, *, contestant: str, seconds: float, compared: int
) -> Result:
    """Measure every pair of an answer again, and find what it lacks of the truth."""
    parts = [slice(at, at + _AT_ONCE) for at in range(0, len(pairs[0]), _AT_ONCE)]
    near = [distances(vectors, pairs[0][part], pairs[1][part]) <= truth.threshold for part in parts]
    said = codes(*pairs, len(vectors))
    right = np.unique(said[np.concatenate(near)]) if near else said
    return Result(
        contestant=contestant,
        threshold=truth.threshold,
        seconds=seconds,
        recall=float(np.isin(truth.pairs, right).mean()) if len(truth.pairs) else 1.0,
        precision=len(right) / len(said) if len(said) else 1.0,
        pairs=len(said),
        compared=compared,
    )


def distances(vectors: F32, a: I64, b: I64) -> npt.NDArray[np.float64]:
    """How far apart rows are, in 64 bits."""
    apart: npt.NDArray[np.float64] = np.linalg.norm(vectors[a].astype(np.float64) - vectors[b], axis=1)
    return apart


def codes(a: I64, b: I64, rows: int) -> I64:
    """Write each pair as one number, whichever way round it was reported."""
    numbers: I64 = np.minimum(a, b).astype(np.int64) * rows + np.maximum(a, b).astype(np.int64)
    return numbers
