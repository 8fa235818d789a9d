"""lookalike pairs, in one collection and between two."""

import json

import pyarrow.parquet as pq
import pytest

from lookalike import _core, similar_pairs
from lookalike.cli.repeated import repeated
from lookalike.joins import expand, outright
from lookalike.runs import RunRecord, read_parquet


def found_in(folder):
    return [(row["a"], row["b"]) for row in pq.read_table(folder / "pairs.parquet").to_pylist()]


def test_pairs_and_the_record_are_written(type_, corpus, tmp_path):
    out = tmp_path / "out"
    ended = type_("pairs", corpus, "--id", "id", "-o", out)
    assert (ended.code, ended.err) == (0, "")
    assert sorted(entry.name for entry in out.iterdir()) == ["pairs.parquet", "run.json"]
    assert found_in(out) == [("d0", "d2"), ("d1", "d3")]
    assert read_parquet(out / "pairs.parquet", kind="pairs")[1].parameters["threshold"] == 0.8
    record = RunRecord.read(out)
    record.verify(out)
    assert record.algorithm == _core.ALGORITHM_VERSION
    facts = {line[:13].strip(): line[14:] for line in ended.out.splitlines()}
    assert facts["near pairs"] == "1 at 0.8 or over"
    assert facts["pairs"].startswith("2 in all")


def test_the_command_finds_what_the_library_finds(type_, large_corpus, tmp_path):
    out = tmp_path / "out"
    assert type_("pairs", large_corpus, "-t", "0.6", "-o", out).code == 0
    expected = similar_pairs(large_corpus, threshold=0.6)
    assert pq.read_table(out / "pairs.parquet").to_pylist() == expected.to_arrow().to_pylist()


def test_bands_and_rows_of_ones_own_and_both_checks_are_options(type_, refused, large_corpus, tmp_path):
    typed = ("pairs", large_corpus, "-t", "0.6", "--bands", "30", "--rows", "3", "--verify", "both")
    ended = type_(*typed, "-o", tmp_path / "out")
    assert ended.code == 0
    assert "promised at 0.6 by the bands and rows that were given" in ended.out
    assert "dropped first " in ended.out
    expected = similar_pairs(large_corpus, threshold=0.6, bands=30, rows=3, verify="both")
    assert pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist() == expected.to_arrow().to_pylist()
    record = RunRecord.read(tmp_path / "out")
    assert (record.parameters["bands"], record.parameters["rows"]) == (30, 3)
    assert record.estimates["first_filter"]["dropped"] == expected.account.dropped_first
    said = refused("pairs", large_corpus, "--bands", "30", "-o", tmp_path / "x")
    assert said == "--bands 30 needs rows too: say how many slots a band has, such as --rows 5"
    said = refused(
        "pairs", large_corpus, "--bands", "3", "--rows", "3", "--recall", "0.9", "-o", tmp_path / "x"
    )
    assert said.startswith(
        "--bands and --rows give the recall they give at the threshold: leave out --recall"
    )
    told = type_("pairs", large_corpus, "-t", "0.6", "--bands", "30", "--rows", "3", "--dry-run").out
    assert "30 bands of 3 rows, 90 of 128 slots" in told
    assert "as bands and rows were given" in told


def test_the_suffix_filter_is_an_option_of_prefix(type_, refused, large_corpus, tmp_path):
    typed = ("pairs", large_corpus, "-t", "0.6", "--method", "prefix")
    for name, more in (("plain", ()), ("filtered", ("--suffix-filter",))):
        assert type_(*typed, *more, "-o", tmp_path / name).code == 0
    assert found_in(tmp_path / "plain") == found_in(tmp_path / "filtered") != []
    assert RunRecord.read(tmp_path / "filtered").parameters["suffix_filter"] is True
    said = refused("pairs", large_corpus, "--suffix-filter", "-o", tmp_path / "x")
    assert said == "--suffix-filter goes with --method prefix, not with --method auto: leave it out"
    said = refused("pairs", large_corpus, "--measure", "tfidf", "--suffix-filter", "-o", tmp_path / "x")
    assert said == "--suffix-filter has no choice with --measure tfidf: leave it out"


