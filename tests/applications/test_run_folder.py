"""The folder a deduplication leaves behind: whole, checked, and in numbers that add up."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conformance import oracle, texts

import lookalike as la
from lookalike import _core
from lookalike.errors import ArtefactError, OutputError
from lookalike.runs import RunRecord, read_parquet


def corpus():
    rows = texts.families(40, seed=21, changes=8)
    docs = [*rows, texts.dressed(rows[0], 1), "", "short one"]
    return pa.table(
        {
            "name": [f"doc-{at:03}" for at in range(len(docs))][::-1],
            "text": docs,
            "size": [len(text) for text in docs],
        }
    )


@pytest.fixture(scope="module")
def result():
    return la.dedup(corpus(), id="name", threshold=0.6, keep="longest")


@pytest.fixture
def folder(result, tmp_path):
    return result.write(tmp_path / "run")


def read(result, folder, kind):
    """A table of the folder, refused unless it is of this run."""
    parameters = json.loads(json.dumps(result.options.to_dict()))
    path = folder / f"{kind}.parquet"
    return read_parquet(path, kind=kind, algorithm=_core.ALGORITHM_VERSION, parameters=parameters)[0]


COLUMNS = {
    "clusters": ["id", "cluster", "representative", "similarity", "via", "kept", "flag"],
    "pairs": ["a", "b", "similarity"],
    "samples": ["a", "b", "similarity", "side", "text_a", "text_b"],
}


def test_the_folder_holds_what_a_run_leaves_and_nothing_else(folder):
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    assert names == [
        "clusters.parquet",
        "kept",
        "kept/kept.parquet",
        "keys.table",
        "pairs.parquet",
        "run.json",
        "samples.parquet",
    ]


@pytest.mark.parametrize("kind", COLUMNS)
def test_tables_read_back_as_they_were(result, folder, kind):
    table = read(result, folder, kind)
    assert table.column_names == COLUMNS[kind]
    held = {
        "clusters": result.clusters.to_arrow(),
        "pairs": result.pairs.to_arrow(),
        "samples": result.samples,
    }[kind]
    assert table.equals(held)


def test_ids_keep_their_type_and_flags_say_what_was_odd(result, folder):
    table = read(result, folder, "clusters")
    assert {table.schema.field(name).type for name in ("id", "cluster", "representative", "via")} == {
        pa.string()
    }
    assert sorted(table["flag"].drop_null().to_pylist()) == ["empty", "short"]
    assert table["id"].to_pylist() == sorted(corpus()["name"].to_pylist())


def test_kept_rows_are_there_with_all_their_columns_in_their_order(result, folder):
    clusters = read(result, folder, "clusters").to_pylist()
    names = {row["id"] for row in clusters if row["kept"]}
    rows = pq.read_table(folder / "kept" / "kept.parquet").to_pylist()
    assert rows == [row for row in corpus().to_pylist() if row["name"] in names]


def test_the_record_adds_up(result, folder):
    record = RunRecord.read(folder)
    record.verify(folder)
    counts = record.counts
    clusters, pairs = read(result, folder, "clusters"), read(result, folder, "pairs")
    assert record.job == "dedup"
    assert la.DedupOptions.of(dict(record.parameters)) == result.options
    assert counts["documents"] == corpus().num_rows == clusters.num_rows
    assert counts["kept"] == sum(clusters["kept"].to_pylist())
    assert counts["kept"] + counts["dropped"] == counts["documents"]
    assert counts["pairs"] + counts["copies"] == pairs.num_rows
    assert counts["candidates"] >= counts["pairs"]
    assert (counts["empty"], counts["short"]) == (1, 1)
    assert {"candidates", "recall", "plan", "large_buckets", "choice", "actual"} <= record.estimates.keys()
    assert record.estimates["actual"]["candidates"] == counts["candidates"]
    assert 0.9 < record.estimates["recall"]["recall"] <= 1
    assert [stage.name for stage in record.stages] == [
        "read",
        "choose",
        "plan",
        "sign",
        "copies",
        "candidates",
        "verify",
        "large buckets",
        "cluster",
    ]
    assert all(stage.seconds >= 0 and stage.peak_bytes > 0 for stage in record.stages)
    assert record.algorithm == _core.ALGORITHM_VERSION
    assert record.versions.keys() >= {"python", "lookalike", "numpy", "pyarrow"}


def test_samples_show_pairs_on_both_sides_of_the_threshold(result, folder):
    texts_of = dict(zip(corpus()["name"].to_pylist(), corpus()["text"].to_pylist(), strict=True))
    samples = read(result, folder, "samples").to_pylist()
    assert {row["side"] for row in samples} == {"over", "under"}
    for row in samples:
        assert (row["text_a"], row["text_b"]) == (texts_of[row["a"]], texts_of[row["b"]])
        assert row["similarity"] == oracle.jaccard(
            *(oracle.shingles(row[side]) for side in ("text_a", "text_b"))
        )
        assert (row["similarity"] >= 0.6) == (row["side"] == "over")
        assert row["similarity"] >= 0.5
    for side in ("over", "under"):
        distances = [abs(row["similarity"] - 0.6) for row in samples if row["side"] == side]
        assert distances == sorted(distances)


def test_a_drop_list_names_the_dropped_and_writes_no_rows(result, tmp_path):
    folder = result.write(tmp_path / "run", drop_list=True)
    assert not (folder / "kept").exists()
    dropped = read(result, folder, "dropped").to_pylist()
    assert dropped == [
        {"id": row["id"], "representative": row["representative"]}
        for row in result.clusters
        if not row["kept"]
    ]


def test_what_is_there_is_not_overwritten_unasked(result, folder):
    before = (folder / "run.json").read_bytes()
    with pytest.raises(OutputError):
        result.write(folder)
    assert (folder / "run.json").read_bytes() == before
    result.write(folder, overwrite=True, drop_list=True)
    assert (folder / "dropped.parquet").exists()


def test_a_flipped_bit_is_an_error_and_no_answer(result, folder):
    path = folder / "pairs.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtefactError):
        read(result, folder, "pairs")
    with pytest.raises(ArtefactError, match=r"pairs\.parquet"):
        RunRecord.read(folder).verify(folder)


def test_a_table_of_other_parameters_is_refused(result, folder):
    with pytest.raises(ArtefactError):
        read_parquet(
            folder / "pairs.parquet", kind="pairs", parameters={**result.options.to_dict(), "threshold": 0.9}
        )


def test_stop_words_of_ones_own_are_stored_with_the_run(tmp_path):
    stops = la.Shingle(unit="stopwords", stops=("the", "a"))
    folder = la.dedup(["the cat sat", "the cat sat!"], shingle=stops).write(tmp_path / "run")
    assert la.DedupOptions.of(dict(RunRecord.read(folder).parameters)).shingle == stops
