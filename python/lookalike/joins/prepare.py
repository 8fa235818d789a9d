"""What a join does before it looks for candidates: plan, sign, set exact copies aside.

A dry run stops here: it has seen every row and knows the banding and what it is expected to cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lookalike.engines import Engine, Stage, Table
from lookalike.families import MinHash
from lookalike.joins.copies import representatives
from lookalike.joins.flags import EMPTY, Flagged
from lookalike.joins.items import Items
from lookalike.joins.meeting import Meeting, shared_buckets
from lookalike.joins.sample import Drawn, draw
from lookalike.joins.sign import Keying, WithKeys
from lookalike.runs.watch import Watch
from lookalike.theory import Banding, Plan, SimilaritySample, plan
from lookalike.theory.first_filter import FirstFilter
from lookalike.theory.first_filter import first_filter as filter_first
from lookalike.types import U32, Bools

#: How candidates are checked: on the data, by agreement of signatures, or by these first and then there.
Verify = Literal["exact", "signature", "both"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared(Flagged):
    """Rows ready for the buckets. 7 bytes a row are with the driver.

    Attributes
    ----------
    keyed
        Bucket keys of all rows; with all slots if signatures were to be kept.
    marked
        The representatives: rows that are neither empty nor exact copies of others. Only these go on.
    plan
        The banding, and what it promises and costs.
    median_similarity
        Of two rows picked at random; None if there are not two.
    meeting
        The rows that meet others, where what is joined is not all at hand.
    keying
        The stage that keyed the rows, for bands that may have to be added; None if none can be.
    first_filter
        Which candidates their signatures drop before the data is looked at; None if none are dropped so.
    """

    keyed: Table
    marked: Bools
    plan: Plan
    median_similarity: float | None
    meeting: Meeting | None = None
    keying: Keying | None = None
    first_filter: FirstFilter | None = None

    def compared(self, items: Items) -> Table:
        """Of what is joined, all rows that are ever compared with others."""
        return items.table if self.meeting is None else self.meeting.items.table

    @property
    def representatives(self) -> int:
        """How many rows go on."""
        return int(np.count_nonzero(self.marked))


def prepare(
    items: Items,
    *,
    threshold: float,
    recall: float,
    family: MinHash,
    engine: Engine,
    watch: Watch,
    verify: Verify = "exact",
    drawn: Drawn | None = None,
    banding: Banding | None = None,
) -> Prepared:
    """Choose the banding from a sample, sign every row, and find exact copies.

    `drawn` is the sample, if it has been drawn already. A `banding` that was asked for is taken as it is.
    """
    asked: dict[str, Any] = {"recall": recall, "slots": family.slots}
    if banding is not None:
        asked |= banding.to_dict()
    first_filter = None
    if verify == "both":
        first_filter = filter_first(threshold, slots=family.slots, recall=recall)
        asked["recall"] = first_filter.bands_recall(recall)
    # Said before any work is done: an unreachable promise is not worth a pass over the data.
    plan(threshold, **asked)
    with watch.stage("plan"):
        if drawn is None:
            drawn = Drawn.from_table(engine.settle("sample", lambda: draw(engine, items, family).to_table()))
        sample = similarity_sample(items, drawn)
        chosen = plan(threshold, **asked, similarities=sample)
        if first_filter is not None:
            # What bands find beyond the promise makes up for what the filter loses; those given do not.
            passing = 1 - first_filter.loss
            chosen = replace(chosen, recall=chosen.recall * passing if chosen.given else recall)
    keep_signatures = verify != "exact"
    sign: Stage = items.key(family, chosen.banding)
    if keep_signatures:
        sign = WithKeys(items.sign(family), chosen.banding)
    with watch.stage("sign", items.rows, size=items.bytes) as advance:
        keyed = engine.map(items.table, sign, advance=advance, settled="keyed")
    return set_copies_aside(
        items,
        keyed,
        chosen,
        engine=engine,
        watch=watch,
        median_similarity=drawn.median_similarity,
        keying=None if verify == "signature" else items.key(family, chosen.banding),
        first_filter=first_filter,
    )


def set_copies_aside(
    items: Items,
    keyed: Table,
    chosen: Plan,
    *,
    engine: Engine,
    watch: Watch,
    median_similarity: float | None = None,
    keying: Keying | None = None,
    bands: int | None = None,
    first_filter: FirstFilter | None = None,
) -> Prepared:
    """Find exact copies among rows that are keyed by a plan's banding, or by so many `bands`."""
    flags = np.zeros(items.rows, np.uint8)
    for batch in keyed.batches:
        flags[batch["row"].to_numpy()] = batch["flags"].to_numpy()
    filled = (flags & EMPTY) == 0
    bands = chosen.banding.bands if bands is None else bands
    with watch.stage("copies", items.rows):
        meeting = _meeting(items, keyed, bands, filled, engine)

        def copies() -> Table:
            compared, apart = (items, filled) if meeting is None else (meeting.items, meeting.meets)
            found = representatives(engine, compared, keyed, apart)
            return Table.of(representative=found.astype(np.uint32))

        representative: U32 = engine.settle("copies", copies).column("representative")
    return Prepared(
        meeting=meeting,
        keyed=keyed,
        marked=filled & (representative == np.arange(items.rows, dtype=np.uint32)),
        representative=representative,
        flags=flags,
        plan=chosen,
        median_similarity=median_similarity,
        keying=keying,
        first_filter=first_filter,
    )


def _meeting(items: Items, keyed: Table, bands: int, filled: Bools, engine: Engine) -> Meeting | None:
    """The rows that meet; None where items are at hand, and picking out some of them would be in vain."""

    def needed() -> Table:
        return Table.of(meeting=[not items.table.batches.at_hand])

    # Settled in any case: a run may go on with more memory than it began with, or with less.
    if not engine.settle("meeting", needed).column("meeting").any():
        return None
    # Memory is scarce, and of more use to the texts of these rows.
    buckets = shared_buckets(engine, keyed, range(bands), filled, "meeting", soon=False)
    return Meeting(engine, items, buckets)


def similarity_sample(items: Items, drawn: Drawn) -> SimilaritySample:
    """What the sample says of the collection; of two, as if both had their share of the different rows."""
    first, second = drawn.distinct, None
    if items.boundary is not None:
        first = round(drawn.distinct * items.boundary / max(1, items.rows))
        second = drawn.distinct - first
    return SimilaritySample(
        counts=drawn.counts,
        items=first,
        other_items=second,
        bytes_per_item=items.bytes / max(1, items.rows),
    )
