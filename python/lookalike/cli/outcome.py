"""What a run comes to: of a search for pairs what was found, and of any run what is said at its end."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.applications.documents.rehearsal import Rehearsal
from lookalike.applications.documents.road_rehearsal import RoadRehearsal
from lookalike.applications.pair_rows import PairRows
from lookalike.charts import numbers
from lookalike.cli import first_sign
from lookalike.cli.output import note
from lookalike.cli.typed import command_line
from lookalike.io import Source
from lookalike.joins import ALGORITHM_VERSION, Account
from lookalike.runs import Header, RunFolder, RunRecord, Stage, write_parquet
from lookalike.runs.stopwatch import took
from lookalike.runs.watch import Watch


@dataclass(frozen=True, kw_only=True, eq=False)
class PairsOutcome:
    """Pairs, what was asked, and what was counted.

    `estimates` and `lines`, for run.json and for a person, also tell what each stage took.
    """

    found: PairRows
    parameters: dict[str, Any]
    counts: dict[str, Any]
    estimates: Callable[[Sequence[Stage]], dict[str, Any]]
    lines: Callable[[Sequence[Stage]], list[str]]
    advice: list[str]

    def write_into(self, folder: RunFolder, watch: Watch) -> RunRecord:
        """Write pairs.parquet and run.json."""
        with watch.stage("write"):
            header = Header(kind="pairs", algorithm=ALGORITHM_VERSION, parameters=self.parameters)
            rows = self.found
            write_parquet(folder.path / "pairs.parquet", rows.batches(), header, schema=rows.schema)
            folder.to_disk()
        return RunRecord(
            job="pairs",
            command=command_line.get(),
            parameters=self.parameters,
            algorithm=ALGORITHM_VERSION,
            counts=self.counts,
            estimates=self.estimates(watch.stages),
            stages=tuple(watch.stages),
            took=watch.stages.took,
            asked=folder.asked,
        ).write(folder.path)


def fact_lines(facts: dict[str, str], stages: Sequence[Stage]) -> list[str]:
    """A fact a line, those that are empty left out, and at last how long it took."""
    seconds = numbers.seconds(took(stages))
    return [f"{name:<13} {value}" for name, value in {**facts, "took": seconds}.items() if value]


def tell(record: RunRecord, summary: str, output: Path | None, *, json: bool) -> None:
    """Say what came of a run: its record, for programs, or its summary and what was written, for people."""
    first_sign.end()
    if json:
        print(record.to_json().rstrip())
        return
    entries = {name.split("/")[0] + ("/" if "/" in name else "") for name in record.files}
    print(f"{summary}\n{'written':<13} {output}: {', '.join([*sorted(entries), 'run.json'])}")


def found_counts(account: Account, sources: Sequence[Source], pairs: int) -> dict[str, int]:
    """What run.json counts of any search for pairs."""
    return {
        "unreadable": sum(source.unreadable.rows for source in sources),
        "unreadable_files": sum(source.unreadable.files for source in sources),
        "empty": account.empty,
        "copies": account.copies,
        "candidates": account.candidates,
        "near_pairs": account.pairs,
        "pairs": pairs,
    }


def tell_rehearsal(rehearsal: Rehearsal | RoadRehearsal, *, json: bool) -> None:
    """Say what a run would do, and beside it what to change before it."""
    for sentence in rehearsal.advice:
        note(sentence)
    first_sign.end()
    print(jsonlib.dumps(rehearsal.to_dict(), indent=2) if json else rehearsal.summary())
