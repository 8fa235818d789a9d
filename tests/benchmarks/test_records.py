"""Every figure that is shown names the command it came from, and `make bench` runs every such command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import record

ROOT = Path(record.__file__).parents[1]
RECORDS = sorted(record.FOLDER.glob("*.json"))
#: What measures: not those that judge, describe and keep, nor the peers.
BENCHMARKS = {file.stem for file in record.FOLDER.parent.glob("*.py") if "record.Record(" in file.read_text()}


def test_a_command_is_what_was_typed_but_for_recording_and_folders():
    assert record.command("race", []) == "python -m benchmarks.race"
    given = ["--record", "--fingerprints", "/some/where/bits.npy", "--runs", "2"]
    assert record.command("bits", given) == "python -m benchmarks.bits --fingerprints bits.npy --runs 2"


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_a_record_names_a_command_that_there_is(file):
    command = json.loads(file.read_text())["command"]
    module = re.match(r"python -m benchmarks\.(\w+)( |$)", command)
    assert module is not None
    assert module[1] in BENCHMARKS


def test_results_are_those_of_the_records(tmp_path):
    record.write_results(results=tmp_path / "RESULTS.md")
    assert record.RESULTS.read_text() == (tmp_path / "RESULTS.md").read_text()


def test_make_bench_runs_every_benchmark_and_the_readme_lists_it():
    line = re.search(r"^BENCHMARKS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(line[1].split()) == BENCHMARKS
    readme = (ROOT / "benchmarks" / "README.md").read_text()
    assert {name for name in BENCHMARKS if f"python -m benchmarks.{name} " not in readme} == set()
