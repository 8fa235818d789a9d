"""lookalike top"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from lookalike.applications.top import TopOptions, top_of, top_of_sets
from lookalike.cli import options as shared
from lookalike.cli.following import following
from lookalike.cli.given import ONLY_OF_TEXTS, note_what_was_left_out_of, opened_given, set_columns
from lookalike.cli.outcome import tell
from lookalike.cli.output import Reading, alone, checked_folder, note
from lookalike.cli.repeated import Reader as Reader
from lookalike.cli.typed import command_line, refuse
from lookalike.cli.unfinished import engine_of_a_run


def top(
    context: typer.Context,
    inputs: shared.Inputs,
    other: Annotated[
        list[str] | None,
        shared.second_collection("OTHER...", "A second collection: neighbours are then looked for in it."),
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
    resume: shared.Resume = False,
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
    columns = set_columns(
        sets=sets, of=set_of, items=items, rating=rating, least_rating=least_rating, separator=separator
    )
    if sets:
        refuse(context, ONLY_OF_TEXTS, "--sets")
    chosen = TopOptions.of({"k": k, "shingle": shingle, "method": method, "slots": slots, "seed": seed})
    watch = following(progress)
    reading = Reading(text=text, id=id, on_error=on_error)
    folder = checked_folder(output, overwrite=overwrite, resume=resume)
    with (
        opened_given((inputs, other), reading, columns, output=output, scratch=scratch) as given,
        engine_of_a_run(
            "top",
            folder,
            given,
            {**chosen.to_dict(), **(columns or {}), **vars(reading)},
            threads=threads,
            memory=memory,
            scratch=scratch,
            resume=resume,
            json=json,
        ) as engine,
        folder,
    ):
        find = top_of if columns is None else top_of_sets
        result = find(given, chosen, engine=engine, watch=watch)
        with watch.stage("write"):
            result.write_into(folder.path)
            folder.to_disk()
        record = replace(result.record(), command=command_line.get(), asked=folder.asked).write(folder.path)
    note_what_was_left_out_of(given)
    for sentence in alone(given) + result.advice:
        note(sentence)
    tell(record, result.summary(), output, json=json)
