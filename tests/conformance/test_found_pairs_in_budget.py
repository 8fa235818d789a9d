"""Found pairs stay within the memory budget, on every road that lists them."""

import tracemalloc

import numpy as np
import pytest

import lookalike as la
from lookalike.engines import LocalEngine

#: Every two of them are near, and none are copies: as arrays that are concatenated and sorted over 110 MB.
CROWD = 1_750
PAIRS = CROWD * (CROWD - 1) // 2
SETS = [[*range(20), 100 + row] for row in range(CROWD)]
VECTORS = np.concatenate([np.ones((CROWD, 3)), np.arange(CROWD)[:, None] / CROWD], axis=1)
KINDS = {
    "lsh": (SETS, {"method": "lsh", "threshold": 0.5}),
    "prefix": (SETS, {"method": "prefix"}),
    "signature": (SETS, {"method": "signature", "threshold": 0.5}),
    "weighted": (
        [dict.fromkeys(row, 1.0) for row in SETS],
        {"measure": "weighted-jaccard", "method": "exact"},
    ),
    "vectors": (VECTORS, {"measure": "l2", "threshold": 2.0, "method": "exact"}),
}
#: The budget, and what roads work with beside it: blocks of signatures, products of vectors.
MOST = 100_000_000


@pytest.mark.parametrize("kind", KINDS)
def test_found_pairs_wait_on_disk_where_they_do_not_fit(kind):
    items, options = KINDS[kind]
    engine = LocalEngine(1, memory=16_000_000)
    tracemalloc.start()
    try:
        pairs = la.similar_pairs(items, engine=engine, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST
    # By their place among all pairs: each once, in order.
    table = pairs.to_arrow()
    first, second = table["a"].to_numpy(), table["b"].to_numpy()
    here = np.cumsum(np.concatenate([[0], np.arange(CROWD - 1, 0, -1)]))[first] + second - first - 1
    assert (first < second).all()
    assert (np.diff(here) > 0).all()
    # Bands may miss a few of so many.
    assert len(here) == PAIRS if kind != "lsh" else PAIRS - 500 < len(here) <= PAIRS
