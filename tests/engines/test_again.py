"""Rows that lie in a source come as they came, under any numbers, from anywhere, without a copy on disk."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table, renumbered
from lookalike.engines.again import InSource, leave_in_source
from lookalike.engines.memory import LEAST, Budget
from lookalike.engines.spill import Spilled, in_order
from lookalike.engines.verbs import as_it_is
from lookalike.errors import InternalError

SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.large_string())])


class Files:
    """Texts in files of so many rows each, read in batches of so many; counts the rows it reads."""

    def __init__(self, rows: int, in_file: int, in_batch: int) -> None:
        self.texts = [f"text {row} " + "x" * (row % 7) for row in range(rows)]
        self._in_file, self._in_batch = in_file, in_batch
        self.read_rows = 0

    def begins(self, row: int) -> int:
        return row - row % self._in_file

    def read(self, start: int):
        for row in range(self.begins(start), len(self.texts), self._in_batch):
            texts = self.texts[row : row + self._in_batch]
            self.read_rows += len(texts)
            if row + len(texts) > start:
                yield pa.record_batch({"text": pa.array(texts[max(0, start - row) :], pa.large_string())})

    def numbered(self, first: int = 0):
        done = 0
        for batch in self.read(0):
            rows = np.arange(first + done, first + done + len(batch))
            yield pa.record_batch([pa.array(rows), batch["text"]], schema=SCHEMA)
            done += len(batch)


def small_budget(size: int = 1000) -> Budget:
    budget = Budget(LEAST)
    budget.size = size
    return budget


def lying(files: Files, most: int = 100, first: int = 0) -> Table:
    table = leave_in_source(files.numbered(first), SCHEMA, files, small_budget(), most)
    assert all(isinstance(piece, InSource) for piece in table.batches.pieces)
    files.read_rows = 0
    return table


@settings(max_examples=60, deadline=None)
@given(
    in_file=st.integers(1, 60),
    in_batch=st.integers(1, 60),
    most=st.integers(1, 900),
    touched=st.lists(st.integers(0, 1000)),
)
def test_batches_come_back_as_they_were_however_they_are_read(in_file, in_batch, most, touched):
    files = Files(100, in_file, in_batch)
    table = lying(files, most, first=7)
    rows = [pair for batch in table.batches for pair in zip(*batch.to_pydict().values(), strict=True)]
    assert rows == list(zip(range(7, 107), files.texts, strict=True))
    whole = list(table.batches)
    some = [place % len(whole) for place in touched]
    assert [*in_order(table.batches.pieces[place] for place in some)] == [whole[place] for place in some]
    assert [table.batches[place] for place in some] == [whole[place] for place in some]


def test_a_passage_reads_every_row_once():
    files = Files(100, in_file=10, in_batch=5)
    table = lying(files)
    assert sum(len(batch) for batch in table.batches) == files.read_rows == 100


def test_files_that_nobody_asks_for_are_not_read():
    files = Files(100, in_file=10, in_batch=5)
    table = lying(files, most=1)
    texts = [batch["text"][0].as_py() for batch in in_order(table.batches.pieces[row] for row in (3, 4, 57))]
    assert texts == [files.texts[row] for row in (3, 4, 57)]
    assert files.read_rows == 5 + 10


def test_what_fits_memory_stays_there_and_what_does_not_leaves_all_of_it_to_others():
    files = Files(20, in_file=20, in_batch=5)
    roomy = small_budget(100_000)
    table = leave_in_source(files.numbered(), SCHEMA, files, roomy, 100)
    assert table.batches.at_hand
    assert roomy.held == table.batches.nbytes
    tight = small_budget(int(2 * table.batches.nbytes - 2))
    assert not leave_in_source(files.numbered(), SCHEMA, files, tight, 100).batches.at_hand
    assert tight.held == 0
    crowded = small_budget(int(2 * table.batches.nbytes + 20))
    aside = crowded.set_aside()
    batches = files.numbered()

    def growing():
        yield from batches
        aside.grow(50)

    assert not leave_in_source(growing(), SCHEMA, files, crowded, 100).batches.at_hand


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_fetched_by_the_numbers_they_got_later(threads, tmp_path):
    files = Files(500, in_file=50, in_batch=20)
    engine = LocalEngine(threads, memory=LEAST, scratch=tmp_path)
    engine.budget.size = 8000
    table = engine.scan(files.numbered(), SCHEMA, again=files)
    numbers = np.random.default_rng(1).permutation(500).astype(np.uint32)
    shuffled = renumbered(table, numbers)
    assert shuffled is not None
    asked = np.random.default_rng(2).integers(0, 500, 300)

    def texts(batch, held):
        views = [text for part in held.batches for text in part["text"].to_pylist()]
        found = [views[place] for place in held.at(batch["row"].to_numpy())]
        return pa.record_batch({"row": batch["row"], "text": pa.array(found, pa.large_string())})

    fetched = engine.fetch(shuffled, Table.of(row=asked), ("row",), texts)
    arrived = np.argsort(numbers)
    assert fetched.column("row").tolist() == asked.tolist()
    assert fetched.column("text").tolist() == [files.texts[arrived[row]] for row in asked]
    mapped = engine.map(shuffled, as_it_is)
    assert mapped.column("row").tolist() == numbers.tolist()
    assert any(isinstance(piece, Spilled) for piece in mapped.batches.pieces)


def test_rows_that_are_at_hand_are_not_renumbered_here():
    files = Files(20, in_file=20, in_batch=5)
    table = leave_in_source(files.numbered(), SCHEMA, files, small_budget(100_000), 100)
    assert renumbered(table, np.arange(20, dtype=np.uint32)) is None


def test_a_source_that_has_become_shorter_is_an_error():
    files = Files(20, in_file=20, in_batch=5)
    table = lying(files)
    files.texts = files.texts[:12]
    with pytest.raises(InternalError, match="ended at row 12"):
        list(table.batches)
