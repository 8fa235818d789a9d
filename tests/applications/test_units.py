"""Deduplication of paragraphs and lines: every unit and every document is accounted for."""

import csv
import gzip
import json

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance import oracle

import lookalike as la
from lookalike.errors import OptionError
from lookalike.runs import RunRecord, read_parquet

SURE = 0.9999
JOINT = {"paragraph": "\n\n", "line": "\n"}

BOILER = "all rights reserved do not copy this page without asking the owner"
STORY = "once upon a time there was a miller who had three sons and a cat"
OTHER = "the harbour was quiet that evening and nobody saw the boat come in"
DOCS = [
    f"{STORY}\n\n{BOILER}",
    f"{BOILER} first\n\n{OTHER}\n\n{STORY.upper()}!",
    f"\n{BOILER}\n\n\n",
    "",
    "unique to the last",
]


def test_a_paragraph_that_occurs_again_is_left_out():
    result = la.dedup(DOCS, unit="paragraph", threshold=0.6)
    assert result.kept == [DOCS[0], f"{OTHER}\n\n", "", "unique to the last"]
    assert result.kept_rows.tolist() == [True, True, False, True, True]
    assert [(row["id"], row["document"], row["unit"], row["representative"]) for row in result.clusters] == [
        ("0:0", 0, 0, "0:0"),
        ("0:1", 0, 1, "0:1"),
        ("1:0", 1, 0, "0:1"),
        ("1:1", 1, 1, "1:1"),
        ("1:2", 1, 2, "0:0"),
        ("2:0", 2, 0, "0:1"),
        ("4:0", 4, 0, "4:0"),
    ]
    assert result.documents.to_pylist() == [
        {"id": 0, "units": 2, "kept_units": 2, "kept": True},
        {"id": 1, "units": 3, "kept_units": 1, "kept": True},
        {"id": 2, "units": 1, "kept_units": 0, "kept": False},
        {"id": 3, "units": 0, "kept_units": 0, "kept": True},
        {"id": 4, "units": 1, "kept_units": 1, "kept": True},
    ]
    counts = result.counts
    names = (
        "documents",
        "units",
        "kept",
        "dropped",
        "kept_documents",
        "dropped_documents",
        "trimmed_documents",
    )
    assert [counts[name] for name in names] == [5, 7, 4, 3, 4, 1, 1]
    assert "3 whole, 1 trimmed, 1 dropped with nothing left" in repr(result)


UNITS = st.sampled_from(["a b c d e f", "A b c d e f", "g h i j k l m", "g h i j k l n", "x", "y z", "…", ""])


@settings(max_examples=50, deadline=None)
@given(
    documents=st.lists(st.lists(UNITS, max_size=5), min_size=1, max_size=8),
    unit=st.sampled_from(["paragraph", "line"]),
    group=st.sampled_from(["components", "star"]),
    keep=st.sampled_from(["first", "longest", "max:stars"]),
)
def test_rows_and_units_add_up(documents, unit, group, keep):
    texts = [JOINT[unit].join(units) for units in documents]
    table = pa.table({"text": pa.array(texts, pa.string()), "stars": list(range(len(texts)))})
    result = la.dedup(table, unit=unit, group=group, keep=keep, recall=SURE)
    counts, rows = result.counts, list(result.clusters)
    assert counts["documents"] == len(texts) == counts["kept_documents"] + counts["dropped_documents"]
    assert counts["units"] == len(rows) == counts["kept"] + counts["dropped"]
    assert counts["kept"] == sum(row["kept"] for row in rows)
    assert len({(row["document"], row["unit"]) for row in rows}) == len(rows)
    held = [sum(row["document"] == at for row in rows) for at in range(len(texts))]
    assert result.documents["units"].to_pylist() == held
    lost = [sum(row["document"] == at and not row["kept"] for row in rows) for at in range(len(texts))]
    left = [units - gone for units, gone in zip(held, lost, strict=True)]
    assert result.documents["kept_units"].to_pylist() == left
    assert result.kept_rows.tolist() == [n > 0 or h == 0 for n, h in zip(left, held, strict=True)]
    # What is kept has no unit twice, and nothing was dropped that is not kept somewhere.
    kept = result.kept["text"].to_pylist()
    assert len(kept) == counts["kept_documents"]
    before = {frozenset(oracle.shingles(own)) for text in texts for own in text.split("\n") if own.strip()}
    after = [frozenset(oracle.shingles(own)) for text in kept for own in text.split("\n") if own.strip()]
    filled = [own for own in after if own]
    assert len(filled) == len(set(filled))
    for own in before - {frozenset()}:
        assert any(oracle.jaccard(own, other) > 0 for other in filled)


def corpus():
    draw = np.random.default_rng(5)
    words = [f"w{n}" for n in range(400)]
    pool = [" ".join(draw.choice(words, 12)) for _ in range(60)]
    return ["\n\n".join(pool[n] for n in draw.integers(0, 60, draw.integers(1, 5))) for _ in range(40)]


TEXTS = corpus()


def expected():
    """Paragraphs that have not come before, by hand."""
    seen, kept = set(), []
    for text in TEXTS:
        fresh = []
        for paragraph in text.split("\n\n"):
            if paragraph not in seen:
                seen.add(paragraph)
                fresh.append(paragraph)
        kept.append(fresh)
    return kept


def paragraphs(text):
    return [own for own in text.split("\n\n") if own.strip()]


