"""Sides and buckets agree as often as `collision` says, over distances, widths and seeds."""

import math

import numpy as np
import pytest

import lookalike as la

SEEDS = 8
SLOTS = 4000
DIMENSIONS = 24


def z(agreeing, trials, chance):
    return (agreeing - trials * chance) / math.sqrt(trials * chance * (1 - chance))


def pairs_at_angle(degrees, seed):
    """Two directions in general position at this angle."""
    numbers = np.random.default_rng(seed)
    one, other = np.linalg.qr(numbers.normal(size=(DIMENSIONS, 2)))[0].T
    turned = math.cos(math.radians(degrees)) * one + math.sin(math.radians(degrees)) * other
    return np.stack([3 * one, 0.2 * turned])


def agreeing(family_of, pair_of):
    """How many slots agree, over seeds of pairs and of functions."""
    total = 0
    for seed in range(SEEDS):
        one, other = family_of(seed).signatures(pair_of(seed), threads=1)
        total += int((one == other).sum())
    return total


@pytest.mark.parametrize("degrees", [1, 10, 25, 45, 90, 135, 179])
def test_hyperplanes_agree_as_often_as_the_angle_says(degrees):
    count = agreeing(
        lambda seed: la.Hyperplane(slots=SLOTS, seed=seed), lambda seed: pairs_at_angle(degrees, seed)
    )
    assert abs(z(count, SEEDS * SLOTS, la.Hyperplane().collision(degrees))) < 4


@pytest.mark.parametrize("degrees", [10, 45, 90])
def test_signs_agree_about_as_often(degrees):
    """The documented approximation: within .02 where many coordinates share a vector's length."""
    rate = agreeing(
        lambda seed: la.Hyperplane(slots=SLOTS, seed=seed, signs=True),
        lambda seed: pairs_at_angle(degrees, seed),
    ) / (SEEDS * SLOTS)
    assert abs(rate - la.Hyperplane(signs=True).collision(degrees)) < 0.02


def test_signs_are_only_an_approximation():
    one, other = la.Hyperplane(slots=1000, signs=True).signatures([[2.0, 1.0], [1.0, 0.0]])
    assert (one == other).all()
    one, other = la.Hyperplane(slots=1000).signatures([[2.0, 1.0], [1.0, 0.0]])
    assert abs((one == other).mean() - (1 - math.degrees(math.atan(0.5)) / 180)) < 0.05


@pytest.mark.parametrize("ratio", [0.05, 0.25, 0.5, 1, 2, 10])
@pytest.mark.parametrize("width", [0.01, 3.0])
def test_gaussian_projections_agree_as_often_as_the_l2_distance_says(ratio, width):
    distance = ratio * width

    def pair(seed):
        numbers = np.random.default_rng(seed)
        start, step = numbers.normal(size=(2, DIMENSIONS))
        return np.stack([start, start + step * distance / np.linalg.norm(step)])

    count = agreeing(lambda seed: la.Euclidean(width=width, slots=SLOTS, seed=seed), pair)
    assert abs(z(count, SEEDS * SLOTS, la.Euclidean(width=width).collision(distance))) < 4


@pytest.mark.parametrize("ratio", [0.05, 0.25, 0.5, 1, 2, 10])
@pytest.mark.parametrize("width", [0.01, 3.0])
def test_cauchy_projections_agree_as_often_as_the_l1_distance_says(ratio, width):
    distance = ratio * width

    def pair(seed):
        numbers = np.random.default_rng(seed)
        start, step = numbers.normal(size=(2, DIMENSIONS))
        return np.stack([start, start + step * distance / np.abs(step).sum()])

    count = agreeing(lambda seed: la.L1(width=width, slots=SLOTS, seed=seed), pair)
    assert abs(z(count, SEEDS * SLOTS, la.L1(width=width).collision(distance))) < 4


def test_bands_are_found_as_often_as_the_plan_says():
    """Slots of one signature are independent, so bands of them find pairs at the threshold as promised."""
    plan = la.plan("20deg", measure="angle", slots=1024)
    bands, rows = plan.banding.bands, plan.banding.rows
    found = 0
    for seed in range(300):
        one, other = la.Hyperplane(slots=bands * rows, seed=seed).signatures(
            pairs_at_angle(20, seed), threads=1
        )
        found += bool((one == other).reshape(bands, rows).all(axis=1).any())
    assert abs(z(found, 300, plan.reached)) < 4
