"""How many candidates are expected, and how many come: all kinds of items, all roads that are estimated.

    python -m benchmarks.expected [--scale 1.0] [--texts FILE] [--sets FILE] [--vectors FILE] [--bits FILE]

Each road is walked, and what was expected from a sample is set beside what it looked at. Either may be at
most three times the other. Fewer candidates than a tenth of the rows cost nothing beside reading them, and a
sample of all pairs cannot show so few, so they count as that many; so does what is expected of bands beyond
what `affordable` large buckets may cost. Collections are those of the other benchmarks: planted texts, sets
with rare elements, without, and with tastes, clustered vectors, hashes, measurements of people. Files of
one's own can be added: texts, a line each; sets, a line each; .npy of vectors or of packed bits.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lookalike as la
from lookalike.applications.planted import plant

from . import bits, machine, prefix, record, top, vectors

#: How many times one may be the other.
WITHIN = 3.0
#: Fewer candidates than this share of the rows are not told apart.
FEW = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """A search of one collection, by several methods."""

    name: str
    search: Callable[..., la.Pairs]
    options: dict[str, Any]
    methods: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One search: what was said and what came."""

    name: str
    options: dict[str, Any]
    method: str
    rows: int
    said: float
    came: int

    @property
    def ratio(self) -> float:
        """What was said over what came, both at least as many as matter."""
        few = max(1.0, FEW * self.rows)
        return max(few, self.said) / max(few, self.came)

    @property
    def near(self) -> bool:
        """Whether neither is more than three times the other."""
        return 1 / WITHIN <= self.ratio <= WITHIN

    def cells(self) -> tuple[str, ...]:
        """As a row of the table."""
        how = ", ".join(f"{name} {value}" for name, value in self.options.items())
        numbers = f"{self.rows:,}", f"{self.said:,.0f}", f"{self.came:,}", f"{self.ratio:.2f}"
        return (self.name, how, self.method, *numbers)


def line(asked: Asked, method: str) -> Line | None:
    """Search, and say what was expected; None of a road that nobody estimates."""
    account = asked.search(threads=1, method=method, **asked.options).account
    said = account.expected_candidates
    if said is None:
        return None
    came = account.candidates
    if getattr(account, "added", ()):
        # Bands that a run adds were not part of what was expected; each brings about as many as any other.
        came = round(came * account.plan.banding.bands / account.final_bands.count)
    return Line(
        name=asked.name,
        options=asked.options,
        method=method if method == account.method else f"{method}: {account.method}",
        rows=account.items,
        said=said,
        came=came,
    )


