"""The examples in the documentation of run folders and files."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["fingerprint", "folder", "header", "ledger", "record", "space", "stored"])
def test_the_examples_are_true(name):
    result = doctest.testmod(importlib.import_module(f"lookalike.runs.{name}"))
    assert result.attempted
    assert not result.failed
