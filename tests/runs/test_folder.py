"""A run folder appears whole or not at all."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import lookalike as la
from lookalike.errors import OutputError, ScratchError
from lookalike.runs import Header, RunFolder, atomic_write, is_run_folder, write_arrays


def earlier_run(path: Path) -> Path:
    path.mkdir()
    (path / "run.json").write_text(json.dumps({"lookalike": 1}))
    (path / "old.txt").write_text("old")
    return path


def write_and_raise(folder: RunFolder, error: BaseException | type[BaseException]) -> None:
    (folder.path / "half.bin").write_bytes(bytes(4096))
    raise error


def names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def test_a_folder_appears_only_when_the_block_ends(tmp_path):
    out = tmp_path / "out"
    with RunFolder.create(out) as folder:
        (folder.path / "kept").mkdir()
        (folder.path / "kept" / "a.txt").write_text("a")
        assert not out.exists()
    assert (out / "kept" / "a.txt").read_text() == "a"
    assert names(tmp_path) == ["out"]


def test_what_was_brought_to_disk_is_not_brought_there_again(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync

    def watched(descriptor):
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    with RunFolder.create(tmp_path / "out") as folder:
        (folder.path / "kept").mkdir()
        names = [f"{at}.txt" for at in range(50)]
        for name in names:
            (folder.path / "kept" / name).write_text(name)
        folder.to_disk()
        assert sorted(name for name in synced if name.endswith(".txt")) == sorted(names)
        synced.clear()
        (folder.path / "run.json").write_text("{}")
        time.sleep(0.02)
        (folder.path / "kept" / "7.txt").write_text("changed since")
    assert {name for name in synced if "." in name[1:] and name[0] != "."} == {"run.json", "7.txt"}


def test_missing_parents_are_made_and_taken_away_again_after_a_failure(tmp_path):
    with RunFolder.create(tmp_path / "a" / "b" / "out"):
        pass
    assert names(tmp_path / "a" / "b") == ["out"]
    with pytest.raises(RuntimeError), RunFolder.create(tmp_path / "c" / "d" / "out"):
        raise RuntimeError
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_whatever_stops_the_block_leaves_nothing_behind(tmp_path, error):
    with pytest.raises(error), RunFolder.create(tmp_path / "out") as folder:
        write_and_raise(folder, error)
    assert names(tmp_path) == []


def test_an_existing_folder_is_refused_and_the_message_names_the_option(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="overwrite=True"):
        RunFolder.create(tmp_path)


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    with RunFolder.create(tmp_path / "out") as folder:
        (folder.path / "a").touch()
    assert names(tmp_path / "out") == ["a"]


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(OutputError, match="is a file"):
        RunFolder.create(tmp_path / "out", overwrite=True)


def test_a_file_among_the_parents_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write"), RunFolder.create(tmp_path / "file" / "out"):
        pass


def test_a_place_where_no_folder_can_be_made_is_refused():
    with pytest.raises(OutputError, match="cannot write"), RunFolder.create("/proc/no-such-place/out"):
        pass


def test_overwrite_replaces_an_earlier_run(tmp_path):
    out = earlier_run(tmp_path / "out")
    with RunFolder.create(out, overwrite=True) as folder:
        (folder.path / "new.txt").write_text("new")
        assert names(out) == ["old.txt", "run.json"]
    assert names(out) == ["new.txt"]
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("record", [None, "not json", '{"scripts": {}}'])
def test_overwrite_never_replaces_a_folder_that_is_not_ours(tmp_path, record):
    home = tmp_path / "home"
    home.mkdir()
    (home / "letter.txt").write_text("dear")
    if record is not None:
        (home / "run.json").write_text(record)
    assert not is_run_folder(home)
    with pytest.raises(OutputError, match="not replaced"):
        RunFolder.create(home, overwrite=True)
    assert (home / "letter.txt").read_text() == "dear"


def test_a_failed_overwrite_leaves_the_earlier_run_as_it_was(tmp_path):
    out = earlier_run(tmp_path / "out")
    with pytest.raises(KeyboardInterrupt), RunFolder.create(out, overwrite=True) as folder:
        write_and_raise(folder, KeyboardInterrupt)
    assert names(out) == ["old.txt", "run.json"]
    assert names(tmp_path) == ["out"]


def test_the_earlier_run_is_put_back_if_the_last_rename_fails(tmp_path, monkeypatch):
    out = earlier_run(tmp_path / "out")
    rename = os.rename

    def fail_on_commit(source, target):
        if (Path(source) / "new.txt").exists():
            raise OSError(errno.EIO, "the disk is broken")
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail_on_commit)
    with (
        pytest.raises(OutputError, match="the disk is broken"),
        RunFolder.create(out, overwrite=True) as folder,
    ):
        (folder.path / "new.txt").touch()
    assert names(out) == ["old.txt", "run.json"]
    assert names(tmp_path) == ["out"]


def test_a_run_that_finished_meanwhile_is_not_overwritten(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(OutputError, match="overwrite=True"), RunFolder.create(out):
        earlier_run(out)
    assert names(out) == ["old.txt", "run.json"]


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "out")
    with RunFolder.create(tmp_path / "link") as folder:
        assert folder.path.parent == tmp_path / "disk"
        (folder.path / "a").touch()
    assert names(tmp_path / "link") == ["a"]


def test_too_little_space_is_said_before_the_work_begins(tmp_path):
    with pytest.raises(OutputError, match=r"needs about 1000\.0 TB .* are free: make room"):
        RunFolder.create(tmp_path / "out", needs_bytes=10**15)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_says_what_was_written_and_what_to_do(tmp_path, number):
    message = r"full: 4\.1 KB were written.*make room"
    with pytest.raises(OutputError, match=message), RunFolder.create(tmp_path / "out") as folder:
        write_and_raise(folder, OSError(number, "No space left on device"))
    assert names(tmp_path) == []


def test_a_full_disk_met_by_one_of_our_writers_names_the_folder_that_was_asked_for(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="full") as caught, RunFolder.create(tmp_path / "out") as folder:
        write_arrays(folder.path / "a.bin", {}, Header(kind="k", algorithm=1))
    assert "partial" not in str(caught.value)
    assert names(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_really_full_device_is_an_output_error(tmp_path):
    out = RunFolder.create(tmp_path / "out")
    with pytest.raises(OutputError, match="full"), out, open("/dev/full", "wb") as file:
        file.write(bytes(1 << 20))
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_polite_kill_leaves_nothing_behind(tmp_path, number, status):
    out = earlier_run(tmp_path / "out")
    program = textwrap.dedent(
        f"""
        import sys, time
        from lookalike.runs import RunFolder
        try:
            with RunFolder.create({str(out)!r}, overwrite=True) as folder:
                (folder.path / "half.txt").write_text("half")
                print("writing", flush=True)
                time.sleep(60)
        except KeyboardInterrupt:
            sys.exit(130)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=_environment())
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    assert len(names(tmp_path)) == 2
    process.send_signal(number)
    assert process.wait(timeout=30) == status
    process.stdout.close()
    assert names(tmp_path) == ["out"]
    assert names(out) == ["old.txt", "run.json"]


