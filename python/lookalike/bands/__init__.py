"""Bucket keys → buckets → candidates.

keys        keyed rows → rows of buckets
buckets     buckets → candidates
own         the same in one call, of signatures of one's own
"""

from lookalike.bands.buckets import LARGE, Once, PairUp, packed, rows_of
from lookalike.bands.keys import Buckets, bands_of, contents, key_columns, key_names
from lookalike.bands.own import Candidates, candidates

__all__ = [
    "LARGE",
    "Buckets",
    "Candidates",
    "Once",
    "PairUp",
    "bands_of",
    "candidates",
    "contents",
    "key_columns",
    "key_names",
    "packed",
    "rows_of",
]
