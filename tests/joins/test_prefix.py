"""The prefix join is brute force with less work: the same pairs and similarities, bit for bit."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines import LocalEngine, Table
from lookalike.errors import OptionError
from lookalike.joins import prefixes
from lookalike.joins.items import Items
from lookalike.joins.prefix import prefix_join
from lookalike.measures.overlap import MEASURES
from lookalike.measures.sets import as_sets
from lookalike.runs.watch import Watch
from lookalike.shingles import Shingle

NAMES = sorted(MEASURES)


def items(sets, boundary=None, cut=5):
    """Sets of integers as items, in batches of `cut` rows."""
    table = Table.of(row=np.arange(len(sets)), elements=as_sets(sets).to_arrow())
    batch = table.batches[0]
    pieces = tuple(batch.slice(start, cut) for start in range(0, len(batch), cut))
    return Items(
        table=Table(pieces, table.schema), bytes=8 * sum(map(len, sets)), shingle=None, boundary=boundary
    )


def joined(sets, name, threshold, *, boundary=None, engine=None, cut=5, suffix=False):
    found = prefix_join(
        items(sets, boundary, cut),
        measure=MEASURES[name],
        threshold=threshold,
        engine=engine or LocalEngine(1),
        watch=Watch(),
        suffix_filter=suffix,
    )
    rows = list(zip(found.a.tolist(), found.b.tolist(), found.similarity.tolist(), strict=True))
    # Sorted, and each pair once.
    assert [row[:2] for row in rows] == sorted({row[:2] for row in rows})
    return {(a, b): similarity for a, b, similarity in rows}


def similarity(name, a, b):
    """By the definition, in Python's own numbers."""
    shared = len(a & b)
    if not shared:
        return 0.0
    return {
        "jaccard": lambda: shared / len(a | b),
        "containment": lambda: shared / len(a),
        "cosine": lambda: shared / float(len(a) * len(b)) ** 0.5,
        "overlap": lambda: float(shared),
    }[name]()


def brute(sets, name, threshold, boundary=None):
    sets = [set(row) for row in sets]
    rows = range(len(sets))
    if boundary is not None:
        asked = [(a, b) for a in rows[:boundary] for b in rows[boundary:]]
    elif name == "containment":
        asked = [(a, b) for a in rows for b in rows if a != b]
    else:
        asked = [(a, b) for a in rows for b in rows if a < b]
    found = {(a, b): similarity(name, sets[a], sets[b]) for a, b in asked}
    return {pair: value for pair, value in found.items() if value >= threshold}


# Few elements, so that sets overlap in every way and many fractions lie exactly on a threshold.
SETS = st.lists(st.sets(st.integers(0, 11), max_size=9).map(sorted), max_size=16)
THRESHOLDS = st.sampled_from([1e-9, 0.1, 0.25, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0])
ENGINES = st.builds(
    LocalEngine, st.sampled_from([1, 2]), batch_rows=st.integers(1, 9) | st.sampled_from([64, 1 << 16])
)


@pytest.mark.parametrize("name", NAMES)
@given(SETS, THRESHOLDS, ENGINES, st.integers(1, 7), st.booleans(), st.integers(1, 5), st.booleans())
def test_pairs_are_those_of_brute_force(name, sets, threshold, engine, cut, suffix, block, whole):
    if name == "overlap":
        threshold = 1.0 + round(4 * threshold, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefixes, "BLOCK", block)
        patch.setattr(prefixes, "too_many_meetings", lambda *_: whole)
        found = joined(sets, name, threshold, engine=engine, cut=cut, suffix=suffix)
    assert found == brute(sets, name, threshold)


@pytest.mark.parametrize("name", NAMES)
@given(SETS, THRESHOLDS, ENGINES, st.integers(0, 16), st.booleans(), st.integers(1, 5), st.booleans())
def test_pairs_across_two_collections_are_those_of_brute_force(
    name, sets, threshold, engine, boundary, suffix, block, whole
):
    if name == "overlap":
        threshold = 1.0 + round(4 * threshold, 2)
    boundary = min(boundary, len(sets))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefixes, "BLOCK", block)
        patch.setattr(prefixes, "too_many_meetings", lambda *_: whole)
        found = joined(sets, name, threshold, boundary=boundary, engine=engine, suffix=suffix)
    assert found == brute(sets, name, threshold, boundary)


