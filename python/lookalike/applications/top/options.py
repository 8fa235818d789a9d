"""What can be asked of a search for the most similar; everything else takes its defaults from here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from lookalike.applications.documents.asked import Asked, in_short
from lookalike.errors import OptionError
from lookalike.keywords import suggesting
from lookalike.shingles import Shingle
from lookalike.theory.ranges import checked_slots, whole

Method = Literal["auto", "exact", "lsh"]

#: The most neighbours of a row: more is a join, and `similar_pairs` gives that.
MOST = 1000


@suggesting()
@dataclass(frozen=True, kw_only=True)
class TopOptions(Asked):
    """How the most similar are searched for.

    Parameters
    ----------
    k
        How many neighbours of each item, 1 to 1,000.
    shingle
        How a document becomes a set, such as `words:5`, `chars:9` or `stopwords`; or a `Shingle`.
    method
        `exact`: every two items that share anything are compared, and nothing is missed. `lsh`: candidates by
        MinHash signatures, each verified exactly; what may be missed is measured. `auto` takes the exact road
        where it is expected to cost no more than the other, or less than half a minute of one core.
    slots
        Length of a signature (peers call it `num_perm`): more find more.
    seed
        Draws the hashes.

    Examples
    --------
    >>> TopOptions(k=3).to_dict()
    {'k': 3, 'shingle': 'words:5', 'method': 'auto', 'slots': 128, 'seed': 0}
    """

    k: int = 10
    shingle: str | Shingle = "words:5"
    method: Method = "auto"
    slots: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (("k", 1, MOST), ("seed", 0, 2**64 - 1)):
            value = getattr(self, name)
            number = whole(value)
            if number is None or not least <= number <= most:
                raise OptionError(
                    f"{name}={value!r} is out of range: a whole number from {least} to {most:,}"
                )
            object.__setattr__(self, name, number)
        object.__setattr__(self, "slots", checked_slots(self.slots))
        if self.method not in ("auto", "exact", "lsh"):
            raise OptionError(f"method={self.method!r} is unknown: choose auto, exact or lsh")
        object.__setattr__(self, "shingle", in_short(self.shingle))

    @property
    def form(self) -> Shingle:
        """How a document becomes a set."""
        return Shingle.parse(self.shingle)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `of` reads them back."""
        plain = asdict(self)
        if isinstance(self.shingle, Shingle):
            plain["shingle"]["stops"] = list(self.shingle.stops or ())
        return plain
