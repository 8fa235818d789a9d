"""What the stages of joins cost, as committed constants.

The planner weighs bands against checks by these numbers and by the data, and `auto` one road against another,
never by the machine they run on: a plan made here is the plan made anywhere. They are nanoseconds of one
core, measured on one thread over the cases of `benchmarks/crossover.py`, those of bits over the cases of
`benchmarks/bitroads.py`, which fits them (`--fit`); only their ratios change a plan.
"""

from __future__ import annotations

KEY_NS = 25.0
"""One bucket key: one item's rows of one band hashed to a key, radix-sorted and grouped with its equals."""

PAIR_NS = 700.0
"""One candidate pair whatever its size: dropped if met before, its two items fetched, its answer stored."""

BYTE_NS = 1.1
"""One byte of text shingled again for the exact check of a pair, intersection included."""

MERGE_NS = 2.0
"""One element of a set passed by in the exact check of a pair."""

EXACT_WORTH = 1.5
"""Prefixes miss nothing: that is worth half as much time again as bands take."""

SHINGLE_NS = 1.5
"""One byte of text cut into shingles."""

SIGN_NS = 1.0
"""One element into a signature."""

SLOT_NS = 4.0
"""One slot of a signature, however many elements went in."""

SET_NS = 15.0
"""One shingle of a text kept: sorted, each once."""

ORDER_NS = 20.0
"""One element of a set counted, and ordered by how rare it is."""

FAR_NS = 60.0
"""On top of that where counters are too many for a processor's cache: they are looked at here and there, and
memory is waited for. Among ten million sets ordering took five times as long an element as among one."""

FAR_SETS = 1 << 22
"""So many sets have counters, four bytes each, that no longer fit there."""

ENTRY_NS = 160.0
"""One element of a prefix: written, sorted, gathered with its equals."""

MEETING_NS = 0.9
"""Two sets that meet in a prefix: their sizes, places and bits compared."""

COUNT_NS = 150.0
"""Two sets that passed those filters: fetched, and what they share counted."""

VALUE_NS = 0.1
"""One value of a vector, read and multiplied: for a slot of a signature, or for a pair's exact distance."""

PROBE_NS = 40.0
"""One key of a bucket that is looked into, made of ranked margins, before it is sorted like any other."""

PROPOSED_NS = 60.0
"""One pair of vectors that a product proposes, brought to the exact check, its values aside."""

PRODUCT_NS = 0.03
"""One multiplication of a blocked product of two matrices of 32-bit floats, its comparison included."""

BIT_KEY_NS = 22.0
"""One bucket key of a row of bits that is nobody's else: made, and dropped unsorted."""

BIT_MET_NS = 128.0
"""On top of that a key that is another's too: sorted, its row gathered with its equals."""

BIT_WORD_NS = 3.0
"""One word of 64 bits of a row that travels along with a key."""

BIT_PAIR_NS = 0.19
"""Two rows of bits compared, in a bucket or in blocks: 64 folded bits, and more only where those are near."""

BIT_LOOK_NS = 265.0
"""One look-up of a query in a table of bits: two places of memory waited for."""

BIT_SEEN_NS = 0.5
"""One row that such a query looks at: read from memory, and compared."""

WEIGHTED_SLOT_NS = 50.0
"""One element of a weighted set in one slot of a weighted sample: logarithms, made of sums and products."""

SIDE_NS = 0.7
"""One element of a sparse vector in one slot of hyperplanes: its normal hashed, and added."""

WEIGHTED_ORDER_NS = 200.0
"""One element of a weighted set counted, and ordered by how rare it is, with what weighs less behind it."""

WEIGHTED_MEETING_NS = 30.0
"""Two weighted sets that meet in a prefix: what is left of both compared."""

WEIGHTED_PAIR_NS = 200.0
"""One candidate of weighted sets whatever its size: dropped if met before, fetched, its answer stored."""

WEIGHTED_MERGE_NS = 5.0
"""One element of a weighted set passed by in the exact check of a pair."""

RANGE_KEY_NS = 150.0
"""One bucket of measurements: its ranges hashed to a key, sorted and gathered with its equals."""

RANGE_MEETING_NS = 25.0
"""Two items that share a bucket of ranges: written down, and dropped if met before."""

RANGE_PAIR_NS = 60.0
"""One candidate of measurements whatever their number: fetched, its answer stored."""

RANGE_VALUE_NS = 10.0
"""One measurement compared in the exact check of a pair."""

_NS = 1e-9


def seconds_for_keys(items: int, bands: int) -> float:
    """Making, sorting and grouping one bucket key for each item and band."""
    return items * bands * KEY_NS * _NS


