"""The same answer however little memory there is: every road, from 16 MB down to where nothing fits."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance import texts
from tests.joins import roads

import lookalike as la
from lookalike.bands import buckets
from lookalike.engines import LocalEngine, Table, memory
from lookalike.families import MinHash
from lookalike.joins.agree import agree
from lookalike.joins.divide import divide
from lookalike.joins.external import external
from lookalike.joins.pair_tables import columns_of
from lookalike.joins.prefix import prefix_join
from lookalike.joins.pyramid import pyramid
from lookalike.joins.strings import edit_join
from lookalike.measures.overlap import overlap_measure
from lookalike.runs.watch import Watch

#: With a few thousand bytes everything is on disk, groups are dealt out again and again, and few rows are
#: within reach at a time; rows must still fit one by one. 16 MB is the least that a user may ask for.
BUDGETS = [50_000, 400_000, 16_000_000]


@pytest.fixture(autouse=True)
def any_budget(monkeypatch):
    monkeypatch.setattr(memory, "LEAST", 0)


def engines(threads=(1, 2), budgets=BUDGETS):
    return [LocalEngine(count, memory=size) for size in budgets for count in threads]


def spills(engine):
    """Whether an engine put something on disk."""
    file = engine.budget._shared
    return file is not None


ROADS = {
    "divide": (divide, {"measure": overlap_measure("jaccard"), "threshold": 0.3}),
    "divide, common left out": (
        divide,
        {"measure": overlap_measure("jaccard"), "threshold": 0.3, "common": 20},
    ),
    "divide, containment": (divide, {"measure": overlap_measure("containment"), "threshold": 0.6}),
    "agree, pieces": (agree, {"family": MinHash(slots=24), "threshold": 0.4, "way": "pieces"}),
    "agree, blocks": (agree, {"family": MinHash(slots=24), "threshold": 0.4, "way": "blocks"}),
    "external": (external, {"family": MinHash(slots=24), "threshold": 0.4}),
    "pyramid": (pyramid, {"threshold": 0.7, "seed": 3}),
    "prefix": (prefix_join, {"measure": overlap_measure("jaccard"), "threshold": 0.3}),
    "prefix, overlap": (prefix_join, {"measure": overlap_measure("overlap"), "threshold": 2}),
}


def found(road, items, engine, options):
    pairs = road(items, engine=engine, watch=Watch(), **options)
    return pairs.a.tolist(), pairs.b.tolist(), pairs.similarity.tolist()


@pytest.mark.parametrize("name", ROADS)
@pytest.mark.parametrize("collection", roads.ADVERSARIAL)
def test_roads_over_hostile_collections(name, collection):
    road, options = ROADS[name]
    sets = roads.ADVERSARIAL[collection]
    for boundary, threads in ((None, 1), (len(sets) // 3, 2)):
        items = roads.items_of(sets, boundary=boundary, shuffle=3)
        expected = found(road, items, LocalEngine(1), options)
        engine = LocalEngine(threads, memory=200_000 if "giant" in collection else 60_000)
        assert found(road, items, engine, options) == expected


@pytest.mark.parametrize("name", ROADS)
def test_roads_over_families_of_sets(name):
    road, options = ROADS[name]
    items = roads.items_of(roads.edited(180, 5) + roads.power_law(30, 6), cut=50, shuffle=1)
    expected = found(road, items, LocalEngine(2), options)
    assert len(expected[0]) > 20
    for engine in (
        LocalEngine(threads, memory=size) for threads, size in zip((1, 2, 2), BUDGETS, strict=True)
    ):
        on_disk = Table.together([engine.scan(items.table.batches, items.table.schema)])
        spilled = items.__class__(**{**items.__dict__, "table": on_disk})
        assert found(road, spilled, engine, options) == expected
        if engine.budget.size == BUDGETS[0]:
            assert spills(engine)
            assert not on_disk.batches.at_hand


@settings(max_examples=25)
@given(
    sets=st.builds(
        roads.power_law, st.integers(0, 60), st.integers(0, 10**6), universe=st.sampled_from([6, 60])
    ),
    name=st.sampled_from(sorted(ROADS)),
    size=st.sampled_from([16_000, 40_000, 100_000]),
    threads=st.sampled_from([1, 2]),
)
def test_roads_over_drawn_collections(sets, name, size, threads):
    road, options = ROADS[name]
    items = roads.items_of(sets, cut=9)
    engine = LocalEngine(threads, memory=size)
    assert found(road, items, engine, options) == found(road, items, LocalEngine(1), options)


@pytest.mark.parametrize("distance", [1, 3])
def test_strings_within_edits(distance):
    draw = np.random.default_rng(4)
    words = ["".join(draw.choice(list("abcd"), draw.integers(0, 12))) for _ in range(400)]
    words += ["", "", "a", "x" * 300, "x" * 299]
    whole = Table.of(row=np.arange(len(words)), text=pa.array(words, pa.large_string()))

    def near(engine):
        strings = engine.scan(
            [whole.batches[0].slice(at, 30) for at in range(0, len(words), 30)], whole.schema
        )
        pairs = edit_join(strings, distance=distance, engine=engine, watch=Watch())
        return [column.tolist() for column in columns_of(pairs.pairs)]

    expected = near(LocalEngine(1))
    assert len(expected[0]) > 30
    for engine in engines():
        assert near(engine) == expected


# The main road


def documents():
    rows = texts.families(30, seed=3)
    rows += [texts.dressed(rows[at], at) for at in range(0, len(rows), 4)]
    rows += texts.joined(texts.variants(texts.prose(80, 9), 40, 9))
    rows += ["the very same words in every one of these"] * 150
    return [*rows, "", "...", "just three words", "Just three words!", "", " ".join(texts.prose(400, 77))]


DOCS = documents()


@pytest.fixture(params=[64, 4], ids=["default", "small"])
def large(request, monkeypatch):
    """With and without large buckets on the way."""
    monkeypatch.setattr(buckets, "LARGE", request.param)


def said(result):
    parts = [result.clusters.to_arrow().to_pylist(), result.pairs.to_arrow().to_pylist()]
    return (
        *parts,
        result.samples.to_pylist(),
        result.counts,
        result.account.to_dict(),
        result.kept_rows.tolist(),
    )


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("options", [{}, {"verify": "signature"}, {"group": "star"}, {"unit": "line"}])
def test_deduplication_of_files(options, tmp_path):
    """Files, for what is in memory anyway stays there."""
    order = np.random.default_rng(2).permutation(len(DOCS)).tolist()
    table = pa.table({"id": [f"d{at:04}" for at in order], "text": [DOCS[at] for at in order]})
    pa.parquet.write_table(table, tmp_path / "docs.parquet", row_group_size=50)

    def answer(engine):
        return said(la.dedup(tmp_path / "docs.parquet", id="id", threshold=0.5, engine=engine, **options))

    expected = answer(LocalEngine(1))
    for engine in engines():
        assert answer(engine) == expected
        assert engine.budget.held == 0
        if engine.budget.size == BUDGETS[0]:
            assert spills(engine)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("copies", ["all", "stars"])
def test_pairs_of_two_collections_of_files(copies, tmp_path):
    for name, some in (("one", DOCS[::2]), ("two", DOCS[1::2])):
        pa.parquet.write_table(pa.table({"text": some}), tmp_path / f"{name}.parquet")

    def answer(engine):
        pairs = la.similar_pairs(
            tmp_path / "one.parquet", tmp_path / "two.parquet", threshold=0.5, copies=copies, engine=engine
        )
        return pairs.to_arrow().to_pylist(), pairs.account.to_dict()

    expected = answer(LocalEngine(2))
    assert len(expected[0]) > 30
    for engine in engines():
        assert answer(engine) == expected


@pytest.mark.parametrize("collection", roads.ADVERSARIAL)
def test_pairs_of_hostile_sets(collection):
    sets = [sorted(row) for row in roads.ADVERSARIAL[collection]]
    if not sets:
        return
    expected = la.similar_pairs(sets, threshold=0.5, engine=LocalEngine(1)).to_arrow()
    for engine in engines(budgets=[200_000 if "giant" in collection else 20_000]):
        assert la.similar_pairs(sets, threshold=0.5, engine=engine).to_arrow() == expected


@pytest.mark.parametrize("measure", ["weighted-jaccard", "weighted-cosine"])
@pytest.mark.parametrize("two", [False, True])
def test_weighted_sets_are_joined_exactly_on_any_budget(measure, two):
    sets = roads.power_law(400, seed=5)
    rows = [{item: 1.0 + (item * 7 + row // 3) % 5 for item in held} for row, held in enumerate(sets)]
    given = [rows[:150], rows[150:]] if two else [rows]

    def pairs(engine):
        found = la.similar_pairs(*given, measure=measure, threshold=0.5, method="exact", engine=engine)
        return found.to_arrow(), found.account

    expected = pairs(LocalEngine(1))
    assert len(expected[0]) > 100
    for engine in engines():
        assert pairs(engine) == expected
        assert spills(engine) or engine.budget.size > 400_000
