"""`auto`: bands or prefixes, whichever is expected to cost less.

Both estimates come from the sample that the bands are planned by, and from constants. What bands cost follows
from how alike the sampled rows are. What prefixes cost follows from how rare the rarest elements of sets are,
which no sample of rows shows: all elements are counted, by buckets of their hash, and the sampled sets are
then put through the very stages of the join. Where it would already cost too much to order all elements and
cut prefixes, as it does with long texts, that pass is spared.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import buckets
from lookalike.bands.buckets import run_starts
from lookalike.charts.numbers import seconds
from lookalike.engines import Engine, Table
from lookalike.families import MinHash
from lookalike.joins.elements import SetTexts, sets_of, shingler_of
from lookalike.joins.items import Items
from lookalike.joins.leaders import ROUNDS
from lookalike.joins.prefixes import (
    BLOCK,
    Census,
    Crowds,
    CutPrefixes,
    InOrder,
    Meet,
    PrefixLengths,
    TakeCensus,
    bucket_bits,
)
from lookalike.joins.prepare import similarity_sample
from lookalike.joins.sample import Drawn, Sign, draw
from lookalike.measures.bounds import Bound
from lookalike.runs.watch import Watch
from lookalike.theory import Choice, Plan, RoadEstimate, SimilaritySample, plan
from lookalike.theory.costs import (
    EXACT_WORTH,
    seconds_for_checks,
    seconds_for_keys,
    seconds_for_meetings,
    seconds_for_order,
    seconds_for_prefixes,
    seconds_for_set_checks,
    seconds_for_signatures,
)
from lookalike.types import list_buffers

#: Over so many candidates a row, as a bucket gives at most, rows are a crowd.
_CROWD = buckets.LARGE / 2
#: Texts have a shingle for so many bytes at least, but for those that say the same again and again.
_BYTES_A_SHINGLE = 16
#: Checks that a row of a crowd costs, about.
_LEADERS = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """A choice, and what was made on the way to it that the road can use.

    `drawn` is the sample, `sets` are texts as sets, with their flags.
    """

    choice: Choice
    drawn: Drawn | None = None
    sets: Table | None = None

    def to_table(self) -> Table:
        """The choice and the sample, as a table to settle."""
        drawn = None if self.drawn is None else asdict(self.drawn)
        return Table.of(json=[json.dumps({"choice": asdict(self.choice), "drawn": drawn})])

    @classmethod
    def from_table(cls, table: Table) -> Chosen:
        """Read back what `to_table` made."""
        stored = json.loads(table.batches[0]["json"][0].as_py())
        choice, drawn = stored["choice"], stored["drawn"]
        roads = {name: RoadEstimate(**road) for name, road in choice["roads"].items()}
        if drawn is not None:
            counts, rows = tuple(drawn["counts"]), tuple(drawn["rows"])
            drawn = Drawn(counts=counts, distinct=drawn["distinct"], rows=rows)
        return cls(choice=Choice(**(choice | {"roads": roads})), drawn=drawn)


def choose(
    items: Items, *, threshold: float, recall: float, family: MinHash, engine: Engine, watch: Watch
) -> Chosen:
    """Choose the road to all pairs of a Jaccard similarity."""
    with watch.stage("choose", items.rows):
        drawn = draw(engine, items, family)
        sample = similarity_sample(items, drawn)
        banded = plan(threshold, recall=recall, slots=family.slots, similarities=sample)
        if (plain := _plainly_bands(items, banded, sample)) is not None:
            return Chosen(choice=plain, drawn=drawn)
        few = _picked(engine, items, drawn)
        size = float(np.diff(list_buffers(few["elements"])[1]).mean()) if len(few) else 0.0
        elements = size * sample.keyed_items
        text_bytes = 0.0 if items.shingle is None else sample.bytes_per_item * sample.keyed_items
        near = sample.total_pairs * drawn.share_at_least(threshold)
        crowd = near > sample.keyed_items * _CROWD
        lsh = _by_bands(banded, sample, elements, text_bytes, crowd=crowd)
        bound = Bound("jaccard", threshold, items.boundary is not None)
        entries = _entries(few, bound, items.boundary) * sample.keyed_items
        # Before anybody meets; nothing but the sample was looked at so far.
        cut = seconds_for_order(sample.keyed_items, elements, text_bytes) + seconds_for_prefixes(entries)
        if crowd or cut > EXACT_WORTH * lsh.seconds:
            least = cut + seconds_for_meetings(near, near)
            prefix = RoadEstimate(seconds=least, candidates=near if crowd else None)
            roads = {"lsh": lsh, "prefix": prefix}
            return Chosen(choice=_between(roads, size, sample.keyed_items), drawn=drawn)
        sets = None
        if items.shingle is not None:
            sets = engine.map(items.table, SetTexts(items.shingle.shingler(items.seed)))
        met = _let_meet(few, items.table if sets is None else sets, bound, items.boundary, engine)
        roads = {"lsh": lsh, "prefix": _by_prefixes(met, cut, sample)}
        choice = _between(roads, size, sample.keyed_items)
        return Chosen(choice=choice, drawn=drawn, sets=sets if choice.method == "prefix" else None)


def _plainly_bands(items: Items, banded: Plan, sample: SimilaritySample) -> Choice | None:
    """Bands, if texts are so long that to order their sets alone costs more; no set is looked at."""
    if items.shingle is None:
        return None
    text_bytes = sample.bytes_per_item * sample.keyed_items
    elements = text_bytes / _BYTES_A_SHINGLE
    lsh = _by_bands(banded, sample, elements, text_bytes, crowd=False)
    order = seconds_for_order(sample.keyed_items, elements, text_bytes)
    if order <= EXACT_WORTH * lsh.seconds:
        return None
    why = (
        f"to order the sets of texts of about {sample.bytes_per_item:,.0f} bytes would alone take "
        f"{seconds(order)} of one core, bands {seconds(lsh.seconds)} in all"
    )
    roads = {"lsh": lsh, "prefix": RoadEstimate(seconds=order, candidates=None)}
    return Choice(method="lsh", why=why, roads=roads)


def _by_bands(
    banded: Plan, sample: SimilaritySample, elements: float, text_bytes: float, *, crowd: bool
) -> RoadEstimate:
    items, bands = sample.keyed_items, banded.banding.bands
    # Rows of a large bucket are compared with leaders: near-copies of one with it alone, others with several.
    leaders = _LEADERS if crowd else bands * ROUNDS
    # A plan must not drown in what a sample cannot rule out; a choice goes by what is likely.
    candidates = sample.likely_candidates(banded.banding)
    if candidates > items * bands * buckets.LARGE / 2:
        candidates = float(items * leaders)
    keyed = seconds_for_signatures(items, banded.slots, elements, text_bytes) + seconds_for_keys(items, bands)
    if text_bytes:
        checked = seconds_for_checks(candidates, sample.bytes_per_item)
    else:
        checked = seconds_for_set_checks(candidates, elements / max(1, items))
    return RoadEstimate(seconds=keyed + checked, candidates=candidates)


def _by_prefixes(met: Met, cut: float, sample: SimilaritySample) -> RoadEstimate:
    rate = sample.total_pairs / max(1, met.pairs)
    # Where prefixes would meet more often than there are pairs, every two sets meet once.
    meetings = min(met.meetings * rate, float(sample.total_pairs))
    candidates = met.candidates * rate
    return RoadEstimate(seconds=cut + seconds_for_meetings(meetings, candidates), candidates=candidates)


def _entries(few: pa.RecordBatch, bound: Bound, boundary: int | None) -> float:
    """How many elements the prefix of a set has, on average."""
    # How long prefixes are follows from sizes alone, and those of a few sets are much like those of all.
    lengths = PrefixLengths.of(TakeCensus(8, boundary)(few), bound, boundary)
    offsets = list_buffers(few["elements"])[1]
    return float(lengths(few, offsets).mean()) if len(few) else 0.0


def _between(roads: dict[str, RoadEstimate], size: float, rows: int) -> Choice:
    """The better road, and the reason in a sentence."""
    lsh, prefix = roads["lsh"], roads["prefix"]
    method = "lsh"
    over = "over " if prefix.candidates is None else ""
    why = (
        f"for sets of about {size:.0f} elements prefixes would take {over}{seconds(prefix.seconds)} of one "
        f"core, bands {seconds(lsh.seconds)}"
    )
    if prefix.candidates is None:
        return Choice(method=method, why=why, roads=roads)
    if prefix.candidates > rows * _CROWD:
        # All pairs of a crowd would be looked at, where bands compare each row with a few leaders.
        others = min(2 * prefix.candidates / rows, rows - 1)
        why = (
            f"prefixes would compare a set with about {others:,.0f} others, bands with a few leaders of them"
        )
    elif prefix.seconds <= EXACT_WORTH * lsh.seconds:
        method = "prefix"
        if prefix.seconds > lsh.seconds:
            why += ", which would miss some pairs"
    return Choice(method=method, why=why, roads=roads)


#: What the cut of prefixes calls the side of the second collection's sets.
_SECOND = 2


@dataclass(frozen=True, kw_only=True)
class Met:
    """How sampled sets met: of how many pairs, how many meetings there were, and how many candidates."""

    pairs: int
    meetings: int
    candidates: int


def _let_meet(few: pa.RecordBatch, sets: Table, bound: Bound, boundary: int | None, engine: Engine) -> Met:
    """Put a few sets through the stages of the prefix join, their elements ordered as among all sets."""
    bits = bucket_bits(sets.rows)
    census = engine.fold(sets, TakeCensus(bits, boundary), Census.merge) or Census.of_nothing(bits)
    lengths = PrefixLengths.of(census, bound, boundary)
    ranks = _core.bucket_ranks(census.counts)
    ordered = InOrder(ranks)(few)
    # An element that a single set shows is left out of prefixes: that is a matter of all sets, not of a few.
    shown = np.empty_like(census.counts)
    shown[ranks] = np.minimum(census.counts, 2)
    entries = CutPrefixes(lengths, Crowds(shown), BLOCK, None)(ordered)
    entries = entries.take(pa.array(np.argsort(entries["key"].to_numpy(), kind="stable")))
    starts = run_starts(entries["key"].to_numpy())
    of_key = np.diff(starts)
    if boundary is None:
        pairs, meetings = len(few) * (len(few) - 1) // 2, of_key * (of_key - 1) // 2
    else:
        second = int(np.count_nonzero(few["row"].to_numpy() >= boundary))
        theirs = np.diff(np.concatenate([[0], np.cumsum(entries["side"].to_numpy() == _SECOND)])[starts])
        pairs, meetings = (len(few) - second) * second, (of_key - theirs) * theirs
    return Met(
        pairs=pairs,
        meetings=int(meetings.sum()),
        candidates=len(Meet(bound)(entries)),
    )


def _picked(engine: Engine, items: Items, drawn: Drawn) -> pa.RecordBatch:
    """The sets of the sampled rows (`row`, `elements`), without empty ones."""
    rows = Table.of(row=np.array(drawn.rows, np.int64))
    table = items.holding(rows.column("row"))
    picked = engine.fetch(table, rows, ("row",), Sign(FilledSets(shingler_of(items))))
    empty = pa.record_batch({"row": pa.array([], pa.int64()), "elements": pa.array([], _ELEMENTS)})
    few = pa.concat_batches([empty, *picked.batches])
    return few.take(pa.array(np.argsort(few["row"].to_numpy(), kind="stable")))


_ELEMENTS = pa.large_list(pa.uint64())


@dataclass(frozen=True, eq=False)
class FilledSets:
    """A stage: items → their sets, without empty ones."""

    shingler: _core.Shingler | None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sets = sets_of(batch, self.shingler)
        filled = np.diff(sets.offsets) > 0
        lists = sets.to_arrow().cast(_ELEMENTS)
        return pa.record_batch({"row": batch["row"], "elements": lists}).filter(pa.array(filled))
