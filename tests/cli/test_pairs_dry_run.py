"""lookalike pairs --dry-run: what a search would cost, of documents and of sets."""

import json

import pytest

SETS = "".join(" ".join(map(str, range(n, n + 6))) + "\n" for n in range(0, 600, 2)) + "0 1 2 3 4 5\n\n7 7\n"


@pytest.fixture
def sets(tmp_path):
    path = tmp_path / "sets.txt"
    path.write_text(SETS)
    return path


def test_it_tells_what_auto_thinks_of_both_roads_and_writes_nothing(type_, sets, tmp_path):
    before = set(tmp_path.iterdir())
    ended = type_("pairs", "--sets", sets, "-t", "0.4", "-o", tmp_path / "out", "--dry-run")
    assert (ended.code, ended.err) == (0, "")
    facts = {line[:13].strip(): line[14:] for line in ended.out.splitlines()}
    assert facts["sets"] == "303, 1,807 elements in all"
    assert facts["exact copies"] == "1"
    assert {"method", "lsh", "prefix", "candidates", "seconds"} <= set(facts)
    assert facts["so far"].endswith("nothing was written")
    assert set(tmp_path.iterdir()) == before
    # Where to write need not be known yet.
    assert type_("pairs", "--sets", sets, "--dry-run").code == 0


@pytest.mark.parametrize(
    "options",
    [
        ("-t", "0.4"),
        ("-t", "0.4", "--method", "lsh"),
        ("-t", "0.4", "--method", "divide"),
        ("-t", "0.9", "--method", "pyramid"),
        ("-t", "3", "--measure", "overlap"),
        ("-t", "0.5", "--measure", "containment"),
    ],
)
@pytest.mark.parametrize("two", [False, True])
def test_it_counts_and_chooses_as_the_run_then_does(type_, sets, tmp_path, options, two):
    given = ("pairs", "--sets", sets, *(("--with", sets) if two else ()), *options, "--json")
    told = json.loads(type_(*given, "--dry-run").out)
    record = json.loads(type_(*given, "-o", tmp_path / "out").out)
    assert told["counts"] == {name: record["counts"][name] for name in told["counts"]}
    assert told["counts"]["sets"] == (606 if two else 303)
    assert told["choice"]["method"] == record["estimates"]["method"]
    if told["choice"]["method"] == "lsh":
        assert told["expected_candidates"] == record["counts"]["candidates"]


def test_documents_are_rehearsed_between_two_collections_too(type_, corpus, large_corpus, tmp_path):
    given = ("pairs", corpus, "--with", large_corpus, "-t", "0.6", "--json")
    told = json.loads(type_(*given, "--dry-run").out)
    record = json.loads(type_(*given, "-o", tmp_path / "out").out)
    assert told["counts"] == {name: record["counts"][name] for name in told["counts"]}
    assert told["counts"]["documents"] > 8_000
    assert told["choice"] == record["estimates"]["choice"]


@pytest.mark.parametrize("method", ["auto", "lsh", "exact"])
@pytest.mark.parametrize("two", [False, True])
def test_by_weight_and_by_meaning_it_chooses_as_the_run_then_does(type_, sets, corpus, tmp_path, method, two):
    for number, given in enumerate(
        [("--sets", sets, "--measure", "weighted-jaccard"), (corpus, "--measure", "tfidf")]
    ):
        other = ("--with", given[1] if number == 0 else corpus) if two else ()
        asked = ("pairs", *given, *other, "-t", "0.6", "--method", method, "--json")
        told = json.loads(type_(*asked, "--dry-run").out)
        record = json.loads(type_(*asked, "-o", tmp_path / f"out{number}").out)
        assert told["counts"] == {name: record["counts"][name] for name in told["counts"]}
        assert told["choice"]["method"] == record["estimates"]["method"]
        assert told["expected_candidates"] == record["estimates"]["candidates"]
        if method == "auto":
            assert told["choice"] == record["estimates"]["choice"]
            assert set(told["choice"]["roads"]) == {"lsh", "exact"}
            assert told["expected_seconds"] > 0
        else:
            assert told["choice"]["why"] == "asked for"
        said = type_(*asked[:-1], "--dry-run").out
        assert f"method        {told['choice']['method']}: {told['choice']['why']}" in said


def test_what_nobody_estimates_is_refused(refused, corpus, sets, tmp_path):
    strings = ("--measure", "levenshtein", "--distance", "1")
    assert "no meaning" in refused("pairs", corpus, *strings, "--dry-run")
    assert "no meaning" in refused("pairs", tmp_path / "v.npy", "--measure", "angle", "--dry-run")
    (tmp_path / "file").write_text("")
    assert "is a file" in refused("pairs", "--sets", sets, "-o", tmp_path / "file", "--dry-run")


def test_what_does_not_fit_waits_in_the_scratch_folder_and_leaves_nothing_there(type_, sets, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    asked = ("pairs", "--sets", sets, "-t", "0.4", "-o", tmp_path / "out", "--dry-run")
    ended = type_(*asked, "--scratch", scratch, "--memory", "16MB")
    assert (ended.code, ended.err) == (0, "")
    assert list(scratch.iterdir()) == []
