"""Two texts: how similar they are, exactly and by estimate, and which passages they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.options import PairOptions
from lookalike.charts import numbers
from lookalike.errors import SourceError
from lookalike.families import MinHash
from lookalike.keywords import suggesting
from lookalike.measures.passages import Coverage, Passage, coverage, shared_passages
from lookalike.shingles import Shingle, sets_of_texts
from lookalike.theory.ranges import checked_seed
from lookalike.wording import an

#: Words, or characters, in a row that make a passage, if nobody says otherwise.
LEAST = 8
#: Passages named in a repr, and how much of each is quoted.
_NAMED = 10
_QUOTED = 60
#: Colours of passages in a notebook, told apart by most eyes; the number beside each tells the rest.
_PALETTE = ("#fde9a9", "#cfe3fb", "#d5f0d0", "#f6d3de", "#e3daf6", "#fbd9bd")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one text: of the passage of that number, counted from 1, or of none."""

    text: str
    passage: int | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What two texts have in common.

    Attributes
    ----------
    similarity
        Jaccard similarity of the sets of shingles.
    estimate
        The same, judged by signatures: the fraction of slots that agree.
    a_in_b, b_in_a
        Containment: the share of one text's shingles that the other has too.
    shingles
        How many shingles `a` has, `b` has, and both have.
    passages
        What is shared, word for word, in the order of `a`.
    coverage
        The share of each text's words (or characters) that lie in passages.

    Examples
    --------
    >>> found = compare("a rose is a rose", "a rose is a flower", shingle="words:2", least=3)
    >>> found.similarity, found.shingles
    (0.75, (3, 4, 3))
    >>> [found.a[passage.a_start : passage.a_end] for passage in found.passages]
    ['a rose is a']
    """

    a: str
    b: str
    shingle: str
    slots: int
    least: int
    similarity: float
    estimate: float
    a_in_b: float
    b_in_a: float
    shingles: tuple[int, int, int]
    passages: tuple[Passage, ...]
    coverage: Coverage

    @property
    def unit(self) -> str:
        """What passages are counted in: words, or characters."""
        return "characters" if Shingle.parse(self.shingle).unit == "chars" else "words"

    def pieces(self, passages: Sequence[Passage] | None = None) -> tuple[list[Piece], list[Piece]]:
        """Both texts cut at the edges of `passages` (all, if not given), which are numbered as they come."""
        numbered = list(enumerate(self.passages if passages is None else passages, start=1))
        left = [(passage.a_start, passage.a_end, number) for number, passage in numbered]
        right = [(passage.b_start, passage.b_end, number) for number, passage in numbered]
        return _cut(self.a, left), _cut(self.b, right)

    def facts(self) -> list[str]:
        """The numbers, a line each."""
        in_a, in_b, in_both = (numbers.count(size) for size in self.shingles)
        union = self.shingles[0] + self.shingles[1] - self.shingles[2]
        are = "is" if self.shingles[2] == 1 else "are"
        found = numbers.count(len(self.passages)) if self.passages else "none"
        covered = (
            f", {numbers.percent(self.coverage.a)} of a and {numbers.percent(self.coverage.b)} of b"
            if self.passages
            else ""
        )
        return [
            f"similarity    {self.similarity:.4f} exactly: {in_both} of "
            f"{numbers.several(union, 'different shingle')} ({self.shingle}) {are} in both",
            f"estimated     {self.estimate:.4f} from signatures of {numbers.several(self.slots, 'slot')}",
            f"contained     {numbers.percent(self.a_in_b)} of a's {in_a} in b, "
            f"{numbers.percent(self.b_in_a)} of b's {in_b} in a",
            f"passages      {found} of {numbers.several(self.least, self.unit[:-1])} or more{covered}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; places are code points of the texts, which are not in it."""
        in_a, in_b, in_both = self.shingles
        return {
            "similarity": self.similarity,
            "estimate": self.estimate,
            "containment": {"a_in_b": self.a_in_b, "b_in_a": self.b_in_a},
            "shingles": {"a": in_a, "b": in_b, "both": in_both},
            "coverage": {"a": self.coverage.a, "b": self.coverage.b},
            "passages": [asdict(passage) for passage in self.passages],
            "parameters": {"shingle": self.shingle, "slots": self.slots, "least": self.least},
        }

    def __repr__(self) -> str:
        shown = [
            f"{number:>4}  {numbers.several(passage.tokens, self.unit[:-1])}: "
            f"{_quoted(self.a[passage.a_start : passage.a_end])}"
            for number, passage in enumerate(self.passages[:_NAMED], start=1)
        ]
        more = len(self.passages) - len(shown)
        return "\n".join([*self.facts(), *shown, *([f"      … {more:,} more"] if more else [])])

    def _repr_html_(self) -> str:
        facts = "".join(f"<li>{escape(fact)}</li>" for fact in self.facts())
        style = "width:50%;vertical-align:top;text-align:left;white-space:pre-wrap"
        cells = "".join(f'<td style="{style}">{_marked(pieces)}</td>' for pieces in self.pieces())
        return f"<ul>{facts}</ul><table><thead><tr><th>a</th><th>b</th></tr></thead><tr>{cells}</tr></table>"


