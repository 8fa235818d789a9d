"""lookalike pairs"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from lookalike.applications.documents import PairOptions, pairs_of, pairs_of_sets
from lookalike.applications.documents.summary import bucket_advice, pair_lines, run_estimates, search_advice
from lookalike.applications.sets import OpenSets
from lookalike.applications.strings import KINDS
from lookalike.cli import options as shared
from lookalike.cli.bits import COLUMN, find_bits
from lookalike.cli.given import note_what_was_left_out_of, opened_given, set_columns
from lookalike.cli.meaning import MEANING, asked_of_meaning, close_in_meaning
from lookalike.cli.outcome import PairsOutcome, found_counts
from lookalike.cli.output import Reading, checked_folder, note
from lookalike.cli.repeated import Reader as Reader
from lookalike.cli.strings import near_strings
from lookalike.cli.unfinished import engine_of_a_run
from lookalike.cli.vectors import find_vectors, of_vectors
from lookalike.engines import Engine
from lookalike.errors import OptionError
from lookalike.runs import choose_progress
from lookalike.runs.watch import Watch


def pairs(
    context: typer.Context,
    inputs: shared.Inputs,
    other: Annotated[
        list[str] | None,
        shared.second_collection(
            "OTHER...", "A second collection: pairs then go from an item of the first to one of the second."
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
    bits: Annotated[
        bool,
        typer.Option(
            "--bits",
            rich_help_panel=shared.READING,
            help="Items are bits, such as perceptual hashes and fingerprints: hexadecimal strings in the "
            "column `bits`, or in the one that --text names, or one a line. By --measure hamming (the "
            "default here; --threshold is how many bits may differ) or jaccard, which is Tanimoto's.",
        ),
    ] = False,
    threshold: shared.WrittenThreshold = PairOptions.threshold,
    recall: shared.Recall = PairOptions.recall,
    measure: shared.Measure = PairOptions.measure,
    distance: shared.Distance = None,
    not_copies: shared.NotCopies = None,
    shingle: shared.ShingleForm = shared.SHINGLE,
    slots: shared.Slots = PairOptions.slots,
    probes: shared.Probes = None,
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
    memory: shared.Memory = None,
    scratch: shared.Scratch = None,
    resume: shared.Resume = False,
    progress: shared.ProgressKind = shared.PROGRESS,
) -> None:
    """Find all pairs of similar items, in one collection or two.

    Items are documents, or sets (--sets), or bits (--bits), or vectors (--measure angle, l2 or l1; of .npy
    files also cosine): one .npy, .fvecs, .bvecs, .ivecs or .parquet file (--text names its column of lists) a
    collection. The folder gets pairs.parquet (a, b, similarity or distance) and run.json (what was done, and
    how well).

    \b
    Examples:
      lookalike pairs corpus/ --threshold 0.6 -o alike/
      lookalike pairs train.jsonl --with test/*.jsonl --id doc -o leaks/
      lookalike pairs --sets baskets.dat -t 0.6 -o alike/
      lookalike pairs news.jsonl --measure tfidf --not-copies 0.2 -o related/
      lookalike pairs names.csv --text name --measure levenshtein --distance 2 -o alike/
      lookalike pairs embeddings.npy --measure angle --threshold 20deg -o alike/
      lookalike pairs photos.csv --bits --text phash --id photo --threshold 3 -o alike/
      lookalike pairs --sets likes.csv --set-of film --items user --rating stars --least-rating 4 -o alike/
    """
    run: dict[str, Any] = {
        "id": id,
        "expand": expand,
        "output": output,
        "overwrite": overwrite,
        "threads": threads,
        "memory": memory,
        "scratch": scratch,
        "progress": progress,
    }
    if bits:
        _only(context, {*_ALL, "bits", "measure", "threshold", "recall", "method", "seed"}, "--bits")
        by = measure if given_by(context, "measure") else "hamming"
        record, lines = find_bits(
            inputs,
            other,
            {
                "measure": by,
                "threshold": threshold if given_by(context, "threshold") else None,
                "recall": recall,
                "method": method,
                "seed": seed,
            },
            column=text if given_by(context, "text") else COLUMN,
            **run,
        )
        print(record.to_json().rstrip() if json else "\n".join(lines))
        return
    if of_vectors(inputs, measure) and not sets:
        known = {*_ALL, "measure", "threshold", "recall", "method", "slots", "probes", "seed"}
        _only(context, known, f"--measure {measure} of vectors")
        said = {
            name: value
            for name, value in (("slots", slots), ("method", method), ("probes", probes))
            if given_by(context, name)
        }
        record, lines = find_vectors(
            inputs,
            other,
            {"measure": measure, "recall": recall, "seed": seed, **said}
            | ({"threshold": threshold} if given_by(context, "threshold") else {}),
            column=None if text == shared.TEXT else text,
            **run,
        )
        print(record.to_json().rstrip() if json else "\n".join(lines))
        return
    if of_vectors(inputs, "cosine") and not sets:
        raise OptionError(
            f"{inputs[0]} holds vectors: say how they are compared, by --measure angle, cosine, l2 or l1"
        )
    if probes is not None:
        raise OptionError("--probes goes with vectors: --measure angle, cosine, l2 or l1")
    of_strings, of_meaning = measure in KINDS, measure == MEANING
    if (of_strings or of_meaning) and sets:
        raise OptionError(f"--measure {measure} compares texts: leave out --sets")
    if of_strings != (distance is not None):
        raise OptionError("--distance goes with --measure levenshtein or indel, and those need it")
    if of_strings:
        _only(context, {*_ALL, "measure", "distance", "on_error", "resume"}, f"--measure {measure}")
    if not_copies is not None and not of_meaning:
        raise OptionError("--not-copies goes with --measure tfidf")
    columns = set_columns(
        sets=sets, of=set_of, items=items, rating=rating, least_rating=least_rating, separator=separator
    )
    if of_meaning:
        asked: dict[str, Any] = {**asked_of_meaning(context).to_dict(), "expand": expand}
    elif distance is None:
        chosen = PairOptions.of(
            {
                "threshold": shared.number(threshold),
                "recall": recall,
                "measure": measure,
                "shingle": shingle,
                "slots": slots,
                "seed": seed,
                "method": method,
                "verify": verify,
            }
        )
        asked = {**chosen.to_dict(), "expand": expand, **(columns or {})}
    else:
        asked = {"measure": measure, "distance": distance, "expand": expand}
    watch = Watch(choose_progress(progress))  # type: ignore[arg-type]
    reading = Reading(text=text, id=id, on_error=on_error)
    folder = checked_folder(output, overwrite=overwrite)
    with (
        opened_given((inputs, other), reading, columns, output=output) as given,
        engine_of_a_run(
            "pairs",
            folder,
            given,
            {**asked, **vars(reading)},
            threads=threads,
            memory=memory,
            scratch=scratch,
            resume=resume,
        ) as engine,
        folder,
    ):
        if of_meaning:
            outcome = close_in_meaning(given, asked, engine=engine, watch=watch)
        elif distance is None:
            outcome = _similar(given, chosen, asked, engine=engine, watch=watch)
        else:
            outcome = near_strings(given, asked, engine=engine, watch=watch)
        record = outcome.write_into(folder.path, watch)
    note_what_was_left_out_of(given)
    for sentence in outcome.advice:
        note(sentence)
    if json:
        print(record.to_json().rstrip())
        return
    print("\n".join(outcome.lines(watch.stages)))
    print(f"{'written':<13} {output}: pairs.parquet, run.json")


#: Options that every kind of item has.
_ALL = (
    *("inputs", "other", "text", "id", "output", "expand", "overwrite", "json"),
    *("threads", "memory", "scratch", "progress"),
)


def _only(context: typer.Context, known: set[str], what: str) -> None:
    """Refuse options that were typed and would be ignored."""
    for name in context.params:
        if name not in known and given_by(context, name):
            raise OptionError(f"--{name.replace('_', '-')} has no meaning with {what}: leave it out")


def given_by(context: typer.Context, name: str) -> bool:
    """Whether a person typed this option."""
    return str(context.get_parameter_source(name)).endswith("COMMANDLINE")


def _similar(
    given: Sequence[Any], options: PairOptions, asked: dict[str, Any], *, engine: Engine, watch: Watch
) -> PairsOutcome:
    """Similar pairs of documents, or of sets."""
    how: dict[str, Any] = {"engine": engine, "watch": watch, "expand": asked["expand"]}
    if isinstance(given[0], OpenSets):
        found, sets = pairs_of_sets(given, options, **how)
        account, counts = sets.joined.account, _counts("sets", sets.collections)
        counts["elements"] = sum(collection.elements for collection in sets.collections)
        sources = [one.source for one in given if one.source is not None]
        advice = bucket_advice(account)
    else:
        found, documents = pairs_of(given, options, **how)
        account, counts = documents.joined.account, _counts("documents", documents.collections)
        counts["text_bytes"] = int(sum(one.text_bytes.sum() for one in documents.collections))
        counts |= {"short": account.short, "unspaced": account.unspaced}
        sources = list(given)
        # Advice about shingles is for documents.
        advice = search_advice(account, options)
    counts |= found_counts(account, sources, len(found))
    return PairsOutcome(
        found=found,
        parameters=asked,
        counts=counts,
        estimates=lambda stages: run_estimates(account, stages),
        lines=lambda stages: pair_lines(account, counts, stages),
        advice=advice,
    )


def _counts(kind: str, collections: Sequence[Any]) -> dict[str, Any]:
    rows = [collection.rows for collection in collections]
    return {kind: sum(rows), f"{kind}_by_collection": rows}
