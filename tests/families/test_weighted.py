"""Consistent weighted samples: by their definition, by their law, and by what they obey."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.families.arithmetic import GOLDEN, M64, mix, spread_seed

from lookalike import _core
from lookalike.errors import OptionError, SourceError
from lookalike.families import WeightedMinHash
from lookalike.measures.exact import bag_jaccard
from lookalike.measures.weights import as_weighted_sets

EMPTY = 2**32 - 1

weights = st.floats(1e-320, 1e300) | st.integers(1, 9).map(float)
bags = st.dictionaries(st.integers(0, 30), weights, max_size=12)


def logarithm(x):
    """The kernel's own, which is made of sums, products and quotients."""
    mantissa, exponent = math.frexp(x)
    mantissa, exponent = 2 * mantissa, exponent - 1
    if mantissa > math.sqrt(2):
        mantissa, exponent = mantissa / 2, exponent + 1
    s = (mantissa - 1) / (mantissa + 1)
    series = 0.0
    for odd in range(21, 0, -2):
        series = series * (s * s) + 1 / odd
    return exponent * math.log(2) + 2 * s * series


def gamma(drawn):
    halves = ((drawn >> 32) + 0.5) / 2**32, ((drawn & EMPTY) + 0.5) / 2**32
    return -logarithm(halves[0] * halves[1])


def by_definition(row, slots, seed):
    """A slot at a time, in Python's integers and floats."""
    start = spread_seed(seed ^ 0x6772696473000000)
    signature = []
    for slot in range(slots):
        key = mix(start + (slot + 1) * GOLDEN & M64)
        ranked = []
        for element, weight in row:
            if weight < 2.0**-1022:
                weight = logarithm(weight * 2**54) - 54.0 * math.log(2)
            else:
                weight = logarithm(weight)
            drawn = mix(element ^ key)
            step = gamma(drawn)
            height = logarithm(gamma(mix(drawn ^ 0xD1B54A32D192ED03)))
            offset = ((mix(drawn ^ 0x8CB92BA72F3D8DD7) >> 12) + 0.5) / 2**52
            point = math.floor(weight / step + offset)
            ranked.append((height - step * (point - offset + 1), element, point))
        if not ranked:
            signature.append(EMPTY)
            continue
        _, element, point = min(ranked)
        signature.append(min(mix(element ^ mix((point & M64) + GOLDEN & M64)) >> 32, EMPTY - 1))
    return signature


@settings(max_examples=40)
@given(bags, st.sampled_from([1, 2, 7, 16]), st.sampled_from([0, 1, M64]))
def test_slots_are_least_ranks(bag, slots, seed):
    sets = as_weighted_sets([bag], seed=seed)
    row = list(zip(*(column.tolist() for column in sets[0]), strict=True))
    signed = WeightedMinHash(slots=slots, seed=seed).signatures(sets)
    assert signed.slots[0].tolist() == by_definition(row, slots, seed)


# The law: agreement is Σmin/Σmax. 64 pairs of sets a cell, 512 slots, over seeds; draws are fixed.

KINDS = {
    "alike": lambda draw, n: draw.uniform(0.5, 2, (2, n)),
    "bags": lambda draw, n: draw.integers(0, 4, (2, n)).astype(float),
    "power-law": lambda draw, n: draw.pareto(1.2, (2, n)) + 1e-3,
    "nested": lambda draw, n: (lambda w: np.stack([w, w / 3]))(draw.uniform(0, 1, n)),
    "tiny and huge": lambda draw, n: 10.0 ** draw.uniform(-200, 200, (1, n)) * draw.uniform(0.3, 1, (2, n)),
}