def drawn(kind, seed):
    """A collection of one hostile kind."""
    rng = np.random.default_rng(seed)

    def near(row, changes=2):
        kept = [x for x in row if rng.random() > changes / max(1, len(row))]
        return sorted(set(kept) | set(rng.integers(0, 5000, rng.integers(0, changes + 1)).tolist()))

    def zipf(size):
        return sorted(set((rng.zipf(1.3, size) % 3000).tolist()))

    if kind == "power law":
        base = [zipf(rng.integers(0, 40)) for _ in range(60)]
        return [row for one in base for row in (one, near(one), near(one, 5))]
    if kind == "all equal":
        return [[3, 1, 4, 15, 9]] * 40
    if kind == "disjoint":
        return [list(range(9 * row, 9 * row + 9)) for row in range(50)]
    if kind == "one giant set":
        giant = list(range(3000))
        return [giant, giant[:2500], *(giant[at : at + 3] for at in range(0, 90, 2)), giant[1:]]
    if kind == "no rare elements":
        return [sorted(rng.choice(12, 8, replace=False).tolist()) for _ in range(90)]
    if kind == "long near copies":
        long = sorted(rng.choice(100_000, 150, replace=False).tolist())
        return [near(long, changes) for changes in range(1, 40)]
    if kind == "single elements":
        return [[int(x)] for x in rng.integers(0, 12, 50)] + [[]] * 5
    assert kind == "chain of subsets"
    return [list(range(size)) for size in range(45)]


