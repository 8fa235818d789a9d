"""Near pairs by comparing all with all, in plain NumPy and SciPy, which share no code with the package."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from .collection import F64, HAIR, I64, Collection, Planted

_WORDS = re.compile(r"\w+")


def check(collection: Collection, planted: Planted) -> None:
    """Raise unless the planted pairs are all the near ones there are, and those at the threshold are."""
    values, pairs = _values(collection.measure, planted.items)
    level, closer = _level(collection)
    hair = 0.0 if collection.measure in ("jaccard", "weighted-jaccard", "hamming") else HAIR * level
    margin = values - level if closer else level - values
    if np.any((margin < 0) & (margin > -2 * hair)):
        raise AssertionError(f"{collection.name}: a pair is a hair outside of the threshold")
    near = {tuple(pair) for pair in pairs[margin >= 0].tolist()}
    at = {tuple(pair) for pair in pairs[(margin >= 0) & (margin <= 2 * hair)].tolist()}
    planted_at = {tuple(pair) for pair in planted.at.tolist()}
    planted_near = planted_at | {tuple(pair) for pair in planted.nearer.tolist()}
    if near != planted_near or at != planted_at:
        raise AssertionError(
            f"{collection.name}: {len(near):,} pairs are near and {len(at):,} at the threshold, not"
            f" {len(planted_near):,} and {len(planted_at):,} as planted"
        )


def _level(collection: Collection) -> tuple[float, bool]:
    """The threshold as a number, and whether values over it are nearer."""
    similarity = collection.measure in ("jaccard", "weighted-jaccard", "weighted-cosine", "cosine")
    return float(str(collection.threshold).removesuffix("deg")), similarity


def _values(measure: str, items: Any) -> tuple[F64, I64]:
    """The values of all pairs that could be near, and the pairs; of sets, those that share something."""
    if measure in ("jaccard", "weighted-jaccard", "weighted-cosine"):
        matrix = _unary(items) if measure == "weighted-jaccard" else _matrix(items)
        shared = sp.triu(matrix @ matrix.T, k=1).tocoo()
        a, b = shared.row.astype(np.int64), shared.col.astype(np.int64)
        if measure == "weighted-cosine":
            lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1)).A1
            return shared.data / (lengths[a] * lengths[b]), np.stack([a, b], axis=1)
        sizes = np.asarray(matrix.sum(axis=1)).reshape(-1)
        return shared.data / (sizes[a] + sizes[b] - shared.data), np.stack([a, b], axis=1)
    if measure == "hamming":
        apart = pdist(np.unpackbits(items, axis=1).astype(np.float32), "cityblock")
    elif measure in ("l1", "l2"):
        apart = pdist(items.astype(np.float64), {"l1": "cityblock", "l2": "euclidean"}[measure])
    else:
        assert measure in ("angle", "cosine")
        units = items.astype(np.float64) / np.linalg.norm(items.astype(np.float64), axis=1, keepdims=True)
        # By half the chord, which is exact for small angles, too.
        angles = 2 * np.arcsin(np.minimum(1.0, pdist(units) / 2))
        apart = np.cos(angles) if measure == "cosine" else np.degrees(angles)
    rows = len(items)
    a, b = np.triu_indices(rows, k=1)
    return apart, np.stack([a, b], axis=1)


def _matrix(items: Any) -> sp.csr_matrix:
    """Rows of 0 and 1, by element; texts are sets of five words in a row."""
    if sp.issparse(items):
        return items.tocsr().astype(np.float64)
    rows = items.to_pylist()
    if isinstance(rows[0], str):
        words = [_WORDS.findall(text.lower()) for text in rows]
        rows = [list(zip(*(text[start:] for start in range(5)), strict=False)) for text in words]
    columns: dict[Any, int] = {}
    sets = [{columns.setdefault(element, len(columns)) for element in row} for row in rows]
    ends = np.cumsum([0, *map(len, sets)])
    of = np.fromiter((column for one in sets for column in sorted(one)), np.int64, int(ends[-1]))
    return sp.csr_matrix((np.ones(len(of)), of, ends), shape=(len(rows), len(columns)))


def _unary(weighted: sp.csr_matrix) -> sp.csr_matrix:
    """Each element of a whole weight as so many elements: then Σmin/Σmax is that of plain sets."""
    most = int(weighted.data.max())
    levels = [sp.csr_matrix((weighted > level).astype(np.float64)) for level in range(most)]
    return sp.hstack(levels).tocsr()
