"""What every family of hash functions can say of itself before it has seen an item."""

from __future__ import annotations

from abc import abstractmethod

from lookalike.theory.amplification import Amplifiable, Amplification
from lookalike.theory.cascades import Cascade
from lookalike.theory.collisions import Collision
from lookalike.theory.sensitivity import Sensitivity


class Family(Amplifiable[Cascade]):
    """A family of hash functions that collide as often as items are near.

    A family names its `law`, and has the rest from here: the chance to collide by distance, its sensitivity,
    and what ANDs and ORs make of it (`family.and_(4).or_(4)`).
    """

    @property
    @abstractmethod
    def law(self) -> Collision:
        """How often one function of it collides, by distance."""

    def collision(self, distance: float) -> float:
        """The chance that two items at this distance agree in a slot."""
        return self.law.probability(distance)

    def sensitivity(self, d1: float, d2: float) -> Sensitivity:
        """What one function promises of pairs within `d1`, and of pairs at least `d2` apart."""
        return Cascade(self.law).sensitivity(d1, d2)

    def amplified(self, amplification: Amplification) -> Cascade:
        """The family seen through ANDs and ORs."""
        return Cascade(self.law, amplification)
