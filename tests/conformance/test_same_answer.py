"""The same answer whatever the threads, the batches, the order of rows and the form of the input."""

import random

import pandas
import polars
import pyarrow as pa
import pytest
from tests.conformance import texts

import lookalike as la
from lookalike.applications import batching
from lookalike.bands import buckets


def documents():
    """Families, exact copies in other dress, a template with many variants, empty and short texts."""
    rows = texts.families(25, seed=3)
    rows += [texts.dressed(rows[at], at) for at in range(0, len(rows), 4)]
    rows += texts.joined(texts.variants(texts.prose(80, 9), 30, 9))
    return [*rows, "", "...", "just three words", "Just three words!"]


DOCS = documents()
STARS = [(at * 37) % 11 for at in range(len(DOCS))]


def table(ids, order=None):
    order = range(len(DOCS)) if order is None else order
    return pa.table(
        {
            "id": [ids[at] for at in order],
            "text": [DOCS[at] for at in order],
            "stars": [STARS[at] for at in order],
        }
    )


def by_id(frame):
    """Rows in the order of their ids; everything else as it is."""
    return sorted(
        frame.to_arrow().to_pylist(), key=lambda row: [row[name] for name in ("id", "a", "b") if name in row]
    )


def answer(docs, *, counts=True, **options):
    """Everything a run says, in an order of its own."""
    result = la.dedup(docs, threshold=0.5, **options)
    said = (by_id(result.clusters), by_id(result.pairs), result.samples.to_pylist())
    return (*said, result.counts, result.account.to_dict()) if counts else said


@pytest.fixture(params=[64, 4], ids=["default", "small"])
def large(request, monkeypatch):
    """With and without large buckets on the way."""
    monkeypatch.setattr(buckets, "LARGE", request.param)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("verify", ["exact", "signature"])
def test_threads_and_sizes_of_batches_do_not_matter(monkeypatch, verify):
    expected = answer(DOCS, engine=la.LocalEngine(1), verify=verify)
    assert len(expected[1]) > 30
    for threads, batch_rows, batch_bytes in [
        (2, 1 << 16, 4 << 20),
        (1, 1, 1),
        (2, 3, 2000),
        (2, 40, 100),
        (1, 70, 1),
    ]:
        monkeypatch.setattr(batching, "BATCH_BYTES", batch_bytes)
        engine = la.LocalEngine(threads, batch_rows=batch_rows)
        assert answer(DOCS, engine=engine, verify=verify) == expected, (threads, batch_rows, batch_bytes)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    "ids", [[f"id{at * 7 % 1000:03}" for at in range(len(DOCS))], range(1000, 1000 + len(DOCS))]
)
@pytest.mark.parametrize("keep", ["longest", "max:stars"])
@pytest.mark.parametrize("group", ["components", "star"])
def test_the_order_of_rows_does_not_matter(ids, keep, group):
    expected = answer(table(ids), id="id", keep=keep, group=group)
    for seed in (1, 2):
        order = random.Random(seed).sample(range(len(DOCS)), len(DOCS))
        assert answer(table(ids, order), id="id", keep=keep, group=group) == expected


def test_keep_first_looks_at_order_and_at_nothing_else():
    ids = [f"id{at}" for at in range(len(DOCS))]
    order = random.Random(1).sample(range(len(DOCS)), len(DOCS))
    arrived = {ids[at]: place for place, at in enumerate(order)}
    one = la.dedup(table(ids), id="id", threshold=0.5)
    two = la.dedup(table(ids, order), id="id", threshold=0.5)
    assert by_id(one.pairs) == by_id(two.pairs)
    assert [row["cluster"] for row in by_id(one.clusters)] == [row["cluster"] for row in by_id(two.clusters)]
    for row in two.clusters:
        members = [other["id"] for other in two.clusters if other["cluster"] == row["cluster"]]
        assert row["representative"] == min(members, key=arrived.get)


def test_ids_are_names_and_nothing_more():
    """Ids in the order of the rows, as numbers or as strings, give the answer that row numbers give."""
    expected = answer(DOCS)
    assert answer(table(range(len(DOCS))), id="id") == expected
    strings = answer(table([f"{at:05}" for at in range(len(DOCS))]), id="id")
    ends = [[(int(row["a"]), int(row["b"])) for row in pairs] for pairs in (strings[1], expected[1])]
    assert ends[0] == ends[1]
    assert strings[3:] == expected[3:]


FORMS = {
    "arrow array": lambda: pa.array(DOCS),
    "large strings": lambda: pa.array(DOCS, pa.large_string()),
    "slice": lambda: pa.array(["before", *DOCS, "after"]).slice(1, len(DOCS)),
    "chunks": lambda: pa.chunked_array([DOCS[:3], [], DOCS[3:50], DOCS[50:]], pa.string()),
    "arrow table": lambda: pa.table({"text": DOCS}),
    "record batch": lambda: pa.record_batch({"text": DOCS}),
    "polars frame": lambda: polars.DataFrame({"text": DOCS}),
    "polars column": lambda: polars.Series(DOCS),
    "pandas frame": lambda: pandas.DataFrame({"text": DOCS}),
    "pandas column": lambda: pandas.Series(DOCS),
    "tuple": lambda: tuple(DOCS),
}


@pytest.mark.parametrize("frame", [polars.DataFrame, pandas.DataFrame])
@pytest.mark.parametrize(
    "ids", [[f"id{at * 7 % 1000:03}" for at in range(len(DOCS))], range(1000, 1000 + len(DOCS))]
)
def test_frames_with_ids_give_what_arrow_gives(frame, ids):
    expected = table(ids)
    said = answer(frame(expected.to_pydict()), id="id", keep="max:stars")
    assert said == answer(expected, id="id", keep="max:stars")


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_the_input_does_not_matter(form):
    assert answer(FORMS[form]()) == answer(DOCS)


def test_a_table_read_back_from_an_ipc_file_gives_the_same(tmp_path):
    whole = pa.table({"text": DOCS})
    with pa.OSFile(str(tmp_path / "docs.arrow"), "wb") as sink, pa.ipc.new_file(sink, whole.schema) as writer:
        writer.write_table(whole, max_chunksize=7)
    with pa.memory_map(str(tmp_path / "docs.arrow")) as mapped:
        assert answer(pa.ipc.open_file(mapped).read_all()) == answer(DOCS)


@pytest.mark.parametrize("copies", ["all", "stars"])
def test_pairs_between_two_collections_do_not_depend_on_batches(monkeypatch, copies):
    monkeypatch.setattr(buckets, "LARGE", 6)
    first, second = DOCS[::2], DOCS[1::2]
    expected = by_id(la.similar_pairs(first, second, threshold=0.5, copies=copies, threads=1))
    assert len(expected) > 30
    for threads, batch_rows in [(2, 1 << 16), (2, 1), (1, 5)]:
        engine = la.LocalEngine(threads, batch_rows=batch_rows)
        assert by_id(la.similar_pairs(first, second, threshold=0.5, copies=copies, engine=engine)) == expected


def test_another_seed_finds_the_same_where_nothing_is_missed_and_draws_other_hashes():
    one, two = (
        la.similar_pairs(DOCS, threshold=0.5, recall=0.9999, seed=seed) for seed in (0, 12345678901234567890)
    )
    assert by_id(one) == by_id(two)
    missed = [
        # To a banding of one's own no bands are added, however little it finds.
        {(r["a"], r["b"]) for r in la.similar_pairs(DOCS, threshold=0.5, bands=1, rows=4, seed=seed)}
        for seed in (0, 1)
    ]
    assert missed[0] != missed[1]
