"""lookalike pairs --bits: hashes and fingerprints within a few bits, or alike in those that are set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookalike.applications.bits import pairs_of_bits
from lookalike.charts import numbers
from lookalike.cli.outcome import PairsOutcome
from lookalike.cli.output import check_outside, checked_folder
from lookalike.engines import LocalEngine
from lookalike.joins import Account
from lookalike.runs import RunRecord, choose_progress
from lookalike.runs.sizes import parse_size
from lookalike.runs.watch import Watch

#: The column of hexadecimal strings, unless --text names another.
COLUMN = "bits"


def find_bits(
    inputs: list[str],
    other: list[str] | None,
    asked: dict[str, Any],
    *,
    column: str,
    id: str | None,
    expand: bool,
    output: Path | None,
    overwrite: bool,
    threads: int | None,
    memory: str | None,
    scratch: Path | None,
    progress: str,
) -> tuple[RunRecord, list[str]]:
    """Find the pairs and write the folder; what run.json says, and lines for a person."""
    given = tuple([Path(path) for path in paths] for paths in (inputs, other) if paths)
    folder = checked_folder(output, overwrite=overwrite)
    if output is not None:
        check_outside([(path, str(path)) for paths in given for path in paths], output)
    watch = Watch(choose_progress(progress))  # type: ignore[arg-type]
    engine = LocalEngine(threads, memory=None if memory is None else parse_size(memory), scratch=scratch)
    with folder:
        found = pairs_of_bits(given, asked, column=column, id=id, expand=expand, engine=engine, watch=watch)
        account = found.account
        facts = _facts(account, len(found))
        outcome = PairsOutcome(
            found=found,
            parameters={**asked, "threshold": account.threshold, "column": column, "expand": expand},
            counts={
                "rows": account.items,
                "copies": account.copies,
                "candidates": account.candidates,
                "near_pairs": account.pairs,
                "pairs": len(found),
            },
            estimates=lambda stages: account.estimates(),
            lines=lambda stages: [
                f"{name:<13} {value}"
                for name, value in {**facts, "took": numbers.seconds(sum(s.seconds for s in stages))}.items()
                if value
            ],
            advice=[],
        )
        return outcome.write_into(folder.path, watch), outcome.lines(watch.stages)


def _facts(account: Account, pairs: int) -> dict[str, str]:
    if account.measure == "hamming":
        at = f"within {numbers.several(int(account.threshold), 'bit')}"
    else:
        at = f"at Tanimoto similarity {account.threshold:g} or over"
    return {
        "rows": numbers.count(account.items),
        "exact copies": numbers.count(account.copies) if account.copies else "",
        "candidates": numbers.count(account.candidates),
        "near pairs": f"{numbers.count(account.pairs)} {at}",
        "pairs": f"{numbers.count(pairs)} in all, exact copies among them" if account.copies else "",
        "recall": _recall(account),
        "method": f"{account.method}: {account.choice.why}" if account.choice is not None else account.method,
    }


def _recall(account: Account) -> str:
    if account.promised is None:
        return "all near pairs found"
    promise = (
        f"{numbers.percent(account.promised)} promised at {numbers.several(int(account.threshold), 'bit')}"
    )
    if account.recall.recall is None:
        return f"{promise}; no near pair was found to estimate it from"
    return f"about {numbers.percent(account.recall.recall)} of all near pairs found, {promise}"
