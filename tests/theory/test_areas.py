"""Both areas against the exact polynomial, in fractions, and against each other."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.theory import Banding


def exact_missed(low: Fraction, high: Fraction, banding: Banding) -> Fraction:
    """∫ (1 − sʳ)ᵇ ds by the binomial theorem: hopeless in floats, exact in fractions."""

    def antiderivative(s: Fraction) -> Fraction:
        return sum(
            (
                (-1) ** k * comb(banding.bands, k) * s ** (k * banding.rows + 1) / (k * banding.rows + 1)
                for k in range(banding.bands + 1)
            ),
            start=Fraction(0),
        )

    return antiderivative(high) - antiderivative(low)


@given(
    st.builds(Banding, bands=st.integers(1, 40), rows=st.integers(1, 12)),
    st.integers(0, 64).map(lambda n: n / 64),  # floats that are exactly small fractions
)
def test_areas_equal_the_integral_of_the_polynomial(banding, threshold):
    t = Fraction(threshold)
    assert banding.false_negative_area(threshold) == pytest.approx(
        float(exact_missed(t, Fraction(1), banding)), rel=1e-11
    )
    below = t - exact_missed(Fraction(0), t, banding)
    assert banding.false_positive_area(threshold) == pytest.approx(float(below), rel=1e-11)


@pytest.mark.parametrize(
    "banding", [Banding(bands=1024, rows=1), Banding(bands=110, rows=9), Banding(bands=3, rows=300)]
)
@pytest.mark.parametrize("threshold", [0.125, 0.5, 0.875])
def test_areas_of_long_signatures_keep_their_digits(banding, threshold):
    t = Fraction(threshold)
    assert banding.false_negative_area(threshold) == pytest.approx(
        float(exact_missed(t, Fraction(1), banding)), rel=1e-10, abs=0
    )
    below = t - exact_missed(Fraction(0), t, banding)
    assert banding.false_positive_area(threshold) == pytest.approx(float(below), rel=1e-10, abs=0)


@given(
    st.builds(Banding, bands=st.integers(1, 500), rows=st.integers(1, 30)), st.floats(0, 1), st.floats(0, 1)
)
def test_a_higher_threshold_has_more_below_it_and_less_above(banding, one, other):
    low, high = sorted((one, other))
    assert banding.false_positive_area(low) <= banding.false_positive_area(high) * (1 + 1e-12)
    assert banding.false_negative_area(low) * (1 + 1e-9) >= banding.false_negative_area(high)