def test_handlers_of_a_host_program_are_left_alone(tmp_path):
    def theirs(number, frame):
        pass

    before = signal.signal(signal.SIGTERM, theirs)
    try:
        with RunFolder.create(tmp_path / "out"):
            assert signal.getsignal(signal.SIGTERM) is theirs
            assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_run_folder_can_be_written_from_any_thread(tmp_path):
    from threading import Thread

    def work():
        with RunFolder.create(tmp_path / "out") as folder:
            (folder.path / "a").touch()

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert names(tmp_path / "out") == ["a"]


def test_atomic_write_takes_bytes_or_a_writer(tmp_path):
    atomic_write(tmp_path / "a", b"bytes")
    atomic_write(tmp_path / "b", lambda file: file.write(b"written"))
    assert (tmp_path / "a").read_bytes() == b"bytes"
    assert (tmp_path / "b").read_bytes() == b"written"


def test_a_failed_atomic_write_keeps_the_old_content(tmp_path):
    atomic_write(tmp_path / "a", b"old")

    def fail(file):
        file.write(b"half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        atomic_write(tmp_path / "a", fail)
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_an_atomic_write_into_a_missing_folder_is_an_output_error(tmp_path):
    with pytest.raises(OutputError, match="cannot write"):
        atomic_write(tmp_path / "missing" / "a", b"")


def _environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_a_second_ctrl_c_does_not_stop_the_clean_up(tmp_path, monkeypatch):
    remove = shutil.rmtree

    def remove_slowly(path, **options):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        remove(path, **options)

    monkeypatch.setattr(shutil, "rmtree", remove_slowly)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyboardInterrupt), RunFolder.create(tmp_path / "out") as folder:
        write_and_raise(folder, KeyboardInterrupt)
    assert list(tmp_path.iterdir()) == []
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_a_full_scratch_folder_is_not_taken_for_the_disk_of_the_output(tmp_path):
    full = ScratchError("/scratch, where work waits, is full")
    full.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(ScratchError, match="/scratch"), RunFolder.create(tmp_path / "out") as folder:
        write_and_raise(folder, full)
    assert names(tmp_path) == []


def test_an_output_of_a_name_that_is_not_utf8_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"caf\\xe9' is not UTF-8"):
        RunFolder.create(os.fsdecode(os.path.join(os.fsencode(tmp_path), b"caf\xe9")))


KILLED_BETWEEN_RENAMES = """
import os, signal, sys
from lookalike.runs import folder

rename = os.rename

def rename_once(old, new):
    rename(old, new)
    os.kill(os.getpid(), signal.SIGKILL)

folder.os.rename = rename_once
with folder.RunFolder.create(sys.argv[1], overwrite=True) as run:
    (run.path / "run.json").write_text('{"lookalike": "new"}')
"""


def test_an_earlier_run_that_a_kill_left_aside_is_put_back(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").write_text('{"lookalike": "earlier"}')
    killed = subprocess.run([sys.executable, "-c", KILLED_BETWEEN_RENAMES, str(out)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    # Who does not want it replaced finds it where it was;
    with pytest.raises(OutputError, match="exists and is not empty"):
        RunFolder.create(out)
    assert json.loads((out / "run.json").read_text()) == {"lookalike": "earlier"}
    # and who does replaces it.
    with RunFolder.create(out, overwrite=True) as folder:
        (folder.path / "run.json").write_text('{"lookalike": "newer"}')
    assert json.loads((out / "run.json").read_text()) == {"lookalike": "newer"}
    assert not [path for path in tmp_path.iterdir() if ".earlier-" in path.name]


@pytest.mark.parametrize("path", [None, 3, "", b"out", ["out"]])
def test_what_is_no_path_is_no_folder(path):
    with pytest.raises(OutputError, match="is no folder to write into: give a path"):
        RunFolder.create(path)


@pytest.mark.parametrize("made", [lambda: la.dedup(["a b"]), lambda: la.top(["a b", "b a"], k=1)])
def test_results_are_not_written_nowhere(made):
    with pytest.raises(OutputError, match="None is no folder"):
        made().write(None)
