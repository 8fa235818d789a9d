"""The S-curve of a banding: known answers, limits, and digits that survive."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.theory import Banding

bandings = st.builds(Banding, bands=st.integers(1, 200), rows=st.integers(1, 40))
similarities = st.floats(0, 1)


@pytest.mark.parametrize(
    ("similarity", "printed"),
    [
        (0.2, ".006"),
        (0.3, ".047"),
        (0.4, ".186"),
        (0.5, ".470"),
        (0.6, ".802"),
        (0.7, ".975"),
        (0.8, ".9996"),
    ],
)
def test_twenty_bands_of_five_rows_give_the_known_curve(similarity, printed):
    places = len(printed) - 1
    assert f"{Banding(bands=20, rows=5).probability(similarity):.{places}f}" == f"0{printed}"


def test_twenty_bands_of_five_rows_miss_one_pair_in_2809_at_similarity_080():
    miss = Banding(bands=20, rows=5).miss(0.8)
    assert f"{miss:.6f}" == "0.000356"
    assert round(1 / miss) == 2809


def test_twenty_bands_of_five_rows_look_at_4_749_per_cent_in_vain_at_similarity_030():
    assert f"{100 * Banding(bands=20, rows=5).probability(0.3):.3f}" == "4.749"


def test_fifteen_bands_miss_more_and_pass_less():
    fifteen = Banding(bands=15, rows=5)
    assert f"{fifteen.miss(0.8):.4f}" == "0.0026"
    assert f"{fifteen.probability(0.3):.4f}" == "0.0358"


@pytest.mark.parametrize(("rows", "bands", "printed"), [(2, 25, "0.200"), (5, 10, "0.631"), (10, 5, "0.851")])
def test_fifty_hashes_turn_at_the_known_thresholds(rows, bands, printed):
    banding = Banding(bands=bands, rows=rows)
    assert banding.slots == 50
    assert f"{banding.threshold:.3f}" == printed


@given(bandings, st.fractions(0, 1, max_denominator=10**6))
def test_probability_and_miss_keep_their_digits(banding, similarity):
    s = Fraction(float(similarity))  # the number the curve is really asked about
    exact_miss = (1 - s**banding.rows) ** banding.bands
    assert banding.miss(float(s)) == pytest.approx(float(exact_miss), rel=1e-9, abs=1e-300)
    assert banding.probability(float(s)) == pytest.approx(float(1 - exact_miss), rel=1e-9, abs=1e-300)


@given(bandings, similarities, similarities)
def test_more_similar_pairs_meet_at_least_as_often(banding, one, other):
    low, high = sorted((one, other))
    assert banding.probability(low) <= banding.probability(high) * (1 + 1e-12)


@given(bandings)
def test_unlike_pairs_never_meet_and_equal_ones_always_do(banding):
    assert str(banding.probability(0.0)) == "0.0"
    assert banding.miss(0.0) == 1.0
    assert banding.probability(1.0) == 1.0
    assert banding.miss(1.0) == 0.0


@given(bandings, st.lists(similarities, max_size=20))
def test_an_array_of_similarities_gives_what_each_alone_gives(banding, values):
    together = banding.probabilities(np.array(values))
    assert together.tolist() == pytest.approx([banding.probability(value) for value in values], rel=1e-12)


def test_a_banding_prints_as_it_is_written():
    assert repr(Banding(bands=np.int64(13), rows=7)) == "Banding(bands=13, rows=7)"
    assert Banding(**Banding(bands=13, rows=7).to_dict()) == Banding(bands=13, rows=7)


@pytest.mark.parametrize(
    "wrong", [{"bands": 0, "rows": 5}, {"bands": 5, "rows": 2.5}, {"bands": True, "rows": 5}]
)
def test_a_banding_without_whole_bands_and_rows_is_refused(wrong):
    with pytest.raises(OptionError, match="is out of range"):
        Banding(**wrong)


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan")])
def test_what_is_not_a_similarity_is_refused(value):
    with pytest.raises(OptionError, match=f"{value:g} is not a similarity"):
        Banding(bands=20, rows=5).probability(value)
