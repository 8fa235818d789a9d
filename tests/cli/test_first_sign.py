"""On a terminal somebody who waits sees that something is going on, within a second."""

import io
import os
import pty
import subprocess
import sys
import time

import pytest

from lookalike.cli.first_sign import FirstSign
from lookalike.runs.progress import BarProgress

ERASE = "\r\x1b[K"
STARTING = f"{ERASE}Lookalike is starting …"


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def sign():
    made = FirstSign(io.StringIO(), began=0.0, patience=1000.0, clock=Clock())
    yield made
    made.close()


def written(sign):
    text = sign._stream.getvalue()
    sign._stream.seek(0)
    sign._stream.truncate()
    return text


def test_it_appears_by_itself_and_goes_without_a_trace():
    stream = io.StringIO()
    sign = FirstSign(stream, began=0.0, patience=0.0, clock=Clock())
    sign._timer.join(10)
    assert stream.getvalue() == STARTING
    sign.close()
    assert stream.getvalue() == STARTING + ERASE
    sign.now("read")
    assert stream.getvalue() == STARTING + ERASE


def test_quick_commands_show_nothing(sign):
    sign.now("read")
    sign.hide()
    sign.close()
    assert written(sign) == ""


def test_it_names_the_stage_and_makes_room_for_notes(sign):
    sign._clock.now = 1000.0
    sign.now("read")
    assert written(sign) == f"{ERASE}read …"
    sign.hide()
    assert written(sign) == ERASE
    sign.now("sign")
    assert written(sign) == f"{ERASE}sign …"


def test_a_bar_takes_its_place_and_gives_it_back(sign):
    sign._clock.now = 1000.0
    clock, terminal = Clock(), io.StringIO()
    with BarProgress(terminal, patience=1.0, clock=clock, between=sign).stage("read", 10) as stage:
        assert written(sign) == f"{ERASE}read …"
        clock.now = 2.0
        stage.advance(5)
        assert written(sign) == ERASE
        sign.now("within")
        assert written(sign) == ""
    sign.now("cluster")
    assert written(sign) == f"{ERASE}cluster …"


def test_a_terminal_that_is_gone_stops_nothing(sign):
    sign._clock.now = 1000.0
    sign._stream.close()
    sign.now("read")
    sign.hide()


def shown_on_a_terminal(*arguments, feed=None):
    """What a command writes to a terminal, until it ends; `feed` is given to it once something is shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lookalike", *arguments], stdin=subprocess.PIPE, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
            if feed is not None and process.stdin is not None and not process.stdin.closed:
                process.stdin.write(feed)
                process.stdin.close()
        return shown.decode(), process.wait(60)
    finally:
        process.kill()
        os.close(ours)


def test_a_command_that_waits_for_its_input_shows_that_it_lives(tmp_path):
    # It reads standard input to its end, which comes only when something was shown.
    shown, code = shown_on_a_terminal("dedup", "-", "-o", str(tmp_path / "out"), feed=b'{"text": "a b c"}\n')
    assert code == 0
    assert shown.startswith(STARTING)
    before, _, result = shown.rpartition(ERASE)
    assert result.startswith("documents     1, ")
    assert "documents" not in before


@pytest.mark.parametrize("quiet", [["--progress", "off"], ["--progress=jsonl"]])
def test_who_wants_no_progress_sees_none(tmp_path, quiet):
    (tmp_path / "docs.jsonl").write_text('{"text": "a b c"}\n')
    shown, code = shown_on_a_terminal(
        "dedup", str(tmp_path / "docs.jsonl"), "-o", str(tmp_path / "out"), *quiet
    )
    assert code == 0
    assert "starting" not in shown


def test_an_error_stands_on_a_line_of_its_own(tmp_path):
    began = time.monotonic()
    shown, code = shown_on_a_terminal("dedup", str(tmp_path / "missing.jsonl"), "-o", str(tmp_path / "out"))
    assert code == 2
    assert shown.rpartition(ERASE)[2].startswith("Error: there is no file")
    assert time.monotonic() - began < 60
