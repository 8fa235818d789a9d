"""The kernels answer what they answered when the golden vectors were made, on every path."""

import json

import pytest
from tests.golden import make

from lookalike import _core

FILE = make.HERE / f"version-{_core.ALGORITHM_VERSION}.json"
STORED = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [*_core.paths(), None])
def test_answers_are_those_of_the_algorithm_version(path):
    now = json.loads(json.dumps(make.golden(path)))
    assert now.keys() == STORED.keys()
    for part in STORED:
        assert now[part] == STORED[part], part


def test_the_vectors_say_which_version_they_are_of():
    assert STORED["algorithm_version"] == _core.ALGORITHM_VERSION


def test_the_vectors_hold_something_of_everything():
    assert all(STORED[part] for part in STORED if part != "algorithm_version")
    assert {key.split()[0] for key in STORED["signatures"]} == {"bucketed", "khash", "universal"}
    # All but the empty text have word windows.
    windows = STORED["shingles"]["words:5 seed=0"]
    assert [len(row) > 0 for row in windows] == [text != "" for text in STORED["texts"]]


def test_vectors_are_not_overwritten_unless_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "HERE", tmp_path)
    assert make.main([]) is None
    file = tmp_path / FILE.name
    assert file.read_bytes() == FILE.read_bytes()
    file.write_text("precious")
    assert "is there already" in make.main([])
    assert file.read_text() == "precious"
    assert make.main(["--overwrite"]) is None
    assert file.read_bytes() == FILE.read_bytes()
