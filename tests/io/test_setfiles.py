"""Transaction files: every line a row, blank ones too, and errors that name file and line."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import EmptySourceError, MalformedRowError, OptionError, SourceError
from lookalike.io.setfiles import open_set_lines, split_every_line


def lines_of(source, batch_bytes=1 << 20):
    return [line for batch in source.scan(batch_bytes) for line in batch["text"].to_pylist()]


def test_every_line_is_a_row_and_blank_lines_are_too(tmp_path, step):
    path = tmp_path / "baskets.dat"
    path.write_bytes(b"1 2 3 \n\n4\r\n  \n5 6")
    source = open_set_lines(path)
    assert lines_of(source) == ["1 2 3 \n", "\n", "4\r\n", "  \n", "5 6"]
    assert source.ids(np.arange(5)).to_pylist() == [f"{path}:{row}" for row in range(5)]


@given(
    st.lists(st.sampled_from([b"1", b" ", b"\n", b"\r\n", b"ab"]), max_size=12).map(b"".join), st.booleans()
)
def test_splitting_keeps_every_byte(data, final):
    split = split_every_line(data, final=final)
    pieces = [data[start:end] for start, end in zip(split.starts, split.ends, strict=True)]
    whole = data.split(b"\n")
    expected = [line + b"\n" for line in whole[:-1]] + ([whole[-1]] if final and whole[-1] else [])
    assert pieces == expected
    assert split.consumed == sum(map(len, expected))
    assert split.lines == data.count(b"\n")


@pytest.mark.parametrize(
    "name", ["a.dat", "a.txt", "a", "a.basket", "a.csv", "a.dat.gz", "a.txt.zst", "a.gz"]
)
def test_any_ending_will_do(tmp_path, name):
    path = tmp_path / name
    content = b"1 2\n3\n"
    if name.endswith(".gz"):
        content = gzip.compress(content)
    if name.endswith(".zst"):
        content = pa.compress(content, codec="zstd", asbytes=True)
    path.write_bytes(content)
    assert lines_of(open_set_lines([path])) == ["1 2\n", "3\n"]


def test_files_come_in_the_order_of_their_paths(tmp_path):
    (tmp_path / "b.dat").write_text("2\n")
    (tmp_path / "a.dat").write_text("1")
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    source = open_set_lines(tmp_path)
    assert lines_of(source) == ["1", "2\n"]
    assert source.passed_over == 1


def test_a_line_that_is_not_utf8_is_named_or_skipped(tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_bytes(b"1 2\nca\xe9 5\n7\n")
    with pytest.raises(MalformedRowError, match=r"baskets.dat, line 2: .*byte 0xe9 at offset 2"):
        lines_of(open_set_lines(path))
    source = open_set_lines(path, on_error="skip")
    assert lines_of(source) == ["1 2\n", "7\n"]
    assert source.ids(np.array([1])).to_pylist() == [f"{path}:2"]
    assert source.unreadable.rows == 1


def test_a_file_that_breaks_off_is_named(tmp_path):
    path = tmp_path / "baskets.dat.gz"
    path.write_bytes(gzip.compress(b"1 2 3\n" * 100_000)[:200])
    with pytest.raises(SourceError, match=r"baskets.dat.gz"):
        lines_of(open_set_lines(path))


def test_what_is_not_there_is_an_error(tmp_path):
    with pytest.raises(SourceError, match="no file or folder"):
        open_set_lines(tmp_path / "none.dat")
    with pytest.raises(OptionError, match="no input was named"):
        open_set_lines([])
    (tmp_path / "a.parquet").touch()
    with pytest.raises(SourceError, match="no kind that can be read"):
        open_set_lines(tmp_path / "a.parquet")
    (tmp_path / "empty.dat").touch()
    with pytest.raises(EmptySourceError):
        lines_of(open_set_lines(tmp_path / "empty.dat"))


def test_kept_lines_are_written_byte_for_byte(tmp_path):
    path = tmp_path / "baskets.dat.gz"
    path.write_bytes(gzip.compress(b"1 2 \r\n\n3\n4"))
    source = open_set_lines(path)
    [written] = source.write_kept(tmp_path / "kept", np.array([True, True, False, True]))
    assert gzip.decompress(written.read_bytes()) == b"1 2 \r\n\n4"


@pytest.mark.parametrize("there", [[], ["model.npz", "table.parquet", ".hidden.txt"]])
def test_a_folder_without_lines_says_that_any_other_ending_will_do(tmp_path, there):
    for name in there:
        (tmp_path / name).write_bytes(b"1 2\n")
    with pytest.raises(EmptySourceError, match=r"no file there ends in anything but \.parquet, \.npz"):
        open_set_lines(tmp_path)
