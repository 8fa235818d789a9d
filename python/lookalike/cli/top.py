"""lookalike top"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike.applications.sets import SetInput, read_sets
from lookalike.applications.top import TopOptions, TopResult, top_of, top_of_sets
from lookalike.cli import options as shared
from lookalike.cli.app import Command
from lookalike.cli.output import (
    Reading,
    check_outside,
    checked_folder,
    note,
    note_what_was_left_out,
    opened,
)
from lookalike.cli.repeated import repeated
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.io import FileSource
from lookalike.runs import choose_progress, parse_size
from lookalike.runs.watch import Watch

_WITH = "--with"


class Reader(Command):
    """Reads `--with A B C` as `--with A --with B --with C`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat --with before each of its values."""
        return super().parse_args(ctx, repeated(args, _WITH))


def top(
    inputs: shared.Inputs,
    other: Annotated[
        list[str] | None,
        typer.Option(
            _WITH,
            metavar="OTHER...",
            show_default=False,
            rich_help_panel=shared.READING,
            help="A second collection: neighbours are then looked for in it.",
        ),
    ] = None,
    text: shared.Text = shared.TEXT,
    id: shared.Id = None,
    on_error: shared.OnError = shared.ON_ERROR,
    sets: shared.SetsGiven = False,
    set_of: shared.SetOf = None,
    items: shared.Items = None,
    rating: shared.Rating = None,
    least_rating: shared.LeastRating = None,
    separator: shared.Separator = None,
    k: Annotated[
        int,
        typer.Option(
            "--neighbours",
            "-k",
            metavar="NUMBER",
            rich_help_panel=shared.SIMILARITY,
            help="How many neighbours of each item, 1 to 1,000.",
        ),
    ] = TopOptions.k,
    shingle: shared.ShingleForm = str(TopOptions.shingle),
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="auto|exact|lsh",
            rich_help_panel=shared.SIMILARITY,
            help="Compare every two items that share anything (exact), or find candidates by signatures and "
            "measure what that misses (lsh). auto: exact, unless it is expected to cost much more.",
        ),
    ] = TopOptions.method,
    slots: shared.Slots = TopOptions.slots,
    seed: shared.Seed = TopOptions.seed,
    output: shared.OutputFolder = None,
    overwrite: shared.Overwrite = False,
    json: shared.Json = False,
    threads: shared.Threads = None,
    memory: shared.Memory = None,
    scratch: shared.Scratch = None,
    progress: shared.ProgressKind = shared.PROGRESS,
) -> None:
    """Find the most similar items of every item.

    Items are documents, or sets (--sets). Every similarity is exact, and what a large collection's search may
    have missed is measured. The folder gets neighbours.parquet (id, rank, neighbour, similarity) and run.json
    (what was done, and how well).

    \b
    Examples:
      lookalike top corpus/ -k 10 -o nearest/
      lookalike top questions.jsonl --with answered/*.jsonl --id key -k 3 -o nearest/
      lookalike top --sets likes.csv --set-of film --items user --rating stars --least-rating 4 -o nearest/
    """
    columns = {
        "of": set_of,
        "items": items,
        "rating": rating,
        "least_rating": least_rating,
        "separator": separator,
    }
    if not sets and any(value is not None for value in columns.values()):
        raise OptionError(
            "--set-of, --items, --rating, --least-rating and --separator go with --sets: add it"
        )
    chosen = TopOptions.of({"k": k, "shingle": shingle, "method": method, "slots": slots, "seed": seed})
    budget = None if memory is None else parse_size(memory)
    watch = Watch(choose_progress(progress))  # type: ignore[arg-type]
    given = [paths for paths in (inputs, other) if paths]
    with ExitStack() as stack:
        folder = stack.enter_context(checked_folder(output, overwrite=overwrite))
        engine = LocalEngine(threads, memory=budget, scratch=scratch or folder.path.parent)
        if sets:
            reading = {**columns, "id": id, "on_error": on_error}
            collections = [_set_input(paths, reading, output) for paths in given]
            result = top_of_sets(collections, chosen, engine=engine, watch=watch)
            for collection in result.collections:
                if collection.source is not None:
                    stack.enter_context(collection.source)
        else:
            form = Reading(text=text, id=id, on_error=on_error)
            sources = [stack.enter_context(opened(paths, form, output=output)) for paths in given]
            result = top_of(sources, chosen, engine=engine, watch=watch)
        with watch.stage("write"):
            result.write_into(folder.path)
        record = result.record().write(folder.path)
        _note_what_was_left_out(result)
    for sentence in result.advice:
        note(sentence)
    if json:
        print(record.to_json().rstrip())
        return
    print(result.summary())
    print(f"{'written':<13} {output}: neighbours.parquet, run.json")


def _set_input(paths: list[str], reading: dict[str, Any], output: Path | None) -> SetInput:
    if output is not None:
        check_outside([(Path(path), path) for path in paths], output)
    return read_sets(paths, **reading)


def _note_what_was_left_out(result: TopResult) -> None:
    for collection in result.collections:
        if isinstance(collection.source, FileSource):
            note_what_was_left_out(collection.source)
