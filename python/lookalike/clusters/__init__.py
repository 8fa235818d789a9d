"""Verified pairs → clusters, and which row of each is kept.

assign        pairs → cluster, kept row and way of every row; components and stars are the two ways to group
keep          which row of a cluster is kept
similarities  how similar a dropped row is to the kept one
earlier       the same with rows that earlier runs kept
"""

from lookalike.clusters.assign import Assignment, assign
from lookalike.clusters.components import component_labels
from lookalike.clusters.earlier import assign_with_earlier
from lookalike.clusters.keep import parse_keep, priorities

__all__ = ["Assignment", "assign", "assign_with_earlier", "component_labels", "parse_keep", "priorities"]
