"""Exact measures of two sets or bags, for one pair at a time and for teaching.

Jaccard similarity makes a distance, 1 − J, that obeys the four axioms (among sets that hold something: an
empty set has nothing in common even with itself). Seen through clusters of items it is a pseudo-metric:
different sets may be at distance 0. Containment is directed and no distance at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from math import sqrt
from typing import NamedTuple

from lookalike.measures.distances import weighted_jaccard


def jaccard(a: Iterable[Hashable], b: Iterable[Hashable]) -> float:
    """|a ∩ b| / |a ∪ b|; two empty sets have nothing in common, so 0.

    Examples
    --------
    >>> jaccard({2, 3, 5}, {1, 3, 5, 6})
    0.4
    """
    a, b = set(a), set(b)
    union = len(a | b)
    return len(a & b) / union if union else 0.0


class RowTypes(NamedTuple):
    """How often two columns of a boolean matrix have each pair of entries: a and b, one alone, neither."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def jaccard(self) -> float:
        """The Jaccard similarity of the columns; rows that neither has do not count."""
        either = self.both + self.only_a + self.only_b
        return self.both / either if either else 0.0


def row_types(a: Collection[int | bool], b: Collection[int | bool]) -> RowTypes:
    """Count the rows of two columns by their entries: (1, 1), (1, 0), (0, 1) and (0, 0).

    Examples
    --------
    >>> types = row_types([0, 1, 1, 0, 1, 0], [1, 0, 1, 0, 1, 1])
    >>> types, types.jaccard
    (RowTypes(both=2, only_a=1, only_b=2, neither=1), 0.4)
    """
    counts = Counter((bool(x), bool(y)) for x, y in zip(a, b, strict=True))
    return RowTypes(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def bag_jaccard(
    a: Iterable[Hashable] | Mapping[Hashable, float], b: Iterable[Hashable] | Mapping[Hashable, float]
) -> float:
    """Σmin / Σmax of how often (or how heavily) each element occurs.

    Examples
    --------
    >>> bag_jaccard("aab", "abb")
    0.5
    """
    # Its sums are exact: a Python set comes in an order that changes from run to run.
    return float(weighted_jaccard(_weights(a), _weights(b)))


def clustered_jaccard(
    a: Iterable[Hashable], b: Iterable[Hashable], clusters: Iterable[Collection[Hashable]]
) -> float:
    """Jaccard of the sets of clusters that a and b touch; an element of no cluster stands for itself.

    Examples
    --------
    >>> a, b = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
    >>> jaccard(a, b), clustered_jaccard(a, b, [{0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9}])
    (0.375, 0.5)
    """
    cluster_of = {x: ("cluster", i) for i, cluster in enumerate(clusters) for x in cluster}
    return jaccard(
        {cluster_of.get(x, ("itself", x)) for x in a}, {cluster_of.get(x, ("itself", x)) for x in b}
    )


def containment(a: Iterable[Hashable], b: Iterable[Hashable]) -> float:
    """|a ∩ b| / |a|: how much of `a` is in `b`. The empty set is contained in nothing: 0."""
    a, b = set(a), set(b)
    return len(a & b) / len(a) if a else 0.0


def overlap(a: Iterable[Hashable], b: Iterable[Hashable]) -> int:
    """|a ∩ b|, a count."""
    return len(set(a) & set(b))


def set_cosine(a: Iterable[Hashable], b: Iterable[Hashable]) -> float:
    """|a ∩ b| / √(|a|·|b|)."""
    a, b = set(a), set(b)
    return len(a & b) / sqrt(len(a) * len(b)) if a and b else 0.0


def _weights(bag: Iterable[Hashable] | Mapping[Hashable, float]) -> Mapping[Hashable, float]:
    return bag if isinstance(bag, Mapping) else Counter(bag)
