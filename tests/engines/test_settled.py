"""Tables that are settled while they are made: the same rows, found again, and made anew if making failed."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from lookalike.engines import LocalEngine, Table, settled
from lookalike.errors import OutputError, RowTooLargeError
from lookalike.runs.ledger import Ledger
from lookalike.runs.space import require_space

ROWS = 20_000


def numbers(cut=700):
    batch = pa.record_batch({"row": pa.array(np.arange(ROWS))})
    return Table([batch.slice(at, cut) for at in range(0, ROWS, cut)], batch.schema)


def squares(batch):
    return pa.record_batch({"row": batch["row"], "square": pa.array(batch["row"].to_numpy() ** 2)})


def opened(folder, **more):
    return Ledger.open(folder, job="squares", parameters={}, inputs=[], algorithm=1, **more)


def never(batch):
    raise AssertionError("this was settled")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("memory", [16 << 20, 64 << 10], ids=["in memory", "on disk"])
def test_a_settled_map_makes_the_same_rows_and_finds_them_again(tmp_path, threads, memory):
    plain = LocalEngine(threads).map(numbers(), squares)
    heard = []
    with opened(tmp_path / "run") as ledger:
        engine = LocalEngine(threads, ledger=ledger)
        engine.budget.size = memory
        made = engine.map(numbers(), squares, advance=heard.append, settled="squares")
        assert made.batches.at_hand == (memory > 1 << 20)
        assert made.schema == plain.schema
        for name in ("row", "square"):
            assert np.array_equal(made.column(name), plain.column(name))
        assert sum(heard) == ROWS
        assert engine.budget.held <= memory // 2
    with opened(tmp_path / "run", resume=True) as ledger:
        again = LocalEngine(threads, ledger=ledger).map(numbers(), never, settled="squares")
        assert np.array_equal(again.column("square"), plain.column("square"))


def test_what_failed_half_way_is_not_settled(tmp_path):
    def failing(batch):
        if batch["row"][0].as_py() > ROWS // 2:
            raise ZeroDivisionError
        return squares(batch)

    with opened(tmp_path / "run") as ledger:
        with pytest.raises(ZeroDivisionError):
            LocalEngine(2, ledger=ledger).map(numbers(), failing, settled="squares")
        assert ledger.done() == []
    with opened(tmp_path / "run", resume=True) as ledger:
        made = LocalEngine(2, ledger=ledger).map(numbers(), squares, settled="squares")
        assert made.rows == ROWS


def test_of_no_batches_the_schema_is_settled(tmp_path):
    nothing = Table([], numbers().schema)
    with opened(tmp_path / "run") as ledger:
        made = LocalEngine(1, ledger=ledger).map(nothing, squares, settled="squares")
        assert made.rows == 0
        assert made.schema.names == ["row", "square"]


def test_a_disk_without_room_is_told_when_the_first_rows_are_there(tmp_path, monkeypatch):
    def require(folder, size, what, *, advice):
        disk = SimpleNamespace(free=ROWS * 16 - 1)
        require_space(folder, size, what, advice=advice, disk_usage=lambda _: disk)

    monkeypatch.setattr(settled, "require_space", require)
    with opened(tmp_path / "run") as ledger:
        engine = LocalEngine(1, ledger=ledger)
        with pytest.raises(OutputError, match="stage squares needs about 320"):
            engine.map(numbers(), squares, settled="squares")
        assert ledger.done() == []


@pytest.mark.parametrize("with_ledger", [True, False])
def test_what_is_not_wanted_soon_leaves_memory_to_others(tmp_path, with_ledger):
    with opened(tmp_path / "run") as ledger:
        engine = LocalEngine(1, ledger=ledger if with_ledger else None)
        kept = engine.settle("kept", lambda: engine.map(numbers(), squares))
        assert kept.batches.at_hand
        before = engine.budget.held
        aside = engine.settle("aside", lambda: engine.map(numbers(), squares), soon=False)
        assert not aside.batches.at_hand
        assert engine.budget.held == before
        assert np.array_equal(aside.column("square"), kept.column("square"))


@pytest.mark.parametrize("resumed", [False, True])
def test_rows_of_a_settled_table_count_for_as_much_as_they_take(tmp_path, resumed):
    """An average would take short rows for large ones, and the large one for a short one."""
    lengths = [10] * 300 + [3_000_000] + [10] * 300

    def widened(batch):
        lists = [np.arange(lengths[row]) for row in batch["row"].to_pylist()]
        return pa.record_batch({"row": batch["row"], "elements": pa.array(lists, pa.large_list(pa.int64()))})

    def table(ledger, memory=None):
        engine = LocalEngine(1, memory=memory, ledger=ledger)
        rows = Table.of(row=np.arange(len(lengths)))
        return engine.settle("wide", lambda: engine.map(rows, widened), soon=False)

    if resumed:
        with opened(tmp_path / "run") as ledger:
            table(ledger, 2**30)
    with opened(tmp_path / "run", resume=resumed) as ledger:
        wide = table(ledger, 2**30)
        assert not wide.batches.at_hand
        small = LocalEngine(1, memory=16_000_000)

        def sizes(batch, held):
            found = held.whole(lambda batches: sum(int(b["elements"].nbytes) for b in batches))
            return pa.record_batch({"found": pa.array([found] * len(batch))})

        short = Table.of(a=np.arange(300), b=np.arange(301, 601))
        assert small.fetch(wide, short, ("a", "b"), sizes).column("found")[0] < 100_000
        with pytest.raises(RowTooLargeError, match=r"^row 300 takes about"):
            small.fetch(wide, Table.of(a=[300], b=[300]), ("a", "b"), sizes)
