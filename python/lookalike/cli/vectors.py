"""lookalike pairs --measure angle: vectors within a distance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookalike.applications.vectors import VectorOptions, holds_vectors, pairs_of_vectors
from lookalike.charts import numbers
from lookalike.cli.outcome import PairsOutcome
from lookalike.cli.output import check_outside, checked_folder
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.joins import Account
from lookalike.runs import RunRecord, choose_progress
from lookalike.runs.sizes import parse_size
from lookalike.runs.watch import Watch
from lookalike.theory.plans import at_threshold
from lookalike.theory.thresholds import scale_of


def of_vectors(inputs: list[str], measure: str) -> bool:
    """Whether the input holds vectors, by the measure and the names of files."""
    return bool(inputs) and holds_vectors(inputs[0], measure)


def find_vectors(
    inputs: list[str],
    other: list[str] | None,
    asked: dict[str, Any],
    *,
    column: str | None,
    id: str | None,
    expand: bool,
    output: Path | None,
    overwrite: bool,
    threads: int | None,
    memory: str | None,
    scratch: Path | None,
    progress: str,
) -> tuple[RunRecord, list[str]]:
    """Find the pairs and write the folder; what run.json says, and lines for a person."""
    options = VectorOptions.of(asked)
    for paths in (inputs, other):
        if paths and len(paths) > 1:
            raise OptionError(f"a collection of vectors is one file, not {len(paths)}: put them together")
    given = tuple(paths[0] for paths in (inputs, other) if paths)
    folder = checked_folder(output, overwrite=overwrite)
    if output is not None:
        check_outside([(Path(path), path) for path in given], output)
    watch = Watch(choose_progress(progress))  # type: ignore[arg-type]
    engine = LocalEngine(threads, memory=None if memory is None else parse_size(memory), scratch=scratch)
    with folder:
        found, search = pairs_of_vectors(
            given, options, engine=engine, watch=watch, column=column, id=id, expand=expand
        )
        account, rows = search.joined.account, [one.rows for one in search.collections]
        facts = _facts(account, rows, search.collections[0].dimensions, len(found))
        outcome = PairsOutcome(
            found=found,
            parameters={**options.to_dict(), "expand": expand},
            counts={
                "vectors": sum(rows),
                "vectors_by_collection": rows,
                "dimensions": search.collections[0].dimensions,
                "copies": account.copies,
                "candidates": account.candidates,
                "near_pairs": account.pairs,
                "pairs": len(found),
            },
            estimates=lambda stages: {**account.estimates(), "large_buckets": account.to_dict()["large"]},
            lines=lambda stages: [
                f"{name:<13} {value}"
                for name, value in {**facts, "took": numbers.seconds(sum(s.seconds for s in stages))}.items()
                if value
            ],
            advice=[],
        )
        return outcome.write_into(folder.path, watch), outcome.lines(watch.stages)


def _facts(account: Account, rows: list[int], dimensions: int, pairs: int) -> dict[str, str]:
    scale, large = scale_of(account.measure), account.large
    beyond = "or over" if scale.rises else "or nearer"
    at = f"{scale.noun} {scale.write(account.threshold)}"
    return {
        "vectors": f"{numbers.count(sum(rows))} of {numbers.count(dimensions)} coordinates",
        "exact copies": numbers.count(account.copies) if account.copies else "",
        "candidates": numbers.count(account.candidates),
        "near pairs": f"{numbers.count(account.pairs)} at {at} {beyond}",
        "pairs": f"{numbers.count(pairs)} in all, exact copies among them" if account.copies else "",
        "left out": f"up to {numbers.count(large.not_compared)} pairs of very large buckets"
        if large.not_compared
        else "",
        "recall": _recall(account),
        "method": f"{account.method}: {account.choice.why}" if account.choice is not None else "",
    }


def _recall(account: Account) -> str:
    estimate = account.recall.recall
    if account.promised is None:
        return "all near pairs found: every vector was compared with every other"
    at = at_threshold(scale_of(account.measure), account.threshold)
    promise = f"{numbers.percent(account.promised)} promised {at}"
    if estimate is None:
        return f"{promise}; no near pair was found to estimate it from"
    return f"about {numbers.percent(estimate)} of all near pairs found, {promise}"
