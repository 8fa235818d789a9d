"""The memory budget: what tables take is counted, given back, and never more than half of it."""

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table, as_it_is, memory
from lookalike.engines.memory import Budget
from lookalike.engines.settled import stored_table
from lookalike.engines.spill import Spilled
from lookalike.errors import ArtefactError, OptionError, OutputError
from lookalike.runs import Header
from lookalike.runs.space import require_space
from lookalike.runs.stored import StoredTable


def batch(size, fill=0):
    """A batch of so many bytes, by eights."""
    return pa.record_batch({"x": np.full(size // 8, fill, np.int64)})


SCHEMA = batch(8).schema


def budget(size, scratch=None):
    """A budget of any size."""
    made = Budget(memory.LEAST, scratch)
    made.size = size
    return made


def on_disk(table):
    return [isinstance(piece, Spilled) for piece in table.batches.pieces]


def in_memory(table):
    return sum(piece.nbytes for piece in table.batches.pieces if not isinstance(piece, Spilled))


def test_a_budget_too_small_to_work_with_is_refused():
    with pytest.raises(OptionError, match="16 MB or more"):
        Budget(memory.LEAST - 1)
    assert Budget(memory.LEAST).for_a_verb == memory.LEAST // 2
    assert Budget().size >= memory.LEAST


def test_tables_stay_in_memory_while_there_is_room_and_go_on_on_disk(tmp_path):
    small = budget(2000, tmp_path)
    table = small.commit((batch(400, at) for at in range(5)), SCHEMA)
    # On disk small batches become larger ones.
    assert on_disk(table) == [False, False, True, True]
    assert table.column("x").tolist() == [at for at in range(5) for _ in range(50)]
    assert small.held == 800
    other = small.commit([batch(200), batch(400), batch(8)], SCHEMA)
    # Once on disk, always: else the last batch might keep alive what it was cut from.
    assert on_disk(other) == [False, True]
    assert small.held == 1000


def test_what_is_gone_is_given_back(tmp_path):
    small = budget(2000, tmp_path)
    table = small.commit([batch(400), batch(400)], SCHEMA)
    kept = table.batches[1]
    del table
    assert small.held == 400
    del kept
    assert small.held == 0
    assert on_disk(small.commit([batch(1000)], SCHEMA)) == [False]


def test_batches_without_rows_are_not_held(tmp_path):
    table = budget(2000, tmp_path).commit([batch(0), batch(8), batch(0)], SCHEMA)
    assert len(table.batches) == 1


@given(st.lists(st.lists(st.integers(1, 90), max_size=8), max_size=8), st.integers(0, 1200), st.data())
def test_tables_never_take_more_than_half_and_no_row_is_lost(tables, size, data):
    small = budget(size)
    alive = {}
    for number, sizes in enumerate(tables):
        alive[number] = small.commit((batch(8 * rows, number) for rows in sizes), SCHEMA)
        assert small.held <= size // 2
        for other in data.draw(st.sets(st.sampled_from(sorted(alive)))):
            del alive[other]
        assert small.held == sum(map(in_memory, alive.values()))
        assert all(alive[other].column("x").tolist() == [other] * sum(tables[other]) for other in alive)
    alive.clear()
    assert small.held == 0


def test_batches_go_while_others_come_from_many_threads():
    small = budget(100_000)

    def come_and_go(seed):
        draw = np.random.default_rng(seed)
        for _ in range(200):
            table = small.commit([batch(8 * int(draw.integers(1, 500))) for _ in range(5)], SCHEMA)
            assert small.held <= 50_000
            del table

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(come_and_go, range(4)))
    assert small.held == 0


def test_a_batch_that_goes_while_the_budget_counts_does_not_block_it(tmp_path):
    """As happens when garbage is collected in the middle of a count."""
    small = budget(2000, tmp_path)
    table = small.commit([batch(400)], SCHEMA)
    done = threading.Event()
    with small._lock:
        helper = threading.Thread(target=lambda: (globals().pop("_last", None), done.set()))
        globals()["_last"] = table
        del table
        helper.start()
        assert done.wait(10)
    helper.join()
    assert small.held == 0


def test_a_narrow_table_made_from_a_wide_one_on_disk_keeps_only_what_it_holds(tmp_path):
    small = budget(4_000_000, tmp_path)
    columns = {f"x{at}": np.arange(1000) for at in range(40)}
    wide = Table.of(**columns)
    spilled = [memory.SpillFile(tmp_path).append(wide.batches[0]) for _ in range(100)]
    before = pa.total_allocated_bytes()
    schema = pa.schema([("x0", pa.int64())])
    narrow = small.commit((piece.load().select(["x0"]) for piece in spilled), schema)
    assert narrow.batches.at_hand
    assert narrow.column("x0").tolist() == list(range(1000)) * 100
    roots = {root(buffer) for b in narrow.batches for buffer in b["x0"].buffers() if buffer is not None}
    assert sum(size for _, size in roots) < 2 * small.held
    assert pa.total_allocated_bytes() - before < 3 * small.held


def root(buffer):
    while buffer.parent is not None:
        buffer = buffer.parent
    return buffer.address, buffer.size


# Files


def spilled_files(table):
    return {piece.file for piece in table.batches.pieces if isinstance(piece, Spilled)}


def test_small_tables_share_a_file_and_large_ones_go_on_in_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "SHARED", 20_000)
    none = budget(0, tmp_path)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    small = [none.commit([batch(800, at)], SCHEMA) for at in range(300)]
    assert len(os.listdir("/proc/self/fd")) - before < 30
    large = none.commit((batch(800, at) for at in range(300)), SCHEMA)
    assert len(spilled_files(large)) == 2
    last = none.commit([batch(800)], SCHEMA)
    # Not in the large table's own file, whose space is to be free when that table is gone.
    assert not any(file.size > 100_000 for file in spilled_files(last))
    assert [table.column("x")[0] for table in small] == list(range(300))
    assert large.column("x").tolist() == [at for at in range(300) for _ in range(100)]
    del small, large, last
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_parent_and_forked_child_do_not_write_to_the_same_place(tmp_path):
    none = budget(0, tmp_path)
    first = none.commit([batch(800, 1)], SCHEMA)
    child = os.fork()
    if child == 0:
        mine = none.commit([batch(800, 2)], SCHEMA)
        right = mine.column("x").tolist() == [2] * 100 and first.column("x").tolist() == [1] * 100
        os._exit(0 if right else 1)
    mine = none.commit([batch(800, 3)], SCHEMA)
    assert os.waitpid(child, 0)[1] == 0
    assert mine.column("x").tolist() == [3] * 100
    assert first.column("x").tolist() == [1] * 100


def test_large_batches_are_cut_before_they_go_to_disk(tmp_path):
    none = budget(0, tmp_path)
    none.size = 64 * 4096
    pieces = memory.Spilling(none).append(batch(80_000, 5))
    assert all(piece.nbytes < 8192 for piece in pieces)
    assert sum(piece.num_rows for piece in pieces) == 10_000


# Errors on the way


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_on_the_way_leaves_no_thread_and_nothing_held(tmp_path, threads, monkeypatch):
    engine = LocalEngine(threads, memory=memory.LEAST, scratch=tmp_path)
    numbers = Table([batch(80_000, at) for at in range(300)], SCHEMA)
    before = threading.active_count()

    monkeypatch.setattr(memory.SpillFile, "append", lambda *_: (_ for _ in ()).throw(OutputError("full")))
    kept = []
    for verb in (
        lambda: engine.map(numbers, lambda b: pa.record_batch({"x": pa.array(b["x"].to_numpy() + 1)})),
        lambda: engine.group(numbers, "x", as_it_is),
    ):
        with pytest.raises(OutputError) as caught:
            verb()
        # Somebody keeps the error, and with it all frames on the way.
        kept.append(caught)
        assert threading.active_count() == before
    kept.clear()
    del caught
    gc.collect()
    assert engine.budget.held == 0


def test_what_the_driver_sets_aside_tables_do_not_get(tmp_path):
    small = budget(1600, tmp_path)
    aside = small.set_aside()
    aside.grow(400)
    assert on_disk(small.commit([batch(400), batch(80)], SCHEMA)) == [False, True]
    gc.collect()
    assert small.held == 400
    aside.grow(100)
    assert small.held == 500
    del aside
    gc.collect()
    assert small.held == 0


def test_a_scan_gives_memory_back_for_what_was_set_aside_meanwhile(tmp_path):
    engine = LocalEngine(2, scratch=tmp_path)
    engine.budget.size = 1600
    aside = engine.set_aside()

    def batches():
        for number in range(4):
            aside.grow(150)
            yield batch(80, number)

    table = engine.scan(batches(), SCHEMA)
    assert on_disk(table) == [False, False, True]
    assert engine.budget.held == 600 + 160
    assert table.column("x").tolist() == [number for number in range(4) for _ in range(10)]


def copied(rows):
    return batch(rows.nbytes)


def room(monkeypatch, free):
    """A disk with so many bytes free; returns what was asked for."""
    asked = []

    def require(folder, size, what, *, advice):
        asked.append(size)
        require_space(folder, size, what, advice=advice, disk_usage=lambda _: SimpleNamespace(free=free))

    monkeypatch.setattr(memory, "require_space", require)
    return asked


def test_the_disk_is_asked_for_room_once_a_table_needs_it(tmp_path, monkeypatch):
    asked = room(monkeypatch, 10**9)
    engine = LocalEngine(1, scratch=tmp_path)
    table = Table([batch(8000)] * 10, SCHEMA)
    engine.map(table, copied)
    assert asked == []
    engine.budget.size = 2 * 16_000
    # Two batches fit, the third is the first of eight that do not.
    engine.map(table, copied)
    assert asked == [64_000]
    asked.clear()
    engine.scan(iter([batch(8000)] * 5), SCHEMA, expected=lambda: 40_000)
    assert asked == [24_000]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_disk_without_room_is_told_from_before_it_is_full(tmp_path, monkeypatch, threads):
    room(monkeypatch, 63_999)
    engine = LocalEngine(threads, scratch=tmp_path)
    engine.budget.size = 2 * 16_000
    table = Table([batch(8000)] * 10, SCHEMA)
    with pytest.raises(OutputError) as told:
        engine.map(table, copied)
    assert str(told.value) == (
        f"work that does not fit memory needs about 64.0 KB in {tmp_path} and 64.0 KB are free: make room "
        "there, choose another folder (scratch='FOLDER'), or allow more memory (memory='8GB')"
    )
    assert list(tmp_path.iterdir()) == []


def test_rows_to_be_dealt_out_need_room_for_all_of_them(tmp_path, monkeypatch):
    asked = room(monkeypatch, 10**9)
    engine = LocalEngine(1, scratch=tmp_path)
    engine.budget.size = 2 * 16_000
    keys = pa.record_batch({"x": np.random.default_rng(0).integers(0, 2**62, 10_000)})
    grouped = engine.group(Table([keys], SCHEMA), "x", as_it_is)
    assert sorted(grouped.column("x")) == sorted(keys["x"].to_pylist())
    assert asked[0] == 80_000


def test_a_settled_batch_that_changes_after_it_was_checked_is_an_error(tmp_path):
    stored = StoredTable.write(tmp_path / "rows", SCHEMA, [batch(400)], Header(kind="rows", algorithm=1))
    table = stored_table(stored)
    assert table.batches[0] == table.batches[0] == batch(400)
    content = bytearray((tmp_path / "rows").read_bytes())
    block = stored._blocks[0]
    content[block.begin + block.size // 2] ^= 4
    (tmp_path / "rows").write_bytes(content)
    with pytest.raises(ArtefactError, match="not what it was when it was checked"):
        table.batches[0]
    with pytest.raises(ArtefactError, match="checksum"):
        stored_table(stored).batches[0]


@pytest.mark.parametrize("memory", ["64MB", 1e9, True])
def test_memory_is_a_whole_number_of_bytes(memory):
    with pytest.raises(OptionError, match="is no number of bytes"):
        LocalEngine(1, memory=memory)
