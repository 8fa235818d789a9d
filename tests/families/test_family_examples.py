"""The examples in the docstrings of families, shingles and sets are true."""

import doctest
import importlib

import pytest

ROOMS = [
    "families.bitsampling",
    "families.euclidean",
    "families.hyperplane",
    "families.l1",
    "families.minhash",
    "families.permutations",
    "families.ranges",
    "families.weighted",
    "applications.measurements",
    "measures.closeness",
    "shingles.spec",
    "shingles.sets",
    "measures.bits",
    "measures.exact",
    "measures.sets",
    "measures.weights",
    "measures.vectors",
]


@pytest.mark.parametrize("name", ROOMS)
def test_docstring_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"lookalike.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
