"""What a command says it took is the wall clock, from the start of its process to its last file."""

import json
import os
import re
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.cli.clock import process_began
from lookalike.runs.stopwatch import Stage, Stages, took

#: So long Python itself takes to start, in these tests.
SLOW_START = 1.0


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": f"a text of some words {at}", "a": at, "b": at + 1} for at in range(20)]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "baskets.dat").write_text("a b\na b\n")
    pq.write_table(pa.table({"bits": ["ff00", "ff01"]}), tmp_path / "bits.parquet")
    pq.write_table(pa.table({"x": [1.0, 1.5], "y": [2.0, 2.0]}), tmp_path / "faces.parquet")
    pq.write_table(pa.table({"vector": [[1.0, 0.0], [1.0, 0.1]]}), tmp_path / "vectors.parquet")
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "sitecustomize.py").write_text(f"import time\ntime.sleep({SLOW_START})\n")
    return tmp_path


def seconds(said):
    """What a person reads of `took`, in seconds."""
    value, unit = re.search(r"^took +([\d.]+) (µs|ms|s|min)", said, re.MULTILINE).groups()
    return float(value) * {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}[unit]


@pytest.mark.parametrize(
    "arguments",
    [
        "dedup docs.jsonl -o out",
        "dedup docs.jsonl --dry-run",
        "pairs docs.jsonl -o out",
        "pairs docs.jsonl --measure levenshtein --distance 1 -o out",
        "pairs bits.parquet --bits -o out",
        "pairs faces.parquet --measurements x y --within 1 -o out",
        "pairs vectors.parquet --measure angle --threshold 20deg -o out",
        "top docs.jsonl -o out",
        "decontaminate docs.jsonl --with docs.jsonl -o out",
        "baskets pairs baskets.dat -s 1 -o out",
        "cluster docs.jsonl -o out.parquet",
    ],
)
def test_every_command_says_what_passed_since_its_process_was_started(corpus, arguments):
    paths = [str(corpus / "late"), *filter(None, [os.environ.get("PYTHONPATH")])]
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", "lookalike", *arguments.split()],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    passed = time.monotonic() - began
    said = seconds(ended.stdout.replace("so far ", "took "))
    # Printed with two digits after the point.
    assert SLOW_START < said <= passed + 0.02
    if (corpus / "out" / "run.json").exists():
        record = json.loads((corpus / "out" / "run.json").read_text())
        assert SLOW_START < record["took"] <= said + 0.01
        assert record["took"] > sum(stage["seconds"] for stage in record["stages"])


def test_the_clock_knows_when_the_process_was_started():
    program = (
        "import time; time.sleep(0.4)\n"
        "from lookalike.cli.clock import process_began\n"
        "print(time.monotonic() - process_began())"
    )
    began = time.monotonic()
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 0.4 <= float(told.stdout) <= time.monotonic() - began + 0.02


def test_a_system_that_does_not_tell_is_taken_to_have_just_begun(monkeypatch):
    monkeypatch.setattr("lookalike.cli.clock._STATUS", "/not/there")
    assert time.monotonic() - process_began() < 1


def test_a_result_in_python_took_what_the_call_took(monkeypatch):
    began = time.monotonic()
    for result in (la.dedup(["a b c"] * 3), la.top([[1], [1]]), la.decontaminate(["a b c"], ["a b c"])):
        passed = time.monotonic() - began
        first = took(result.stages)
        time.sleep(0.02)
        # Who looks later is told the same.
        assert took(result.stages) == first <= passed
        assert result.record().took == first >= sum(stage.seconds for stage in result.stages)


def test_stages_alone_are_added_up():
    assert took([Stage(name="a", seconds=1.0), Stage(name="b", seconds=0.5)]) == 1.5
    assert 2 <= Stages(began=time.monotonic() - 2).took < 3


def test_what_asked_to_be_called_at_exit_is_called_and_the_code_is_ours(corpus):
    (corpus / "late" / "sitecustomize.py").write_text(
        "import atexit\natexit.register(lambda: open('called', 'w').close())\n"
    )
    paths = [str(corpus / "late"), *filter(None, [os.environ.get("PYTHONPATH")])]
    for arguments, code in (("plan", 0), ("plan --slots 0", 2)):
        ended = subprocess.run(
            [sys.executable, "-m", "lookalike", *arguments.split()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            check=False,
        )
        assert ended.returncode == code
        (corpus / "called").unlink()
