"""Hostile collections: a million copies, or near-copies, of one document among a hundred thousand others.

    python -m benchmarks.hostile [--crowd 1000000] [--others 100000] [--record]

A bucket that holds the crowd must not cost its square. Three collections of as many documents and about as
many bytes are deduplicated: all distinct; the crowd being exact copies of one template; the crowd being
one-word variants of it. A fourth, a tenth as large, is a crowd of which any two documents share a template
and have a similarity of .467. It is deduplicated with thresholds just below that, where the crowd is one
cluster, and just above, where all are alone. The answer is checked first: the crowd is one cluster, all of it
if it is copies and at least the promised recall of it otherwise, and every other document is alone. Then the
time of each hostile collection is set against that of an easy one: of the distinct documents, or of the
crowd that reaches the threshold.
"""

from __future__ import annotations

import argparse
import datetime
import math
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lookalike.applications.planted import plant, truth

from . import course, lane, machine, record
from .contestants import Job

LIMIT = 1.5
#: How many times as long a crowd that falls short of the threshold may take as one that reaches it.
SHORT_LIMIT = 5.0

_CONTESTANT = "lookalike"
_SEED = 3
# Two variants differ in two words, which are in at most ten shingles of five words: (n − 10) / (n + 10)
# reaches .8 from n = 90. With 96 shingles every two of the crowd are a true pair, with something to spare.
_TEMPLATE_WORDS = 100
_MEAN_BYTES = 600
# Shingles of a document that all of the crowd have, and its own: 42 / (42 + 2 · 24) is 7/15, or .467.
_SHARED, _OWN = 42, 24
_ONE_CLUSTER, _ALL_ALONE = 0.46, 0.5
# A prime beyond the number of variants there can be: its multiples visit each variant once.
_STRIDE = 2_147_483_647


@dataclass(frozen=True, kw_only=True, eq=False)
class Collection:
    """Texts, and which of them are of the crowd."""

    name: str
    texts: pa.LargeStringArray
    crowd: NDArray[np.bool_]
    #: How much of the crowd must be one cluster: all of it, or as much as recall promises.
    share: float = 1.0
    threshold: float = Job.threshold
    #: How many times as long as the easy collection it may take; that of an easy one itself is 1.
    limit: float = LIMIT


def distinct(crowd: int, others: int) -> Collection:
    """Make as many documents as the hostile collections have, all different."""
    texts = _others(crowd + others)
    return Collection(name="distinct documents", texts=texts, crowd=np.zeros(len(texts), dtype=bool), limit=1)


def exact_copies(crowd: int, others: int) -> Collection:
    """Put copies of a template among others."""
    template = pa.array([_template()], pa.large_string())
    return _mix("exact copies", template.take(pa.array(np.zeros(crowd, dtype=np.int64))), others)


def one_word_variants(crowd: int, others: int) -> Collection:
    """Put variants of a template among others, each with another word at one place, no two the same."""
    words = _template().split(" ")
    places = range(len(words))
    heads = pa.array([" ".join([*words[:place], ""]) for place in places], pa.large_string())
    tails = pa.array([" ".join(["", *words[place + 1 :]]) for place in places], pa.large_string())
    new = pa.array(_new_words(), pa.large_string())
    variants = len(words) * len(new)
    if crowd > variants:
        raise ValueError(f"a crowd of {crowd:,} is more than the {variants:,} variants there are")
    place, word = np.divmod(np.arange(crowd, dtype=np.int64) * _STRIDE % variants, len(new))
    at = pa.array(place)
    members = pc.binary_join_element_wise(
        heads.take(at), new.take(pa.array(word)), tails.take(at), pa.scalar("", pa.large_string())
    )
    return _mix("one-word variants", members, others, share=Job.recall)


