"""Near-duplicate documents: pairs, clusters, and a cleaned collection.

dedup         keep one document of a group; options: what can be asked; asked: how options are made
pairs         all similar pairs; weighted: by tf-idf and other weights
collection    a source, held in id order
join          from sources to joined rows; roads: which road is taken
assigning     who is kept for whom
result        what deduplication found; summary: its lines
samples       pairs near the threshold; under: just under it, on roads that do not look there
rehearsal     a dry run; road_rehearsal: one by weights or measurements
units         paragraphs and lines; unit_result: what was found of them
against       new documents against earlier runs; against_rehearsal, against_result: likewise
earlier       an earlier run; kept_texts: its texts; keys: keys.table
"""

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
