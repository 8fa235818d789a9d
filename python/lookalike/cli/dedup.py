"""lookalike dedup"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike.applications.documents import DedupOptions, dedup_source
from lookalike.applications.documents.against_rehearsal import rehearse_against
from lookalike.applications.documents.earlier import open_runs
from lookalike.applications.documents.rehearsal import rehearse
from lookalike.cli import options as shared
from lookalike.cli.app import Command
from lookalike.cli.following import following
from lookalike.cli.outcome import tell, tell_rehearsal
from lookalike.cli.output import (
    Reading,
    alone,
    check_outside,
    checked_folder,
    note,
    note_what_was_left_out,
    opened,
    work_place,
)
from lookalike.cli.repeated import repeated
from lookalike.cli.typed import command_line, refuse_recall_of_given_bands
from lookalike.cli.unfinished import engine_of_a_run
from lookalike.clusters import parse_keep
from lookalike.engines import local_engine
from lookalike.runs import RunFolder, files_of, is_run_folder

_AGAINST = "--against"


class Reader(Command):
    """Reads `--against A B` as `--against A --against B`, if B is the folder of a run and so no input."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat --against before each of its values."""
        return super().parse_args(ctx, repeated(args, _AGAINST, lambda value: is_run_folder(Path(value))))


def dedup(
    context: typer.Context,
    inputs: shared.Inputs,
    output: shared.OutputFolder = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            _AGAINST,
            metavar="RUN...",
            show_default=False,
            rich_help_panel=shared.READING,
            help="Folders that earlier runs wrote: the input is new, and compared with what they kept, which "
            "stays as it is and is not compared again.",
        ),
    ] = None,
    text: shared.Text = shared.TEXT,
    id: shared.Id = None,
    on_error: shared.OnError = shared.ON_ERROR,
    threshold: shared.Threshold = DedupOptions.threshold,
    recall: shared.Recall = DedupOptions.recall,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="jaccard|cosine",
            rich_help_panel=shared.SIMILARITY,
            help="What similarity is: the share of all shingles of two documents that both have, or the "
            "cosine of the two sets, by an exact method.",
        ),
    ] = DedupOptions.measure,
    shingle: shared.ShingleOfACollection = shared.SHINGLE,
    slots: shared.Slots = DedupOptions.slots,
    bands: shared.Bands = None,
    rows: shared.Rows = None,
    verify: shared.Verify = DedupOptions.verify,
    method: shared.Method = DedupOptions.method,
    common: shared.Common = None,
    suffix_filter: shared.SuffixFilter = DedupOptions.suffix_filter,
    seed: shared.Seed = DedupOptions.seed,
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            metavar="document|paragraph|line",
            rich_help_panel=shared.SIMILARITY,
            help="What is compared and dropped: documents, or paragraphs (between blank lines) or lines, "
            "wherever they occur again. Documents then lose their repeated parts.",
        ),
    ] = DedupOptions.unit,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="first|longest|max:COL",
            rich_help_panel=shared.KEEPING,
            help="Which document of a cluster is kept: the first by path and row, the longest, or the one "
            "with the greatest value in a column.",
        ),
    ] = DedupOptions.keep,
    group: Annotated[
        str,
        typer.Option(
            "--group",
            metavar="components|star",
            rich_help_panel=shared.KEEPING,
            help="What a cluster is: everything connected, or a kept document and those at or over the "
            "threshold to it.",
        ),
    ] = DedupOptions.group,
    drop_list: Annotated[
        bool,
        typer.Option(
            "--drop-list",
            rich_help_panel=shared.WRITING,
            help="Write dropped.parquet, which names the dropped documents, instead of the kept ones. "
            "--against such a run reads its input again.",
        ),
    ] = False,
    overwrite: shared.Overwrite = False,
    json: shared.Json = False,
    dry_run: shared.DryRun = False,
    threads: shared.Threads = None,
    memory: shared.Memory = None,
    scratch: shared.Scratch = None,
    resume: shared.Resume = False,
    progress: shared.ProgressKind = shared.PROGRESS,
) -> None:
    """Keep one document of every group of near-duplicates.

    Exact copies are found first, then near-duplicates among what is left. The folder gets kept/ (the kept
    rows, in the format they came in), clusters.parquet (which document is kept for which), pairs.parquet,
    samples.parquet (pairs near the threshold, to judge it by) and run.json (what was done, and how well).

    \b
    Examples:
      lookalike dedup corpus/ -o clean/
      lookalike dedup crawl/ --unit paragraph -o clean/
      lookalike dedup tuesday/ --against clean/ -o clean-tuesday/
      lookalike dedup pages.jsonl.gz --text body --id url --threshold 0.7 --keep longest -o clean/
    """
    refuse_recall_of_given_bands(context, bands, rows)
    chosen = DedupOptions.of(
        {
            "threshold": threshold,
            "recall": recall,
            "shingle": shingle,
            "slots": slots,
            "seed": seed,
            "measure": measure,
            "method": method,
            "verify": verify,
            "common": shared.count_or_share(common),
            "suffix_filter": suffix_filter,
            "bands": bands,
            "rows": rows,
            "unit": unit,
            "keep": keep,
            "group": group,
        }
    )
    watch = following(progress)
    column = parse_keep(chosen.keep)[1]
    reading = Reading(text=text, id=id, on_error=on_error, columns=() if column is None else (column,))
    runs = open_runs(against or (), chosen)
    if dry_run:
        if output is not None:
            RunFolder.create(output, overwrite=overwrite)
        with opened(inputs, reading, output=output, scratch=scratch) as source:
            engine = local_engine(threads, memory, work_place(output, scratch))
            how: dict[str, Any] = {"engine": engine, "watch": watch}
            rehearsal = (
                rehearse_against(source, runs, chosen, **how) if runs else rehearse(source, chosen, **how)
            )
            note_what_was_left_out(source)
        tell_rehearsal(rehearsal, json=json)
        return
    folder = checked_folder(output, overwrite=overwrite, resume=resume)
    earlier = [path for run in runs for path in run.paths]
    check_outside([(path, str(path)) for path in earlier], folder.target)
    parameters = {**chosen.to_dict(), **vars(reading)}
    if runs:
        parameters["against"] = [str(run.folder) for run in runs]
    with (
        opened(inputs, reading, output=output, scratch=scratch) as source,
        engine_of_a_run(
            "dedup",
            folder,
            [source],
            parameters,
            threads=threads,
            memory=memory,
            scratch=scratch,
            resume=resume,
            more_inputs=earlier,
            written={"drop_list": drop_list},
            json=json,
        ) as engine,
        folder,
    ):
        result = dedup_source(source, chosen, engine=engine, watch=watch, against=runs)
        with watch.stage("write"):
            result.write_into(folder.path, drop_list=drop_list)
            # Of many small files these take longer than writing them did.
            files = files_of(folder.path)
            folder.to_disk()
        record = replace(result.record(), command=command_line.get(), asked=folder.asked)
        record = record.write(folder.path, files=files)
    note_what_was_left_out(source)
    lonely = alone([source]) if unit == "document" and not runs else []
    for sentence in lonely + result.advice:
        note(sentence)
    tell(record, result.summary(), output, json=json)
