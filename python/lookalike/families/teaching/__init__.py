"""Small hash families, written to be read and checked by going through all of their functions.

universal.py    ((ax + b) mod p) mod N, and the 2-universal family behind it
minwise.py      orders: exactly min-wise by repeated halving, and linear ones, which are nearly so
approximate.py  how nearly a family of orders is min-wise: its ε, measured
perfect.py      perfect hashing in two levels: a frozen dictionary with look-ups of constant time
hyperplanes.py  sides of hyperplanes whose normals are given
normal.py       normal numbers by Box and Muller, with a mean and a covariance; directions from them
folding.py      a boolean matrix folded by OR-ing its rows, as the pyramid does

The families that sign collections are in the room above. These say why they work.
"""

from lookalike.families.teaching.approximate import Evenness, evenness
from lookalike.families.teaching.hyperplanes import GivenHyperplanes
from lookalike.families.teaching.minwise import HalvingOrders, LinearOrders, first
from lookalike.families.teaching.perfect import PerfectHash
from lookalike.families.teaching.universal import TwoUniversal, Universal

__all__ = [
    "Evenness",
    "GivenHyperplanes",
    "HalvingOrders",
    "LinearOrders",
    "PerfectHash",
    "TwoUniversal",
    "Universal",
    "evenness",
    "first",
]