@pytest.mark.parametrize("size", [1, 3, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_slots_agree_with_probability_weighted_jaccard(kind, size):
    draw, slots, pairs = np.random.default_rng([size, len(kind)]), 512, 64
    surplus, variance = 0.0, 0.0
    for pair in range(pairs):
        rows = [
            {(pair, i): weight for i, weight in enumerate(row.tolist()) if weight}
            for row in KINDS[kind](draw, size)
        ]
        true = bag_jaccard(*rows)
        named = [{hash(key): weight for key, weight in row.items()} for row in rows]
        signed = WeightedMinHash(slots=slots, seed=pair).signatures(named)
        if not all(rows):
            continue
        surplus += slots * (signed.similarity(0, 1) - true)
        variance += slots * true * (1 - true)
    assert variance > 0
    z = surplus / variance**0.5
    assert abs(z) < 4, f"bias: z={z:.1f}"


def test_slots_are_independent_enough_to_be_as_sharp_as_promised():
    slots, pairs = 128, 600
    estimates = [
        WeightedMinHash(slots=slots, seed=seed)
        .signatures([{1: 1.0, 2: 2.0}, {1: 2.5, 3: 0.5}])
        .similarity(0, 1)
        for seed in range(pairs)
    ]
    true = 1 / 5
    quotient = np.var(estimates, ddof=1) / (true * (1 - true) / slots)
    # Four standard errors of a variance seen 600 times.
    assert abs(quotient - 1) < 4 * (2 / pairs) ** 0.5


# What signatures obey.


@given(bags, st.data())
def test_order_and_how_weights_are_split_do_not_matter(bag, data):
    names = data.draw(st.permutations(list(bag)))
    one, other = WeightedMinHash(slots=32).signatures([bag, {name: bag[name] for name in names}]).slots
    assert one.tolist() == other.tolist()


@given(st.lists(st.integers(0, 9), max_size=30))
def test_a_bag_is_its_counts(tokens):
    counts = {token: tokens.count(token) for token in tokens}
    bag, weighted = WeightedMinHash(slots=32).signatures([tokens, counts]).slots
    assert bag.tolist() == weighted.tolist()


@given(st.dictionaries(st.integers(0, 9), st.floats(0.01, 100), min_size=1, max_size=8), st.integers(0, 9))
def test_a_heavier_element_takes_slots_over_and_gives_none_away(bag, element):
    heavier = {**bag, element: bag.get(element, 0) + 1.5}
    family = WeightedMinHash(slots=64)
    before, after, alone = family.signatures([bag, heavier, {element: heavier[element]}]).slots
    changed = before != after
    assert np.array_equal(after[changed], alone[changed])


def test_signatures_are_the_same_for_any_number_of_threads_and_beside_any_others():
    draw = np.random.default_rng(3)
    matrix = draw.random((50, 20)) * (draw.random((50, 20)) < 0.3)
    family = WeightedMinHash(slots=40)
    whole = family.signatures(matrix, threads=1)
    assert whole.slots.tobytes() == family.signatures(matrix, threads=2).slots.tobytes()
    for row in (0, 17, 49):
        assert np.array_equal(family.signatures(matrix[row : row + 1]).slots[0], whole.slots[row])


def test_empty_sets_are_flagged_and_agree_with_no_others():
    signed = WeightedMinHash(slots=16).signatures([{}, {1: 1.0}, {2: 0.0}])
    assert signed.flags.tolist() == [_core.FLAG_EMPTY, 0, _core.FLAG_EMPTY]
    assert signed.similarity(0, 2) == 1
    assert signed.similarity(0, 1) == 0


def test_one_set_a_matrix_and_scipy_hold_the_same_weights():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = np.array([[0.5, 0, 2], [0, 0, 0], [1, 1, 1]])
    rows = [{j: w for j, w in enumerate(row) if w} for row in matrix.tolist()]
    expected = as_weighted_sets(rows)
    twice = sparse.coo_matrix(([0.25, 0.25, 2, 1, 1, 1], ([0, 0, 0, 2, 2, 2], [0, 0, 2, 0, 1, 2])), (3, 3))
    for other in (matrix, sparse.csr_matrix(matrix), twice):
        held = as_weighted_sets(other)
        for one, two in zip(expected.buffers, held.buffers, strict=True):
            assert one.tolist() == two.tolist()


@given(st.lists(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5)), max_size=6), max_size=6))
def test_an_arrow_column_of_maps_is_a_list_of_mappings_whose_weights_add_up(rows):
    expected = as_weighted_sets([{x: sum(w for y, w in row if y == x) for x, _ in row} for row in rows])
    for kind in (pa.int32(), pa.float64()):
        maps = pa.array([[("z", 9)], *rows], pa.map_(pa.string(), kind))[1:]
        for form in (maps, pa.chunked_array([maps[:2], maps[2:]])):
            for one, two in zip(expected.buffers, as_weighted_sets(form).buffers, strict=True):
                assert one.tolist() == two.tolist()


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([{"a": -1}], "a weight is -1"),
        (np.ma.masked_array([[1.0, 2.0]], [[0, 1]]), "row 0 holds a masked value"),
        (pa.array([[("a", -1)]], pa.map_(pa.string(), pa.int64())), "a weight is -1"),
        (pa.array([None], pa.map_(pa.string(), pa.int64())), "is null"),
        (pa.array([[("a", None)]], pa.map_(pa.string(), pa.int64())), "is null"),
        (pa.array([[("a", "x")]], pa.map_(pa.string(), pa.string())), "must be numbers, not string"),
        (pa.array([[(0.5, 1)]], pa.map_(pa.float64(), pa.int64())), "integers or strings, not double"),
        ([{"a": math.nan}], "no finite number"),
        ([{"a": math.inf}], "no finite number"),
        ([{"a": "x"}], "item 0 has a weight that is no number"),
        ([{"a": None}], "item 0 has a weight that is no number"),
        ([{"a": 10**400}], "item 0 has a weight that is no number"),
        ({"a": 1}, "holds no weighted sets"),
        (["abc"], "item 0 is 'abc'"),
        (7, "holds no weighted sets"),
        ([{"a": 1, 2: 1}], "integers or strings, not both"),
    ],
)
def test_what_is_no_weighted_set_is_refused(items, said):
    with pytest.raises(SourceError, match=said):
        WeightedMinHash().signatures(items)


