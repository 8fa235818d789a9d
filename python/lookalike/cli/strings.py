"""lookalike pairs --measure levenshtein: strings within a few edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike.applications.strings import strings_within
from lookalike.charts import numbers
from lookalike.cli.outcome import PairsOutcome, fact_lines
from lookalike.engines import Engine
from lookalike.io import FileSource, Source
from lookalike.joins.expand import Copies
from lookalike.runs.watch import Watch


def near_strings(
    sources: Sequence[Source], near: dict[str, Any], copies: Copies | None, *, engine: Engine, watch: Watch
) -> PairsOutcome:
    """Find the pairs within a distance; `near` is what is asked: `measure`, `distance` and `copies`."""
    distance = near["distance"]
    found, collections, candidates = strings_within(
        sources,
        distance=distance,
        kind=near["measure"],
        copies=copies,
        engine=engine,
        watch=watch,
    )
    strings = [collection.rows for collection in collections]
    facts = {
        "strings": numbers.count(sum(strings)),
        "candidates": numbers.count(candidates),
        "pairs": f"{numbers.count(len(found))} within {numbers.several(distance, 'edit')}, all there are",
    }
    return PairsOutcome(
        found=found,
        parameters=near,
        counts={
            "strings": sum(strings),
            "strings_by_collection": strings,
            "unreadable": sum(source.unreadable.rows for source in sources),
            "unreadable_files": sum(source.unreadable.files for source in sources),
            "candidates": candidates,
            "pairs": len(found),
        },
        estimates=lambda stages: {},
        lines=lambda stages: fact_lines(facts, stages),
        advice=[_one_text(source) for source in sources if _is_one_text(source)],
    )


def _is_one_text(source: Source) -> bool:
    return isinstance(source, FileSource) and [file.format.name for file in source.files] == ["txt"]


def _one_text(source: Source) -> str:
    """What somebody should hear whose strings are the lines of a file."""
    assert isinstance(source, FileSource)
    return (
        f"{source.files[0].label} is one string: a .txt file is one text. If it holds a string a line, give "
        "it as .csv with a heading, and name that by --text"
    )
