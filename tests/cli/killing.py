"""Runs that are killed at a step of theirs, and what they leave."""

import contextlib
import os
import random
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


def check_killed_anywhere(monkeypatch, folder, command, *, kills, seed):
    """Kills runs at several moments and goes on; each must end as one never killed, whose answer is returned.

    `command` gives the words of a command from where it writes and more words.
    """
    whole = folder / "whole"
    count = steps_of_a_run(monkeypatch, *command(whole))
    draw = random.Random(seed)
    for moment in sorted(draw.sample(range(1, count + 1), kills)):
        out = folder / f"out{moment}"
        assert killed(monkeypatch, moment, *command(out))
        again = command(out, "--resume", "--overwrite")
        if moment % 3 == 0:
            killed(monkeypatch, draw.randrange(1, count), *again)
        assert main(again) == 0
        assert answer(out) == answer(whole)
        assert not (folder / f".{out.name}.unfinished").exists()
    return answer(whole)


def check_nothing_is_done_again(monkeypatch, folder, command, stop, *, settled, reading):
    """Goes on with a run that `stop` leaves with all stages done: only stages of `reading` may be at work."""
    whole, out = folder / "whole", folder / "out"
    assert main(command(whole)) == 0
    assert {path.name.removesuffix(".stage") for path in stop(out).glob("*.stage")} >= settled
    with monkeypatch.context() as patch:
        for verb in ("map", "group", "fetch", "fold"):
            patch.setattr(LocalEngine, verb, _only(reading, verb))
        assert main(command(out, "--resume", "--threads", "1", "--memory", "20MB")) == 0
    assert answer(out) == answer(whole)


#: What puts found pairs in order and names them: it takes no longer than to read back what it would settle.
LISTING = {"AsPairs", "Numbered", "Reaching", "FirstOfEach"}


def _only(reading, verb):
    do = getattr(LocalEngine, verb)

    def only(self, table, stage, *arguments, **more):
        if type(stage).__name__ not in reading | LISTING:
            # A map whose table is settled is asked for, and has nothing to do.
            assert more.get("settled") is not None, (verb, stage)
            stage = _at_rest
        return do(self, table, stage, *arguments, **more)

    return only


def _at_rest(batch):
    raise AssertionError("a stage that is settled is at work again")


def check_flipped_bits(folder, command, stop, *, seed, most=None):
    """Flips a bit in each table that `stop` leaves, or in some: it is noticed, and the stage done again."""
    assert main(command(folder / "whole")) == 0
    draw = random.Random(seed)
    names = sorted(path.name for path in stop(folder / "out").glob("*.stage"))
    for name in names if most is None else draw.sample(names, most):
        out = folder / f"out {name}"
        damaged = stop(out) / name
        content = bytearray(damaged.read_bytes())
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        damaged.write_bytes(content)
        assert main(command(out, "--resume")) == 0
        assert answer(out) == answer(folder / "whole")
