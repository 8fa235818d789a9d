"""AND, OR and cascades of them: known tables, and what holds for all of them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.theory import Amplification

steps = st.lists(st.tuples(st.sampled_from(["and", "or"]), st.integers(1, 6)), max_size=4)
cascades = steps.map(lambda steps: Amplification(tuple(steps)))
chances = st.floats(0, 1)

AND_OR = Amplification().and_(4).or_(4)
OR_AND = Amplification().or_(4).and_(4)


@pytest.mark.parametrize(
    ("chance", "printed"),
    [
        (0.2, "0.0064"),
        (0.3, "0.0320"),
        (0.4, "0.0985"),
        (0.5, "0.2275"),
        (0.6, "0.4260"),
        (0.7, "0.6666"),
        (0.8, "0.8785"),
        (0.9, "0.9860"),
    ],
)
def test_four_way_and_then_four_way_or(chance, printed):
    assert f"{AND_OR.probability(chance):.4f}" == printed


@pytest.mark.parametrize(
    ("chance", "printed"),
    [
        (0.1, "0.0140"),
        (0.2, "0.1215"),
        (0.3, "0.3334"),
        (0.4, "0.5740"),
        (0.5, "0.7725"),
        (0.6, "0.9015"),
        (0.7, "0.9680"),
        (0.8, "0.9936"),
    ],
)
def test_four_way_or_then_four_way_and(chance, printed):
    assert f"{OR_AND.probability(chance):.4f}" == printed


def exact(amplification, chance):
    """The same in fractions, one step after the other."""
    for kind, ways in amplification.steps:
        chance = chance**ways if kind == "and" else 1 - (1 - chance) ** ways
    return chance


@given(cascades, st.fractions(0, 1, max_denominator=1000))
def test_probability_and_miss_keep_their_digits(cascade, chance):
    chance = Fraction(float(chance))
    truth = exact(cascade, chance)
    assert cascade.probability(float(chance)) == pytest.approx(float(truth), rel=1e-9, abs=1e-300)
    assert cascade.miss(float(chance)) == pytest.approx(float(1 - truth), rel=1e-9, abs=1e-300)


@given(cascades, chances, chances)
def test_a_cascade_never_falls(cascade, one, other):
    low, high = sorted((one, other))
    assert cascade.probability(low) <= cascade.probability(high) * (1 + 1e-12)
    assert (cascade.probability(0), cascade.probability(1)) == (0, 1)


@given(cascades, st.integers(0, 2**20))
def test_exchanging_and_for_or_mirrors_the_curve(cascade, parts):
    chance = parts / 2**20  # a number of which one minus it is one too
    assert cascade.mirror.probability(chance) == pytest.approx(cascade.miss(1 - chance), rel=1e-9, abs=1e-15)
    assert cascade.mirror.mirror == cascade


@given(cascades, cascades, cascades, chances)
def test_composition_is_associative_and_is_one_after_the_other(first, second, third, chance):
    assert first.amplified(second).amplified(third) == first.amplified(second.amplified(third))
    inner = first.probability(chance)
    assert first.amplified(second).probability(chance) == pytest.approx(
        second.probability(inner), rel=1e-7, abs=1e-9
    )
    assert first.amplified(second).functions == first.functions * second.functions


@given(cascades, st.floats(0.001, 0.999))
def test_the_inverse_undoes_a_cascade(cascade, probability):
    chance = cascade.inverse(probability)
    assert 0 <= chance <= 1
    # Where the curve is steep its inverse is flat, and the last digit of a chance is many of a probability.
    assert cascade.probability(chance) == pytest.approx(probability, rel=1e-6)


@given(cascades)
def test_the_fixed_point_is_where_the_curve_crosses_the_diagonal_and_nowhere_else(cascade):
    fixed = cascade.fixed_point()
    assert (fixed is not None) == ({kind for kind, _ in cascade.steps} == {"and", "or"})
    if fixed is not None:
        assert cascade.probability(fixed) == pytest.approx(fixed, rel=1e-9)
        for share in (0.1, 0.5, 0.9, 0.999):
            below, above = fixed * share, 1 - (1 - fixed) * share
            assert cascade.probability(below) < below
            assert cascade.miss(above) < 1 - above


def test_the_fixed_point_of_the_mirror_is_the_mirrored_one():
    assert AND_OR.fixed_point() == pytest.approx(0.7244919590)
    assert OR_AND.fixed_point() == pytest.approx(1 - 0.7244919590)


def test_a_fixed_point_next_to_nothing_is_found():
    fixed = Amplification().and_(2).or_(10**6).fixed_point()
    assert fixed == pytest.approx(1e-6, rel=1e-5)


def test_neighbours_of_a_kind_are_one_step_and_ways_of_one_are_none():
    assert Amplification().and_(2).and_(3).or_(1) == Amplification().and_(6)
    assert Amplification((("or", 1),)) == Amplification()
    assert str(Amplification().and_(2).or_(3)) == "2-way AND then 3-way OR"
    assert str(Amplification()) == "one function"


@pytest.mark.parametrize("ways", [0, -1, 1.5, True, "4"])
def test_ways_are_whole_numbers(ways):
    with pytest.raises(OptionError, match=r"and_\(.*\) is out of range"):
        Amplification().and_(ways)


def test_steps_of_another_kind_and_chances_out_of_range_are_refused():
    with pytest.raises(OptionError, match="choose and, or"):
        Amplification((("xor", 2),))
    with pytest.raises(OptionError, match=r"1\.5 is not a probability"):
        AND_OR.probability(1.5)
