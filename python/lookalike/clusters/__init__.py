"""Verified pairs → clusters, and which row of each is kept."""

from lookalike.clusters.assign import Assignment, assign
from lookalike.clusters.components import component_labels
from lookalike.clusters.earlier import assign_with_earlier
from lookalike.clusters.keep import parse_keep, priorities

__all__ = ["Assignment", "assign", "assign_with_earlier", "component_labels", "parse_keep", "priorities"]
