"""The lines a person reads after a run, and what they may want to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lookalike.applications.chosen import told
from lookalike.applications.documents.options import DedupOptions, PairOptions
from lookalike.charts import numbers
from lookalike.joins import Account
from lookalike.runs import Stage
from lookalike.runs.stopwatch import took
from lookalike.shingles import Shingle
from lookalike.theory import Choice, Plan, RecallEstimate
from lookalike.theory.added_bands import Reason
from lookalike.wording import agreeing

#: Two rows picked at random share this much: then most documents hold most shingles, and k is too small.
CROWDED = 0.3
#: A cluster that holds this share of the collection deserves a look.
HUGE_CLUSTER = 0.1
#: Bytes of text under which a speed says more about the start of a run than about the road.
_TOO_LITTLE = 1_000_000
#: What to do about pairs that leaders left out.
_LIST_ALL = "; --method {} lists every pair, however many there are"
#: Stages that every road has alike.
_OUTSIDE_THE_SEARCH = {"read", "units", "cluster", "write"}


def summary_lines(account: Account, counts: Mapping[str, Any], stages: Sequence[Stage]) -> list[str]:
    """The outcome of a deduplication, a fact a line."""
    threshold = f"{account.threshold:g}"
    compared = "units" if "units" in counts else "documents"
    return _aligned(
        [
            *_input_facts(counts),
            *_search_facts(account),
            ("clusters", _clusters(counts, compared)),
            ("chained", _some(counts["chained"], f"under {threshold} to the {compared[:-1]} kept for them")),
            (
                "kept",
                f"{_share(counts['kept'], counts[compared])}, dropped {numbers.count(counts['dropped'])}",
            ),
            ("earlier", _earlier(counts) if "earlier_runs" in counts else ""),
            ("of documents", _of_documents(counts) if "units" in counts else ""),
            *_recall_facts(account),
            ("method", _chosen(account)),
            ("took", _took(stages, counts["text_bytes"])),
        ]
    )


def pair_lines(
    account: Account, counts: Mapping[str, Any], in_all: str, stages: Sequence[Stage]
) -> list[str]:
    """The outcome of a search for pairs, a fact a line; `in_all` says how many they are with copies."""
    return _aligned(
        [
            *_input_facts(counts),
            *_search_facts(account),
            ("pairs", in_all),
            ("not compared", _not_compared(account)),
            *_recall_facts(account),
            ("method", _chosen(account)),
            ("took", _took(stages, counts.get("text_bytes", 0))),
        ]
    )


def rehearsal_lines(
    counts: Mapping[str, Any],
    plan: Plan | None,
    choice: Choice,
    expected: tuple[float | None, float | None],
    stages: Sequence[Stage],
    *,
    to_come: tuple[int, int] | None = None,
    listing: bool = False,
) -> list[str]:
    """What a dry run found out, a fact a line; `expected` are candidates and seconds.

    `to_come` are candidates that were counted, and rows of large buckets. Those are paired outright where
    pairs are listed (`listing`) and it is soon done.
    """
    candidates, seconds = expected
    work = "bands and checks" if plan is not None else choice.method
    return _aligned(
        [
            *_input_facts(counts),
            ("method", told(choice)),
            *_estimates(choice),
            *([] if plan is None else _plan_facts(plan)),
            ("earlier", _to_read(counts) if "earlier_runs" in counts else ""),
            ("candidates", _to_come(candidates, to_come, listing)),
            (
                "seconds",
                ""
                if seconds is None
                else f"about {numbers.seconds(seconds)} expected for {work}, then writing",
            ),
            ("so far", f"{_took(stages, counts.get('text_bytes', 0))}; nothing was written"),
        ]
    )


def road_lines(
    counts: Mapping[str, Any],
    choice: Choice,
    plan: Plan | None,
    expected: tuple[float | None, float | None],
    stages: Sequence[Stage],
) -> list[str]:
    """What a dry run by weights or measurements found out; `expected` are candidates and seconds."""
    candidates, seconds = expected
    return _aligned(
        [
            *((name, numbers.count(count)) for name, count in counts.items()),
            ("method", f"{choice.method}: {choice.why}"),
            *_estimates(choice),
            *([] if plan is None else _plan_facts(plan)),
            ("candidates", _to_come(candidates, None, listing=True)),
            (
                "seconds",
                ""
                if seconds is None
                else f"about {numbers.seconds(seconds)} expected for {choice.method}, then writing",
            ),
            ("so far", f"{_took(stages, 0)}; nothing was written"),
        ]
    )


def _to_come(expected: float | None, counted: tuple[int, int] | None, listing: bool) -> str:
    if counted is None:
        return "" if expected is None else f"about {numbers.count(expected)} expected"
    pairs, rows = counted
    others = "leaders or with each other" if listing else "leaders"
    large = f"; {numbers.several(rows, 'row')} in large buckets, compared with {others}" if rows else ""
    return f"{numbers.count(pairs)} {agreeing(pairs, 'shares', 'share')} a bucket{large}"


def _plan_facts(plan: Plan) -> list[tuple[str, str]]:
    banding = (
        f"{numbers.several(plan.banding.bands, 'band')} of {numbers.several(plan.banding.rows, 'row')}, "
        f"{numbers.count(plan.banding.slots)} of {numbers.several(plan.slots, 'slot')}"
    )
    promise = "as bands and rows were given" if plan.given else f"{numbers.percent(plan.recall)} promised"
    return [
        ("banding", banding),
        ("recall", f"{numbers.percent(plan.reached)} of pairs at {plan.threshold:g}, {promise}"),
    ]


def _estimates(choice: Choice) -> list[tuple[str, str]]:
    """What each road was expected to cost, where there was a choice."""
    return [
        (
            f"  {name}",
            f"{'over ' if road.candidates is None else 'about '}{numbers.seconds(road.seconds)} of one core"
            + ("" if road.candidates is None else f", {numbers.several(road.candidates, 'candidate')}"),
        )
        for name, road in choice.roads.items()
    ]


def run_estimates(account: Account, stages: Sequence[Stage]) -> dict[str, Any]:
    """What run.json says was expected, beside it what the search took, and what no estimate knows of."""
    seconds = sum(stage.seconds for stage in stages if stage.name not in _OUTSIDE_THE_SEARCH)
    return {
        **account.estimates(),
        "actual": {"seconds": seconds, "candidates": account.candidates},
        "large_buckets": asdict(account.large),
    }


def _input_facts(counts: Mapping[str, Any]) -> list[tuple[str, str]]:
    read = (
        ("sets", f"{numbers.count(counts['sets'])}, {numbers.several(counts['elements'], 'element')} in all")
        if "sets" in counts
        else (
            "documents",
            f"{numbers.count(counts['documents'])}, {numbers.bytes_(counts['text_bytes'])} of text",
        )
    )
    return [
        read,
        ("units", numbers.count(counts["units"]) if "units" in counts else ""),
        ("unreadable", _some(counts.get("unreadable", 0), "skipped")),
        ("empty", _some(counts["empty"], "like nothing and so kept")),
        ("short", _some(counts.get("short", 0), "shorter than a shingle and compared as a whole")),
        ("exact copies", numbers.count(counts["copies"])),
    ]


def _search_facts(account: Account) -> list[tuple[str, str]]:
    expected = account.expected_candidates
    thought = "" if expected is None else f", about {numbers.count(expected)} expected from a sample"
    return [
        ("left out", _left_out(account)),
        ("candidates", f"{numbers.count(account.candidates)}{thought}"),
        ("dropped first", _dropped_first(account)),
        ("near pairs", f"{numbers.count(account.pairs)} at {_at(account)} or over"),
    ]


def _dropped_first(account: Account) -> str:
    """The candidates whose signatures were enough to tell."""
    first = account.first_filter
    if first is None:
        return ""
    loses = f"which loses {numbers.percent(first.loss)} of pairs at {account.threshold:g}"
    return (
        f"{numbers.count(account.dropped_first)} that agree in under {first.least} of"
        f" {numbers.several(first.slots, 'slot')} (estimates under {first.at_least:.3f}), {loses}"
    )


def _clusters(counts: Mapping[str, Any], compared: str) -> str:
    sizes = [numbers.count(size) for size in counts["largest_clusters"]]
    largest = f", the largest of {_listed(sizes)} {compared}" if sizes else ""
    return numbers.count(counts["clusters"]) + largest


def _earlier(counts: Mapping[str, Any]) -> str:
    count = numbers.count
    earlier, new = count(counts["duplicates_of_earlier"]), count(counts["duplicates_of_new"])
    runs = f" by {counts['earlier_runs']} runs" if counts["earlier_runs"] > 1 else ""
    bridging = f"; {count(counts['bridging'])} like several earlier ones" if counts["bridging"] else ""
    return (
        f"{count(_kept_before(counts))} kept before{runs}; of the new, {earlier} dropped as like earlier "
        f"ones, {new} as like each other{bridging}"
    )


def _kept_before(counts: Mapping[str, Any]) -> int:
    """How many documents, or units of them, earlier runs kept."""
    return int(counts.get("earlier_units", counts.get("earlier_documents")))


def _to_read(counts: Mapping[str, Any]) -> str:
    """What a run would need of earlier ones."""
    needed = (
        "all of them take part"
        if counts["earlier_met"] == _kept_before(counts)
        else f"{numbers.count(counts['earlier_met'])} "
        f"{agreeing(counts['earlier_met'], 'shares', 'share')} a bucket with a new one"
    )
    files = numbers.several(counts["earlier_files"], "file")
    return (
        f"{numbers.count(_kept_before(counts))} kept before, {needed}: {files} to read, "
        f"{numbers.bytes_(counts['earlier_file_bytes'])}"
    )


def _of_documents(counts: Mapping[str, Any]) -> str:
    whole = counts["kept_documents"] - counts["trimmed_documents"]
    return (
        f"{numbers.count(whole)} whole, {numbers.count(counts['trimmed_documents'])} trimmed, "
        f"{numbers.count(counts['dropped_documents'])} dropped with nothing left"
    )


def _at(account: Account) -> str:
    """The threshold, and of what, if not of Jaccard similarity."""
    of = "" if account.measure == "jaccard" else f"{account.measure} "
    return f"{of}{account.threshold:g}"


def _left_out(account: Account) -> str:
    left = account.left_out
    if left is None:
        return ""
    return (
        f"{numbers.several(left.elements, 'element')} that over {numbers.several(left.over, 'item')} hold, "
        f"in {numbers.several(left.rows, 'item')}"
    )


def _recall_facts(account: Account) -> list[tuple[str, str]]:
    """What was found of what there was, and what it took to keep the promise."""
    return [("recall", _recall(account)), *promise_facts(account)]


def promise_facts(account: Account) -> list[tuple[str, str]]:
    """What a run did to keep its promise, whatever was joined."""
    return [("added", _added(account)), ("looked at", _looked_at(account))]


def _recall(account: Account) -> str:
    left = account.left_out
    if left is not None and left.misses:
        return (
            f"all near pairs but those that share nothing else than what was left out: "
            f"{numbers.several(left.at_risk, 'item')} {agreeing(left.at_risk, 'holds', 'hold')} enough of it "
            "to have such"
        )
    if account.plan is None:
        of = ", by their signatures" if account.method in ("signature", "external") else ""
        return f"all near pairs found{of}: {account.method} misses none"
    assert account.promised is not None
    estimate, apart = account.recall, bool(account.large.not_compared)
    given = isinstance(account.plan, Plan) and account.plan.given
    by = " by the bands and rows that were given" if given else ""
    promise = f"{numbers.percent(account.promised)} promised at {account.threshold:g}{by}"
    if estimate.recall is None:
        found = "outside very large buckets " if apart else ""
        return f"{promise}; no near pair was found {found}to estimate it from"
    of = "pairs outside very large buckets" if apart else "all near pairs"
    final = account.final_bands
    alone = "; one band alone shows nothing of what it missed" if final and final.count == 1 else ""
    sure = how_sure(estimate) or alone
    return f"about {numbers.percent(estimate.recall)} of {of} found, {promise}{sure}"


def how_sure(estimate: RecallEstimate) -> str:
    """What is to be added to an estimate of which little is known; nothing of others."""
    if estimate.few:
        pairs = f"{numbers.several(estimate.found, 'pair')} {agreeing(estimate.found, 'is', 'are')}"
        return f"; {pairs} too few to tell more than the mean of all runs"
    if estimate.hard:
        assert estimate.low is not None
        return (
            f"; whole groups of pairs differ in the same way and are found or missed together, so it "
            f"may be as little as {numbers.percent(estimate.low)}"
        )
    return ""


#: Why bands were added, in words.
_REASONS: Mapping[Reason, str] = {
    "short": "the hash functions of this run would have found less than promised",
    "alike": "whole groups of pairs are found or missed together",
    "unseen": "rows compared with all others have near pairs that were missed",
}


def _added(account: Account) -> str:
    """The bands that were added to keep the promise, and why."""
    if not account.added:
        return ""
    assert account.final_bands is not None
    reasons = dict.fromkeys(_REASONS[added.reason] for added in account.added)
    bands = numbers.several(sum(added.bands for added in account.added), "band")
    return f"{bands} to the {account.final_bands.banding.bands} planned: {'; '.join(reasons)}"


def _looked_at(account: Account) -> str:
    """What comparing some rows with all others showed."""
    look = account.look
    if look is None or not (look.rows or look.within):
        return ""
    groups = []
    if look.rows:
        groups.append(f"{numbers.several(look.rows, 'row')} compared with all others")
    if look.within:
        groups.append(f"{numbers.several(look.within, 'row')} of crowds with each other")
    rows = ", and ".join(groups)
    if look.near:
        if look.near == 1:
            return f"{rows}: their only near pair {'shares a bucket' if look.found else 'shares no bucket'}"
        found = "all" if look.found == look.near else numbers.count(look.found)
        return f"{rows}: {found} of their {numbers.several(look.near, 'near pair')} share a bucket"
    if not look.rows:
        return f"{rows}: no near pair"
    share = numbers.percent(look.at_most)
    return f"{rows}: no near pair, so at most {share} of all rows have one (95% sure)"


def _not_compared(account: Account) -> str:
    """Pairs that leaders left out: each is counted once a band, so there may be fewer."""
    large = account.large
    where = f"in {numbers.several(large.buckets, 'very large bucket')}"
    return f"up to {numbers.several(large.not_compared, 'pair')} {where}" if large.not_compared else ""


def _chosen(account: Account) -> str:
    """What auto chose, if it had a choice."""
    choice = account.choice
    return told(choice) if choice is not None and choice.roads else ""


def _took(stages: Sequence[Stage], text_bytes: int) -> str:
    seconds = took(stages)
    peak = max((stage.peak_bytes for stage in stages), default=0)
    speed = f" ({numbers.bytes_(text_bytes / seconds)}/s)" if seconds and text_bytes >= _TOO_LITTLE else ""
    return f"{numbers.seconds(seconds)}{speed}, peak memory {numbers.bytes_(peak)}"


def _aligned(facts: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name:<13} {value}" for name, value in facts if value]


def _some(count: int, words: str) -> str:
    """Nothing, where there is nothing to say."""
    return f"{numbers.count(count)}, {words}" if count else ""


def _share(part: int, whole: int) -> str:
    return f"{numbers.count(part)} ({numbers.percent(part / whole)})" if whole else numbers.count(part)


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def advice(account: Account, options: DedupOptions, counts: Mapping[str, Any]) -> list[str]:
    """What the user of a deduplication may want to change, a sentence each."""
    said = search_advice(account, options)
    if counts["largest_clusters"] and counts["largest_clusters"][0] > max(1000, HUGE_CLUSTER * account.items):
        said.append(
            f"the largest cluster holds {numbers.count(counts['largest_clusters'][0])} documents: look at "
            "some of them, a template or a licence text may be what they share"
        )
    return said


def search_advice(account: Account, options: PairOptions, *, listing: bool = False) -> list[str]:
    """What the user of a search may want to change; of one that is to list all pairs, with `listing`."""
    said = shingle_advice(
        options,
        texts=account.items - account.empty,
        unspaced=account.unspaced,
        median_similarity=account.median_similarity,
    )
    return said + bucket_advice(account, listing=listing)


def bucket_advice(account: Account, *, listing: bool = False) -> list[str]:
    """What large buckets left out, and what to do about it who wants all pairs (`listing`)."""
    said = []
    large = account.large
    if large.not_compared:
        missing = (
            f"up to {numbers.several(large.not_compared, 'pair')} of such items may be missing, and the "
            f"recall does not count them{_LIST_ALL.format(_misses_none(account))}"
            if listing
            else "enough to cluster nearly all of them, but not every pair is listed or counted in the recall"
        )
        said.append(
            f"{numbers.count(large.rows)} items are in "
            f"{numbers.several(large.buckets, 'very large bucket')}, the largest of "
            f"{numbers.count(large.largest)}: each was compared with a few leaders there,"
            f" not with all others; {missing}"
        )
    if large.unsettled:
        said.append(
            f"{numbers.several(large.unsettled, 'row')} of very large buckets matched no leader there; such "
            "rows were not compared with each other, and the estimate of recall does not count them"
        )
    return said


def _misses_none(account: Account) -> str:
    """The method that lists every pair of what was joined by bands."""
    return "prefix" if account.measure == "jaccard" else "exact"


def shingle_advice(
    options: PairOptions, *, texts: int, unspaced: int, median_similarity: float | None
) -> list[str]:
    """Whether the shingles fit the texts, of which so many are not empty."""
    said = []
    shingle = Shingle.parse(options.shingle)
    if shingle.unit != "chars" and unspaced * 20 > texts:
        said.append(
            f"{numbers.several(unspaced, 'document')} {agreeing(unspaced, 'is', 'are')} written without "
            "spaces between words (Chinese, "
            "Japanese, Thai, …), where word shingles see too little: use character shingles, such as chars:5"
        )
    if median_similarity is not None and texts >= 100 and median_similarity >= CROWDED:
        shared = f"two documents picked at random share {numbers.percent(median_similarity)} of their"
        if shingle.rare is not None:
            said.append(f"{shared} {shingle.rare} rarest words: keep fewer words, or use words:5")
        else:
            said.append(
                f"{shared} shingles: {options.shingle} is too small for these documents, use a larger k "
                "(chars:5 for short text, chars:9 for long, words:5)"
            )
    return said
