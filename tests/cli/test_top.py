"""lookalike top"""

import json

import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.runs import RunRecord


def test_the_most_similar_are_written_with_how_it_was_done(type_, corpus, tmp_path):
    out = tmp_path / "out"
    ended = type_("top", corpus, "--id", "id", "-k", "2", "-o", out)
    assert (ended.code, ended.err) == (0, "")
    assert sorted(entry.name for entry in out.iterdir()) == ["neighbours.parquet", "run.json"]
    rows = [tuple(row.values()) for row in pq.read_table(out / "neighbours.parquet").to_pylist()]
    assert [row[:3] for row in rows] == [
        ("d0", 1, "d2"),
        ("d1", 1, "d3"),
        ("d2", 1, "d0"),
        ("d3", 1, "d1"),
    ]
    assert rows[1][3] == 1.0
    facts = {line[:13].strip(): line[14:] for line in ended.out.splitlines()}
    assert facts["neighbours"] == "4, up to 2 each of 4 documents; 1 has none"
    assert facts["recall"].startswith("all")
    RunRecord.read(out).verify(out)


@pytest.mark.parametrize("method", ["exact", "lsh"])
def test_the_command_finds_what_the_library_finds(type_, large_corpus, tmp_path, method):
    out = tmp_path / "out"
    ended = type_("top", large_corpus, "-k", "3", "--method", method, "-o", out, "--json")
    assert ended.code == 0
    expected = la.top(large_corpus, k=3, method=method)
    said = json.loads(ended.out)
    assert said["counts"] == expected.counts
    assert (said["estimates"]["recall"] is None) == (method == "exact")
    assert pq.read_table(out / "neighbours.parquet").to_pylist() == expected.to_arrow().to_pylist()


def test_progress_is_told_in_lines_of_json(type_, corpus, tmp_path):
    ended = type_("top", corpus, "-o", tmp_path / "out", "--progress", "jsonl")
    stages = [json.loads(line)["stage"] for line in ended.err.splitlines()]
    assert list(dict.fromkeys(stages)) == ["read", "weigh", "sets", "compare", "write"]


def test_sets_and_a_second_collection(type_, tmp_path):
    one, two = tmp_path / "one.dat", tmp_path / "two.dat"
    one.write_text("a 1 2 3\nb 7 8\nc\n")
    two.write_text("x 1 2\ny 8 9\nz 1 2 3\n")
    out = tmp_path / "out"
    ended = type_("top", "--sets", one, "--with", two, "--id", "first", "-o", out)
    assert ended.code == 0
    assert [tuple(row.values()) for row in pq.read_table(out / "neighbours.parquet").to_pylist()] == [
        ("a", 1, "z", 1.0),
        ("a", 2, "x", 2 / 3),
        ("b", 1, "y", 1 / 3),
    ]
    assert "sets          6, 12 elements in all" in ended.out


def test_the_dual_of_an_edge_table(type_, tmp_path):
    likes = tmp_path / "likes.csv"
    likes.write_text("user,film\nann,1\nann,2\nbob,1\nbob,2\ncat,2\n")
    ended = type_("top", "--sets", likes, "--set-of", "film", "--items", "user", "-o", tmp_path / "out")
    assert ended.code == 0
    rows = pq.read_table(tmp_path / "out" / "neighbours.parquet").to_pylist()
    assert [(row["id"], row["neighbour"], row["similarity"]) for row in rows] == [
        ("1", "2", 2 / 3),
        ("2", "1", 2 / 3),
    ]


def test_little_memory_gives_the_same(type_, large_corpus, tmp_path):
    for name, more in (("all", ()), ("little", ("--memory", "20MB", "--scratch", tmp_path / "scratch"))):
        assert (
            type_("top", large_corpus, "-k", "2", "--method", "lsh", "-o", tmp_path / name, *more).code == 0
        )
    much, little = (pq.read_table(tmp_path / name / "neighbours.parquet") for name in ("all", "little"))
    assert much.equals(little)


def test_mistakes_are_explained(refused, corpus, tmp_path):
    out = tmp_path / "out"
    assert "--neighbours 0" in refused("top", corpus, "-k", "0", "-o", out)
    assert "add -o" in refused("top", corpus)
    assert "choose auto, exact or lsh" in refused("top", corpus, "--method", "fast", "-o", out)
    assert "go with --sets" in refused("top", corpus, "--items", "film", "-o", out)
    for ignored in (("--shingle", "chars:5"), ("--text", "text")):
        assert f"{ignored[0]} has no meaning with --sets" in refused(
            "top", "--sets", corpus, *ignored, "-o", out
        )
    assert "nowhere.jsonl" in refused("top", tmp_path / "nowhere.jsonl", "-o", out)
    assert not out.exists()
