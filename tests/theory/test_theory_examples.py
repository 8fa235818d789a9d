"""The examples in the docstrings of theory are true."""

import doctest
import importlib

import pytest

ROOMS = [
    *(
        "amplification",
        "areas",
        "banding",
        "cascades",
        "collisions",
        "dependence",
        "distances",
        "hashes",
        "planning",
    ),
    *("multiprobe", "probed_plans", "probed_queries"),
    *("probing", "pyramid", "quadrature", "range_queries", "recall", "sample", "sensitivity"),
]


@pytest.mark.parametrize("name", ROOMS)
def test_docstring_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"lookalike.theory.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
