"""A run killed at any moment, or whose files were damaged, ends with the answer of one left in peace."""

import os
import random
import shutil
import signal
import sys
import time
from itertools import count

import pytest
from tests.runs import toy_job
from tests.runs.processes import forked, waited

from lookalike.errors import ArtefactError, OutputError

KILLED = -signal.SIGKILL
# What changes a folder, or may, and says which: each is a moment before which a process can die.
EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"}


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    home = toy_job.begin(tmp_path_factory.mktemp("peace") / "home")
    toy_job.run(home)
    assert toy_job.made(home) == toy_job.STAGES
    assert not (home / "unfinished").exists()
    return (home / "answer").read_bytes()


def die_at(moment, home):
    """Kill this process before its call of number `moment` that touches files in `home`, or syncs one."""
    left = [moment]

    def count_down():
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hear(event, arguments):
        if event in EVENTS and str(arguments[0]).startswith(str(home)):
            count_down()

    sync = os.fsync

    def fsync(descriptor):
        count_down()
        sync(descriptor)

    os.fsync = fsync
    sys.addaudithook(hear)


def committed(home):
    return sorted(path.name.removesuffix(".stage") for path in (home / "unfinished").glob("[!.]*.stage"))


def test_a_run_may_die_at_any_change_of_its_files(tmp_path, answer):
    for moment in count():
        home = toy_job.begin(tmp_path / str(moment))

        def work(_, home=home, moment=moment):
            die_at(moment, home)
            toy_job.run(home)

        status = waited(forked(work))
        before = committed(home)
        (home / "log").write_text("")
        if status == 0:
            break
        assert status == KILLED
        # The answer may be there already; what is asked for again is given again.
        ended = toy_job.run(home)
        assert (home / "answer").read_bytes() == answer
        assert toy_job.made(home) == [name for name in toy_job.STAGES if name not in before]
        assert ended.redone == {}
        assert sorted(path.name for path in home.iterdir()) == ["answer", "input", "log"]
        shutil.rmtree(home)
    assert moment > 50


def test_a_run_may_be_killed_at_any_time_and_more_than_once(tmp_path, answer):
    chance = random.Random(1)
    kills, ended = 0, 0
    while kills < 50 or not ended:
        home = toy_job.begin(tmp_path / str(ended))
        while True:
            before = committed(home)
            (home / "log").write_text("")
            child = forked(lambda ready, home=home: (ready(), toy_job.run(home, pause=0.002)))
            time.sleep(chance.uniform(0, 0.08))
            os.kill(child, signal.SIGKILL)
            status = waited(child)
            assert not set(before) & set(toy_job.made(home))
            if status == 0:
                break
            assert status == KILLED
            kills += 1
        assert (home / "answer").read_bytes() == answer
        ended += 1


@pytest.fixture
def whole(tmp_path):
    """A run that was killed just before its end: everything is committed."""
    home = toy_job.begin(tmp_path / "home")
    toy_job.run(home, finish=False)
    return home


def harm(content, chance):
    """Flip a bit, cut the end off, put something behind it, leave a part out, or write something over it."""
    at, length = chance.randrange(len(content)), chance.randint(1, 64)
    part = content[at : at + length]
    return chance.choice(
        [
            content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :],
            content[:at],
            content + bytes(length),
            content[:at] + content[at + length :],
            content[:at] + bytes(0xFF - byte for byte in part) + content[at + length :],
        ]
    )


@pytest.mark.parametrize("seed", range(4))
def test_damage_to_any_file_is_mended_or_an_error(whole, answer, seed):
    chance = random.Random(seed)
    folder = whole / "unfinished"
    files = sorted(path for path in folder.iterdir() if path.name != "lock")
    assert len(files) == len(toy_job.STAGES) + 1
    for path in files * 4:
        intact = path.read_bytes()
        path.write_bytes(harm(intact, chance))
        if path.name == "ledger.json":
            with pytest.raises((ArtefactError, OutputError)):
                toy_job.run(whole, finish=False)
            path.write_bytes(intact)
            continue
        (whole / "log").write_text("")
        resumed = toy_job.run(whole, finish=False)
        name = path.name.removesuffix(".stage")
        assert list(resumed.redone) == [name]
        assert toy_job.made(whole) == [name]
        assert path.read_bytes() == intact
    toy_job.run(whole)
    assert (whole / "answer").read_bytes() == answer


def test_many_files_damaged_at_once_are_all_mended(whole, answer):
    chance = random.Random(0)
    damaged = toy_job.STAGES[::2]
    for name in damaged:
        path = whole / "unfinished" / f"{name}.stage"
        path.write_bytes(harm(path.read_bytes(), chance))
    assert list(toy_job.run(whole).redone) == damaged
    assert (whole / "answer").read_bytes() == answer


def test_a_missing_stage_is_made_again(whole, answer):
    (whole / "unfinished" / "mix-1.stage").unlink()
    (whole / "log").write_text("")
    toy_job.run(whole)
    assert toy_job.made(whole) == ["mix-1"]
    assert (whole / "answer").read_bytes() == answer


def test_changed_input_is_refused(whole):
    content = (whole / "input").read_bytes()
    (whole / "input").write_bytes(content[::-1])
    with pytest.raises(OutputError, match="has other content now"):
        toy_job.run(whole)
    (whole / "input").write_bytes(content)
    # The time of the last change alone is no reason.
    assert toy_job.run(whole).resumed
