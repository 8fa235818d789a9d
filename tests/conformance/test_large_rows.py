"""A row larger than the memory budget is an error that names it, whatever road is taken."""

import json
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import lookalike as la
from lookalike.applications.documents.options import Method
from lookalike.engines import LocalEngine
from lookalike.errors import RowTooLargeError

METHODS = get_args(Method)
BUDGET = 16_000_000
#: Larger than the budget as a text, and so is the set of its shingles or of its tokens.
WORDS = " ".join(map(str, range(2_600_000)))
SHORT = [f"a few words of document {at} and some more of number {at // 2}" for at in range(40)]
SETS = [f"{at} {at + 1} {at + 2} {at // 3}" for at in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    documents = [*SHORT[:20], WORDS, *SHORT[20:]]
    lines = [json.dumps({"name": f"d{at}", "text": text}) for at, text in enumerate(documents)]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    (folder / "small.jsonl").write_text("\n".join(line for at, line in enumerate(lines) if at != 20))
    (folder / "sets.txt").write_text("\n".join([*SETS[:20], WORDS, *SETS[20:]]))
    (folder / "small.txt").write_text("\n".join(SETS))
    names = [f"d{at}" for at in range(len(documents))]
    pa.parquet.write_table(pa.table({"name": names, "text": documents}), folder / "docs.parquet")
    edges = [f"u{at // 3},{at}" for at in range(60)] + [f"huge,{at}" for at in range(2_600_000)]
    (folder / "edges.csv").write_text("user,item\n" + "\n".join(edges))
    return folder


def refused(job, name):
    """The job names the row and says how much would do."""
    with pytest.raises(RowTooLargeError) as raised:
        job(LocalEngine(2, memory=BUDGET))
    error = raised.value
    assert set(error.names) == {name}
    assert str(error).startswith(f"{name} takes about ")
    assert error.needed > BUDGET
    assert error.enough > error.needed


@pytest.mark.parametrize("method", METHODS)
def test_documents_on_every_road(folder, method):
    options = {"id": "name", "method": method, "threshold": 0.6}
    refused(lambda engine: la.dedup(folder / "docs.jsonl", engine=engine, **options), "d20")
    refused(lambda engine: la.dedup(folder / "docs.parquet", engine=engine, **options), "d20")
    refused(lambda engine: la.similar_pairs(folder / "docs.jsonl", engine=engine, **options), "d20")
    for pair in (("small", "docs"), ("docs", "small")):
        two = [folder / f"{name}.jsonl" for name in pair]
        refused(lambda engine, two=two: la.similar_pairs(*two, engine=engine, **options), "d20")


@pytest.mark.parametrize("method", METHODS)
def test_sets_on_every_road(folder, method):
    options = {"method": method, "threshold": 0.6}
    place = f"{folder / 'sets.txt'}:20"
    given = la.read_sets(folder / "sets.txt")
    refused(lambda engine: la.similar_pairs(given, engine=engine, **options), place)
    other = la.read_sets(folder / "small.txt")
    refused(lambda engine: la.similar_pairs(other, given, engine=engine, **options), place)
    edges = la.read_sets(folder / "edges.csv", of="user", items="item")
    refused(lambda engine: la.similar_pairs(edges, engine=engine, **options), "huge")


@pytest.mark.parametrize("method", ["auto", "exact", "lsh"])
def test_the_most_similar(folder, method):
    refused(lambda engine: la.top(folder / "docs.jsonl", id="name", method=method, engine=engine), "d20")
    sets = la.read_sets(folder / "sets.txt")
    refused(lambda engine: la.top(sets, method=method, engine=engine), f"{folder / 'sets.txt'}:20")


def test_meaning_strings_and_weights(folder):
    docs = folder / "docs.jsonl"
    refused(lambda engine: la.similar_strings(docs, id="name", distance=2, engine=engine), "d20")
    refused(
        lambda engine: la.similar_pairs(docs, id="name", measure="tfidf", threshold=0.5, engine=engine), "d20"
    )
    bags = la.read_sets(folder / "sets.txt")
    for measure in ("weighted-jaccard", "weighted-cosine"):
        refused(
            lambda engine, measure=measure: la.similar_pairs(
                bags, measure=measure, threshold=0.5, engine=engine
            ),
            f"{folder / 'sets.txt'}:20",
        )


@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_units(folder, unit):
    refused(lambda engine: la.dedup(folder / "docs.jsonl", id="name", unit=unit, engine=engine), "d20")


@pytest.mark.parametrize("method", ["lsh", "prefix"])
def test_appending(folder, method, tmp_path):
    small = la.dedup(folder / "small.jsonl", id="name", method=method)
    small.write(tmp_path / "run")
    more = tmp_path / "more.jsonl"
    more.write_text(json.dumps({"name": "new", "text": WORDS}))
    refused(
        lambda engine: la.dedup(more, id="name", method=method, against=tmp_path / "run", engine=engine),
        "new",
    )


@pytest.mark.parametrize("method", ["signature", "divide", "prefix"])
def test_earlier_documents(folder, method, tmp_path):
    roomy = LocalEngine(2, memory=2**30)
    whole = la.dedup(folder / "docs.jsonl", id="name", method=method, engine=roomy)
    whole.write(tmp_path / "run")
    more = tmp_path / "more.jsonl"
    more.write_text(json.dumps({"name": "new", "text": "a few words of a document"}))
    refused(
        lambda engine: la.dedup(more, id="name", method=method, against=tmp_path / "run", engine=engine),
        "d20",
    )


@pytest.mark.parametrize("method", ["prefix", "divide", "pyramid"])
def test_a_document_that_fits_and_whose_set_does_not(tmp_path, method):
    """A shingle takes eight bytes, whatever its text."""
    digits = "".join(str(at) for at in range(500_000))
    lines = [json.dumps({"name": f"d{at}", "text": text}) for at, text in enumerate([*SHORT, digits])]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines))
    options = {"id": "name", "shingle": "chars:9", "method": method, "threshold": 0.6}
    refused(lambda engine: la.dedup(tmp_path / "docs.jsonl", engine=engine, **options), "d40")


def test_vectors_and_bits(tmp_path):
    wide = np.random.default_rng(1).normal(size=(2, 4_100_000)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", wide)
    np.save(tmp_path / "bits.npy", wide.view(np.uint8))
    vectors, bits = tmp_path / "vectors.npy", tmp_path / "bits.npy"
    for method in ("lsh", "exact"):
        options = {"measure": "angle", "threshold": "20deg", "method": method}
        refused(lambda engine, o=options: la.similar_pairs(vectors, engine=engine, **o), "row 0")
    refused(lambda engine: la.similar_bits(bits, threshold=3, engine=engine), f"{bits}:0")
