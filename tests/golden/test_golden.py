"""The kernels answer what they answered when the golden vectors were made, on every path."""

import json

import pytest
from tests.golden import make, make_bits, make_vectors, writing

from lookalike import _core

STORED = json.loads(writing.file_of("version").read_text(encoding="utf-8"))
KINDS = [("version", make.golden), ("bits", make_bits.golden), ("vectors", make_vectors.golden)]


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


@pytest.mark.parametrize(("kind", "golden"), KINDS)
def test_vectors_are_not_overwritten_unless_asked(tmp_path, monkeypatch, kind, golden):
    stored = writing.file_of(kind).read_bytes()
    monkeypatch.setattr(writing, "HERE", tmp_path)
    assert writing.write(kind, golden, []) is None
    file = writing.file_of(kind)
    assert file.read_bytes() == stored
    file.write_text("precious")
    assert "is there already" in writing.write(kind, golden, [])
    assert file.read_text() == "precious"
    assert writing.write(kind, golden, ["--overwrite"]) is None
    assert file.read_bytes() == stored
