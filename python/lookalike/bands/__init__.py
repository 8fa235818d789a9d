"""Signatures → bucket keys → candidates."""

from lookalike.bands.buckets import LARGE, Names, PairUp
from lookalike.bands.keys import BandKeys, Members, bands_of

__all__ = ["LARGE", "BandKeys", "Members", "Names", "PairUp", "bands_of"]
