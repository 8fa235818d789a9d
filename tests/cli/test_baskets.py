"""`lookalike baskets pairs`, and `lookalike pairs --measure levenshtein`."""

import gzip
import json

import pyarrow.parquet as pq
import pytest

BASKETS = "milk bread\nbread milk beer\n\nbeer bread bread\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_text(BASKETS)
    return path


@pytest.mark.parametrize("method", ["pcy", "apriori"])
def test_frequent_pairs_go_to_a_folder(type_, file, tmp_path, method):
    ended = type_("baskets", "pairs", file, "--support", "2", "--method", method, "-o", tmp_path / "out")
    assert ended.code == 0
    assert "2 in 2 baskets or more" in ended.out
    rows = pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist()
    assert rows == [{"a": "beer", "b": "bread", "count": 2}, {"a": "bread", "b": "milk", "count": 2}]
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["counts"]["baskets"] == 4
    assert record["parameters"]["support"] == 2


def test_frequent_pairs_are_printed_as_json(type_, tmp_path):
    path = tmp_path / "tags.csv.gz"
    path.write_bytes(gzip.compress(b"red wine,cheese\ncheese,red wine\nred wine\n"))
    ended = type_("baskets", "pairs", path, "--separator", ",", "-s", "0.5", "--json")
    assert json.loads(ended.out)["pairs"] == [{"a": "cheese", "b": "red wine", "count": 2}]


@pytest.mark.parametrize("name", ["likes.csv", "likes.TSV", "likes.jsonl.gz", "likes.parquet"])
def test_a_table_is_not_taken_for_baskets(refused, tmp_path, name):
    said = refused("baskets", "pairs", tmp_path / name, "--support", "1", "--json")
    assert f"{name} looks like a table" in said
    assert "separator" in said


def test_what_cannot_be_found_in_baskets_is_refused(refused, file, tmp_path):
    out = tmp_path / "out"
    assert "only pairs" in refused("baskets", "triples", file, "--support", "2", "-o", out)
    assert "add -o FOLDER" in refused("baskets", "pairs", file, "--support", "2")
    for support in ("1.5", "inf", "nan", "0"):
        assert f"--support {support}" in refused("baskets", "pairs", file, "--support", support, "-o", out)
    assert "pcy" in refused("baskets", "pairs", file, "--support", "2", "--method", "x", "-o", out)
    assert "none.dat" in refused("baskets", "pairs", tmp_path / "none.dat", "--support", "2", "-o", out)
    assert not out.exists()


def test_strings_within_a_few_edits(type_, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("id,name\n1,smith\n2,smyth\n3,jones\n")
    asked = ("pairs", path, "--text", "name", "--id", "id", "--measure", "levenshtein", "--distance", "1")
    ended = type_(*asked, "-o", tmp_path / "out")
    assert ended.code == 0
    rows = pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist()
    assert rows == [{"a": "1", "b": "2", "distance": 1}]
    across = type_(*asked, "--with", path, "-o", tmp_path / "across", "--json")
    assert json.loads(across.out)["counts"]["pairs"] == 5


def test_a_text_file_is_one_string_and_it_is_said(type_, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("smith\nsmyth\n")
    ended = type_("pairs", path, *("--measure", "levenshtein", "--distance", "1"), "-o", tmp_path / "out")
    assert ended.code == 0
    assert "words.txt is one string" in ended.err
    assert ".csv with a heading" in ended.err


def test_distance_goes_with_strings_alone(refused, file, tmp_path):
    out = tmp_path / "out"
    assert "those need it" in refused("pairs", file, "--measure", "indel", "-o", out)
    assert "those need it" in refused("pairs", file, "--distance", "2", "-o", out)
    asked = ("pairs", "--sets", file, "--measure", "indel", "--distance", "2")
    assert "leave out --sets" in refused(*asked, "-o", out)


@pytest.mark.parametrize("measure", ["containment", "cosine"])
def test_pairs_by_other_measures(type_, file, tmp_path, measure):
    ended = type_("pairs", "--sets", file, "--measure", measure, "-t", "0.9", "-o", tmp_path / "out")
    assert ended.code == 0
    assert f"at {measure} 0.9 or over" in ended.out
    assert "prefix misses none" in ended.out


def test_memory_and_scratch_change_nothing(type_, tmp_path):
    (tmp_path / "baskets.dat").write_text("".join(f"a b c{at % 50} d{at % 7}\n" for at in range(5000)))
    words = ["baskets", "pairs", tmp_path / "baskets.dat", "-s", 100]
    assert type_(*words, "-o", tmp_path / "plain").code == 0
    (tmp_path / "scratch").mkdir()
    more = ["--memory", "16MB", "--scratch", tmp_path / "scratch", "--threads", 1]
    assert type_(*words, "-o", tmp_path / "small", *more).code == 0
    plain, small = (pq.read_table(tmp_path / name / "pairs.parquet") for name in ("plain", "small"))
    assert plain.equals(small)
    assert len(plain) > 3
    assert list((tmp_path / "scratch").iterdir()) == []
