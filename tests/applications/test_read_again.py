"""Texts that are read again give the answer that texts in memory give; a file that changes is an error."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike import dedup, similar_pairs
from lookalike.engines import LocalEngine
from lookalike.engines.again import InSource
from lookalike.engines.memory import LEAST
from lookalike.errors import SourceError
from lookalike.io import open_source
from lookalike.theory import plan

ROWS, IN_FILE = 320, 90


@pytest.fixture
def folder(tmp_path):
    """Files of documents; of ten, one is a copy, one a variant, one empty; ids are in no order."""
    draws = np.random.default_rng(5)
    words = np.array([f"w{number}" for number in range(5000)])
    texts: list[str] = []
    for row in range(ROWS):
        if row % 10 == 7:
            texts.append(texts[draws.integers(0, row)])
        elif row % 10 == 8:
            texts.append(texts[row - row % 10] + " other")
        else:
            texts.append("" if row % 10 == 9 else " ".join(draws.choice(words, 60)))
    ids = draws.permutation(ROWS)
    home = tmp_path / "documents"
    home.mkdir()
    for start in range(0, ROWS, IN_FILE):
        part = slice(start, start + IN_FILE)
        table = pa.table({"id": ids[part], "text": texts[part]})
        pq.write_table(table, home / f"{start:05}.parquet", row_group_size=64)
    return home


def tight(threads: int, scratch) -> LocalEngine:
    """An engine in whose memory nothing fits."""
    engine = LocalEngine(threads, memory=LEAST, scratch=scratch)
    engine.budget.size = 60_000
    return engine


@pytest.mark.parametrize(
    ("threads", "id_column", "options"),
    [
        (1, "id", {"method": "lsh"}),
        (2, None, {"method": "lsh"}),
        (2, "id", {"method": "lsh", "verify": "signature"}),
        (2, "id", {"method": "prefix"}),
        (2, "id", {}),
    ],
)
def test_texts_that_stay_in_their_files_give_the_same_answer(folder, tmp_path, threads, id_column, options):
    roomy = dedup(folder, id=id_column, **options)
    result = dedup(folder, id=id_column, engine=tight(threads, tmp_path), **options)
    lying = result.search.collections[0].table.batches
    assert all(isinstance(piece, InSource) for piece in lying.pieces)
    assert result.clusters.to_arrow() == roomy.clusters.to_arrow()
    assert result.pairs.to_arrow() == roomy.pairs.to_arrow()
    assert result.samples == roomy.samples
    assert result.counts == roomy.counts


def test_two_collections_that_stay_in_their_files_give_the_same_answer(folder, tmp_path):
    one, other = sorted(folder.iterdir())[:2]
    roomy = similar_pairs(one, other, id="id", method="lsh")
    assert roomy.to_arrow().num_rows > 0
    found = similar_pairs(one, other, id="id", method="lsh", engine=tight(2, tmp_path))
    assert found.to_arrow() == roomy.to_arrow()


@pytest.mark.parametrize("rows", [0, 1, 89, 90, 91, 200, 319])
def test_a_scan_goes_on_from_any_row(folder, rows):
    source = open_source(folder, id="id")
    whole = pa.Table.from_batches(list(source.scan()))
    assert pa.Table.from_batches(list(source.scan_from(rows, 4000))) == whole.slice(rows)
    assert source.scan_begins(rows) == rows - rows % IN_FILE


def test_rows_that_cannot_be_read_are_left_out_again(folder):
    table = pa.table({"id": pa.array([1000, None, 1002]), "text": ["one", "two", "three"]})
    pq.write_table(table, folder / "00050.parquet")
    source = open_source(folder, id="id", on_error="skip")
    whole = pa.Table.from_batches(list(source.scan()))
    assert source.unreadable.rows == 1
    assert pa.Table.from_batches(list(source.scan_from(91))) == whole.slice(91)
    assert source.unreadable.rows == 1


def test_lists_pipes_and_lines_of_json_are_not_read_again(tmp_path):
    (tmp_path / "lines.jsonl").write_text('{"text": "a"}\n')
    assert not open_source(tmp_path / "lines.jsonl").can_scan_on()
    assert not open_source(["a"]).can_scan_on()


@pytest.mark.parametrize("row", [0, 1, 3, 4, 5, 9, 10])
def test_what_has_no_faster_way_is_passed_over_up_to_the_row(row):
    texts = [f"text {number}" for number in range(10)]
    source = open_source(texts)
    found = [text for batch in source.scan_from(row, 28) for text in batch["text"].to_pylist()]
    assert found == texts[row:]


def test_a_file_that_changes_while_it_is_in_use_is_an_error(folder, tmp_path, monkeypatch):
    def touch_and_plan(*arguments, **options):
        os.utime(folder / "00090.parquet", ns=(1, 1))
        return plan(*arguments, **options)

    monkeypatch.setattr("lookalike.joins.prepare.plan", touch_and_plan)
    with pytest.raises(SourceError, match=r"00090\.parquet was changed while it was being read"):
        dedup(folder, id="id", method="lsh", engine=tight(2, tmp_path))


def test_a_file_that_has_other_rows_is_an_error(folder):
    source = open_source(folder, id="id")
    rows = source.read
    assert rows == ROWS
    path = folder / "00090.parquet"
    before = path.stat()
    shorter = pq.read_table(path).slice(0, 50)
    pq.write_table(shorter, path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(SourceError, match=r"00090\.parquet was changed"):
        list(source.scan_from(0))


def test_a_file_that_changes_while_it_is_read_again_is_an_error(folder):
    source = open_source(folder, id="id")
    assert source.read == ROWS
    passage = source.scan_from(0, 4000)
    next(passage)
    os.utime(folder / "00000.parquet", ns=(1, 1))
    with pytest.raises(SourceError, match=r"00000\.parquet was changed while it was being read"):
        list(passage)


def test_damage_that_was_not_there_before_is_a_change(folder):
    source = open_source(folder, id="id")
    assert source.read == ROWS
    passage = source.scan_from(0, 4000)
    next(passage)
    path = folder / "00090.parquet"
    content = bytearray(path.read_bytes())
    content[8:-200] = bytes(len(content) - 208)
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"00090\.parquet was changed while it was being read"):
        list(passage)
