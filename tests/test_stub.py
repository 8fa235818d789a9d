"""`_core.pyi` says exactly what the built module offers.

A stub is valid Python, so it is loaded beside the module and the two are compared name by name, parameter by
parameter, and return type by what a small call returns.
"""

import inspect
import types
import typing
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from lookalike import _core

STUB = Path(_core.__file__).with_name("_core.pyi")


def load_stub():
    spec = spec_from_file_location("_core_stub", loader=SourceFileLoader("_core_stub", str(STUB)))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stub = load_stub()

CONSTANTS = {name for name, value in vars(_core).items() if isinstance(value, int)}
FUNCTIONS = {name for name, value in vars(_core).items() if isinstance(value, types.BuiltinFunctionType)}
CLASSES = {name for name, value in vars(_core).items() if isinstance(value, type)}
METHODS = {
    f"{owner}.{name}"
    for owner in CLASSES
    for name, value in vars(getattr(_core, owner)).items()
    if isinstance(value, types.MethodDescriptorType) and not name.startswith("_")
}


def found(module, dotted):
    """`Shingler.sets` of either module."""
    owner, _, name = dotted.rpartition(".")
    return getattr(getattr(module, owner) if owner else module, name)


def parameters(function):
    """Name, kind and default of each parameter; `self` is of another kind in native code and says nothing."""
    taken = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in taken if p.name != "self"]


def public(namespace):
    return {name for name in vars(namespace) if not name.startswith("_")}


def test_the_stub_names_what_the_module_exports():
    written = {
        name for name, value in vars(stub).items() if getattr(value, "__module__", "") == stub.__name__
    }
    written |= set(stub.__annotations__)
    assert {name for name in written if not name.startswith("_")} == set(_core.__all__)
    assert set(_core.__all__) == CONSTANTS | FUNCTIONS | CLASSES


@pytest.mark.parametrize("name", sorted(CONSTANTS))
def test_constants_are_integers(name):
    assert stub.__annotations__[name] == typing.Final[int]


@pytest.mark.parametrize("name", sorted(FUNCTIONS | METHODS))
def test_functions_take_the_parameters_the_stub_says(name):
    assert parameters(found(stub, name)) == parameters(found(_core, name))


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes_offer_what_the_stub_says(name):
    written, built = getattr(stub, name), getattr(_core, name)
    assert public(written) == public(built)
    for member in public(written):
        is_property = isinstance(vars(written)[member], property)
        assert is_property == isinstance(vars(built)[member], types.GetSetDescriptorType), member


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes_are_made_with_the_parameters_the_stub_says(name):
    of_class, *rest = parameters(getattr(stub, name).__new__)
    assert of_class[0] == "cls"
    assert rest == parameters(getattr(_core, name))


ROWS = np.array([0, 1], np.uint32)
OFFSETS = np.array([0, 5, 11], np.int64)
TEXTS = (np.frombuffer(b"a b cd e f ", np.uint8), OFFSETS)
SETS = (np.arange(11, dtype=np.uint64), OFFSETS)
MATRIX = np.zeros((2, 4), np.uint32)
LEVELS = np.array([1, 2], np.uint8)
WEIGHTED = (*SETS, np.ones(11))
SHINGLER = _core.Shingler(
    "words", 1, casefold=True, nfkc=False, whitespace=False, punctuation=False, bag=False, stops=[], seed=0
)
FREQUENCIES = _core.DocumentFrequencies(TEXTS, SHINGLER, most=9)
ORDERS = _core.Orders("universal", slots=4, seed=0)
FOREST = _core.Forest(2)
LED = _core.Led(
    np.arange(2, dtype=np.uint32), np.array([0]), np.array([2]), leaders=8, tried=1024, one_in=128
)
COUNTS = np.arange(16, dtype=np.uint32)
ENTRIES = _core.prefix_entries(SETS, ROWS, ROWS, COUNTS, block=9)
LEAST = _core.LeastShared("jaccard", 0.5)
HELD = _core.HeldSets(SETS, ROWS)
BITS = np.arange(2, dtype=np.uint64).reshape(2, 1)
PIECES = (np.arange(64, dtype=np.uint32), np.array([0, 32, 64]))
MASKS = _core.BitMasks(PIECES, words=1)
TABLE = _core.BitTable(BITS, PIECES, radius=1, threads=1)
RUN = np.array([0, 2])
VECTORS = np.ones((2, 3))
PLANES = _core.Projections("hyperplanes", dimensions=3, slots=4, seed=0)
LINES = _core.Projections("cauchy", dimensions=3, slots=4, seed=0, width=2.0)

