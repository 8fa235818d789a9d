"""lookalike pairs by weights: documents close in meaning (--measure tfidf), and sets that have weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import typer

from lookalike.applications.documents.summary import bucket_advice, pair_lines, run_estimates
from lookalike.applications.documents.weighted import (
    MEASURES,
    WeightedOptions,
    pairs_by_meaning,
    pairs_by_weight,
)
from lookalike.applications.sets import OpenSets
from lookalike.charts import numbers
from lookalike.cli.given import ONLY_OF_TEXTS
from lookalike.cli.outcome import PairsOutcome, found_counts
from lookalike.cli.typed import typed
from lookalike.engines import Engine
from lookalike.errors import OptionError
from lookalike.io import Source
from lookalike.joins import Account
from lookalike.joins.expand import Copies
from lookalike.runs import Stage
from lookalike.runs.watch import Watch
from lookalike.shingles.terms import MOST_TERMS

MEANING = "tfidf"
#: Measures of sets with weights.
BY_WEIGHT = tuple(measure for measure in MEASURES if measure != MEANING)
_PAIRS = "pairs "
#: Options of documents and sets without weights alone.
_OF_SETS = ("verify", "common", "suffix_filter", "bands", "rows")


def asked_of_weights(context: typer.Context) -> WeightedOptions:
    """The options that were typed; what was not takes the defaults of the measure, not of Jaccard's."""
    asked = {name: value for name, value in context.params.items() if typed(context, name)}
    measure = asked["measure"]
    for name in (*_OF_SETS, *(() if measure == MEANING else ONLY_OF_TEXTS)):
        if name in asked:
            option = name.replace("_", "-")
            raise OptionError(f"--{option} has no choice with --measure {measure}: leave it out")
    known = {field.name for field in fields(WeightedOptions)}
    return WeightedOptions.of({name: value for name, value in asked.items() if name in known})


def close_in_meaning(
    sources: Sequence[Source], asked: dict[str, Any], copies: Copies | None, *, engine: Engine, watch: Watch
) -> PairsOutcome:
    """Find the pairs; `asked` are the options, and which `copies` are listed."""
    options = WeightedOptions.of({name: value for name, value in asked.items() if name != "copies"})
    found, collections = pairs_by_meaning(sources, options, engine=engine, watch=watch, copies=copies)
    account, rows = found.account, [collection.rows for collection in collections]
    assert account is not None
    counts = {
        "documents": sum(rows),
        "documents_by_collection": rows,
        "text_bytes": int(sum(collection.text_bytes.sum() for collection in collections)),
        "short": account.short,
        "unspaced": account.unspaced,
        **found_counts(account, sources, len(found)),
    }
    return PairsOutcome(
        found=found,
        parameters=asked,
        counts=counts,
        estimates=lambda stages: run_estimates(account, stages),
        lines=lambda stages: _lines(account, counts, found.in_all, options.not_copies, stages),
        advice=[*_frequency_advice(account), *bucket_advice(account, listing=True)],
    )


def alike_by_weight(
    options: WeightedOptions,
    given: Sequence[OpenSets],
    asked: dict[str, Any],
    copies: Copies | None,
    *,
    engine: Engine,
    watch: Watch,
) -> PairsOutcome:
    """Pairs of weighted sets; `asked` are the options, `copies`, and how the sets are read."""
    found, collections = pairs_by_weight(given, options, engine=engine, watch=watch, copies=copies)
    account, rows = found.account, [collection.rows for collection in collections]
    assert account is not None
    sources = [one.source for one in given if one.source is not None]
    counts = {
        "sets": sum(rows),
        "sets_by_collection": rows,
        "elements": sum(collection.elements for collection in collections),
        **found_counts(account, sources, len(found)),
    }
    return PairsOutcome(
        found=found,
        parameters=asked,
        counts=counts,
        estimates=lambda stages: run_estimates(account, stages),
        lines=lambda stages: pair_lines(account, counts, found.in_all, stages),
        advice=bucket_advice(account, listing=True),
    )


def _frequency_advice(account: Account) -> list[str]:
    """What it means that terms shared counters."""
    if account.frequencies != "shared":
        return []
    return [
        f"there are over {numbers.count(MOST_TERMS)} different terms: documents were counted in counters that"
        " terms share, so some terms look more common than they are, and similarities differ a little from"
        " those of exact counts"
    ]


def _lines(
    account: Account,
    counts: dict[str, Any],
    in_all: str,
    not_copies: float | None,
    stages: Sequence[Stage],
) -> list[str]:
    """A fact a line; where copies are left out, how many pairs are left."""
    lines = pair_lines(account, counts, in_all, stages)
    if not_copies is None:
        return lines
    left = f"{'not copied':<13} {counts['pairs']:,}, their shingles of five words under {not_copies:g} alike"
    at = next(place for place, line in enumerate(lines) if line.startswith("near pairs")) + 1
    return [*lines[:at], left, *(line for line in lines[at:] if not line.startswith(_PAIRS))]
