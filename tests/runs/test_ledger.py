"""What is committed stays, what is asked for otherwise is refused, and two processes never share a folder."""

import dataclasses
import errno
import json
import os
import shutil
import signal
import tempfile
from collections import namedtuple
from pathlib import Path

import pyarrow as pa
import pytest
from tests.runs.processes import forked, waited

from lookalike.errors import ArtefactError, OutputError, ResumeError
from lookalike.runs import Fingerprint, Ledger, is_unfinished_run, ledger, stored

TABLE = pa.table({"row": [0, 1, 2], "text": ["a", None, "ü"]})
INPUT = Fingerprint(path="a.jsonl", size=1180, changed=5, ends=7)


def opened(folder, **asked):
    defaults = {"job": "toy", "parameters": {"threshold": 0.8}, "inputs": [INPUT], "algorithm": 1}
    return Ledger.open(folder, **{**defaults, **asked})


def never():
    raise AssertionError("this stage is committed and must not be made again")


def content(table):
    return pa.Table.from_batches(table.batches(), table.schema)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out.unfinished"


@pytest.fixture
def unfinished(folder):
    with opened(folder) as begun:
        begun.step("rows", lambda: TABLE)
        begun.value("count", lambda: (1, 2))
    return folder


def test_committed_stages_are_not_made_again(unfinished):
    with opened(unfinished, resume=True) as resumed:
        assert resumed.resumed
        assert resumed.done() == ["count", "rows"]
        assert content(resumed.step("rows", never)).equals(TABLE)
        assert resumed.value("count", never) == [1, 2]
        assert resumed.redone == {}


def test_a_stage_may_ask_for_others_and_who_finds_it_done_does_not(folder):
    def outer(begun):
        inner = begun.step("inner", lambda: TABLE)
        return inner.schema, inner.batches()

    with opened(folder) as begun:
        begun.step("outer", lambda: outer(begun))
        begun.step("next", lambda: TABLE)
    with opened(folder, resume=True) as resumed:
        resumed.step("outer", never)
        resumed.step("next", never)
        assert resumed.redone == {}
    (folder / "outer.stage").unlink()
    with opened(folder, resume=True) as resumed:
        assert content(resumed.step("outer", lambda: outer(resumed))).equals(TABLE)
        resumed.step("next", never)
        assert resumed.redone == {}


def test_a_value_is_the_same_the_first_time_and_later(folder):
    with opened(folder) as begun:
        assert not begun.resumed
        assert begun.value("plan", lambda: {"bands": (1, 2), 3: 0.1}) == {"bands": [1, 2], "3": 0.1}
    with opened(folder, resume=True) as resumed:
        assert resumed.value("plan", never) == {"bands": [1, 2], "3": 0.1}


def test_batches_are_written_as_they_come(folder):
    seen = []

    def batches(begun):
        for batch in TABLE.to_batches(max_chunksize=1):
            partial = [path for path in begun.folder.iterdir() if path.name.startswith(".rows")]
            seen.append((len(partial), begun.done()))
            yield batch

    with opened(folder) as begun:
        rows = begun.step("rows", lambda: (TABLE.schema, batches(begun)))
    assert seen == [(1, [])] * 3
    assert rows.batch_rows == (1, 1, 1)
    assert content(rows).equals(TABLE)


def test_a_stage_that_fails_leaves_nothing_and_can_be_made_next_time(folder):
    def failing():
        yield TABLE.to_batches()[0]
        raise RuntimeError("no more")

    with opened(folder) as begun, pytest.raises(RuntimeError, match="no more"):
        begun.step("rows", lambda: (TABLE.schema, failing()))
    assert sorted(path.name for path in folder.iterdir()) == ["ledger.json", "lock"]
    with opened(folder, resume=True) as resumed:
        assert content(resumed.step("rows", lambda: TABLE)).equals(TABLE)
        assert resumed.redone == {}


def test_what_was_being_written_is_swept_away(unfinished):
    (unfinished / ".late.stage.partial-0123abcd").write_bytes(b"half")
    (unfinished / ".spill.partial-0123abcd").mkdir()
    (unfinished / ".spill.partial-0123abcd" / "part").write_bytes(b"half")
    with opened(unfinished, resume=True):
        names = sorted(path.name for path in unfinished.iterdir())
    assert names == ["count.stage", "ledger.json", "lock", "rows.stage"]


