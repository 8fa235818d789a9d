"""lookalike pairs"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any

import typer

from lookalike.applications.documents import PairOptions, pairs_of
from lookalike.applications.documents.summary import pair_lines, search_advice
from lookalike.cli import options as shared
from lookalike.cli.app import Command
from lookalike.cli.output import (
    Reading,
    checked_folder,
    note,
    note_what_was_left_out,
    opened,
    require_reachable,
)
from lookalike.engines import LocalEngine
from lookalike.joins import ALGORITHM_VERSION
from lookalike.runs import Header, RunRecord, choose_progress, write_parquet
from lookalike.runs.watch import Watch

_WITH = "--with"


class Reader(Command):
    """Takes everything after --with, up to the next option, as the other collection.

    Otherwise a shell that expands `--with b/*.jsonl` would put all files but the first into this one.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat --with before each of its values."""
        return super().parse_args(ctx, repeated(args, _WITH))


def repeated(arguments: list[str], option: str) -> list[str]:
    """Write `option a b` as `option a option b`.

    Examples
    --------
    >>> repeated(["x", "--with", "a", "b", "-o", "out"], "--with")
    ['x', '--with', 'a', '--with', 'b', '-o', 'out']
    """
    result: list[str] = []
    values = 0
    within = False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            within, values = argument == option, 0
        elif within:
            if values:
                result.append(option)
            values += 1
        result.append(argument)
    return result


def pairs(
    inputs: shared.Inputs,
    other: Annotated[
        list[str] | None,
        typer.Option(
            _WITH,
            metavar="OTHER...",
            show_default=False,
            rich_help_panel=shared.READING,
            help="A second collection: pairs then go from a document of the first to one of the second.",
        ),
    ] = None,
    text: shared.Text = shared.TEXT,
    id: shared.Id = None,
    on_error: shared.OnError = shared.ON_ERROR,
    threshold: shared.Threshold = PairOptions.threshold,
    recall: shared.Recall = PairOptions.recall,
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
    """Find all pairs of similar documents, in one collection or two.

    The folder gets pairs.parquet (a, b, similarity) and run.json (what was done, and how well).

    \b
    Examples:
      lookalike pairs corpus/ --threshold 0.6 -o alike/
      lookalike pairs train.jsonl --with test/*.jsonl --id doc -o leaks/
    """
    chosen = PairOptions.of(
        {
            "threshold": threshold,
            "recall": recall,
            "shingle": shingle,
            "slots": slots,
            "seed": seed,
            "method": method,
            "verify": verify,
        }
    )
    require_reachable(chosen)
    engine = LocalEngine(threads)
    watch = Watch(choose_progress(progress))  # type: ignore[arg-type]
    with ExitStack() as stack:
        folder = stack.enter_context(checked_folder(output, overwrite=overwrite))
        sources = [
            stack.enter_context(opened(given, Reading(text=text, id=id, on_error=on_error), output=output))
            for given in (inputs, other)
            if given
        ]
        found, search = pairs_of(sources, chosen, engine=engine, watch=watch, expand=expand)
        parameters = {**chosen.to_dict(), "expand": expand}
        with watch.stage("write"):
            header = Header(kind="pairs", algorithm=ALGORITHM_VERSION, parameters=parameters)
            write_parquet(folder.path / "pairs.parquet", found.to_arrow(), header)
        account = search.joined.account
        counts = {
            "documents": account.items,
            "documents_by_collection": [collection.rows for collection in search.collections],
            "unreadable": sum(source.unreadable.rows for source in sources),
            "unreadable_files": sum(source.unreadable.files for source in sources),
            "empty": account.empty,
            "short": account.short,
            "unspaced": account.unspaced,
            "copies": account.copies,
            "candidates": account.candidates,
            "near_pairs": account.pairs,
            "pairs": len(found),
            "text_bytes": int(sum(collection.text_bytes.sum() for collection in search.collections)),
        }
        record = RunRecord(
            job="pairs",
            parameters=parameters,
            algorithm=ALGORITHM_VERSION,
            counts=counts,
            estimates={
                "candidates": account.plan.expected_candidates,
                "recall": account.recall.to_dict(),
                "plan": account.plan.to_dict(),
            },
            stages=tuple(watch.stages),
        ).write(folder.path)
        for source in sources:
            note_what_was_left_out(source)
    for sentence in search_advice(account, chosen):
        note(sentence)
    if json:
        print(record.to_json().rstrip())
        return
    print("\n".join(pair_lines(account, counts, watch.stages)))
    print(f"{'written':<13} {output}: pairs.parquet, run.json")
