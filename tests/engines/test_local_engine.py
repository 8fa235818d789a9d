"""The verbs of the local engine: what each hands to a stage, whatever the threads and the size of batches."""

import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.engines import LocalEngine, Table
from lookalike.errors import InternalError, OptionError

ENGINES = st.builds(
    LocalEngine, st.sampled_from([1, 2]), batch_rows=st.integers(1, 9) | st.sampled_from([64, 1 << 16])
)
KEYS = st.lists(st.integers(0, 4) | st.sampled_from([2**63, 2**64 - 1]), max_size=40)


def table(sizes, **columns):
    """A table of columns cut into batches of the given sizes, cyclically."""
    whole = Table.of(**columns)
    batch, pieces, start = whole.batches[0], [], 0
    while start < len(batch):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(batch.slice(start, size))
        start += size
    return Table(tuple(pieces), whole.schema)


def rows_of(table):
    return [row for batch in table.batches for row in batch.to_pylist()]


def keyed(keys, sizes):
    return table(sizes, key=np.array(keys, np.uint64), row=np.arange(len(keys)))


SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=4)


def same(batch):
    return batch


class Seen:
    """A stage that hands batches on and keeps what it saw, in the order of the batches."""

    def __init__(self):
        self.batches = []
        self._lock = threading.Lock()

    def __call__(self, batch):
        with self._lock:
            self.batches.append(batch.to_pylist())
        return batch


# map


@given(st.lists(st.integers(0, 99), max_size=30), SIZES, ENGINES)
def test_map_keeps_the_order_of_rows(values, sizes, engine):
    doubled = engine.map(
        table(sizes, x=np.array(values, np.int64)),
        lambda batch: pa.record_batch({"y": pa.array(batch["x"].to_numpy() * 2)}),
    )
    assert doubled.column("y").tolist() == [2 * value for value in values]
    assert doubled.schema == pa.schema([("y", pa.int64())])


@pytest.mark.parametrize("threads", [1, 2])
def test_map_waits_for_slow_batches_rather_than_reorder(threads):
    def slow_at_first(batch):
        time.sleep(0.02 if batch["x"][0].as_py() == 0 else 0)
        return batch

    numbers = table([1], x=np.arange(8))
    assert LocalEngine(threads).map(numbers, slow_at_first).column("x").tolist() == list(range(8))


@pytest.mark.parametrize("threads", [1, 2])
def test_map_tells_how_many_rows_are_done(threads):
    done = []
    LocalEngine(threads).map(table([2, 3], x=np.arange(10)), same, advance=done.append)
    assert sum(done) == 10


def test_batches_that_a_stage_empties_are_dropped_and_the_schema_stays():
    made = LocalEngine(1).map(table([2], x=np.arange(4)), lambda batch: batch.slice(0, 0))
    assert (tuple(made.batches), made.schema, made.rows) == ((), pa.schema([("x", pa.int64())]), 0)


# group


@given(KEYS, SIZES, ENGINES)
def test_group_sorts_by_key_and_keeps_equal_keys_in_the_order_they_came(keys, sizes, engine):
    expected = sorted(({"key": key, "row": row} for row, key in enumerate(keys)), key=lambda row: row["key"])
    assert rows_of(engine.group(keyed(keys, sizes), "key", same)) == expected


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=30), SIZES, ENGINES)
def test_group_sorts_by_the_columns_of_order_within_a_key(rows, sizes, engine):
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    grouped = engine.group(
        table(sizes, a=columns[0], b=columns[1], c=columns[2]), "a", same, order=("c", "b")
    )
    assert [tuple(row.values()) for row in rows_of(grouped)] == sorted(rows, key=lambda r: (r[0], r[2], r[1]))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, np.uint64])
def test_group_sorts_every_kind_of_whole_number(kind):
    keys = np.array([3, -1, 7, -100, 3, 0], np.int64).astype(kind)
    grouped = LocalEngine(1).group(Table.of(key=keys), "key", same)
    assert grouped.column("key").tolist() == sorted(keys.tolist())
    assert grouped.schema.field("key").type == pa.array(keys).type


def test_group_carries_columns_that_are_no_numbers():
    words = Table.of(key=np.array([2, 1, 2], np.uint64), word=pa.array(["a", None, "c"]))
    assert rows_of(LocalEngine(1).group(words, "key", same)) == [
        {"key": 1, "word": None},
        {"key": 2, "word": "a"},
        {"key": 2, "word": "c"},
    ]


@pytest.mark.parametrize("keys", [pa.array([1.5, 1.7]), pa.array(["a", "b"]), pa.array([1, None])])
def test_group_refuses_keys_it_cannot_tell_apart(keys):
    with pytest.raises(InternalError, match="whole numbers"):
        LocalEngine(1).group(Table.of(key=keys), "key", same)