def test_the_first_occurrence_of_every_paragraph_is_kept():
    result = la.dedup(TEXTS, unit="paragraph")
    assert [paragraphs(text) for text in result.kept] == [own for own in expected() if own]


def test_the_result_does_not_depend_on_threads_batches_or_arrival():
    ids = [f"d{at:02}" for at in range(len(TEXTS))]
    table = pa.table({"id": ids, "text": TEXTS})
    results = []
    for seed, engine in enumerate([la.LocalEngine(1), la.LocalEngine(2, batch_rows=7)]):
        order = np.random.default_rng(seed).permutation(len(TEXTS)) if seed else np.arange(len(TEXTS))
        # By length, since `first` looks at arrival.
        given = table.take(pa.array(order))
        result = la.dedup(given, id="id", unit="paragraph", keep="longest", engine=engine)
        results.append((list(result.clusters), list(result.pairs)))
    assert results[0] == results[1]


FRAMES = {
    "list": list,
    "Arrow array": lambda texts: pa.array(texts),
    "Arrow table": lambda texts: pa.table({"text": texts, "n": range(len(texts))}),
    "dictionary": lambda texts: pa.table({"text": pa.array(texts).dictionary_encode()}),
    "polars frame": lambda texts: polars.DataFrame({"text": texts, "n": range(len(texts))}),
    "polars series": lambda texts: polars.Series("t", texts),
    "pandas frame": lambda texts: pandas.DataFrame({"text": texts, "n": range(len(texts))}),
    "pandas series": lambda texts: pandas.Series(texts, name="t"),
}


@pytest.mark.parametrize("form", FRAMES)
def test_what_is_kept_is_of_the_kind_that_was_given(form):
    given = FRAMES[form](TEXTS)
    kept = la.dedup(given, unit="paragraph").kept
    assert isinstance(kept, type(given)) or (
        form == "Arrow array" and isinstance(kept, pa.ChunkedArray | pa.Array)
    )
    if "frame" in form or "table" in form:
        rows = (
            kept.to_pylist()
            if form == "Arrow table"
            else kept.to_dict("records")
            if "pandas" in form
            else kept.to_dicts()
        )
        assert [row["n"] for row in rows] == [at for at, own in enumerate(expected()) if own]
        texts = [row["text"] for row in rows]
    else:
        texts = kept["text"].to_pylist() if form == "dictionary" else list(kept)
        texts = [text.as_py() if hasattr(text, "as_py") else text for text in texts]
    assert [paragraphs(text) for text in texts] == [own for own in expected() if own]


def write_input(form, folder):
    rows = [{"n": at, "text": text, "x": 1.50} for at, text in enumerate(TEXTS)]
    match form:
        case "jsonl.gz":
            # A number that would not survive being parsed and written again.
            lines = "".join(json.dumps(row).replace("1.5", "1.50") + "\r\n" for row in rows)
            (folder / "in.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
        case "csv":
            with open(folder / "in.csv", "w", newline="") as file:
                writer = csv.DictWriter(file, ["n", "text", "x"])
                writer.writeheader()
                writer.writerows(rows)
        case "parquet":
            pq.write_table(pa.Table.from_pylist(rows), folder / "in.parquet", row_group_size=7)
        case "txt":
            for row in rows:
                (folder / f"{row['n']:02}.txt").write_text(row["text"])
    return folder


def read_kept(form, folder):
    match form:
        case "jsonl.gz":
            lines = gzip.decompress((folder / "in.jsonl.gz").read_bytes()).decode().splitlines(keepends=True)
            assert all(line.endswith('"x": 1.50}\r\n') for line in lines)
            return [json.loads(line)["text"] for line in lines]
        case "csv":
            with open(folder / "in.csv", newline="") as file:
                return [row["text"] for row in csv.DictReader(file)]
        case "parquet":
            return pq.read_table(folder / "in.parquet")["text"].to_pylist()
        case "txt":
            return [path.read_text() for path in sorted(folder.iterdir())]


@pytest.mark.parametrize("form", ["jsonl.gz", "csv", "parquet", "txt"])
def test_files_are_kept_in_the_format_they_came_in(form, tmp_path):
    (tmp_path / "in").mkdir()
    result = la.dedup(write_input(form, tmp_path / "in"), unit="paragraph")
    folder = result.write(tmp_path / "out")
    kept = read_kept(form, folder / "kept")
    assert [paragraphs(text) for text in kept] == [own for own in expected() if own]
    assert result.kept["text"].to_pylist() == kept
    documents = read_parquet(folder / "documents.parquet", kind="documents")[0]
    assert documents["kept"].to_pylist() == result.kept_rows.tolist()
    RunRecord.read(folder).verify(folder)


def test_rows_that_cannot_be_read_do_not_move_the_others(tmp_path):
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"text": text}) for text in TEXTS]
    path.write_text("\n".join([*lines[:3], "{broken", *lines[3:20], "{}", *lines[20:]]) + "\n")
    result = la.dedup(path, unit="paragraph", on_error="skip")
    folder = result.write(tmp_path / "out")
    kept = [json.loads(line)["text"] for line in (folder / "kept" / "in.jsonl").read_text().splitlines()]
    assert [paragraphs(text) for text in kept] == [own for own in expected() if own]
    assert result.counts["unreadable"] == 2


def test_an_unknown_unit_is_refused():
    with pytest.raises(OptionError, match="choose document, paragraph or line"):
        la.dedup(["a"], unit="sentence")
