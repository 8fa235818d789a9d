"""Sets → signatures: families of hash functions that collide as often as items are alike."""

from lookalike.families.bitsampling import BitSampling
from lookalike.families.family import Family
from lookalike.families.minhash import MinHash
from lookalike.families.permutations import Permutations
from lookalike.families.ranges import Ranges
from lookalike.families.weighted import WeightedMinHash

__all__ = ["BitSampling", "Family", "MinHash", "Permutations", "Ranges", "WeightedMinHash"]
