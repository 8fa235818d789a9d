"""Find similar items in collections far too large to compare pair by pair.

Everything here is a room on one road:

    things → sets or vectors → signatures → bands → candidates → verified pairs → clusters → answers
     io       shingles          families     bands      joins        measures       clusters   applications

Jobs:

    dedup                 keep one document of every group of near-duplicates
    similar_pairs         all pairs that reach a threshold, in one collection or between two
    top                   the most similar of every item, and a label by them
    similar_strings       strings within a few edits of each other
    similar_bits          perceptual hashes and fingerprints, by Hamming distance or Tanimoto similarity
    similar_measurements  items that are close in most of their measurements
    frequent_pairs        items that are in many baskets together
    decontaminate         test items that occur, whole or in part, in training documents
    compare               two texts: how similar they are, and what they share
    cluster               groups out of pairs
    candidates            rows of signatures of one's own that share a bucket
    plan                  what a threshold and a promised recall ask of the bands

What goes in, and what holds it for many queries:

    Shingle               how a document becomes a set
    read_sets             sets in files: a set a line, an edge a row, a list a row, a sparse matrix
    as_sets, as_bits      sets and bits of whatever holds them
    HammingTable          hashes: whoever is within a few bits of a query
    Gallery               measurements: whoever is close to a probe in most of them
    RangeSearch           vectors and bits: some point within c·r of a query, if one lies within r

Families of hash functions; `MinHash().and_(4).or_(4)` is a `Cascade`:

    MinHash               sets, by Jaccard similarity; WeightedMinHash: weighted sets and bags
    Hyperplane            vectors, by angle; Euclidean and L1: vectors, by distance
    CompactSignatures     MinHash signatures of a few bits a slot
    BitSampling           bits, by Hamming distance; Covering: the same, without false negatives
    Ranges                range buckets of measurements, such as those of faces
    Sensitivity           what a family promises of near pairs and of far ones
    RangeQuery            how many tables and checks a query takes

Lookalike hashes items so that similar ones meet, looks only at those that met, checks them exactly, and says
how much it may have missed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.applications.baskets import frequent_pairs
    from lookalike.applications.bits import similar_bits
    from lookalike.applications.compare import Comparison, compare
    from lookalike.applications.decontaminate import decontaminate
    from lookalike.applications.documents import DedupOptions, DedupResult, PairOptions, similar_pairs
    from lookalike.applications.documents.dedup import dedup
    from lookalike.applications.documents.weighted import WeightedOptions
    from lookalike.applications.grouping import cluster
    from lookalike.applications.measurements import Gallery, similar_measurements
    from lookalike.applications.sets import read_sets
    from lookalike.applications.strings import similar_strings
    from lookalike.applications.top import TopOptions, TopResult, top
    from lookalike.applications.vectors import VectorOptions
    from lookalike.bands import candidates
    from lookalike.engines import LocalEngine
    from lookalike.errors import LookalikeError
    from lookalike.families import (
        L1,
        BitSampling,
        CompactSignatures,
        Covering,
        Euclidean,
        Hyperplane,
        MinHash,
        Ranges,
        WeightedMinHash,
    )
    from lookalike.joins.hammingtable import HammingTable
    from lookalike.joins.range_search import RangeSearch
    from lookalike.measures.bits import as_bits
    from lookalike.measures.sets import as_sets
    from lookalike.shingles import Shingle
    from lookalike.theory import Amplification, Banding, Cascade, Plan, RangeQuery, Sensitivity, plan
    from lookalike.types import Bits, Clusters, Pairs, Sets, Vectors

__version__ = "0.1.0"

#: Where each public name lives. They are imported when first used, so that `import lookalike` is quick.
_HOMES = {
    "Amplification": "theory",
    "Banding": "theory",
    "BitSampling": "families",
    "Bits": "types",
    "Cascade": "theory",
    "Clusters": "types",
    "CompactSignatures": "families",
    "Comparison": "applications.compare",
    "Covering": "families",
    "DedupOptions": "applications.documents",
    "DedupResult": "applications.documents",
    "Gallery": "applications.measurements",
    "HammingTable": "joins.hammingtable",
    "Euclidean": "families",
    "Hyperplane": "families",
    "L1": "families",
    "LocalEngine": "engines",
    "LookalikeError": "errors",
    "MinHash": "families",
    "PairOptions": "applications.documents",
    "Pairs": "types",
    "Plan": "theory",
    "RangeQuery": "theory",
    "Ranges": "families",
    "RangeSearch": "joins.range_search",
    "Sensitivity": "theory",
    "Sets": "types",
    "Shingle": "shingles",
    "TopOptions": "applications.top",
    "TopResult": "applications.top",
    "WeightedMinHash": "families",
    "WeightedOptions": "applications.documents.weighted",
    "as_bits": "measures.bits",
    "VectorOptions": "applications.vectors",
    "Vectors": "types",
    "as_sets": "measures.sets",
    "candidates": "bands",
    "cluster": "applications.grouping",
    "compare": "applications.compare",
    "decontaminate": "applications.decontaminate",
    "dedup": "applications.documents",
    "frequent_pairs": "applications.baskets",
    "plan": "theory",
    "read_sets": "applications.sets",
    "similar_measurements": "applications.measurements",
    "similar_bits": "applications.bits",
    "similar_pairs": "applications.documents",
    "similar_strings": "applications.strings",
    "top": "applications.top",
}

__all__ = [
    "L1",
    "Amplification",
    "Banding",
    "BitSampling",
    "Bits",
    "Cascade",
    "Clusters",
    "CompactSignatures",
    "Comparison",
    "Covering",
    "DedupOptions",
    "DedupResult",
    "Euclidean",
    "Gallery",
    "HammingTable",
    "Hyperplane",
    "LocalEngine",
    "LookalikeError",
    "MinHash",
    "PairOptions",
    "Pairs",
    "Plan",
    "RangeQuery",
    "RangeSearch",
    "Ranges",
    "Sensitivity",
    "Sets",
    "Shingle",
    "TopOptions",
    "TopResult",
    "VectorOptions",
    "Vectors",
    "WeightedMinHash",
    "WeightedOptions",
    "as_bits",
    "as_sets",
    "candidates",
    "cluster",
    "compare",
    "decontaminate",
    "dedup",
    "frequent_pairs",
    "plan",
    "read_sets",
    "similar_bits",
    "similar_measurements",
    "similar_pairs",
    "similar_strings",
    "top",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"lookalike.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "__doc__"})
