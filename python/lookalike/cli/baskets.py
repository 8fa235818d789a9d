"""lookalike baskets"""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lookalike.applications.baskets import FrequentPairs, frequent_pairs_of_lines
from lookalike.charts import numbers
from lookalike.cli import first_sign
from lookalike.cli import options as shared
from lookalike.cli.following import following
from lookalike.cli.outcome import fact_lines, tell
from lookalike.cli.output import check_outside, checked_folder, work_place
from lookalike.cli.typed import command_line
from lookalike.engines import local_engine
from lookalike.errors import OptionError
from lookalike.joins import ALGORITHM_VERSION
from lookalike.runs import Header, RunRecord, Stage, write_parquet


def baskets(
    what: Annotated[
        str,
        typer.Argument(
            metavar="pairs",
            show_default=False,
            rich_help_panel=shared.READING,
            help="What to find: pairs of items that are in many baskets together.",
        ),
    ],
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            show_default=False,
            rich_help_panel=shared.READING,
            help="Files with a basket a line, its items between white space; plain, .gz or .zst; - for "
            "standard input.",
        ),
    ],
    support: Annotated[
        float,
        typer.Option(
            "--support",
            "-s",
            metavar="NUMBER",
            show_default=False,
            rich_help_panel=shared.SIMILARITY,
            help="In how many baskets a pair must be at least; under 1, which fraction of them.",
        ),
    ],
    separator: shared.Separator = None,
    on_error: shared.OnError = shared.ON_ERROR,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="pcy|apriori",
            rich_help_panel=shared.SIMILARITY,
            help="How: both give the same answer. pcy counts pairs by hash first, and so has fewer to count "
            "one by one.",
        ),
    ] = "pcy",
    output: shared.OutputFolder = None,
    overwrite: shared.Overwrite = False,
    json: shared.Json = False,
    threads: shared.Threads = None,
    memory: shared.Memory = None,
    scratch: shared.Scratch = None,
    progress: shared.ProgressKind = shared.PROGRESS,
) -> None:
    """Find the pairs of items that are in many baskets together.

    The folder gets pairs.parquet (a, b, count; the most frequent first) and run.json. With --json and no
    folder the pairs are printed.

    \b
    Examples:
      lookalike baskets pairs retail.dat --support 1000 -o together/
      lookalike baskets pairs tags.csv --separator , --support 0.01 --json
    """
    if what != "pairs":
        raise OptionError(f"baskets {what}: only pairs can be found; type: lookalike baskets pairs INPUT...")
    if output is None and not json:
        raise OptionError("say where the result goes: add -o FOLDER, or --json to print it")
    watch = following(progress)
    least = int(support) if support >= 1 and support.is_integer() else support

    def find() -> FrequentPairs:
        return frequent_pairs_of_lines(
            inputs,
            support=least,
            method=method,  # type: ignore[arg-type]
            separator=separator,
            on_error=on_error,  # type: ignore[arg-type]
            engine=local_engine(threads, memory, work_place(output, scratch)),
            watch=watch,
        )

    if output is None:
        found = find()
        first_sign.end()
        print(jsonlib.dumps({"counts": asdict(found.account), "pairs": list(found)}, indent=2))
        return
    parameters = {"support": least, "method": method, "separator": separator}
    check_outside([(Path(path), path) for path in inputs], output)
    with checked_folder(output, overwrite=overwrite) as folder:
        found = find()
        with watch.stage("write"):
            header = Header(kind="frequent-pairs", algorithm=ALGORITHM_VERSION, parameters=parameters)
            write_parquet(folder.path / "pairs.parquet", found.to_arrow(), header)
            folder.to_disk()
        record = RunRecord(
            job="baskets",
            command=command_line.get(),
            parameters=parameters,
            counts=asdict(found.account),
            estimates={},
            stages=tuple(watch.stages),
            took=watch.stages.took,
        ).write(folder.path)
    tell(record, _summary(found, watch.stages), output, json=json)


def _summary(found: FrequentPairs, stages: Sequence[Stage]) -> str:
    account = found.account
    support = numbers.count(account.support)
    count, several = numbers.count, numbers.several
    facts = {
        "baskets": count(account.baskets),
        "items": f"{count(account.items)}, {count(account.frequent_items)} in {support} or more",
        "counted": f"{count(account.counted)} of {several(account.possible, 'possible pair')}",
        "pairs": f"{count(account.pairs)} in {several(account.support, 'basket')} or more",
    }
    return "\n".join(fact_lines(facts, stages))
