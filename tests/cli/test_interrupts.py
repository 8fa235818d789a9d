"""An interruption that Python drops is not lost."""

import subprocess
import sys
import textwrap
import time

import pytest

from lookalike import cli
from lookalike.cli.interrupts import lost_interrupts_come_again


class Interrupted:
    def __del__(self):
        raise KeyboardInterrupt


class Broken:
    def __del__(self):
        raise ValueError("something else")


def lose_one_and_go_on():
    Interrupted()
    time.sleep(10)


def test_a_lost_interrupt_comes_again():
    with lost_interrupts_come_again():
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            lose_one_and_go_on()
        assert time.monotonic() - begin < 5


def test_other_errors_are_reported_as_ever(monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: said.append(lost.exc_type))
    with lost_interrupts_come_again():
        Broken()
    assert said == [ValueError]
    Broken()
    assert said == [ValueError] * 2


def test_the_command_ends_as_interrupted(monkeypatch, capsys):
    monkeypatch.setattr("lookalike.cli.app.run", lambda arguments: lose_one_and_go_on())
    assert cli.main(["demo"]) == 130
    assert "interrupted" in capsys.readouterr().err.lower()


@pytest.mark.parametrize("where", ["raise KeyboardInterrupt", "exec('raise KeyboardInterrupt')"])
def test_the_exit_code_is_ours_wherever_it_was_interrupted_and_though_it_is_again(tmp_path, where):
    code = f"""
        import signal, sys
        from lookalike import cli
        from lookalike.cli import app

        def interrupted(arguments):
            {where}

        app.run = interrupted
        ended = cli.main()
        signal.raise_signal(signal.SIGINT)
        sys.exit(ended)
        """
    (tmp_path / "command.py").write_text(textwrap.dedent(code))
    typed = [sys.executable, "-m", "command"]
    process = subprocess.run(typed, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert process.returncode == 130
    assert process.stderr.strip() == "Interrupted."


def test_a_command_that_is_done_cannot_be_interrupted_any_more(tmp_path):
    code = """
        import signal, sys
        from lookalike import cli
        from lookalike.cli import app

        app.run = lambda arguments: 0
        ended = cli.main()
        signal.raise_signal(signal.SIGINT)
        sys.exit(ended)
        """
    (tmp_path / "command.py").write_text(textwrap.dedent(code))
    typed = [sys.executable, "-m", "command"]
    process = subprocess.run(typed, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
