"""Hyperplanes by hand (SPEC M19): the signatures that are known without a computer."""

import numpy as np
import pytest
from tests.families.test_permutations import ROWS

import lookalike as la
from lookalike.errors import OptionError
from lookalike.families.teaching import GivenHyperplanes
from lookalike.families.teaching.normal import by_latitude_and_longitude, standard_normals

#: The columns of the matrix of seven rows: four items.
COLUMNS = [[int(row[column]) for row in ROWS] for column in range(4)]
NORMALS = [(1, -1, 0, 1, 1, -1, -1), (-1, -1, 0, -1, 0, 0, 0), (0, 0, 0, -1, 1, 1, -1)]


def test_three_given_normals_have_known_products_with_four_columns():
    products = GivenHyperplanes(NORMALS).products(COLUMNS)
    assert products.T.tolist() == [[-2, 2, -1, 1], [-2, -1, -1, -2], [0, 0, 0, 0]]


def test_and_known_sides_where_zero_is_on_the_upper_one():
    planes = GivenHyperplanes(NORMALS)
    assert ["".join(slot) for slot in zip(*planes.written(COLUMNS), strict=True)] == ["-+-+", "----", "++++"]
    np.testing.assert_array_equal(planes.signatures(COLUMNS), planes.products(COLUMNS) >= 0)


@pytest.mark.parametrize("degrees", [10, 45, 90, 150])
def test_normals_by_box_and_muller_agree_as_often_as_the_law_and_the_kernel_say(degrees):
    angle, count, source = np.radians(degrees), 40_000, np.random.default_rng(degrees)
    pair = [[1, 0, 0], [np.cos(angle), np.sin(angle), 0]]
    family = la.Hyperplane(slots=count, seed=degrees)
    chance = family.collision(degrees)
    assert chance == pytest.approx(1 - degrees / 180)
    spread = np.sqrt(chance * (1 - chance) / count)
    for sides in (
        GivenHyperplanes(standard_normals(3 * count, source).reshape(count, 3)).signatures(pair),
        family.signatures(pair),
    ):
        assert abs(np.mean(sides[0] == sides[1]) - chance) < 4 * spread


def test_normals_by_latitude_and_longitude_do_not():
    """Two vectors 60° apart on either side of the pole: hyperplanes part them too seldom."""
    angle, count = np.radians(60), 40_000
    pair = [[np.sin(angle / 2), 0, np.cos(angle / 2)], [-np.sin(angle / 2), 0, np.cos(angle / 2)]]
    normals = by_latitude_and_longitude(count, np.random.default_rng(0))
    sides = GivenHyperplanes(normals).signatures(pair)
    assert np.mean(sides[0] == sides[1]) > 2 / 3 + 0.05


def test_vectors_and_normals_that_do_not_fit_are_refused():
    for rows in ([], [[]], [[1, 2], [1]], [["a"]], [[float("nan")]], 3):
        with pytest.raises(OptionError, match="normals are one row of numbers or more"):
            GivenHyperplanes(rows)
    with pytest.raises(OptionError, match="vectors are one row of numbers or more"):
        GivenHyperplanes([[1, 2]]).signatures([[1, 2], [3]])
    with pytest.raises(OptionError, match="vectors of 3 numbers do not fit normals of 2"):
        GivenHyperplanes([[1, 2]]).signatures([[1, 2, 3]])
