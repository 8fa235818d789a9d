"""Uniqueness of ids, row numbers against rows in files, and batches of bounded size."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import DuplicateIdError
from lookalike.io import as_ordered, check_unique, id_order
from lookalike.io.batching import regroup
from lookalike.io.columns import choose
from lookalike.io.faults import Unreadable
from lookalike.io.ids import first_duplicate
from lookalike.io.layout import Layout


def duplicate_by_brute_force(values):
    seen = {}
    for row, value in enumerate(values):
        if value in seen:
            return seen[value], row
        seen[value] = row
    return None


@given(
    values=st.lists(st.integers(-9, 9), max_size=12, unique=True) | st.lists(st.integers(-9, 9), max_size=12),
    kind=st.sampled_from([pa.int64(), pa.int8(), pa.string(), pa.large_string(), pa.float64(), pa.binary()]),
    cut=st.integers(0, 12),
)
def test_the_first_duplicate_is_the_one_brute_force_finds(values, kind, cut):
    as_kind = {"string": str, "large_string": str, "binary": lambda value: str(value).encode()}
    values = [as_kind.get(str(kind), lambda value: value)(value) for value in values]
    expected = duplicate_by_brute_force(values)
    array = pa.array(values, kind)
    for ids in (array, pa.chunked_array([array[:cut], array[cut:]]), array.dictionary_encode()):
        found = first_duplicate(ids)
        # The place repeated is the nearest one before, the repetition the earliest.
        assert (found and found[1]) == (expected and expected[1])
        if found:
            assert values[found[0]] == values[found[1]]
            assert found[0] == expected[0]


def test_unique_ids_pass_and_duplicates_are_named():
    check_unique(pa.array([3, 1, 2]))
    check_unique(pa.array([], pa.string()))
    with pytest.raises(DuplicateIdError, match=r"id 3 occurs twice, at row 0 and at row 2.*id='COLUMN'"):
        check_unique(pa.array([3, 1, 3]))


@given(
    files=st.lists(st.lists(st.booleans(), max_size=6), min_size=1, max_size=5),
    data=st.data(),
)
def test_row_numbers_lead_to_rows_in_files_and_back(files, data):
    """`files` says of each row in each file whether it can be read."""
    readable = [(file, row) for file, rows in enumerate(files) for row, good in enumerate(rows) if good]
    bad = {file: np.flatnonzero(~np.array(rows)) for file, rows in enumerate(files) if not all(rows)}
    starts = np.cumsum([0] + [sum(rows) for rows in files])
    layout = Layout(starts=starts, bad=bad, unreadable=Unreadable(), ids=None)

    where, inside = layout.locate(np.arange(len(readable)))
    assert list(zip(where.tolist(), inside.tolist(), strict=True)) == readable

    kept = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(readable), max_size=len(readable))), dtype=bool
    )
    chosen = {place for place, keep in zip(readable, kept, strict=True) if keep}
    for file, rows in enumerate(files):
        assert layout.rows_of(file, kept).tolist() == [(file, row) in chosen for row in range(len(rows))]


@given(
    sizes=st.lists(st.lists(st.integers(0, 40), max_size=8), max_size=6),
    batch_bytes=st.integers(1, 200),
)
def test_regrouping_keeps_rows_and_bounds_batches(sizes, batch_bytes):
    texts = [["x" * size for size in batch] for batch in sizes]
    schema = pa.schema([("text", pa.large_string()), ("n", pa.int64())])
    batches = [
        pa.record_batch([pa.array(batch, pa.large_string()), range(len(batch))], schema=schema)
        for batch in texts
    ]
    regrouped = list(regroup(batches, batch_bytes))
    assert [text for batch in regrouped for text in batch["text"].to_pylist()] == [
        t for batch in texts for t in batch
    ]
    for batch in regrouped:
        batch.validate(full=True)
        assert batch.num_rows == 1 or batch["text"].nbytes <= batch_bytes + 16


def test_large_batches_are_cut_without_a_copy():
    text = pa.array(["x" * 100] * 50, pa.large_string())
    pieces = list(regroup([pa.record_batch([text], names=["text"])], 1000))
    assert len(pieces) > 5
    assert {piece["text"].buffers()[2].address for piece in pieces} == {text.buffers()[2].address}


@given(mask=st.lists(st.booleans(), max_size=20))
def test_rows_of_any_type_can_be_chosen(mask):
    values = {"plain": list(range(len(mask))), "view": [str(row) for row in range(len(mask))]}
    types = [("plain", pa.int64()), ("view", pa.string_view())]
    table = pa.table(values, schema=pa.schema(types))
    expected = [row for row, keep in zip(table.to_pylist(), mask, strict=True) if keep]
    assert choose(table, np.array(mask, dtype=bool)).to_pylist() == expected


LARGE = 2**64 - 1


@pytest.mark.parametrize("numbers", [[10, 9, -1], [LARGE, 9, 10, 2**63], [2**63 - 1, -(2**63)]])
def test_text_that_is_all_whole_numbers_is_in_the_order_of_those(numbers):
    expected = sorted(range(len(numbers)), key=numbers.__getitem__)
    plain = pa.array(numbers, pa.int64() if min(numbers) < 0 else pa.uint64())
    for ids in (plain, plain.cast(pa.string()), pa.chunked_array([plain.cast(pa.large_string())])):
        assert id_order(ids).tolist() == expected


@pytest.mark.parametrize(
    "ids", [["9", "010"], ["9", "1e1"], ["9", "10.0"], ["-1", str(LARGE)], ["9", str(LARGE + 1)]]
)
def test_other_text_is_in_the_order_of_text(ids):
    assert as_ordered(pa.array(ids)).to_pylist() == ids
    assert id_order(pa.array(ids)).tolist() == sorted(range(2), key=ids.__getitem__)


def test_an_id_that_is_a_whole_document_is_not_quoted_as_a_whole():
    with pytest.raises(DuplicateIdError) as caught:
        check_unique(pa.chunked_array([["a document " * 999] * 2]))
    assert len(str(caught.value)) < 300
    assert str(caught.value).startswith("id 'a document a document")