def searches(scale: float) -> Iterator[Asked]:
    """The collections of the benchmarks, smaller; `scale` multiplies their sizes."""

    def rows(count: int) -> int:
        return max(500, int(count * scale))

    for count, size, shingle in (
        (5_000, 2_700, "words:5"),
        (20_000, 200, "words:5"),
        (10_000, 200, "words:1"),
    ):
        texts = plant(rows(count), seed=1, mean_bytes=size).texts
        yield from of_texts(f"texts of {size} B", texts, shingle, (0.8, 0.5))
    yield from of_sets("sets of 23, Zipf", prefix.zipf(rows(20_000)).tokens.tolist())
    yield from of_sets("sets of 23, out of 2,000", prefix.even(rows(20_000)).tokens.tolist())
    yield from of_sets("users with tastes", top.tastes(rows(4_000)).items)
    yield from of_sets("records of 40 fields", records(rows(2_000)))
    yield from of_vectors(
        "clustered vectors", vectors.clustered(rows(10_000)), (("angle", "25deg"), ("l2", 6))
    )
    hashes = bits.clustered_hashes(rows(50_000)).reshape(-1, 1)
    yield from of_bits("hashes", la.Bits(hashes, 64), (3, 6))
    yield from of_bits("hashes much alike", bits.alike_bits(rows(20_000), causes=12), (3, 6))
    draw = np.random.default_rng(1)
    people = draw.normal(50, 10, (rows(3_000), 10))
    yield from of_measurements("measurements", people, ((2.0, 0.8), (2.0, 0.5)))
    crowd = np.concatenate([people, 50 + draw.normal(0, 0.1, (rows(3_000) // 4, 10))])
    yield from of_measurements("measurements, a crowd", crowd, ((1.0, 0.8),))


def records(count: int, fields: int = 40, values: int = 3) -> list[list[int]]:
    """Sets that differ, of one size, and look alike at a glance: each has one of few values a field."""
    draw = np.random.default_rng(1)
    common = draw.random((count, fields)) < 0.9
    chosen = np.where(common, 0, draw.integers(1, values, (count, fields)))
    table: list[list[int]] = (chosen + values * np.arange(fields)).tolist()
    return table


def of_texts(name: str, texts: Any, shingle: str, thresholds: Sequence[float]) -> Iterator[Asked]:
    """Searches of texts by shingles and by meaning."""

    def search(**options: Any) -> la.Pairs:
        return la.similar_pairs(texts, **options)

    for threshold in thresholds:
        options = {"threshold": threshold, "shingle": shingle}
        yield Asked(name=name, search=search, options=options, methods=("lsh", "auto"))
    by_meaning = {"measure": "tfidf", "threshold": 0.8}
    yield Asked(name=name, search=search, options=by_meaning, methods=("lsh", "auto"))


def of_sets(name: str, sets: Sequence[Sequence[Any]]) -> Iterator[Asked]:
    """Searches of sets, and of the same as bags."""

    def search(**options: Any) -> la.Pairs:
        return la.similar_pairs(sets, **options)

    weighted = [Counter(tokens) for tokens in sets]

    def by_weight(**options: Any) -> la.Pairs:
        return la.similar_pairs(weighted, **options)

    for threshold in (0.8, 0.6):
        yield Asked(name=name, search=search, options={"threshold": threshold}, methods=("lsh", "auto"))
    for measure in ("weighted-jaccard", "weighted-cosine"):
        options = {"measure": measure, "threshold": 0.8}
        yield Asked(name=name, search=by_weight, options=options, methods=("lsh", "auto"))


def of_vectors(name: str, matrix: Any, asked: Sequence[tuple[str, Any]]) -> Iterator[Asked]:
    """Searches of vectors by several distances."""

    def search(**options: Any) -> la.Pairs:
        return la.similar_pairs(matrix, **options)

    for measure, threshold in asked:
        options = {"measure": measure, "threshold": threshold}
        yield Asked(name=name, search=search, options=options, methods=("lsh", "auto"))


def of_bits(name: str, held: Any, radii: Sequence[int]) -> Iterator[Asked]:
    """Searches of bits within several radii."""

    def search(**options: Any) -> la.Pairs:
        return la.similar_bits(held, **options)

    for radius in radii:
        yield Asked(name=name, search=search, options={"threshold": radius}, methods=("lsh", "auto"))


def of_measurements(name: str, values: Any, asked: Sequence[tuple[float, float]]) -> Iterator[Asked]:
    """Searches of measurements."""

    def search(**options: Any) -> la.Pairs:
        return la.similar_measurements(values, **options)

    for within, share in asked:
        yield Asked(name=name, search=search, options={"within": within, "share": share}, methods=("auto",))


def own(options: argparse.Namespace) -> Iterator[Asked]:
    """Searches of files that were given."""
    for path in options.texts:
        yield from of_texts(
            path.name, path.read_text(errors="replace").splitlines(), "words:4", (0.8, 0.5, 0.3)
        )
    for path in options.sets:
        yield from of_sets(path.name, [text.split() for text in path.read_text().splitlines()])
    for path in options.vectors:
        yield from of_vectors(
            path.name, np.load(path).astype(np.float32), (("angle", "15deg"), ("angle", "25deg"))
        )
    for path in options.bits:
        yield from of_bits(path.name, la.as_bits(np.load(path)), (4, 10))


def main(arguments: list[str] | None = None) -> int:
    """Search and compare; the exit status is 1 if what was said is not near what came."""
    options = _parser().parse_args(arguments)
    console = record.console()
    lines = []
    for asked in (*own(options), *searches(options.scale)):
        for method in asked.methods:
            made = line(asked, method)
            if made is not None:
                lines.append(made)
                console.print("  ".join(made.cells()), style=None if made.near else "red")
    far = [made for made in lines if not made.near]
    kept = record.Record(
        name="expected",
        title="Candidates expected, and come",
        date=datetime.date.today().isoformat(),
        command=record.command("expected", arguments),
        machine=str(machine.describe(("lookalike", "numpy", "pyarrow"))),
        columns=("collection", "asked", "method", "rows", "expected", "came", "ratio"),
        rows=tuple(made.cells() for made in lines),
        notes=(
            "Expected from a sample, before anything is signed. Candidates of bands that a run adds are not"
            f" counted, and fewer than one for {1 / FEW:g} rows count as that many.",
            f"Goal: neither is more than {WITHIN:g} times the other."
            f" {f'Missed by {len(far)} of {len(lines)}.' if far else 'Reached.'}",
        ),
    )
    kept.show(console)
    if options.record:
        console.print(f"recorded in {record.save(kept).name}")
    return 1 if far else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.expected", description="Candidates expected.")
    parser.add_argument("--scale", type=float, default=1.0, help="how large the collections are")
    for kind in ("texts", "sets", "vectors", "bits"):
        parser.add_argument(
            f"--{kind}", type=Path, action="append", default=[], help=f"a file of {kind} to add"
        )
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


if __name__ == "__main__":
    sys.exit(main())
