"""Signatures → bucket keys → candidates."""

from lookalike.bands.buckets import LARGE, KeepLarge, PairSmall, Shared
from lookalike.bands.keys import BandKeys

__all__ = ["LARGE", "BandKeys", "KeepLarge", "PairSmall", "Shared"]
