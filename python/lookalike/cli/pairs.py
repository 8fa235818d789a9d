"""lookalike pairs"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike.applications.documents import PairOptions, pairs_of, pairs_of_sets
from lookalike.applications.documents.collection import Collection
from lookalike.applications.documents.summary import bucket_advice, pair_lines, run_estimates, search_advice
from lookalike.applications.sets import SetCollection, SetInput, read_sets
from lookalike.applications.strings import KINDS
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
from lookalike.cli.strings import Near, find_strings
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.io import FileSource, Source
from lookalike.joins import ALGORITHM_VERSION, Account
from lookalike.runs import Header, RunRecord, choose_progress, write_parquet
from lookalike.runs.watch import Watch

_WITH = "--with"


class Reader(Command):
    """Reads `--with A B C` as `--with A --with B --with C`.

    A shell makes several arguments of a pattern without quotes, and options take one value; without this the
    command would put all files but the first into this one.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat --with before each of its values."""
        return super().parse_args(ctx, repeated(args, _WITH))


def pairs(
    inputs: shared.Inputs,
    other: Annotated[
        list[str] | None,
        typer.Option(
            _WITH,
            metavar="OTHER...",
            show_default=False,
            rich_help_panel=shared.READING,
            help="A second collection: pairs then go from an item of the first to one of the second.",
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
    threshold: shared.Threshold = PairOptions.threshold,
    recall: shared.Recall = PairOptions.recall,
    measure: shared.Measure = PairOptions.measure,
    distance: shared.Distance = None,
    shingle: shared.ShingleForm = shared.SHINGLE,
    slots: shared.Slots = PairOptions.slots,
    verify: shared.Verify = PairOptions.verify,
    method: shared.Method = PairOptions.method,
    seed: shared.Seed = PairOptions.seed,
    output: shared.OutputFolder = None,
    expand: Annotated[
        bool,
        typer.Option(
            "--expand",
            rich_help_panel=shared.WRITING,
            help="Write every pair of exact copies, and of their near-duplicates, rather than each copy with "
            "one representative. There may be very many.",
        ),
    ] = False,
    overwrite: shared.Overwrite = False,
    json: shared.Json = False,
    threads: shared.Threads = None,
    progress: shared.ProgressKind = shared.PROGRESS,
) -> None:
    """Find all pairs of similar items, in one collection or two.

    Items are documents, or sets (--sets). The folder gets pairs.parquet (a, b, similarity) and run.json (what
    was done, and how well).

    \b
    Examples:
      lookalike pairs corpus/ --threshold 0.6 -o alike/
      lookalike pairs train.jsonl --with test/*.jsonl --id doc -o leaks/
      lookalike pairs --sets baskets.dat -t 0.6 -o alike/
      lookalike pairs names.csv --text name --measure levenshtein --distance 2 -o alike/
      lookalike pairs --sets likes.csv --set-of film --items user --rating stars --least-rating 4 -o alike/
    """
    near_strings = measure in KINDS
    if near_strings and (sets or expand):
        raise OptionError(f"--measure {measure} compares texts, one with one: leave out --sets and --expand")
    if near_strings != (distance is not None):
        raise OptionError("--distance goes with --measure levenshtein or indel, and those need it")
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
    if distance is not None:
        reading = Reading(text=text, id=id, on_error=on_error)
        near = Near(measure=measure, distance=distance, threads=threads)
        find_strings(
            inputs, other, reading, near, output=output, overwrite=overwrite, json=json, progress=progress
        )
        return
    chosen = PairOptions.of(
        {
            "threshold": threshold,
            "recall": recall,
            "measure": measure,
            "shingle": shingle,
            "slots": slots,
            "seed": seed,
            "method": method,
            "verify": verify,
        }
    )
    engine = LocalEngine(threads)
    watch = Watch(choose_progress(progress))  # type: ignore[arg-type]
    with ExitStack() as stack:
        folder = stack.enter_context(checked_folder(output, overwrite=overwrite))
        sources: list[Source] = []
        if sets:
            given = [
                _set_input(paths, {**columns, "id": id, "on_error": on_error}, output)
                for paths in (inputs, other)
                if paths
            ]
            found, held = pairs_of_sets(given, chosen, engine=engine, watch=watch, expand=expand)
            sources += [collection.source for collection in held.collections if collection.source is not None]
            for source in sources:
                stack.enter_context(source)
            account, counts = held.joined.account, _set_counts(held.collections)
        else:
            reading = Reading(text=text, id=id, on_error=on_error)
            sources += [
                stack.enter_context(opened(paths, reading, output=output))
                for paths in (inputs, other)
                if paths
            ]
            found, search = pairs_of(sources, chosen, engine=engine, watch=watch, expand=expand)
            account, counts = search.joined.account, _document_counts(search.collections)
            counts |= {"short": account.short, "unspaced": account.unspaced}
        counts |= _search_counts(account, sources) | {"pairs": len(found)}
        parameters = {**chosen.to_dict(), "expand": expand, **(columns if sets else {})}
        with watch.stage("write"):
            header = Header(kind="pairs", algorithm=ALGORITHM_VERSION, parameters=parameters)
            write_parquet(folder.path / "pairs.parquet", found.to_arrow(), header)
        record = RunRecord(
            job="pairs",
            parameters=parameters,
            algorithm=ALGORITHM_VERSION,
            counts=counts,
            estimates=run_estimates(account, watch.stages),
            stages=tuple(watch.stages),
        ).write(folder.path)
        for source in sources:
            if isinstance(source, FileSource):
                note_what_was_left_out(source)
    # Advice about shingles is for documents.
    for sentence in bucket_advice(account) if sets else search_advice(account, chosen):
        note(sentence)
    if json:
        print(record.to_json().rstrip())
        return
    print("\n".join(pair_lines(account, counts, watch.stages)))
    print(f"{'written':<13} {output}: pairs.parquet, run.json")


def _set_input(paths: list[str], reading: dict[str, Any], output: Path | None) -> SetInput:
    if output is not None:
        check_outside([(Path(path), path) for path in paths], output)
    return read_sets(paths, **reading)


def _document_counts(collections: Sequence[Collection]) -> dict[str, Any]:
    return {
        "documents": sum(collection.rows for collection in collections),
        "documents_by_collection": [collection.rows for collection in collections],
        "text_bytes": int(sum(collection.text_bytes.sum() for collection in collections)),
    }


def _set_counts(collections: Sequence[SetCollection]) -> dict[str, Any]:
    return {
        "sets": sum(collection.rows for collection in collections),
        "sets_by_collection": [collection.rows for collection in collections],
        "elements": sum(collection.elements for collection in collections),
    }


def _search_counts(account: Account, sources: Sequence[Source]) -> dict[str, Any]:
    return {
        "unreadable": sum(source.unreadable.rows for source in sources),
        "unreadable_files": sum(source.unreadable.files for source in sources),
        "empty": account.empty,
        "copies": account.copies,
        "candidates": account.candidates,
        "near_pairs": account.pairs,
    }
