"""A demonstration: plant edited copies in a made-up corpus, deduplicate it, and judge the answer.

What is true is counted in plain Python by `planted.truth`, which shares nothing with the kernels it judges.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any

from lookalike.applications.documents import DedupOptions, DedupResult, dedup_source
from lookalike.applications.planted import EDITS, PlantedCorpus, PlantOptions, plant, truth
from lookalike.charts import numbers
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.io import open_source
from lookalike.runs import Progress
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle

#: Two copies of one document, or a copy of a copy: more than one edit lies between them.
SEVERAL = "several edits"

RowPair = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class KindFound:
    """How many pairs of one kind of edit were planted at or over the threshold, and how many found."""

    kind: str
    planted: int
    found: int

    @property
    def missed(self) -> int:
        """Those that were not found."""
        return self.planted - self.found


@dataclass(frozen=True, kw_only=True, eq=False)
class DemoResult:
    """What was planted, found, missed and falsely found.

    Attributes
    ----------
    kinds
        The account by kind of edit.
    false
        Reported pairs that are truly under the threshold, by the count in plain Python.
    seconds
        What deduplication took, from strings to clusters; planting and judging not included.
    """

    documents: int
    seed: int
    text_bytes: int
    copies: int
    result: DedupResult
    kinds: tuple[KindFound, ...]
    false: int
    seconds: float

    @property
    def planted(self) -> int:
        """True pairs at or over the threshold."""
        return sum(kind.planted for kind in self.kinds)

    @property
    def found(self) -> int:
        """True pairs that were reported."""
        return sum(kind.found for kind in self.kinds)

    @property
    def recall(self) -> float | None:
        """The share of true pairs that was found; None if there was none to find."""
        return self.found / self.planted if self.planted else None

    @property
    def bytes_per_second(self) -> float:
        """How fast text became clusters."""
        return self.text_bytes / self.seconds if self.seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "documents": self.documents,
            "seed": self.seed,
            "text_bytes": self.text_bytes,
            "copies": self.copies,
            "parameters": self.result.options.to_dict(),
            "kinds": [{**asdict(kind), "missed": kind.missed} for kind in self.kinds],
            "planted": self.planted,
            "found": self.found,
            "missed": self.planted - self.found,
            "false": self.false,
            "recall": self.recall,
            "counts": self.result.counts,
            "seconds": self.seconds,
            "bytes_per_second": self.bytes_per_second,
        }

    def __repr__(self) -> str:
        options = self.result.options
        title = f"pairs at {options.threshold:g} or over"
        lines = [f"{title:<24}{'planted':>9}{'found':>9}{'missed':>9}"]
        for kind in self.kinds:
            lines.append(f"{kind.kind:<24}{kind.planted:>9,}{kind.found:>9,}{kind.missed:>9,}")
        share = "nothing to find" if self.recall is None else numbers.percent(self.recall)
        lines.append(
            f"recall {share}, promised {numbers.percent(options.recall)}; falsely found {self.false:,}"
        )
        return "\n".join(lines)


def demo(
    documents: int = PlantOptions.documents,
    *,
    seed: int = PlantOptions.seed,
    threads: int | None = None,
    progress: Progress | None = None,
) -> DemoResult:
    """Plant a corpus, deduplicate it with the default options, and count what was found of what was planted.

    Examples
    --------
    >>> shown = demo(1_000)
    >>> shown.false, shown.recall > 0.9
    (0, True)
    """
    # Numbers of a page of text; more than a gigabyte of it is no demonstration.
    if not 2 <= documents <= 500_000:
        raise OptionError(f"documents={documents} is out of range: 2 to 500,000")
    watch = Watch(progress)
    options = DedupOptions()
    engine = LocalEngine(threads)
    with watch.stage("plant", documents) as advance:
        corpus = plant(documents, seed=seed)
        advance(documents)
    started = time.perf_counter()
    result = dedup_source(open_source(corpus.texts), options, engine=engine, watch=watch)
    seconds = time.perf_counter() - started
    with watch.stage("judge", unit="pairs") as advance:
        true = _true_pairs(corpus, options)
        found = set(every_pair(result))
        false = _false_pairs(corpus, found - true.keys(), options)
        advance(len(true))
    return DemoResult(
        documents=documents,
        seed=seed,
        text_bytes=corpus.nbytes,
        copies=int((corpus.source >= 0).sum()),
        result=result,
        kinds=_account(true, found),
        false=false,
        seconds=seconds,
    )


def every_pair(result: DedupResult) -> Iterable[RowPair]:
    """All pairs of rows that a result stands for: exact copies are listed once, and stand for each other."""
    table = result.pairs.to_arrow()
    pairs = list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
    copies: dict[int, list[int]] = defaultdict(list)
    near = []
    for pair, similarity in zip(pairs, table["similarity"].to_pylist(), strict=True):
        # Only copies have similarity 1: they have the same set of shingles.
        if similarity == 1:
            copies[pair[0]].append(pair[1])
        else:
            near.append(pair)
    for first, others in copies.items():
        yield from combinations([first, *others], 2)
    for a, b in near:
        for x, y in product([a, *copies.get(a, ())], [b, *copies.get(b, ())]):
            yield min(x, y), max(x, y)


def _true_pairs(corpus: PlantedCorpus, options: DedupOptions) -> dict[RowPair, str]:
    """Every pair truly at or over the threshold, with the kind of edit between the two."""
    table = corpus.truth(options.threshold, k=Shingle.parse(options.shingle).k)
    source, kind = corpus.source.tolist(), corpus.kind.tolist()
    return {
        (a, b): kind[a] if source[a] == b else kind[b] if source[b] == a else SEVERAL
        for a, b in zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True)
    }


def _false_pairs(corpus: PlantedCorpus, suspects: Iterable[RowPair], options: DedupOptions) -> int:
    """How many of these pairs, of which truth knows nothing, are not similar after all."""
    k = Shingle.parse(options.shingle).k
    false = 0
    for pair in suspects:
        a, b = (truth.shingles(corpus.texts[row].as_py(), k) for row in pair)
        false += truth.jaccard(a, b) < options.threshold
    return false


def _account(true: dict[RowPair, str], found: set[RowPair]) -> tuple[KindFound, ...]:
    planted = Counter(true.values())
    hits = Counter(kind for pair, kind in true.items() if pair in found)
    return tuple(KindFound(kind=kind, planted=planted[kind], found=hits[kind]) for kind in (*EDITS, SEVERAL))
