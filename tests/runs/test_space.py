"""Room on a disk is asked for before it is needed."""

import errno
from collections import namedtuple

import pytest

from lookalike.errors import OutputError
from lookalike.runs import require_space
from lookalike.runs.space import disk_was_full, in_words, resumable_when_full

Usage = namedtuple("Usage", "free")


def test_enough_room_is_no_word_worth(tmp_path):
    require_space(tmp_path, 100, "the sort", disk_usage=lambda folder: Usage(100))


def test_too_little_room_is_said_with_what_is_needed_and_what_is_free(tmp_path):
    with pytest.raises(OutputError) as caught:
        require_space(tmp_path, 2 * 10**9, "the sort", disk_usage=lambda folder: Usage(10**6))
    assert str(caught.value) == (
        f"the sort needs about 2.0 GB in {tmp_path} and 1.0 MB are free: "
        "make room there or choose another folder"
    )


def test_the_disk_of_a_folder_that_is_not_there_yet_is_that_of_those_above_it(tmp_path, monkeypatch):
    asked = []
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path / "a" / "b", "a/b", tmp_path):
        require_space(folder, 0, "the sort", disk_usage=lambda place: asked.append(place) or Usage(0))
    assert asked == [tmp_path] * 3


def test_the_systems_own_answer_is_the_default(tmp_path):
    require_space(tmp_path, 1, "the sort")
    with pytest.raises(OutputError, match=r"needs about 1000\.0 TB"):
        require_space(tmp_path, 10**15, "the sort")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said_once_however_many_listen(tmp_path, number):
    with (
        pytest.raises(OutputError) as caught,
        resumable_when_full(tmp_path),
        resumable_when_full(tmp_path / "inside"),
    ):
        raise OSError(number, "full")
    assert str(caught.value).count("--resume") == 1
    assert "inside is full" in str(caught.value)


def test_other_errors_pass(tmp_path):
    for error in (OSError(errno.EIO, "broken"), OutputError("no"), ValueError("no")):
        assert not disk_was_full(error)
        with pytest.raises(type(error)) as caught, resumable_when_full(tmp_path):
            raise error
        assert caught.value is error


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 KB"), (2_345_678, "2.3 MB"), (10**15, "1000.0 TB")],
)
def test_sizes_are_told_in_thousands(count, words):
    assert in_words(count) == words