def test_options_are_checked_and_survive_json():
    family = WeightedMinHash(slots=9, seed=4)
    assert WeightedMinHash(**json.loads(json.dumps(family.to_dict()))) == family
    for wrong in ({"slots": 0}, {"slots": True}, {"seed": -1}, {"seed": 2**64}):
        with pytest.raises(OptionError, match="out of range"):
            WeightedMinHash(**wrong)


def test_the_family_knows_its_law():
    family = WeightedMinHash()
    assert family.collision(0.25) == 0.75
    assert family.and_(4).or_(4).sensitivity(0.2, 0.8).p1 == pytest.approx(0.8785, abs=1e-4)


@given(bags, bags)
def test_the_kernels_measures_are_those_of_exact_sums(one, other):
    sets = as_weighted_sets([one, other])
    rows = np.array([0], np.uint32), np.array([1], np.uint32)
    seen = _core.compare_weighted([sets.buffers], *rows, measure="jaccard", threads=1)[0]
    assert seen == pytest.approx(bag_jaccard(one, other), rel=1e-12, abs=0)


# The doorway.

SETS = (np.arange(5, dtype=np.uint64), np.array([0, 2, 5], np.int64), np.ones(5))
ROWS = np.array([0, 1], np.uint32)
CALLS = {
    "sign_weighted": lambda sets: _core.sign_weighted(sets, slots=4, seed=0, threads=1),
    "sparse_sides": lambda sets: _core.sparse_sides(sets, slots=4, seed=0, threads=1),
    "key_sparse": lambda sets: _core.key_sparse(sets, slots=4, seed=0, bands=2, rows=2),
    "compare_weighted": lambda sets: _core.compare_weighted([sets], ROWS, ROWS, measure="cosine", threads=1),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_arrays_that_do_not_belong_together_are_refused(call):
    call(SETS)
    elements, offsets, of = SETS
    for wrong in [
        (elements, offsets, of[:4]),
        (elements, np.array([0, 9]), of),
        (elements[::2], offsets, of),
    ]:
        with pytest.raises(OptionError):
            call(wrong)
    for wrong in [(elements, offsets, of.astype(np.float32)), (elements.astype(np.int64), offsets, of)]:
        with pytest.raises(TypeError):
            call(wrong)


def test_numbers_and_names_out_of_range_are_refused():
    with pytest.raises(OptionError, match="slots=0"):
        _core.sign_weighted(SETS, slots=0, seed=0, threads=1)
    with pytest.raises(OptionError, match="do not fit 4 slots"):
        _core.key_sparse(SETS, slots=4, seed=0, bands=3, rows=2)
    with pytest.raises(OptionError, match="neither jaccard nor cosine"):
        _core.compare_weighted([SETS], ROWS, ROWS, measure="dice", threads=1)
    with pytest.raises(OptionError, match="but there are 2"):
        _core.compare_weighted([SETS], ROWS, ROWS + np.uint32(1), measure="cosine", threads=1)


def test_keys_are_those_of_the_sides():
    keys = _core.key_sparse(SETS, slots=12, seed=5, bands=4, rows=3)[0]
    sides = _core.sparse_sides(SETS, slots=12, seed=5, threads=1).astype(np.uint32)
    assert np.array_equal(keys, _core.band_keys(sides, bands=4, rows=3))
