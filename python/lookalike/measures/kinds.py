"""What tokens are, so that two collections whose tokens could never meet, or could by mistake, are told.

Equal tokens have equal hashes, and that is all a search sees. In memory a list of strings holds strings, and
the string 7 is not the number; as written in files, it is. And −1 and 2⁶⁴−1 are the same 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import SourceError
from lookalike.measures.tokens import integers_of
from lookalike.types import Kinds, string_buffers

#: Tokens that are looked at first: most often these say it already.
_FIRST = 1024
_LARGEST = 2**63 - 1


def kinds_of(tokens: pa.Array, *, written: bool = False) -> Kinds:
    """The kinds of tokens: integers, or strings that are what they say, or `written` as in files.

    Examples
    --------
    >>> kinds_of(pa.array([3, -5]))
    Kinds(integer=3, negative=-5, large=None, string=None, numeral=None, written=None)
    >>> kinds_of(pa.array(["7", "a"])).numeral, kinds_of(pa.array(["7", "a"]), written=True).integer
    ('7', 7)
    """
    if pa.types.is_dictionary(tokens.type):
        tokens = tokens.dictionary.take(tokens.indices.unique())
    tokens = tokens.drop_null()
    if pa.types.is_integer(tokens.type):
        return _of_integers(tokens)
    if not len(tokens) or pa.types.is_null(tokens.type):
        return Kinds()
    strings = tokens.cast(pa.large_string())
    if not written:
        return Kinds(string=strings[0].as_py(), numeral=_numeral(strings))
    number, negative = _numeral(strings), _numeral(strings, negative=True)
    return Kinds(
        integer=None if number is None else int(number),
        negative=None if negative is None else int(negative),
        string=strings[0].as_py(),
        written=strings[0].as_py(),
    )


def kinds_of_columns(matrix: Any) -> Kinds:
    """The kinds of a matrix, whose tokens are numbers of columns."""
    return Kinds(integer=int(matrix.indices[0]) if len(matrix.indices) else None)


def check_kinds(kinds: Sequence[Kinds], names: Sequence[str]) -> None:
    """Raise unless equal tokens of two collections are equal hashes, and different ones different."""
    both = list(zip(kinds, names, strict=True))
    for (one, name), (other, others) in (both, both[::-1]) if len(both) == 2 else ():
        if one.negative is not None and other.large is not None:
            raise SourceError(
                f"{name} holds {one.negative}, and {others} holds {other.large}: these can be the same"
                " 64 bits. Integers in sets lie from −2⁶³ to 2⁶³−1, or in all sets from 0 to 2⁶⁴−1"
            )
        if one.integer is None or other.string is None:
            continue
        if one.written is not None and other.numeral is not None:
            raise SourceError(
                f"{others} holds strings, such as {other.numeral!r:.40}, and in {name} a token written like a"
                f" number, such as {one.integer}, is that number: give integers, or have the strings read so"
                " too, read_sets(table, items=…)"
            )
        if one.written is None and other.integer is None:
            string = other.string if other.numeral is None else other.numeral
            raise SourceError(
                f"{name} holds integers, such as {one.integer}, and {others} strings, such as {string!r:.40}:"
                " they can have nothing in common. Give both as integers, or both as strings"
            )


def _of_integers(tokens: pa.Array) -> Kinds:
    if not len(tokens):
        return Kinds()
    ends = pc.min_max(tokens).as_py()
    return Kinds(
        integer=tokens[0].as_py(),
        negative=ends["min"] if ends["min"] < 0 else None,
        large=ends["max"] if ends["max"] > _LARGEST else None,
    )


def _numeral(strings: pa.Array, *, negative: bool = False) -> str | None:
    """The first of these that is written like a whole number, or like one under 0."""
    data, offsets = string_buffers(strings)
    filled = offsets[1:] > offsets[:-1]
    begins = data[offsets[:-1][filled]]
    likely = begins == ord("-")
    if not negative:
        likely |= (begins >= ord("0")) & (begins <= ord("9"))
    at = np.flatnonzero(filled)[likely]
    for some in (at[:_FIRST], at[_FIRST:]):
        if len(some):
            taken = strings.take(pa.array(some))
            _, whole = integers_of(*string_buffers(taken))
            if whole.any():
                return str(taken[int(np.argmax(whole))])
    return None
