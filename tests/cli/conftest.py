"""Two ways to type a command: in this process, where it is quick, and in one of its own, where it is real."""

import json
import os
import signal
import subprocess
import sys
from typing import NamedTuple

import pytest

from lookalike.applications.planted import plant
from lookalike.cli import main


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def type_(capsys):
    """Types a command line in this process."""

    def type_(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Ended(code, *capsys.readouterr())

    return type_


@pytest.fixture
def refused(type_):
    """Types a command line that must be refused: one short error, exit 2, nothing printed as a result."""

    def refused(*arguments):
        ended = type_(*arguments)
        assert ended.code == 2, ended
        assert ended.out == ""
        assert "Traceback" not in ended.err
        message = ended.err.splitlines()[-1]
        assert message.startswith("Error: ")
        return message.removeprefix("Error: ")

    return refused


@pytest.fixture
def start():
    """Starts a command line in a process of its own, as a shell does: Ctrl-C and broken pipes are for it."""
    started = []

    def start(*arguments, before=None, **streams):
        def prepare():
            # A test runner in the background may ignore Ctrl-C, and a child would inherit that.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if before is not None:
                before()

        process = subprocess.Popen(
            [sys.executable, "-m", "lookalike", *map(str, arguments)],
            stdin=streams.pop("stdin", subprocess.DEVNULL),
            stdout=streams.pop("stdout", subprocess.PIPE),
            stderr=streams.pop("stderr", subprocess.PIPE),
            preexec_fn=prepare,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
            **streams,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


CAT = "the cat sat on the mat and looked at the moon for a long time before it fell asleep again"
DOG = "a dog barked at the postman who came up the hill with letters parcels and a bill for the miller"


@pytest.fixture
def texts():
    """A text, another, the first with a word more, a copy of the second in capitals, and one of two words."""
    return [CAT, DOG, f"{CAT} today", DOG.upper(), "too short"]


def _write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def write_lines():
    """Writes rows as lines of JSON to a path, and gives the path back."""
    return _write_lines


@pytest.fixture
def corpus(tmp_path, texts):
    """The texts as a file of JSON lines with ids and a score."""
    return _write_lines(
        tmp_path / "corpus.jsonl",
        [{"id": f"d{row}", "text": text, "score": row} for row, text in enumerate(texts)],
    )


@pytest.fixture(scope="session")
def large_corpus(tmp_path_factory):
    """Enough text that a run takes a moment."""
    planted = plant(8_000, words=5_000)
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    return _write_lines(path, [{"text": text} for text in planted.texts.to_pylist()])
