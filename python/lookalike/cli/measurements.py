"""lookalike pairs --measurements: items that are close in most of their measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from lookalike.applications.documents.road_rehearsal import RoadRehearsal
from lookalike.applications.measurement_tables import (
    MeasurementOptions,
    pairs_of_measurements,
    rehearse_measurements,
)
from lookalike.charts import numbers
from lookalike.cli import options as shared
from lookalike.cli.given import opened_each
from lookalike.cli.outcome import PairsOutcome, fact_lines
from lookalike.cli.searches import OF_ALL_KINDS, PairSearch
from lookalike.cli.typed import only
from lookalike.engines import Engine
from lookalike.errors import OptionError
from lookalike.io import FileSource
from lookalike.io.measurements import open_measurements
from lookalike.joins.expand import checked_copies
from lookalike.runs.watch import Watch
from lookalike.theory import RecallEstimate

_KNOWN = (OF_ALL_KINDS - {"text"}) | {
    *("measurements", "within", "range_width", "threshold", "recall", "seed", "method", "dry_run"),
}


def named_columns(written: list[str]) -> list[str]:
    """Columns as they were typed, one an argument or several between commas.

    Examples
    --------
    >>> named_columns(["eyes,nose", "mouth"])
    ['eyes', 'nose', 'mouth']
    """
    names = [name.strip() for some in written for name in some.split(",") if name.strip()]
    # An option right behind --measurements is taken for a column.
    if not names or names[0].startswith("--"):
        raise OptionError("no measurements were named: name the columns of numbers behind --measurements")
    return names


def numbers_for_each(option: str, written: str) -> float | tuple[float, ...]:
    """One number, or one for each measurement, between commas.

    Examples
    --------
    >>> numbers_for_each("--within", "2"), numbers_for_each("--within", "2,2,0.5")
    (2.0, (2.0, 2.0, 0.5))
    """
    try:
        given = tuple(float(part) for part in written.split(","))
    except ValueError:
        raise OptionError(
            f"{option} {written} is no number, nor one for each measurement, such as 2,2,0.5"
        ) from None
    return given[0] if len(given) == 1 else given


def _options(asked: Mapping[str, Any]) -> MeasurementOptions:
    within, width = asked["within"], asked["range_width"]
    if within is None:
        raise OptionError("how near is near? --measurements needs --within, such as --within 2")
    return MeasurementOptions(
        within=numbers_for_each("--within", within),
        threshold=shared.number(asked["threshold"]),
        recall=asked["recall"],
        width=None if width is None else numbers_for_each("--range-width", width),
        seed=asked["seed"],
        method=asked["method"],
    )


def search_of_measurements(
    context: typer.Context, given: Sequence[list[str]], *, output: Path | None
) -> PairSearch:
    """Close items of one collection of files, or of two."""
    only(context, _KNOWN, "--measurements")
    columns = named_columns(context.params["measurements"])
    options = _options(context.params)
    # Said before any work is done: ranges that cannot be are not worth a pass over the data.
    options.ranges(len(columns))
    copies = checked_copies(context.params["copies"])
    parameters = {**options.to_dict(), "measurements": columns, "copies": copies or "all"}
    reading: dict[str, Any] = {name: context.params[name] for name in ("id", "on_error")}

    def find(sources: Sequence[FileSource], engine: Engine, watch: Watch) -> PairsOutcome:
        found, met, collections = pairs_of_measurements(
            sources, options, copies=copies, engine=engine, watch=watch
        )
        account = found.account
        assert account is not None
        exact, ranges = account.method == "exact", options.by(account.method).ranges(len(columns))
        expected = account.expected_candidates
        thought = "" if expected is None else f", about {numbers.count(expected)} expected from a sample"
        rows = [collection.rows for collection in collections]
        counts: dict[str, Any] = {
            "items": sum(rows),
            "items_by_collection": rows,
            "unreadable": sum(source.unreadable.rows for source in sources),
            "unreadable_files": sum(source.unreadable.files for source in sources),
            "candidates": met.candidates,
            "pairs": len(found),
        }
        facts = {
            "items": f"{numbers.count(sum(rows))} of {numbers.several(len(columns), 'measurement')}",
            "candidates": numbers.count(met.candidates) + thought,
            "pairs": f"{numbers.count(len(found))} close in {numbers.percent(options.threshold)} of their"
            " measurements or more",
            "recall": "all close pairs found: no table missed any"
            if exact
            else f"{_estimated(met.recall)}{numbers.percent(options.recall)} promised at "
            f"{numbers.percent(options.threshold)}: {numbers.several(ranges.tables, 'table')} of "
            f"{ranges.rows}",
            "method": f"{account.method}: {account.choice.why}" if account.choice is not None else "",
        }
        return PairsOutcome(
            found=found,
            parameters=parameters,
            counts=counts,
            estimates=lambda stages: {
                "recall": {"promised": options.recall, **(met.recall.to_dict() if met.recall else {})},
                "ranges": ranges.to_dict(),
                "method": account.method,
                "candidates": expected,
                "choice": None if account.choice is None else account.choice.to_dict(),
            },
            lines=lambda stages: fact_lines(facts, stages),
            advice=[],
        )

    def rehearse(sources: Sequence[FileSource], engine: Engine, watch: Watch) -> RoadRehearsal:
        collections, choice = rehearse_measurements(sources, options, engine=engine, watch=watch)
        return RoadRehearsal(
            parameters=parameters,
            counts={"items": sum(one.rows for one in collections), "measurements": len(columns)},
            choice=choice,
            threads=engine.threads,
            stages=watch.stages,
        )

    return PairSearch(
        rehearse=rehearse,
        parameters={**parameters, **reading},
        open=partial(
            opened_each, partial(open_measurements, columns=columns, **reading), given, output=output
        ),
        find=find,
    )


def _estimated(recall: RecallEstimate | None) -> str:
    if recall is None or recall.recall is None:
        return ""
    return f"about {numbers.percent(recall.recall)} of all close pairs found, "
