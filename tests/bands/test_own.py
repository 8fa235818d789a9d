"""Signatures of one's own, banded (SPEC M9): candidates by brute force, known answers, refusals."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.families.test_permutations import ORDERS, ROWS

import lookalike as la
from lookalike import _core
from lookalike.bands import own
from lookalike.errors import LookalikeError, OptionError, SourceError
from lookalike.families import Permutations


def rows_in(found):
    return {(row["a"], row["b"]): row["bands"] for row in found}


def brute(matrix, bands, rows, boundary=None):
    """Every two rows and in how many bands they are the same, slot by slot."""
    met = {}
    for a, b in combinations(range(len(matrix)), 2):
        if boundary is not None and not a < boundary <= b:
            continue
        same = sum(
            all(matrix[a][slot] == matrix[b][slot] for slot in range(band * rows, (band + 1) * rows))
            for band in range(bands)
        )
        if same:
            met[a, b - (boundary or 0)] = same
    return met


KINDS = [np.int64, np.uint64, np.int32, np.uint32, np.uint16, np.int8, np.bool_]


@settings(max_examples=150)
@given(st.data(), st.sampled_from(KINDS), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2))
def test_candidates_are_the_rows_that_agree_in_a_whole_band(data, kind, bands, rows, spare):
    few = [False, True] if kind is np.bool_ else [np.iinfo(kind).min, 0, 1, np.iinfo(kind).max]
    row = st.lists(st.sampled_from(few), min_size=bands * rows + spare, max_size=bands * rows + spare)
    matrix = np.array(data.draw(st.lists(row, min_size=1, max_size=8)), dtype=kind)
    found = la.candidates(matrix, bands=bands, rows=rows)
    assert rows_in(found) == brute(matrix.tolist(), bands, rows)
    assert list(rows_in(found)) == sorted(rows_in(found))
    for one in found:
        assert one["estimate"] == np.mean(matrix[one["a"]] == matrix[one["b"]])
    boundary = data.draw(st.integers(1, len(matrix)))
    across = la.candidates(matrix[:boundary], matrix[boundary:], bands=bands, rows=rows)
    assert rows_in(across) == brute(matrix.tolist(), bands, rows, boundary)


def test_the_signatures_of_the_first_matrix_meet_in_bands_of_one_row():
    signatures = Permutations(ORDERS).signatures(ROWS)
    # Columns 1 2 3 4 have 2121 / 2141 / 1212.
    assert rows_in(la.candidates(signatures, bands=3, rows=1)) == {(0, 2): 2, (1, 3): 3}
    assert rows_in(la.candidates(signatures, bands=1, rows=3)) == {(1, 3): 1}
    assert la.candidates(signatures, bands=1, rows=3)["estimate"].to_pylist() == [1.0]


@pytest.mark.parametrize(("shared", "similarity"), [(200 / 3, 0.5), (1000 / 9, 0.8)])
def test_a_pair_meets_as_often_as_the_curve_of_its_banding_says(shared, similarity):
    """Twenty bands of five on 400 pairs: .470 of those at .5, .9996 of those at .8."""
    both = 600
    own = round(both * (1 - similarity) / (2 * similarity))
    sets = []
    for pair in range(400):
        first = 10_000 * pair
        sets += [
            range(first, first + both + own),
            [*range(first, first + both), *range(first + 5000, first + 5000 + own)],
        ]
    found = la.candidates(la.MinHash(slots=100, seed=1).signatures(sets), bands=20, rows=5)
    met = {(row["a"], row["b"]) for row in found}
    assert all(b == a + 1 and a % 2 == 0 for a, b in met)
    chance = la.Banding(bands=20, rows=5).probability(both / (both + 2 * own))
    assert chance == pytest.approx({0.5: 0.470, 0.8: 0.9996}[similarity], abs=2e-3)
    assert abs(len(met) / 400 - chance) < 4 * np.sqrt(chance * (1 - chance) / 400) + 1 / 400


def test_every_family_signs_what_can_be_banded():
    vectors = np.random.default_rng(0).normal(size=(30, 4))
    vectors[1] = vectors[0]
    bits = la.as_bits(np.random.default_rng(1).integers(0, 255, (30, 8), dtype=np.uint8)[[0, *range(29)]])
    for signed in (
        la.Hyperplane(slots=24).signatures(vectors),
        la.Euclidean(width=2, slots=24).signatures(vectors),
        la.BitSampling(bits=64, slots=24).signatures(bits),
        la.MinHash(slots=24).signatures([[1, 2], [2, 1], *([n] for n in range(3, 31))]),
    ):
        found = la.candidates(signed, bands=3, rows=8)
        assert rows_in(found)[0, 1] == 3


def test_empty_sets_match_nothing():
    signed = la.MinHash(slots=4).signatures([[], [], [1], [1]])
    assert rows_in(la.candidates(signed, bands=2, rows=2)) == {(2, 3): 2}
    assert rows_in(la.candidates(signed, signed, bands=2, rows=2)) == dict.fromkeys(
        product([2, 3], repeat=2), 2
    )


def test_rows_of_one_key_are_told_apart_by_their_slots(monkeypatch):
    class Core:
        FLAG_EMPTY = _core.FLAG_EMPTY
        pair_up = staticmethod(_core.pair_up)

        @staticmethod
        def band_keys(part, *, bands, rows):
            return np.zeros((bands, len(part)), np.uint64)

    monkeypatch.setattr(own, "_core", Core)
    matrix = [[1, 2], [3, 4], [1, 2], [3, 4], [5, 6]]
    assert rows_in(la.candidates(matrix, bands=1, rows=2)) == {(0, 2): 1, (1, 3): 1}


def test_a_crowd_is_an_error_that_counts_it():
    crowd = np.zeros((1000, 4), np.uint32)
    with pytest.raises(
        OptionError, match=r"over 400,000 times, 499,500 of them in band 0: use more rows a band"
    ):
        la.candidates(crowd, bands=2, rows=2, most=400_000)
    assert len(la.candidates(crowd, bands=2, rows=2, most=999_000)) == 499_500
    with pytest.raises(OptionError, match="over 998,999 times"):
        la.candidates(crowd, bands=2, rows=2, most=998_999)
    # Of two collections only meetings across count.
    assert len(la.candidates(crowd, crowd[:2], bands=2, rows=2, most=4000)) == 2000
    nobody = np.ones((5, 4), np.uint32)
    assert len(la.candidates(crowd, nobody, bands=2, rows=2, most=0)) == 0


@pytest.mark.parametrize(
    ("given", "asked", "error", "said"),
    [
        ([[1, 2, 3]], {"bands": 2, "rows": 2}, OptionError, "take 4 slots, and the signatures have 3"),
        ([[1, 2, 3]], {"bands": 0, "rows": 2}, OptionError, "bands=0 is out of range"),
        ([[1, 2]], {"bands": 1, "rows": 2, "most": -1}, OptionError, "most=-1 is out of range"),
        (
            [[1, 2]],
            {"bands": 1, "rows": 2, "other": [[1]]},
            OptionError,
            "of 2 slots and of 1 do not compare",
        ),
        (
            np.ones((1, 2), np.int64),
            {"bands": 1, "rows": 2, "other": np.ones((1, 2), np.uint64)},
            OptionError,
            "of int64 and of uint64",
        ),
        ([[1.5, 2]], {"bands": 1, "rows": 2}, SourceError, "a matrix of whole numbers or booleans"),
        ([[1], [2, 3]], {"bands": 1, "rows": 1}, SourceError, "a matrix of whole numbers or booleans"),
        ([1, 2], {"bands": 1, "rows": 1}, SourceError, "one row an item"),
        ("ab", {"bands": 1, "rows": 1}, SourceError, "one row an item"),
    ],
)
def test_what_cannot_be_banded_is_refused(given, asked, error, said):
    with pytest.raises(LookalikeError, match=said) as told:
        la.candidates(given, **asked)
    assert isinstance(told.value, error)


def test_no_rows_have_no_candidates():
    assert len(la.candidates(np.zeros((0, 4), np.int64), bands=2, rows=2)) == 0
