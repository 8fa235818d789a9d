"""pairs and top that are killed go on, on every road, with the same answer."""

import errno
import os
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.killing import (
    Steps,
    answer,
    check_flipped_bits,
    check_killed_anywhere,
    check_nothing_is_done_again,
    interrupt,
)

from lookalike.applications.planted import plant
from lookalike.cli import main

#: Kills a road.
KILLS = 6

#: What is asked, and what of it is settled at the end.
ROADS = {
    "lsh": (["pairs", "--method", "lsh"], {"keyed", "verified", "looked"}),
    "lsh, by signature first": (
        ["pairs", "--method", "lsh", "--verify", "both"],
        {"keyed", "passing", "verified"},
    ),
    "prefix": (["pairs", "--method", "prefix"], {"copies", "candidates", "found"}),
    "prefix, containment": (["pairs", "--measure", "containment"], {"candidates", "found"}),
    "divide": (["pairs", "--method", "divide"], {"counted", "found"}),
    "signature": (["pairs", "--method", "signature", "--slots", "32"], {"signed", "found"}),
    "external": (["pairs", "--method", "external", "--slots", "16"], {"signed", "counted", "found"}),
    "pyramid": (["pairs", "--method", "pyramid"], {"candidates", "found"}),
    "meaning": (["pairs", "--measure", "tfidf", "--method", "lsh"], {"terms", "sample", "keyed"}),
    "meaning, exact": (
        ["pairs", "--measure", "tfidf", "--method", "exact"],
        {"terms", "digests", "copies", "strip-1-of-1", "found"},
    ),
    "strings": (["pairs", "--measure", "levenshtein", "--distance", "3"], {"candidates-3", "found"}),
    "top, exact": (["top", "--method", "exact"], {"weighed", "neighbours"}),
    "top, lsh": (["top", "--method", "lsh"], {"signed", "candidates", "neighbours", "measured"}),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Documents with copies, to the letter too, in two files whose ids are not in order."""
    folder = tmp_path_factory.mktemp("corpus")
    texts = plant(150, seed=6, mean_bytes=200).texts.to_pylist()
    texts += texts[:20]
    rows = len(texts)
    table = pa.table({"name": [f"id{row * 37 % rows:04}" for row in range(rows)], "text": texts})
    pq.write_table(table.slice(0, 90), folder / "0.parquet")
    pq.write_table(table.slice(90), folder / "1.parquet")
    return folder


def arguments(corpus, road, out, *more):
    command, *options = ROADS[road][0]
    near = [] if command == "top" or road == "strings" else ["-t", "0.6"]
    return [command, str(corpus), "-o", str(out), "--id", "name", *near, *options, "--progress", "off", *more]


def stopped_before_writing(monkeypatch, corpus, road, out, *more):
    """Leaves an unfinished run with all stages done."""
    with monkeypatch.context() as patch:
        for place in ("cli.outcome.PairsOutcome", "applications.top.result.TopResult"):
            patch.setattr(f"lookalike.{place}.write_into", interrupt)
        assert main(arguments(corpus, road, out, *more)) == 130
    return out.parent / f".{out.name}.unfinished"


@pytest.mark.parametrize("road", ROADS)
def test_a_run_killed_anywhere_ends_as_one_never_killed(monkeypatch, corpus, tmp_path, road):
    check_killed_anywhere(monkeypatch, tmp_path, partial(arguments, corpus, road), kills=KILLS, seed=road)


@pytest.mark.parametrize("road", ROADS)
def test_what_is_done_is_not_done_again(monkeypatch, corpus, tmp_path, road, capsys):
    check_nothing_is_done_again(
        monkeypatch,
        tmp_path,
        partial(arguments, corpus, road),
        partial(stopped_before_writing, monkeypatch, corpus, road),
        settled=ROADS[road][1],
        # Reading is done again, and numbers rows by their ids.
        reading={"Renumber"},
    )
    assert "going on" in capsys.readouterr().err


@pytest.mark.parametrize("road", ["prefix", "top, lsh"])
def test_a_flipped_bit_is_noticed_and_the_stage_done_again(monkeypatch, corpus, tmp_path, road):
    stop = partial(stopped_before_writing, monkeypatch, corpus, road)
    check_flipped_bits(tmp_path, partial(arguments, corpus, road), stop, seed=road)


@pytest.mark.parametrize("road", ["prefix", "top, exact"])
def test_another_question_is_refused_with_what_differs(monkeypatch, corpus, tmp_path, capsys, road):
    out = tmp_path / "out"
    stopped_before_writing(monkeypatch, corpus, road, out)
    for more, said in [
        (["--shingle", "words:3"], "shingle"),
        (["--seed", "4"], "seed"),
        (["--with", str(corpus / "1.parquet")], "files_by_collection"),
    ]:
        capsys.readouterr()
        assert main(arguments(corpus, road, out, "--resume", *more)) == 2
        assert said in capsys.readouterr().err
    assert main(arguments(corpus, road, out, "--resume")) == 0


def test_the_same_files_as_two_collections_are_another_run(monkeypatch, corpus, tmp_path, capsys):
    first, second = (str(corpus / f"{part}.parquet") for part in range(2))
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.cli.outcome.PairsOutcome.write_into", interrupt)
        assert main(["pairs", first, second, "--id", "name", "-o", str(out)]) == 130
    assert main(["pairs", first, "--with", second, "--id", "name", "-o", str(out), "--resume"]) == 2
    assert "files_by_collection" in capsys.readouterr().err


def test_sets_from_files_are_resumed_and_a_changed_file_is_refused(monkeypatch, tmp_path, capsys):
    lines = [" ".join(str(row * 7 % 50 + item) for item in range(row % 9 + 2)) for row in range(60)]
    baskets = tmp_path / "baskets.dat"
    baskets.write_text("\n".join(lines))
    command = ["pairs", "--sets", str(baskets), "-t", "0.5", "-o"]
    assert main([*command, str(tmp_path / "whole")]) == 0
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.cli.outcome.PairsOutcome.write_into", interrupt)
        assert main([*command, str(tmp_path / "out")]) == 130
    assert main([*command, str(tmp_path / "out"), "--resume"]) == 0
    assert answer(tmp_path / "out") == answer(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.cli.outcome.PairsOutcome.write_into", interrupt)
        assert main([*command, str(tmp_path / "other")]) == 130
    baskets.write_text("\n".join(lines[1:]))
    capsys.readouterr()
    assert main([*command, str(tmp_path / "other"), "--resume"]) == 2
    assert "baskets.dat" in capsys.readouterr().err


def test_a_disk_that_fills_up_is_said_and_the_run_goes_on_when_there_is_room(
    monkeypatch, corpus, tmp_path, capsys
):
    def full():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert main(arguments(corpus, "prefix", tmp_path / "whole")) == 0
    for at in (6, 9, 12):
        out = tmp_path / f"out{at}"
        steps = Steps(at, full)
        with monkeypatch.context() as patch:
            for name in ("fsync", "pwrite"):
                patch.setattr(os, name, steps.counting(getattr(os, name)))
            code = main(arguments(corpus, "prefix", out))
        assert code == 2
        assert "full" in capsys.readouterr().err.splitlines()[-1]
        assert not out.exists()
        assert main(arguments(corpus, "prefix", out, "--resume")) == 0
        assert answer(out) == answer(tmp_path / "whole")