def test_pairs_between_two_collections_go_from_one_to_the_other(type_, corpus, texts, tmp_path, write_lines):
    other = write_lines(tmp_path / "other.jsonl", [{"id": "x", "text": f"{texts[1]} and more"}])
    ended = type_("pairs", corpus, "--with", other, "--id", "id", "-o", tmp_path / "out", "--json")
    assert ended.code == 0
    assert found_in(tmp_path / "out") == [("d1", "x"), ("d3", "x")]
    assert json.loads(ended.out)["counts"]["documents_by_collection"] == [5, 1]


def test_all_files_after_with_are_of_the_other_collection(type_, corpus, texts, tmp_path, write_lines):
    others = [
        write_lines(tmp_path / f"{name}.jsonl", [{"id": name, "text": f"{text} and more"}])
        for name, text in (("x", texts[0]), ("y", texts[1]))
    ]
    ended = type_("pairs", corpus, "--with", *others, "--id", "id", "-o", tmp_path / "out")
    assert ended.code == 0
    assert {b for _, b in found_in(tmp_path / "out")} == {"x", "y"}


def test_values_of_with_are_told_from_other_options():
    assert repeated(["a", "b", "-o", "out"], "--with") == ["a", "b", "-o", "out"]
    assert repeated(["a", "--with", "b", "-", "--json", "c"], "--with") == [
        *("a", "--with", "b", "--with", "-", "--json", "c")
    ]
    assert repeated(["--with", "a", "--with", "b", "c"], "--with") == [
        *("--with", "a", "--with", "b", "--with", "c")
    ]


def test_copies_are_pairs_like_others_or_listed_once_each(type_, tmp_path, texts, write_lines):
    copies = write_lines(tmp_path / "copies.jsonl", [{"id": row, "text": texts[0]} for row in range(4)])
    assert type_("pairs", copies, "--id", "id", "-o", tmp_path / "all").code == 0
    every = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert found_in(tmp_path / "all") == every
    record = RunRecord.read(tmp_path / "all")
    assert (record.parameters["copies"], record.counts["pairs"]) == ("all", 6)
    assert "list copies" in [stage.name for stage in record.stages]
    ended = type_("pairs", copies, "--id", "id", "--copies", "stars", "-o", tmp_path / "stars")
    assert "3 in all, each exact copy once" in ended.out
    assert found_in(tmp_path / "stars") == [(0, 1), (0, 2), (0, 3)]
    assert RunRecord.read(tmp_path / "stars").parameters["copies"] == "stars"


def test_more_pairs_of_copies_than_anybody_wants_are_refused_before_anything_is_written(
    type_, refused, tmp_path, texts, write_lines, monkeypatch
):
    monkeypatch.setattr(expand, "MOST", 5)
    copies = write_lines(tmp_path / "copies.jsonl", [{"id": row, "text": texts[0]} for row in range(4)])
    said = refused("pairs", copies, "--id", "id", "-o", tmp_path / "out")
    assert "exact copies make 6 pairs, more than 5" in said
    assert "--copies stars" in said
    assert "--copies all" in said
    assert not (tmp_path / "out").exists()
    # The same run goes on once all are asked for in so many words.
    again = ("pairs", copies, "--id", "id", "--copies", "all", "--resume", "-o", tmp_path / "out")
    assert type_(*again).code == 0
    assert len(found_in(tmp_path / "out")) == 6


def test_documents_can_be_compared_by_their_rarest_words(type_, corpus, tmp_path):
    out = tmp_path / "out"
    form = "words:1+rare4"
    assert type_("pairs", corpus, "--id", "id", "--shingle", form, "-t", "0.6", "-o", out).code == 0
    # d1 and d3 are the same words; d2 has a word that no other document has, and so loses one that d0 keeps.
    assert pq.read_table(out / "pairs.parquet").to_pylist() == [
        {"a": "d0", "b": "d2", "similarity": 3 / 5},
        {"a": "d1", "b": "d3", "similarity": 1.0},
    ]
    assert RunRecord.read(out).parameters["shingle"] == form


def test_a_similarity_that_was_only_estimated_is_called_so(type_, corpus, tmp_path):
    assert type_("pairs", corpus, "--verify", "signature", "-o", tmp_path / "out").code == 0
    assert pq.read_table(tmp_path / "out" / "pairs.parquet").column_names == ["a", "b", "estimate"]


BASKETS = "1 2 3 4 5\n1 2 3 4 5 6\n\n7 8\n8 7\n"


