"""What a stored file says about itself, and what is refused."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import ArtefactError
from lookalike.runs import FORMAT_VERSION, Header

HEADER = Header(kind="pairs", algorithm=3, parameters={"threshold": 0.8, "shingle": "words:5"})

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(), st.integers(0, 2**31), st.dictionaries(st.text(), json_values, max_size=4))
def test_a_header_round_trips(kind, algorithm, parameters):
    header = Header(kind=kind, algorithm=algorithm, parameters=parameters)
    assert Header.from_json(header.to_json()) == header


def test_headers_are_frozen_and_keyword_only():
    with pytest.raises(dataclasses.FrozenInstanceError):
        HEADER.kind = "clusters"
    with pytest.raises(TypeError):
        Header("pairs", 3)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"magic":"other"}', '{"magic":"lookalike"}', "\x00"])
def test_what_is_not_a_header_is_damage(text):
    with pytest.raises(ArtefactError, match=r"out\.bin is damaged"):
        Header.from_json(text, where="out.bin")


def test_another_file_format_is_refused_by_number():
    stored = {**json.loads(HEADER.to_json()), "format": FORMAT_VERSION + 1}
    with pytest.raises(ArtefactError, match=f"format {FORMAT_VERSION + 1}.*reads format {FORMAT_VERSION}"):
        Header.from_json(json.dumps(stored))


def test_what_was_asked_for_is_let_through():
    HEADER.require(where="x", kind="pairs", algorithm=3, parameters={"threshold": 0.8})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "clusters"}, "holds pairs, not clusters"),
        ({"algorithm": 4}, "version 3 .* version 4.*make it again"),
        ({"parameters": {"threshold": 0.7}}, "threshold=0.8 and threshold=0.7 is asked for"),
        ({"parameters": {"seed": 1}}, "seed=None and seed=1"),
    ],
)
def test_mixes_are_refused_with_what_to_do(asked, message):
    with pytest.raises(ArtefactError, match=message):
        HEADER.require(where="x.parquet", **asked)
