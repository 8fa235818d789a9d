"""What a road promises before it is walked: floats in, floats out; no data, no randomness.

collisions     how often one function of a family agrees, by distance
amplification  AND and OR, and what they make of a chance; their fixed point and mirror
cascades       a family seen through ANDs and ORs: curve, areas, inverse
sensitivity    what is promised of near pairs and of far ones
range_queries  tables and checks for "some point within c·r, if there is one within r"
probing        what looking into neighbouring buckets finds, whichever they are
multiprobe     the same directed by where in its bucket the query lies
probed_queries range queries that look into several buckets of a table
thresholds     how a measure's threshold is written, and which distance it stands for
banding        the S-curve of b bands of r rows, and where it is wrong
dependence     what slots of the default family owe to each other, and what that does to bands
agreeing       how often bands meet if it is known how many slots agree
areas          how often, exactly: what a curve misses above a threshold and lets through below it
quadrature     the same for curves without a closed form
sample         how alike the pairs of a collection are, from the signatures of a few of them
distances      how far apart they are, from a few exact distances
costs          what a bucket key and a check cost, as committed constants
planning       threshold and recall in, banding out, for any family
probed_plans   the same with several buckets a band looked at
plans          a plan and how it is said
outlay         what all pairs would cost, and what signatures weigh
choice         which of two roads is expected to cost less
first_filter   candidates dropped by their signatures first, and what that loses
recall         afterwards: what a run probably missed, from what it found and the law of all draws
recall_of_draw the same for the draw at hand, and how many bands to add where it falls short of the promise
added_bands    what a run did where it fell short: bands added, rows looked at exactly
luck           what a draw may find of pairs that all differ alike
recall_of_bits the same for bands of bits, from how found pairs differ
hits           which bands the pairs that were found met in, as counts that add up
pyramid        the Hamming pyramid's levels and recall
hashes         how often two shingles are taken for one
covers         masks of bits that cover a radius
dealing        bands of bits that share none, dealt out from shuffles
collected      what a sample of pairs stands for
ranges         the ranges of threshold, recall and slots
shares         how many of so many a share is
"""

from lookalike.theory.amplification import Amplification
from lookalike.theory.banding import Banding
from lookalike.theory.cascades import Areas, Cascade
from lookalike.theory.choice import Choice, RoadEstimate
from lookalike.theory.distances import DistanceSample
from lookalike.theory.hashes import false_shared_shingle
from lookalike.theory.planning import plan, plan_of
from lookalike.theory.plans import Plan
from lookalike.theory.range_queries import RangeQuery
from lookalike.theory.recall import RecallEstimate, estimate_recall
from lookalike.theory.sample import SimilaritySample
from lookalike.theory.sensitivity import Sensitivity

__all__ = [
    "Amplification",
    "Areas",
    "Banding",
    "Cascade",
    "Choice",
    "DistanceSample",
    "Plan",
    "RangeQuery",
    "RecallEstimate",
    "RoadEstimate",
    "Sensitivity",
    "SimilaritySample",
    "estimate_recall",
    "false_shared_shingle",
    "plan",
    "plan_of",
]
