"""Collections whose near pairs differ alike, and the judge of what runs say of themselves.

collection.py  what a collection is
sets.py, texts.py, weighted.py, bits.py, vectors.py    makers of collections
truth.py       near pairs by comparing all with all
judge.py       runs of many seeds against the truth, and what must hold of them
"""

from __future__ import annotations

from . import bits, sets, texts, vectors, weighted
from .collection import Collection, Planted

COLLECTIONS: tuple[Collection, ...] = tuple(
    collection for kind in (sets, texts, weighted, bits, vectors) for collection in kind.collections()
)

__all__ = ["COLLECTIONS", "Collection", "Planted"]
