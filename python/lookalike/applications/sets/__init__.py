"""Sets as people have them: lines of tokens, edge tables in either direction, lists, sparse matrices.

reading.py     what was given, and how it is to be read
opening.py     its files found and open
collection.py  read and held: a table of sets in id order, and what is needed to name them again
beside.py      two collections that are compared: what their tokens are
edges.py       edge tables: ends hashed, grouped by set
weighted.py    sets whose elements have weights
stages.py      batches of lines, lists or edges → sets of hashed elements
"""

from lookalike.applications.sets.collection import SetCollection, collect_sets
from lookalike.applications.sets.opening import OpenSets, open_sets
from lookalike.applications.sets.reading import SetInput, holds_sets, listed, read_sets
from lookalike.applications.sets.weighted import collect_weighted_sets

__all__ = [
    "OpenSets",
    "SetCollection",
    "SetInput",
    "collect_sets",
    "collect_weighted_sets",
    "holds_sets",
    "listed",
    "open_sets",
    "read_sets",
]
