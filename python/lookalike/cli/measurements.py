"""lookalike pairs --measurements: items that are close in most of their measurements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lookalike.applications.measurement_tables import MeasurementOptions, pairs_of_measurements
from lookalike.charts import numbers
from lookalike.cli.given import opened_each
from lookalike.cli.outcome import PairsOutcome, fact_lines
from lookalike.cli.searches import PairSearch
from lookalike.engines import Engine
from lookalike.errors import OptionError
from lookalike.io import FileSource, OnError
from lookalike.io.measurements import open_measurements
from lookalike.runs.watch import Watch
from lookalike.theory import RecallEstimate


def named_columns(written: list[str]) -> list[str]:
    """Columns as they were typed, one an argument or several between commas.

    Examples
    --------
    >>> named_columns(["eyes,nose", "mouth"])
    ['eyes', 'nose', 'mouth']
    """
    names = [name.strip() for some in written for name in some.split(",") if name.strip()]
    if not names:
        raise OptionError("no measurements were named: name the columns of numbers")
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


def search_of_measurements(
    given: Sequence[list[str]],
    options: MeasurementOptions,
    *,
    columns: list[str],
    id: str | None,
    on_error: OnError,
    output: Path | None,
) -> PairSearch:
    """Close items of one collection of files, or of two."""
    ranges = options.ranges(len(columns))
    parameters = {**options.to_dict(), "measurements": columns}
    reading: dict[str, Any] = {"id": id, "on_error": on_error}

    def find(sources: Sequence[FileSource], engine: Engine, watch: Watch) -> PairsOutcome:
        found, met, collections = pairs_of_measurements(sources, options, engine=engine, watch=watch)
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
            "candidates": numbers.count(met.candidates),
            "pairs": f"{numbers.count(len(found))} close in {numbers.percent(options.threshold)} of their"
            " measurements or more",
            "recall": f"{_estimated(met.recall)}{numbers.percent(options.recall)} promised at "
            f"{numbers.percent(options.threshold)}: {numbers.several(ranges.tables, 'table')} of "
            f"{ranges.rows}",
        }
        return PairsOutcome(
            found=found,
            parameters=parameters,
            counts=counts,
            estimates=lambda stages: {
                "recall": {"promised": options.recall, **(met.recall.to_dict() if met.recall else {})},
                "ranges": ranges.to_dict(),
            },
            lines=lambda stages: fact_lines(facts, stages),
            advice=[],
        )

    return PairSearch(
        parameters={**parameters, **reading},
        open=lambda: opened_each(
            partial(open_measurements, columns=columns, **reading), given, output=output
        ),
        find=find,
    )


def _estimated(recall: RecallEstimate | None) -> str:
    if recall is None or recall.recall is None:
        return ""
    return f"about {numbers.percent(recall.recall)} of all close pairs found, "
