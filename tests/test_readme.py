"""The README's first example does what it says."""

import contextlib
import io
import re
from pathlib import Path

import lookalike

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_first_example_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == shown


def test_the_example_of_the_theory_prints_what_the_readme_shows():
    part = README[README.index("## A theory to hold") :]
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", part, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {"la": lookalike})
    assert printed.getvalue() == shown


def test_the_readme_names_the_two_commands_of_a_fresh_clone():
    assert "make demo" in README
    assert "make test" in README
