"""Tokens as they are written: what is a number, where a token ends, and whose set it is in."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import OptionError
from lookalike.measures.tokens import hash_tokens, sets_of_lines, sets_of_lists


def meant(token):
    """The number a token is written like, or the token."""
    try:
        number = int(token)
    except ValueError:
        return token
    return number if str(number) == token and -(2**63) <= number < 2**63 else token


def elements(tokens, seed=0):
    """The set of tokens, each hashed by itself."""
    return {int(la.as_sets([[meant(token)]], seed=seed)[0][0]) for token in tokens}


def lines_of(texts):
    return pa.array(texts, pa.large_string())


TOKENS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.integers(-5, 5).map(str),
    st.sampled_from(["007", "-0", "00", "-", "+1", "1.5", "1e3", "--1", "٣", "1a", "é", "x y z"]),
    st.text(
        st.characters(exclude_characters=" \t\r\n\v\f,", exclude_categories=["Cs"]), min_size=1, max_size=4
    ),
)
WHITE = st.text(" \t\r\v\f", max_size=2)


@given(st.lists(st.lists(TOKENS.filter(lambda token: " " not in token), max_size=6), max_size=8), st.data())
def test_lines_hold_the_sets_of_their_tokens(rows, data):
    spaces = st.text(" \t\r\v\f", min_size=1, max_size=2)
    texts = [
        data.draw(WHITE)
        + "".join(token + data.draw(spaces) for token in row)
        + data.draw(st.sampled_from(["", "\n"]))
        for row in rows
    ]
    sets, names = sets_of_lines(lines_of(texts), seed=3)
    assert [set(own.tolist()) for own in sets] == [elements(row, seed=3) for row in rows]
    assert names.null_count == len(rows)


@given(st.lists(st.lists(TOKENS, max_size=5), max_size=8), st.data())
@example([["a b", "c"], ["d"]], None)
def test_with_a_separator_tokens_may_hold_spaces(rows, data):
    draw = (lambda strategy: data.draw(strategy)) if data else (lambda strategy: " ")
    texts = [
        ",".join(draw(WHITE) + token + draw(WHITE) for token in row)
        + draw(st.sampled_from(["", "\n", ",,\n"]))
        for row in rows
    ]
    sets, _ = sets_of_lines(lines_of(texts), separator=",")
    # Without a token or a separator the line is blank.
    assert [set(own.tolist()) for own in sets] == [elements(row) for row in rows]


@given(st.lists(st.lists(TOKENS.filter(lambda token: " " not in token), max_size=5), max_size=8))
def test_the_first_token_may_be_the_name(rows):
    sets, names = sets_of_lines(lines_of([" ".join(row) + "\n" for row in rows]), first=True)
    assert names.to_pylist() == [row[0] if row else None for row in rows]
    assert [set(own.tolist()) for own in sets] == [elements(row[1:]) for row in rows]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
def test_a_number_is_the_same_written_or_not(numbers):
    written = hash_tokens(pa.array([str(number) for number in numbers], pa.large_string()))
    assert np.array_equal(written, hash_tokens(pa.array(numbers, pa.int64())))


def test_numbers_end_where_64_bits_do():
    least, most = -(2**63), 2**63 - 1
    rows = [[str(number)] for number in (least - 1, least, most, most + 1, 10**19 - 1, -(10**19 - 1))]
    sets, _ = sets_of_lines(lines_of([row[0] for row in rows]))
    assert [set(own.tolist()) for own in sets] == [elements(row) for row in rows]


def test_slices_hold_their_own_rows_only():
    lines = lines_of(["9 9", "1 2", "3", "8"]).slice(1, 2)
    assert [set(own.tolist()) for own in sets_of_lines(lines)[0]] == [elements(["1", "2"]), elements(["3"])]
    lists = pa.array([["9"], ["1", "2", "1"], [], ["8"]], pa.large_list(pa.large_string())).slice(1, 2)
    assert [set(own.tolist()) for own in sets_of_lists(lists)] == [elements(["1", "2"]), set()]


@pytest.mark.parametrize("separator", ["", ", ", "\n", "—", 7])
def test_what_cannot_separate_is_refused(separator):
    with pytest.raises(OptionError, match="one ASCII character"):
        sets_of_lines(lines_of(["a"]), separator=separator)
