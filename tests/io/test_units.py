"""Units of texts: nothing is lost between them, and a reader would cut where they are cut."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.io.units import split_units

PIECES = st.sampled_from(["a", "b c", "é", " ", "\t", "\n", "\r\n", "\n\n", "\n \n"])
TEXTS = st.lists(st.lists(PIECES, max_size=8).map("".join), max_size=6)
WHITE = " \t\r\n\v\f"


def slow_lines(text):
    return [line + "\n" for line in text.split("\n")[:-1]] + (
        [text.split("\n")[-1]] if text.split("\n")[-1] else []
    )


def slow_units(text, unit):
    """The spans and contents of a text's units, line by line."""
    spans, contents = [], []
    open_ = False
    for line in slow_lines(text):
        blank = not line.strip(WHITE)
        if unit == "line" or not spans or (not blank and not open_ and contents[-1]):
            spans.append("")
            contents.append("")
        spans[-1] += line
        if not blank or contents[-1]:
            contents[-1] += line
        open_ = not blank
    return spans, [content.rstrip(WHITE) for content in contents]


@pytest.mark.parametrize("unit", ["line", "paragraph"])
@given(texts=TEXTS)
def test_units_are_where_a_reader_would_cut(unit, texts):
    units = split_units(pa.array(["xx", *texts, "yy"], pa.large_string()).slice(1, len(texts)), unit)
    expected = [slow_units(text, unit) for text in texts]
    assert units.counts.tolist() == [len(spans) for spans, _ in expected]
    assert units.contents().to_pylist() == [content for _, contents in expected for content in contents]
    assert units.texts(np.ones(len(units), bool)).to_pylist() == texts


@pytest.mark.parametrize("unit", ["line", "paragraph"])
@given(texts=TEXTS, data=st.data())
def test_units_can_be_left_out_and_the_rest_is_as_it_was(unit, texts, data):
    units = split_units(pa.array(texts, pa.large_string()), unit)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(units), max_size=len(units))), bool)
    spans = [spans for text in texts for spans in [slow_units(text, unit)[0]]]
    marks = iter(kept.tolist())
    expected = ["".join(span for span in own if next(marks)) for own in spans]
    assert units.texts(kept).to_pylist() == expected


def test_known_cuts():
    text = "\n\n  Title\n\nOne,\nstill one.  \n \t\n\nTwo.\n\n"
    units = split_units(pa.array([text]), "paragraph")
    assert units.contents().to_pylist() == ["  Title", "One,\nstill one.", "Two."]
    units = split_units(pa.array(["a\r\n\r\nb"]), "line")
    assert units.contents().to_pylist() == ["a", "", "b"]
    for unit in ("line", "paragraph"):
        assert len(split_units(pa.array([""], pa.string()), unit)) == 0
        assert len(split_units(pa.array([], pa.string()), unit)) == 0
        assert split_units(pa.array(["\n"]), unit).contents().to_pylist() == [""]
