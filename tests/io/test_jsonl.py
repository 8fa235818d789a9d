"""jsonl: what Python's json reads, Arrow's reader must read, and nothing else."""

import gzip
import json
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lookalike.errors import MalformedRowError, MissingColumnError, SourceError
from lookalike.io import open_files, records

relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

rows = st.fixed_dictionaries(
    {"text": st.text(max_size=20)},
    optional={
        "note": st.text(max_size=5),
        "n": st.none() | st.integers(-5, 5) | st.lists(st.booleans(), max_size=2),
    },
)
line_breaks = st.sampled_from(["\n", "\r\n"])
paddings = st.sampled_from(["", "", "", " ", "\t"])
blanks = st.sampled_from(["", "", "", "\n", "  \n", "\r\n"])


@st.composite
def jsonl_files(draw):
    """The bytes of a file, and its rows with the bytes of their lines."""
    content = draw(st.sampled_from(["", "\ufeff"]))
    lines = []
    for row in draw(st.lists(rows, min_size=1, max_size=12)):
        content += draw(blanks)
        ascii_only = draw(st.booleans())
        body = json.dumps(row, ensure_ascii=ascii_only).replace("\x7f", "\\u007f")
        line = draw(paddings) + body + draw(paddings) + draw(line_breaks)
        lines.append((row, line))
        content += line
    if draw(st.booleans()):
        content = content.removesuffix("\n")
        lines[-1] = (lines[-1][0], lines[-1][1].removesuffix("\n"))
    return content.encode(), [(row, line.encode()) for row, line in lines]


@relaxed
@given(file=jsonl_files(), data=st.data())
def test_any_jsonl_is_read_and_written_back_line_by_line(tmp_path_factory, read_all, file, data):
    content, expected = file
    folder = tmp_path_factory.mktemp("jsonl")
    (folder / "a.jsonl").write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "STEP", data.draw(st.sampled_from([1, 5, 64, 1 << 18])))
        source = open_files(folder)
        table = read_all(source, data.draw(st.sampled_from([3, 100, 1 << 20])))
        assert table["text"].to_pylist() == [row["text"] for row, _ in expected]
        assert table.schema == pa.schema([("text", pa.large_string())])

        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(expected), max_size=len(expected))))
        written = source.write_kept(folder / "kept", mask)
    bom = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
    assert [path.name for path in written] == ["a.jsonl"]
    assert written[0].read_bytes() == bom + b"".join(
        line for (_, line), kept in zip(expected, mask, strict=True) if kept
    )


BROKEN = {
    "string never closed": (b'{"text": "a}', "broken JSON: .*starting at character 10"),
    "cut short": (b'{"text": "a"', "broken JSON: Expecting ',' delimiter"),
    "no object": (b"[1, 2]", "not an object"),
    "a number": (b"7", "not an object"),
    "single quotes": (b"{'text': 'a'}", "broken JSON: Expecting property name"),
    "two on a line": (b'{"text": "a"} {"text": "b"}', "broken JSON: Extra data"),
    "trailing comma": (b'{"text": "a",}', "broken JSON"),
    "unknown escape": (b'{"text": "\\q"}', "broken JSON: Invalid .escape"),
    "lone surrogate": (b'{"text": "\\ud800"}', "surrogate"),
    "low surrogate": (b'{"text": "\\udc00 a"}', "surrogate"),
    "not UTF-8": (b'{"text": "\xff"}', r"not UTF-8: byte 0xff at offset 10 of the line"),
    "not UTF-8 elsewhere": (b'{"text": "a", "b": "\xc3("}', "not UTF-8: byte 0xc3 at offset 20"),
    "control character": (b'{"text": "a\x01"}', "broken JSON: Invalid control character"),
    "zero byte": (b'{"text": "a\x00"}', "broken JSON"),
    "a number as text": (b'{"text": 5}', "'text' is of kind number here and string is expected"),
    "null": (b'{"text": null}', "'text' is null or missing"),
    "missing": (b'{"other": 1}', "'text' is null or missing"),
    "given twice": (b'{"text": "a", "text": "b"}', "specified twice"),
    "comment": (b'{"text": "a"} // why', "broken JSON"),
    "bare word": (b"hello", "broken JSON"),
}


