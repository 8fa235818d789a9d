"""The examples in the docstrings of what reads sets, units and test items are true."""

import doctest
import importlib

import pytest

ROOMS = [
    "applications.decontaminate.search",
    "applications.sets.reading",
    "applications.top.result",
    "applications.top.search",
    "io.edits",
    "io.units",
    "joins.measured",
    "measures.occurrences",
    "measures.tokens",
    "runs.sizes",
]


@pytest.mark.parametrize("name", ROOMS)
def test_docstring_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"lookalike.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
