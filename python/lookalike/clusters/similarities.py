"""Similarities of pairs of rows: looked up where a join told them, measured where it did not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lookalike.types import F64, I64, U64, Bools


class Similarities:
    """What is known of pairs (`a` < `b`, in order), and how to measure others. Nothing is measured twice."""

    def __init__(self, a: I64, b: I64, similarity: F64, measure: Callable[[I64, I64], F64]) -> None:
        self._codes = _codes(a, b)
        self._values = similarity
        self._measure = measure

    def __call__(self, one: I64, other: I64) -> F64:
        """How similar each row of `one` is to the row of `other` in the same place."""
        codes = _codes(one, other)
        unknown = np.flatnonzero(~self._known(codes))
        if len(unknown):
            distinct = unknown[np.unique(codes[unknown], return_index=True)[1]]
            # Sorted by the row they are compared with, whose set the kernel then builds once.
            distinct = distinct[np.argsort(one[distinct], kind="stable")]
            self._learn(codes[distinct], self._measure(one[distinct], other[distinct]))
        return self._values[np.searchsorted(self._codes, codes)]

    def _known(self, codes: U64) -> Bools:
        if not len(self._codes):
            return np.zeros(len(codes), np.bool_)
        at = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        known: Bools = self._codes[at] == codes
        return known

    def _learn(self, codes: U64, values: F64) -> None:
        together = np.concatenate([self._codes, codes])
        order = np.argsort(together, kind="stable")
        self._codes, self._values = together[order], np.concatenate([self._values, values])[order]


def _codes(one: I64, other: I64) -> U64:
    low, high = np.minimum(one, other).astype(np.uint64), np.maximum(one, other).astype(np.uint64)
    return (low << np.uint64(32)) | high
