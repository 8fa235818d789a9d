"""What is shown while a stage runs."""

import io
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from lookalike.errors import OptionError
from lookalike.runs.progress import BarProgress, LinesProgress, SilentProgress, choose_progress


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_auto_is_a_bar_on_a_terminal_and_nothing_elsewhere():
    assert isinstance(choose_progress("auto", Terminal()), BarProgress)
    assert isinstance(choose_progress("auto", io.StringIO()), SilentProgress)
    assert isinstance(choose_progress("jsonl", io.StringIO()), LinesProgress)
    assert isinstance(choose_progress("off", Terminal()), SilentProgress)


def test_an_unknown_kind_is_refused_with_the_choices():
    with pytest.raises(OptionError, match="auto, bar, jsonl, off"):
        choose_progress("loud")


def test_lines_tell_begin_advance_and_end():
    stream, clock = io.StringIO(), Clock()
    with LinesProgress(stream, interval=1.0, clock=clock).stage("sign", total=100) as stage:
        stage.advance(10)
        clock.now = 2.0
        stage.advance(40)
        stage.advance(50)
        clock.now = 2.5
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line["done"]) for line in lines] == [("begin", 0), ("advance", 50), ("end", 100)]
    assert lines[1] == {
        "stage": "sign",
        "event": "advance",
        "done": 50,
        "total": 100,
        "unit": "documents",
        "seconds": 2.0,
        "rate": 25.0,
    }


def test_a_stage_that_fails_is_told_as_stopped():
    stream = io.StringIO()
    with pytest.raises(RuntimeError), LinesProgress(stream).stage("sign"):
        raise RuntimeError
    assert json.loads(stream.getvalue().splitlines()[-1])["event"] == "stopped"


def test_a_reader_that_went_away_does_not_stop_the_run():
    stream = io.StringIO()
    with LinesProgress(stream, interval=0.0).stage("sign") as stage:
        stream.close()
        stage.advance(1)


def test_a_bar_appears_only_after_two_seconds():
    stream, clock = Terminal(), Clock()
    with BarProgress(stream, clock=clock).stage("sign", total=100) as stage:
        stage.advance(10)
        clock.now = 1.9
        stage.advance(10)
        assert stream.getvalue() == ""
        clock.now = 4.0
        stage.advance(20)
    shown = stream.getvalue()
    assert "sign" in shown
    assert "40/100" in shown
    assert "10 documents/s" in shown


def test_a_stage_that_tells_nothing_is_shown_all_the_same():
    stream = Terminal()
    with BarProgress(stream, patience=0.01).stage("cluster", total=100):
        for _ in range(500):
            if "cluster" in stream.getvalue():
                break
            time.sleep(0.01)
    assert "cluster" in stream.getvalue()
    # Nothing is known about how far it is, so nothing is said about it.
    assert "/100" not in stream.getvalue()


def test_a_stage_that_ends_soon_is_never_shown():
    stream = Terminal()
    before = set(threading.enumerate())
    with BarProgress(stream, patience=0.05).stage("plan"):
        pass
    time.sleep(0.1)
    assert stream.getvalue() == ""
    assert set(threading.enumerate()) <= before


def test_rich_is_imported_only_for_a_bar():
    program = (
        "import sys; from lookalike.runs import choose_progress\n"
        "with choose_progress('jsonl').stage('a') as stage: stage.advance(1)\n"
        "assert 'rich' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=environment)