@pytest.mark.parametrize(("line", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_line_is_named_with_file_and_line(tmp_path, read_all, step, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one"}\n\n{"text": "two"}\n' + line + b'\n{"text": "three"}\n')
    with pytest.raises(MalformedRowError, match=rf"a\.jsonl, line 4: .*{reason}.*on_error='skip'"):
        read_all(open_files(path))


@pytest.mark.parametrize("line", [line for line, _ in BROKEN.values()], ids=BROKEN)
def test_a_broken_line_can_be_skipped_and_is_counted(tmp_path, read_all, step, line):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one"}\n\n' + line + b'\n{"text": "three"}\n' + line + b'\n{"text": "five"}')
    source = open_files(path, on_error="skip")
    for batch_bytes in (1, 1 << 20):
        assert read_all(source, batch_bytes)["text"].to_pylist() == ["one", "three", "five"]
    assert (source.read, source.rows, source.unreadable.rows) == (3, 5, 2)
    assert [fault.place for fault in source.unreadable.places] == ["line 3", "line 5"]
    assert source.ids(np.array([0, 1, 2])).to_pylist() == [f"{path}:{row}" for row in (0, 2, 4)]
    (kept,) = source.write_kept(tmp_path / "kept", np.array([True, False, True]))
    assert kept.read_bytes() == b'{"text": "one"}\n{"text": "five"}'


@relaxed
@given(
    broken=st.lists(st.booleans(), min_size=1, max_size=60), batch_bytes=st.sampled_from([10, 200, 1 << 20])
)
def test_skipping_finds_exactly_the_broken_lines(tmp_path_factory, read_all, broken, batch_bytes):
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    path.write_text(
        "".join(f'{{"text": "{at}"{"" if bad else "}"}\n' for at, bad in enumerate([False, *broken]))
    )
    source = open_files(path, on_error="skip")
    table = read_all(source, batch_bytes)
    assert table["text"].to_pylist() == [str(at) for at, bad in enumerate([False, *broken]) if not bad]
    assert source.unreadable.rows == sum(broken)
    assert source.rows == len(broken) + 1


def test_objects_that_share_and_span_lines_do_not_cancel_out(tmp_path, read_all):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"} {"text": "b"}\n{"text":\n"c"}\n')
    with pytest.raises(MalformedRowError, match="line 1: "):
        read_all(open_files(path))


def test_lines_longer_than_a_block_are_read(tmp_path, read_all):
    texts = ["x" * (3 << 20), "short", "y" * (20 << 20)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    assert read_all(open_files(path))["text"].to_pylist() == texts


def test_ids_keep_their_type(tmp_path, read_all):
    path = tmp_path / "a.jsonl"
    for values, kind in (
        ([1, -(2**60)], pa.int64()),
        ([2**63 + 1, 4], pa.uint64()),
        (["007", "7"], pa.string()),
    ):
        path.write_text("".join(json.dumps({"text": "t", "key": value}) + "\n" for value in values))
        source = open_files(path, id="key")
        assert read_all(source).schema.field("id").type == kind
        assert source.ids(np.array([1, 0])).to_pylist() == values[::-1]


def test_an_id_of_another_kind_than_the_first_is_named(tmp_path, read_all):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "id": 1}\n{"text": "b", "id": "x7"}\n')
    with pytest.raises(MalformedRowError, match="line 2: 'id' is of kind string here and number is expected"):
        read_all(open_files(path, id="id"))


def test_a_missing_id_is_named(tmp_path, read_all):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "id": 1}\n{"text": "b"}\n')
    with pytest.raises(MalformedRowError, match="line 2: 'id' is null or missing"):
        read_all(open_files(path, id="id"))


def test_extra_numbers_may_be_whole_or_not_and_may_be_missing(tmp_path, read_all):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b", "score": 1}\n{"text": "c", "score": 0.5}\n')
    table = read_all(open_files(path, columns=["score"]))
    assert table.column_names == ["text", "score"]
    assert table["score"].to_pylist() == [None, 1.0, 0.5]


def test_a_missing_column_lists_those_there_are_and_the_nearest(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "texts": "a"}\n{"content": 2}\n')
    with pytest.raises(
        MissingColumnError, match=r"no column 'text' .*it has id, texts, content\. Did you mean 'texts'"
    ):
        open_files(path)


def test_a_text_column_of_numbers_is_refused_before_reading(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": 5}\n{"text": 6}\n')
    with pytest.raises(SourceError, match="holds double, not text: name the text column with text='COLUMN'"):
        open_files(path)


def test_a_json_array_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": "a"}], indent=1))
    with pytest.raises(SourceError, match=r"one JSON array.*jq -c"):
        open_files(path)


@pytest.mark.parametrize("batch_bytes", [1000, 1 << 25])
def test_a_compressed_file_that_breaks_off_gives_the_same_rows_whatever_the_batch(
    tmp_path, read_all, batch_bytes
):
    random = np.random.default_rng(0)
    lines = [b'{"text": "%d"}\n' % number for number in random.integers(2**62, size=100_000)]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(lines), mtime=0)[:-5000])
    with pytest.raises(SourceError, match=r"a\.jsonl\.gz, line \d+: it cannot be read on"):
        read_all(open_files(path))

    source = open_files(path, on_error="skip")
    count = read_all(source, batch_bytes).num_rows
    assert source.unreadable.files == 1
    assert source.unreadable.places[-1].place == f"line {count + 1}"
    # What is lost depends on the step in which a stream is read, not on the batch.
    assert count == b"".join(lines)[: bytes_before_the_break(path)].count(b"\n")
    (kept,) = source.write_kept(tmp_path / "kept", np.ones(count, dtype=bool))
    assert gzip.decompress(kept.read_bytes()) == b"".join(lines[:count])


def test_a_file_that_is_not_compressed_as_its_name_says_is_refused_or_counted(tmp_path, read_all):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    for name in ("b.jsonl.gz", "c.jsonl.zst"):
        (tmp_path / name).write_text('{"text": "plain"}\n')
    with pytest.raises(SourceError, match=r"b\.jsonl\.gz: it cannot be read"):
        open_files(tmp_path)
    source = open_files(tmp_path, on_error="skip")
    assert read_all(source)["text"].to_pylist() == ["a"]
    assert (source.unreadable.files, source.unreadable.rows) == (2, 0)
    assert [path.name for path in source.write_kept(tmp_path / "kept", np.array([True]))] == ["a.jsonl"]


def bytes_before_the_break(path):
    total = 0
    with pa.input_stream(path, compression="gzip") as stream:
        try:
            while piece := stream.read(records.STEP):
                total += len(piece)
        except OSError:
            return total
    raise AssertionError("the file is not broken")


def test_kept_lines_are_written_with_little_memory(tmp_path):
    line = json.dumps({"text": "x" * 1000}) + "\n"
    count = 24_000
    (tmp_path / "a.jsonl").write_text(line * count)
    source = open_files(tmp_path / "a.jsonl")
    for _ in source.scan(1 << 20):
        pass
    tracemalloc.start()
    try:
        (kept,) = source.write_kept(tmp_path / "kept", np.arange(count) % 3 > 0)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert kept.stat().st_size == len(line) * (count - count // 3)
    # Of 24 MB, a few pieces of two at a time.
    assert most < 12 << 20
