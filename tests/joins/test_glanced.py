"""The sample that is kept while texts are read is the one that is drawn from them afterwards."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table
from lookalike.families import MinHash
from lookalike.joins import glanced
from lookalike.joins.glanced import Glancing, sample_rows
from lookalike.joins.items import Items
from lookalike.joins.sample import draw, least_glances
from lookalike.shingles import Shingle

ENGINE = LocalEngine(1)


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    monkeypatch.setattr(glanced, "SAMPLE_ROWS", 5)
    monkeypatch.setattr(glanced, "_ONE_IN", 10)
    monkeypatch.setattr(glanced, "_MOST_ROWS", 20)
    monkeypatch.setattr(glanced, "_WAITING", 8)


def table_of(texts: list[str], rows, cut: int) -> Table:
    batch = pa.record_batch({"row": pa.array(rows), "text": pa.array(texts, pa.large_string())})
    return Table([batch.slice(start, cut) for start in range(0, len(batch), cut)], batch.schema)


def kept_of(texts: list[str], *, cut: int, numbers=None, first=0, room=1 << 20, seed=0):
    """What is kept of texts, and the items they are."""
    arrived = table_of(texts, np.arange(first, first + len(texts)), cut)
    glancing = Glancing(seed, room)
    for batch in arrived.batches:
        glancing.add(batch)
    table = arrived if numbers is None else table_of(texts, numbers.astype(np.int64), cut)
    kept = glancing.kept(ENGINE, table, numbers, first)
    return kept, Items(table=table, bytes=1, shingle=Shingle.parse("words:2"), seed=seed)


@settings(max_examples=100, deadline=None)
@given(
    words=st.lists(st.integers(0, 60), max_size=300),
    cut=st.integers(1, 100),
    seed=st.integers(0, 3),
    shuffled=st.booleans(),
)
def test_what_is_kept_on_the_way_is_what_a_passage_finds(words, cut, seed, shuffled):
    texts = [f"some words {word} and {word % 7} more" for word in words]
    numbers = np.random.default_rng(seed).permutation(len(texts)).astype(np.uint32) if shuffled else None
    kept, items = kept_of(texts, cut=cut, seed=seed, numbers=numbers)
    if kept is None:
        return
    glances, rows = least_glances(ENGINE, items, sample_rows(len(texts)))
    assert kept.glances.tolist() == glances.tolist()
    assert kept.rows.tolist() == rows.tolist()
    assert kept.table.column("row").tolist() == sorted(rows.tolist())


def test_a_sample_that_was_kept_is_drawn_without_the_table():
    texts = [f"words {number} and {number * number} so on" for number in range(400)]
    kept, items = kept_of(texts, cut=30)
    assert kept is not None
    family = MinHash(slots=16)
    drawn = draw(ENGINE, items, family)
    knowing = Items(table=items.table, bytes=1, shingle=items.shingle, glanced=kept)
    assert knowing.holding(np.array(drawn.rows)) is kept.table
    assert draw(ENGINE, knowing, family) == drawn


def test_a_sample_of_another_table_or_hash_is_not_used():
    texts = [f"words {number}" for number in range(40)]
    kept, items = kept_of(texts, cut=30)
    other = Table(tuple(items.table.batches), items.table.schema)
    assert Items(table=items.table, bytes=1, shingle=items.shingle, glanced=kept).kept_sample is kept
    assert Items(table=other, bytes=1, shingle=items.shingle, glanced=kept).kept_sample is None
    assert Items(table=items.table, bytes=1, shingle=items.shingle, seed=1, glanced=kept).kept_sample is None


def test_rows_outside_the_sample_are_looked_up_in_the_table():
    kept, items = kept_of([f"words {number}" for number in range(40)], cut=30)
    assert kept is not None
    knowing = Items(table=items.table, bytes=1, shingle=items.shingle, glanced=kept)
    outside = np.setdiff1d(np.arange(40), kept.rows)
    assert knowing.holding(outside[:1]) is items.table


def test_texts_too_large_to_keep_are_given_up():
    texts = [f"{number} " + "word " * 100 for number in range(50)]
    assert kept_of(texts, cut=10, room=1000)[0] is None
    assert kept_of(texts, cut=10, room=10_000)[0] is not None


def test_a_first_part_that_kept_too_little_is_noticed(monkeypatch):
    # Without any to spare, the sample of many rows needs some that the sample of the first did not have.
    texts = [f"words {number}" for number in range(400)]
    monkeypatch.setattr(glanced, "_ONE_IN", 3)
    monkeypatch.setattr(glanced, "_MOST_ROWS", 1000)
    monkeypatch.setattr(glanced, "_SPARE", 1)
    outcomes = {seed: kept_of(texts, cut=9, seed=seed) for seed in range(10)}
    assert any(kept is None for kept, _ in outcomes.values())
    for kept, items in outcomes.values():
        if kept is not None:
            _, rows = least_glances(ENGINE, items, sample_rows(len(texts)))
            assert kept.rows.tolist() == rows.tolist()
