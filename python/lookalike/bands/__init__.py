"""Bucket keys → buckets → candidates.

keys     keyed rows → rows of buckets
buckets  buckets → candidates
"""

from lookalike.bands.buckets import LARGE, Once, PairUp, packed, rows_of
from lookalike.bands.keys import Buckets, bands_of, contents, key_columns, key_names

__all__ = [
    "LARGE",
    "Buckets",
    "Once",
    "PairUp",
    "bands_of",
    "contents",
    "key_columns",
    "key_names",
    "packed",
    "rows_of",
]
