"""lookalike pairs --bits: hashes and fingerprints within a few bits, or alike in those that are set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from lookalike.applications.bits import COLUMN, pairs_of_bits
from lookalike.applications.chosen import road_name, told
from lookalike.applications.documents.summary import how_sure, promise_facts
from lookalike.charts import numbers
from lookalike.cli.given import opened_each
from lookalike.cli.outcome import PairsOutcome, fact_lines, found_counts
from lookalike.cli.searches import OF_ALL_KINDS, PairSearch
from lookalike.cli.typed import only, typed
from lookalike.engines import Engine
from lookalike.io import FileSource
from lookalike.io.bits import open_bit_files
from lookalike.joins import Account
from lookalike.joins.expand import checked_copies
from lookalike.runs.watch import Watch

_KNOWN = OF_ALL_KINDS | {"bits", "measure", "threshold", "recall", "method", "seed"}


def search_of_bits(context: typer.Context, given: Sequence[list[str]], *, output: Path | None) -> PairSearch:
    """Near bits of one collection of files, or of two."""
    only(context, _KNOWN, "--bits")
    options = context.params
    asked: dict[str, Any] = {
        "measure": options["measure"] if typed(context, "measure") else "hamming",
        "threshold": options["threshold"] if typed(context, "threshold") else None,
        **{name: options[name] for name in ("recall", "method", "seed")},
    }
    column, id = options["text"] if typed(context, "text") else COLUMN, options["id"]
    copies = checked_copies(options["copies"])
    reading: dict[str, Any] = {"column": column, "id": id, "on_error": options["on_error"]}

    def find(sources: Sequence[FileSource], engine: Engine, watch: Watch) -> PairsOutcome:
        found = pairs_of_bits(
            tuple(sources), asked, column=column, id=id, copies=copies, engine=engine, watch=watch
        )
        account = found.account
        assert account is not None
        return PairsOutcome(
            found=found,
            parameters={**asked, "threshold": account.threshold, "column": column, "copies": copies or "all"},
            counts={"rows": account.items, **found_counts(account, sources, len(found))},
            estimates=lambda stages: account.estimates(),
            lines=lambda stages: fact_lines(_facts(account, found.in_all), stages),
            advice=[],
        )

    return PairSearch(
        parameters={**asked, "copies": copies or "all", **reading},
        open=partial(opened_each, partial(open_bit_files, **reading), given, output=output),
        find=find,
    )


def _facts(account: Account, in_all: str) -> dict[str, str]:
    if account.measure == "hamming":
        at = f"within {numbers.several(int(account.threshold), 'bit')}"
    else:
        at = f"at Tanimoto similarity {account.threshold:g} or over"
    return {
        "rows": numbers.count(account.items),
        "exact copies": numbers.count(account.copies) if account.copies else "",
        "candidates": numbers.count(account.candidates),
        "near pairs": f"{numbers.count(account.pairs)} {at}",
        "pairs": in_all,
        "recall": _recall(account),
        **dict(promise_facts(account)),
        "method": told(account.choice) if account.choice is not None else road_name(account.method),
    }


def _recall(account: Account) -> str:
    if account.promised is None:
        return "all near pairs found"
    promise = (
        f"{numbers.percent(account.promised)} promised at {numbers.several(int(account.threshold), 'bit')}"
    )
    if account.recall.recall is None:
        return f"{promise}; no near pair was found to estimate it from"
    found = numbers.percent(account.recall.recall)
    return f"about {found} of all near pairs found, {promise}{how_sure(account.recall)}"
