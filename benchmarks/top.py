"""The ten most similar of every document or set: how long each road takes, and what share it finds.

    python -m benchmarks.top [--documents 100000] [--sets 30000] [--record]

Documents are planted: a fifth are edited copies of others, and who copied whom is known. Sets are users with
tastes: each draws most of its items from the favourites of one of sixty circles and the rest from those of
everybody, so that every user has hundreds of neighbours of low similarity, which is hard for any signature.
Answers are checked before a time is printed: the reported neighbours of some rows are counted again in plain
Python, nothing better than the last of them may be missing from an exact answer, and the recall that the
second road measured on a sample stands beside the one it had on all rows.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import lookalike as la
from lookalike.applications.planted import plant, truth
from lookalike.joins.top import Neighbours

from . import machine, record

K = 10
_CHECKED = 40
_CIRCLES, _FILMS = 60, 3_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Collection:
    """What is searched, its sets as plain Python sees them, and who may be near whom (None: anybody)."""

    name: str
    items: Any
    rows: int
    plain: Callable[[int], frozenset[Any]]
    company: Callable[[int], Sequence[int]]
    checked: Sequence[int]


def documents(count: int, seed: int = 1) -> Collection:
    """Plant documents; those of one family are near each other."""
    corpus = plant(count, seed=seed)
    family = {row: group for group in corpus.families() for row in group}
    draw = np.random.default_rng(seed)
    relatives = np.flatnonzero(corpus.family >= 0)
    return Collection(
        name="documents, words:5",
        items=corpus.texts,
        rows=count,
        plain=lambda row: truth.shingles(corpus.texts[row].as_py(), 5),
        company=lambda row: family[row],
        checked=draw.choice(relatives, min(_CHECKED, len(relatives)), replace=False).tolist(),
    )


def tastes(count: int, seed: int = 1) -> Collection:
    """Draw users with films they like."""
    draw = np.random.default_rng(seed)
    liking = np.cumsum(1 / np.arange(1, _FILMS + 1) ** 0.8)
    favourites = np.array([draw.permutation(_FILMS) for _ in range(_CIRCLES)])
    users = []
    for circle in draw.integers(0, _CIRCLES, count).tolist():
        rank = np.searchsorted(liking, draw.random(int(draw.integers(20, 120))) * liking[-1])
        film = np.where(draw.random(len(rank)) < 0.7, favourites[circle][rank], rank)
        users.append(np.unique(film).tolist())
    return Collection(
        name="users with tastes",
        items=users,
        rows=count,
        plain=lambda row: frozenset(users[row]),
        company=lambda row: range(count),
        checked=draw.choice(count, min(_CHECKED // 4, count), replace=False).tolist(),
    )


def faults(collection: Collection, found: Neighbours, *, complete: bool) -> list[str]:
    """Return what is wrong with an answer, by counting again for some rows."""
    wrong = []
    for row in collection.checked:
        own = collection.plain(row)
        here = slice(*np.searchsorted(found.row, [row, row + 1]))
        near = list(zip(found.other[here].tolist(), found.similarity[here].tolist(), strict=True))
        for other, similarity in near:
            if truth.jaccard(own, collection.plain(other)) != similarity:
                wrong.append(f"{collection.name}: rows {row} and {other} are not {similarity} similar")
        if complete:
            there = (
                (other, truth.jaccard(own, collection.plain(other))) for other in collection.company(row)
            )
            known = [pair for pair in there if pair[0] != row and pair[1] > 0]
            # Others than its company may be near a document too: better ones only push known ones out.
            last = near[-1][1] if len(near) == K else 0.0
            missing = [pair for pair in known if pair[1] > last and pair not in near]
            wrong += [f"{collection.name}: row {row} misses {other}" for other, _ in missing]
    return wrong


def recall(found: Neighbours, exact: Neighbours) -> float:
    """Return the share of true neighbours found; one as similar as a true one is as good."""
    wanted, offered = (
        Counter(zip(answer.row.tolist(), answer.similarity.tolist(), strict=True))
        for answer in (exact, found)
    )
    return (wanted & offered).total() / max(1, wanted.total())


def main(arguments: list[str] | None = None) -> int:
    """Check, measure and print; the exit status is 1 for a wrong answer."""
    options = _parser().parse_args(arguments)
    console = record.console()
    wrong: list[str] = []
    rows = [
        row
        for make, count in ((documents, options.documents), (tastes, options.sets))
        for row in _measured(make(count), options.runs, wrong)
    ]
    for fault in wrong[:10]:
        console.print(fault, style="red")
    if wrong:
        return 1
    made = record.Record(
        name="top",
        title=f"The {K} most similar of every item",
        date=datetime.date.today().isoformat(),
        command=record.command("top", arguments),
        machine=str(machine.describe(("lookalike", "numpy", "pyarrow"))),
        columns=(
            "items",
            "of",
            "road",
            "seconds",
            "expected, one core",
            "neighbours",
            "recall",
            "as measured",
        ),
        rows=tuple(rows),
        notes=(
            f"Jaccard, two threads, the best of {options.runs} runs, from memory to neighbours by row.",
            "Recall is that on all rows, by the exact answer; as measured, that which the run itself tells.",
            "Similarities are exact on both roads.",
        ),
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.top", description="The most similar.")
    parser.add_argument("--documents", type=int, default=100_000, help="planted documents")
    parser.add_argument("--sets", type=int, default=30_000, help="users with tastes")
    parser.add_argument("--runs", type=int, default=2, help="runs of each; the best counts")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


def _measured(collection: Collection, runs: int, wrong: list[str]) -> Iterator[tuple[str, ...]]:
    exact = None
    for method in ("exact", "lsh"):
        seconds = []
        for _ in range(runs):
            started = time.perf_counter()
            result = la.top(collection.items, k=K, method=method, threads=2)
            seconds.append(time.perf_counter() - started)
        found, account = result.found, result.account
        wrong += faults(collection, found, complete=method == "exact")
        exact = exact or found
        told = account.recall
        yield (
            f"{collection.rows:,}",
            collection.name,
            method,
            f"{min(seconds):.2f}",
            f"{account.exact_seconds if method == 'exact' else account.lsh_seconds:.1f}",
            f"{len(found.row):,}",
            f"{recall(found, exact):.3f}",
            "–"
            if told is None or told.interval is None
            else f"{told.recall:.3f} ({told.interval[0]:.3f}–{told.interval[1]:.3f})",
        )


if __name__ == "__main__":
    sys.exit(main())
