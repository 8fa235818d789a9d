"""What import-linter cannot see of the layers: imports of the kernels and of the public names.

The kernels are no Python file, so to import-linter `from lookalike import _core` is an import of the whole
package. The rest of the layers is its contract in pyproject.toml, run by `make lint`.
"""

import ast
from pathlib import Path

import pytest

import lookalike.errors

PACKAGE = Path(lookalike.errors.__file__).parent
STAGES = {"shingles", "families", "bands", "clusters"}
# Engines know nothing of similarity, but they sort, and the radix sort is a kernel.
MAY_IMPORT_KERNELS = STAGES | {"index", "joins", "measures", "engines"}
MAY_IMPORT_PUBLIC_NAMES = {"__init__", "cli", "service"}


def imports(source, package):
    """The full names a file of `package` imports, those inside functions included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def is_room(name):
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def trespasses(room, imported):
    """Why a room may not import a name; None if it may, as far as this file is concerned."""
    root, *path = imported.split(".")
    if root != "lookalike":
        return None
    if path and path[0] == "_core":
        return (
            None
            if room in MAY_IMPORT_KERNELS
            else "only stages, measures, joins, index and engines see the kernels"
        )
    if path and is_room(path[0]):
        return None
    return (
        None
        if room in MAY_IMPORT_PUBLIC_NAMES
        else "the public names are made of the rooms, not the other way"
    )


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(PACKAGE)) for file in FILES])
def test_rooms_import_neither_kernels_nor_public_names_out_of_turn(file):
    inside = file.relative_to(PACKAGE)
    room = inside.parts[0].removesuffix(".py")
    package = ".".join(["lookalike", *inside.parent.parts])
    source = file.read_text(encoding="utf-8")
    found = {name: reason for name in imports(source, package) if (reason := trespasses(room, name))}
    assert not found


@pytest.mark.parametrize(
    ("source", "imported"),
    [
        ("from lookalike import _core", ["lookalike._core"]),
        ("import lookalike._core as kernels, numpy", ["lookalike._core", "numpy"]),
        ("def late():\n    from lookalike._core import Forest", ["lookalike._core.Forest"]),
        ("from .. import _core", ["lookalike._core"]),
        ("from .banding import Banding", ["lookalike.theory.banding.Banding"]),
        ("from lookalike import dedup", ["lookalike.dedup"]),
    ],
)
def test_imports_are_seen_however_they_are_written(source, imported):
    assert list(imports(source, "lookalike.theory")) == imported


@pytest.mark.parametrize(
    ("room", "imported", "allowed"),
    [
        ("theory", "lookalike._core", False),
        ("applications", "lookalike._core.Forest", False),
        ("engines", "lookalike._core", True),
        ("clusters", "lookalike._core.Forest", True),
        ("joins", "lookalike.dedup", False),
        ("joins", "lookalike", False),
        ("cli", "lookalike.dedup", True),
        ("joins", "lookalike.errors.OptionError", True),
        ("theory", "numpy", True),
    ],
)
def test_who_may_import_what(room, imported, allowed):
    assert (trespasses(room, imported) is None) == allowed
