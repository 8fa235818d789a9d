"""Similarities of pairs of rows: looked up where a join told them, measured where it did not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lookalike import _core
from lookalike.types import F64, I64, U64


class Similarities:
    """What is known of pairs (`a` < `b`, in order), and how to measure others. Nothing is measured twice."""

    def __init__(self, a: I64, b: I64, similarity: F64, measure: Callable[[I64, I64], F64]) -> None:
        #: Pairs in order, and their similarities; first what was told, then what was measured, call by call.
        self._known: list[tuple[U64, F64]] = [(_codes(a, b), similarity)]
        self._measure = measure

    def __call__(self, one: I64, other: I64) -> F64:
        """How similar each row of `one` is to the row of `other` in the same place."""
        if not len(one):
            return np.empty(0)
        # In order, each once: a pair that is asked for twice is measured once.
        codes, places = _core.sorted_runs([_codes(one, other)], threads=1)
        new = np.ones(len(codes), np.bool_)
        new[1:] = codes[1:] != codes[:-1]
        found = self._looked_up(codes[new])
        unknown = np.flatnonzero(np.isnan(found))
        if len(unknown):
            asked = places[new][unknown]
            # By the row they are compared with, whose set the kernel then builds once.
            order = np.argsort(one[asked], kind="stable")
            found[unknown[order]] = self._measure(one[asked[order]], other[asked[order]])
            self._known.append((codes[new][unknown], found[unknown]))
        answers = np.empty(len(one))
        answers[places] = found[np.cumsum(new) - 1]
        return answers

    def _looked_up(self, codes: U64) -> F64:
        """What is known of pairs in order; NaN where nothing is."""
        found = np.full(len(codes), np.nan)
        for known, values in self._known:
            if len(known):
                at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
                here = known[at] == codes
                found[here] = values[at[here]]
        return found


def _codes(one: I64, other: I64) -> U64:
    low, high = np.minimum(one, other).astype(np.uint64), np.maximum(one, other).astype(np.uint64)
    return (low << np.uint64(32)) | high
