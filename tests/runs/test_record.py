"""run.json and the stopwatch that fills it."""

import json
import os
import time

import numpy as np
import pytest

from lookalike.errors import ArtefactError, SourceError
from lookalike.runs import RunRecord, Stage, Stopwatch, is_run_folder, stopwatch
from lookalike.runs.stopwatch import peak_memory

RECORD = RunRecord(
    job="dedup",
    parameters={"threshold": 0.8},
    algorithm=2,
    counts={"documents": 3, "pairs": 1},
    estimates={"pairs": 1.2},
    stages=(Stage(name="sign", seconds=1.5, items=3, bytes=100, peak_bytes=2**20),),
)


def test_a_record_round_trips_through_its_folder(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a.jsonl").write_text("{}\n")
    written = RECORD.write(tmp_path)
    assert RunRecord.read(tmp_path) == written
    assert list(written.files) == ["kept/a.jsonl"]
    assert written.files["kept/a.jsonl"].bytes == 3
    assert is_run_folder(tmp_path)


def test_a_record_knows_the_versions_it_was_made_with():
    assert RECORD.versions["numpy"] == np.__version__
    assert {"lookalike", "python", "pyarrow"} <= RECORD.versions.keys()


def test_a_run_folder_is_verified_file_by_file(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    record = RECORD.write(tmp_path)
    record.verify(tmp_path)

    (tmp_path / "b").write_text("c")
    with pytest.raises(ArtefactError, match="b is damaged"):
        record.verify(tmp_path)
    (tmp_path / "b").unlink()
    with pytest.raises(ArtefactError, match="b is missing"):
        record.verify(tmp_path)
    (tmp_path / "b").write_text("b")
    (tmp_path / "new").touch()
    with pytest.raises(ArtefactError, match="new is not a file of this run"):
        record.verify(tmp_path)


def test_a_folder_without_a_record_is_not_a_run_folder(tmp_path):
    with pytest.raises(SourceError, match="not a run folder"):
        RunRecord.read(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"lookalike": 1}', '{"lookalike": 1, "stages": 3, "files": {}}']
)
def test_what_is_not_a_record_is_damage(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ArtefactError, match="damaged"):
        RunRecord.read(tmp_path)


def test_a_record_of_another_format_is_refused():
    stored = {**json.loads(RECORD.to_json()), "lookalike": 99}
    with pytest.raises(ArtefactError, match="format 99"):
        RunRecord.from_json(json.dumps(stored))


def test_a_stage_is_timed_also_when_it_fails():
    watch = Stopwatch()

    def fail_late():
        time.sleep(0.01)
        raise RuntimeError

    with pytest.raises(RuntimeError), watch.stage("fails"):
        fail_late()
    assert watch.stages[0].seconds >= 0.01


def test_the_peak_of_a_stage_counts_what_the_stage_held_and_no_more():
    watch = Stopwatch()
    size = 64 << 20
    with watch.stage("outer"):
        with watch.stage("large"):
            np.ones(size, dtype=np.uint8).sum()
        with watch.stage("small"):
            pass
    outer, large, small = watch.stages
    assert [stage.name for stage in watch.stages] == ["outer", "large", "small"]
    assert large.peak_bytes >= size
    assert outer.peak_bytes >= large.peak_bytes
    if small.peak_is == "stage":
        assert small.peak_bytes <= large.peak_bytes - size // 2


def test_without_proc_the_peak_is_that_of_the_process(monkeypatch):
    monkeypatch.setattr(stopwatch, "_STATUS", "/no/such/file")
    monkeypatch.setattr(stopwatch, "_CLEAR_REFS", "/no/such/file")
    watch = Stopwatch()
    with watch.stage("a"):
        pass
    assert watch.stages[0].peak_is == "process"
    assert watch.stages[0].peak_bytes == peak_memory() > 2**20


def test_a_record_may_name_files_that_are_not_utf8(tmp_path):
    (tmp_path / "kept").mkdir()
    name = os.fsdecode(b"kept/caf\xe9.txt")
    (tmp_path / name).write_text("x")
    written = RunRecord(job="dedup", parameters={}, algorithm=1).write(tmp_path)
    assert list(written.files) == [name]
    assert RunRecord.read(tmp_path) == written
    written.verify(tmp_path)
