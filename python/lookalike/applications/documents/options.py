"""What can be asked of a search for similar documents; everything else takes its defaults from here."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

from lookalike.clusters import parse_keep
from lookalike.errors import OptionError
from lookalike.io.units import Unit
from lookalike.shingles import Shingle
from lookalike.theory import plan
from lookalike.theory.ranges import checked_recall, checked_slots, checked_threshold

Method = Literal["auto", "lsh"]
Verify = Literal["exact", "signature"]


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """How similar pairs are searched for.

    Parameters
    ----------
    threshold
        The least similarity of a pair.
    recall
        The promised chance that a pair exactly at the threshold is found.
    shingle
        How a document becomes a set, such as `words:5`, `chars:9`, `stopwords` or `words:1+rare20` (of its
        words the 20 that the fewest documents hold); or a `Shingle`.
    slots
        Length of a signature (peers call it `num_perm`).
    seed
        Draws the hashes. Another seed may find another few of the pairs that a run misses.
    measure
        What similarity means: `jaccard`, of the sets of shingles (of bags, with a shingle such as
        `words:1+bag`).
    method
        `lsh`: MinHash signatures and bands. `auto` chooses, and today there is one road to choose.
    verify
        `exact`: every candidate is checked on the data. `signature`: by agreement of signatures, cheaper and
        approximate; the column is then called `estimate`.
    """

    threshold: float = 0.8
    recall: float = 0.95
    shingle: str | Shingle = "words:5"
    slots: int = 128
    seed: int = 0
    measure: str = "jaccard"
    method: Method = "auto"
    verify: Verify = "exact"

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", checked_threshold(self.threshold))
        object.__setattr__(self, "recall", checked_recall(self.recall))
        object.__setattr__(self, "slots", checked_slots(self.slots))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**64:
            raise OptionError(f"seed={self.seed!r} is out of range: a whole number from 0 to 2⁶⁴−1")
        for name, choices in (
            ("measure", ("jaccard",)),
            ("method", ("auto", "lsh")),
            ("verify", ("exact", "signature")),
        ):
            if getattr(self, name) not in choices:
                raise OptionError(f"{name}={getattr(self, name)!r} is unknown: choose {' or '.join(choices)}")
        shingle = (
            Shingle.from_dict(self.shingle) if isinstance(self.shingle, dict) else Shingle.parse(self.shingle)
        )
        # Kept in the short form, which reads best beside other options; it cannot say what the stop words
        # are.
        plain = Shingle.parse(str(shingle)) == shingle
        object.__setattr__(self, "shingle", str(shingle) if plain else shingle)
        # An unreachable promise is said at once: it is not worth a pass over the data.
        plan(self.threshold, recall=self.recall, slots=self.slots)

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """From keyword arguments; one that is unknown is named."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise OptionError(f"there is no option {name!r}: choose among {', '.join(known)}")
        return cls(**options)

    @property
    def column(self) -> str:
        """What the column of similarities is called."""
        return "similarity" if self.verify == "exact" else "estimate"

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `of` reads them back."""
        plain = asdict(self)
        if isinstance(self.shingle, Shingle):
            plain["shingle"]["stops"] = list(self.shingle.stops or ())
        return plain


@dataclass(frozen=True, kw_only=True)
class DedupOptions(PairOptions):
    """How near-duplicates are searched for, and which of them is kept.

    Parameters
    ----------
    keep
        `first` (in order of path and row), `longest`, or `max:COLUMN`.
    group
        `components`: everything connected is one cluster. `star`: every dropped document is at or over the
        threshold to one that is kept.
    unit
        What is compared and dropped: a whole `document`, or a `paragraph` (between blank lines) or a `line`,
        wherever in the collection it occurs again. Documents then lose their repeated parts, and those of
        which nothing is left are dropped.
    """

    unit: Unit = "document"
    keep: str = "first"
    group: Literal["components", "star"] = "components"

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_keep(self.keep)
        if self.group not in ("components", "star"):
            raise OptionError(f"group={self.group!r} is unknown: choose components or star")
        if self.unit not in ("document", "paragraph", "line"):
            raise OptionError(f"unit={self.unit!r} is unknown: choose document, paragraph or line")
