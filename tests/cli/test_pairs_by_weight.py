"""lookalike pairs of sets with weights."""

import pyarrow.parquet as pq
import pytest
from tests.cli.killing import answer, interrupt

from lookalike import read_sets, similar_pairs
from lookalike.cli import main
from lookalike.runs import RunRecord

PLAYS = [
    *(("ann", "jazz", 3), ("ann", "soul", 2), ("bob", "jazz", 3), ("bob", "soul", 1)),
    *(("cat", "rock", 5), ("dan", "rock", 5), ("eve", "jazz", 1)),
]
HOW = ("--set-of", "user", "--items", "song", "--weight", "n")


@pytest.fixture
def plays(tmp_path):
    path = tmp_path / "plays.csv"
    path.write_text("user,song,n\n" + "".join(f"{user},{song},{n}\n" for user, song, n in PLAYS))
    return path


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "plays.dat"
    users = dict.fromkeys(user for user, _, _ in PLAYS)
    rows = [[f"{song}:{n}" for own, song, n in PLAYS if own == user] for user in users]
    path.write_text("".join(" ".join([user, *row]) + "\n" for user, row in zip(users, rows, strict=True)))
    return path


@pytest.mark.parametrize(("measure", "threshold"), [("weighted-jaccard", 0.7), ("weighted-cosine", 0.9)])
def test_the_command_finds_what_the_library_finds(type_, plays, lines, tmp_path, measure, threshold):
    asked = ("--measure", measure, "-t", threshold)
    for name, source in [("edges", (plays, *HOW)), ("lines", (lines, "--id", "first"))]:
        ended = type_("pairs", "--sets", *source, *asked, "-o", tmp_path / name)
        assert (ended.code, ended.err) == (0, "")
        assert "5 sets" in ended.out or "sets          5" in ended.out
    expected = similar_pairs(
        read_sets(plays, of="user", items="song", weight="n"), measure=measure, threshold=threshold
    )
    found = expected.to_arrow().to_pylist()
    assert {(row["a"], row["b"]) for row in found} >= {("ann", "bob"), ("cat", "dan")}
    for name in ("edges", "lines"):
        assert pq.read_table(tmp_path / name / "pairs.parquet").to_pylist() == found
        record = RunRecord.read(tmp_path / name)
        record.verify(tmp_path / name)
        assert record.parameters["measure"] == measure
        assert (record.counts["sets"], record.counts["elements"]) == (5, 7)


@pytest.mark.parametrize(("measure", "threshold"), [("weighted-jaccard", 0.1), ("weighted-cosine", 0.1)])
def test_the_exact_method_misses_nothing_at_any_threshold(type_, plays, tmp_path, measure, threshold):
    asked = ("--measure", measure, "-t", threshold, "--method", "exact")
    # Nothing of signatures is asked for, so no promise is out of reach.
    ended = type_("pairs", "--sets", plays, *HOW, *asked, "--slots", "1", "-o", tmp_path / "out")
    assert (ended.code, ended.err) == (0, "")
    assert "all near pairs found: exact misses none" in ended.out
    rows = pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist()
    assert [(row["a"], row["b"]) for row in rows] == [
        *(("ann", "bob"), ("ann", "eve"), ("bob", "eve"), ("cat", "dan"))
    ]
    record = RunRecord.read(tmp_path / "out")
    assert record.parameters["method"] == "exact"
    assert record.estimates["method"] == "exact"
    ended = type_("pairs", "--sets", plays, "--with", plays, *HOW, *asked, "-o", tmp_path / "both")
    assert ended.code == 0
    # Every one of the second is like itself and those above, either way round.
    assert len(pq.read_table(tmp_path / "both" / "pairs.parquet")) == 5 + 2 * 4


def test_what_bands_left_out_of_a_crowd_is_listed_by_the_method_that_is_named(type_, tmp_path, monkeypatch):
    # Nothing is soon done, so large buckets are compared with leaders.
    monkeypatch.setattr("lookalike.joins.weighted._SOME_SECONDS", 1)
    monkeypatch.setattr("lookalike.bands.buckets.LARGE", 4)
    path = tmp_path / "crowd.dat"
    path.write_text("".join(f"jazz:3000 soul:2000 own{n}:1\n" for n in range(150)))
    asked = ("pairs", "--sets", path, "--measure", "weighted-jaccard", "-t", "0.9")
    ended = type_(*asked, "-o", tmp_path / "bands")
    assert ended.code == 0
    assert "--method exact lists every pair" in ended.err
    ended = type_(*asked, "--method", "exact", "-o", tmp_path / "exact")
    assert (ended.code, ended.err) == (0, "")
    assert len(pq.read_table(tmp_path / "exact" / "pairs.parquet")) == 150 * 149 // 2


def test_two_collections_and_the_dual(type_, plays, tmp_path):
    asked = ("--measure", "weighted-jaccard", "-t", "0.4")
    ended = type_("pairs", "--sets", plays, "--with", plays, *HOW, *asked, "-o", tmp_path / "both")
    assert ended.code == 0
    rows = pq.read_table(tmp_path / "both" / "pairs.parquet").to_pylist()
    assert ("ann", "ann", 1.0) in [(row["a"], row["b"], row["similarity"]) for row in rows]
    dual = ("--set-of", "song", "--items", "user", "--weight", "n")
    assert type_("pairs", "--sets", plays, *dual, *asked, "-o", tmp_path / "dual").code == 0
    # Jazz was played 3, 3 and 1 times, soul 2 and 1 times by the first two: (2 + 1) / (3 + 3 + 1).
    rows = pq.read_table(tmp_path / "dual" / "pairs.parquet").to_pylist()
    assert rows == [{"a": "jazz", "b": "soul", "similarity": 3 / 7}]


