"""Whether a run's own account of its recall is right, and its promise kept, where pairs differ alike.

    python -m benchmarks.draws [--seeds 20] [--only NAME] [--record]
    python -m benchmarks.draws --times FILE                keep the times of runs, or compare with those kept

Each collection is made once and joined with many seeds, which are as many draws of hash functions. Its near
pairs are known, and are compared with what all pairs of rows give before anything is run. A pair that is not
near, or that is listed twice, ends the benchmark. The exit status is 1 where something does not hold that
must (alike/judge.py).
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path

from . import machine, record
from .alike import COLLECTIONS
from .alike.judge import (
    COVERED_AT_LEAST,
    COVERED_IN_EACH,
    MANY,
    PROMISED,
    SHORT_AT_MOST,
    SHORT_BY,
    Judged,
    Pooled,
    WrongAnswerError,
    broken,
    judge,
    slower,
)

_COLUMNS = ("runs", "least", "short", "covered", "error", "of the law", "added", "ms")


def line(name: str, pooled: Pooled) -> tuple[str, ...]:
    """A row of the table: of one collection, or of all of a family."""
    runs = pooled.runs
    seconds = [one.seconds for one in pooled.judged if one.seconds is not None]
    return (
        name,
        f"{len(runs)}",
        f"{min(run.at_threshold for run in runs):.3f}",
        f"{pooled.short:.1%}",
        f"{pooled.covered:.1%}",
        _number(pooled.error),
        _number(pooled.error_of_law),
        f"{sum(run.added > 0 for run in runs) / len(runs):.0%}",
        f"{1000 * sum(seconds) / len(seconds):.0f}" if seconds else "–",
    )


def _number(error: float | None) -> str:
    return "–" if error is None else f"{error:.3f}"


def table(judged: list[Judged], command: str) -> tuple[record.Record, list[str]]:
    """The record of all runs, and what does not hold."""
    families = {
        family: Pooled(judged=tuple(one for one in judged if one.collection.family == family))
        for family in dict.fromkeys(one.collection.family for one in judged)
    }
    every = Pooled(judged=tuple(judged))
    not_held = broken(families)
    lines = [line(family, pooled) for family, pooled in families.items()]
    lines += [line(one.collection.name, Pooled(judged=(one,))) for one in judged]
    ordinary = {many: every.added(many=many) for many in (True, False)}
    made = record.Record(
        name="draws",
        title=f"Recall of the run's own draw: {len(judged)} collections whose pairs differ alike",
        date=datetime.date.today().isoformat(),
        command=command,
        machine=str(machine.describe(("lookalike", "numpy", "scipy"))),
        columns=("what", *_COLUMNS),
        rows=tuple(lines),
        notes=(
            f"Families first, then their collections. Promised recall {PROMISED}; least: the least share of"
            f" the pairs at the threshold that a run found; short: runs that found under"
            f" {PROMISED - SHORT_BY:.2f} of them (under {SHORT_AT_MOST['MinHash']:.0%} by MinHash,"
            f" {SHORT_AT_MOST['hyperplanes']:.0%} elsewhere).",
            f"covered: runs whose interval holds the true recall of all pairs ({COVERED_AT_LEAST:.0%} at"
            f" least, {COVERED_IN_EACH:.0%} in each collection); error: of what runs said, beside that of the"
            " law of all draws (root of the mean square).",
            f"added: runs that added bands; of ordinary ones with {MANY:,} pairs or more at the threshold"
            f" {_share(ordinary[True])}, with fewer {_share(ordinary[False])}. ms: of one core, the middle of"
            " runs that added none.",
            *(f"Does not hold: {what}." for what in not_held),
        ),
        details={
            one.collection.name: {
                "groups": one.collection.groups,
                "pairs": one.collection.pairs,
                "at_threshold": [round(run.at_threshold, 4) for run in one.runs],
                "said": [run.said if run.said is None else round(run.said, 4) for run in one.runs],
                "added": [run.added for run in one.runs],
            }
            for one in judged
        },
    )
    return made, not_held


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def main(arguments: list[str] | None = None) -> int:
    """Check, run, judge and print; the exit status is 1 for a wrong answer or a broken promise."""
    options = _parser().parse_args(arguments)
    console = record.console()
    chosen = [one for one in COLLECTIONS if options.only is None or options.only in one.name]
    if not chosen:
        console.print(f"no collection is called {options.only!r}", style="red")
        return 2
    judged: list[Judged] = []
    try:
        for collection in chosen:
            judged.append(judge(collection, range(options.seeds)))
    except WrongAnswerError as wrong:
        console.print(str(wrong), style="red")
        return 1
    made, not_held = table(judged, record.command("draws", arguments))
    made.show(console)
    longer = [] if options.times is None else _against(options.times, judged)
    for what in longer:
        console.print(f"Takes longer: {what}.")
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 1 if not_held or longer else 0


def _against(file: Path, judged: list[Judged]) -> list[str]:
    """Compare with times that were kept, or keep these if there are none."""
    if file.exists():
        return slower(judged, json.loads(file.read_text()))
    times = {one.collection.name: one.seconds for one in judged if one.seconds is not None}
    file.write_text(json.dumps(times, indent=1) + "\n")
    return []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.draws", description="Recall of the run's own draw."
    )
    parser.add_argument("--seeds", type=int, default=20, help="draws of each collection")
    parser.add_argument("--only", help="collections with this in their names")
    parser.add_argument("--times", type=Path, help="a file to keep times in, or to compare them with")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


if __name__ == "__main__":
    sys.exit(main())
