"""Bits are sampled, masked and keyed as they were when their golden vectors were made."""

import json

import numpy as np
from tests.golden import make_bits as make
from tests.golden.writing import file_of

from lookalike.families import BitSampling
from lookalike.measures.bits import as_bits
from lookalike.theory import Banding

STORED = json.loads(file_of("bits").read_text(encoding="utf-8"))


def test_answers_are_those_of_the_algorithm_version():
    now = json.loads(json.dumps(make.golden()))
    assert now.keys() == STORED.keys()
    for part in STORED:
        assert now[part] == STORED[part], part


def test_positions_and_keys_written_down_before_there_was_a_file():
    family = BitSampling(bits=100, slots=12, seed=5)
    assert family.positions.tolist() == [74, 26, 48, 13, 65, 38, 15, 38, 2, 52, 76, 49]
    row = as_bits(["0123456789abcdef012345678"])
    assert family.signatures(row).to_bytes().tobytes().hex() == "e250"
    keys = family.masks(Banding(bands=3, rows=4)).keys(row.words, 0, 3)
    assert [f"{key:016x}" for key in keys[:, 0]] == [
        "7785e5ecc8630000",
        "e0441d0c3b280001",
        "eb55eb379cea0002",
    ]


def test_stored_keys_are_equal_where_the_rows_are_under_the_stored_masks():
    for name, stored in STORED["covering"].items():
        width = int(name.split()[0].removeprefix("bits="))
        table = np.unpackbits(make.rows(width).to_bytes(), axis=1)
        keys = [row.split() for row in stored["keys"]]
        for at, mask in enumerate(stored["masks"]):
            looked_at = table[:, [int(position) for position in mask.split()]]
            for a, b in ((0, 1), (0, 2), (2, 3)):
                same = np.array_equal(looked_at[a], looked_at[b])
                assert (keys[a][at] == keys[b][at]) == same, name
