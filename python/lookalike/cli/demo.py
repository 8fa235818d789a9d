"""lookalike demo"""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from lookalike.applications.demo import SEVERAL, DemoResult
from lookalike.applications.demo import demo as demonstrate
from lookalike.applications.planted import PlantOptions
from lookalike.charts import numbers
from lookalike.cli import first_sign, following
from lookalike.cli import options as shared
from lookalike.cli.typed import command_seconds

#: What each kind of edit does, in words for somebody who sees it for the first time.
_EDITED = {
    "replaced": "words replaced",
    "inserted": "words inserted",
    "deleted": "words deleted",
    "cropped": "head or tail cropped",
    "moved": "paragraphs moved",
    "front": "one word put in front",
    "exact": "nothing: exact copies",
    SEVERAL: "several edits: copies of copies, or of one source",
}


def demo(
    documents: Annotated[
        int,
        typer.Option(
            "--documents",
            metavar="NUMBER",
            rich_help_panel=shared.RUNNING,
            help="Size of the made-up corpus.",
        ),
    ] = PlantOptions.documents,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", metavar="NUMBER", rich_help_panel=shared.RUNNING, help="Another seed, another corpus."
        ),
    ] = PlantOptions.seed,
    threads: shared.Threads = None,
    progress: shared.ProgressKind = shared.PROGRESS,
    json: shared.Json = False,
) -> None:
    """Plant edited copies in a made-up corpus, and see them found.

    A fifth of the documents are copies of others with words replaced, inserted, deleted, cropped or moved.
    They are looked for as dedup would look for them. What is found is held against the truth, which is
    counted separately and slowly in plain Python. Nothing is read and nothing is written.

    \b
    Examples:
      lookalike demo
      lookalike demo --documents 100000 --seed 7
    """
    shown = following.shown(progress)
    if progress == "auto" and sys.stderr.isatty():
        from lookalike.cli.steps import Steps

        first_sign.end()
        shown = Steps(sys.stderr)
    result = demonstrate(documents, seed=seed, threads=threads, progress=shown)
    first_sign.end()
    if json:
        print(jsonlib.dumps(result.to_dict(), indent=2))
    else:
        _show(result)


def _show(result: DemoResult) -> None:
    from lookalike.cli.paper import Paper

    counts = result.result.counts
    # Lines are kept short here rather than wrapped there: a table and its explanation belong together.
    console = Paper(soft_wrap=True)
    console.print(
        f"\n{numbers.several(result.documents, 'document')}, {numbers.bytes_(result.text_bytes)} of text, "
        f"{numbers.count(result.copies)} of them edited copies of others.\n"
        f"Deduplicated in [bold]{numbers.seconds(result.seconds)}[/] "
        f"({numbers.bytes_(result.bytes_per_second)}/s): {numbers.count(counts['kept'])} kept, "
        f"{numbers.count(counts['dropped'])} dropped."
    )
    console.print(_table(result))
    for name, fact in _facts(result):
        console.print(f"{name:<15} {fact}")
    console.print(
        "\nOn your own documents (parquet, jsonl, csv, txt):  [bold]lookalike dedup docs/ -o clean/[/]"
        "\nThe plan and its cost, before a longer run:        [bold]lookalike dedup docs/ --dry-run[/]"
    )


def _table(result: DemoResult) -> object:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False)
    table.add_column(f"pairs at {result.result.options.threshold:g} or over, by what was edited", "all")
    totals = {"planted": result.planted, "found": result.found, "missed": result.planted - result.found}
    for name, total in totals.items():
        table.add_column(name, numbers.count(total), justify="right")
    for kind in result.kinds:
        cells = (numbers.count(cell) if cell else "–" for cell in (kind.planted, kind.found, kind.missed))
        table.add_row(_EDITED.get(kind.kind, kind.kind), *cells)
    return table


def _facts(result: DemoResult) -> Iterator[tuple[str, str]]:
    promise = f"{numbers.percent(result.result.options.recall)} was promised just at the threshold"
    if result.recall is None:
        yield "recall", f"there was nothing to find; {promise}"
    else:
        yield "recall", f"{numbers.percent(result.recall)} of all true pairs; {promise}"
    estimate = result.result.account.recall.recall
    if estimate is not None:
        yield "its own guess", f"{numbers.percent(estimate)}, as every run estimates it without the truth"
    checked = "" if result.false else ": every pair was checked on the text"
    yield "falsely found", f"{numbers.count(result.false)}{checked}"
    yield "took", f"{numbers.seconds(command_seconds())}, with all that was planted and counted"