def test_discard_removes_the_folder(unfinished):
    (unfinished / ".spill.partial-0123abcd").mkdir()
    with opened(unfinished, resume=True) as resumed:
        resumed.discard()
    assert not unfinished.exists()
    with opened(unfinished, resume=True) as begun:
        assert not begun.resumed


def test_an_unfinished_run_is_refused_with_both_ways_to_go_on(unfinished):
    with pytest.raises(OutputError, match=r"unfinished run: go on with --resume, or .* --overwrite"):
        opened(unfinished)
    with opened(unfinished, resume=True) as resumed:
        resumed.step("rows", never)


def test_overwrite_begins_anew(unfinished):
    with opened(unfinished, overwrite=True, parameters={"threshold": 0.7}) as begun:
        assert not begun.resumed
        assert begun.done() == []
    with opened(unfinished, resume=True, parameters={"threshold": 0.7}) as resumed:
        assert resumed.resumed


def test_resume_goes_before_overwrite(unfinished):
    with opened(unfinished, resume=True, overwrite=True) as resumed:
        assert resumed.done() == ["count", "rows"]


def test_resume_without_an_unfinished_run_begins_one(folder):
    with opened(folder, resume=True) as begun:
        assert not begun.resumed
    assert is_unfinished_run(folder)


@pytest.mark.parametrize("left", [[], ["lock"], ["lock", ".ledger.json.partial-0a0b0c0d"]])
def test_a_run_killed_as_it_began_is_begun_again(folder, left):
    folder.mkdir()
    for name in left:
        (folder / name).touch()
    for _ in range(2):
        with opened(folder) as begun:
            assert not begun.resumed
            begun.discard()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"parameters": {"threshold": 0.7}}, "threshold was 0.8 and is 0.7 now"),
        ({"parameters": {"threshold": 0.8, "seed": 1}}, "seed was not given and is 1 now"),
        ({"parameters": {}}, "threshold was 0.8 and is not given now"),
        ({"job": "pairs"}, "it was toy and is pairs now"),
        ({"algorithm": 2}, "version 1 of the algorithms began it and this is 2"),
        ({"inputs": []}, "a.jsonl is not among the inputs now"),
        ({"inputs": [INPUT, dataclasses.replace(INPUT, path="b")]}, "b is new"),
        ({"inputs": [dataclasses.replace(INPUT, size=1204)]}, "a.jsonl has 1,204 bytes now and had 1,180"),
        ({"inputs": [INPUT, INPUT]}, "not as often"),
    ],
)
def test_a_resume_with_something_else_is_refused_with_what_differs(unfinished, asked, said):
    before = {path.name: path.read_bytes() for path in unfinished.iterdir() if path.name != "lock"}
    with pytest.raises(ResumeError) as caught:
        opened(unfinished, resume=True, **asked)
    assert said in str(caught.value)
    assert "begin anew with --overwrite" in str(caught.value)
    assert before == {path.name: path.read_bytes() for path in unfinished.iterdir() if path.name != "lock"}
    with opened(unfinished, resume=True) as resumed:
        resumed.step("rows", never)


def test_another_version_of_the_package_is_refused(unfinished, monkeypatch):
    monkeypatch.setattr("lookalike.runs.asked.versions_here", lambda: {"lookalike": "99", "pyarrow": "1"})
    with pytest.raises(ResumeError, match=r"lookalike was .* and is 99 now"):
        opened(unfinished, resume=True)


def test_many_differences_are_counted(unfinished):
    with pytest.raises(ResumeError, match="and 3 more"):
        opened(unfinished, resume=True, parameters={"threshold": 0.8, **dict.fromkeys("abcdefgh", 1)})


def test_parameters_are_compared_as_they_are_stored(folder):
    with opened(folder, parameters={"sizes": (1, 2), "folding": {"a": 1, "b": 2}}):
        pass
    with opened(folder, parameters={"folding": {"b": 2, "a": 1}, "sizes": [1, 2]}, resume=True) as resumed:
        assert resumed.resumed


