"""Range queries over vectors and bits: if a point lies within r, return some point within c·r.

By `theory.range_queries`: a structure is L tables of k functions, and a query looks into its bucket of each,
at no more than 2L points. One structure answers with probability 1/2 − 1/e or more; as many are drawn as the
promised recall asks for. With `probes` it also looks into the buckets of a table that are nearest to it, and
there are fewer tables (`theory.probed_queries`). `joins.range_points` has what is different for bits.

One structure answers most queries, whatever is promised of all, so the others are made when a query comes to
them. Which are made when changes no answer.

Memory: the points, and 12 bytes a point, table and structure, all of it here: this is for a collection that
memory holds many times over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lookalike import _core
from lookalike.charts.numbers import bytes_
from lookalike.engines.cores import checked_threads
from lookalike.errors import OptionError
from lookalike.joins.range_points import MEASURES, BitPoints, Functions, Points, VectorPoints
from lookalike.runs import choose_progress, free_memory
from lookalike.runs.progress import ProgressKind
from lookalike.runs.watch import Watch
from lookalike.theory import RangeQuery
from lookalike.theory.banding import Banding
from lookalike.theory.multiprobe import checked_probes, steps_of
from lookalike.theory.probed_queries import ProbedQuery
from lookalike.theory.ranges import MOST_SLOTS, checked_recall, checked_seed
from lookalike.theory.thresholds import Written
from lookalike.types import I64, U32, U64
from lookalike.wording import several

#: What a point takes in a table: a key of 8 bytes, and its row.
_BYTES = 12


class Answer(NamedTuple):
    """A point near enough, how far it is, and how many points were looked at to find it."""

    row: int
    distance: float
    checked: int


@dataclass(frozen=True, eq=False)
class _Structure:
    """Tables of one draw: of each, the keys of all points in order, and whose they are."""

    functions: Functions
    keys: U64
    rows: U32

    @classmethod
    def of(
        cls,
        functions: Functions,
        values: npt.NDArray[Any],
        tables: int,
        pool: ThreadPoolExecutor,
        threads: int,
    ) -> Self:
        """Put points into tables: keys some points at a time, their order some tables at a time."""
        keys = np.empty((tables, len(values)), np.uint64)
        rows = np.empty(keys.shape, np.uint32)

        def sign(part: slice) -> None:
            keys[:, part] = functions.own(values[part]).reshape(tables, -1)

        def order(part: slice) -> None:
            for table in range(part.start, part.stop):
                # Equal keys keep their order, which is that of the points.
                keys[table], rows[table] = _core.sorted_runs([keys[table]], threads=1)

        for work, count in ((sign, len(values)), (order, tables)):
            # The pool hands on what a part raises only if it is asked for.
            list(pool.map(work, _parts(count, threads)))
        return cls(functions, keys, rows)

    def bucket_rows(self, sought: npt.NDArray[Any], query: RangeQuery) -> I64:
        """The points in the buckets a query looks into, its own of all tables first, each once, up to 2L."""
        looked = self.functions.look_up(sought).reshape(len(self.keys), -1)
        first, last = (
            np.stack([np.searchsorted(*one, side) for one in zip(self.keys, looked, strict=True)])
            for side in ("left", "right")
        )
        found = [np.empty(0, np.uint32)]
        # Bucket by bucket in the order of how near they are, of those that hold anybody.
        for bucket, table in zip(*np.nonzero((first < last).T), strict=True):
            found.append(self.rows[table, first[table, bucket] : last[table, bucket]])
        together = np.concatenate(found).astype(np.int64)
        _, once = np.unique(together, return_index=True)
        return together[np.sort(once)][: query.most_checks]


class _Structures:
    """So many structures in their order, each made when it is asked for, and shown while it is made."""

    def __init__(
        self, count: int, make: Callable[[int], _Structure], *, tables: int, progress: ProgressKind
    ) -> None:
        self.count = count
        self.made: list[_Structure] = []
        self._make = make
        self._tables = tables
        self._progress = progress
        self._lock = threading.Lock()

    def make(self, count: int) -> list[_Structure]:
        """The first so many."""
        more = count - len(self.made)
        if more > 0:
            with self._shown(more) as advance:
                for number in range(count):
                    self._settle(number, advance)
        return self.made[:count]

    def __iter__(self) -> Iterator[_Structure]:
        with ExitStack() as stack:
            advance: Callable[[int], None] | None = None
            for number in range(self.count):
                if number >= len(self.made):
                    advance = advance or stack.enter_context(self._shown(self.count - number))
                    self._settle(number, advance)
                yield self.made[number]

    def _shown(self, structures: int) -> AbstractContextManager[Callable[[int], None]]:
        return Watch(choose_progress(self._progress)).stage(
            "tables", structures * self._tables, unit="tables"
        )

    def _settle(self, number: int, advance: Callable[[int], None]) -> None:
        # Two queries may come to a structure at the same time.
        with self._lock:
            if number == len(self.made):
                self.made.append(self._make(number))
                advance(self._tables)


@dataclass(frozen=True, eq=False, repr=False)
class RangeSearch:
    """Points that answer range queries; made by `of`.

    The tables come in structures, of which `of` makes the first. Each of the others is made by the first
    query that those before it do not answer; `prepare` makes all of them, so that no query has to wait.

    Examples
    --------
    >>> points = np.random.default_rng(0).normal(size=(1000, 16))
    >>> search = RangeSearch.of(points, measure="angle", radius="15deg", factor=3)
    >>> search.query(points[7] + 0.01).row
    7
    >>> hashes = np.random.default_rng(0).integers(0, 2**63, 1000, dtype=np.uint64)
    >>> search = RangeSearch.of(hashes, measure="hamming", radius=4, factor=3)
    >>> search.query(hashes[7] ^ np.uint64(9))
    Answer(row=7, distance=2, checked=1)
    """

    points: Points
    query_plan: RangeQuery
    _structures: _Structures

    @classmethod
    def of(
        cls,
        items: Any,
        *,
        measure: str = "angle",
        radius: Written,
        factor: float = 2.0,
        recall: float = 0.95,
        probes: int = 1,
        seed: int = 0,
        threads: int | None = None,
        progress: ProgressKind = "auto",
    ) -> Self:
        """Put points into tables.

        Parameters
        ----------
        measure
            `angle`, `l2` or `l1` of vectors; `hamming` of bits, which are whatever `as_bits` takes.
        radius
            r: how near a point is that must be answered for.
        factor
            c, over 1: a point within c·r will do.
        recall
            The promised chance that a query with a point within r gets an answer; it says how many structures
            there are. It holds whatever the data; most data do far better.
        probes
            Of vectors: how many buckets of a table a query looks into. More take fewer tables, and less
            memory, for the same promise; a query takes longer.

        Raises
        ------
        OptionError
            Also if the tables would take more memory than is free.
        """
        if measure not in MEASURES:
            raise OptionError(
                f"measure={measure!r} is no distance of vectors or bits: choose {', '.join(MEASURES[:-1])} or"
                f" {MEASURES[-1]}"
            )
        probes, seed = checked_probes(probes), checked_seed(seed)
        if measure == "hamming" and probes > 1:
            raise OptionError(
                f"probes={probes} goes with vectors: bits have one bucket a table, leave it out"
            )
        recall = checked_recall(recall, exact="similar_pairs with method='exact'")
        points: VectorPoints | BitPoints
        points = BitPoints.of(items) if measure == "hamming" else VectorPoints.of(items, measure)
        near = points.radius(radius)
        furthest = points.furthest / near
        if not isinstance(factor, int | float | np.number) or not 1 < factor < furthest:
            under = f" and under {furthest:g}, where {points.all_apart}" if np.isfinite(furthest) else ""
            raise OptionError(f"factor={factor!r} is out of range: over 1{under}")
        law = points.law(near)
        if not law.probability(near) > law.probability(factor * near):
            raise OptionError(
                f"radius={radius!r}, factor={factor!r}: points that far apart cannot be told from nearer"
                f" ones; {_ways_out(measure, recall=False)}"
            )
        query: RangeQuery
        if probes == 1:
            query = RangeQuery(
                items=len(points), near=law.probability(near), far=law.probability(factor * near)
            )
        else:
            query = ProbedQuery.of(len(points), law, radius=near, factor=factor, probes=probes)
        _check_size(query, measure, recall)
        sets = np.empty((0, 2), np.int16) if measure == "hamming" else steps_of(law, query.rows, probes)
        banding = Banding(bands=query.tables, rows=query.rows)
        threads = checked_threads(threads)

        def make(number: int) -> _Structure:
            # Seeds of structures lie far apart, so that those of neighbouring seeds do not share functions.
            drawn = (seed + (number << 32)) % 2**64
            functions = points.functions(banding, sets, radius=near, seed=drawn)
            with ThreadPoolExecutor(threads) as pool:
                return _Structure.of(functions, points.values, query.tables, pool, threads)

        structures = _Structures(query.structures(recall), make, tables=query.tables, progress=progress)
        structures.make(1)
        return cls(replace(points, threshold=factor * near), query, structures)

    @property
    def structures(self) -> tuple[_Structure, ...]:
        """All structures, made by now."""
        return tuple(self._structures.make(self._structures.count))

    def prepare(self) -> Self:
        """Make all tables now, so that no query has to wait for some."""
        self._structures.make(self._structures.count)
        return self

    def __repr__(self) -> str:
        structures = self._structures.count
        return (
            f"RangeSearch({len(self.points):,} {self.points.noun} by {self.points.measure}:"
            f" {several(structures, 'structure')} of {self.query_plan})"
        )

    def query(self, item: Any) -> Answer | None:
        """Some point within c·r of a vector or of a row of bits; None if none of those looked at is."""
        sought = self.points.read(item)
        checked = 0
        for structure in self._structures:
            rows = structure.bucket_rows(sought, self.query_plan)
            distances = self.points.distances(sought, rows)
            reached = np.flatnonzero(self.points.reached(distances))
            if len(reached):
                first = int(reached[0])
                return Answer(int(rows[first]), distances[first].item(), checked + first + 1)
            checked += len(rows)
        return None


def _parts(count: int, threads: int) -> list[slice]:
    """So many things in a few parts a thread, so that all threads are done at about the same time."""
    edges = np.linspace(0, count, min(count, 4 * threads) + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(edges)]


def _check_size(query: RangeQuery, measure: str, recall: float) -> None:
    """Raise if a structure has more functions than may be drawn, or all take more memory than is free."""
    functions = query.tables * query.rows
    if functions > MOST_SLOTS:
        raise OptionError(
            f"{query.tables:,} tables of {query.rows:,} functions for {query.items:,} points are"
            f" {functions:,} functions, and up to {MOST_SLOTS:,} may be drawn:"
            f" {_ways_out(measure, recall=False)}"
        )
    structures = query.structures(recall)
    # While one of them is made some keys are there twice.
    needed, free = _BYTES * query.items * query.tables * (structures + 2), free_memory()
    if needed > free:
        raise OptionError(
            f"{structures:,} structures of {query.tables:,} tables for {query.items:,} points take about"
            f" {bytes_(needed)}, and {bytes_(free)} of memory are free: {_ways_out(measure, recall=True)}"
        )


def _ways_out(measure: str, *, recall: bool) -> str:
    # Widths of buckets on lines go with the radius; an angle may be too small to be seen by hyperplanes.
    ways = ["a greater factor", *(["a greater radius"] if measure in ("angle", "hamming") else [])]
    ways += ["a lower recall"] if recall else []
    ways += ["more probes"] if measure != "hamming" else []
    return f"use {' or '.join([', '.join(ways[:-1]), ways[-1]] if ways[1:] else ways)}"
