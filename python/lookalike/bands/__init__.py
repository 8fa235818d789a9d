"""Bucket keys → buckets → candidates."""

from lookalike.bands.buckets import LARGE, Names, Once, PairUp, rows_of
from lookalike.bands.keys import Buckets, Members, bands_of, key_columns

__all__ = ["LARGE", "Buckets", "Members", "Names", "Once", "PairUp", "bands_of", "key_columns", "rows_of"]
