"""The passages two texts share: a quotation, a copied paragraph, a leaked test question, as a reader sees it.

Texts are compared token by token: word by word for a shingler of words, character by character for one of
characters. The longest run of tokens that both texts hold is the first passage; its tokens are taken, and so
on until no run of `least` is left. Order need not agree, so moved paragraphs are found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lookalike import _core
from lookalike.errors import OptionError
from lookalike.types import U32

# No text has more tokens than this, so more of them need no number of their own.
_MOST = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch that says the same in two texts: `a[a_start:a_end]` and `b[b_start:b_end]`, in code points.

    `tokens` are shared. `changed` are not: in each gap between shared runs, the tokens of the text that has
    more there. An exact passage has none.
    """

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    tokens: int
    changed: int


class Coverage(NamedTuple):
    """The fraction of each text's tokens that the other has too."""

    a: float
    b: float


def shared_passages(
    a: str, b: str, *, shingler: _core.Shingler, least: int = 8, gap: int = 0
) -> list[Passage]:
    """Find the passages of at least `least` tokens that two texts share, in the order of `a`.

    Each token of either text is in at most one passage. The longest is taken first; of equally long ones the
    first in `a`, then the first in `b`. With `gap`, runs that follow each other in both texts with at most
    that many other tokens between them, on either side, are one edited passage; each run in it still has
    `least` tokens.

    Tokens are the shingler's words or characters, folded as it folds them; its k and its bag do not matter.
    NFKC is not applied, even where the shingler asks for it: positions are those of the text as it is, so
    full-width letters stay unlike plain ones. Among characters, one that folds to two (ß) is one token,
    unlike the two.

    Time stays near linear even in very repetitive text. In return, a window of `least` tokens that both
    texts hold over 16 times is met at 16 of its occurrences only, and a longer passage may then be passed
    over for shorter ones.

    Raises
    ------
    OptionError
        If `least` is not a whole number over 0, or `gap` one from 0.

    Examples
    --------
    >>> from lookalike.shingles import Shingle
    >>> a, b = "Out, out, brief candle! Life's but a shadow.", "He said: life's but a SHADOW; out, out!"
    >>> [a[p.a_start : p.a_end] for p in shared_passages(a, b, shingler=Shingle().shingler(0), least=2)]
    ['Out, out', "Life's but a shadow"]
    """
    least, gap = _whole("least", least, 1), _whole("gap", gap, 0)
    left, right = _utf8(a), _utf8(b)
    rows = _core.shared_passages(left, right, shingler, least=least, gap=gap)
    rows[:, 0:2] = _code_points(left, rows[:, 0:2])
    rows[:, 2:4] = _code_points(right, rows[:, 2:4])
    return [Passage(*row) for row in rows.tolist()]


def coverage(passages: Iterable[Passage], a: str, b: str, *, shingler: _core.Shingler) -> Coverage:
    """Tell how much of each text its passages hold: shared tokens over all tokens, 0 for a text without any.

    Examples
    --------
    >>> from lookalike.shingles import Shingle
    >>> shingler = Shingle().shingler(0)
    >>> a, b = "to be or not to be", "to be or to have"
    >>> coverage(shared_passages(a, b, shingler=shingler, least=3), a, b, shingler=shingler)
    Coverage(a=0.5, b=0.6)
    """
    shared = sum(passage.tokens for passage in passages)
    counts = (_core.count_tokens(_utf8(text), shingler) for text in (a, b))
    return Coverage(*(shared / count if count else 0.0 for count in counts))


def count_tokens(text: str, *, shingler: _core.Shingler) -> int:
    """How many words, or characters, the shingler sees in a text."""
    return _core.count_tokens(_utf8(text), shingler)


def _utf8(text: str) -> bytes:
    # Half of a surrogate pair is a code point like any other to whoever slices the text.
    return text.encode("utf-8", "surrogatepass")


def _code_points(text: bytes, places: U32) -> U32:
    """Byte places of `text`, all at the edges of characters, as counts of the code points before them."""
    if text.isascii():
        return places
    starts = np.flatnonzero(np.frombuffer(text, np.uint8) & 0xC0 != 0x80)
    return np.searchsorted(starts, places).astype(np.uint32)


def _whole(name: str, value: int, lowest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < lowest:
        raise OptionError(f"{name}={value!r} is out of range: a whole number of tokens, at least {lowest}")
    return min(int(value), _MOST)
