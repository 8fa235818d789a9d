"""Signatures → bucket keys → candidates."""

from lookalike.bands.buckets import LARGE, PairUp
from lookalike.bands.keys import BandKeys

__all__ = ["LARGE", "BandKeys", "PairUp"]
