"""Every exact road equals brute force, on hundreds of collections, however the engine cuts them.

Over sets for Divide–Compute–Merge, over signatures for signature agreement and the external MinHash join. The
pyramid misses pairs, but never claims a wrong one.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.joins import roads

from lookalike.families import MinHash
from lookalike.joins import meetings
from lookalike.joins.agree import agree
from lookalike.joins.divide import divide
from lookalike.joins.external import external
from lookalike.joins.pyramid import pyramid
from lookalike.measures import exact
from lookalike.measures.overlap import MEASURES, overlap_measure
from lookalike.measures.sets import as_sets

FORMULAS = {
    "jaccard": exact.jaccard,
    "containment": exact.containment,
    "cosine": exact.set_cosine,
    "overlap": lambda a, b: float(exact.overlap(a, b)),
}
THRESHOLDS = {"jaccard": (0.2, 0.5, 0.8, 1.0), "overlap": (1, 2, 5)}
DIRECTED = {"containment"}


def true_pairs(sets, measure, threshold, boundary=None):
    both_ways = measure in DIRECTED and boundary is None
    formula = FORMULAS[measure]
    return roads.brute_force(
        lambda a, b: formula(sets[a], sets[b]), len(sets), threshold, boundary, both_ways=both_ways
    )


def agreeing_pairs(sets, family, threshold, boundary=None):
    """What comparing all signatures says; empty sets have none."""
    signed = family.signatures(as_sets([sorted(row) for row in sets]))
    return roads.brute_force(
        lambda a, b: signed.similarity(a, b) if sets[a] and sets[b] else 0.0, len(sets), threshold, boundary
    )


def boundaries(sets):
    return [None, len(sets) // 3, 0, len(sets)]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", roads.ADVERSARIAL)
def test_divide_finds_what_brute_force_finds_in_hostile_collections(name, measure):
    sets = roads.ADVERSARIAL[name]
    for boundary in boundaries(sets):
        items = roads.items_of(sets, boundary=boundary, shuffle=3)
        for threshold in THRESHOLDS.get(measure, (0.3, 0.7, 1.0)):
            found = roads.walked(divide, items, measure=overlap_measure(measure), threshold=threshold)
            assert found == true_pairs(sets, measure, threshold, boundary)


@pytest.mark.parametrize("slots", [1, 10, 64])
@pytest.mark.parametrize("name", roads.ADVERSARIAL)
def test_signature_roads_find_what_brute_force_over_signatures_finds_in_hostile_collections(name, slots):
    sets, family = roads.ADVERSARIAL[name], MinHash(slots=slots, seed=5)
    for boundary in boundaries(sets)[:2]:
        items = roads.items_of(sets, boundary=boundary, shuffle=4)
        for threshold in (0.05, 0.5, 0.8, 1.0):
            truth = agreeing_pairs(sets, family, threshold, boundary)
            assert roads.walked(external, items, family=family, threshold=threshold) == truth
            for way in (None, "pieces", "blocks"):
                found = roads.walked(agree, items, family=family, threshold=threshold, way=way)
                assert found == truth


@pytest.mark.parametrize("name", roads.ADVERSARIAL)
def test_the_pyramid_claims_nothing_that_brute_force_does_not_find(name):
    sets = roads.ADVERSARIAL[name]
    for boundary in boundaries(sets):
        items = roads.items_of(sets, boundary=boundary)
        for threshold in (0.5, 0.8, 1.0):
            found = roads.walked(pyramid, items, threshold=threshold, seed=2)
            assert found.items() <= true_pairs(sets, "jaccard", threshold, boundary).items()


COLLECTIONS = st.lists(st.frozensets(st.integers(0, 12), max_size=9), max_size=14) | st.builds(
    roads.power_law, st.integers(0, 40), st.integers(0, 10**6), universe=st.sampled_from([5, 20, 60])
)


@given(sets=COLLECTIONS, data=st.data())
def test_divide_finds_what_brute_force_finds(sets, data):
    measure = data.draw(st.sampled_from(sorted(MEASURES)))
    threshold = data.draw(st.sampled_from(THRESHOLDS.get(measure, (0.25, 0.5, 2 / 3, 1.0))))
    boundary = data.draw(st.none() | st.integers(0, len(sets)))
    items = roads.items_of(sets, boundary=boundary, cut=data.draw(st.sampled_from([1, 3, 100])))
    batch_rows = data.draw(st.sampled_from([1, 2, 7, 1 << 16]))
    found = roads.walked(
        divide, items, measure=overlap_measure(measure), threshold=threshold, batch_rows=batch_rows
    )
    assert found == true_pairs(sets, measure, threshold, boundary)


@given(sets=COLLECTIONS, data=st.data())
def test_signature_roads_find_what_brute_force_over_signatures_finds(sets, data):
    family = MinHash(slots=data.draw(st.integers(1, 40)), seed=data.draw(st.integers(0, 3)))
    threshold = data.draw(st.floats(0.01, 1.0))
    boundary = data.draw(st.none() | st.integers(0, len(sets)))
    items = roads.items_of(sets, boundary=boundary, cut=data.draw(st.sampled_from([1, 3, 100])))
    options = {
        "family": family,
        "threshold": threshold,
        "batch_rows": data.draw(st.sampled_from([1, 2, 7, 1 << 16])),
    }
    truth = agreeing_pairs(sets, family, threshold, boundary)
    assert roads.walked(external, items, **options) == truth
    for way in (None, "pieces", "blocks"):
        assert roads.walked(agree, items, way=way, **options) == truth


@pytest.mark.parametrize("batch_rows", [1, 50, 1000, 1 << 16])
@pytest.mark.parametrize("long", [1, 8, 1000])
def test_no_pair_of_a_long_run_is_lost_however_it_is_cut(monkeypatch, long, batch_rows):
    """One element in all, others in many: runs longer than a batch, gone through in many steps."""
    monkeypatch.setattr(meetings, "LONG", long)
    monkeypatch.setattr(meetings, "PAIRS_AT_ONCE", 400)
    monkeypatch.setattr(meetings, "LEAST_STEP", 3)
    sets = [{0, row % 2 + 1, row % 3 + 10, row % 40 + 20} for row in range(90)]
    for boundary in (None, 30):
        items = roads.items_of(sets, boundary=boundary, cut=33, shuffle=1)
        jaccard = roads.walked(
            divide, items, measure=overlap_measure("jaccard"), threshold=0.1, batch_rows=batch_rows
        )
        assert jaccard == true_pairs(sets, "jaccard", 0.1, boundary)
        family = MinHash(slots=12)
        found = roads.walked(external, items, family=family, threshold=0.3, batch_rows=batch_rows)
        assert found == agreeing_pairs(sets, family, 0.3, boundary)
        pieces = roads.walked(agree, items, family=family, threshold=0.3, batch_rows=batch_rows, way="pieces")
        assert pieces == found


@pytest.mark.parametrize("road", ["divide", "agree", "external", "pyramid"])
def test_answers_depend_neither_on_threads_nor_on_batches_nor_on_order(road):
    sets = roads.edited(300, 9)
    options = {
        "divide": {"measure": overlap_measure("jaccard"), "threshold": 0.4},
        "agree": {"family": MinHash(slots=64), "threshold": 0.4},
        "external": {"family": MinHash(slots=64), "threshold": 0.4},
        "pyramid": {"threshold": 0.6, "seed": 4},
    }[road]
    walk = {"divide": divide, "agree": agree, "external": external, "pyramid": pyramid}[road]
    plain = roads.walked(walk, roads.items_of(sets, cut=1000), threads=1, **options)
    assert len(plain) > 100
    for threads, batch_rows, cut, shuffle in [(2, 1 << 16, 11, 5), (1, 3, 300, 6), (3, 64, 1, None)]:
        items = roads.items_of(sets, cut=cut, shuffle=shuffle)
        assert roads.walked(walk, items, threads=threads, batch_rows=batch_rows, **options) == plain
