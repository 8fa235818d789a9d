"""What the documents show is true: examples print it, links lead somewhere, figures are recorded."""

import inspect
import itertools
import json
import re
from pathlib import Path

import pytest
from tests.docs.examples import run_examples

import lookalike as la
from lookalike.applications.planted import plant
from lookalike.cli.app import COMMANDS

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]
ALL = [*ROOT.glob("*.md"), *DOCUMENTS[1:], ROOT / "benchmarks" / "README.md"]


def name(path):
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def planted_lines():
    """The file that the README begins with, made as it says."""
    texts = plant(5_000, seed=7).texts.to_pylist()
    return "".join(json.dumps({"text": text}) + "\n" for text in texts)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_examples_print_what_is_shown(path, tmp_path, monkeypatch, planted_lines):
    # What an example writes stays here.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text(planted_lines, encoding="utf-8")
    run_examples(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "shown",
    [
        "```python\nprint(1)\n```\n\n```\n2\n```\n",
        "```python\nprint(1)\n```\n",
        "```python\nx = 1\n```\n\n```\n1\n```\n",
        "```console\n$ lookalike plan --threshold 2\n```\n",
        "```console\n$ lookalike --version\n0\n```\n",
        "```console\n$ rm nothing\n```\n",
        "```ruby\n1\n```\n",
    ],
    ids=[
        "another output",
        "no output",
        "output of nothing",
        "refused",
        "another line",
        "another program",
        "ruby",
    ],
)
def test_an_example_that_prints_something_else_is_noticed(shown):
    with pytest.raises(AssertionError):
        run_examples(shown)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_links_lead_to_files_and_headings_that_are_there(path):
    for target in re.findall(r"\]\(([^)#\s]*(?:#[^)\s]*)?)\)", path.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there.read_text(encoding="utf-8")), target


@pytest.mark.parametrize("path", [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=name)
def test_files_that_are_named_are_there(path):
    rooms = ("python", "rust", "tests", "benchmarks", "docs")
    sources = [*ROOT.glob("*.*"), *(file for room in rooms for file in (ROOT / room).rglob("*.*"))]
    named = re.findall(r"`([\w./]+\.(?:py|pyi|rs|toml|md))`", path.read_text(encoding="utf-8"))
    assert named
    assert [
        each for each in named if not any(f"/{name(file)}".endswith(f"/{each}") for file in sources)
    ] == []


def test_every_room_is_in_the_tree():
    tree = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## The tree")[1].split("\n## ")[0]
    rooms = {folder.name for folder in (ROOT / "python" / "lookalike").iterdir() if folder.is_dir()}
    assert {room for room in rooms - {"__pycache__"} if f" {room}/" not in tree} == set()


def anchors(document):
    """The headings of a document, as links name them."""
    headings = re.findall(r"^#+ (.*)$", document, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table_at(document, mark):
    """The first table at or below a mark: the cells of its rows."""
    lines = document[document.index(mark) :].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("| "))
    table = itertools.takewhile(lambda line: line.startswith("|"), lines[first:])
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table][2:]


def test_the_race_in_the_readme_is_the_latest_record():
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    shown = table_at(README.read_text(encoding="utf-8"), "| contestant | seconds")
    assert shown == [cells[:7] for cells in table_at(results, "## Race: documents/edited-0.8")]


def test_every_command_is_in_the_table_of_the_readme():
    named = {cells[1].strip("`").split()[0] for cells in table_at(README.read_text(), "| What you want")}
    assert named == set(COMMANDS) - {"demo"}


def test_every_function_of_the_public_names_is_in_the_documents():
    written = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    functions = [each for each in la.__all__ if inspect.isfunction(getattr(la, each))]
    assert [each for each in functions if not re.search(rf"\b{each}\b", written)] == []


def test_the_readme_names_the_two_commands_of_a_fresh_clone():
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"    make {target} " in README.read_text(encoding="utf-8")
        assert re.search(rf"^{target}:", targets, re.MULTILINE)
