"""Items → signatures: families of hash functions that collide as often as items are alike.

family        what every family has: a law, `collision`, `sensitivity`, ANDs and ORs
minhash       sets and bags; permutations: under orders written out; weighted: sets with weights;
              compact: signatures of a few bits a slot
hyperplane    vectors by angle
projections   vectors by distance: euclidean and l1; parameters: what they are checked for
bitsampling   bits; dealtbits: in bands that share none; covering: without false negatives
ranges        measurements; range_tables: how many tables they need
teaching/     families to read and check by hand
"""

from lookalike.families.bitsampling import BitSampling
from lookalike.families.compact import CompactSignatures
from lookalike.families.covering import Covering
from lookalike.families.dealtbits import DealtBits
from lookalike.families.euclidean import Euclidean
from lookalike.families.family import Family
from lookalike.families.hyperplane import Hyperplane
from lookalike.families.l1 import L1
from lookalike.families.minhash import MinHash
from lookalike.families.permutations import Permutations
from lookalike.families.ranges import Ranges
from lookalike.families.weighted import WeightedMinHash

__all__ = [
    "L1",
    "BitSampling",
    "CompactSignatures",
    "Covering",
    "DealtBits",
    "Euclidean",
    "Family",
    "Hyperplane",
    "MinHash",
    "Permutations",
    "Ranges",
    "WeightedMinHash",
]