def reaching(crowd: int, others: int) -> Collection:
    """Make a crowd of a tenth of the size, any two of which just reach the threshold."""
    texts = _of_one_template((crowd + others) // 10)
    return Collection(
        name=f"a crowd at .467, threshold {_ONE_CLUSTER:g}",
        texts=texts,
        crowd=np.ones(len(texts), dtype=bool),
        share=Job.recall,
        threshold=_ONE_CLUSTER,
        limit=1,
    )


def falling_short(crowd: int, others: int) -> Collection:
    """Make the same crowd for a threshold that no two of it reach."""
    texts = _of_one_template((crowd + others) // 10)
    return Collection(
        name=f"a crowd at .467, threshold {_ALL_ALONE:g}",
        texts=texts,
        crowd=np.zeros(len(texts), dtype=bool),
        threshold=_ALL_ALONE,
        limit=SHORT_LIMIT,
    )


def together(cluster: NDArray[np.int64], crowd: NDArray[np.bool_]) -> float:
    """Return the share of the crowd that is in its largest cluster; 1 if there is no crowd."""
    sizes = np.unique(cluster[crowd], return_counts=True)[1]
    return float(sizes.max() / sizes.sum()) if len(sizes) else 1.0


def faults(cluster: NDArray[np.int64], crowd: NDArray[np.bool_], *, share: float = 1.0) -> list[str]:
    """Return what is wrong with an answer: `share` of the crowd must be one cluster, everybody else alone."""
    found = []
    labels, sizes = np.unique(cluster[crowd], return_counts=True)
    if together(cluster, crowd) < share:
        found.append(
            f"a crowd of {crowd.sum():,} is in {len(labels):,} clusters, the largest of {sizes.max():,}"
        )
    everywhere, shared = np.unique(cluster, return_counts=True)
    in_company = np.isin(cluster[~crowd], everywhere[shared > 1]).sum()
    if in_company:
        found.append(f"{in_company:,} of the other documents are not alone")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the collections; the exit status is 1 for a wrong answer or a ratio over the limit."""
    options = _parser().parse_args(arguments)
    console = record.console()
    job = Job(threads=options.threads)
    rows: list[tuple[str, ...]] = []
    base, kept = 0.0, True
    for make in (distinct, exact_copies, one_word_variants, reaching, falling_short):
        with console.status(f"{make.__name__.replace('_', ' ')} …"):
            description, seconds, wrong, limit = _measure(
                make, options.crowd, options.others, options.runs, job
            )
        for fault in wrong:
            console.print(f"{description[0]}: {fault}", style="red")
        base = seconds if limit == 1 else base
        kept &= not wrong and seconds <= limit * base
        rows.append(
            (*description, *(("refused", "–") if wrong else (f"{seconds:.2f}", f"{seconds / base:.2f}")))
        )
    made = record.Record(
        name="hostile",
        title="Hostile collections",
        date=datetime.date.today().isoformat(),
        command=record.command("hostile", arguments),
        machine=str(machine.describe((_CONTESTANT, "numpy", "pyarrow"))),
        columns=("collection", "documents", "MB", "crowd in one cluster", "seconds", "× the easy one"),
        rows=tuple(rows),
        notes=(
            f"threshold {job.threshold:g} unless it says another, words:{job.words}, {job.slots} slots,"
            f" {job.threads} threads.",
            f"The limits of {LIMIT:g} times the distinct documents, and of {SHORT_LIMIT:g} times the crowd"
            f" that reaches the threshold, are {'kept' if kept else 'broken'}.",
        ),
    )
    made.show(console)
    if options.record:
        console.print(f"recorded in {record.save(made).name}")
    return 0 if kept else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description="Crowds of copies.")
    parser.add_argument("--crowd", type=int, default=1_000_000, help="documents of the crowd")
    parser.add_argument("--others", type=int, default=100_000, help="documents around it")
    parser.add_argument("--runs", type=int, default=5, help="runs of each; the median counts")
    parser.add_argument("--threads", type=int, default=Job.threads)
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


def _measure(
    make: Callable[[int, int], Collection], crowd: int, others: int, runs: int, job: Job
) -> tuple[tuple[str, ...], float, list[str], float]:
    """Return a collection's description, the median of its times, the faults of its answers, its limit."""
    made = make(crowd, others)
    job = replace(job, threshold=made.threshold)
    course.SCRATCH.mkdir(exist_ok=True)
    corpus = course.SCRATCH / "hostile.arrow"
    lane.write_texts(made.texts, corpus)
    try:
        finishes = [lane.run(_CONTESTANT, corpus, job, pairs=False) for _ in range(runs)]
    finally:
        corpus.unlink()
    description = (
        made.name,
        f"{len(made.texts):,}",
        f"{pc.sum(pc.binary_length(made.texts)).as_py() / 1e6:,.0f}",
    )
    answers = [finish.answer.cluster for finish in finishes]
    wrong = [fault for cluster in answers for fault in faults(cluster, made.crowd, share=made.share)]
    gathered = min(together(cluster, made.crowd) for cluster in answers)
    # Rounded down, so that a crowd with one member astray is not called complete.
    description += (f"{math.floor(gathered * 1e5) / 1e3:.3f}%" if made.crowd.any() else "–",)
    return description, statistics.median(finish.seconds for finish in finishes), wrong, made.limit


def _mix(name: str, members: pa.LargeStringArray, others: int, share: float = 1.0) -> Collection:
    """Shuffle the crowd among others."""
    order = np.random.default_rng(_SEED).permutation(len(members) + others)
    texts = pa.concat_arrays([members, _others(others)]).take(pa.array(order))
    return Collection(name=name, texts=texts, crowd=order < len(members), share=share)


def _of_one_template(count: int) -> pa.LargeStringArray:
    """Make texts of one template, each with words of its own after it: any two have a similarity of 7/15."""
    template = " ".join(f"shared{word}" for word in range(_SHARED + Job.words - 1))
    own = (" ".join(f"{text:x}x{word}" for word in range(_OWN)) for text in range(count))
    return pa.array([f"{template} {words}" for words in own], pa.large_string())


def _others(count: int) -> pa.LargeStringArray:
    return plant(count, seed=_SEED, copies=0, mean_bytes=_MEAN_BYTES).texts


def _template() -> str:
    """Return the head of a longer document, cut to its number of words."""
    texts = plant(50, seed=_SEED + 1, copies=0, mean_bytes=5 * _MEAN_BYTES).texts.to_pylist()
    document = next(text for text in texts if len(truth.words(text)) >= _TEMPLATE_WORDS)
    return " ".join(document.split()[:_TEMPLATE_WORDS])


def _new_words() -> list[str]:
    """Return words of the others' language, none of them in the template."""
    texts = plant(4_000, seed=_SEED + 2, copies=0, mean_bytes=_MEAN_BYTES).texts.to_pylist()
    return sorted({word for text in texts for word in truth.words(text)} - set(truth.words(_template())))


if __name__ == "__main__":
    sys.exit(main())
