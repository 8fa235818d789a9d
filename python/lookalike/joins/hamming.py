"""All pairs within a Hamming radius, through buckets of bits in which rows agree.

    covering   masks under one of which rows within the radius agree (`Covering`), so none is missed: pieces
               that share no bits, or Pagh's masks, which are more and tell more rows apart. Large buckets are
               cut again in the bits that are left.
    sampling   bands of sampled bits (`DealtBits`), as many as the promised recall asks for, and as the draw
               at hand turns out to need. For radii at which masks would be a few bits each, and everybody
               would meet everybody.

Rows travel with their keys and are compared where they meet, so no candidate is ever stored: a comparison
takes less than writing one down. Memory: the engine's, for 12 bytes and the bits of a row, some masks at a
time; the largest bucket of a mask; 12 bytes a pair found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import bands_of, rows_of
from lookalike.bands.buckets import run_starts
from lookalike.engines import Engine, Table, as_it_is
from lookalike.families import Covering, DealtBits
from lookalike.families.dealtbits import masks_of
from lookalike.joins.bitdraw import Looked, draw_of_bits, look_exactly
from lookalike.joins.bitrows import BitItems, Digest, FoundBits, NearBits, words_of
from lookalike.joins.exact_look import LOOKED_AT
from lookalike.joins.leaders import Check, LeaderAccount, across_large, by_row, join_large
from lookalike.joins.promise import few_groups
from lookalike.runs.watch import Watch
from lookalike.theory import Plan, RecallEstimate
from lookalike.theory.added_bands import AddedBands, ExactLook, Reason, seed_of_round
from lookalike.theory.covers import MOST_MASKS
from lookalike.theory.recall_of_draw import ROUNDS, TOLERANCE
from lookalike.types import I64, U32, U64, concatenate

#: Buckets of covering masks up to this many rows come to a thread many at a time, larger ones each by itself.
WHOLE = 1 << 16
#: A bucket of sampled bits with more rows than this is large: 512 comparisons a row cost about as much as its
#: keys did.
LARGE = 1024
#: Rows that every run compares with all others, to see whether a kind of pairs was lost.
_GLANCED_AT = 64


def covering_join(items: BitItems, *, cover: Covering, engine: Engine, watch: Watch) -> FoundBits:
    """Every pair within the radius of a cover: no more, no fewer. Exact copies are best set aside.

    The seed of the cover and its parts change the time, never the answer.
    """
    masks = cover.masks()
    stage = Covered(masks, cover.radius, items.boundary)
    with watch.stage("candidates", items.rows * cover.slots, unit="bucket keys") as advance:

        def covered(first: int, last: int) -> Table:
            keyed = engine.map(items.table, MaskedKeys(masks, first, last))
            few = engine.group(keyed, "bucket", stage, least=2, most=WHOLE)
            # A bucket must stay whole, and one batch may hold as many rows as the longest.
            many = engine.group(keyed, "bucket", stage, least=WHOLE + 1, most=items.rows)
            advance(keyed.rows)
            return Table.together([few, many])

        parts = [
            engine.settle(f"masks-{first}-to-{last}-in-{cover.parts}", partial(covered, first, last))
            for first, last in _some_at_a_time(cover.slots, items, engine)
        ]
    return _found(Table.together(parts))


def _some_at_a_time(masks: int, items: BitItems, engine: Engine) -> Iterator[tuple[int, int]]:
    """As many masks, from one number to before another, as give the engine what it groups best."""
    at_once = max(1, engine.group_rows // max(1, items.rows))
    for first in range(0, masks, at_once):
        yield first, min(first + at_once, masks)


@dataclass(frozen=True, eq=False)
class MaskedKeys:
    """A stage: rows → a line a row and mask (`bucket`, `row`, `bits`), for masks `first` to before `last`."""

    masks: _core.BitMasks
    first: int
    last: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys = self.masks.keys(words_of(batch), self.first, self.last)
        row = pa.array(batch["row"].to_numpy().astype(np.uint32))
        lines = {"row": row, "bits": batch["bits"]}
        repeated = {name: pa.concat_arrays([column] * len(keys)) for name, column in lines.items()}
        return pa.record_batch({"bucket": pa.array(keys.reshape(-1)), **repeated})


@dataclass(frozen=True, eq=False)
class Covered:
    """A stage over buckets of covering masks: the pairs within a radius that first meet there.

    Every batch begins with a line that is no pair, the first row with itself: its `met` counts the pairs of
    rows that share a bucket here.
    """

    masks: _core.BitMasks
    radius: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys, rows = batch["bucket"].to_numpy(), batch["row"].to_numpy()
        starts = run_starts(keys)
        a, b, apart = self.masks.covered_pairs(
            words_of(batch),
            rows,
            starts,
            bands_of(keys[starts[:-1]]),
            radius=self.radius,
            boundary=self.boundary,
        )
        return _lines(rows, starts, a, b, apart)


@dataclass(frozen=True)
class Sampled:
    """A stage over small buckets of sampled bits: the pairs within a radius, with `met` as of `Covered`."""

    radius: int
    boundary: int | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows, starts = batch["row"].to_numpy(), run_starts(batch["bucket"].to_numpy())
        a, b, apart = _core.bucket_pairs(
            words_of(batch), rows, starts, radius=self.radius, boundary=self.boundary
        )
        return _lines(rows, starts, a, b, apart)


def _lines(rows: U32, starts: I64, a: U32, b: U32, apart: U32) -> pa.RecordBatch:
    sizes = np.diff(starts)
    met = np.zeros(len(a) + 1, np.int64)
    met[0] = int((sizes * (sizes - 1) // 2).sum())
    one = rows[:1] if len(rows) else np.zeros(1, np.uint32)
    none = np.zeros(1, np.uint32)
    columns = (np.concatenate(parts) for parts in ((one, a), (one, b), (none, apart)))
    a, b, apart = columns
    pair = (a.astype(np.uint64) << np.uint64(32)) | b
    return pa.record_batch({"pair": pa.array(pair), "apart": pa.array(apart), "met": pa.array(met)})


def _found(lines: Table) -> FoundBits:
    """The pairs of lines, each once."""
    pairs, apart = lines.column("pair"), lines.column("apart")
    # The same pair has the same distance, wherever it met.
    pairs, first = np.unique(pairs, return_index=True)
    a, b = (rows.astype(np.int64) for rows in rows_of(pairs))
    real = a != b
    return FoundBits(
        a=a[real],
        b=b[real],
        apart=apart[first][real].astype(np.int64),
        candidates=int(lines.column("met").sum()),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledBits:
    """What bands of sampled bits found, and what was done to keep the promise.

    `found` are pairs that met in small buckets, and those that leaders joined in `large` ones. `recall` is of
    the first.
    """

    found: FoundBits
    large: LeaderAccount
    recall: RecallEstimate
    added: tuple[AddedBands, ...]
    look: ExactLook | None


def sampling_join(items: BitItems, *, plan: Plan, seed: int, engine: Engine, watch: Watch) -> SampledBits:
    """Pairs within the plan's radius that agree in a band of sampled bits.

    Bands are added where the draw falls short of the promise; what is found depends on the final list of
    bands alone. Buckets of more than `LARGE` rows are compared with leaders instead of each with each, which
    joins what belongs together but does not list all of its pairs.
    """
    radius, banding = int(plan.threshold), plan.banding
    road = _Bands(items, radius, engine, watch)
    road.add(DealtBits(bits=items.width, bands=banding.bands, rows=banding.rows, seed=seed))
    added: list[AddedBands] = []
    looked: Looked | None = None
    asked = False
    while True:
        met = road.met()
        rows = int(met.b.max(initial=0)) + 1
        draw = draw_of_bits(engine, items, met, road.draws)
        # Rows that differ in nothing are copies, and gone.
        ends = [(met.a.astype(np.uint32), met.b.astype(np.uint32))]
        if radius and not asked:
            asked = True
            # A few rows are soon compared with all: they show a kind of pairs that was lost among others.
            little = draw.none_near_threshold(radius) or few_groups(ends, rows)
            with watch.stage("look", items.rows):
                count = LOOKED_AT if little else _GLANCED_AT
                looked = look_exactly(engine, items, radius, road.crowded, count=count)
            if not little and not looked.lost_a_kind(road.draws):
                looked = None
        look = None if looked is None else looked.outcome(road.draws)
        bands = draw.bands_to_add(radius=radius, promised=plan.recall, rows=banding.rows)
        reason: Reason = "alike" if draw.hard else "short"
        unseen = look is not None and look.recall is not None and look.recall < plan.recall - TOLERANCE
        if unseen and bands < banding.bands:
            bands, reason = banding.bands, "unseen"
        # Keys tell so many bands apart, and a fresh draw has no more slots than the first.
        bands = min(bands, plan.slots // banding.rows, MOST_MASKS - road.bands)
        if not bands or len(added) == ROUNDS:
            break
        added.append(AddedBands(seed=seed_of_round(seed, len(added) + 1), bands=bands, reason=reason))
        road.add(DealtBits(bits=items.width, bands=bands, rows=banding.rows, seed=added[-1].seed))
    with watch.stage("large buckets"):
        large = Table.together(road.large)
        settled = engine.settle("found", lambda: _led(engine, items, large, met, radius))
    account, recall = LeaderAccount.noted(settled), draw.estimate(found=len(met.a))
    return SampledBits(
        found=FoundBits.of(settled, met.candidates + account.checked),
        large=account,
        recall=recall if look is None else look.seen_by(recall),
        added=tuple(added),
        look=look,
    )


class _Bands:
    """The bands of all draws so far, and what met in them."""

    def __init__(self, items: BitItems, radius: int, engine: Engine, watch: Watch) -> None:
        self._items, self._radius, self._engine, self._watch = items, radius, engine, watch
        self.draws: list[DealtBits] = []
        self.large: list[Table] = []
        self._small: list[Table] = []

    @property
    def bands(self) -> int:
        """How many there are."""
        return sum(draw.bands for draw in self.draws)

    def add(self, draw: DealtBits) -> None:
        """Key all rows by the bands of one more draw."""
        items, engine, before = self._items, self._engine, self.bands
        self.draws.append(draw)
        masks = masks_of(self.draws)
        stage = "add bands" if before else "candidates"
        with self._watch.stage(stage, items.rows * draw.bands, unit="bucket keys") as advance:
            for one, beyond in _some_at_a_time(draw.bands, items, engine):
                first, last = before + one, before + beyond
                # Nobody needs the keys of bands whose buckets are settled.
                keyed = cache(partial(_keyed, engine, items, MaskedKeys(masks, first, last), advance))
                few = partial(_few, engine, keyed, self._radius, items.boundary)
                self._small.append(engine.settle(f"dealt-{first}-to-{last}", few))
                many = partial(_many, engine, keyed, items.width)
                self.large.append(engine.settle(f"dealt-large-{first}-to-{last}", many))

    def met(self) -> FoundBits:
        """The pairs of small buckets."""
        return _found(Table.together(self._small))

    def crowded(self) -> I64:
        """The rows of large buckets."""
        return concatenate((table.column("row").astype(np.int64) for table in self.large), np.int64)


def _keyed(engine: Engine, items: BitItems, stage: MaskedKeys, advance: Callable[[int], None]) -> Table:
    keyed = engine.map(items.table, stage)
    advance(keyed.rows)
    return keyed


def _few(engine: Engine, keyed: Callable[[], Table], radius: int, boundary: int | None) -> Table:
    """The pairs of small buckets."""
    return engine.group(keyed(), "bucket", Sampled(radius, boundary), least=2, most=LARGE)


def _many(engine: Engine, keyed: Callable[[], Table], width: int) -> Table:
    """The rows of large buckets."""
    crowded = engine.group(keyed(), "bucket", as_it_is, least=LARGE + 1)
    return engine.map(crowded, WithContents(Digest(width)))


def _led(engine: Engine, items: BitItems, large: Table, met: FoundBits, radius: int) -> Table:
    """What met, and what leaders of large buckets join."""
    road = _Checks(engine, items.table, radius)
    account = _leaders(items, large, met, road.check)
    return account.noted_on(_with_leaders(met, road))


@dataclass(frozen=True, eq=False)
class WithContents:
    """A stage: rows of buckets → `bucket`, `row` and the `content` of each, by which leaders are chosen."""

    digest: Digest

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        content = self.digest(batch)["content"]
        return pa.record_batch({"bucket": batch["bucket"], "row": batch["row"], "content": content})


class _Checks:
    """Candidates that leaders name, verified and kept."""

    def __init__(self, engine: Engine, table: Table, radius: int) -> None:
        self._engine, self._table, self._stage = engine, table, NearBits(radius)
        self.parts: list[tuple[I64, I64, I64]] = []

    def check(self, a: I64 | U32, b: I64 | U32) -> tuple[I64, I64]:
        near = self._engine.fetch(self._table, Table.of(a=a, b=b), ("a", "b"), self._stage)
        low, high, apart = (near.column(name).astype(np.int64) for name in ("a", "b", "apart"))
        self.parts.append((low, high, apart))
        return low, high


def _leaders(items: BitItems, large: Table, met: FoundBits, check: Check) -> LeaderAccount:
    if not large.rows:
        return LeaderAccount()
    last = int(max(batch["row"].to_numpy().max() for batch in items.table.batches)) + 1
    if items.boundary is None:
        content = by_row(last, large.column("row"), large.column("content"))
        return join_large(
            large, last, [(met.a.astype(np.uint32), met.b.astype(np.uint32))], lambda _: content, check
        )
    first = np.arange(last) < items.boundary
    a, b, account = across_large(large, first, ~first)
    check(a, b)
    return account


def _with_leaders(met: FoundBits, road: _Checks) -> Table:
    """All pairs, sorted, each once."""
    a, b, apart = (
        concatenate((one, *(part[at] for part in road.parts)), np.int64)
        for at, one in enumerate((met.a, met.b, met.apart))
    )
    codes: U64 = (a.astype(np.uint64) << np.uint64(32)) | b.astype(np.uint64)
    _, first = np.unique(codes, return_index=True)
    return Table.of(a=a[first], b=b[first], apart=apart[first])