def seconds_for_checks(candidates: float, bytes_per_item: float) -> float:
    """Checking candidates exactly. Both texts of a pair are shingled, as if no text came twice."""
    return candidates * (PAIR_NS + 2 * bytes_per_item * BYTE_NS) * _NS


def seconds_for_set_checks(candidates: float, elements_per_item: float) -> float:
    """Checking candidates exactly that are sets already."""
    return candidates * (PAIR_NS + 2 * elements_per_item * MERGE_NS) * _NS


def seconds_for_signatures(items: float, slots: int, elements: float, text_bytes: float) -> float:
    """Signing items of so many elements and bytes of text in all; sets have no text."""
    return (items * slots * SLOT_NS + elements * SIGN_NS + text_bytes * SHINGLE_NS) * _NS


def seconds_for_order(sets: float, elements: float, text_bytes: float) -> float:
    """Bringing all elements of all sets in order, after texts became sets."""
    keeping = elements * SET_NS if text_bytes else 0.0
    ordering = elements * (ORDER_NS + (FAR_NS if sets > FAR_SETS else 0.0))
    return (keeping + ordering + text_bytes * SHINGLE_NS) * _NS


def seconds_for_prefixes(entries: float) -> float:
    """Writing, sorting and gathering the elements of all prefixes."""
    return entries * ENTRY_NS * _NS


def seconds_for_meetings(meetings: float, candidates: float) -> float:
    """Letting sets meet in their prefixes, and counting what those share that may be pairs."""
    return (meetings * MEETING_NS + candidates * COUNT_NS) * _NS


def seconds_for_weighted_signatures(elements: float, slots: int, *, sides: bool) -> float:
    """Signing sets of so many elements in all: by sides of hyperplanes, or by weighted samples."""
    return elements * slots * (SIDE_NS if sides else WEIGHTED_SLOT_NS) * _NS


def seconds_for_weighted_checks(candidates: float, elements_per_item: float) -> float:
    """Checking candidates exactly that are weighted sets."""
    return candidates * (WEIGHTED_PAIR_NS + 2 * elements_per_item * WEIGHTED_MERGE_NS) * _NS


def seconds_for_weighted_prefixes(elements: float, entries: float, meetings: float) -> float:
    """Ordering elements, gathering those of prefixes, and letting sets meet there."""
    spent = elements * WEIGHTED_ORDER_NS + entries * ENTRY_NS + meetings * WEIGHTED_MEETING_NS
    return spent * _NS


def seconds_for_ranges(keys: float, meetings: float, candidates: float, values_per_item: float) -> float:
    """Items in buckets of ranges: their keys, who meets whom, and the checks of those who met."""
    checks = candidates * (RANGE_PAIR_NS + values_per_item * RANGE_VALUE_NS)
    return (keys * RANGE_KEY_NS + meetings * RANGE_MEETING_NS + checks) * _NS


def seconds_for_vector_checks(candidates: float, values_per_item: float) -> float:
    """Checking candidates exactly that are vectors or bits."""
    return candidates * (PAIR_NS + 2 * values_per_item * VALUE_NS) * _NS


def seconds_for_vector_slots(items: float, slots: int, values_per_slot: float) -> float:
    """Signing vectors, where a slot reads so many values of each."""
    return items * slots * max(1.0, values_per_slot) * VALUE_NS * _NS


def seconds_for_probes(items: float, probes: int) -> float:
    """Looking into so many buckets an item: their keys are made, sorted and grouped."""
    return items * probes * (KEY_NS + PROBE_NS) * _NS


def seconds_for_products(pairs: float, values_per_item: float, *, proposed: float = 0.0) -> float:
    """The products of so many pairs of vectors, by blocks, and the checks of those they propose."""
    checks = proposed * (PROPOSED_NS + 2 * values_per_item * VALUE_NS)
    return (pairs * values_per_item * PRODUCT_NS + checks) * _NS


def seconds_for_bit_keys(rows: float, keys: float, in_company: float, words: int) -> float:
    """Rows of so many words in buckets, by so many keys each, some of them the same as another row's."""
    return rows * (keys * (BIT_KEY_NS + words * BIT_WORD_NS) + in_company * BIT_MET_NS) * _NS


def seconds_for_bit_pairs(pairs: float) -> float:
    """Comparing so many pairs of rows of bits."""
    return pairs * BIT_PAIR_NS * _NS


def seconds_for_bit_query(masks: float, neighbours: float) -> float:
    """One query of a table of bits that looks at so many rows under all its masks together."""
    return (masks * BIT_LOOK_NS + neighbours * BIT_SEEN_NS) * _NS
