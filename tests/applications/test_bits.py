"""Similar bits, as a person asks for them: arrays, strings, tables and files."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.errors import MalformedRowError, MissingColumnError, OptionError, SourceError

HASHES = ["ffff0000ffff0000", "ffff0000ffff0001", "0000ffff0000ffff", "ffff0000ffff0000", "ffff0000fff80000"]
NEAR = [(0, 1, 1), (0, 3, 0), (0, 4, 3), (1, 3, 1), (3, 4, 3)]


def rows(pairs):
    return [tuple(row.values()) for row in pairs]


def test_near_hashes_are_pairs_and_copies_are_at_distance_0():
    pairs = la.similar_bits(HASHES)
    assert pairs.columns == ["a", "b", "distance"]
    assert rows(pairs) == NEAR
    assert rows(la.similar_bits(HASHES, copies="stars")) == NEAR[:3]
    assert pairs.account.copies == 1
    assert pairs.account.recall.recall == 1


def test_every_way_to_give_hashes_gives_the_same_pairs(tmp_path):
    numbers = np.array([int(digits, 16) for digits in HASHES], np.uint64)
    table = pa.table({"bits": HASHES})
    (tmp_path / "hashes.csv").write_text("bits,name\n" + "".join(f"{h},x\n" for h in HASHES))
    (tmp_path / "hashes.txt").write_text("\n".join(HASHES) + "\n")
    (tmp_path / "hashes.jsonl").write_text("".join(json.dumps({"bits": h}) + "\n" for h in HASHES))
    pq.write_table(table, tmp_path / "hashes.parquet")
    packed = la.as_bits(HASHES).to_bytes()
    for given in (numbers, packed, table, pa.array(HASHES), la.as_bits(HASHES)):
        assert rows(la.similar_bits(given)) == NEAR
    for name in ("hashes.csv", "hashes.txt", "hashes.jsonl", "hashes.parquet"):
        pairs = la.similar_bits(tmp_path / name)
        assert pairs["distance"].to_pylist() == [1, 0, 3, 1, 3], name


def test_ids_name_rows_whatever_their_order():
    table = pa.table({"hash": HASHES, "name": ["e", "d", "c", "b", "a"]})
    pairs = la.similar_bits(table, column="hash", id="name")
    assert rows(pairs) == [("a", "b", 3), ("a", "e", 3), ("b", "d", 1), ("b", "e", 0), ("d", "e", 1)]


def test_pairs_between_two_collections_go_from_the_first_to_the_second():
    pairs = la.similar_bits(HASHES[:2], HASHES[2:], threshold=3)
    assert rows(pairs) == [(0, 1, 0), (0, 2, 3), (1, 1, 1)]
    table = pa.table({"bits": HASHES[2:], "id": ["x", "y", "z"]})
    assert la.similar_bits(table, table, id="id", threshold=0)["a"].to_pylist() == ["x", "y", "z"]


def test_tanimoto_counts_what_is_shared_of_what_is_set():
    pairs = la.similar_bits(["f0", "f8", "00", "00", "0f"], measure="jaccard", threshold=0.8)
    assert pairs.columns == ["a", "b", "similarity"]
    assert rows(pairs) == [(0, 1, 0.8)]
    assert pairs.account.empty == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measure": "cosine"}, "measure='cosine' is unknown for bits: choose hamming or jaccard, which is"),
        ({"method": "prefix"}, "method='prefix' is unknown: choose auto, exact, pieces, covering or lsh"),
        ({"threshold": 64}, "of 64 bits, a whole number from 0 to 63"),
        ({"threshold": 1.5}, "of 64 bits, a whole number from 0 to 63"),
        ({"measure": "jaccard", "threshold": 3}, "threshold=3"),
        ({"measure": "jaccard", "method": "covering"}, "by jaccard bits are compared exactly"),
        ({"recall": 2}, "recall=2"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_options_out_of_range_are_refused(options, said):
    with pytest.raises(OptionError, match=said):
        la.similar_bits(HASHES, **options)


def test_bits_of_two_widths_do_not_compare():
    with pytest.raises(OptionError, match="bits of 64 and of 8 do not compare"):
        la.similar_bits(HASHES, ["ff"])


def test_a_row_at_fault_is_named_by_its_place(tmp_path):
    file = tmp_path / "hashes.csv"
    file.write_text("id,bits\nb,ff00\na,ff0\nc,ff00\n")
    with pytest.raises(
        MalformedRowError, match=r"csv, line 3: .* has 3 hexadecimal digits where the first row has 4"
    ):
        la.similar_bits(file, id="id")
    file.write_text("id,bits\nb,ff00\na,zz00\n")
    with pytest.raises(
        MalformedRowError, match=r"csv, line 3: .* is 'zz00', not hexadecimal: look at digit 1"
    ):
        la.similar_bits(file, id="id")
    with pytest.raises(MissingColumnError, match="has no column 'phash'"):
        la.similar_bits(file, column="phash")
    with pytest.raises(SourceError):
        la.similar_bits([])
    with pytest.raises(SourceError):
        la.similar_bits(tmp_path / "missing.csv")


def test_an_array_of_hashes_without_a_measure_says_which_there_is():
    with pytest.raises(OptionError, match="add measure='hamming'"):
        la.similar_pairs(np.array([1, 2], np.uint64))