@suggesting()
def compare(
    a: str,
    b: str,
    *,
    shingle: str | Shingle = PairOptions.shingle,
    slots: int = PairOptions.slots,
    seed: int = PairOptions.seed,
    least: int = LEAST,
) -> Comparison:
    """Compare two texts.

    Parameters
    ----------
    shingle
        How a text becomes a set, such as `words:5` or `chars:9`; not by its rarest words, which only a
        collection can tell.
    slots, seed
        Of the signatures that the estimate comes from.
    least
        How many words (characters, with character shingles) in a row make a passage.

    Examples
    --------
    >>> a, b = "the cat sat on the mat all day", "yesterday the cat sat on the mat"
    >>> compare(a, b, shingle="words:2", least=4)
    similarity    0.6250 exactly: 5 of 8 different shingles (words:2) are in both
    estimated     0.5703 from signatures of 128 slots
    contained     71.4% of a's 7 in b, 83.3% of b's 6 in a
    passages      1 of 4 words or more, 75.0% of a and 85.7% of b
       1  6 words: the cat sat on the mat
    """
    for name, text in (("a", a), ("b", b)):
        if not isinstance(text, str):
            kind = "bytes" if isinstance(text, bytes) else an(type(text).__name__)
            raise SourceError(f"{name} is {kind}, not a text: give two strings")
        _check_unicode(name, text)
    form, seed = Shingle.parse(shingle), checked_seed(seed)
    shingler = form.shingler(seed)
    sets = sets_of_texts(pa.array([a, b], pa.large_string()), form, seed=seed)
    both = len(np.intersect1d(sets[0], sets[1], assume_unique=True))
    in_a, in_b = len(sets[0]), len(sets[1])
    signatures = MinHash(slots=slots, seed=seed).signatures(sets, threads=1)
    passages = tuple(shared_passages(a, b, shingler=shingler, least=least))
    return Comparison(
        a=a,
        b=b,
        shingle=str(form),
        slots=slots,
        least=least,
        similarity=both / (in_a + in_b - both) if both else 0.0,
        # Signatures of empty sets agree, and yet nothing is like an empty text.
        estimate=signatures.similarity(0, 1) if in_a and in_b else 0.0,
        a_in_b=both / in_a if in_a else 0.0,
        b_in_a=both / in_b if in_b else 0.0,
        shingles=(in_a, in_b, both),
        passages=passages,
        coverage=coverage(passages, a, b, shingler=shingler),
    )


def _check_unicode(name: str, text: str) -> None:
    # Half of a surrogate pair is no character. Taken for some other one, it would be like what it is not.
    try:
        text.encode()
    except UnicodeEncodeError as reason:
        raise SourceError(
            f"{name} is not Unicode text: {text[reason.start]!a} at character {reason.start} is half of a "
            "surrogate pair; decode the text again, with errors='replace' if need be"
        ) from None


def _cut(text: str, spans: list[tuple[int, int, int]]) -> list[Piece]:
    pieces, done = [], 0
    for start, end, number in sorted(spans):
        if start > done:
            pieces.append(Piece(text[done:start], None))
        pieces.append(Piece(text[start:end], number))
        done = end
    if done < len(text):
        pieces.append(Piece(text[done:], None))
    return pieces


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…"


def _marked(pieces: list[Piece]) -> str:
    return "".join(
        escape(piece.text)
        if piece.passage is None
        else f'<mark style="background:{_PALETTE[piece.passage % len(_PALETTE)]}"><sup>{piece.passage}</sup>'
        f"{escape(piece.text)}</mark>"
        for piece in pieces
    )
