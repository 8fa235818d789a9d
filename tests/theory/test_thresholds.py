"""Thresholds as people write them, and the distances they stand for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.theory.collisions import HyperplaneCollision, MinHashCollision
from lookalike.theory.thresholds import MEASURES, scale_of


@pytest.mark.parametrize(
    ("measure", "written", "value", "distance"),
    [
        ("jaccard", 0.8, 0.8, 0.2),
        ("weighted-jaccard", "0.5", 0.5, 0.5),
        ("angle", "20deg", 20, 20),
        ("angle", " 20 deg ", 20, 20),
        ("angle", "20°", 20, 20),
        ("angle", 20, 20, 20),
        ("angle", "1.5707963267948966rad", 90, 90),
        ("angle", ".5deg", 0.5, 0.5),
        ("angle", 0, 0, 0),
        ("cosine", 0.5, 0.5, 60),
        ("cosine", ".5", 0.5, 60),
        ("cosine", "60deg", 0.5, 60),
        ("cosine", -0.5, -0.5, 120),
        ("cosine", 1, 1, 0),
        ("l2", "1e3", 1000, 1000),
        ("l1", 1.5, 1.5, 1.5),
        ("hamming", "3", 3, 3),
        ("hamming", "3bits", 3, 3),
        ("hamming", 0, 0, 0),
        ("hamming", np.int64(5), 5, 5),
    ],
)
def test_thresholds_are_read_as_written(measure, written, value, distance):
    scale = scale_of(measure, bits=64)
    assert scale.read(written) == pytest.approx(value)
    assert scale.distance(scale.read(written)) == pytest.approx(distance)


@pytest.mark.parametrize(
    ("measure", "written", "says"),
    [
        ("jaccard", 80, "did you mean threshold=0.8?"),
        ("jaccard", "20deg", "threshold='20deg' is not a number"),
        ("angle", "200deg", "threshold=200deg is out of range: an angle is from 0 to under 180 degrees"),
        ("angle", "180", "from 0 to under 180 degrees"),
        ("angle", "-20deg", "from 0 to under 180 degrees"),
        ("angle", 0.9, "threshold=0.9 could be a cosine or a small angle: write 0.9deg"),
        ("angle", "20km", "unknown unit: write 20deg or 0.35rad"),
        ("angle", "wide", "threshold='wide' is no threshold of angle: give an angle such as 20deg"),
        ("angle", math.nan, "is no threshold of angle"),
        ("cosine", 1.5, "a cosine is over -1 and at most 1; for an angle write 1.5deg"),
        ("cosine", -1, "a cosine is over -1 and at most 1"),
        ("cosine", "200deg", "from 0 to under 180 degrees"),
        ("l2", 0, "a distance by l2 is over 0"),
        ("l2", -3, "a distance by l2 is over 0"),
        ("l1", "20deg", "a number without one: write 20, or choose the measure angle"),
        ("l1", math.inf, "is no threshold of l1"),
        ("hamming", 64, "of 64 bits, a whole number from 0 to 63 may differ"),
        ("hamming", 2.5, "a whole number from 0 to 63"),
        ("hamming", -1, "a whole number from 0 to 63"),
        ("hamming", "3deg", "a whole number from 0 to 63"),
        ("hamming", None, "is no threshold of hamming"),
    ],
)
def test_what_is_no_threshold_is_refused_with_what_is(measure, written, says):
    with pytest.raises(OptionError) as caught:
        scale_of(measure, bits=64).read(written)
    assert says in str(caught.value)


def test_unknown_measures_and_bits_of_unknown_length_are_refused():
    with pytest.raises(OptionError, match="measure='tfidf' goes by the cosine of two vectors: choose cosine"):
        scale_of("tfidf")
    with pytest.raises(OptionError, match=r"measure='lp' is unknown: choose jaccard, .* or hamming"):
        scale_of("lp")
    with pytest.raises(OptionError, match="say so, such as bits=64"):
        scale_of("hamming")


@pytest.mark.parametrize("measure", MEASURES)
@given(st.floats(0.01, 0.99))
def test_an_array_of_values_stands_for_the_distances_of_each(measure, share):
    scale = scale_of(measure, bits=64)
    low, high = scale.axis(3.0 if measure in ("l1", "l2", "hamming") else 0.5)
    values = np.array([low, low + share * (high - low), high])
    assert scale.distances(values).tolist() == pytest.approx([scale.distance(value) for value in values])


@given(st.floats(0.001, 1))
def test_a_similarity_of_sets_is_the_chance_to_agree_to_its_last_digit(similarity):
    assert scale_of("jaccard").agreement(similarity, MinHashCollision()) == similarity


def test_values_are_written_with_their_units():
    assert scale_of("angle").write(20.0) == "20°"
    assert scale_of("cosine").write(math.cos(math.radians(20))) == "0.939693"
    assert [scale_of("hamming", bits=64).write(n) for n in (1.0, 3.0)] == ["1 bit", "3 bits"]
    assert scale_of("angle").furthest(20, HyperplaneCollision()) == 180


@pytest.mark.parametrize(
    ("measure", "value"), [("angle", 0.25), ("angle", 1e-7), ("angle", 20.0), ("angle", 0.0), ("l2", 0.25)]
)
def test_a_threshold_that_was_read_can_be_written_to_be_read_again(measure, value):
    scale = scale_of(measure)
    assert scale.read(scale.written(value)) == value


@pytest.mark.parametrize("written", ["1e-301", "1e301", "1e400"])
def test_distances_whose_buckets_would_have_no_width_are_out_of_range(written):
    with pytest.raises(OptionError, match=r"from 1e-300 to 1e\+300"):
        scale_of("l2").read(written)


@pytest.mark.parametrize(
    ("written", "says"),
    [("1e400", "from 0 to 63 may differ$"), (0.8, "for a Tanimoto similarity choose the measure jaccard$")],
)
def test_counts_of_bits_are_whole_and_finite(written, says):
    with pytest.raises(OptionError, match=says):
        scale_of("hamming", bits=64).read(written)


@pytest.mark.parametrize(
    ("measure", "road"),
    [
        ("containment", "similar_pairs"),
        ("overlap", "the methods prefix and divide"),
        ("levenshtein", "similar_strings"),
        ("indel", "similar_strings"),
        ("linf", "similar_measurements"),
    ],
)
def test_measures_without_a_family_of_their_own_name_the_road_that_serves_them(measure, road):
    with pytest.raises(OptionError, match="has no exact family of hash functions") as told:
        scale_of(measure)
    assert road in str(told.value)
