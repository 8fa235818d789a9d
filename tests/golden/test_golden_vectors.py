"""Projections and distances answer what they answered when their golden vectors were made, on every path."""

import json

import numpy as np
import pytest
from tests.golden import make_vectors as make
from tests.golden.writing import file_of

from lookalike import _core

STORED = json.loads(file_of("vectors").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [*_core.paths(), None])
def test_answers_are_those_of_the_algorithm_version(path):
    now = json.loads(json.dumps(make.golden(path)))
    assert now.keys() == STORED.keys()
    for part in STORED:
        assert now[part] == STORED[part], part


def test_stored_distances_are_those_that_numpy_finds():
    rows = make.vectors()
    a, b = np.triu_indices(make.ROWS - 1)
    stored = {
        measure: np.array([float.fromhex(value) for value in STORED["distances"][measure]])
        for measure in make.MEASURES
    }
    apart = rows[a] - rows[b]
    np.testing.assert_allclose(stored["l1"], np.abs(apart).sum(axis=1), rtol=1e-15)
    np.testing.assert_allclose(stored["l2"], np.sqrt((apart**2).sum(axis=1)), rtol=1e-15)
    np.testing.assert_array_equal(stored["linf"], np.abs(apart).max(axis=1))
    lengths = np.sqrt((rows**2).sum(axis=1))
    cosines = (rows[a] * rows[b]).sum(axis=1) / (lengths[a] * lengths[b])
    np.testing.assert_allclose(stored["cosine"], cosines, atol=1e-15)
    np.testing.assert_allclose(stored["angle"], np.degrees(np.arccos(cosines.clip(-1, 1))), atol=2e-6)


def test_the_sides_and_buckets_of_a_vector_of_zeros_are_known():
    for kind in ("hyperplanes", "signs"):
        assert STORED["signatures"][f"{kind} seed=0"]["slots"][5] == "1" * make.SLOTS
    # The offset alone, which is from 0 to under 1.
    assert set(STORED["signatures"]["gaussian seed=0"]["slots"][5].split()) == {"0"}