@given(KEYS, SIZES, st.integers(1, 12), st.booleans(), st.sampled_from([1, 2]))
def test_group_cuts_only_runs_longer_than_a_batch(keys, sizes, batch_rows, repeat_first, threads):
    engine = LocalEngine(threads, batch_rows=batch_rows)
    seen = Seen()
    engine.group(keyed(keys, sizes), "key", seen, repeat_first=repeat_first)
    batches = sorted(seen.batches, key=lambda batch: [(row["key"], row["row"]) for row in batch[-1:]])
    for key in set(keys):
        run = [row for row, other in enumerate(keys) if other == key]
        pieces = [[row["row"] for row in batch if row["key"] == key] for batch in batches]
        pieces = [piece for piece in pieces if piece]
        if len(run) <= batch_rows:
            assert pieces == [run]
            continue
        if repeat_first:
            assert all(piece[0] == run[0] for piece in pieces)
            pieces = [pieces[0], *(piece[1:] for piece in pieces[1:])]
        assert [row for piece in pieces for row in piece] == run
        # A long run comes in batches of its own.
        assert all(len({row["key"] for row in batch}) == 1 for batch in batches if batch[-1]["key"] == key)
    assert all(len(batch) <= batch_rows + repeat_first for batch in batches)


@given(KEYS, SIZES, st.integers(1, 12), st.integers(1, 4), st.integers(1, 8), st.sampled_from([1, 2]))
def test_group_leaves_out_runs_that_are_too_short_or_too_long(keys, sizes, batch_rows, least, most, threads):
    engine = LocalEngine(threads, batch_rows=batch_rows)
    counts = {key: keys.count(key) for key in keys}
    everything = [(key, row) for row, key in enumerate(keys)]
    for bounds, wanted in (
        ({"least": least}, lambda size: size >= least),
        ({"most": most}, lambda size: size <= most),
        ({"least": least, "most": most}, lambda size: least <= size <= most),
    ):
        seen = Seen()
        grouped = engine.group(keyed(keys, sizes), "key", seen, **bounds)
        expected = sorted(pair for pair in everything if wanted(counts[pair[0]]))
        assert [(row["key"], row["row"]) for row in rows_of(grouped)] == expected
        if "most" in bounds:
            # No run is cut: each key is in one batch.
            batches_of = [key for batch in seen.batches for key in {row["key"] for row in batch}]
            assert len(batches_of) == len(set(batches_of))


# fetch


@given(
    st.permutations(range(12)), st.lists(st.tuples(*[st.integers(0, 11)] * 2), max_size=30), SIZES, ENGINES
)
def test_fetch_gives_rows_by_number_wherever_they_stand(order, items, sizes, engine):
    numbers = np.array(order)
    held = table(sizes, row=numbers, value=numbers * 10)
    ends = np.array(items, np.int64).reshape(-1, 2).T

    def total(batch, held):
        values = np.concatenate([piece["value"].to_numpy() for piece in held.batches])
        found = values[held.at(batch["a"].to_numpy())] + values[held.at(batch["b"].to_numpy())]
        return pa.record_batch({"total": pa.array(found)})

    fetched = engine.fetch(held, table(sizes, a=ends[0], b=ends[1]), ("a", "b"), total)
    assert fetched.column("total").tolist() == [10 * (a + b) for a, b in items]


def test_fetch_knows_rows_with_gaps_between_their_numbers():
    def value(batch, held):
        return pa.record_batch(
            {"value": held.batches[0]["value"].take(pa.array(held.at(batch["a"].to_numpy())))}
        )

    gaps = Table.of(row=np.array([9, 2, 5]), value=pa.array(["nine", "two", "five"]))
    fetched = LocalEngine(1).fetch(gaps, Table.of(a=np.array([2, 9])), ("a",), value)
    assert fetched.column("value").tolist() == ["two", "nine"]


def test_fetch_hands_out_items_in_pieces_and_tells_how_many_are_done():
    sizes, done = [], []

    def size(batch, held):
        sizes.append(len(batch))
        return batch

    LocalEngine(1, batch_rows=3).fetch(
        Table.of(row=np.arange(2)), Table.of(a=np.zeros(7, np.int64)), ("a",), size, advance=done.append
    )
    assert sizes == done == [3, 3, 1]


# fold and write


@given(st.lists(st.integers(0, 99), max_size=30), SIZES, ENGINES)
def test_fold_merges_in_the_order_of_batches(values, sizes, engine):
    folded = engine.fold(
        table(sizes, x=np.array(values, np.int64)),
        lambda batch: batch["x"].to_pylist(),
        lambda one, two: one + two,
    )
    assert folded == (values or None)


