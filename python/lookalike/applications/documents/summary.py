"""The lines a person reads after a run, and what they may want to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lookalike.applications.documents.options import DedupOptions
from lookalike.charts import numbers
from lookalike.joins import Account
from lookalike.runs import Stage
from lookalike.shingles import Shingle

#: Two rows picked at random share this much: then most documents hold most shingles, and k is too small.
CROWDED = 0.3
#: A cluster that holds this share of the collection deserves a look.
HUGE_CLUSTER = 0.1


def summary_lines(account: Account, counts: Mapping[str, Any], stages: Sequence[Stage]) -> list[str]:
    """The outcome of a run, a fact a line."""
    seconds = sum(stage.seconds for stage in stages)
    peak = max((stage.peak_bytes for stage in stages), default=0)
    largest = ", ".join(numbers.count(size) for size in counts["largest_clusters"])
    facts = [
        ("documents", f"{numbers.count(counts['documents'])}, {numbers.bytes_(counts['text_bytes'])} of text"),
        ("unreadable", _rows(counts["unreadable"])),
        ("empty, short", f"{numbers.count(counts['empty'])}, {numbers.count(counts['short'])}"),
        ("exact copies", numbers.count(counts["copies"])),
        ("candidates", numbers.count(counts["candidates"])),
        ("pairs", f"{numbers.count(counts['pairs'])} verified at {account.plan.threshold:g} or over"),
        ("clusters", numbers.count(counts["clusters"]) + (f", the largest of {largest}" if largest else "")),
        ("chained", _rows(counts["chained"])),
        ("kept", f"{numbers.count(counts['kept'])}, dropped {numbers.count(counts['dropped'])}"),
        ("recall", _recall(account)),
        ("took", f"{numbers.seconds(seconds)}, peak memory {numbers.bytes_(peak)}"),
    ]
    return [f"{name:<13} {value}" for name, value in facts if value]


def _rows(count: int) -> str:
    return numbers.count(count) if count else ""


def _recall(account: Account) -> str:
    promise = f"{numbers.percent(account.plan.recall)} promised at the threshold"
    estimate = account.recall
    if estimate.recall is None:
        return f"{promise}; no near pair was found to estimate it from"
    return f"about {numbers.percent(estimate.recall)} of all pairs, {promise}"


def advice(account: Account, options: DedupOptions, counts: Mapping[str, Any]) -> list[str]:
    """What the user may want to change, a sentence each."""
    said = []
    shingle = Shingle.parse(options.shingle)
    texts = account.items - account.empty
    if shingle.unit != "chars" and account.unspaced * 20 > texts:
        said.append(
            f"{numbers.count(account.unspaced)} documents are written without spaces between words (Chinese, Japanese, "
            "Thai, …), where word shingles see too little: use character shingles, such as chars:5"
        )
    if account.median_similarity is not None and texts >= 100 and account.median_similarity >= CROWDED:
        said.append(
            f"two documents picked at random share {numbers.percent(account.median_similarity)} of their shingles: "
            f"{options.shingle} is too small for these documents, use a larger k (chars:5 for short text, chars:9 "
            "for long, words:5)"
        )
    if counts["largest_clusters"] and counts["largest_clusters"][0] > max(1000, HUGE_CLUSTER * account.items):
        said.append(
            f"the largest cluster holds {numbers.count(counts['largest_clusters'][0])} documents: look at some of "
            "them, a template or a licence text may be what they share"
        )
    if account.large.unsettled:
        said.append(
            f"{numbers.count(account.large.unsettled)} rows of very large buckets matched none of their leaders and "
            "were not compared with each other: the estimate of recall does not count them"
        )
    return said
