"""Docstrings: every example is true, every public name has one, and every room has a map."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import lookalike as la

ROOT = Path(__file__).parents[2]
PACKAGE = Path(la.__file__).parent
MODULES = [la.__name__, *(module.name for module in pkgutil.walk_packages(la.__path__, "lookalike."))]
WITH_EXAMPLES = [
    name
    for name in MODULES
    if not name.endswith(("._core", ".__main__"))
    and re.search(r"^\s*>>> ", importlib.util.find_spec(name).loader.get_source(name), re.MULTILINE)
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", la.__all__)
def test_every_public_name_has_an_example(name):
    assert ">>> " in getattr(la, name).__doc__


@pytest.mark.parametrize("name", [each for each in la.__all__ if inspect.isfunction(getattr(la, each))])
def test_the_package_tells_of_every_function(name):
    assert re.search(rf"^    (\w+, )?{name}\b", la.__doc__, re.MULTILINE)


ROOMS = sorted({folder.parent for folder in PACKAGE.rglob("*.py") if folder.parent != PACKAGE}, key=str)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_every_module_is_on_the_map_of_its_room(room):
    told = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    modules = [path.stem for path in room.glob("*.py") if path.stem != "__init__"]
    assert [name for name in modules if not re.search(rf"\b{name}\b", told)] == []


def test_every_kernel_is_on_their_map():
    lines = (ROOT / "rust" / "kernels" / "src" / "lib.rs").read_text(encoding="utf-8").splitlines()
    told = "\n".join(line for line in lines if line.startswith("//!"))
    kernels = [line.split()[-1].rstrip(";") for line in lines if re.match(r"(pub )?mod ", line)]
    assert kernels
    assert [name for name in kernels if not re.search(rf"`{name}`", told)] == []
