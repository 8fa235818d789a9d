"""Similar pairs by weights: documents by meaning (tf-idf), weighted sets and bags, sparse vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any, Literal, Self, get_args

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.collection import Collection, collect
from lookalike.applications.documents.join import name_of
from lookalike.applications.documents.road_rehearsal import RoadRehearsal
from lookalike.applications.pair_rows import PairRows, pair_rows
from lookalike.applications.sets import SetCollection, collect_weighted_sets
from lookalike.applications.too_large import called
from lookalike.bands import packed
from lookalike.engines import Engine, Held, Table
from lookalike.errors import OptionError, UnknownOptionError
from lookalike.io import Source
from lookalike.joins import Items, Joined
from lookalike.joins.expand import Copies, most_from_copies
from lookalike.joins.pair_tables import by_rows, sorted_pairs
from lookalike.joins.weighted import WeightedItems, by_terms, join_weighted, plan_weighted
from lookalike.joins.weighted_choice import ChosenWeighted, choose_weighted
from lookalike.joins.weighted_exact import exact_weighted, near_of_weighted
from lookalike.keywords import suggesting
from lookalike.measures.candidates import Exact
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle
from lookalike.theory import Choice, plan
from lookalike.theory.ranges import checked_recall, checked_seed, checked_slots
from lookalike.theory.thresholds import scale_of

Measure = Literal["tfidf", "weighted-jaccard", "weighted-cosine"]
MEASURES: tuple[str, ...] = get_args(Measure)

Method = Literal["auto", "lsh", "exact"]
METHODS: tuple[str, ...] = get_args(Method)

#: Sides of hyperplanes are single bits: a signature needs more of them than of MinHash's slots.
_SLOTS = {"tfidf": 1024, "weighted-jaccard": 128, "weighted-cosine": 1024}


@suggesting()
@dataclass(frozen=True, kw_only=True)
class WeightedOptions:
    """How similar pairs by weights are searched for.

    Parameters
    ----------
    measure
        `tfidf`, of documents: the cosine of vectors of terms, each as heavy as it is frequent in the document
        and rare in the collection. `weighted-jaccard`, of weighted sets and bags: Σmin/Σmax.
        `weighted-cosine`, of weighted sets and sparse vectors.
    threshold
        The least similarity of a pair; of a cosine also an angle, `"20deg"`.
    recall
        The promised chance that a pair exactly at the threshold is found.
    method
        `lsh`: bands of weighted samples, or of sides of hyperplanes. `exact`: by what the heaviest rare
        elements of sets have in common; misses nothing, whatever `recall` and `slots`, and takes long where
        the threshold is low and most elements are frequent. `auto`: whichever is expected to cost less, with
        something to spare for `exact`; `account.choice` says why.
    shingle
        What a term of a document is: words, by default.
    not_copies
        Of documents: leave out pairs whose shingles of five words have at least this Jaccard similarity,
        exact copies among them. What is left is close in meaning, and not copied.
    slots, seed
        Length of a signature, and what draws it.

    Examples
    --------
    >>> options = WeightedOptions(measure="tfidf", threshold=0.6, not_copies=0.2)
    >>> options.shingle, options.slots
    ('words:1', 1024)
    """

    measure: Measure = "tfidf"
    threshold: float | str = 0.8
    recall: float = 0.95
    method: Method = "auto"
    shingle: str = "words:1"
    not_copies: float | None = None
    slots: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise OptionError(f"measure={self.measure!r} is unknown: choose {', '.join(MEASURES)}")
        if self.method not in METHODS:
            raise OptionError(
                f"method={self.method!r} is unknown with measure={self.measure!r}:"
                f" choose {', '.join(METHODS)}"
            )
        threshold = scale_of(self.scale).read(self.threshold)
        if not threshold > 0:
            raise OptionError(f"threshold={self.threshold!r} is out of range: a similarity over 0")
        object.__setattr__(self, "threshold", threshold)
        object.__setattr__(self, "recall", checked_recall(self.recall, method=self.method))
        object.__setattr__(self, "slots", checked_slots(self.slots or _SLOTS[self.measure]))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        shingle = Shingle.parse(self.shingle)
        if shingle.bag or shingle.rare is not None:
            raise OptionError(
                f"shingle={self.shingle!r}: weights count repeats and rarity, so leave +bag and +rare"
            )
        object.__setattr__(self, "shingle", str(shingle))
        self._check_not_copies()
        if self.method != "exact":
            # An unreachable promise is not worth a pass over the data.
            plan(threshold, measure=self.scale, recall=self.recall, slots=self.slots or 1)

    def _check_not_copies(self) -> None:
        if self.not_copies is None:
            return
        if self.measure != "tfidf":
            raise OptionError(f"not_copies goes with documents, measure='tfidf', not with {self.measure!r}")
        given = self.not_copies
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 1:
            raise OptionError(
                f"not_copies={given!r} is out of range: a Jaccard similarity over 0, such as 0.2"
            )

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """From keyword arguments; one that is unknown is named."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise UnknownOptionError.of(name, known, where=" with this measure")
        return cls(**options)

    @property
    def scale(self) -> str:
        """The measure as the theory knows it."""
        return "weighted-jaccard" if self.measure == "weighted-jaccard" else "cosine"

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `of` reads them back."""
        return asdict(self)


def pairs_by_meaning(
    sources: Sequence[Source],
    options: WeightedOptions,
    *,
    engine: Engine,
    watch: Watch,
    copies: Copies | None = None,
) -> tuple[PairRows, list[Collection]]:
    """Pairs of documents of one source or two, by the cosine of their terms, and the collections read."""
    texts, collections = _read_texts(sources, options, engine, watch)
    texts = replace(texts, most_from_copies=most_from_copies(copies))
    boundary = texts.boundary
    names = collections[0].ids, collections[-1].ids
    with called(partial(name_of, collections)):
        joined = _join(by_terms(texts, engine=engine, watch=watch), options, engine, watch)
        pairs = pair_rows(joined, names, copies=copies, boundary=boundary, engine=engine, watch=watch)
        if options.not_copies is not None:
            pairs = replace(pairs, pairs=_not_copied(texts, pairs.pairs, options.not_copies, engine))
    return pairs, collections


def pairs_by_weight(
    given: Sequence[Any],
    options: WeightedOptions,
    *,
    engine: Engine,
    watch: Watch,
    copies: Copies | None = None,
) -> tuple[PairRows, list[SetCollection]]:
    """Pairs of weighted sets of one collection or two, by Σmin/Σmax or by cosine, and what was read."""
    items, collections = _read_sets(given, options, engine, watch)
    items = replace(items, most_from_copies=most_from_copies(copies))
    boundary = items.boundary
    with called(partial(name_of, collections)):
        joined = _join(items, options, engine, watch)
    names = collections[0].ids, collections[-1].ids
    pairs = pair_rows(joined, names, copies=copies, boundary=boundary, engine=engine, watch=watch)
    return pairs, collections


def rehearse_by_weight(
    given: Sequence[Any], options: WeightedOptions, *, engine: Engine, watch: Watch
) -> RoadRehearsal:
    """Read what `pairs_by_meaning` or `pairs_by_weight` would, and say which road they would take."""
    collections: Sequence[Collection | SetCollection]
    counts: dict[str, Any]
    if options.measure == "tfidf":
        texts, collections = _read_texts(given, options, engine, watch)
        counts = {"documents": texts.rows}
        with called(partial(name_of, collections)):
            items = by_terms(texts, engine=engine, watch=watch)
    else:
        items, collections = _read_sets(given, options, engine, watch)
        counts = {"sets": items.rows, "elements": sum(one.elements for one in collections)}
    choice, banded = Choice(method=options.method, why="asked for", roads={}), None
    with called(partial(name_of, collections)):
        if options.method == "auto":
            chosen = _chosen(items, options, engine, watch)
            choice, banded = chosen.choice, chosen.plan
        elif options.method == "lsh":
            banded = plan_weighted(
                items,
                threshold=float(options.threshold),
                recall=options.recall,
                slots=options.slots or 1,
                engine=engine,
                watch=watch,
            )
    return RoadRehearsal(
        parameters=options.to_dict(),
        counts=counts,
        choice=choice,
        plan=banded if choice.method == "lsh" else None,
        threads=engine.threads,
        stages=watch.stages,
    )


def _read_texts(
    sources: Sequence[Source], options: WeightedOptions, engine: Engine, watch: Watch
) -> tuple[Items, list[Collection]]:
    collections: list[Collection] = []
    for source in sources:
        before = sum(collection.rows for collection in collections)
        collections.append(collect(source, engine, watch, first_row=before))
    boundary = collections[0].rows if len(collections) == 2 else None
    texts = Items(
        table=Table.together([collection.table for collection in collections]),
        bytes=int(sum(collection.text_bytes.sum() for collection in collections)),
        shingle=Shingle.parse(options.shingle),
        seed=options.seed,
        boundary=boundary,
    )
    return texts, collections


def _read_sets(
    given: Sequence[Any], options: WeightedOptions, engine: Engine, watch: Watch
) -> tuple[WeightedItems, list[SetCollection]]:
    signed = options.measure == "weighted-cosine"
    collections = collect_weighted_sets(given, engine, watch, signed=signed, seed=options.seed)
    boundary = collections[0].rows if len(collections) == 2 else None
    items = WeightedItems(
        table=Table.together([collection.table for collection in collections]),
        bytes=16 * sum(collection.elements for collection in collections),
        shingle=None,
        seed=options.seed,
        boundary=boundary,
        measure="cosine" if signed else "jaccard",
    )
    return items, collections


def _join(items: WeightedItems, options: WeightedOptions, engine: Engine, watch: Watch) -> Joined:
    assert options.slots is not None
    threshold = float(options.threshold)
    chosen = _chosen(items, options, engine, watch) if options.method == "auto" else None
    method = options.method if chosen is None else chosen.choice.method
    if method == "exact":
        joined = exact_weighted(items, threshold=threshold, engine=engine, watch=watch)
    else:
        joined = join_weighted(
            items,
            threshold=threshold,
            recall=options.recall,
            slots=options.slots,
            near_of=near_of_weighted,
            engine=engine,
            watch=watch,
            banded=None if chosen is None else chosen.plan,
        )
    choice = None if chosen is None else chosen.choice
    return replace(joined, account=replace(joined.account, measure=options.measure, choice=choice))


def _chosen(items: WeightedItems, options: WeightedOptions, engine: Engine, watch: Watch) -> ChosenWeighted:
    return choose_weighted(
        items,
        threshold=float(options.threshold),
        recall=options.recall,
        slots=options.slots or 1,
        engine=engine,
        watch=watch,
    )


def _not_copied(texts: Items, pairs: Table, least: float, engine: Engine) -> Table:
    """Pairs whose shingles of five words are less alike than `least`."""
    copied = replace(texts, shingle=Shingle()).exact(at_least=least)
    other = engine.fetch(texts.table, engine.map(pairs, by_rows), ("a", "b"), NotCopied(copied))
    return sorted_pairs(engine, other, "value")


@dataclass(frozen=True)
class NotCopied:
    """A stage for `fetch` from texts: pairs → those that a check of copied words turns away."""

    copied: Exact

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        copied = self.copied(batch, held)
        a, b = (copied[side].to_numpy().astype(np.uint64) for side in ("a", "b"))
        pairs = packed(batch["a"].to_numpy(), batch["b"].to_numpy())
        return batch.filter(pa.array(~np.isin(pairs, packed(a, b))))
