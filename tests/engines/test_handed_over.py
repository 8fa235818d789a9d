"""Results for whoever asked: in memory where they fit, and mapped from a nameless file where they do not."""

import gc

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.engines import LocalEngine
from lookalike.errors import ScratchError

SCHEMA = pa.schema([("number", pa.int64()), ("name", pa.string())])


def batches(count):
    for at in range(count):
        numbers = np.arange(at * 10_000, (at + 1) * 10_000)
        yield pa.record_batch([pa.array(numbers), pa.array(numbers.astype(str))], schema=SCHEMA)


@pytest.mark.parametrize("count", [0, 1, 5, 90])
def test_a_table_is_the_same_wherever_it_is(tmp_path, count):
    engine = LocalEngine(1, memory=16_000_000, scratch=tmp_path)
    before = pa.total_allocated_bytes()
    table = engine.hand_over(batches(count), SCHEMA)
    assert table.equals(pa.Table.from_batches(batches(count), SCHEMA))
    assert table.schema == SCHEMA
    assert not list(tmp_path.iterdir())
    if count == 90:
        assert table.nbytes > 8_000_000
        assert pa.total_allocated_bytes() - before < 1_000_000
    del table
    gc.collect()
    assert engine.budget.held == 0


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    engine = LocalEngine(1, memory=16_000_000, scratch=tmp_path / "file" / "folder")
    with pytest.raises(ScratchError, match="where work waits that does not fit memory, cannot be used"):
        engine.hand_over(batches(90), SCHEMA)


def test_pairs_beyond_memory_are_pairs_like_others(tmp_path):
    # Every two of 1,200 equal texts: 17 MB of pairs.
    ids = pa.array([f"row {row:04}" for row in range(1_200)])
    given = pa.table({"text": ["one and the same"] * 1_200, "id": ids})
    before = pa.total_allocated_bytes()
    engine = LocalEngine(1, memory=16_000_000, scratch=tmp_path)
    small = la.similar_pairs(given, id="id", method="prefix", engine=engine)
    assert small.to_arrow().nbytes > 17_000_000
    assert pa.total_allocated_bytes() - before < 8_000_000
    large = la.similar_pairs(given, id="id", method="prefix", memory="1GB")
    assert small.to_arrow().equals(large.to_arrow())
    assert len(small) == 1_200 * 1_199 // 2
    assert (repr(small), next(iter(small))) == (repr(large), next(iter(large)))
    assert small["b"][-1].as_py() == "row 1199"
    assert small.to_pandas().equals(large.to_pandas())
    assert small.account.to_dict() == large.account.to_dict()
    assert not list(tmp_path.iterdir())
