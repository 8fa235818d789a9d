"""Near-duplicate documents: pairs, clusters, and a cleaned collection."""

from lookalike.applications.documents.dedup import dedup, dedup_source
from lookalike.applications.documents.options import DedupOptions, PairOptions
from lookalike.applications.documents.pairs import pairs_of, pairs_of_sets, similar_pairs
from lookalike.applications.documents.result import DedupResult

__all__ = [
    "DedupOptions",
    "DedupResult",
    "PairOptions",
    "dedup",
    "dedup_source",
    "pairs_of",
    "pairs_of_sets",
    "similar_pairs",
]
