"""What can be asked of a search for test items in training documents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lookalike.applications.documents.asked import Asked, in_short
from lookalike.errors import OptionError
from lookalike.keywords import suggesting
from lookalike.shingles import Shingle
from lookalike.theory.ranges import checked_threshold, whole

#: Words in a row that a text shares with another only by copying, as the field's custom has it; and as many
#: characters as that is good for.
RUN = {"words": 13, "chars": 50}


@suggesting()
@dataclass(frozen=True, kw_only=True)
class DecontaminateOptions(Asked):
    """When a test item counts as contaminated.

    Parameters
    ----------
    threshold
        The share of an item's shingles that one training document, or all of them together, must have.
    shingle
        How a text becomes a set, such as `words:5` or `chars:9`.
    run
        An item also counts if it shares this many words in a row with a training document (characters, with
        character shingles); 13 words or 50 characters if not given, and 0 for never.
    common
        A run that is in more test items than this (a prompt that all of them have) says nothing about any.
    seed
        Draws the hashes.
    """

    threshold: float = 0.8
    shingle: str | Shingle = "words:5"
    run: int | None = None
    common: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", checked_threshold(self.threshold))
        form = Shingle.parse(self.shingle)
        if form.bag:
            raise OptionError(f"shingle={form!s} counts repeats, which containment does not: leave +bag out")
        if form.rare is not None:
            raise OptionError(
                f"shingle={form!s} leaves words out, and a passage is all its words: use words:1"
            )
        object.__setattr__(self, "shingle", in_short(form))
        if self.run is None:
            object.__setattr__(self, "run", RUN["chars" if form.unit == "chars" else "words"])
        for name, least, most in (("run", 0, 10_000), ("common", 1, 2**63), ("seed", 0, 2**64 - 1)):
            value = getattr(self, name)
            number = whole(value)
            if number is None or not least <= number <= most:
                raise OptionError(f"{name}={value!r} is out of range: a whole number from {least:,} on")
            object.__setattr__(self, name, number)

    @property
    def form(self) -> Shingle:
        """How a text becomes a set."""
        return Shingle.parse(self.shingle)

    @property
    def unit(self) -> str:
        """What runs are counted in."""
        return "characters" if self.form.unit == "chars" else "words"

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `of` reads them back."""
        return {**asdict(self), "shingle": str(self.form)}
