"""lookalike pairs --measure angle: vectors within a distance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import typer

from lookalike.applications.chosen import told
from lookalike.applications.vectors import VectorOptions, holds_vectors, pairs_of_vectors
from lookalike.charts import numbers
from lookalike.cli.outcome import PairsOutcome, fact_lines
from lookalike.cli.output import check_outside
from lookalike.cli.searches import OF_ALL_KINDS, PairSearch
from lookalike.cli.typed import only, typed
from lookalike.engines import Engine
from lookalike.errors import OptionError
from lookalike.io.vectors import vector_file
from lookalike.joins import Account
from lookalike.joins.expand import checked_copies
from lookalike.joins.leaders import LeaderAccount
from lookalike.runs.watch import Watch
from lookalike.theory.plans import at_threshold
from lookalike.theory.thresholds import scale_of

_OWN = ("measure", "threshold", "recall", "method", "slots", "probes", "seed")
_KNOWN = (OF_ALL_KINDS - {"on_error"}).union(_OWN)


def of_vectors(inputs: list[str], measure: str, *, text: str | None = None) -> bool:
    """Whether the input holds vectors, by the measure and the first file."""
    return bool(inputs) and holds_vectors(inputs[0], measure, text=text)


@dataclass(frozen=True)
class VectorFile:
    """The file of one collection."""

    path: Path
    spooled: ClassVar[bool] = False

    @property
    def paths(self) -> list[Path]:
        """Where it lies."""
        return [self.path]


def search_of_vectors(
    context: typer.Context, given: Sequence[list[str]], *, output: Path | None
) -> PairSearch:
    """Near vectors of one file, or of two."""
    asked = context.params
    only(context, _KNOWN, f"--measure {asked['measure']} of vectors")
    # What is not typed takes the defaults of vectors, not those of sets.
    names = [name for name in _OWN if name in ("measure", "recall", "seed") or typed(context, name)]
    options = VectorOptions.of({name: asked[name] for name in names})
    column = asked["text"] if typed(context, "text") else None
    id, copies = asked["id"], checked_copies(asked["copies"])
    for paths in given:
        if len(paths) > 1:
            raise OptionError(f"a collection of vectors is one file, not {len(paths)}: put them together")
    parameters = {**options.to_dict(), "copies": copies or "all"}

    @contextmanager
    def opened(scratch: Path | None) -> Iterator[list[VectorFile]]:
        files = [VectorFile(vector_file(paths[0])) for paths in given]
        if output is not None:
            check_outside([(file.path, str(file.path)) for file in files], output)
        yield files

    def find(files: Sequence[VectorFile], engine: Engine, watch: Watch) -> PairsOutcome:
        found, search = pairs_of_vectors(
            tuple(file.path for file in files),
            options,
            engine=engine,
            watch=watch,
            column=column,
            id=id,
            copies=copies,
        )
        account, rows = search.joined.account, [one.rows for one in search.collections]
        dimensions = search.collections[0].dimensions
        return PairsOutcome(
            found=found,
            parameters=parameters,
            counts={
                "vectors": sum(rows),
                "vectors_by_collection": rows,
                "dimensions": dimensions,
                "copies": account.copies,
                "candidates": account.candidates,
                "near_pairs": account.pairs,
                "pairs": len(found),
            },
            estimates=lambda stages: {**account.estimates(), "large_buckets": account.to_dict()["large"]},
            lines=lambda stages: fact_lines(_facts(account, rows, dimensions, found.in_all), stages),
            advice=[],
        )

    return PairSearch(parameters={**parameters, "column": column, "id": id}, open=opened, find=find)


def _facts(account: Account, rows: list[int], dimensions: int, in_all: str) -> dict[str, str]:
    scale, large = scale_of(account.measure), account.large
    beyond = "or over" if scale.rises else "or nearer"
    at = f"{scale.noun} {scale.write(account.threshold)}"
    return {
        "vectors": f"{numbers.count(sum(rows))} of {numbers.several(dimensions, 'coordinate')}",
        "exact copies": numbers.count(account.copies) if account.copies else "",
        "candidates": numbers.count(account.candidates),
        "near pairs": f"{numbers.count(account.pairs)} at {at} {beyond}",
        "pairs": in_all,
        "left out": _left_out(large),
        "recall": _recall(account),
        "method": told(account.choice) if account.choice is not None else "",
    }


def _left_out(large: LeaderAccount) -> str:
    if not large.not_compared:
        return ""
    said = f"up to {numbers.several(large.not_compared, 'pair')} of very large buckets"
    if large.missed is None:
        return said
    return f"{said}; by a sample about {numbers.several(large.missed, 'near one')}, which recall counts"


def _recall(account: Account) -> str:
    estimate = account.recall.recall
    if account.promised is None:
        return "all near pairs found: every vector was compared with every other"
    at = at_threshold(scale_of(account.measure), account.threshold)
    promise = f"{numbers.percent(account.promised)} promised {at}"
    if estimate is None:
        return f"{promise}; no near pair was found to estimate it from"
    return f"about {numbers.percent(estimate)} of all near pairs found{_between(account)}, {promise}"


def _between(account: Account) -> str:
    """The interval of the recall, where a few pairs drawn from large buckets are all that tells it."""
    low, high = account.recall.low, account.recall.high
    if not account.large.not_compared or low is None or high is None:
        return ""
    return f" ({numbers.percent(low)} to {numbers.percent(high)})"
