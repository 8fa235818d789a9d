"""A run that is killed goes on: at any moment, with the same answer, and never with another one."""

import errno
import os
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.killing import LISTING, Steps, answer, interrupt, killed, steps_of_a_run
from tests.cli.said_last import said_last

import lookalike
from lookalike.applications.planted import plant
from lookalike.cli import done, main
from lookalike.engines import LocalEngine
from lookalike.runs import RunRecord

#: Kills, spread over everything a run does.
KILLS = 60


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A few hundred documents with copies, in files whose ids are not in order."""
    folder = tmp_path_factory.mktemp("corpus")
    texts = plant(600, seed=5, mean_bytes=300).texts
    table = pa.table({"name": [f"id{row * 37 % 601:04}" for row in range(len(texts))], "text": texts})
    for part in range(3):
        pq.write_table(table.slice(part * 200, 200), folder / f"{part}.parquet")
    return folder


def arguments(corpus, out, *more, method="lsh"):
    options = ["--id", "name", "-t", "0.6", "--method", method, "--progress", "off"]
    return said_last(["dedup", str(corpus), "-o", str(out), *options, *more])


@pytest.fixture(scope="module")
def expected(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    assert main(arguments(corpus, out)) == 0
    return answer(out)


@pytest.mark.parametrize(("method", "memory"), [("lsh", "16MB"), ("lsh", "none"), ("auto", None)])
def test_a_run_killed_anywhere_ends_as_one_never_killed(monkeypatch, corpus, tmp_path, method, memory):
    more = ["--method", method] if memory in (None, "none") else ["--method", method, "--memory", memory]
    if memory == "none":
        # All tables are on disk, and texts stay in their files.
        monkeypatch.setattr("lookalike.engines.memory.Budget.take", lambda budget, batch: None)
    assert main(arguments(corpus, tmp_path / "whole", *more)) == 0
    expected = answer(tmp_path / "whole")
    count = steps_of_a_run(monkeypatch, *arguments(corpus, tmp_path / "counted", *more))
    assert count > 25
    draw = random.Random(7)
    # All of them if they are few, and otherwise a draw.
    moments = sorted(draw.sample(range(1, count + 1), min(KILLS // 4 if memory == "none" else KILLS, count)))
    for moment in moments:
        out = tmp_path / f"out{moment}"
        assert killed(monkeypatch, moment, *arguments(corpus, out, *more))
        # Killed a second time on its way, now and then.
        killed(
            monkeypatch,
            draw.randrange(1, 2 * count),
            *arguments(corpus, out, "--resume", "--overwrite", *more),
        )
        assert main(arguments(corpus, out, "--resume", "--overwrite", *more)) == 0
        assert answer(out) == expected
        assert not (tmp_path / f".{out.name}.unfinished").exists()


def stopped_before_writing(monkeypatch, corpus, out, *more):
    """Leaves an unfinished run with all stages done."""
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.applications.documents.result.DedupResult.write_into", interrupt)
        assert main(arguments(corpus, out, *more)) == 130
    return out.parent / f".{out.name}.unfinished"


def test_what_is_done_is_not_done_again(monkeypatch, corpus, expected, tmp_path, capsys):
    out = tmp_path / "out"
    stopped_before_writing(monkeypatch, corpus, out)
    whole = steps_of_a_run(monkeypatch, *arguments(corpus, tmp_path / "whole"))
    capsys.readouterr()
    steps = Steps()
    done = []
    with steps.watched(monkeypatch), monkeypatch.context() as patch:
        for verb in ("group", "fetch", "fold"):
            patch.setattr(LocalEngine, verb, lambda *_, verb=verb, **__: done.append(verb))
        # Reading renumbers rows by id, and pairs that were settled are put side by side: these are maps.
        patch.setattr(LocalEngine, "map", _only_renumber(done))
        assert main(arguments(corpus, out, "--resume")) == 0
    assert done == []
    assert steps.count < whole
    assert "everything signed, exact copies found" in capsys.readouterr().err
    assert answer(out) == expected


def test_rare_words_are_picked_once(monkeypatch, corpus, tmp_path):
    form = ("--shingle", "words:1+rare8")
    assert main(arguments(corpus, tmp_path / "whole", *form)) == 0
    stopped_before_writing(monkeypatch, corpus, tmp_path / "out", *form)
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.joins.rare.RarestWords.__call__", interrupt)
        assert main(arguments(corpus, tmp_path / "out", "--resume", *form)) == 0
    assert answer(tmp_path / "out") == answer(tmp_path / "whole")


_MAP = LocalEngine.map


def _only_renumber(done):
    def map_(self, table, stage, **more):
        def worked(batch):
            done.append(stage)
            return stage(batch)

        # What was settled is asked for again, and found.
        known = type(stage).__name__ in {"Renumber", *LISTING}
        return _MAP(self, table, stage if known else worked, **more)

    return map_


def test_other_parameters_are_refused_with_what_differs(monkeypatch, corpus, tmp_path, capsys):
    stopped_before_writing(monkeypatch, corpus, tmp_path / "out")
    capsys.readouterr()
    assert main(arguments(corpus, tmp_path / "out", "--resume", "-t", "0.7")) == 2
    message = capsys.readouterr().err
    assert "threshold" in message
    assert "0.6" in message
    assert "0.7" in message
    # What does not change the result may change.
    assert main([*arguments(corpus, tmp_path / "out", "--resume"), "--threads", "1", "--memory", "30MB"]) == 0


def test_another_input_is_refused_with_what_changed(monkeypatch, corpus, tmp_path, capsys):
    copy = tmp_path / "corpus"
    copy.mkdir()
    for path in corpus.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    stopped_before_writing(monkeypatch, copy, tmp_path / "out")
    table = pq.read_table(copy / "1.parquet")
    pq.write_table(table.slice(1), copy / "1.parquet")
    capsys.readouterr()
    assert main(arguments(copy, tmp_path / "out", "--resume")) == 2
    assert "1.parquet" in capsys.readouterr().err


def test_a_flipped_bit_is_noticed_and_the_stage_done_again(monkeypatch, corpus, expected, tmp_path):
    draw = random.Random(3)
    for trial in range(20):
        out = tmp_path / f"out{trial}"
        unfinished = stopped_before_writing(monkeypatch, corpus, out)
        damaged = draw.choice(sorted(unfinished.glob("*.stage")))
        content = bytearray(damaged.read_bytes())
        place = draw.randrange(8 * len(content))
        content[place // 8] ^= 1 << place % 8
        damaged.write_bytes(content)
        assert main(arguments(corpus, out, "--resume")) == 0
        assert answer(out) == expected


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_is_said_and_the_run_goes_on_when_there_is_room(
    monkeypatch, corpus, expected, tmp_path, capsys, number
):
    def full():
        raise OSError(number, os.strerror(number))

    for at in range(8, 60, 7):
        out = tmp_path / f"out{at}"
        steps = Steps(at, full)
        with monkeypatch.context() as patch:
            for name in ("fsync", "pwrite"):
                patch.setattr(os, name, steps.counting(getattr(os, name)))
            code = main(arguments(corpus, out))
        message = capsys.readouterr().err
        if code == 0:
            break
        assert code == 2
        assert "full" in message.splitlines()[-1]
        assert not out.exists()
        assert main(arguments(corpus, out, "--resume")) == 0
        assert answer(out) == expected


def test_a_run_that_nobody_resumes_begins_anew_and_says_so(monkeypatch, corpus, expected, tmp_path, capsys):
    out = tmp_path / "out"
    stopped_before_writing(monkeypatch, corpus, out)
    capsys.readouterr()
    assert main(arguments(corpus, out)) == 0
    assert "begins anew" in capsys.readouterr().err
    assert answer(out) == expected
    assert list(tmp_path.iterdir()) == [out]


def test_standard_input_cannot_be_resumed(start, tmp_path):
    process = start("dedup", "-", "-o", tmp_path / "out", "--resume")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "standard input" in errors


def test_a_finished_run_says_that_there_is_nothing_to_go_on_with(monkeypatch, corpus, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(arguments(corpus, out)) == 0
    kept = RunRecord.read(out).counts["kept"]
    before = answer(out)
    capsys.readouterr()
    assert main(arguments(corpus, out, "--resume")) == 0
    said = capsys.readouterr()
    assert f"is finished already (dedup, {kept} kept)" in said.err
    assert said.out == ""
    # One that was to replace it, and was stopped, goes on with both.
    stopped_before_writing(monkeypatch, corpus, out, "--overwrite")
    capsys.readouterr()
    assert main(arguments(corpus, out, "--resume")) == 2
    assert "go on with --resume --overwrite" in capsys.readouterr().err
    assert main(arguments(corpus, out, "--resume", "--overwrite")) == 0
    assert answer(out) == before


def test_a_run_killed_as_it_cleared_up_is_finished_and_clears_up(monkeypatch, corpus, tmp_path, capsys):
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        # Killed after the folder has its name, and before the ledger is gone.
        patch.setattr("lookalike.runs.ledger.Ledger.discard", lambda self: self.close())
        assert main(arguments(corpus, out)) == 0
    before, stamp = answer(out), (out / "run.json").stat().st_mtime_ns
    left = tmp_path / ".out.unfinished"
    assert left.exists()
    capsys.readouterr()
    # Another question is another run.
    assert main(arguments(corpus, out, "--resume", "--seed", "4")) == 2
    assert "seed" in capsys.readouterr().err
    assert main(arguments(corpus, out, "--resume")) == 0
    assert "is finished already" in capsys.readouterr().err
    assert (out / "run.json").stat().st_mtime_ns == stamp
    assert answer(out) == before
    assert list(tmp_path.iterdir()) == [out]


def test_what_is_left_over_of_one_run_is_not_taken_for_another(monkeypatch, corpus, tmp_path, capsys):
    out, other = tmp_path / "out", tmp_path / "other"
    stopped_before_writing(monkeypatch, corpus, out)
    assert main(arguments(corpus, other, "--seed", "4")) == 0
    other.rename(out)
    before = answer(out)
    capsys.readouterr()
    assert main(arguments(corpus, out, "--resume")) == 2
    assert "holds another run" in capsys.readouterr().err
    assert answer(out) == before
    assert (tmp_path / ".out.unfinished").exists()


def test_every_stage_that_is_settled_has_words():
    sources = Path(lookalike.__file__).parent.rglob("*.py")
    settling = re.compile(r'engine\.settle\(\s*f?"([a-z]+)')
    names = [name for path in sources for name in settling.findall(path.read_text())]
    assert len(names) > 40
    assert set(names) <= done._DONE.keys()
