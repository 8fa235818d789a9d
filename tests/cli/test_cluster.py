"""lookalike cluster, from pairs to clusters."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.runs import RunRecord


def clusters_in(path):
    return {row["id"]: row["cluster"] for row in pq.read_table(path).to_pylist()}


@pytest.fixture
def pairs_run(type_, corpus, tmp_path):
    assert type_("pairs", corpus, "--id", "id", "-o", tmp_path / "run").code == 0
    return tmp_path / "run"


@pytest.mark.parametrize("name", ["", "pairs.parquet"])
def test_pairs_of_a_run_are_clustered(type_, pairs_run, tmp_path, name):
    ended = type_("cluster", pairs_run / name, "-o", tmp_path / "clusters.parquet")
    assert (ended.code, ended.err) == (0, "")
    assert "2, the largest of 2, 2" in ended.out
    assert clusters_in(tmp_path / "clusters.parquet") == {"d0": "d0", "d2": "d0", "d1": "d1", "d3": "d1"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pairs.csv", "a,b,more\n007,08,x\n08,9,y\n"),
        ("pairs.tsv", "a\tb\n007\t08\n08\t9\n"),
        ("pairs.jsonl", '{"a": "007", "b": "08"}\n{"a": "08", "b": "9"}\n'),
    ],
)
def test_any_table_of_pairs_is_clustered_and_ids_stay_what_they_are(type_, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    ended = type_("cluster", tmp_path / name, "-o", tmp_path / "out.parquet", "--json")
    told = json.loads(ended.out)
    assert told.pop("took") > 0
    assert told == {"pairs": 2, "items": 3, "clusters": 1, "largest": [3]}
    assert clusters_in(tmp_path / "out.parquet") == dict.fromkeys(["007", "08", "9"], "007")


def test_parquet_of_others_is_clustered_too(type_, tmp_path):
    pq.write_table(pa.table({"a": [1, 5], "b": [2, 2], "why": ["x", "y"]}), tmp_path / "theirs.parquet")
    assert type_("cluster", tmp_path / "theirs.parquet", "-o", tmp_path / "out.parquet").code == 0
    assert clusters_in(tmp_path / "out.parquet") == {1: 1, 2: 1, 5: 1}


def test_no_pairs_make_no_clusters(type_, tmp_path):
    (tmp_path / "none.csv").write_text("a,b\n")
    ended = type_("cluster", tmp_path / "none.csv", "-o", tmp_path / "out.parquet")
    assert ended.code == 0
    assert clusters_in(tmp_path / "out.parquet") == {}


def test_what_cannot_be_clustered_is_refused(refused, tmp_path):
    out = ("-o", tmp_path / "out.parquet")
    assert "there is no file" in refused("cluster", tmp_path / "nowhere.parquet", *out)
    (tmp_path / "two.csv").write_text("a,c\n1,2\n")
    assert "columns a and b" in refused("cluster", tmp_path / "two.csv", *out)
    (tmp_path / "ragged.csv").write_text("a,b\n1,2,3\n")
    assert "ragged.csv" in refused("cluster", tmp_path / "ragged.csv", *out)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no PAR1")
    assert "broken.parquet" in refused("cluster", tmp_path / "broken.parquet", *out)
    (tmp_path / "pairs.docx").write_bytes(b"?")
    assert "no kind" in refused("cluster", tmp_path / "pairs.docx", *out)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.tsv", "pairs.jsonl"])
@pytest.mark.parametrize("b", ["", '""'])
def test_an_end_without_an_id_is_refused_and_joins_nobody(refused, tmp_path, name, b):
    comma = "\t" if name.endswith("tsv") else ","
    rows = [("a", "b"), ("NA", "null"), ("1", b), ("5", b)]
    lines = [comma.join(row) for row in rows]
    if name.endswith("jsonl"):
        lines = ['{"a": "1", "b": "2"}', '{"a": "1", "b": null}']
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    assert "is null" in refused("cluster", tmp_path / name, "-o", tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_ids_that_read_like_nulls_are_ids(type_, tmp_path):
    (tmp_path / "pairs.csv").write_text("a,b\nNA,null\nN/A,NA\n")
    assert type_("cluster", tmp_path / "pairs.csv", "-o", tmp_path / "out.parquet").code == 0
    assert clusters_in(tmp_path / "out.parquet") == dict.fromkeys(["N/A", "NA", "null"], "N/A")


def test_the_pairs_are_never_replaced_by_their_clusters(refused, pairs_run, tmp_path):
    stored = pairs_run / "pairs.parquet"
    before = stored.read_bytes()
    (tmp_path / "link.parquet").symlink_to(stored)
    for given, out in [(stored, stored), (pairs_run, stored), (stored, tmp_path / "link.parquet")]:
        assert "is to be read" in refused("cluster", given, "-o", out, "--overwrite")
    assert stored.read_bytes() == before


def test_a_damaged_file_of_ours_is_refused(refused, pairs_run, tmp_path):
    path = pairs_run / "pairs.parquet"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    assert "damaged" in refused("cluster", path, "-o", tmp_path / "out.parquet")


def test_output_in_the_way_is_left_alone(refused, type_, pairs_run, tmp_path):
    out = tmp_path / "out.parquet"
    out.write_text("mine")
    assert "exists" in refused("cluster", pairs_run, "-o", out)
    assert out.read_text() == "mine"
    assert "is a folder" in refused("cluster", pairs_run, "-o", tmp_path)
    assert "no folder" in refused("cluster", pairs_run, "-o", tmp_path / "deeper" / "out.parquet")
    assert type_("cluster", pairs_run, "-o", out, "--overwrite").code == 0
    assert len(clusters_in(out)) == 4


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that nobody can write")
def test_what_cannot_be_written_is_said_in_the_words_of_the_system(refused, pairs_run):
    message = refused("cluster", pairs_run, "-o", "/proc/self/clusters.parquet")
    assert message.startswith("cannot write /proc/self/clusters.parquet: No such file or directory;")
    assert "partial" not in message


def test_ids_of_jsonl_that_look_like_dates_stay_what_they_are(type_, tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"a": "2024-01-31", "b": "2024-02-01"}\n')
    assert type_("cluster", tmp_path / "pairs.jsonl", "-o", tmp_path / "c.parquet").code == 0
    assert pq.read_table(tmp_path / "c.parquet")["id"].to_pylist() == ["2024-01-31", "2024-02-01"]


@pytest.mark.parametrize("name", ["clusters.parquet", "kept/in.jsonl", "new.parquet"])
def test_the_folder_of_a_run_stays_as_it_was(type_, refused, tmp_path, name):
    rows = [{"text": "one text and the same"}, {"text": "one text and the same"}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    run = tmp_path / "run"
    assert type_("dedup", tmp_path / "in.jsonl", "-o", run).code == 0
    (tmp_path / "link").symlink_to(run, target_is_directory=True)
    for folder in (run, tmp_path / "link"):
        said = refused("cluster", run, "-o", folder / name, "--overwrite")
        assert f"would lie in the folder of a run, {run}" in said
    RunRecord.read(run).verify(run)
    assert type_("cluster", run, "-o", tmp_path / "clusters.parquet").code == 0


@pytest.mark.parametrize("name", ["clusters.csv", "clusters.JSONL", "clusters.csv.gz"])
def test_clusters_are_not_written_under_the_name_of_a_text_file(refused, type_, pairs_run, tmp_path, name):
    said = refused("cluster", pairs_run, "-o", tmp_path / name)
    assert said == f"what is written is Parquet, and {name} is no name for that: let it end in .parquet"
    assert not (tmp_path / name).exists()
    assert type_("cluster", pairs_run, "-o", tmp_path / "no ending").code == 0
