"""lookalike pairs --measure tfidf."""

import json

import pyarrow.parquet as pq
import pytest

from lookalike import similar_pairs

STORY = "the old harbour town rebuilt its stone lighthouse after the winter storm broke the lamp"
RETOLD = "after the storm broke its lamp the old stone harbour lighthouse was rebuilt by the winter town"
EXACT = {"method": "exact", "not_copies": 0.2}
TEXTS = [STORY, STORY.replace("winter", "autumn"), RETOLD, "sugar prices fell in london on monday"]


@pytest.fixture
def stories(tmp_path, write_lines):
    return write_lines(tmp_path / "stories.jsonl", [{"text": text} for text in TEXTS])


def test_the_command_finds_what_the_library_finds(type_, stories, tmp_path):
    for number, more in enumerate([{}, {"not_copies": 0.2}, {"seed": 3, "shingle": "words:2"}, EXACT]):
        out = tmp_path / f"out{number}"
        flags = [flag for name, value in more.items() for flag in (f"--{name.replace('_', '-')}", value)]
        ended = type_("pairs", stories, "--measure", "tfidf", "-t", "0.5", *flags, "-o", out)
        assert ended.code == 0, ended.err
        expected = similar_pairs(stories, measure="tfidf", threshold=0.5, **more)
        assert pq.read_table(out / "pairs.parquet").to_pylist() == expected.to_arrow().to_pylist()
        assert len(expected) > 0
        assert ("not copied" in ended.out) == ("not_copies" in more)


def test_what_was_not_typed_takes_the_defaults_of_this_measure(type_, stories, tmp_path):
    ended = type_("pairs", stories, "--measure", "tfidf", "-o", tmp_path / "out", "--json")
    parameters = json.loads(ended.out)["parameters"]
    assert (parameters["shingle"], parameters["slots"], parameters["not_copies"]) == ("words:1", 1024, None)
    ended = type_(
        "pairs", stories, "--measure", "tfidf", "--shingle", "words:5", "-o", tmp_path / "out2", "--json"
    )
    assert json.loads(ended.out)["parameters"]["shingle"] == "words:5"


def test_what_does_not_go_together_is_refused(refused, stories, tmp_path):
    out = ("-o", tmp_path / "out")
    assert "goes with --measure tfidf" in refused("pairs", stories, "--not-copies", "0.2", *out)
    assert "leave it out" in refused("pairs", stories, "--measure", "tfidf", "--verify", "exact", *out)
    said = refused("pairs", stories, "--measure", "tfidf", "--method", "divide", *out)
    assert "--method divide is unknown" in said
    assert "choose auto, lsh, exact" in said
    assert "leave out --sets" in refused("pairs", stories, "--measure", "tfidf", "--sets", *out)
    assert "--not-copies 7" in refused("pairs", stories, "--measure", "tfidf", "--not-copies", "7", *out)


def test_a_run_says_how_documents_with_a_term_were_counted(type_, stories, tmp_path, monkeypatch):
    def ended(out):
        ended = type_("pairs", stories, "--measure", "tfidf", "-o", tmp_path / out, "--json")
        return json.loads(ended.out)["estimates"]["document_frequencies"], ended.err

    how, said = ended("exact")
    assert how == "exact"
    assert "counters" not in said
    monkeypatch.setattr("lookalike.shingles.terms.MOST_TERMS", 5)
    how, said = ended("shared")
    assert how == "shared"
    assert "share" in said
    assert "similarities differ a little" in said
