"""How runs end: exit codes, and what is left behind when they are stopped."""

import errno
import json
import os
import resource
import signal
import subprocess
import time

import pytest

import lookalike.cli.plan
from lookalike.applications.documents import result
from lookalike.errors import InternalError


def stop_at(process, stage):
    """Waits until a stage begins, presses Ctrl-C, and tells how long the end took."""
    for line in process.stderr:
        if json.loads(line)["stage"] == stage:
            break
    else:
        pytest.fail(f"the run ended before {stage}")
    pressed = time.perf_counter()
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    return time.perf_counter() - pressed, rest, errors


@pytest.mark.parametrize("stage", ["read", "sign", "candidates", "verify", "write"])
def test_ctrl_c_ends_a_run_at_once_and_leaves_no_output(start, large_corpus, tmp_path, stage):
    process = start("dedup", large_corpus, "-o", tmp_path / "new" / "out", "--progress", "jsonl")
    seconds, out, errors = stop_at(process, stage)
    assert process.returncode == 130
    assert out == ""
    assert errors.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in errors
    assert seconds < 20
    if "--resume" in errors:
        # What is done waits for a run that goes on; nothing of the output is there.
        assert [path.name for path in (tmp_path / "new").iterdir()] == [".out.unfinished"]
        assert stage != "read"
    else:
        # Neither the folder, nor a hidden part of it, nor the folder above it, which was made for it.
        assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_an_earlier_run_as_it_was(start, type_, corpus, large_corpus, tmp_path):
    out = tmp_path / "out"
    assert type_("dedup", corpus, "-o", out).code == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    process = start("dedup", large_corpus, "-o", out, "--overwrite", "--progress", "jsonl")
    stop_at(process, "verify")
    assert process.returncode == 130
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert sorted(tmp_path.iterdir()) == sorted([corpus, out, tmp_path / ".out.unfinished"])


def test_ctrl_c_while_waiting_for_standard_input(start, tmp_path):
    process = start("dedup", "-", "-o", tmp_path / "out", stdin=subprocess.PIPE)
    process.stdin.write('{"text": "a line, and then nothing more for a long time"}\n')
    process.stdin.flush()
    for _ in range(600):
        # The hidden folder is there as soon as the run has begun.
        if any(tmp_path.iterdir()):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert list(tmp_path.iterdir()) == []


def test_a_polite_kill_leaves_nothing_either(start, large_corpus, tmp_path):
    process = start("dedup", large_corpus, "-o", tmp_path / "out", "--progress", "jsonl")
    assert json.loads(process.stderr.readline())["stage"] == "read"
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("typed", ["plan", "demo --documents 200", "compare a.txt b.txt"])
def test_a_reader_that_has_seen_enough_is_no_error(start, tmp_path, typed):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("one two three four five six seven eight nine ten\n" * 400)
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*typed.split(), stdout=writing, cwd=tmp_path)
    os.close(writing)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_standard_output_on_a_full_disk_is_an_error(start):
    with open("/dev/full", "w") as full:
        process = start("plan", stdout=full)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.startswith("Error: standard output cannot be written (No space left")
    assert "send it elsewhere" in errors
    assert "Traceback" not in errors


def test_closed_standard_output_is_no_error(start):
    process = start("plan", before=lambda: os.close(1))
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_a_file_that_may_not_grow_is_an_error_and_leaves_nothing(start, large_corpus, tmp_path):
    def shrink():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    process = start("dedup", large_corpus, "-o", tmp_path / "out", before=shrink)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert out == ""
    assert errors.splitlines()[-1].startswith("Error: cannot write")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_and_leaves_nothing(refused, monkeypatch, corpus, tmp_path, number):
    def full(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(result, "write_parquet", full)
    message = refused("dedup", corpus, "-o", tmp_path / "out")
    assert "the disk of" in message
    assert "is full" in message
    assert sorted(tmp_path.iterdir()) == sorted([corpus, tmp_path / ".out.unfinished"])


def fail_with(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(lookalike.cli.plan, "choose", fail)


def test_a_defect_of_ours_exits_1_and_asks_to_be_reported(type_, monkeypatch):
    fail_with(monkeypatch, InternalError("a kernel gave up: please report it"))
    assert type_("plan") == (1, "", "Error: a kernel gave up: please report it\n")


def test_an_unexpected_error_exits_1_and_says_how_to_see_more(type_, monkeypatch):
    fail_with(monkeypatch, ZeroDivisionError("division by zero"))
    ended = type_("plan", "--threshold", "0.5")
    assert (ended.code, ended.out) == (1, "")
    assert "please report it: ZeroDivisionError: division by zero" in ended.err
    assert "lookalike --debug plan --threshold 0.5" in ended.err
    assert "Traceback" not in ended.err


def test_where_it_happened_is_told_with_debug(type_, monkeypatch):
    fail_with(monkeypatch, ZeroDivisionError("division by zero"))
    ended = type_("--debug", "plan")
    assert ended.code == 1
    assert "Traceback" in ended.err
    assert "in fail" in ended.err


def test_too_little_memory_is_an_error_of_the_user(refused, monkeypatch):
    fail_with(monkeypatch, MemoryError())
    assert "not enough memory" in refused("plan")


def test_what_the_system_refuses_is_told_in_its_words(refused, monkeypatch):
    fail_with(monkeypatch, PermissionError(errno.EACCES, "Permission denied", "secret.txt"))
    message = refused("plan")
    assert "Permission denied" in message
    assert "secret.txt" in message


def test_a_run_goes_on_though_nobody_reads_its_notes(start, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a rose is a rose is a rose"}\n{\n')
    reading, writing = os.pipe()
    os.close(reading)
    process = start(
        "dedup", tmp_path / "in.jsonl", "--on-error", "skip", "-o", tmp_path / "out", stderr=writing
    )
    os.close(writing)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "unreadable    1" in out
    assert (tmp_path / "out" / "run.json").exists()
