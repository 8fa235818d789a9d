"""The examples in the docstrings of charts are true."""

import doctest

from lookalike.charts import numbers


def test_docstring_examples_run():
    result = doctest.testmod(numbers)
    assert result.attempted > 0
    assert result.failed == 0
