"""Bits come in many forms and are the same bits; rows that hold none are named."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core
from lookalike.errors import MalformedRowError, OptionError, SourceError
from lookalike.measures.bits import as_bits, hamming_distances, tanimoto_similarities

PATHS = _core.paths()


def unpacked(bits):
    return np.unpackbits(bits.to_bytes(), axis=1)[:, : bits.width]


@given(
    st.integers(1, 40).flatmap(lambda n: st.lists(st.binary(min_size=n, max_size=n), min_size=1, max_size=9))
)
def test_every_form_is_the_same_bits(rows):
    packed = np.array([list(row) for row in rows], np.uint8)
    expected = np.unpackbits(packed, axis=1)
    digits = [row.hex() for row in rows]
    forms = [
        packed,
        digits,
        [f" 0x{row.upper()}\n" for row in digits],
        rows,
        np.array(rows, object),
        np.array(digits),
        np.array(digits, object),
        pa.array(digits),
        pa.chunked_array([digits, digits])[: len(rows)],
        pa.array(["00", *digits], pa.large_string())[1:],
        pa.array(digits).dictionary_encode(),
        pa.array(rows, pa.binary(len(rows[0]))),
        pa.array([bytes(len(rows[0])), *rows], pa.binary(len(rows[0])))[1:],
        pa.array(rows, pa.binary()),
        pa.array([b"x", *rows], pa.large_binary())[1:],
        pa.array(packed.tolist(), pa.list_(pa.uint8())),
        pa.array(packed.tolist(), pa.list_(pa.uint8(), len(rows[0]))),
        np.asfortranarray(packed),
        expected.astype(bool),
        pa.array(expected.astype(bool).tolist(), pa.list_(pa.bool_())),
        as_bits(packed),
    ]
    if len(rows[0]) % 8 == 0:
        forms.append(packed.view(">u8").astype(np.uint64))
    for form in forms:
        bits = as_bits(form)
        assert bits.width == 8 * len(rows[0])
        assert np.array_equal(unpacked(bits), expected)
        assert np.array_equal(bits.to_bytes(), packed)
    half = as_bits([row[:-1] for row in digits])
    assert np.array_equal(unpacked(half), expected[:, :-4])
    flags = as_bits(expected[:, :-3].astype(bool))
    assert flags.width == 8 * len(rows[0]) - 3
    assert np.array_equal(unpacked(flags), expected[:, :-3])


def test_a_number_is_the_bits_of_its_hexadecimal_digits():
    numbers = [0, 1, 0x0123456789ABCDEF, 2**64 - 1]
    digits = as_bits([f"{number:016x}" for number in numbers])
    for form in (np.array(numbers, np.uint64), pa.array(numbers, pa.uint64())):
        bits = as_bits(form)
        assert bits.width == 64
        assert np.array_equal(bits.words, digits.words)


def test_frames_hand_their_columns_over():
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for column in (polars.Series(["ff", "0f"]), pandas.Series(["ff", "0f"])):
        assert unpacked(as_bits(column)).sum(axis=1).tolist() == [8, 4]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["ff", "f"], r"row 1 \(counted from 0\) has 1 hexadecimal digit where the first row has 2"),
        (["ff", "fg"], r"row 1 \(counted from 0\) is 'fg', not hexadecimal: look at digit 2"),
        (["ff"] * 70_000 + ["xy"], r"row 70000 "),
        (["0xf", "é1"], "row 1 "),
        (["", ""], "row 0 .* has no hexadecimal digits"),
        (["0x"], "row 0 .* has no hexadecimal digits"),
        (["ff", 7], "row 1 .* is an int, not a hexadecimal string"),
        (["ff", b"f"], "row 1 .* is a bytes, not a hexadecimal string"),
        ([b"f", "ff"], "row 1 .* is a str, not bytes as the first row"),
        ([b"ff", b"f"], "row 1 .* has 8 bits where the first row has 16"),
        ([b""], "row 0 .* has no bits"),
        (np.ma.masked_array(np.zeros((2, 2), np.uint8), [[0, 0], [1, 0]]), "row 1 holds a masked value"),
        (np.ma.masked_array(np.zeros(2, np.uint64), [0, 1]), "row 1 holds a masked value"),
        (pa.array(["ff", None]), "row 1 .* is null"),
        (pa.array([1, None], pa.uint64()), "row 1 .* is null"),
    ],
)
def test_the_row_at_fault_is_named(given, said):
    with pytest.raises(MalformedRowError, match=said):
        as_bits(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "no rows"),
        (np.zeros((2, 2), np.int64), "int64 in 2 dimensions"),
        (np.zeros(4, np.uint8), "uint8 in 1 dimensions"),
        (np.zeros((3, 0), np.uint8), "0 bytes"),
        (pa.array([1.5]), "double"),
        ("ff00", "list of hexadecimal"),
        (["\ud800"], "no hexadecimal string"),
        (np.array([b"f", b"g"]), r"S1 in 1 dimensions"),
        (7, "holds no rows"),
        ({"ff": 1}, "holds no rows"),
    ],
)
def test_what_holds_no_bits_is_refused(given, said):
    with pytest.raises(SourceError, match=said):
        as_bits(given)


def test_a_width_leaves_no_bit_over():
    packed = np.array([[0xFF, 0xE0], [0x00, 0x20]], np.uint8)
    assert unpacked(as_bits(packed, width=11)).tolist() == [[1] * 11, [0] * 10 + [1]]
    with pytest.raises(MalformedRowError, match=r"row 0 .* beyond width=10"):
        as_bits(packed, width=10)
    assert type(as_bits(packed, width=np.int64(11)).width) is int
    for width in (0, 8, 17):
        with pytest.raises(OptionError, match="does not fit"):
            as_bits(packed, width=width)
    for width in (11.0, "11", True):
        with pytest.raises(OptionError, match="not a whole number of bits"):
            as_bits(packed, width=width)


@given(st.integers(1, 200), st.integers(0, 2**32), st.floats(0, 1))
def test_counts_are_those_of_the_definition(width, seed, density):
    rng = np.random.default_rng(seed)
    table = (rng.random((12, width)) < density).astype(np.uint8)
    bits = as_bits(np.packbits(table, axis=1))
    a, b = np.divmod(np.arange(144), 12)
    both, either = (table[a] & table[b]).sum(axis=1), (table[a] | table[b]).sum(axis=1)
    assert hamming_distances(bits, a, b).tolist() == (either - both).tolist()
    similarity = np.divide(both, either, out=np.zeros(144), where=either > 0)
    assert tanimoto_similarities(bits, a, b).tolist() == similarity.tolist()
    for path in PATHS:
        counts = _core.compare_bits(bits.words, a.astype(np.uint32), b.astype(np.uint32), path=path)
        assert [count.tolist() for count in counts] == [both.tolist(), either.tolist()]
        assert _core.bit_sizes(bits.words, path=path).tolist() == table.sum(axis=1).tolist()


def test_both_obey_the_axioms_of_a_distance():
    rng = np.random.default_rng(1)
    bits = as_bits(np.packbits(rng.random((20, 30)) < 0.4, axis=1))
    rows = np.arange(20)
    a, b, c = (axis.ravel() for axis in np.meshgrid(rows, rows, rows))
    for distance in (hamming_distances, lambda *of: 1 - tanimoto_similarities(*of)):
        assert np.array_equal(distance(bits, a, b), distance(bits, b, a))
        assert (distance(bits, rows, rows) == 0).all()
        assert (distance(bits, a, b)[a != b] > 0).all()
        assert (distance(bits, a, c) <= distance(bits, a, b) + distance(bits, b, c) + 1e-12).all()
