"""AND and OR: what asking several functions instead of one does to a chance.

Asking r functions and wanting all of them turns p into pʳ; asking b and wanting any turns it into
1 − (1 − p)ᵇ. One after the other, in any order and number, they make low chances lower and high ones higher.

AND acts on the chance of agreeing as OR acts on that of not agreeing, so both are carried along side by side:
neither loses its digits where it is tiny. It also makes the mirror plain: exchange every AND for an OR,
and p becomes what 1 − p became before.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from lookalike.errors import OptionError

FloatArray = npt.NDArray[np.float64]
Step = tuple[Literal["and", "or"], int]
Result = TypeVar("Result")


class Amplifiable(ABC, Generic[Result]):
    """Whatever AND and OR can be applied to: `thing.and_(4).or_(4)`."""

    @abstractmethod
    def amplified(self, amplification: Amplification) -> Result:
        """The thing with all steps of `amplification` applied to it, after those it has."""

    def and_(self, ways: int) -> Result:
        """Ask `ways` of them, and want all to agree."""
        return self.amplified(Amplification((("and", ways),)))

    def or_(self, ways: int) -> Result:
        """Ask `ways` of them, and want any to agree."""
        return self.amplified(Amplification((("or", ways),)))


@dataclass(frozen=True)
class Amplification(Amplifiable["Amplification"]):
    """Steps of AND and OR, the first one next to the functions.

    Neighbours of one kind are one step and ways of 1 are none, so two amplifications that do the same by
    construction are equal.

    Examples
    --------
    >>> four_four = Amplification().and_(4).or_(4)
    >>> f"{four_four.probability(0.2):.4f} {four_four.probability(0.8):.4f}"
    '0.0064 0.8785'
    >>> four_four.functions
    16
    """

    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        kept: list[Step] = []
        for kind, ways in self.steps:
            if kind not in ("and", "or"):
                raise OptionError(f"{kind!r} is no step of a cascade: choose and, or")
            if isinstance(ways, bool) or not isinstance(ways, int | np.integer) or ways < 1:
                raise OptionError(
                    f"{kind}_({ways!r}) is out of range: a whole number of functions, 1 or more"
                )
            if kept and kept[-1][0] == kind:
                kept[-1] = (kind, kept[-1][1] * int(ways))
            elif ways > 1:
                kept.append((kind, int(ways)))
        object.__setattr__(self, "steps", tuple(kept))

    @property
    def functions(self) -> int:
        """How many functions are asked in all."""
        return math.prod(ways for _, ways in self.steps)

    @property
    def mirror(self) -> Amplification:
        """Every AND an OR and every OR an AND: 1 − f(1 − p) instead of f(p)."""
        swapped: dict[str, Literal["and", "or"]] = {"and": "or", "or": "and"}
        return Amplification(tuple((swapped[kind], ways) for kind, ways in self.steps))

    def amplified(self, amplification: Amplification) -> Amplification:
        """First the steps of this one, then those of the other."""
        return Amplification((*self.steps, *amplification.steps))

    def probability(self, chance: float) -> float:
        """What becomes of the chance that one function agrees."""
        return float(self.probabilities(chance))

    def miss(self, chance: float) -> float:
        """One minus `probability`, to its last digits however small."""
        agree = _checked(chance)
        return float(self.both(agree, 1 - agree)[1])

    def probabilities(self, chances: npt.ArrayLike) -> FloatArray:
        """`probability` of each chance of an array."""
        agree = _checked(chances)
        return self.both(agree, 1 - agree)[0]

    def both(self, agree: FloatArray, differ: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The chances to agree and to differ, for arrays of the two that add up to 1."""
        for kind, ways in self.steps:
            if kind == "and":
                agree, differ = _all_of(agree, differ, ways)
            else:
                differ, agree = _all_of(differ, agree, ways)
        return np.asarray(agree), np.asarray(differ)

    def inverse(self, probability: float) -> float:
        """The chance of one function that becomes `probability`."""
        agree = float(_checked(probability))
        differ = 1 - agree
        for kind, ways in reversed(self.steps):
            if kind == "and":
                agree, differ = map(float, _all_of(np.asarray(agree), np.asarray(differ), 1 / ways))
            else:
                differ, agree = map(float, _all_of(np.asarray(differ), np.asarray(agree), 1 / ways))
        return agree

    def fixed_point(self) -> float | None:
        """The chance between 0 and 1 that stays as it is: those above it are raised, those below lowered.

        There is one if both AND and OR occur, and never a second: at any such point the curve is steeper
        than the diagonal, as that of every monotone network is (Moore and Shannon). Else None.
        """
        if {kind for kind, _ in self.steps} != {"and", "or"}:
            return None
        low, high = 0.0, 1.0
        while low < (middle := (low + high) / 2) < high:
            if self._raises(middle):
                high = middle
            else:
                low = middle
        return high

    def _raises(self, chance: float) -> bool:
        agree, differ = self.both(np.asarray(chance), np.asarray(1 - chance))
        # Of two numbers that add up to 1 the smaller one tells more.
        return bool(agree >= chance) if chance < 0.5 else bool(differ <= 1 - chance)

    def __str__(self) -> str:
        return " then ".join(f"{ways}-way {kind.upper()}" for kind, ways in self.steps) or "one function"


UNCHANGED = Amplification()
"""No step at all: one function is asked, and its answer taken."""


def _all_of(agree: FloatArray, differ: FloatArray, ways: float) -> tuple[FloatArray, FloatArray]:
    """pⁿ and 1 − pⁿ."""
    with np.errstate(divide="ignore"):  # log 0 = −∞ is meant: what never agrees never agrees n times
        log_agree = np.where(agree > 0.5, np.log1p(-np.minimum(differ, 0.5)), np.log(agree))
    return np.exp(ways * log_agree), 0.0 - np.expm1(ways * log_agree)


def _checked(chances: npt.ArrayLike) -> FloatArray:
    values = np.asarray(chances, dtype=np.float64)
    within = (values >= 0) & (values <= 1)
    if not np.all(within):
        raise OptionError(f"{float(values[~within].flat[0]):g} is not a probability: they lie from 0 to 1")
    return values
