"""What does not fit memory is a MemoryError, which a caller can handle, and not the end of the process."""

import subprocess
import sys

import pytest

#: In a process of two gigabytes, with NumPy as `np` and Lookalike as `la`.
BEGIN = """
import resource
import numpy as np
import lookalike as la
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
"""


@pytest.mark.parametrize(
    "asked",
    [
        "la.MinHash(slots=65536).signatures([[1, 2]] * 12_000)",
        "la.Hyperplane(slots=65536).signatures(np.ones((1, 20_000)))",
        "la.Hyperplane(slots=65536).signatures(np.ones((50_000, 2)))",
        "la.Euclidean(width=1.0, slots=65536).signatures(np.ones((10_000, 2)))",
        "la.WeightedMinHash(slots=65536).signatures([{1: 0.5}] * 12_000)",
        "la.Covering(2**31, 3).positions",
        "la.frequent_pairs([[1, 2], [1, 2]], support=2, buckets=2**32)",
    ],
)
def test_too_much_for_memory_is_said(asked):
    code = f"{BEGIN}\ntry:\n    {asked}\nexcept MemoryError as error:\n    print('refused:', error)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout[:8]) == (0, "refused:"), ran.stderr[-2000:]
