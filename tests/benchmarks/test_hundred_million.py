"""What a hundred million documents need is said from rates, and the sums are right."""

from __future__ import annotations

import pytest
from benchmarks.hundred_million import Measured, Stage, cores_for

from benchmarks import hundred_million
from lookalike.engines import memory


def stage(one, two):
    return Stage(name="sign", one=one, two=two, work=1.0, per="byte")


@pytest.mark.parametrize(
    ("one", "two", "serial"), [(10, 5, 0), (10, 10, 1), (10, 7.5, 0.5), (10, 4, 0), (10, 12, 1), (0, 0, 1)]
)
def test_what_two_threads_do_not_shorten_further_ones_do_not_either(one, two, serial):
    assert stage(one, two).serial == serial
    assert stage(one, two).seconds(1) == one
    assert stage(10, 7.5).seconds(1000) == pytest.approx(5, abs=0.01)


def test_cores_are_counted_until_they_are_enough():
    assert cores_for(1.0, lambda cores: 10 / cores) == 10
    assert cores_for(1.0, lambda cores: 2 + 10 / cores) is None


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(hundred_million, "_ROWS", (1_000, 20_000))
    monkeypatch.setattr(hundred_million, "_DISK_BYTES", 16_000_000)
    yield hundred_million.measure(2_000, tmp_path_factory.mktemp("model"))
    monkeypatch.undo()


def test_the_model_is_a_small_run_of_the_command(measured):
    assert isinstance(measured, Measured)
    assert (measured.one.documents, measured.two.documents) == (2_000, 2_000)
    assert measured.one.counts["text_bytes"] == 2_000 * 3_000
    assert measured.times == 50_000
    assert measured.model_memory == memory.LEAST
    assert measured.one.bands > 1
    assert min(measured.disk) > 0
    assert {"sign", "verify"} <= {stage.name for stage in measured.search}
    assert not {"read", "write"} & {stage.name for stage in measured.search}


def test_every_goal_is_said_to_be_reached_or_missed(measured):
    said = " ".join(hundred_million._notes(measured))
    assert said.count("reached") + said.count("missed") >= 2
    assert "bytes a row" in said


def test_a_run_says_what_it_measured_and_a_wrong_answer_gets_no_figures(measured, monkeypatch, capsys):
    monkeypatch.setattr(hundred_million, "measure", lambda *_: measured)
    assert hundred_million.main(["--documents", "2000"]) == 0
    assert "A hundred million documents" in capsys.readouterr().out
    monkeypatch.setattr(hundred_million, "measure", lambda *_: ["copies were kept"])
    assert hundred_million.main(["--documents", "2000"]) == 1
    said = capsys.readouterr().out
    assert "copies were kept" in said
    assert "thread" not in said
