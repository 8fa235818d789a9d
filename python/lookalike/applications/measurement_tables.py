"""Tables of measurements in files: all pairs of items that are close in enough of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np
import pyarrow as pa

from lookalike.applications.pair_rows import PairRows
from lookalike.applications.sets.stages import Renumber
from lookalike.engines import Engine, Table
from lookalike.errors import OptionError
from lookalike.families import Ranges
from lookalike.io import Source, id_order
from lookalike.joins.account import Account
from lookalike.joins.expand import Classes, Copies, most_from_copies, with_copies
from lookalike.joins.found import Found
from lookalike.joins.range_choice import choose_ranges
from lookalike.joins.ranges import RangeFound, range_join
from lookalike.measures.closeness import checked_share, checked_within
from lookalike.runs.watch import Watch
from lookalike.theory import Choice, RecallEstimate
from lookalike.theory.ranges import checked_recall
from lookalike.types import I64

#: Bytes of a batch as read: small enough that all threads have work.
_BATCH_BYTES = 4 << 20


#: By ranges planned for a recall, or by ranges in which all close items meet.
MeasurementMethod = Literal["auto", "lsh", "exact"]


def checked_method(method: MeasurementMethod) -> MeasurementMethod:
    """The method, or an error that names those there are."""
    if method not in get_args(MeasurementMethod):
        raise OptionError(f"method={method!r} is unknown for measurements: choose auto, lsh or exact")
    return method


@dataclass(frozen=True, kw_only=True)
class MeasurementOptions:
    """How items that are close in most of their measurements are searched for.

    Parameters
    ----------
    within
        By how much close values may differ: a number for all measurements, or one for each.
    threshold
        The least share of measurements that are close.
    recall
        The promised chance that a pair exactly at the threshold is found.
    width, rows
        Of the ranges, and how many measurements a table looks at: see `Ranges.planned`.
    seed
        Draws which measurements each table looks at.
    method
        `lsh` keeps the promise; `exact` finds every pair, and mostly looks at more. `auto`: whichever is
        expected to cost less, with something to spare for `exact`; `account.choice` says why.
    """

    within: float | tuple[float, ...]
    threshold: float = 0.8
    recall: float = 0.95
    width: float | tuple[float, ...] | None = None
    rows: int | None = None
    seed: int = 0
    method: MeasurementMethod = "auto"

    def __post_init__(self) -> None:
        checked_method(self.method)
        checked_recall(self.recall, method=self.method)
        checked_share(self.threshold)

    def ranges(self, dimensions: int) -> Ranges:
        """The ranges for items of so many measurements: those of `exact`, or those that keep the promise."""
        if self.method == "exact":
            return Ranges.exact(dimensions, within=self.within, share=self.threshold, width=self.width)
        return Ranges.planned(
            dimensions,
            within=self.within,
            share=self.threshold,
            recall=self.recall,
            width=self.width,
            rows=self.rows,
            seed=self.seed,
        )

    def by(self, method: str) -> Self:
        """The same, by a method that is settled."""
        return replace(self, method=method)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredItems:
    """The items of one source, numbered in the order of their ids."""

    table: Table
    names: Callable[[I64], pa.Array]

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.table.rows


def pairs_of_measurements(
    sources: Sequence[Source],
    options: MeasurementOptions,
    *,
    copies: Copies | None = None,
    engine: Engine,
    watch: Watch,
) -> tuple[PairRows, Found, list[MeasuredItems]]:
    """Pairs of items of one source, or between two; what was found, and what was read.

    Sources are as `open_measurements` makes them.
    """
    dimensions = 1 + len(sources[0].wanted.columns)
    # Said before any work is done: ranges that cannot be are not worth a pass over the data.
    options.ranges(dimensions)
    collections = read_measurements(sources, engine, watch)
    boundary = collections[0].rows if len(collections) == 2 else None
    table = Table.together([collection.table for collection in collections])
    found, account = join_measurements(
        table,
        options,
        boundary=boundary,
        most_from_copies=most_from_copies(copies),
        engine=engine,
        watch=watch,
    )
    classes = Classes(representative=found.representative, boundary=boundary)
    pairs = PairRows(
        pairs=with_copies(found.near, classes, copies, engine=engine, watch=watch),
        names=(collections[0].names, collections[-1].names),
        boundary=boundary,
        account=account,
        copies=copies,
    )
    return pairs, found, collections


def read_measurements(sources: Sequence[Source], engine: Engine, watch: Watch) -> list[MeasuredItems]:
    """The items of one source, or of two, numbered in one row."""
    collections: list[MeasuredItems] = []
    for source in sources:
        before = sum(collection.rows for collection in collections)
        with watch.stage("read", unit="items") as advance:
            collections.append(_collect(source, engine, advance, first_row=before))
    return collections


def chosen_method(
    table: Table, options: MeasurementOptions, *, boundary: int | None, engine: Engine, watch: Watch
) -> Choice:
    """The method that the options name or, if that is `auto`, ask for; `table` as a join takes it."""
    if options.method != "auto":
        return Choice(method=options.method, why="asked for", roads={})
    dimensions = table.schema.field("values").type.list_size
    with watch.stage("plan", unit="items"):
        return choose_ranges(
            table,
            options.ranges(dimensions),
            lambda: options.by("exact").ranges(dimensions),
            boundary=boundary,
            engine=engine,
        )


def rehearse_measurements(
    sources: Sequence[Source], options: MeasurementOptions, *, engine: Engine, watch: Watch
) -> tuple[list[MeasuredItems], Choice]:
    """What a search would read, and the method it would take."""
    options.ranges(1 + len(sources[0].wanted.columns))
    collections = read_measurements(sources, engine, watch)
    boundary = collections[0].rows if len(collections) == 2 else None
    table = Table.together([collection.table for collection in collections])
    return collections, chosen_method(table, options, boundary=boundary, engine=engine, watch=watch)


def join_measurements(
    table: Table,
    options: MeasurementOptions,
    *,
    boundary: int | None,
    most_from_copies: int | None = None,
    engine: Engine,
    watch: Watch,
) -> tuple[RangeFound, Account]:
    """Join items by the ranges that the options ask for; what was found, and what was done."""
    choice = chosen_method(table, options, boundary=boundary, engine=engine, watch=watch)
    exact = choice.method == "exact"
    dimensions = table.schema.field("values").type.list_size
    found = range_join(
        table,
        ranges=options.by(choice.method).ranges(dimensions),
        within=checked_within(options.within, dimensions),
        share=options.threshold,
        boundary=boundary,
        planned=not exact,
        most_from_copies=most_from_copies,
        engine=engine,
        watch=watch,
    )
    if exact:
        found = replace(found, recall=RecallEstimate.certain(len(found)))
    account = account_of(found, choice, items=table.rows, threshold=options.threshold)
    return found, replace(account, choice=choice if options.method == "auto" else None)


def account_of(found: RangeFound, choice: Choice, *, items: int, threshold: float) -> Account:
    """What a join of measurements did; ranges have no bands, so there is no plan of any."""
    representatives = int(np.count_nonzero(found.representative == np.arange(items)))
    return Account(
        method=choice.method,
        measure="measurements",
        threshold=threshold,
        plan=None,
        items=items,
        empty=0,
        short=0,
        unspaced=0,
        copies=items - representatives,
        representatives=representatives,
        candidates=found.candidates,
        pairs=len(found),
        recall=found.recall or RecallEstimate.unknown(len(found)),
        choice=choice,
    )


def _collect(
    source: Source, engine: Engine, advance: Callable[[int], None], *, first_row: int
) -> MeasuredItems:
    places = [at for at, name in enumerate(source.wanted.labels) if at == 0 or name != "id"]
    schema = pa.schema([("row", pa.int64()), ("values", pa.list_(pa.float64(), len(places)))])

    def batches() -> Iterator[pa.RecordBatch]:
        done = 0
        for batch in source.scan(_BATCH_BYTES):
            values = np.stack([batch.column(at).to_numpy() for at in places], axis=1)
            lists = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), len(places))
            rows = np.arange(done, done + len(batch), dtype=np.int64)
            yield pa.record_batch([pa.array(rows), lists], schema=schema)
            done += len(batch)
            advance(len(batch))

    table = engine.scan(batches(), schema)
    order = np.arange(table.rows, dtype=np.int64)
    if source.layout.ids is not None:
        order = id_order(source.layout.ids)
    numbers = np.empty_like(order)
    numbers[order] = np.arange(first_row, first_row + len(order))
    renumbered = engine.map(table, Renumber(numbers, schema))
    return MeasuredItems(table=renumbered, names=lambda rows: source.ids(order[rows]))