@pytest.mark.parametrize(
    ("method", "settled"),
    [
        ("lsh", {"sample", "keyed", "copies", "candidates"}),
        ("auto", {"sample", "digests", "copies", "strip-1-of-1", "found"}),
        ("exact", {"digests", "copies", "strip-1-of-1", "found"}),
    ],
)
def test_a_run_goes_on(monkeypatch, plays, tmp_path, capsys, method, settled):
    asked = ["pairs", "--sets", str(plays), *HOW, "--measure", "weighted-jaccard", "-t", "0.7"]
    asked += ["--method", method, "-o"]
    assert main([*asked, str(tmp_path / "whole")]) == 0
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.cli.outcome.PairsOutcome.write_into", interrupt)
        assert main([*asked, str(tmp_path / "out")]) == 130
    stages = {path.stem for path in (tmp_path / ".out.unfinished").glob("*.stage")}
    assert stages >= settled
    capsys.readouterr()
    assert main([*asked, str(tmp_path / "out"), "--resume", "--weight", "song"]) == 2
    assert main([*asked, str(tmp_path / "out"), "--resume"]) == 0
    assert "going on" in capsys.readouterr().err
    assert answer(tmp_path / "out") == answer(tmp_path / "whole")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--measure", "weighted-jaccard"), "add --sets"),
        (("--sets", *HOW), "counts only by weight: choose --measure weighted-jaccard or --measure weighted"),
        (
            ("--sets", *HOW, "--measure", "weighted-jaccard", "--method", "prefix"),
            "--method prefix is unknown",
        ),
        (("--sets", *HOW, "--measure", "weighted-jaccard", "--verify", "exact"), "--verify has no choice"),
        (
            ("--sets", *HOW, "--measure", "weighted-jaccard", "--shingle", "chars:5"),
            "--shingle has no choice",
        ),
        (("--measure", "tfidf", "--common", "3"), "--common has no choice"),
        (("--sets", *HOW[:4], "--weight", "m", "--measure", "weighted-cosine"), "no column 'm'"),
        (("--sets", *HOW[:4], "--weight", "song", "--measure", "weighted-cosine"), "end of the edges"),
        (("--sets", *HOW, "--measure", "weighted-jaccard", "-t", "2"), "2"),
        (("--sets", *HOW, "--measure", "weighted-jaccard", "--not-copies", "0.2"), "--not-copies"),
        (("--weight", "n"), "go with --sets"),
    ],
)
def test_bad_input_is_named_and_leaves_nothing(refused, plays, tmp_path, more, said):
    assert said in refused("pairs", plays, *more, "-o", tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == [plays]


@pytest.mark.parametrize(
    ("form", "bad", "said"),
    [
        ("lines", "bob jazz:3 soul:one", "line 2: 'soul:one' is no item:weight"),
        ("lines", "bob jazz:nan soul:-1", "line 2: 'jazz:nan' is no item:weight"),
        ("lines", "bob jazz:3 soul:-1", "line 2: 'soul:-1' weighs less than 0"),
        ("edges", "bob,jazz,-3", "line 3: 'n' is -3: weights are 0 or more"),
        ("edges", "bob,jazz,much", "line 3: 'n' is 'much', not a number"),
    ],
)
def test_a_row_that_weighs_nothing_sensible_is_named_or_skipped(type_, refused, tmp_path, form, bad, said):
    good = {"lines": ["ann jazz:3 soul:2", "cat jazz:3 soul:2"], "edges": ["ann,jazz,3", "cat,jazz,3"]}[form]
    path = tmp_path / "plays.csv"
    header = ["user,song,n"] if form == "edges" else []
    path.write_text("\n".join([*header, good[0], bad, good[1]]) + "\n")
    how = HOW if form == "edges" else ("--id", "first")
    asked = ("pairs", "--sets", path, *how, "--measure", "weighted-jaccard")
    assert f"{path}, {said}" in refused(*asked, "-o", tmp_path / "out")
    ended = type_(*asked, "--on-error", "skip", "-o", tmp_path / "out")
    assert ended.code == 0
    assert f"1 row could not be read, the first: {path}, {said}" in ended.err
    counts = RunRecord.read(tmp_path / "out").counts
    assert (counts["sets"], counts["unreadable"], counts["pairs"]) == (2, 1, 1)


def test_vectors_may_weigh_less_than_nothing_and_so_may_edges_that_are_left_out(type_, tmp_path):
    path = tmp_path / "plays.csv"
    path.write_text("user,song,n\nann,jazz,-3\ncat,jazz,-3\n")
    given = ("pairs", "--sets", path, *HOW)
    assert type_(*given, "--measure", "weighted-cosine", "-o", tmp_path / "out").code == 0
    assert RunRecord.read(tmp_path / "out").counts["pairs"] == 1
    rated = (*given, "--rating", "n", "--least-rating", "0", "--measure", "weighted-jaccard")
    assert type_(*rated, "-o", tmp_path / "rated").code == 0