CALLS = {
    "paths": _core.paths,
    "Shingler.shingles": lambda: SHINGLER.shingles(b"a b"),
    "Shingler.sets": lambda: SHINGLER.sets(TEXTS, threads=1),
    "Shingler.document_frequencies": lambda: SHINGLER.document_frequencies(TEXTS),
    "Shingler.rarest": lambda: SHINGLER.rarest(
        TEXTS, SHINGLER.document_frequencies(TEXTS), most=1, threads=1
    ),
    "Sieve.texts_that_pass": lambda: _core.Sieve(SETS[0], least=1).texts_that_pass(TEXTS, SHINGLER),
    "Sieve.sets_that_pass": lambda: _core.Sieve(SETS[0], least=1).sets_that_pass(SETS),
    "Shingler.flagged_sets": lambda: SHINGLER.flagged_sets(TEXTS, threads=1),
    "mix_integers": lambda: _core.mix_integers(SETS[0], seed=0, threads=1),
    "hash_strings": lambda: _core.hash_strings(TEXTS, seed=0, threads=1),
    "canonical_sets": lambda: _core.canonical_sets(SETS, bag=False, threads=1),
    "Orders.seed": lambda: ORDERS.seed,
    "Orders.slots": lambda: ORDERS.slots,
    "Orders.coefficients": lambda: ORDERS.coefficients,
    "sign_texts": lambda: _core.sign_texts(TEXTS, SHINGLER, ORDERS, threads=1),
    "sign_sets": lambda: _core.sign_sets(SETS, ORDERS, threads=1),
    "universal_minima": lambda: _core.universal_minima(SETS, ORDERS),
    "key_texts": lambda: _core.key_texts(TEXTS, SHINGLER, ORDERS, bands=2, rows=2),
    "key_sets": lambda: _core.key_sets(SETS, ORDERS, bands=2, rows=2),
    "glances": lambda: _core.glances(TEXTS, seed=0),
    "checksum": lambda: _core.checksum(TEXTS[0]),
    "band_keys": lambda: _core.band_keys(MATRIX, bands=2, rows=2),
    "agreements": lambda: _core.agreements(MATRIX, ROWS, ROWS, threads=1),
    "agreement_histogram": lambda: _core.agreement_histogram(MATRIX, threads=1),
    "Forest.join": lambda: FOREST.join(ROWS, ROWS),
    "Forest.labels": lambda: FOREST.labels(),
    "Led.candidates": lambda: LED.candidates(FOREST, np.arange(2, dtype=np.uint64), 1),
    "Led.settle": lambda: LED.settle(FOREST),
    "Led.rows": lambda: LED.rows(),
    "Led.given_up": lambda: LED.given_up(),
    "same_texts": lambda: _core.same_texts([TEXTS], ROWS, ROWS),
    "sorted_runs": lambda: _core.sorted_runs([SETS[0]], threads=1),
    "standing_runs": lambda: _core.standing_runs([np.arange(3, dtype=np.uint64)]),
    "stars": lambda: _core.stars(ROWS, (ROWS, np.array([0, 1, 2]))),
    "pair_up": lambda: _core.pair_up(ROWS, np.array([0, 2]), threads=1),
    "shared_bands": lambda: _core.shared_bands([[SETS[0], SETS[0]]], ROWS, ROWS),
    "distinct_pairs": lambda: _core.distinct_pairs(ROWS, ROWS, threads=1),
    "compare_texts": lambda: _core.compare_texts([TEXTS], ROWS, ROWS, SHINGLER, at_least=0.5, threads=1),
    "compare_sets": lambda: _core.compare_sets([SETS], ROWS, ROWS, at_least=0.5, threads=1),
    "bucket_counts": lambda: _core.bucket_counts(SETS, bits=4),
    "bucket_ranks": lambda: _core.bucket_ranks(COUNTS),
    "order_sets": lambda: _core.order_sets(SETS, COUNTS),
    "prefix_counts": lambda: _core.prefix_counts(SETS, ROWS, bits=4),
    "prefix_entries": lambda: _core.prefix_entries(SETS, ROWS, ROWS, COUNTS, block=9, asking=(ROWS, COUNTS)),
    "prefix_candidates": lambda: _core.prefix_candidates(ENTRIES, LEAST, across=False),
    "prefix_shared": lambda: _core.prefix_shared([SETS], (ROWS,) * 4, LEAST, across=False, suffix=True),
    "grams": lambda: _core.grams(TEXTS, q=2),
    "edit_distances": lambda: _core.edit_distances([TEXTS], ROWS, ROWS, kind="indel", most=3),
    "meetings": lambda: _core.meetings(ROWS, np.array([0, 2]), nearest=1, farthest=1),
    "agreeing_pairs": lambda: _core.agreeing_pairs(MATRIX, least=1),
    "pyramid_keys": lambda: _core.pyramid_keys(SETS, LEVELS, LEVELS, bands=1, rows=1, seed=0),
    "pair_buckets": lambda: _core.pair_buckets(SETS, bits=2),
    "basket_pairs": lambda: _core.basket_pairs((ROWS, np.array([0, 2])), SETS[0]),
    "HeldSets.best_for_passing": lambda: HELD.best_for_passing(SETS, ROWS, k=2),
    "HeldSets.best_for_held": lambda: HELD.best_for_held(SETS, ROWS, k=2),
    "shared_passages": lambda: _core.shared_passages(b"a b c", b"b c d", SHINGLER, least=1, gap=0),
    "count_tokens": lambda: _core.count_tokens(b"a b c", SHINGLER),
    "sign_weighted": lambda: _core.sign_weighted(WEIGHTED, slots=3, seed=0, threads=1),
    "sparse_sides": lambda: _core.sparse_sides(WEIGHTED, slots=3, seed=0, threads=1),
    "key_sparse": lambda: _core.key_sparse(WEIGHTED, slots=6, seed=0, bands=2, rows=3),
    "DocumentFrequencies.add": lambda: FREQUENCIES.add(FREQUENCIES),
    "DocumentFrequencies.of": lambda: FREQUENCIES.of(SETS[0]),
    "DocumentFrequencies.exact": lambda: FREQUENCIES.exact,
    "DocumentFrequencies.nbytes": lambda: FREQUENCIES.nbytes,
    "term_weights": lambda: _core.term_weights(TEXTS, SHINGLER, FREQUENCIES, documents=2, threads=1),
    "compare_weighted": lambda: _core.compare_weighted([WEIGHTED], ROWS, ROWS, measure="cosine", threads=1),
    "BitMasks.keys": lambda: MASKS.keys(BITS, 0, 2),
    "BitMasks.sign": lambda: MASKS.sign(BITS, threads=1),
    "BitMasks.covered_pairs": lambda: MASKS.covered_pairs(BITS, ROWS, RUN, np.zeros(1, np.uint16), radius=1),
    "BitTable.query": lambda: TABLE.query(BITS[0], most=1),
    "bit_sizes": lambda: _core.bit_sizes(BITS),
    "compare_bits": lambda: _core.compare_bits(BITS, ROWS, ROWS),
    "scan_bits": lambda: _core.scan_bits(BITS, BITS[0], most=1),
    "bit_pairs": lambda: _core.bit_pairs(BITS, measure="hamming", threshold=1),
    "drawn_positions": lambda: _core.drawn_positions(64, 3, seed=0),
    "dealt_positions": lambda: _core.dealt_positions(64, rows=5, bands=3, seed=0),
    "covering_positions": lambda: _core.covering_positions(64, 3, parts=2, seed=0),
    "sample_bits": lambda: _core.sample_bits(BITS, ROWS),
    "bucket_pairs": lambda: _core.bucket_pairs(BITS, ROWS, RUN, radius=1),
    "Projections.sides": lambda: PLANES.sides(VECTORS, threads=1),
    "Projections.buckets": lambda: LINES.buckets(VECTORS, threads=1),
    "Projections.keys": lambda: PLANES.keys(VECTORS, bands=2, rows=2),
    "Projections.probe_keys": lambda: LINES.probe_keys(
        VECTORS, bands=2, rows=2, sets=np.array([[0, 1], [1, ~0]], np.int16)
    ),
    "compare_vectors": lambda: _core.compare_vectors([VECTORS], ROWS, ROWS, "l2", threads=1),
    "vector_contents": lambda: _core.vector_contents(VECTORS, seed=0),
    "crowd_pairs": lambda: _core.crowd_pairs(ROWS, np.array([0, 2]), most=2),
}


def matches(value, annotation):
    """Whether a value is what its annotation says, element types of arrays and tuples included."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is np.ndarray:
        (element,) = typing.get_args(arguments[1])
        return isinstance(value, np.ndarray) and value.dtype == np.dtype(element)
    if origin is tuple:
        return len(value) == len(arguments) and all(map(matches, value, arguments))
    if origin is list:
        return isinstance(value, list) and all(matches(one, arguments[0]) for one in value)
    if origin in (types.UnionType, typing.Union):
        return any(matches(value, one) for one in arguments)
    return isinstance(value, annotation)


@pytest.mark.parametrize("name", CALLS)
def test_calls_return_what_the_stub_says(name):
    written = found(stub, name)
    hints = typing.get_type_hints(written.fget if isinstance(written, property) else written)
    assert matches(CALLS[name](), hints["return"])


def test_every_function_that_returns_has_its_call_above():
    getters = {
        f"{owner}.{name}"
        for owner in CLASSES
        for name, value in vars(getattr(_core, owner)).items()
        if isinstance(value, types.GetSetDescriptorType)
    }
    assert set(CALLS) == (FUNCTIONS | METHODS | getters) - {"panic_on_purpose"}
