"""Vectors by angle, cosine, L2 or L1: all pairs within a distance.

options.py     what can be asked
collection.py  vectors from arrays, columns and files, held as a table
pairs.py       the road taken, and pairs by user ids
"""

from lookalike.applications.vectors.collection import VectorCollection, collect_vectors, holds_vectors
from lookalike.applications.vectors.options import VectorOptions
from lookalike.applications.vectors.pairs import pairs_of_vectors

__all__ = ["VectorCollection", "VectorOptions", "collect_vectors", "holds_vectors", "pairs_of_vectors"]