KINDS = [
    "power law",
    "all equal",
    "disjoint",
    "one giant set",
    "no rare elements",
    "long near copies",
    "single elements",
    "chain of subsets",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", [7, prefixes.BLOCK])
@pytest.mark.parametrize("whole", [False, True])
def test_hostile_collections_lose_nothing(monkeypatch, kind, name, block, whole):
    monkeypatch.setattr(prefixes, "BLOCK", block)
    monkeypatch.setattr(prefixes, "too_many_meetings", lambda *_: whole)
    sets = drawn(kind, seed=1)
    for threshold in (0.05, 0.5, 0.8, 1.0):
        threshold = threshold if name != "overlap" else max(1, 10 * threshold)
        for boundary in (None, len(sets) // 3):
            truth = brute(sets, name, threshold, boundary)
            for threads, batch_rows in ((1, 1 << 16), (2, 50)):
                engine = LocalEngine(threads, batch_rows=batch_rows)
                assert joined(sets, name, threshold, boundary=boundary, engine=engine, cut=11) == truth


@pytest.mark.parametrize("seed", range(20))
def test_random_collections_of_all_sizes_lose_nothing(seed):
    rng = np.random.default_rng(seed)
    universe = int(rng.integers(5, 300))
    sets = [
        rng.choice(universe, rng.integers(0, min(universe, 60)), replace=False).tolist() for _ in range(80)
    ]
    sets += [row[: -1 - seed % 3] for row in sets[:30]]
    for name in NAMES:
        threshold = float(rng.choice([0.3, 0.5, 0.6, 0.75, 0.8, 0.9])) * (10 if name == "overlap" else 1)
        assert joined(sets, name, threshold) == brute(sets, name, threshold)


def test_a_pair_exactly_at_the_threshold_is_a_pair():
    five, four = [1, 2, 3, 4, 5], [1, 2, 3, 4]
    assert joined([five, four], "jaccard", 0.8) == {(0, 1): 4 / 5}
    assert joined([five, four], "jaccard", np.nextafter(0.8, 1)) == {}
    assert joined([five, four], "containment", 0.8) == {(0, 1): 0.8, (1, 0): 1.0}
    assert joined([five, four], "containment", 0.9) == {(1, 0): 1.0}
    assert joined([five, five], "cosine", 1.0) == {(0, 1): 1.0}
    assert joined([five, four], "overlap", 4) == {(0, 1): 4.0}
    assert joined([five, four], "overlap", 4.5) == {}


def test_containment_across_asks_how_much_of_the_first_is_in_the_second():
    small, large = [1, 2], [1, 2, 3, 4]
    assert joined([small, large], "containment", 0.9, boundary=1) == {(0, 1): 1.0}
    assert joined([large, small], "containment", 0.9, boundary=1) == {}
    assert joined([large, small], "containment", 0.5, boundary=1) == {(0, 1): 0.5}


def test_empty_sets_match_nothing():
    assert joined([[], [], [1]], "jaccard", 0.1) == {}
    assert joined([], "jaccard", 0.1) == {}
    assert joined([[], []], "containment", 0.1, boundary=1) == {}


def test_texts_are_joined_by_their_shingles():
    docs = ["to be or not to be", "To be, or not to be!", "to be or not to go", "", "nothing of the kind"]
    shingle = Shingle.parse("words:2")
    table = Table.of(row=np.arange(len(docs)), text=pa.array(docs, pa.large_string()))
    found = prefix_join(
        Items(table=table, bytes=sum(map(len, docs)), shingle=shingle),
        measure=MEASURES["jaccard"],
        threshold=0.5,
        engine=LocalEngine(2),
        watch=Watch(),
    )
    pairs = list(zip(found.a.tolist(), found.b.tolist(), found.similarity.tolist(), strict=True))
    # {to be, be or, or not, not to} and {to be, be or, or not, not to, to go}
    assert pairs == [(0, 1, 1.0), (0, 2, 4 / 5), (1, 2, 4 / 5)]


def test_sets_meet_at_most_as_often_as_there_are_pairs(monkeypatch):
    sets = drawn("no rare elements", seed=3)

    def candidates():
        return prefix_join(
            items(sets), measure=MEASURES["jaccard"], threshold=0.3, engine=LocalEngine(1), watch=Watch()
        ).candidates

    assert candidates() <= len(sets) * (len(sets) - 1) // 2
    monkeypatch.setattr(prefixes, "too_many_meetings", lambda *_: False)
    assert candidates() > len(sets) * (len(sets) - 1) // 2


def short_and_common(count, shorts):
    """Sets of 23 that all share one element, and few besides; and sets of two with it."""
    rng = np.random.default_rng(7)
    own = rng.integers(1, 20_000, (count, 22))
    return [sorted({0, *row}) for row in own.tolist()] + [[0, 50_000 + row] for row in range(shorts)]


@pytest.mark.parametrize("across", [False, True])
def test_a_short_set_does_not_bring_all_long_sets_together(across):
    # By the short set, every long one shows the common element; but only the short one asks by it.
    count, shorts = 600, 2
    sets = short_and_common(count, shorts)
    boundary = None
    if across:
        # The first collection has the short ones and half of the others.
        sets = sets[: count // 2] + sets[count:] + sets[count // 2 : count]
        boundary = count // 2 + shorts
    found = prefix_join(
        items(sets, boundary, cut=100),
        measure=MEASURES["containment"],
        threshold=0.5,
        engine=LocalEngine(1),
        watch=Watch(),
    )
    pairs = set(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert pairs == brute(sets, "containment", 0.5, boundary).keys()
    assert len(pairs) >= shorts * count // (1 + across)
    # Every two sets that meet once would be 180,000, or 90,000 between the collections.
    assert found.candidates < 5 * shorts * count


BROAD_THRESHOLDS = [0.05, 0.25, 1 / 3, 0.5, 0.55, 2 / 3, 0.7, 0.8, 0.9, 1.0]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("across", [False, True])
def test_containment_of_sets_of_very_different_sizes_loses_nothing(monkeypatch, seed, across):
    monkeypatch.setattr(prefixes, "BLOCK", [1, 3, 20, 4096][seed % 4])
    monkeypatch.setattr(prefixes, "too_many_meetings", lambda *_: False)
    rng = np.random.default_rng(seed)
    sets = [sorted(set((rng.zipf(1.2, rng.integers(0, 51)) % 400).tolist())) for _ in range(90)]
    sets += [sorted(rng.choice(row, (len(row) + 1) // 2, replace=False).tolist()) for row in sets[:30] if row]
    sets += [*sets[:10], [], []]
    order = rng.permutation(len(sets))
    sets = [sets[place] for place in order]
    boundary = int(rng.integers(0, len(sets))) if across else None
    for threshold in BROAD_THRESHOLDS:
        truth = brute(sets, "containment", threshold, boundary)
        assert joined(sets, "containment", threshold, boundary=boundary, cut=17) == truth


def test_the_number_of_candidates_does_not_depend_on_threads_or_batches():
    sets = drawn("no rare elements", seed=2)
    counts = {
        prefix_join(
            items(sets, cut=cut),
            measure=MEASURES["jaccard"],
            threshold=0.7,
            engine=LocalEngine(threads, batch_rows=batch_rows),
            watch=Watch(),
        ).candidates
        for threads, batch_rows, cut in ((1, 1 << 16, 100), (2, 3, 1), (2, 64, 7))
    }
    assert len(counts) == 1
    assert counts.pop() > 50


@pytest.mark.parametrize(
    ("name", "threshold", "said"),
    [
        ("jaccard", 0.0, "over 0 and at most 1"),
        ("cosine", 1.1, "over 0 and at most 1"),
        ("containment", float("nan"), "over 0 and at most 1"),
        ("overlap", 0.5, "a count, 1 or more"),
        ("overlap", float("inf"), "a count, 1 or more"),
    ],
)
def test_thresholds_out_of_range_are_refused(name, threshold, said):
    with pytest.raises(OptionError, match=said):
        joined([[1], [1]], name, threshold)