def test_sets_a_line_are_joined(type_, tmp_path):
    path, out = tmp_path / "baskets.dat", tmp_path / "out"
    path.write_text(BASKETS)
    ended = type_("pairs", "--sets", path, "-o", out)
    assert (ended.code, ended.err) == (0, "")
    assert found_in(out) == [(f"{path}:0", f"{path}:1"), (f"{path}:3", f"{path}:4")]
    assert ended.out.splitlines()[0].split() == ["sets", "5,", "15", "elements", "in", "all"]
    counts = RunRecord.read(out).counts
    assert (counts["sets"], counts["elements"], counts["empty"], counts["copies"]) == (5, 15, 1, 1)
    RunRecord.read(out).verify(out)


LIKES = "user,film,stars\nann,1,5\nann,2,4\nbob,2,5\nbob,1,5\nbob,3,1\ncat,9,3\n"


def test_an_edge_table_is_joined_in_either_direction(type_, tmp_path):
    path = tmp_path / "likes.csv"
    path.write_text(LIKES)
    rated = ("--rating", "stars", "--least-rating", 4)
    users = type_(
        *("pairs", "--sets", path, "--set-of", "user", "--items", "film", *rated),
        *("-o", tmp_path / "users", "--json"),
    )
    assert users.code == 0
    assert found_in(tmp_path / "users") == [("ann", "bob")]
    record = json.loads(users.out)
    assert record["parameters"]["of"] == "user"
    # cat has rated nothing highly, and is there all the same.
    assert (record["counts"]["sets"], record["counts"]["empty"]) == (3, 1)
    films = type_("pairs", "--sets", path, "--set-of", "film", "--items", "user", "-o", tmp_path / "films")
    assert films.code == 0
    assert found_in(tmp_path / "films") == [("1", "2")]


def test_two_collections_of_sets_are_joined(type_, tmp_path):
    (tmp_path / "a.dat").write_text("x 1 2 3\ny 4\n")
    (tmp_path / "b.dat").write_text("z 3 2 1\n")
    out = tmp_path / "out"
    ended = type_(
        "pairs", "--sets", tmp_path / "a.dat", "--with", tmp_path / "b.dat", "--id", "first", "-o", out
    )
    assert ended.code == 0
    assert found_in(out) == [("x", "z")]
    assert RunRecord.read(out).counts["sets_by_collection"] == [2, 1]


def test_mistakes_about_sets_are_explained(refused, corpus, tmp_path):
    out = ("-o", tmp_path / "out")
    assert "go with --sets" in refused("pairs", corpus, "--items", "tags", *out)
    assert "looks like a table" in refused("pairs", "--sets", corpus, *out)
    for ignored in (("--shingle", "chars:5"), ("--text", "text")):
        assert f"{ignored[0]} has no meaning with --sets" in refused(
            "pairs", "--sets", corpus, *ignored, *out
        )
    assert "no column 'tags'" in refused("pairs", "--sets", corpus, "--items", "tags", *out)
    path = tmp_path / "likes.csv"
    path.write_text(LIKES + "dan,,1\n")
    edges = ("--set-of", "user", "--items", "film")
    assert "likes.csv, line 8: 'film' is empty" in refused("pairs", "--sets", path, *edges, *out)
    assert not (tmp_path / "out").exists()


def test_rows_of_an_edge_table_can_be_skipped(type_, tmp_path):
    path = tmp_path / "likes.csv"
    path.write_text(LIKES + "dan,,1\n")
    edges = ("--set-of", "user", "--items", "film", "--on-error", "skip")
    ended = type_("pairs", "--sets", path, *edges, "-t", "0.6", "-o", tmp_path / "out")
    assert ended.code == 0
    assert "1 row could not be read" in ended.err
    assert found_in(tmp_path / "out") == [("ann", "bob")]


