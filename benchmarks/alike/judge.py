"""Runs of many seeds against the truth: what each found, what it said of that, and what must hold."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

import lookalike as la
from lookalike.engines import LocalEngine

from .collection import Collection, Family, Planted
from .truth import check

#: What is promised of pairs at the threshold, and by how much less a run may have found.
PROMISED, SHORT_BY = 0.95, 0.02
#: The share of a family's runs that may be short, and the share that the interval must cover at least: of a
#: family, and of one collection.
SHORT_AT_MOST: dict[Family, float] = {
    "MinHash": 0.01,
    "weighted MinHash": 0.02,
    "hyperplanes": 0.02,
    "sampled bits": 0.02,
    "lines, L2": 0.02,
    "lines, L1": 0.02,
}
COVERED_AT_LEAST, COVERED_IN_EACH = 0.93, 0.80
#: Of ordinary runs with so many pairs at the threshold, the share that may add bands.
MANY = 1000
ADDED_AT_MOST, ADDED_AT_MOST_OF_FEW = 0.05, 0.25
#: By how much the time of a run without added bands may rise.
SLOWER, SLOWER_BY = 0.03, 0.020


class WrongAnswerError(AssertionError):
    """A pair that is not near, or that was listed twice."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one seed found, and what the run said of it."""

    seed: int
    at_threshold: float
    found: float
    said: float | None
    low: float | None
    high: float | None
    by_law: float | None
    added: int
    seconds: float

    @property
    def short(self) -> bool:
        """Whether it found less than promised, by too much."""
        return self.at_threshold < PROMISED - SHORT_BY - 1e-12

    @property
    def covered(self) -> bool:
        """Whether the truth lies within the interval; a run that says nothing covers nothing."""
        return self.low is not None and self.high is not None and self.low <= self.found <= self.high


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The runs of a collection."""

    collection: Collection
    runs: tuple[Run, ...]

    @property
    def seconds(self) -> float | None:
        """The middle of the core times of runs that added no bands."""
        without = [run.seconds for run in self.runs if not run.added]
        return median(without) if without else None


def judge(collection: Collection, seeds: Iterable[int]) -> Judged:
    """Check what was planted, then run with every seed."""
    planted = collection.planted()
    check(collection, planted)
    near = _packed(np.concatenate([planted.at, planted.nearer]))
    return Judged(
        collection=collection,
        runs=tuple(_run(collection, planted, near, _packed(planted.at), seed) for seed in seeds),
    )


def _run(collection: Collection, planted: Planted, near: np.ndarray, at: np.ndarray, seed: int) -> Run:
    started = time.process_time()
    pairs = la.similar_pairs(
        planted.items,
        measure=collection.measure,
        threshold=collection.threshold,
        recall=PROMISED,
        method="lsh",
        seed=seed,
        engine=LocalEngine(threads=1),
    )
    seconds = time.process_time() - started
    found = _packed(np.stack([np.asarray(pairs["a"]), np.asarray(pairs["b"])], axis=1))
    if len(np.unique(found)) != len(found):
        raise WrongAnswerError(f"{collection.name}, seed {seed}: a pair is listed twice")
    if len(wrong := np.setdiff1d(found, near)):
        a, b = divmod(int(wrong[0]), 1 << 32)
        raise WrongAnswerError(f"{collection.name}, seed {seed}: {a} and {b} are not near each other")
    said = pairs.account.recall
    # Of a run that knows of the law alone, that is what it says.
    by_law = said.recall if said.by_law is None else said.by_law
    return Run(
        seed=seed,
        at_threshold=float(np.isin(at, found).mean()),
        found=len(found) / len(near),
        said=said.recall,
        low=said.low,
        high=said.high,
        by_law=by_law,
        added=sum(more.bands for more in getattr(pairs.account, "added", ())),
        seconds=seconds,
    )


def _packed(pairs: np.ndarray) -> np.ndarray:
    """Pairs as numbers, the lesser row first."""
    return (pairs.min(axis=1).astype(np.int64) << 32) + pairs.max(axis=1)


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """The runs of several collections."""

    judged: tuple[Judged, ...]

    @property
    def runs(self) -> list[Run]:
        """All of them."""
        return [run for one in self.judged for run in one.runs]

    @property
    def short(self) -> float:
        """The share that found less than promised by too much."""
        return _share(run.short for run in self.runs)

    @property
    def covered(self) -> float:
        """The share whose interval covers the truth."""
        return _share(run.covered for run in self.runs)

    @property
    def worst(self) -> Judged:
        """The collection whose intervals cover the truth least often."""
        return min(self.judged, key=lambda one: _share(run.covered for run in one.runs))

    @property
    def covered_in_worst(self) -> float:
        """The share of its runs."""
        return _share(run.covered for run in self.worst.runs)

    @property
    def error(self) -> float | None:
        """The root of the mean squared error of what runs said, of those that said something."""
        return _rms((run.said, run.found) for run in self.runs)

    @property
    def error_of_law(self) -> float | None:
        """What it would have been by the law."""
        return _rms((run.by_law, run.found) for run in self.runs)

    def added(self, *, many: bool) -> float | None:
        """Of ordinary runs with many pairs at the threshold, or with fewer, the share that added bands."""
        runs = [
            run
            for one in self.judged
            if one.collection.ordinary and (one.collection.pairs >= MANY) == many
            for run in one.runs
        ]
        return _share(run.added > 0 for run in runs) if runs else None


def broken(pooled: dict[Family, Pooled]) -> list[str]:
    """What does not hold, in words."""
    found = []
    for family, of in pooled.items():
        if of.short >= SHORT_AT_MOST[family]:
            found.append(
                f"{family}: {of.short:.1%} of runs found less than promised by over {SHORT_BY}, not under"
                f" {SHORT_AT_MOST[family]:.0%}"
            )
        if of.covered < COVERED_AT_LEAST:
            found.append(f"{family}: intervals cover {of.covered:.1%}, not {COVERED_AT_LEAST:.0%}")
        for one in of.judged:
            covered = _share(run.covered for run in one.runs)
            if covered < COVERED_IN_EACH:
                found.append(
                    f"{one.collection.name}: intervals cover {covered:.0%}, not {COVERED_IN_EACH:.0%}"
                )
    every = Pooled(judged=tuple(one for of in pooled.values() for one in of.judged))
    for many, most in ((True, ADDED_AT_MOST), (False, ADDED_AT_MOST_OF_FEW)):
        added = every.added(many=many)
        if added is not None and added >= most:
            what = f"{MANY:,} pairs or more" if many else f"under {MANY:,} pairs"
            found.append(f"of ordinary runs with {what}, {added:.1%} added bands, not under {most:.0%}")
    return found


def slower(judged: Sequence[Judged], before: dict[str, float]) -> list[str]:
    """Which collections take longer than before by too much, of runs that added no bands."""
    found = []
    for one in judged:
        was, now = before.get(one.collection.name), one.seconds
        if was is not None and now is not None and now - was > max(SLOWER * was, SLOWER_BY):
            found.append(f"{one.collection.name}: {1000 * now:.0f} ms, {1000 * was:.0f} before")
    return found


def _share(true: Iterable[bool]) -> float:
    every = list(true)
    return sum(every) / len(every)


def _rms(said: Iterable[tuple[Any, float]]) -> float | None:
    errors = [(one - truth) ** 2 for one, truth in said if one is not None]
    return math.sqrt(math.fsum(errors) / len(errors)) if errors else None
