"""Whole numbers of NumPy's kinds are whole numbers wherever one is asked for, and kept as Python's own."""

import json
from dataclasses import asdict

import numpy as np
import pytest

import lookalike as la
from lookalike.applications.decontaminate.options import DecontaminateOptions
from lookalike.applications.documents.options import PairOptions
from lookalike.applications.top.options import TopOptions
from lookalike.applications.vectors.options import VectorOptions
from lookalike.engines.cores import checked_threads
from lookalike.errors import OptionError
from lookalike.families import Covering, DealtBits
from lookalike.runs.sizes import parse_size
from lookalike.theory import Banding
from lookalike.theory.collisions import BitSamplingCollision, CoveringCollision

TAKING = {
    "PairOptions": lambda n: PairOptions(slots=n, seed=n),
    "VectorOptions": lambda n: VectorOptions(measure="cosine", threshold=0.9, slots=n, seed=n),
    "TopOptions": lambda n: TopOptions(k=n, slots=n, seed=n),
    "DecontaminateOptions": lambda n: DecontaminateOptions(run=n, common=n, seed=n),
    "MinHash": lambda n: la.MinHash(slots=n, seed=n),
    "WeightedMinHash": lambda n: la.WeightedMinHash(slots=n, seed=n),
    "BitSampling": lambda n: la.BitSampling(bits=n, slots=n, seed=n),
    "DealtBits": lambda n: DealtBits(bits=n, bands=n, rows=n, seed=n),
    "Covering": lambda n: Covering(bits=10 * n, radius=n, parts=n, seed=n),
    "Ranges": lambda n: la.Ranges(dimensions=n, width=1.0, rows=n, tables=n, seed=n),
    "Hyperplane": lambda n: la.Hyperplane(slots=n, seed=n),
    "Shingle": lambda n: la.Shingle(unit="words", k=n),
    "rarest words": lambda n: la.Shingle(unit="words", k=1, rare=n),
    "Banding": lambda n: Banding(bands=n, rows=n),
    "BitSamplingCollision": BitSamplingCollision,
    "CoveringCollision": lambda n: CoveringCollision(10 * n, n, n),
}


@pytest.mark.parametrize("name", TAKING)
@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32, np.uint64])
def test_options_of_numpys_whole_numbers_are_those_of_pythons(name, kind):
    plain, given = TAKING[name](3), TAKING[name](kind(3))
    assert given == plain
    assert repr(given) == repr(plain)
    assert json.dumps(asdict(given)) == json.dumps(asdict(plain))


@pytest.mark.parametrize("name", sorted(TAKING.keys() - {"Covering", "CoveringCollision"}))
@pytest.mark.parametrize("odd", [True, np.True_, 3.0, np.float64(3), "3"], ids=repr)
def test_what_only_looks_like_a_whole_number_is_refused(name, odd):
    with pytest.raises(OptionError, match="out of range"):
        TAKING[name](odd)


@pytest.mark.parametrize("odd", [True, np.True_, 3.0, np.float64(3), "3"], ids=repr)
def test_so_are_the_radius_and_the_parts_of_masks(odd):
    for radius, parts in ((odd, 1), (3, odd)):
        with pytest.raises(OptionError, match="out of range"):
            CoveringCollision(30, radius, parts)


def test_threads_and_memory_of_numpys_kinds():
    assert type(checked_threads(np.int64(2))) is int
    assert type(parse_size(np.int64(10**9))) is int
    sets = [[1, 2, 3], [1, 2, 3], [4]]
    found = la.similar_pairs(sets, threads=np.int32(1), memory=np.int64(10**9), seed=np.int64(3))
    assert len(found) == 1
    for odd in (True, np.True_, 1.0, "1"):
        with pytest.raises(OptionError, match="threads="):
            checked_threads(odd)


def test_calls_take_numpys_whole_numbers():
    three = np.int64(3)
    vectors = np.eye(4, dtype=np.float32)[[0, 0, 1, 2]]
    assert len(la.similar_pairs(vectors, measure="cosine", threshold=0.9, seed=three)) == 1
    assert len(la.similar_strings(["abcdefgh", "abcdefgx"], distance=three)) == 1
    assert len(la.frequent_pairs([[1, 2]] * 4, support=three, buckets=np.int64(64))) == 1
    bits = np.array([1, 3, 2**60], np.uint64)
    assert len(la.similar_bits(bits, threshold=three, seed=three)) == 3
    assert len(la.HammingTable(bits, radius=three).query(1, radius=np.int64(2))) == 3
    assert len(la.similar_pairs([[1, 2], [1, 2]], method="divide", common=three)) == 1
