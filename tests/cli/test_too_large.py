"""Rows too large for the memory budget: called what users call them, and a run goes on with more."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.killing import answer

COMMANDS = {
    "dedup": "dedup {rows} --id id --method prefix",
    "pairs": "pairs {rows} --id id --method prefix",
    "top": "top {rows} --id id --method lsh",
    "tfidf": "pairs {rows} --id id --measure tfidf --threshold 0.8",
    "weights": "pairs {edges} --sets --set-of id --items item --weight n --measure weighted-jaccard",
    "tfidf, exact": "pairs {rows} --id id --measure tfidf --threshold 0.8 --method exact",
    "weights, exact": "pairs {edges} --sets --set-of id --items item --weight n --measure weighted-cosine"
    " --method exact",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two documents of 3 MB that are nearly the same, `tall` and `high`, and two short ones."""
    folder = tmp_path_factory.mktemp("large")
    large = " ".join(f"word{at}" for at in range(300_000))
    texts = {
        "a": "a cat sat on the mat all day",
        "tall": large,
        "b": "a dog did not",
        "high": f"{large} more",
    }
    rows = folder / "rows.parquet"
    pq.write_table(pa.table({"id": list(texts), "text": list(texts.values())}), rows)
    edges = folder / "edges.csv"
    lines = [f"{id},{word},2" for id, text in texts.items() for word in text.split()]
    edges.write_text("id,item,n\n" + "\n".join(lines) + "\n")
    return {"rows": rows, "edges": edges}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_rows_that_memory_is_too_small_for_are_named_and_more_memory_goes_on(
    command, files, type_, refused, tmp_path
):
    words = command.format(**files).split()
    out = tmp_path / "out"
    message = refused(*words, "-o", out, "--memory", "16MB")
    names = message.split(" take")[0].split(" and ")
    assert set(names) <= {"a", "tall", "b", "high"}
    assert {"tall", "high"} & set(names) or "tfidf" in words
    assert "allow --memory" in message
    ended = type_(*words, "-o", out, "--memory", "200MB", "--resume")
    assert ended.code == 0, ended
    assert type_(*words, "-o", tmp_path / "whole").code == 0
    assert answer(out) == answer(tmp_path / "whole")


def test_what_was_done_when_memory_ran_out_is_kept(monkeypatch, files, type_, tmp_path):
    words = COMMANDS["dedup"].format(**files).split()
    out = tmp_path / "out"

    def exhausted(*_, **__):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("lookalike.applications.documents.result.DedupResult.write_into", exhausted)
        ended = type_(*words, "-o", out, "--memory", "1GB")
    assert ended.code == 2
    assert "go on with --resume" in ended.err
    assert "not enough memory" in ended.err
    ended = type_(*words, "-o", out, "--memory", "500MB", "--resume")
    assert ended.code == 0, ended
    assert "clusters made" in ended.err
