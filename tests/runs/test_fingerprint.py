"""An input that is another one is noticed; a touch or a copy of a small one is not held against it."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lookalike.errors import SourceError
from lookalike.runs import Fingerprint, fingerprint
from lookalike.runs.fingerprint import input_changes

LONG = bytes(range(256)) * 1024


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(LONG)
    return path


def later(path):
    """Set the time of the last change a second on."""
    status = os.stat(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))


def rewritten(path, content):
    """Write other content under the old time, as some tools do."""
    status = os.stat(path)
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("whole", [True, False])
def test_the_same_file_does_not_differ(file, whole):
    assert Fingerprint.of(file, whole=whole).differs(Fingerprint.of(file, whole=whole)) is None


def test_a_fingerprint_round_trips_through_json(file):
    taken = Fingerprint.of(file)
    assert Fingerprint.from_dict(json.loads(json.dumps(taken.to_dict()))) == taken


def test_the_path_is_kept_as_it_was_given(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert Fingerprint.of("a.jsonl").path == "a.jsonl"


@pytest.mark.parametrize("whole", [True, False])
def test_another_size_is_said_in_bytes(file, whole):
    then = Fingerprint.of(file, whole=whole)
    rewritten(file, LONG + b"12")
    assert Fingerprint.of(file, whole=whole).differs(then) == f"{file} has 262,146 bytes now and had 262,144"


@pytest.mark.parametrize("place", [0, fingerprint.END_BYTES - 1, -fingerprint.END_BYTES, -1])
@pytest.mark.parametrize("whole", [True, False])
def test_other_content_at_either_end_is_noticed_under_the_same_time(file, place, whole):
    then = Fingerprint.of(file, whole=whole)
    content = bytearray(LONG)
    content[place] ^= 1
    rewritten(file, content)
    assert "other content" in Fingerprint.of(file, whole=whole).differs(then)


def test_other_content_in_the_middle_is_noticed_under_the_same_time_if_all_was_read(file):
    then = Fingerprint.of(file)
    content = bytearray(LONG)
    content[len(LONG) // 2] ^= 1
    rewritten(file, content)
    assert "other content" in Fingerprint.of(file).differs(then)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(before=st.binary(max_size=40), after=st.binary(max_size=40))
def test_small_files_differ_exactly_if_their_content_does(tmp_path, before, after):
    path = tmp_path / "a"
    path.write_bytes(before)
    then = Fingerprint.of(path)
    path.write_bytes(after)
    assert (Fingerprint.of(path).differs(then) is None) == (before == after)


def test_a_touch_is_forgiven_if_the_whole_content_is_known_to_be_the_same(file):
    then = Fingerprint.of(file)
    later(file)
    assert Fingerprint.of(file).differs(then) is None


@pytest.mark.parametrize(("now", "then"), [(False, False), (True, False), (False, True)])
def test_a_touch_is_a_change_if_the_whole_content_is_not_known(file, now, then):
    before = Fingerprint.of(file, whole=then)
    later(file)
    assert f"{file} was changed at" in Fingerprint.of(file, whole=now).differs(before)


def test_whole_contents_are_read_if_all_files_together_are_small(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(b"12345")
    monkeypatch.setattr(fingerprint, "WHOLE_BYTES", 15)
    assert all(taken.whole is not None for taken in Fingerprint.of_all(paths))
    monkeypatch.setattr(fingerprint, "WHOLE_BYTES", 14)
    assert all(taken.whole is None for taken in Fingerprint.of_all(iter(paths)))
    assert all(Fingerprint.of(path).whole is not None for path in paths)


def test_what_cannot_be_read_twice_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/null"):
        with pytest.raises(SourceError, match="could not be resumed: name files"):
            Fingerprint.of(path)
    with pytest.raises(SourceError, match="there is no file"):
        Fingerprint.of_all([tmp_path / "missing"])


def test_changes_of_many_inputs_are_told_file_by_file():
    def files(**sizes):
        return [Fingerprint(path=path, size=size, changed=0, ends=0) for path, size in sizes.items()]

    assert input_changes(files(a=1, b=2), files(a=1, b=2)) == []
    assert input_changes(files(a=1, b=3, c=1), files(b=2, d=1, a=1)) == [
        "b has 3 bytes now and had 2",
        "c is new",
        "d is not among the inputs now",
    ]
    assert input_changes(files(b=2, a=1), files(a=1, b=2)) == [
        "the inputs are the same files, but in another order or not as often"
    ]
