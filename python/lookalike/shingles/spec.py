"""What a shingle is, in words a user types: `words:5`, `chars:9`, `stopwords`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Self

from lookalike import _core
from lookalike.errors import OptionError
from lookalike.keywords import suggesting
from lookalike.theory.ranges import whole

Unit = Literal["words", "chars", "stopwords"]

#: Frequent words of English running text, for `stopwords` shingles; pass `stops` for another language.
ENGLISH_STOP_WORDS: tuple[str, ...] = tuple(
    """a about after all also an and any are as at be because been before being but by can could did do does
    for from had has have he her here him his how i if in into is it its just like many may me might more most
    much must my no not now of on one only or other our out over said same she should so some such than that
    the their them then there these they this those through to too under up us very was way we well were what
    when where which while who will with would you your""".split()  # noqa: SIM905 (a list would be a page)
)

#: Words that may follow the window in the short form, with the field each sets.
_FLAGS = {
    "case": "casefold",
    "nfkc": "nfkc",
    "whitespace": "whitespace",
    "punctuation": "punctuation",
    "bag": "bag",
}
_FORM = re.compile(r"(?P<unit>[a-z]+)(?::(?P<k>\d{1,9}))?(?P<options>(?:[+-][a-z]+\d{0,9})*)\Z", re.ASCII)
_OPTION = re.compile(r"([+-])([a-z]+)(\d*)", re.ASCII)


@suggesting()
@dataclass(frozen=True, kw_only=True)
class Shingle:
    """How a document becomes a set of shingles.

    The short form is `unit:k`, then `+name` or `-name` for each option switched on or off:
    `words:5`, `chars:9`, `chars:5+whitespace-case`, `words:1+bag`, `words:1+rare20`, `stopwords`.

    A text with fewer units than a window is one shingle, itself. So is a text without a letter or digit, such
    as `!!!`: its symbols in order, without white space. A blank text has no shingle; nor, with `stopwords`,
    has one without a stop word and two words after it.

    Parameters
    ----------
    unit
        `words` (runs of letters, marks and digits), `chars` (code points), or `stopwords` (a stop word and
        the two words after it, for news).
    k
        Units in a window. Words: 5. Characters: 5 for short text such as mail, 8 to 10 for long.
    casefold
        Capitals and small letters are the same (`-case` in the short form keeps them apart).
    nfkc
        Compatibility forms are the same (ﬁ and fi, full-width letters).
    whitespace
        Character shingles: a run of white space is one space. Words are split there anyway.
    punctuation
        Character shingles: punctuation and symbols are spaces. Words are split there anyway.
    bag
        A shingle that occurs twice counts twice: similarity is Σmin/Σmax.
    stops
        The stop words of `stopwords`; English by default.
    rare
        With `words:1`: a document is the set of its most important words only, this many of them. The fewer
        documents of the collection hold a word, the more important it is; ties go by a hash of the word. A
        word that no other document holds is the rarest of all, so new words in an edited copy count against
        it, and a word in every document comes last. Documents are counted in 2²⁰ counters by hash: words that
        share one look more common than they are.

    Examples
    --------
    >>> Shingle.parse("chars:5+whitespace-case")
    Shingle('chars:5+whitespace-case')
    """

    unit: Unit = "words"
    k: int = 5
    casefold: bool = True
    nfkc: bool = False
    whitespace: bool = False
    punctuation: bool = False
    bag: bool = False
    stops: tuple[str, ...] | None = None
    rare: int | None = None

    def __post_init__(self) -> None:
        if self.unit not in ("words", "chars", "stopwords"):
            raise OptionError(f"shingle unit {self.unit!r} is unknown: choose words, chars or stopwords")
        if self.unit == "stopwords":
            object.__setattr__(self, "k", 3)
            object.__setattr__(self, "stops", _checked_stops(self.stops, nfkc=self.nfkc))
        elif self.stops is not None:
            raise OptionError(f"stops go with unit='stopwords', not with {self.unit!r}")
        k = whole(self.k)
        if k is None or not 1 <= k <= 10_000:
            # A number may have been typed in the short form, which has no k=.
            said = f"k={self.k!r}" if k is None else f"shingle {self.unit}:{k}"
            raise OptionError(f"{said} is out of range: a shingle holds 1 to 10,000 {self.unit}")
        object.__setattr__(self, "k", k)
        if self.rare is not None:
            object.__setattr__(self, "rare", self._checked_rare(self.rare))

    def _checked_rare(self, given: int) -> int:
        rare = whole(given)
        if rare is None or not 1 <= rare <= 10_000:
            said = f"rare={given!r}" if rare is None else f"+rare{rare}"
            raise OptionError(f"{said} is out of range: the 1 to 10,000 rarest words of a document")
        if self.unit != "words" or self.k != 1:
            raise OptionError(f"+rare{rare} picks single words: write words:1+rare{rare}")
        if self.bag:
            raise OptionError(f"+rare{rare} takes each word once and +bag counts repeats: choose one of them")
        return rare

    @classmethod
    def parse(cls, given: str | Shingle) -> Shingle:
        """Read the short form; a Shingle is handed back as it is."""
        if isinstance(given, Shingle):
            return given
        form = _FORM.match(given.strip()) if isinstance(given, str) else None
        if form is None or form["unit"] not in ("words", "chars", "stopwords"):
            raise OptionError(
                f"shingle {given!r} is not understood: write words:5, chars:9 or stopwords,"
                " with options such as +nfkc or -case after it"
            )
        unit = form["unit"]
        if unit == "stopwords" and form["k"]:
            raise OptionError("stopwords shingles always hold three words: write stopwords without a number")
        if unit == "chars" and not form["k"]:
            raise OptionError("say how many characters: chars:5 for short text, chars:9 for long")
        result = cls(unit=unit, k=int(form["k"] or 5))  # type: ignore[arg-type]
        for sign, name, number in _OPTION.findall(form["options"]):
            if name == "rare" and bool(number) != (sign == "+"):
                raise OptionError(
                    f"{sign}rare{number} is not understood: say how many words, such as +rare20"
                )
            if name == "rare":
                result = replace(result, rare=int(number) if number else None)
            elif name not in _FLAGS:
                known = ", ".join([*_FLAGS, "rare20"])
                raise OptionError(f"shingle option {name!r} is unknown: choose among {known}")
            elif number:
                raise OptionError(f"shingle option {name!r} takes no number: write {sign}{name}")
            else:
                result = replace(result, **{_FLAGS[name]: sign == "+"})
        return result

    def __str__(self) -> str:
        plain = Shingle(unit=self.unit, k=self.k)
        flags = [
            ("+" if getattr(self, field) else "-") + name
            for name, field in _FLAGS.items()
            if getattr(self, field) != getattr(plain, field)
        ]
        # Options that switch on come first, so that the form reads like the examples.
        flags.sort(reverse=False, key=lambda flag: flag[0] == "-")
        if self.rare is not None:
            flags.insert(0, f"+rare{self.rare}")
        return (self.unit if self.unit == "stopwords" else f"{self.unit}:{self.k}") + "".join(flags)

    def __repr__(self) -> str:
        return f"Shingle('{self}')"

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """Read `to_dict` back."""
        stops = stored.get("stops")
        return cls(**{**stored, "stops": None if stops is None else tuple(stops)})

    def shingler(self, seed: int = 0) -> _core.Shingler:
        """The kernel's form of this shingle, which knows one text at a time.

        Raises
        ------
        OptionError
            If only the rarest words count: which they are, one text cannot tell.
        """
        if self.rare is not None:
            raise OptionError(
                f"{self} goes by how many documents of a collection hold a word, which only searches for "
                "pairs and duplicates count: use words:1 here"
            )
        return _shingler(self, seed)


def _checked_stops(stops: Iterable[str] | None, *, nfkc: bool) -> tuple[str, ...]:
    if stops is None:
        return ENGLISH_STOP_WORDS
    if isinstance(stops, str):
        raise OptionError(
            f"stops={stops!r:.40} is one string, not a list of words: write stops=({stops!r:.40},)"
        )
    words = tuple(stops)
    if not words:
        raise OptionError(
            "stops=() leaves nothing to begin a shingle with: give words, or leave it out for English"
        )
    for word in words:
        if not isinstance(word, str) or not _is_one_word(_normal(word, nfkc)):
            raise OptionError(
                f"stop word {word!r:.40} is not a single word, so no shingle would ever begin with it: "
                "give words one by one, such as ('in', 'the')"
            )
    return words


def _is_one_word(text: str) -> bool:
    # Between two letters: whatever does not belong to a word would part them.
    between = f"x{text}x".encode("utf-8", "replace")
    return text != "" and _core.count_tokens(between, Shingle(k=1).shingler()) == 1


def _normal(text: str, nfkc: bool) -> str:
    return unicodedata.normalize("NFKC", text) if nfkc else text


@lru_cache(maxsize=64)
def _shingler(shingle: Shingle, seed: int) -> _core.Shingler:
    # The text is brought to this form before its words are looked up.
    stops = [_normal(stop, shingle.nfkc) for stop in shingle.stops or ()]
    return _core.Shingler(
        shingle.unit,
        shingle.k,
        casefold=shingle.casefold,
        nfkc=shingle.nfkc,
        whitespace=shingle.whitespace,
        punctuation=shingle.punctuation,
        bag=shingle.bag,
        stops=stops,
        seed=seed,
    )