@pytest.mark.parametrize("threads", [1, 2])
def test_fold_holds_a_few_values_at_a_time_however_many_batches_there_are(threads):
    made, merged = [], []

    def merge(one, two):
        merged.append(len(made) - len(merged))
        return one + two

    source = table([1] * 100, x=np.ones(100, np.int64))
    assert LocalEngine(threads).fold(source, lambda batch: made.append(1) or len(batch), merge) == 100
    assert max(merged) <= 8


@given(st.lists(st.integers(0, 99), max_size=30), SIZES, ENGINES)
def test_write_hands_batches_to_a_sink_in_order(values, sizes, engine):
    written = []
    source = table(sizes, x=np.array(values, np.int64))
    engine.write(source, written.append)
    assert written == list(source.batches)


# What holds for all


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batches", [0, 2])
def test_an_empty_table_still_tells_what_a_stage_would_make_of_it(threads, batches):
    engine = LocalEngine(threads)
    schema = pa.schema([("row", pa.int64()), ("key", pa.uint64())])
    nothing = engine.scan([pa.RecordBatch.from_pylist([], schema)] * batches, schema)

    def name(batch, held=None):
        return pa.record_batch({"name": pa.array([], pa.string())})

    for made in (
        engine.map(nothing, name),
        engine.group(nothing, "key", name),
        engine.fetch(nothing, nothing, ("key",), name),
    ):
        assert (made.rows, made.schema) == (0, pa.schema([("name", pa.string())]))
        assert made.column("name").tolist() == []
    assert not engine.fold(nothing, len, max)


VERBS = {
    "map": lambda engine, table, stage: engine.map(table, stage),
    "group": lambda engine, table, stage: engine.group(table, "x", stage),
    "fetch": lambda engine, table, stage: engine.fetch(table, table, ("x",), lambda batch, _: stage(batch)),
    "fold": lambda engine, table, stage: engine.fold(table, stage, lambda one, _: one),
}


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("verb", VERBS)
def test_a_stage_that_raises_stops_the_verb_and_leaves_no_thread(verb, threads, error):
    begun = []

    def fails(batch):
        begun.append(batch)
        time.sleep(0.002)
        raise error

    before = threading.active_count()
    numbers = table([1], row=np.arange(200), x=np.arange(200))
    with pytest.raises(error):
        VERBS[verb](LocalEngine(threads, batch_rows=1), numbers, fails)
    assert threading.active_count() == before
    # What was in reserve may have begun; what was not, never does.
    assert len(begun) <= 1 if threads == 1 else len(begun) < 20


def test_ctrl_c_while_waiting_stops_promptly_and_leaves_no_thread():
    import _thread

    begun = []

    def slow(batch):
        begun.append(batch)
        if len(begun) == 6:
            _thread.interrupt_main()
        time.sleep(0.01)
        return batch

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        LocalEngine(2).map(table([1], x=np.arange(500)), slow)
    assert threading.active_count() == before
    assert len(begun) < 50


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_threads_out_of_range_are_refused(threads):
    with pytest.raises(OptionError, match="threads"):
        LocalEngine(threads)


@pytest.mark.parametrize("batch_rows", [0, -5])
def test_batch_rows_out_of_range_are_refused(batch_rows):
    with pytest.raises(OptionError, match="batch_rows"):
        LocalEngine(1, batch_rows=batch_rows)


def test_a_process_may_fork_between_verbs():
    import os

    engine = LocalEngine(2)
    numbers = table([10], key=np.arange(100, dtype=np.uint64)[::-1].copy())
    engine.group(numbers, "key", same)
    child = os.fork()
    if child == 0:
        right = engine.group(numbers, "key", same).column("key").tolist() == list(range(100))
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0


CALLS = {
    "dedup": lambda **how: la.dedup(["a b"], **how),
    "similar_pairs": lambda **how: la.similar_pairs(["a b"], **how),
    "similar_bits": lambda **how: la.similar_bits(["ff"], **how),
    "similar_strings": lambda **how: la.similar_strings(["a"], distance=1, **how),
    "similar_measurements": lambda **how: la.similar_measurements([[1.0]], within=1, share=1, **how),
    "frequent_pairs": lambda **how: la.frequent_pairs([["a"]], support=1, **how),
    "top": lambda **how: la.top(["a b"], **how),
    "decontaminate": lambda **how: la.decontaminate(["a b"], ["a b"], **how),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_engine_is_refused_with_what_is(call):
    for engine in ("local", 4, LocalEngine):
        with pytest.raises(OptionError, match=r"is no engine: leave it out, or give a LocalEngine\("):
            call(engine=engine)
    call(engine=LocalEngine(1))


@pytest.mark.parametrize("call", [call for name, call in CALLS.items() if name != "frequent_pairs"])
def test_an_engine_has_its_threads_and_memory(call):
    with pytest.raises(OptionError, match=r"threads=2 goes to the engine"):
        call(engine=LocalEngine(1), threads=2)
