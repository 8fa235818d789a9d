"""What can be asked of a search for near vectors."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from lookalike.errors import OptionError, UnknownOptionError
from lookalike.keywords import suggesting
from lookalike.measures.vectors import MEASURES
from lookalike.theory.multiprobe import checked_probes
from lookalike.theory.ranges import checked_recall, checked_seed, checked_slots
from lookalike.theory.thresholds import Written, scale_of

METHODS = ("auto", "lsh", "exact")


@suggesting()
@dataclass(frozen=True, kw_only=True)
class VectorOptions:
    """How near pairs of vectors are searched for.

    Parameters
    ----------
    measure
        `angle` (degrees), `cosine`, `l2` or `l1`.
    threshold
        The greatest angle (`"20deg"`, `"0.35rad"`) or distance of a pair; of `cosine` the least cosine, or
        the angle it belongs to.
    recall
        The promised chance that a pair exactly at the threshold is found.
    method
        `lsh`: hyperplanes or projections, and bands. `exact`: all pairs are compared, by blocks. `auto`:
        whichever is expected to cost less; `account.choice` says why.
    slots
        The most functions a signature may have. A plan takes as many as are worth it.
    probes
        How many buckets of a band a vector looks into: 1 is its own alone. With more, fewer bands keep the
        same recall, and fewer functions are computed, but there are more keys. None leaves the number to the
        plan, which takes 1 unless a long search is expected to be clearly shorter otherwise. A number makes
        `method="auto"` mean `lsh`.
    seed
        Draws the functions. Another seed may find another few of the pairs that a run misses.

    Examples
    --------
    >>> VectorOptions(threshold="20deg").measure
    'angle'
    >>> VectorOptions(measure="angle", threshold="200deg")
    Traceback (most recent call last):
    lookalike.errors.OptionError: threshold=200deg is out of range: an angle is from 0 to under 180 degrees
    """

    measure: str = "angle"
    threshold: float | str | None = None
    recall: float = 0.95
    method: str = "auto"
    slots: int = 4096
    probes: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise OptionError(
                f"measure={self.measure!r} does not compare vectors: choose {', '.join(MEASURES)}"
            )
        if self.threshold is None:
            example = {"angle": "20deg", "cosine": "0.9"}.get(self.measure, "1.5")
            raise OptionError(
                f"how near is near? vectors by {self.measure} need a threshold, such as threshold={example!r}"
            )
        if self.method not in METHODS:
            raise OptionError(f"method={self.method!r} is unknown for vectors: choose {', '.join(METHODS)}")
        object.__setattr__(self, "threshold", scale_of(self.measure).read(self.threshold))
        object.__setattr__(self, "recall", checked_recall(self.recall, method=self.method))
        object.__setattr__(self, "slots", checked_slots(self.slots))
        if self.probes is not None:
            object.__setattr__(self, "probes", checked_probes(self.probes))
            if self.method == "exact":
                raise OptionError(
                    "method='exact' compares all vectors and looks into no buckets: leave out "
                    f"probes={self.probes}"
                )
            # Who says how buckets are looked into wants buckets.
            object.__setattr__(self, "method", "lsh")
        object.__setattr__(self, "seed", checked_seed(self.seed))

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """From keyword arguments; one that is unknown is named."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise UnknownOptionError.of(name, known, where=" of vectors")
        return cls(**options)

    @property
    def level(self) -> float:
        """The threshold as a number of the measure."""
        assert isinstance(self.threshold, float)
        return self.threshold

    @property
    def written(self) -> Written:
        """The threshold as a plan reads it."""
        return scale_of(self.measure).written(self.level)

    @property
    def column(self) -> str:
        """What the column of values is called."""
        return "similarity" if self.measure == "cosine" else "distance"

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `of` reads them back."""
        return {**asdict(self), "threshold": self.written}
