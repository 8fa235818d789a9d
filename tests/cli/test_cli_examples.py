"""The examples in the docstrings of the command, and of what it demonstrates, are true."""

import doctest
import importlib

import pytest

ROOMS = ["cli.done", "cli.repeated", "cli.side_by_side", "applications.compare", "applications.demo"]


@pytest.mark.parametrize("name", ROOMS)
def test_docstring_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"lookalike.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
