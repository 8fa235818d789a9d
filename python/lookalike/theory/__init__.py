"""What a road promises before it is walked: floats in, floats out; no data, no randomness.

banding      the S-curve of b bands of r rows, and where it is wrong
areas        how often, exactly: what a curve misses above a threshold and lets through below it
sample       how alike the pairs of a collection are, from a few of them
costs        what a bucket key and a check cost, as committed constants
planning     threshold and recall in, banding out
choice       which of two roads is expected to cost less
recall       afterwards: what a run probably missed, from what it found
collisions   how often two shingles are taken for one
"""

from lookalike.theory.banding import Banding
from lookalike.theory.choice import Choice, RoadEstimate
from lookalike.theory.collisions import false_shared_shingle
from lookalike.theory.planning import Plan, plan
from lookalike.theory.recall import RecallEstimate, estimate_recall
from lookalike.theory.sample import SimilaritySample

__all__ = [
    "Banding",
    "Choice",
    "Plan",
    "RecallEstimate",
    "RoadEstimate",
    "SimilaritySample",
    "estimate_recall",
    "false_shared_shingle",
    "plan",
]
