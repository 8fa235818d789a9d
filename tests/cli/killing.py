"""Runs that are killed at a step of theirs, and what they leave."""

import contextlib
import os
import signal

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.cli import main
from lookalike.engines import LocalEngine
from lookalike.runs import StoredTable
from lookalike.runs import ledger as ledgers


def answer(out):
    """Everything a run wrote but run.json, which tells times."""
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(out)): read(path).to_pylist() for path in files}


def read(path):
    """A table that a run wrote, in whatever form."""
    if path.suffix == ".parquet":
        return pq.read_table(path)
    return pa.Table.from_batches(StoredTable.open(path).batches()).sort_by("place")


class Steps:
    """Counts what a run does to the world, and does something at a certain step."""

    def __init__(self, at=None, then=None):
        self.count, self.at, self.then = 0, at, then

    def step(self):
        self.count += 1
        if self.count == self.at:
            self.then()

    @contextlib.contextmanager
    def watched(self, monkeypatch):
        with monkeypatch.context() as patch:
            for owner, name in [
                (os, "fsync"),
                (os, "replace"),
                (os, "rename"),
                (os, "pwrite"),
                (LocalEngine, "map"),
                (LocalEngine, "group"),
                (LocalEngine, "fetch"),
                (LocalEngine, "fold"),
                (LocalEngine, "settle"),
                (ledgers.Ledger, "discard"),
            ]:
                patch.setattr(owner, name, self.counting(getattr(owner, name)))
            yield

    def counting(self, function):
        def counting(*arguments, **more):
            self.step()
            return function(*arguments, **more)

        return counting


def killed(monkeypatch, at, *command):
    """Runs a command in a child that is killed at a step; whether it was."""
    child = os.fork()
    if child == 0:
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            kill = Steps(at, lambda: os.kill(os.getpid(), signal.SIGKILL))
            with kill.watched(monkeypatch):
                os._exit(main(list(command)))
        finally:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        assert os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def steps_of_a_run(monkeypatch, *command):
    """How many steps a whole run has."""
    steps = Steps()
    with steps.watched(monkeypatch):
        assert main(list(command)) == 0
    return steps.count


def interrupt(*_, **__):
    """What Ctrl-C does."""
    raise KeyboardInterrupt
