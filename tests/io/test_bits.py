"""Bits in files: every kind of file gives the same rows, whatever the batches, and what is wrong is named."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import EmptySourceError, MalformedRowError, MissingColumnError, SourceError
from lookalike.io.bits import count_widths, open_bit_files, open_bits
from lookalike.io.packed import pack

ROWS = np.random.default_rng(5).integers(0, 256, (50, 16)).astype(np.uint8)


def write_npy(path, rows):
    np.save(path, rows)


def write_column(kind):
    def write(path, rows):
        values = list(rows) if "list" in str(kind) else [row.tobytes() for row in rows]
        pq.write_table(pa.table({"bits": pa.array(values, kind)}), path)

    return write


def write_bvecs(path, rows):
    stored = np.empty(len(rows), np.dtype([("width", "<i4"), ("values", "u1", rows.shape[1:])]))
    stored["width"], stored["values"] = rows.shape[1], rows
    stored.tofile(path)


def write_digits(path, rows):
    lines = "".join(row.tobytes().hex() + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)


KINDS = {
    "bytes.npy": write_npy,
    "columns.npy": lambda path, rows: np.save(path, np.asfortranarray(rows)),
    "words.npy": lambda path, rows: np.save(path, np.ascontiguousarray(rows).view(">u8").astype(np.uint64)),
    "swapped.npy": lambda path, rows: np.save(path, np.ascontiguousarray(rows).view(">u8")),
    "flags.npy": lambda path, rows: np.save(path, np.unpackbits(rows, axis=1).astype(bool)),
    "rows.bvecs": write_bvecs,
    "lines.hex": write_digits,
    "lines.txt.gz": write_digits,
    "binary.parquet": write_column(pa.binary()),
    "large.parquet": write_column(pa.large_binary()),
    "fixed.parquet": write_column(pa.binary(16)),
    "lists.parquet": write_column(pa.list_(pa.uint8())),
    "matrix.parquet": write_column(pa.list_(pa.uint8(), 16)),
    "flags.parquet": lambda path, rows: write_column(pa.list_(pa.bool_()))(
        path, np.unpackbits(rows, axis=1).astype(bool)
    ),
}


def read(source, batch_bytes=1 << 20):
    with source:
        batches = list(source.scan(batch_bytes))
    return [row.as_py() for batch in batches for row in batch.column(0)], len(batches)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_holds_the_same_bits_whatever_the_batches(tmp_path, name):
    KINDS[name](tmp_path / name, ROWS)
    for batch_bytes in (1 << 20, 100):
        source = open_bit_files([tmp_path / name], column="bits")
        rows, batches = read(source, batch_bytes)
        assert rows == [row.tobytes() for row in ROWS]
        assert source.wanted.width.bits == 128
        assert batches > 1 or batch_bytes > 100
        assert source.ids(np.array([7])).to_pylist() == [f"{tmp_path / name}:7"]


def test_kinds_mix_in_a_collection(tmp_path):
    for name, write in KINDS.items():
        write(tmp_path / name, ROWS)
    rows, _ = read(open_bit_files([tmp_path], column="bits"))
    assert rows == [row.tobytes() for row in ROWS] * len(KINDS)


def test_numbers_are_their_hexadecimal_digits(tmp_path):
    numbers = np.array([0, 1, 0x0123456789ABCDEF], np.uint64)
    np.save(tmp_path / "n.npy", numbers)
    pq.write_table(pa.table({"bits": pa.array(numbers)}), tmp_path / "n.parquet")
    for name in ("n.npy", "n.parquet"):
        rows, _ = read(open_bits(tmp_path / name, column="bits"))
        assert [row.hex() for row in rows] == ["0" * 16, f"{1:016x}", "0123456789abcdef"]


@given(st.lists(st.one_of(st.none(), st.lists(st.booleans(), max_size=40)), min_size=1, max_size=9))
def test_flags_and_digits_pack_row_by_row_however_long_each_is(rows):
    flags = pack(pa.array([None, *rows], pa.list_(pa.bool_()))[1:])
    written = [None if row is None else "".join(str(int(bit)) for bit in row) for row in rows]
    digits = pack(pa.array(["7", *written], pa.string())[1:])
    for packed, width in ((flags, 1), (digits, 4)):
        assert packed.widths.tolist() == [width * len(row or ()) for row in rows]
        assert list(packed.flaws) == [at for at, row in enumerate(rows) if row == []]
    for at, row in enumerate(rows):
        packed = None if row is None else np.packbits(np.array(row, bool)).tobytes()
        assert flags.rows[at].as_py() == packed
        whole = None if row is None else bytes.fromhex(written[at] + "0" * (len(row) % 2))
        assert digits.rows[at].as_py() == whole


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((3, 4)), "an array of float64 in 2 dimensions holds no bits"),
        (np.zeros(3, np.int64), "an array of int64 in 1 dimensions holds no bits"),
        (np.zeros(3, np.uint8), "an array of uint8 in 1 dimensions holds no bits"),
        (np.zeros((3, 0), np.uint8), r"shape \(3, 0\)"),
        (np.zeros((3, 2, 2), np.uint8), r"shape \(3, 2, 2\)"),
        (np.uint64(3), r"shape \(\)"),
        (np.array([{}]), "object"),
        (np.array(["ff"]), "<U2"),
    ],
)
def test_arrays_that_hold_no_bits_are_refused_by_name(tmp_path, array, said):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(SourceError, match=rf"x\.npy.*{said}"):
        open_bit_files([tmp_path / "x.npy"], column="bits", on_error="skip")


@pytest.mark.parametrize(
    ("name", "spoil", "said"),
    [
        ("a.npy", lambda data: data[:-5], "cut off: 49 rows are whole, its header says 50"),
        ("a.npy", lambda data: data[:40], "no array that NumPy saved"),
        ("a.npy", lambda data: b"", "no array that NumPy saved"),
        ("a.npy", lambda data: data + data, "bytes follow its last row"),
        ("a.bvecs", lambda data: data[:-5], "no whole number of rows of 16 bytes"),
        ("a.bvecs", lambda data: b"", "no row"),
        (
            "a.bvecs",
            lambda data: data[:20] + b"\x11" + data[21:],
            "row 1 says it has 17 bytes, the first has 16",
        ),
    ],
)
def test_damaged_matrices_are_an_error_or_counted(tmp_path, name, spoil, said):
    path = tmp_path / name
    (write_npy if name.endswith("npy") else write_bvecs)(path, ROWS)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(SourceError, match=rf"{name}: it cannot be read \(.*{said}"):
        read(open_bit_files([path], column="bits"))
    write_npy(tmp_path / "good.npy", ROWS)
    source = open_bit_files([tmp_path], column="bits", on_error="skip")
    assert len(read(source)[0]) == len(ROWS)
    assert source.unreadable.files == 1


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (
            pa.array([b"ab", b"abc"]),
            r"row 1 \(counted from 0\): 'bits' has 24 bits where the first row has 16",
        ),
        (pa.array([b"ab", None]), "row 1 .*'bits' is null or missing"),
        (pa.array([b"ab", b""]), "row 1 .*'bits' has no bits"),
        (pa.array([[1], [None]], pa.list_(pa.uint8())), "row 1 .*'bits' holds a null"),
        (pa.array(["ff", "f"]), "row 1 .*'bits' has 1 hexadecimal digit where the first row has 2"),
        (pa.array(["ff", "xy"]), "row 1 .*'bits' is 'xy', not hexadecimal: look at digit 1"),
    ],
)
def test_the_row_at_fault_is_named_or_skipped(tmp_path, column, said):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"bits": column}), path)
    with pytest.raises(MalformedRowError, match=rf"x\.parquet, {said}"):
        read(open_bit_files([path], column="bits"))
    pq.write_table(pa.table({"bits": pa.concat_arrays([column[:1], column])}), path)
    source = open_bit_files([path], column="bits", on_error="skip")
    assert len(read(source)[0]) == 2
    assert source.unreadable.rows == 1


@pytest.mark.parametrize("kind", [pa.float64(), pa.int64(), pa.list_(pa.int64()), pa.date32()])
def test_columns_that_hold_no_bits_are_refused(tmp_path, kind):
    pq.write_table(pa.table({"bits": pa.array([None], kind), "id": [1]}), tmp_path / "x.parquet")
    with pytest.raises(
        SourceError, match=r"column 'bits' of .*x.parquet holds .*, no bits: name a column of"
    ):
        open_bit_files([tmp_path / "x.parquet"], column="bits")


def test_matrices_have_no_columns_beside_and_no_rows_is_nothing_to_read(tmp_path):
    write_npy(tmp_path / "x.npy", ROWS[:0])
    with pytest.raises(MissingColumnError, match=r"no column 'id' \(a .npy file holds bits only\)"):
        open_bit_files([tmp_path / "x.npy"], column="bits", id="id")
    with pytest.raises(EmptySourceError, match="nothing to read"):
        read(open_bit_files([tmp_path / "x.npy"], column="bits"))
    with pytest.raises(SourceError, match=r"files end in \.npy, \.bvecs, \.hex"):
        open_bit_files([__file__], column="bits")


@given(st.lists(st.sampled_from(["ff", "f", "fff", "zz", ""]), min_size=1, max_size=12))
def test_the_width_of_most_rows_counts_and_of_as_frequent_ones_the_greatest(rows):
    import tempfile
    from pathlib import Path

    widths = [4 * len(row) for row in rows if row.startswith("f")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.hex")
        path.write_text("".join(row + "\n" for row in rows))
        source = open_bit_files([path], column="bits", on_error="skip")
        if not widths:
            with pytest.raises(EmptySourceError):
                count_widths(source, lambda rows: None)
            return
        seen = []
        count_widths(source, seen.append)
        expected = max(set(widths), key=lambda width: (widths.count(width), width))
        assert source.wanted.width.bits == expected
        assert sum(seen) == len(widths)
        for batch_bytes in (1 << 20, 1):
            assert len(read(source, batch_bytes)[0]) == widths.count(expected)
        assert source.unreadable.rows == len(rows) - widths.count(expected)


@pytest.mark.parametrize("name", ["a.npy", "a.bvecs"])
def test_kept_rows_are_written_as_they_came(tmp_path, name):
    (write_npy if name.endswith("npy") else write_bvecs)(tmp_path / name, ROWS)
    source = open_bit_files([tmp_path / name], column="bits")
    keep = np.arange(len(ROWS)) % 3 == 0
    (written,) = source.write_kept(tmp_path / "kept", keep)
    assert read(open_bit_files([written], column="bits"))[0] == [row.tobytes() for row in ROWS[keep]]
