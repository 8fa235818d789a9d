"""The doorway into native code.

Wrong arguments are refused before a kernel sees them, a panic is an exception, the interpreter lock is
released, and processes may fork.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core
from lookalike.errors import InternalError, OptionError


def shingler(unit="words", k=2):
    folding = {"casefold": True, "nfkc": False, "whitespace": False, "punctuation": False}
    return _core.Shingler(unit, k, **folding, bag=False, stops=["the"], seed=0)


def rows(*numbers):
    return np.array(numbers, np.uint32)


def picked(ragged):
    """Every row, since the offsets of others are not looked at."""
    every = np.arange(max(0, np.size(ragged[1]) - 1), dtype=np.uint32)
    return every, every[::-1].copy()


WORDS, CHARS = shingler("words"), shingler("chars", 5)
ORDERS = _core.Orders("bucketed", slots=8, seed=0)
UNIVERSAL = _core.Orders("universal", slots=8, seed=0)
NONE = rows()
COUNTS = np.zeros(_core.FREQUENCY_COUNTERS, np.uint32)

# Every call that takes values and offsets, and the type of its values.
RAGGED = {
    "Shingler.sets": (np.uint8, lambda ragged: WORDS.sets(ragged, threads=2)),
    "Shingler.document_frequencies": (np.uint8, lambda ragged: WORDS.document_frequencies(ragged)),
    "DocumentFrequencies": (np.uint8, lambda ragged: _core.DocumentFrequencies(ragged, WORDS, most=2)),
    "Shingler.rarest": (np.uint8, lambda ragged: WORDS.rarest(ragged, COUNTS, most=2, threads=2)),
    "hash_strings": (np.uint8, lambda ragged: _core.hash_strings(ragged, seed=0, threads=2)),
    "sign_texts": (np.uint8, lambda ragged: _core.sign_texts(ragged, WORDS, ORDERS, threads=2)),
    "compare_texts": (
        np.uint8,
        lambda ragged: _core.compare_texts([ragged], *picked(ragged), WORDS, at_least=0.5, threads=2),
    ),
    "canonical_sets": (np.uint64, lambda ragged: _core.canonical_sets(ragged, bag=False, threads=2)),
    "sign_sets": (np.uint64, lambda ragged: _core.sign_sets(ragged, ORDERS, threads=2)),
    "universal_minima": (np.uint64, lambda ragged: _core.universal_minima(ragged, UNIVERSAL)),
    "compare_sets": (
        np.uint64,
        lambda ragged: _core.compare_sets([ragged], *picked(ragged), at_least=0.5, threads=2),
    ),
    "pair_up": (np.uint32, lambda ragged: _core.pair_up(*ragged, threads=2)),
}
VALUES = 12
over_every_ragged_call = pytest.mark.parametrize(("dtype", "call"), RAGGED.values(), ids=RAGGED)


@over_every_ragged_call
@given(offsets=st.lists(st.integers(-2, VALUES + 2) | st.integers(-(2**63), 2**63 - 1), max_size=6))
def test_offsets_are_taken_only_if_they_rise_within_the_values(dtype, call, offsets):
    values = np.arange(VALUES, dtype=dtype)
    if offsets and sorted(offsets) == offsets and offsets[0] >= 0 and offsets[-1] <= VALUES:
        call((values, np.array(offsets, np.int64)))
    else:
        with pytest.raises(OptionError, match="offsets"):
            call((values, np.array(offsets, np.int64)))


@over_every_ragged_call
@given(offsets=st.lists(st.integers(0, VALUES), min_size=1, max_size=6).map(sorted))
def test_rising_offsets_are_always_taken(dtype, call, offsets):
    call((np.arange(VALUES, dtype=dtype), np.array(offsets, np.int64)))


@over_every_ragged_call
def test_arrays_of_another_type_or_shape_are_refused(dtype, call):
    values, offsets = np.arange(VALUES, dtype=dtype), np.array([0, VALUES], np.int64)
    wrong_values = [
        values.astype(np.float64),
        values.astype(np.int16),
        values.reshape(3, 4),
        values.tolist(),
        None,
    ]
    wrong_offsets = [
        offsets.astype(np.int32),
        offsets.astype(np.uint64),
        offsets.reshape(1, 2),
        offsets.tolist(),
    ]
    if dtype != np.uint8:
        wrong_values.append(values.astype(np.dtype(dtype).newbyteorder()))
    for wrong in [(v, offsets) for v in wrong_values] + [(values, o) for o in wrong_offsets]:
        with pytest.raises(TypeError):
            call(wrong)


@over_every_ragged_call
def test_arrays_with_gaps_are_refused(dtype, call):
    values, offsets = np.arange(VALUES, dtype=dtype), np.array([0, 9, 3, 9], np.int64)
    for gappy in [(values[::2], offsets[::2]), (values[::-1], offsets[:2]), (values, offsets[::2])]:
        with pytest.raises(OptionError, match="contiguous"):
            call(gappy)


def test_arrays_between_machine_words_are_refused():
    askew = np.zeros(8 * VALUES + 1, np.uint8)[1:].view(np.uint64)
    assert not askew.flags.aligned
    with pytest.raises(OptionError):
        _core.mix_integers(askew, seed=0, threads=1)


def test_text_that_is_not_utf8_is_no_danger():
    broken = np.frombuffer(b"\xff\xfe caf\xc3 \xed\xa0\x80 x\xf0\x9f\x98", np.uint8)
    for unit in (WORDS, CHARS):
        for path in _core.paths():
            for end in range(len(broken) + 1):
                unit.sets((broken, np.array([0, end])), threads=1, path=path)


# Matrices.

SIGNATURES = np.arange(24, dtype=np.uint32).reshape(3, 8)
MATRIX = {
    "band_keys": lambda matrix: _core.band_keys(matrix, bands=2, rows=4),
    "agreements": lambda matrix: _core.agreements(matrix, rows(0), rows(1), threads=1),
    "agreement_histogram": lambda matrix: _core.agreement_histogram(matrix, threads=1),
}


@pytest.mark.parametrize("call", MATRIX.values(), ids=MATRIX)
def test_matrices_must_lie_row_by_row(call):
    call(SIGNATURES)
    for other in [np.asfortranarray(SIGNATURES), SIGNATURES[:, ::2], SIGNATURES[::-1]]:
        with pytest.raises(OptionError, match="contiguous, row by row"):
            call(other)
    for other in [SIGNATURES.astype(np.int64), SIGNATURES[0], SIGNATURES.tolist()]:
        with pytest.raises(TypeError):
            call(other)


@pytest.mark.parametrize(("bands", "height"), [(0, 4), (2, 0), (3, 3), (1, 9), (2**63, 2), (2**32, 2**32)])
def test_bandings_that_do_not_fit_the_slots_are_refused(bands, height):
    with pytest.raises(OptionError, match=f"{bands} bands of {height} rows do not fit 8 slots"):
        _core.band_keys(SIGNATURES, bands=bands, rows=height)


# Row numbers, and arrays that belong together.

ITEMS = (np.arange(VALUES, dtype=np.uint64), np.array([0, 4, 8, VALUES], np.int64))
TEXTS = (np.frombuffer(b"to be or not", np.uint8), ITEMS[1])
ROW_PAIRS = {
    "agreements": lambda a, b: _core.agreements(SIGNATURES, a, b, threads=1),
    "compare_sets": lambda a, b: _core.compare_sets([ITEMS], a, b, at_least=0.5, threads=1),
    "compare_texts": lambda a, b: _core.compare_texts([TEXTS], a, b, WORDS, at_least=0.5, threads=1),
    "Forest.join": lambda a, b: _core.Forest(3).join(a, b),
    "shared_bands": lambda a, b: _core.shared_bands([[ITEMS[0][:1]] * 2, [ITEMS[0][:2]] * 2], a, b),
}


@pytest.mark.parametrize("call", ROW_PAIRS.values(), ids=ROW_PAIRS)
def test_rows_that_do_not_exist_are_refused(call):
    call(rows(0, 2), rows(1, 2))
    for a, b in [((0,), (3,)), ((3,), (0,)), ((0, 1, 2**32 - 1), (0, 0, 0))]:
        with pytest.raises(OptionError, match="but there are 3"):
            call(rows(*a), rows(*b))


@pytest.mark.parametrize(
    "call",
    [*ROW_PAIRS.values(), lambda a, b: _core.distinct_pairs(a, b, threads=1)],
    ids=[*ROW_PAIRS, "distinct_pairs"],
)
def test_columns_of_different_length_are_refused(call):
    with pytest.raises(OptionError, match="have 1 and 2 entries"):
        call(rows(0), rows(1, 2))
    with pytest.raises(TypeError):
        call(np.array([0]), np.array([1]))


# Calls that look at the offsets of some rows only, and the type of their values.
PICKING = {
    "same_texts": (np.uint8, lambda texts, a: _core.same_texts([texts], a, a)),
    "compare_texts": (
        np.uint8,
        lambda texts, a: _core.compare_texts([texts], a, a, WORDS, at_least=0.5, threads=1),
    ),
    "compare_sets": (np.uint64, lambda sets, a: _core.compare_sets([sets], a, a, at_least=0.5, threads=1)),
    "edit_distances": (np.uint8, lambda texts, a: _core.edit_distances([texts], a, a, kind="indel", most=3)),
}


@pytest.mark.parametrize(("dtype", "call"), PICKING.values(), ids=PICKING)
def test_rows_beyond_the_values_are_refused_where_they_are_picked(dtype, call):
    values = np.arange(VALUES, dtype=dtype)
    for offsets in ([0, 2, VALUES + 9, VALUES], [0, -5, 3, VALUES]):
        call((values, np.array(offsets, np.int64)), rows(2) if offsets[1] < 0 else rows(0))
        with pytest.raises(OptionError, match="offsets"):
            call((values, np.array(offsets, np.int64)), rows(1))


def test_stars_take_all_rows_in_some_order_and_neighbours_that_exist():
    offsets = np.array([0, 1, 2, 2], np.int64)
    assert _core.stars(rows(0, 1, 2), (rows(1, 0), offsets)).tolist() == [0, 0, 2]
    for order, neighbours in [((0, 1), (1, 0)), ((0, 1, 3), (1, 0)), ((0, 1, 2), (1, 3))]:
        with pytest.raises(OptionError):
            _core.stars(rows(*order), (rows(*neighbours), offsets))
    with pytest.raises(OptionError, match="offsets"):
        _core.stars(rows(0, 1, 2), (rows(1, 0), offsets[::-1].copy()))


# Names and numbers.

PATHS = {
    "Shingler.shingles": lambda path: WORDS.shingles(b"a b", path=path),
    "Shingler.sets": lambda path: WORDS.sets(TEXTS, threads=1, path=path),
    "Shingler.document_frequencies": lambda path: WORDS.document_frequencies(TEXTS, path=path),
    "DocumentFrequencies": lambda path: _core.DocumentFrequencies(TEXTS, WORDS, most=2, path=path),
    "Shingler.rarest": lambda path: WORDS.rarest(TEXTS, COUNTS, most=2, threads=1, path=path),
    "sign_texts": lambda path: _core.sign_texts(TEXTS, WORDS, ORDERS, threads=1, path=path),
    "sign_sets": lambda path: _core.sign_sets(ITEMS, ORDERS, threads=1, path=path),
    "compare_texts": lambda path: _core.compare_texts(
        [TEXTS], NONE, NONE, WORDS, at_least=0.5, threads=1, path=path
    ),
    "shared_passages": lambda path: _core.shared_passages(b"a b", b"b c", WORDS, least=1, gap=0, path=path),
    "count_tokens": lambda path: _core.count_tokens(b"a b", WORDS, path=path),
}


@pytest.mark.parametrize("call", PATHS.values(), ids=PATHS)
def test_unknown_paths_are_refused_with_those_there_are(call):
    for path in _core.paths():
        call(path)
    with pytest.raises(OptionError, match=r"path=\"sse9\" is not one of .*scalar"):
        call("sse9")


def test_unknown_units_and_families_are_refused_with_those_there_are():
    with pytest.raises(OptionError, match=r"unit=\"lines\" is not chars, words or stopwords"):
        shingler("lines")
    with pytest.raises(OptionError, match=r"family=\"simhash\" is not bucketed, khash or universal"):
        _core.Orders("simhash", slots=8, seed=0)


def test_numbers_out_of_range_are_refused():
    with pytest.raises(OptionError, match="k=0"):
        shingler(k=0)
    with pytest.raises(OptionError, match="slots=0"):
        _core.Orders("bucketed", slots=0, seed=0)
    with pytest.raises(OptionError, match=f"slots={2**62}"):
        _core.Orders("bucketed", slots=2**62, seed=0)
    with pytest.raises(OptionError, match="least=0"):
        _core.shared_passages(b"a b", b"b c", WORDS, least=0, gap=0)
    with pytest.raises(OptionError, match="more than one forest holds"):
        _core.Forest(2**32)
    with pytest.raises(OptionError, match="not of the universal family"):
        _core.universal_minima(ITEMS, ORDERS)
    for threshold, q in [(float("inf"), 1), (float("nan"), 1), (-0.5, 1), (0.5, 0)]:
        with pytest.raises(OptionError, match=f"q={q}"):
            _core.LeastShared("jaccard", threshold, q=q)
    for q in (0, 65, 2**63):
        with pytest.raises(OptionError, match=f"q={q}: a gram holds 1 to 64 letters"):
            _core.grams(TEXTS, q=q)
    for bands, height in [(0, 1), (2**16, 2), (2**63, 2)]:
        levels = np.zeros(3, np.uint8)
        with pytest.raises(OptionError, match="a pyramid has 1 to 65536 rows in bands"):
            _core.pyramid_keys(ITEMS, levels, levels, bands=bands, rows=height, seed=0)
    for negative in ({"seed": -1, "threads": 1}, {"seed": 0, "threads": -1}):
        with pytest.raises(OverflowError):
            _core.mix_integers(ITEMS[0], **negative)


def test_windows_wider_than_any_text_make_the_text_one_shingle():
    for unit in ("words", "chars"):
        assert len(shingler(unit, 2**63).shingles(b"a b c")) == 1


# Panics.


def test_a_panic_becomes_an_internal_error_that_can_be_caught_and_reported():
    with pytest.raises(InternalError, match=r"on purpose.*please report it"):
        _core.panic_on_purpose()
    assert len(WORDS.shingles(b"and life goes on")) == 3


# The interpreter lock.


@contextlib.contextmanager
def ticking():
    """A Python thread that notes the time about every millisecond."""
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.001):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield ticks
    finally:
        over.set()
        thread.join()


def ragged_of(values, count):
    return values, np.linspace(0, len(values), count + 1).astype(np.int64)


def long_calls():
    """Calls of a tenth of a second or more."""
    draw = np.random.default_rng(0)
    many = _core.Orders("universal", slots=128, seed=0)
    letters = draw.integers(97, 123, 400_000).astype(np.uint8)
    texts = ragged_of(letters, 10)
    sets = ragged_of(draw.integers(0, 2**63, 400_000).astype(np.uint64), 10)
    matrix = draw.integers(0, 4, (5000, 128)).astype(np.uint32)
    keys = draw.integers(0, 2**63, 6_000_000).astype(np.uint64)
    a, b = draw.integers(0, 4_000_000, (2, 4_000_000)).astype(np.uint32)
    pairs = np.zeros(100, np.uint32), np.ones(100, np.uint32)
    forest = _core.Forest(4_000_000)
    return {
        "sign_texts": lambda: _core.sign_texts(texts, CHARS, many, threads=1),
        "sign_sets": lambda: _core.sign_sets(sets, many, threads=1),
        "compare_texts": lambda: _core.compare_texts([texts], *pairs, CHARS, at_least=0.0, threads=1),
        "agreement_histogram": lambda: _core.agreement_histogram(matrix, threads=1),
        "sorted_runs": lambda: _core.sorted_runs([keys], threads=1),
        "Forest.join": lambda: forest.join(a, b),
    }


def test_python_goes_on_while_a_kernel_works():
    for name, call in long_calls().items():
        with ticking() as ticks:
            begun = time.perf_counter()
            call()
            ended = time.perf_counter()
        # The edges of the call do not count: there the lock is held by rights.
        margin = (ended - begun) / 5
        inside = [tick for tick in ticks if begun + margin < tick < ended - margin]
        assert inside, f"no other thread ran during the {ended - begun:.3f} s of {name}"


# Forks.

CORPUS = ragged_of(np.random.default_rng(1).integers(97, 123, 200_000).astype(np.uint8), 400)


def sign_corpus(threads=2):
    return _core.sign_texts(CORPUS, CHARS, ORDERS, threads=threads)[0].tobytes()


def succeeds_in_forked_child(work, seconds=60):
    """Whether `work()` is true in a forked child, which must come to an end."""
    child = os.fork()
    if child == 0:
        # Whatever happens here, the child must not return into the test run.
        status = 1
        with contextlib.suppress(BaseException):
            status = 0 if work() else 1
        os._exit(status)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail(f"the forked child was not done after {seconds} s")


ignore_warning_of_forks = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)


@ignore_warning_of_forks
def test_kernels_work_in_a_forked_child_after_their_use_in_the_parent():
    expected = sign_corpus()
    assert succeeds_in_forked_child(lambda: sign_corpus() == expected)
    assert not succeeds_in_forked_child(lambda: sign_corpus() != expected)


@ignore_warning_of_forks
def test_kernels_work_in_a_child_forked_while_another_thread_is_in_one():
    expected, over = sign_corpus(), threading.Event()

    def keep_signing():
        while not over.is_set():
            sign_corpus()

    signing = threading.Thread(target=keep_signing)
    signing.start()
    try:
        for _ in range(10):
            assert succeeds_in_forked_child(lambda: sign_corpus() == expected)
    finally:
        over.set()
        signing.join()


@ignore_warning_of_forks
def test_kernels_work_in_forked_pools():
    expected = sign_corpus()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(sign_corpus, [1, 2, 3, 4]).get(timeout=60) == [expected] * 4
