"""Items with many measurements: the join and the look-up against all pairs."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from lookalike.applications.measurement_tables import MeasurementOptions, pairs_of_measurements
from lookalike.applications.measurements import Gallery, similar_measurements
from lookalike.engines import LocalEngine
from lookalike.errors import DuplicateIdError, EmptySourceError, MalformedRowError, OptionError, SourceError
from lookalike.families import Ranges
from lookalike.io import FrameSource
from lookalike.io.measurements import MeasurementColumns
from lookalike.measures.closeness import close_share
from lookalike.runs.watch import Watch

RANGES = Ranges(dimensions=6, width=8, margin=2, rows=2, tables=5, seed=1)


def faces(people=40, looks=3, seed=0):
    """Pictures of people: measurements that differ by 1 or 2 between pictures of one."""
    draw = np.random.default_rng(seed)
    return np.repeat(draw.uniform(0, 100, (people, 6)), looks, axis=0) + draw.normal(
        0, 1, (people * looks, 6)
    )


def meet(ranges, a, b):
    return any(set(x) & set(y) for x, y in zip(ranges.buckets(a), ranges.buckets(b), strict=True))


def brute_force(items, ranges, within, share, pairs):
    found = []
    for a, b in pairs:
        close = sum(abs(x - y) <= within for x, y in zip(items[a], items[b], strict=True)) / ranges.dimensions
        if close >= share and meet(ranges, items[a], items[b]):
            found.append((a, b, close))
    return found


def listed(pairs):
    return [(row["a"], row["b"], row["similarity"]) for row in pairs]


COLLECTIONS = {
    "faces": faces(),
    "all equal": np.full((70, 6), 3.5),
    "far apart": np.arange(60).reshape(10, 6) * 1000.0,
    "one": np.ones((1, 6)),
    "none": np.empty((0, 6)),
    "power-law": np.random.default_rng(2).pareto(1, (100, 6)),
}


@pytest.mark.parametrize("items", COLLECTIONS.values(), ids=COLLECTIONS)
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_pairs_are_those_of_a_double_loop(items, share):
    expected = brute_force(items, RANGES, 2.5, share, combinations(range(len(items)), 2))
    assert listed(similar_measurements(items, ranges=RANGES, within=2.5, share=share)) == expected


def test_between_two_collections_pairs_go_across():
    items = faces()
    across = [(a, b) for a in range(50) for b in range(50, len(items))]
    expected = [(a, b - 50, s) for a, b, s in brute_force(items, RANGES, 2.5, 0.6, across)]
    assert expected
    found = similar_measurements(items[:50], items[50:], ranges=RANGES, within=2.5, share=0.6)
    assert listed(found) == expected


def test_pairs_do_not_depend_on_threads_or_memory():
    items = faces(people=300)
    some = [
        listed(similar_measurements(items, ranges=RANGES, within=2, share=0.6, engine=engine))
        for engine in (LocalEngine(1), LocalEngine(2), LocalEngine(1, memory=16_000_000))
    ]
    assert some[0]
    assert some[0] == some[1] == some[2]


def test_a_gallery_finds_what_the_join_finds():
    items = faces()
    gallery = Gallery(items[40:], ranges=RANGES)
    assert len(gallery) == 80
    pairs = listed(similar_measurements(items[:40], items[40:], ranges=RANGES, within=2, share=0.5))
    for a in range(40):
        found = [(m["id"], m["share"]) for m in gallery.match(items[a], within=2, share=0.5)]
        assert sorted(found) == sorted((b, share) for x, b, share in pairs if x == a)
        assert found == sorted(found, key=lambda match: (-match[1], match[0]))


def test_a_probe_looks_into_each_of_its_buckets():
    items = faces()
    gallery = Gallery(items, ranges=RANGES, ids=[f"face{i}" for i in range(len(items))])
    probe = items[7] + 0.5
    expected = [i for i in range(len(items)) if meet(RANGES, probe, items[i])]
    assert gallery.candidates(probe).tolist() == expected
    assert next(iter(gallery.match(probe, within=1, share=0.9)))["id"] == "face7"
    assert len(Gallery([], ranges=RANGES).match(probe, within=1, share=0.5)) == 0


def test_the_share_may_be_a_number_of_numpy():
    rows = [[1, 2, 3, 4], [1, 2, 9, 9]]
    for share in (np.float32(0.5), np.float64(0.5)):
        assert len(similar_measurements(rows, within=1, share=share)) == 1


def test_positions_may_have_tolerances_of_their_own():
    assert close_share([0, 0, 0], [1, 2, 3], (1, 1, 5)) == 2 / 3
    assert close_share([[0, 0], [3, 0]], [0, 0], 1).tolist() == [1, 0.5]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: similar_measurements([[1] * 5], ranges=RANGES, within=1, share=0.5),
            SourceError,
            "6 in each",
        ),
        (
            lambda: similar_measurements([[1] * 6], ranges=RANGES, within=-1, share=0.5),
            OptionError,
            "within=-1",
        ),
        (
            lambda: similar_measurements([[1] * 6], ranges=RANGES, within=(1, 2), share=0.5),
            OptionError,
            "within",
        ),
        (lambda: similar_measurements([[1] * 6], ranges=RANGES, within=1, share=90), OptionError, "share=90"),
        (lambda: Gallery([[1] * 6], ranges=RANGES, ids=["a", "b"]), OptionError, "2 ids for 1 item"),
        (lambda: Gallery([[1] * 6] * 2, ranges=RANGES, ids=["a", "a"]), DuplicateIdError, "'a' occurs twice"),
        (lambda: Gallery([[1] * 6] * 2, ranges=RANGES, ids=["a", None]), SourceError, "an id is null"),
        (lambda: Gallery([[1] * 6], ranges=RANGES, ids=5), OptionError, "no ids"),
        (lambda: Gallery([[1] * 6], ranges=RANGES, ids=[[1]]), OptionError, "no ids"),
        (lambda: Gallery([[10**400] * 6], ranges=RANGES), SourceError, "must be numbers"),
        (lambda: similar_measurements([[1] * 6], within=10**400, share=1), OptionError, "within"),
        (lambda: similar_measurements([[1] * 6], within=1, share=1, recall=10**400), OptionError, "recall"),
        (lambda: Gallery([[1] * 6], ranges=None), OptionError, "ranges=None says nothing of buckets"),
        (lambda: similar_measurements([[1] * 6], ranges=3, within=1, share=1), OptionError, "ranges=3"),
        (lambda: similar_measurements([[1] * 6], within=0, share=1), OptionError, "need a width"),
        (lambda: close_share([1, 2], [1], 1), OptionError, "cannot be compared"),
    ],
)
def test_what_cannot_be_compared_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_the_row_of_a_number_that_is_none_is_named(odd):
    items = faces()
    items[17, 4] = odd
    for ask in (
        lambda: Gallery(items, ranges=RANGES),
        lambda: similar_measurements(items, within=2, share=0.5),
        lambda: similar_measurements(faces(), items, within=2, share=0.5),
    ):
        with pytest.raises(MalformedRowError, match=rf"row 17 \(counted from 0\): measurement 4 is {odd},"):
            ask()


def test_how_much_was_found_is_estimated_from_what_was_found():
    """People with two more pictures each, on which any measurement may be far off."""
    columns = [f"m{column}" for column in range(10)]
    totals, recalls = [], []
    for seed in range(24):
        draw = np.random.default_rng(seed)
        people = draw.uniform(0, 1000, (50, 10))
        items = np.concatenate([people, *(people + draw.uniform(-0.5, 0.5, people.shape) for _ in "ab")])
        items += np.where(draw.random(items.shape) < 0.25, draw.uniform(5, 300, items.shape), 0)
        wanted = MeasurementColumns(text="m0", columns=tuple(columns[1:]))
        source = FrameSource(pa.table(dict(zip(columns, items.T, strict=True))), wanted)
        asked = MeasurementOptions(within=1.0, threshold=0.5, recall=0.6, seed=seed, method="lsh")
        pairs, found, _ = pairs_of_measurements([source], asked, engine=LocalEngine(1), watch=Watch())
        close = (np.abs(items[:, None] - items[None]) <= 1).mean(axis=2) >= 0.5
        truth = np.count_nonzero(np.triu(close, 1))
        assert found.recall.found == len(pairs) <= truth
        assert found.recall.low is None
        totals.append(found.recall.estimated_total / truth)
        recalls.append(len(pairs) / truth)
    assert np.mean(recalls) < 0.95
    assert abs(np.mean(totals) - 1) < 0.03


def test_items_without_measurements_are_told():
    for nothing in ([], [[], []]):
        with pytest.raises(EmptySourceError, match="no measurements"):
            similar_measurements(nothing, within=1, share=0.5)
    hidden = np.ma.array([[1.0, 2.0], [1.0, 2.0]], mask=[[0, 0], [0, 1]])
    with pytest.raises(MalformedRowError, match="row 1 holds a masked value"):
        similar_measurements(hidden, within=1, share=0.5)
