"""lookalike pairs"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from lookalike.applications.documents import PairOptions, pairs_of, pairs_of_sets
from lookalike.applications.documents.rehearsal import Rehearsal, rehearse_pairs
from lookalike.applications.documents.road_rehearsal import RoadRehearsal
from lookalike.applications.documents.summary import bucket_advice, pair_lines, run_estimates, search_advice
from lookalike.applications.documents.weighted import WeightedOptions, rehearse_by_weight
from lookalike.applications.sets import OpenSets
from lookalike.applications.strings import KINDS
from lookalike.cli import options as shared
from lookalike.cli import pair_options as own
from lookalike.cli.bits import search_of_bits
from lookalike.cli.given import ONLY_OF_TEXTS, opened_given, set_columns
from lookalike.cli.meaning import BY_WEIGHT, MEANING, alike_by_weight, asked_of_weights, close_in_meaning
from lookalike.cli.measurements import search_of_measurements
from lookalike.cli.outcome import PairsOutcome, found_counts
from lookalike.cli.output import Reading, alone
from lookalike.cli.repeated import Reader as Reader
from lookalike.cli.searches import OF_ALL_KINDS, PairSearch
from lookalike.cli.strings import near_strings
from lookalike.cli.typed import only, refuse, refuse_recall_of_given_bands
from lookalike.cli.vectors import of_vectors, search_of_vectors
from lookalike.engines import Engine
from lookalike.errors import OptionError
from lookalike.joins.expand import Copies, checked_copies
from lookalike.runs.watch import Watch

#: From what was opened, and what is asked of it, to pairs.
Find: TypeAlias = Callable[..., PairsOutcome]


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
    weight: shared.Weight = None,
    separator: shared.Separator = None,
    bits: own.BitsGiven = False,
    measurements: own.Measurements = None,
    threshold: shared.WrittenThreshold = PairOptions.threshold,
    recall: shared.Recall = PairOptions.recall,
    measure: shared.Measure = PairOptions.measure,
    distance: shared.Distance = None,
    not_copies: shared.NotCopies = None,
    within: own.Within = None,
    range_width: own.RangeWidth = None,
    shingle: shared.ShingleOfACollection = shared.SHINGLE,
    slots: shared.Slots = PairOptions.slots,
    bands: shared.Bands = None,
    rows: shared.Rows = None,
    probes: shared.Probes = None,
    verify: shared.Verify = PairOptions.verify,
    method: own.Method = PairOptions.method,
    common: shared.Common = None,
    suffix_filter: shared.SuffixFilter = PairOptions.suffix_filter,
    seed: shared.Seed = PairOptions.seed,
    output: shared.OutputFolder = None,
    copies: own.Copies = None,
    overwrite: shared.Overwrite = False,
    json: shared.Json = False,
    dry_run: shared.DryRun = False,
    threads: shared.Threads = None,
    memory: shared.Memory = None,
    scratch: shared.Scratch = None,
    resume: shared.Resume = False,
    progress: shared.ProgressKind = shared.PROGRESS,
) -> None:
    """Find all pairs of similar items, in one collection or two.

    Items are documents, or sets (--sets), or bits (--bits), or rows of measurements (--measurements), or
    vectors (--measure angle, cosine, l2 or l1): one .npy, .fvecs, .bvecs, .ivecs or .parquet file (--text
    names its column of lists) a collection. The folder gets pairs.parquet (a, b,
    similarity or distance) and run.json (what was done, and how well).

    \b
    Examples:
      lookalike pairs corpus/ --threshold 0.6 -o alike/
      lookalike pairs train.jsonl --with test/*.jsonl --id doc -o leaks/
      lookalike pairs --sets baskets.dat -t 0.6 -o alike/
      lookalike pairs news.jsonl --measure tfidf --not-copies 0.2 -o related/
      lookalike pairs names.csv --text name --measure levenshtein --distance 2 -o alike/
      lookalike pairs embeddings.npy --measure angle --threshold 20deg -o alike/
      lookalike pairs photos.csv --bits --text phash --id photo --threshold 3 -o alike/
      lookalike pairs fingerprints.npy --bits --measure jaccard --threshold 0.8 -o alike/
      lookalike pairs faces.csv --measurements eyes nose mouth --within 2 --threshold 0.6 --id face -o alike/
      lookalike pairs --sets likes.csv --set-of film --items user --rating stars --least-rating 4 -o alike/
      lookalike pairs --sets plays.csv --set-of user --items song --weight n --measure weighted-jaccard -o a/
    """
    given = [paths for paths in (inputs, other) if paths]
    if bits:
        search = search_of_bits(context, given, output=output)
    elif measurements:
        search = search_of_measurements(context, given, output=output)
    elif within is not None or range_width is not None:
        raise OptionError("--within and --range-width go with --measurements: name the columns there")
    elif of_vectors(inputs, measure, text=text) and not sets:
        search = search_of_vectors(context, given, output=output)
    elif of_vectors(inputs, "cosine") and not sets:
        raise OptionError(
            f"{inputs[0]} holds vectors: say how they are compared, by --measure angle, cosine, l2 or l1; "
            "or if it holds bits, add --bits"
        )
    elif probes is not None:
        raise OptionError("--probes goes with vectors: --measure angle, cosine, l2 or l1")
    else:
        columns = set_columns(
            sets=sets,
            of=set_of,
            items=items,
            rating=rating,
            least_rating=least_rating,
            weight=weight,
            separator=separator,
        )
        refuse_recall_of_given_bands(context, bands, rows)
        options: dict[str, Any] = {
            "threshold": threshold,
            "recall": recall,
            "measure": measure,
            "shingle": shingle,
            "slots": slots,
            "seed": seed,
            "method": method,
            "verify": verify,
            "common": shared.count_or_share(common),
            "suffix_filter": suffix_filter,
            "bands": bands,
            "rows": rows,
        }
        search = _search(
            context,
            given,
            Reading(text=text, id=id, on_error=on_error),
            columns,
            options,
            distance=distance,
            not_copies=not_copies,
            copies=checked_copies(copies),
            output=output,
        )
    search.run(
        output=output,
        overwrite=overwrite,
        json=json,
        dry_run=dry_run,
        threads=threads,
        memory=memory,
        scratch=scratch,
        resume=resume,
        progress=progress,
    )


def _search(
    context: typer.Context,
    given: Sequence[list[str]],
    reading: Reading,
    columns: dict[str, Any] | None,
    options: dict[str, Any],
    *,
    distance: int | None,
    not_copies: float | None,
    copies: Copies | None,
    output: Path | None,
) -> PairSearch:
    """Documents by shingles, by meaning or by edits, and sets."""
    measure = options["measure"]
    of_strings, of_meaning, by_weight = measure in KINDS, measure == MEANING, measure in BY_WEIGHT
    if by_weight and columns is None:
        raise OptionError(f"--measure {measure} compares sets with weights: add --sets")
    if (of_strings or of_meaning) and columns is not None:
        raise OptionError(f"--measure {measure} compares texts: leave out --sets")
    if of_strings != (distance is not None):
        raise OptionError("--distance goes with --measure levenshtein or indel, and those need it")
    if of_strings:
        only(context, {*OF_ALL_KINDS, "measure", "distance"}, f"--measure {measure}")
    if not_copies is not None and not of_meaning:
        raise OptionError("--not-copies goes with --measure tfidf")
    find: Find
    # Who asks for all in so many words asks for what is given without.
    listing: dict[str, Any] = {"copies": copies or "all"}
    rehearsal: Callable[[Sequence[Any], Engine, Watch], Rehearsal | RoadRehearsal] | None = None
    if of_meaning:
        asked: dict[str, Any] = {**asked_of_weights(context).to_dict(), **listing}
        find = close_in_meaning
        rehearsal = partial(_rehearsed_by_weight, asked_of_weights(context))
    elif by_weight:
        chosen_weights = asked_of_weights(context)
        asked = {**chosen_weights.to_dict(), **listing, **(columns or {})}
        find = partial(alike_by_weight, chosen_weights)
        rehearsal = partial(_rehearsed_by_weight, chosen_weights)
    elif of_strings:
        asked = {"measure": measure, "distance": distance, **listing}
        find = near_strings
    else:
        if columns is not None:
            refuse(context, ONLY_OF_TEXTS, "--sets")
        chosen = PairOptions.of({**options, "threshold": shared.number(options["threshold"])})
        asked = {**chosen.to_dict(), **listing, **(columns or {})}
        find = partial(_similar, chosen)
        rehearsal = partial(_rehearsed, chosen)
    return PairSearch(
        parameters={**asked, **vars(reading)},
        open=partial(opened_given, given, reading, columns, output=output),
        find=lambda sources, engine, watch: find(sources, asked, copies, engine=engine, watch=watch),
        rehearse=rehearsal,
    )


def _similar(
    options: PairOptions,
    given: Sequence[Any],
    asked: dict[str, Any],
    copies: Copies | None,
    *,
    engine: Engine,
    watch: Watch,
) -> PairsOutcome:
    """Similar pairs of documents, or of sets."""
    how: dict[str, Any] = {"engine": engine, "watch": watch, "copies": copies}
    if isinstance(given[0], OpenSets):
        found, sets = pairs_of_sets(given, options, **how)
        account, counts = sets.joined.account, _counts("sets", sets.collections)
        counts["elements"] = sum(collection.elements for collection in sets.collections)
        sources = [one.source for one in given if one.source is not None]
        advice = bucket_advice(account, listing=True)
    else:
        found, documents = pairs_of(given, options, **how)
        account, counts = documents.joined.account, _counts("documents", documents.collections)
        counts["text_bytes"] = int(sum(one.text_bytes.sum() for one in documents.collections))
        counts |= {"short": account.short, "unspaced": account.unspaced}
        sources = list(given)
        # Advice about shingles is for documents.
        advice = alone(given) + search_advice(account, options, listing=True)
    counts |= found_counts(account, sources, len(found))
    return PairsOutcome(
        found=found,
        parameters=asked,
        counts=counts,
        estimates=lambda stages: run_estimates(account, stages),
        lines=lambda stages: pair_lines(account, counts, found.in_all, stages),
        advice=advice,
    )


def _rehearsed(options: PairOptions, given: Sequence[Any], engine: Engine, watch: Watch) -> Rehearsal:
    return rehearse_pairs(given, options, engine=engine, watch=watch)


def _rehearsed_by_weight(
    options: WeightedOptions, given: Sequence[Any], engine: Engine, watch: Watch
) -> RoadRehearsal:
    return rehearse_by_weight(given, options, engine=engine, watch=watch)


def _counts(kind: str, collections: Sequence[Any]) -> dict[str, Any]:
    rows = [collection.rows for collection in collections]
    return {kind: sum(rows), f"{kind}_by_collection": rows}
