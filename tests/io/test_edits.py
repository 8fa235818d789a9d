"""Edited texts: the new text is there, and nothing else has moved."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.io import open_source
from lookalike.io.edits import Edits, json_with_text
from lookalike.io.quoting import RowSplitter
from lookalike.io.records import EDITED_BYTES

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.text(max_size=4), JSON, max_size=4),
    st.text(),
    st.text(),
    st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    st.booleans(),
)
def test_a_line_of_json_has_another_text_and_nothing_else(row, old, new, separators, ascii_):
    row = {**row, "text": old, "more": 1}
    line = json.dumps(row, separators=separators, ensure_ascii=ascii_)
    edited = json_with_text(f" {line} ", "text", new)
    assert json.loads(edited) == {**row, "text": new}
    if not ascii_:
        assert json_with_text(edited, "text", old) == f" {line} "


def test_numbers_are_not_written_anew():
    line = '{"a":1.50,"text":"x","b":123456789012345678901234567890.0e5}'
    assert json_with_text(line, "text", 'say "é"') == line.replace('"x"', '"say \\"é\\""')


FIELDS = st.lists(st.text(st.sampled_from('ab,"\n é'), max_size=5), min_size=2, max_size=5)


@given(FIELDS, st.text(st.sampled_from('xy,"\r\n'), max_size=5), st.data())
def test_a_row_of_csv_has_another_field_and_nothing_else(fields, value, data):
    quoted = ['"' + field.replace('"', '""') + '"' for field in fields]
    row = ",".join(quoted).encode()
    at = data.draw(st.integers(0, len(fields) - 1))
    splitter = RowSplitter(",")
    edited = splitter.with_field(row, at, value.encode())
    expected = [value if place == at else field for place, field in enumerate(fields)]
    assert [field.decode() for field in splitter.fields(edited)] == expected
    plain = splitter.with_field(b"a,b,c", 1, value.encode())
    assert splitter.fields(plain) == [b"a", value.encode(), b"c"]


@given(st.lists(st.tuples(st.text(max_size=3), st.booleans()), max_size=10))
def test_only_changed_texts_are_replaced(rows):
    texts, changed = [text for text, _ in rows], np.array([mark for _, mark in rows], bool)
    edits = Edits(
        column="text",
        changed=changed,
        text=lambda numbers, old: pa.array(
            [f"{number}:{text}" for number, text in zip(numbers.tolist(), old.to_pylist(), strict=True)],
            pa.large_string(),
        ),
    )
    edited = edits.apply(np.arange(len(rows)), pa.array(texts, pa.large_string())).to_pylist()
    assert edited == [f"{at}:{text}" if mark else text for at, (text, mark) in enumerate(rows)]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_files_are_edited_a_little_at_a_time_and_wholly(tmp_path, form):
    """More is edited than one call sees, and none of the calls sees much."""
    texts = [f"{at} " + "word " * (at % 90) for at in range(6000)]
    path, target = tmp_path / f"in.{form}", tmp_path / "out"
    if form == "jsonl":
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    else:
        path.write_text("text\n" + "".join(f"{text}\n" for text in texts))
    target.mkdir()
    seen = []

    def shouted(rows, given):
        assert given.to_pylist() == [texts[row] for row in rows.tolist()]
        seen.append(given.nbytes)
        return pa.array([text.upper() for text in given.to_pylist()], pa.large_string())

    keep, changed = np.arange(6000) % 5 != 0, np.arange(6000) % 3 != 0
    with open_source(path) as source:
        source.layout  # noqa: B018
        (written,) = source.write_kept(target, keep, Edits(column="text", changed=changed, text=shouted))
    expected = [texts[at].upper() if changed[at] else texts[at] for at in np.flatnonzero(keep)]
    with open_source(written) as again:
        assert [text for batch in again.scan() for text in batch["text"].to_pylist()] == expected
    assert sum(seen) > 2 * EDITED_BYTES
    assert max(seen) <= EDITED_BYTES + (1 << 16)
