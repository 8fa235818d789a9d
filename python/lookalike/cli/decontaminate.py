"""lookalike decontaminate"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from lookalike.applications.decontaminate import DecontaminateOptions, decontaminate_source
from lookalike.cli import options as shared
from lookalike.cli.following import following
from lookalike.cli.given import require_read_once
from lookalike.cli.outcome import tell
from lookalike.cli.output import Reading, checked_folder, note, note_what_was_left_out, opened
from lookalike.cli.repeated import Reader as Reader
from lookalike.cli.typed import command_line
from lookalike.cli.unfinished import engine_of_a_run
from lookalike.errors import OptionError


def decontaminate(
    inputs: shared.Inputs,
    train: Annotated[
        list[str] | None,
        shared.second_collection(
            "TRAIN...", "The training documents, files of the same kinds. They are read once and not held."
        ),
    ] = None,
    text: shared.Text = shared.TEXT,
    id: shared.Id = None,
    train_text: Annotated[
        str | None,
        typer.Option(
            "--train-text",
            metavar="COL",
            show_default="that of --text",
            rich_help_panel=shared.READING,
            help="Column of the text in the training files.",
        ),
    ] = None,
    train_id: Annotated[
        str | None,
        typer.Option(
            "--train-id",
            metavar="COL",
            rich_help_panel=shared.READING,
            help="Column of unique ids in the training files. Without it a document is called FILE:ROW.",
        ),
    ] = None,
    on_error: shared.OnError = shared.ON_ERROR,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            "-t",
            metavar="NUMBER",
            rich_help_panel=shared.SIMILARITY,
            help="The share of an item's shingles that one training document, or all of them together, must "
            "have, over 0 and at most 1.",
        ),
    ] = DecontaminateOptions.threshold,
    shingle: shared.ShingleForm = str(DecontaminateOptions.shingle),
    run: Annotated[
        int | None,
        typer.Option(
            "--run",
            metavar="NUMBER",
            show_default="13 words, or 50 characters",
            rich_help_panel=shared.SIMILARITY,
            help="An item also counts if it shares so many words in a row with a document (characters, with "
            "character shingles); 0 for never.",
        ),
    ] = DecontaminateOptions.run,
    common: Annotated[
        int,
        typer.Option(
            "--common",
            metavar="NUMBER",
            rich_help_panel=shared.SIMILARITY,
            help="A run that is in more test items than this, such as a prompt, says nothing about any.",
        ),
    ] = DecontaminateOptions.common,
    seed: shared.Seed = DecontaminateOptions.seed,
    output: shared.OutputFolder = None,
    overwrite: shared.Overwrite = False,
    json: shared.Json = False,
    threads: shared.Threads = None,
    memory: shared.Memory = None,
    scratch: shared.Scratch = None,
    resume: shared.Resume = False,
    progress: shared.ProgressKind = shared.PROGRESS,
) -> None:
    """Find the test items that occur in training documents.

    Whole or in part: one training document holds most of an item, or all of them together do, or it shares a
    long run of words with one. The answer is exact. The folder gets items.parquet (every test item),
    pairs.parquet (item and document), passages.parquet (what they share), kept/ (the items that are clean, in
    the format they came in) and run.json.

    Training files may be of any size. Half of --memory must hold the test items, some 30 times their text;
    what is found takes 100 bytes a pair and a passage.

    \b
    Examples:
      lookalike decontaminate test.jsonl --with train/*.parquet -o leaks/
      lookalike decontaminate quiz.csv --text question --with crawl/ --train-text text --run 8 -o leaks/
    """
    if not train:
        raise OptionError("say which training documents to look in: add --with FILE")
    require_read_once((inputs, train))
    chosen = DecontaminateOptions.of(
        {"threshold": threshold, "shingle": shingle, "run": run, "common": common, "seed": seed}
    )
    watch = following(progress)
    reading = Reading(text=text, id=id, on_error=on_error)
    of_training = Reading(text=train_text or text, id=train_id, on_error=on_error)
    folder = checked_folder(output, overwrite=overwrite, resume=resume)
    with (
        opened(inputs, reading, output=output, scratch=scratch) as items,
        opened(train, of_training, output=output, scratch=scratch) as documents,
        engine_of_a_run(
            "decontaminate",
            folder,
            (items, documents),
            {
                **chosen.to_dict(),
                **vars(reading),
                "train_text": of_training.text,
                "train_id": of_training.id,
            },
            threads=threads,
            memory=memory,
            scratch=scratch,
            resume=resume,
            json=json,
        ) as engine,
        folder,
    ):
        result = decontaminate_source(items, documents, chosen, engine=engine, watch=watch)
        with watch.stage("write"):
            result.write_into(folder.path)
            folder.to_disk()
        record = replace(result.record(), command=command_line.get(), asked=folder.asked).write(folder.path)
    for source in (items, documents):
        note_what_was_left_out(source)
    for sentence in result.advice:
        note(sentence)
    tell(record, result.summary(), output, json=json)
