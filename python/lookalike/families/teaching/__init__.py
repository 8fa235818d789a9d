"""Small hash families, written to be read and checked by going through all of their functions.

universal.py  ((ax + b) mod p) mod N, and the 2-universal family behind it
minwise.py    orders: exactly min-wise by repeated halving, and linear ones, which are nearly so
perfect.py    perfect hashing in two levels: a frozen dictionary with look-ups of constant time

The families that sign collections are in the room above. These say why they work.
"""

from lookalike.families.teaching.minwise import HalvingOrders, LinearOrders, first
from lookalike.families.teaching.perfect import PerfectHash
from lookalike.families.teaching.universal import TwoUniversal, Universal

__all__ = ["HalvingOrders", "LinearOrders", "PerfectHash", "TwoUniversal", "Universal", "first"]