def test_a_stage_with_other_parameters_is_made_again_and_so_is_what_follows(folder):
    def through(begun, parts):
        made = []

        def making(name, table):
            made.append(name)
            return table

        begun.step("first", lambda: making("first", TABLE))
        begun.step("parts", lambda: making("parts", TABLE), parameters={"parts": parts})
        begun.step("after", lambda: making("after", TABLE))
        return made

    with opened(folder) as begun:
        assert through(begun, 4) == ["first", "parts", "after"]
    with opened(folder, resume=True) as resumed:
        assert through(resumed, 4) == []
    with opened(folder, resume=True) as resumed:
        assert through(resumed, 5) == ["parts", "after"]
        assert list(resumed.redone) == ["parts", "after"]
    with opened(folder, resume=True) as resumed:
        assert through(resumed, 5) == []


def test_the_order_in_which_parameters_are_named_is_no_difference(folder):
    with opened(folder) as begun:
        begun.step("first", lambda: TABLE, parameters={"a": 1, "b": 2})
        begun.step("second", lambda: TABLE)
    with opened(folder, resume=True) as resumed:
        resumed.step("first", never, parameters={"b": 2, "a": 1})
        resumed.step("second", never)


def test_a_stage_that_becomes_a_value_is_made_again(unfinished):
    with opened(unfinished, resume=True) as resumed:
        assert resumed.value("rows", lambda: 7) == 7


def test_stages_of_another_run_are_not_taken(unfinished, tmp_path):
    with opened(tmp_path / "other", parameters={"threshold": 0.7}):
        pass
    shutil.copy(unfinished / "rows.stage", tmp_path / "other")
    with opened(tmp_path / "other", parameters={"threshold": 0.7}, resume=True) as other:
        assert content(other.step("rows", lambda: TABLE[:1])).equals(TABLE[:1])
        assert list(other.redone) == ["rows"]


@pytest.mark.parametrize("name", ["", ".hidden", "../up", "a/b", "Rows", "a b", "ü", "a" * 101, "a\n"])
def test_names_that_are_no_file_names_are_refused(folder, name):
    with opened(folder) as begun, pytest.raises(ValueError, match="no name for a stage"):
        begun.step(name, lambda: TABLE)


def test_a_name_stands_for_one_stage(folder):
    with opened(folder) as begun:
        begun.step("rows", lambda: TABLE)
        with pytest.raises(ValueError, match="already"):
            begun.value("rows", lambda: 1)


def test_a_folder_that_is_not_a_run_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(
            OutputError, match=r"holds letter\.txt and is not the folder of an unfinished run"
        ):
            opened(tmp_path, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_ledger_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "ledger.json").write_text(json.dumps({"accounts": []}))
    with pytest.raises(OutputError, match="not the folder of an unfinished run"):
        opened(tmp_path, overwrite=True)
    assert (tmp_path / "ledger.json").exists()


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(OutputError, match="is a file"):
        opened(tmp_path / "out")


def test_a_damaged_ledger_is_an_error_and_overwrite_helps(unfinished):
    path = unfinished / "ledger.json"
    path.write_bytes(path.read_bytes().replace(b"0.8", b"0.7"))
    with pytest.raises(ArtefactError, match=r"ledger\.json is damaged.* --overwrite"):
        opened(unfinished, resume=True)
    with opened(unfinished, overwrite=True) as begun:
        assert begun.done() == []


def test_a_second_process_is_refused_and_a_dead_one_is_not_in_the_way(unfinished):
    def hold(ready):
        with opened(unfinished, resume=True):
            ready()
            signal.pause()

    holder = forked(hold)
    try:
        for options in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(OutputError, match=f"in use by process {holder}"):
                opened(unfinished, **options)
    finally:
        os.kill(holder, signal.SIGKILL)
        waited(holder)
    with opened(unfinished, resume=True) as resumed:
        resumed.step("rows", never)


def test_a_folder_is_held_within_one_process_too(folder):
    with opened(folder), pytest.raises(OutputError, match="in use"):
        opened(folder, resume=True)
    with opened(folder, resume=True):
        pass


def test_a_lock_whose_file_is_gone_is_no_lock(folder, monkeypatch):
    """The one who held it removed the folder just before we got the lock, and another began there."""
    folder.mkdir()
    flock, calls = ledger.FolderLock.__init__.__globals__["fcntl"].flock, []

    def late(descriptor, operation):
        if not calls:
            os.unlink(folder / "lock")
        calls.append(descriptor)
        flock(descriptor, operation)

    monkeypatch.setattr("fcntl.flock", late)
    with opened(folder):
        assert len(calls) == 2
        monkeypatch.undo()
        with pytest.raises(OutputError, match="in use"):
            opened(folder, resume=True)


