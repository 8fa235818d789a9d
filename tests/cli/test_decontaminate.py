"""lookalike decontaminate"""

import json

import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.runs import RunRecord


@pytest.fixture
def leaked(tmp_path, texts, write_lines):
    """Test items, of which the first and second are in the training files."""
    test = write_lines(
        tmp_path / "test.jsonl", [{"q": texts[0]}, {"q": texts[1]}, {"q": "what is new in here then"}]
    )
    (tmp_path / "train").mkdir()
    train = [
        write_lines(
            tmp_path / "train" / "a.jsonl", [{"text": "nothing"}, {"text": f"intro {texts[0]} outro"}]
        ),
        write_lines(tmp_path / "train" / "b.jsonl", [{"text": texts[1].upper()}]),
    ]
    return test, train


def test_what_leaked_is_named_with_its_passages(type_, leaked, tmp_path):
    test, train = leaked
    out = tmp_path / "out"
    ended = type_("decontaminate", test, "--text", "q", "--train-text", "text", "--with", *train, "-o", out)
    assert (ended.code, ended.err) == (0, "")
    assert sorted(entry.name for entry in out.iterdir()) == [
        *("items.parquet", "kept", "pairs.parquet", "passages.parquet", "run.json")
    ]
    pairs = [(row["test"], row["train"]) for row in pq.read_table(out / "pairs.parquet").to_pylist()]
    assert pairs == [(f"{test}:0", f"{train[0]}:1"), (f"{test}:1", f"{train[1]}:0")]
    assert len(pq.read_table(out / "passages.parquet")) == 2
    assert (out / "kept" / "test.jsonl").read_text() == test.read_text().splitlines(keepends=True)[2]
    facts = {line[:13].strip(): line[14:] for line in ended.out.splitlines()}
    assert facts["contaminated"] == "2 (66.7%)"
    assert facts["whole"] == "2 in one training document"
    assert facts["clean"] == "1"
    RunRecord.read(out).verify(out)


def test_the_command_finds_what_the_library_finds(type_, large_corpus, tmp_path):
    items = [json.loads(line)["text"] for line in large_corpus.read_text(encoding="utf-8").splitlines()[:50]]
    test = tmp_path / "test.jsonl"
    test.write_text("".join(json.dumps({"text": text[: len(text) // 2]}) + "\n" for text in items))
    ended = type_("decontaminate", test, "--with", large_corpus, "-o", tmp_path / "out", "--json")
    assert ended.code == 0
    expected = la.decontaminate(test, large_corpus)
    assert json.loads(ended.out)["counts"] == expected.counts
    assert expected.counts["contaminated"] == 50
    assert pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist() == expected.pairs.to_pylist()


def test_mistakes_are_explained(refused, leaked, tmp_path):
    test, train = leaked
    out = ("-o", tmp_path / "out")
    assert "add --with FILE" in refused("decontaminate", test, *out)
    assert "add -o FOLDER" in refused("decontaminate", test, "--with", train[0])
    assert "no column 'text'" in refused("decontaminate", test, "--with", train[0], *out)
    assert "out of range" in refused("decontaminate", train[0], "--with", train[1], "-t", "2", *out)
    assert not (tmp_path / "out").exists()
