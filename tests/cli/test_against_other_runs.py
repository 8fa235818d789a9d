"""lookalike dedup --against runs by paragraphs or lines, and runs with a drop list: killed, told, refused."""

import json
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.killing import check_killed_anywhere, interrupt
from tests.conformance import texts as made

from lookalike.cli import main
from lookalike.engines import LocalEngine

KILLS = 6
KINDS = {
    "paragraphs": ["--unit", "paragraph"],
    "a drop list": ["--drop-list"],
    "a drop list of lines": ["--unit", "line", "--drop-list"],
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Documents of a few paragraphs, which come again in others, in two files."""
    folder = tmp_path_factory.mktemp("corpus")
    pool = made.families(60, 2, words=40, most=4, changes=3)
    docs = ["\n\n".join(pool[at : at + 2]) for at in range(0, len(pool), 2)]
    docs += docs[:30]
    rows = [{"name": f"id{row * 37 % len(docs):04}", "text": text} for row, text in enumerate(docs)]
    pq.write_table(pa.Table.from_pylist(rows[::2]), folder / "old.parquet")
    pq.write_table(pa.Table.from_pylist(rows[1::2]), folder / "new.parquet")
    return folder


def command(corpus, kind, name, out, *more, against=None):
    earlier = [] if against is None else ["--against", str(against)]
    options = ["--id", "name", "-t", "0.6", "--method", "lsh", "--progress", "off", *KINDS[kind]]
    return ["dedup", str(corpus / name), *earlier, "-o", str(out), *options, *more]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def earlier(corpus, tmp_path, kind):
    assert main(command(corpus, kind, "old.parquet", tmp_path / "run")) == 0
    return tmp_path / "run"


def test_an_append_killed_anywhere_ends_as_one_never_killed(monkeypatch, corpus, tmp_path, kind, earlier):
    before = {path: path.read_bytes() for path in earlier.rglob("*") if path.is_file()}
    how = partial(command, corpus, kind, "new.parquet", against=earlier)
    check_killed_anywhere(monkeypatch, tmp_path, how, kills=KILLS, seed=kind)
    counts = json.loads((tmp_path / "whole" / "run.json").read_text())["counts"]
    assert counts["duplicates_of_earlier"] > 10
    # The earlier run is as it was.
    assert before == {path: path.read_bytes() for path in earlier.rglob("*") if path.is_file()}


def test_memory_and_threads_change_nothing(corpus, tmp_path, kind, earlier):
    how = partial(command, corpus, kind, "new.parquet", against=earlier)
    for out, more in {"a": ["--threads", "1"], "b": ["--memory", "16MB"]}.items():
        assert main(how(tmp_path / out, *more)) == 0
    for name in ("clusters", "pairs"):
        tables = [pq.read_table(tmp_path / out / f"{name}.parquet") for out in "ab"]
        assert tables[0].equals(tables[1])


def test_an_interrupted_append_goes_on(type_, monkeypatch, corpus, tmp_path, kind, earlier):
    how = partial(command, corpus, kind, "new.parquet", against=earlier)
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.applications.documents.result.DedupResult.write_into", interrupt)
        assert type_(*how(tmp_path / "out")).code == 130
    with monkeypatch.context() as patch:
        patch.setattr(LocalEngine, "group", interrupt)
        assert type_(*how(tmp_path / "out", "--resume")).code == 0


def test_it_says_what_came_of_it_and_what_it_would_do(type_, corpus, tmp_path, kind, earlier):
    how = partial(command, corpus, kind, "new.parquet", against=earlier)
    ended = type_(*how(tmp_path / "out"))
    assert ended.err == ""
    assert "dropped as like earlier ones" in ended.out
    rehearsed = json.loads(type_(*how(tmp_path / "no", "--dry-run", "--json")).out)["counts"]
    counts = json.loads((tmp_path / "out" / "run.json").read_text())["counts"]
    compared = "documents" if kind == "a drop list" else "units"
    for name in (compared, f"earlier_{compared}", "documents", "empty"):
        assert rehearsed[name] == counts[name]
    said = type_(*how(tmp_path / "no", "--dry-run")).out
    assert f"{rehearsed[f'earlier_{compared}']} kept before" in said
    assert "1 file to read" in said


def test_standard_input_that_was_only_listed_is_gone(start, refused, tmp_path):
    process = start("dedup", "-", "--drop-list", "-o", str(tmp_path / "run"), stdin=-1)
    process.communicate(json.dumps({"text": "a text that came by a pipe"}) + "\n", timeout=60)
    assert process.returncode == 0
    (tmp_path / "new.jsonl").write_text(json.dumps({"text": "a text"}) + "\n")
    new, run = str(tmp_path / "new.jsonl"), str(tmp_path / "run")
    message = refused("dedup", new, "--against", run, "-o", str(tmp_path / "out"))
    assert "standard input" in message
    assert "without --drop-list" in message