def test_pairs_that_leaders_left_out_are_counted_and_the_way_to_them_is_said(
    type_, tmp_path, write_lines, monkeypatch
):
    # A hundred are not many: as if all their pairs took too long.
    monkeypatch.setattr(outright, "SECONDS", 0.0)
    template = [f"w{at}" for at in range(300)]
    rows = [{"text": " ".join([*template[:at], f"own{at}", *template[at:]])} for at in range(100)]
    crowd = write_lines(tmp_path / "crowd.jsonl", rows)
    bands = type_("pairs", crowd, "--method", "lsh", "-o", tmp_path / "bands")
    every = type_("pairs", crowd, "--method", "prefix", "-o", tmp_path / "every")
    listed = [pq.read_table(tmp_path / name / "pairs.parquet").num_rows for name in ("bands", "every")]
    assert listed[0] < listed[1] == 100 * 99 // 2
    large = json.loads((tmp_path / "bands" / "run.json").read_text())["estimates"]["large_buckets"]
    # What is missing is not among what bands promise, and is counted apart.
    assert large["not_compared"] >= listed[1] - listed[0]
    assert "--method prefix lists every pair" in bands.err
    assert f"up to {large['not_compared']:,} pairs in" in bands.out
    assert "outside very large buckets" in bands.out
    assert (every.err, "not compared" in every.out) == ("", False)


def test_common_elements_are_left_out_on_request_and_what_that_may_cost_is_said(
    type_, refused, tmp_path, monkeypatch
):
    # 0 is in all sets; the last two share nothing else.
    lines = [
        f"0 {row // 2 * 10 + 1} {row // 2 * 10 + 2} {row // 2 * 10 + 3} {row + 900}" for row in range(40)
    ]
    baskets = tmp_path / "baskets.dat"
    baskets.write_text("\n".join([*lines, "0 7000", "0"]))
    command = ("pairs", "--sets", baskets, "--method", "divide", "-t", "0.5")
    monkeypatch.setattr("lookalike.joins.divide.MANY_MEETINGS", 500)
    monkeypatch.setattr("lookalike.joins.divide._FEW_MEETINGS", 100)
    ended = type_(*command, "-o", tmp_path / "every")
    assert "method divide has about " in ended.err
    assert "--common 4" in ended.err
    some = type_(*command, "--common", "0.5", "-o", tmp_path / "some")
    assert some.err == ""
    every, left = found_in(tmp_path / "every"), found_in(tmp_path / "some")
    assert len(left) == 20
    assert len(every) == 21
    facts = {line[:13].strip(): line[14:] for line in some.out.splitlines()}
    assert facts["left out"] == "1 element that over 21 items hold, in 42 items"
    assert "2 items hold enough of it" in facts["recall"]
    estimates = json.loads((tmp_path / "some" / "run.json").read_text())["estimates"]
    assert estimates["left_out"] == {"over": 21, "elements": 1, "rows": 42, "at_risk": 2}
    assert estimates["recall"]["recall"] is None
    # At a threshold that it cannot reach by itself, nothing is missing and that is said.
    sure = type_(*command[:-1], "0.6", "--common", "21", "-o", tmp_path / "sure")
    assert "all near pairs found" in sure.out
    wrong = ("pairs", "--sets", baskets, "-o", tmp_path / "no", "--common")
    assert "goes with --method divide" in refused(*wrong, "5")
    assert "out of range" in refused(*wrong, "0", "--method", "divide")
    assert "--common many is no number" in refused(*wrong, "many", "--method", "divide")


def test_standard_input_cannot_be_both_collections(refused, tmp_path):
    assert "can be read once only" in refused("pairs", "-", "--with", "-", "-o", tmp_path / "out")


def test_options_of_texts_are_refused_with_sets(refused, tmp_path):
    path = tmp_path / "sets.txt"
    path.write_text("1 2 3\n1 2 3\n")
    for command in ("pairs", "top"):
        for option in (("--shingle", "chars:5"), ("--text", "body")):
            said = refused(command, "--sets", path, *option, "-o", tmp_path / "out")
            assert f"{option[0]} has no meaning with --sets" in said


@pytest.mark.parametrize("command", ["dedup", "pairs", "top"])
def test_a_text_file_alone_is_said_to_be_one_document(type_, tmp_path, command):
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("bread milk butter\nbread milk butter salt\n")
    ended = type_(command, tmp_path / "one.txt", "-o", tmp_path / "out")
    assert ended.code == 0
    assert f"{tmp_path / 'one.txt'} is one document, with nothing to compare it with" in ended.err
    more = [[tmp_path / "two.txt"]]
    more += [["--unit", "line"]] if command == "dedup" else [["--with", tmp_path / "two.txt"], ["--sets"]]
    for words in more:
        ended = type_(command, tmp_path / "one.txt", *words, "-o", tmp_path / "out", "--overwrite")
        assert ended.code == 0
        assert "one document" not in ended.err
