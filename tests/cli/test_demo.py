"""lookalike demo."""

import io
import json

from lookalike.applications.demo import demo
from lookalike.cli.steps import DOING, Steps
from lookalike.runs.progress import SilentProgress


def test_the_demonstration_tells_what_was_planted_found_and_missed_and_what_to_try_next(type_):
    ended = type_("demo", "--documents", "1500")
    assert (ended.code, ended.err) == (0, "")
    assert "1,500 documents" in ended.out
    for words in ("words replaced", "exact copies", "planted", "found", "missed", "recall", "95.0%", "MB/s"):
        assert words in ended.out
    assert "falsely found   0" in ended.out
    last = ended.out.rstrip().splitlines()[-2:]
    assert all("lookalike dedup" in line for line in last)
    assert max(map(len, ended.out.splitlines())) <= 90


def test_json_holds_what_the_library_counts(type_):
    told = json.loads(type_("demo", "--documents", "800", "--seed", "3", "--json").out)
    counted = demo(800, seed=3).to_dict()
    timed = {"seconds", "bytes_per_second"}
    assert {name: told[name] for name in told.keys() - timed} == {
        name: counted[name] for name in counted.keys() - timed
    }


def test_progress_can_be_read_by_machines(type_):
    ended = type_("demo", "--documents", "300", "--progress", "jsonl", "--json")
    stages = {json.loads(line)["stage"] for line in ended.err.splitlines()}
    assert {"plant", "sign", "verify", "judge"} <= stages


def test_a_corpus_too_small_or_too_large_is_refused(refused):
    assert "--documents 1 " in refused("demo", "--documents", "1")
    assert "500,000" in refused("demo", "--documents", "1000000000")
    assert "--seed -1" in refused("demo", "--seed", "-1")


def test_every_stage_leaves_a_line_with_its_count_and_time():
    stream = io.StringIO()
    steps = Steps(stream)
    with steps.stage("verify", 7, "candidates") as stage:
        stage.advance(3)
        stage.advance(4)
    with steps.stage("plan"):
        pass
    first, second = stream.getvalue().splitlines()
    assert "checking every candidate" in first
    assert "7 candidates" in first
    assert "choosing the bands" in second
    assert second.endswith("s")


def test_every_stage_is_told_in_words():
    stages = []

    class Names:
        def stage(self, name, total=None, unit="documents"):
            stages.append(name)
            return SilentProgress().stage(name, total, unit)

    for documents in (2, 1500):
        demo(documents, progress=Names())
    assert set(stages) <= DOING.keys()