def test_a_place_where_nothing_can_be_written_is_refused():
    with pytest.raises(OutputError, match="cannot write"):
        opened("/proc/no-such-place/out")


@pytest.mark.parametrize("begun", [False, True], ids=["nothing there", "unfinished run there"])
def test_a_read_only_folder_is_refused(begun):
    # Not tmp_path: nobody but its owner may look into that.
    place = Path(tempfile.mkdtemp())
    inside = place / "out"
    if begun:
        with opened(inside) as first:
            first.step("rows", lambda: TABLE)
        for path in inside.iterdir():
            path.chmod(0o444)
        inside.chmod(0o555)
    place.chmod(0o555)

    def attempt(ready):
        if os.getuid() == 0:
            os.setuid(65534)
        with pytest.raises(OutputError, match=r"cannot write .*: Permission denied"):
            opened(inside, resume=True)
        ready()

    try:
        assert waited(forked(attempt)) == 0
    finally:
        for path in (place, inside):
            if path.exists():
                path.chmod(0o755)
        shutil.rmtree(place)


@pytest.mark.parametrize("as_batches", [False, True])
def test_too_little_room_is_said_before_the_stage_is_written(folder, monkeypatch, as_batches):
    usage = namedtuple("usage", "free")
    monkeypatch.setitem(ledger.require_space.__kwdefaults__, "disk_usage", lambda folder: usage(10))
    make, needs = (never, 5000) if as_batches else (lambda: TABLE, 0)
    message = r"stage rows needs about .* in .* and 10 bytes are free: what is committed is kept: .* --resume"
    with opened(folder) as begun, pytest.raises(OutputError, match=message):
        begun.step("rows", make, needs_bytes=needs)
    monkeypatch.undo()
    with opened(folder, resume=True) as resumed:
        assert content(resumed.step("rows", lambda: TABLE)).equals(TABLE)


def test_a_disk_that_is_full_from_the_beginning_is_left_as_it_was(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("fsync", "write"):
        monkeypatch.setattr(os, name, full)
    with pytest.raises(OutputError, match="is full: make room there"):
        opened(folder)
    assert not folder.exists()
    monkeypatch.undo()
    opened(folder).discard()


def test_an_unfinished_run_is_still_there_when_it_could_not_be_opened(unfinished):
    with pytest.raises(ResumeError):
        opened(unfinished, resume=True, parameters={"threshold": 0.7})
    assert opened(unfinished, resume=True).done() == ["count", "rows"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_disk_that_fills_up_keeps_what_is_committed(unfinished, monkeypatch):
    monkeypatch.setattr(stored, "open", lambda path, mode: open("/dev/full", "wb"), raising=False)  # noqa: SIM115
    large = pa.table({"row": range(100_000)})
    with opened(unfinished, resume=True) as resumed:
        resumed.step("rows", never)
        with pytest.raises(OutputError, match=r"is full: .* committed is kept: make room .* --resume"):
            resumed.step("large", lambda: large)
    monkeypatch.undo()
    with opened(unfinished, resume=True) as resumed:
        resumed.step("rows", never)
        assert content(resumed.step("large", lambda: large)).equals(large)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("met", ["in the stage", "between its batches", "at the commit"])
def test_a_full_disk_is_resumable_wherever_it_is_met(unfinished, monkeypatch, number, met):
    def full(*_):
        raise OSError(number, os.strerror(number))

    def batches():
        yield from TABLE.to_batches()
        full()

    make = {"in the stage": full, "between its batches": lambda: (TABLE.schema, batches())}
    with opened(unfinished, resume=True) as resumed:
        if met == "at the commit":
            monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match=r"is full: .*; what is committed is kept"):
            resumed.step("late", make.get(met, lambda: TABLE))
        monkeypatch.undo()
        assert resumed.done() == ["count", "rows"]


def test_a_full_disk_elsewhere_keeps_its_own_words(folder):
    def spill():
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        except OSError as error:
            raise OutputError("the scratch disk is full") from error

    with opened(folder) as begun, pytest.raises(OutputError, match=r"^the scratch disk is full; what is"):
        begun.step("rows", spill)


def test_other_errors_of_a_stage_are_its_own(folder):
    def broken():
        raise OSError(errno.EIO, "Input/output error")

    with opened(folder) as begun, pytest.raises(OSError, match="Input/output"):
        begun.step("rows", broken)
