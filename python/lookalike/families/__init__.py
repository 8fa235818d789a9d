"""Sets → signatures: families of hash functions that collide as often as items are alike."""

from lookalike.families.minhash import MinHash
from lookalike.families.permutations import Permutations

__all__ = ["MinHash", "Permutations"]
