"""Two collections whose tokens are of kinds that cannot meet, or would meet by mistake, are told apart."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.errors import SourceError

LARGE = 2**64 - 1
MEASURES = ["jaccard", "containment", "cosine", "weighted-jaccard", "weighted-cosine"]


class Matrix:
    """As much of a sparse matrix as `as_sets` needs."""

    has_canonical_format = True
    shape = (1, 2)
    indptr, indices, data = np.array([0, 2]), np.array([0, 1]), np.array([1, 1])

    def tocsr(self):
        return self


HOLDERS = [[[1, 2]], la.as_sets([[1, 2]]), pa.array([[1, 2]]), Matrix()]
#: Sets that are hashed already have no weights.
CASES = [
    (measure, integers)
    for measure in MEASURES
    for integers in HOLDERS
    if not (isinstance(integers, la.Sets) and measure.startswith("weighted"))
]


@pytest.mark.parametrize(("measure", "integers"), CASES)
@pytest.mark.parametrize("turned", [False, True])
def test_integers_and_strings_can_have_nothing_in_common(measure, integers, turned):
    both = (integers, [["1", "2"]])
    said = "the second collection strings, such as '1'"
    if turned:
        both, said = both[::-1], "the first collection strings, such as '1'"
    with pytest.raises(SourceError, match=said):
        la.similar_pairs(*both, measure=measure)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("both", [([[-1]], [[LARGE]]), ([[LARGE, 3]], [[4, -1]])])
def test_numbers_that_are_the_same_64_bits_are_not_taken_for_each_other(measure, both):
    with pytest.raises(SourceError, match="these can be the same 64 bits"):
        la.similar_pairs(*both, measure=measure)
    assert len(la.similar_pairs([[LARGE]], [[LARGE], [7]], measure=measure)) == 1


def test_top_tells_kinds_too():
    with pytest.raises(SourceError, match="they can have nothing in common"):
        la.top([[1, 2]], [["1", "2"]], k=1)


def test_maps_of_weights_tell_kinds_too():
    with pytest.raises(SourceError, match="the first collection holds integers, such as 1"):
        la.similar_pairs([{1: 0.5}], [{"1": 0.5}], measure="weighted-jaccard")


@pytest.mark.parametrize(("one", "other"), [([[1]], [[]]), ([[]], [["a"]]), ([["1", "b"]], [["1", "b"]])])
def test_what_holds_nothing_or_the_same_kind_goes_with_it(one, other):
    equal = [0] if one == other else []
    assert la.similar_pairs(one, other).to_arrow()["a"].to_pylist() == equal


@pytest.fixture
def files(tmp_path):
    """Sets in files: lines, lists and edges."""
    lines = {"numbers": "1 2\n3 4\n", "under": "x -1\n", "words": "a b\n\n", "named": "9 a b\n"}
    for name, text in lines.items():
        (tmp_path / f"{name}.txt").write_text(text)
    lists = {"integers": ([1, 2], pa.int64()), "large": ([LARGE], pa.uint64()), "strings": (["1", "2"], None)}
    for name, (items, kind) in lists.items():
        table = pa.table({"items": pa.array([items], pa.list_(kind or pa.string()))})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    (tmp_path / "edges.jsonl").write_text('{"of": "ann", "item": 1}\n{"of": "ann", "item": 2}\n')

    def read(name):
        path = tmp_path / name
        if name.endswith("parquet"):
            return la.read_sets(path, items="items")
        if name.endswith("jsonl"):
            return la.read_sets(path, of="of", items="item")
        return la.read_sets(path, id="first" if name.startswith("named") else None)

    return read


@pytest.mark.parametrize("measure", ["jaccard", "weighted-jaccard"])
@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (
            "integers.parquet",
            "words.txt",
            "integers.parquet holds integers, such as 1, and words.txt",
        ),
        ("named.txt", "edges.jsonl", "edges.jsonl holds integers, such as 1, and named.txt strings"),
        ("large.parquet", "under.txt", "under.txt holds -1, and large.parquet holds 18446744073709551615"),
    ],
)
def test_files_of_kinds_that_do_not_meet_are_named(files, measure, one, other, said):
    with pytest.raises(SourceError, match=said):
        la.similar_pairs(files(one), files(other), measure=measure)


@pytest.mark.parametrize("written", ["numbers.txt", "strings.parquet"])
def test_strings_in_memory_are_not_the_numbers_that_files_hold(files, written):
    with pytest.raises(SourceError, match=f"such as '1', and in {written} a token written like a number"):
        la.similar_pairs([["1", "2"]], files(written))


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("integers.parquet", "numbers.txt", 1),
        ("strings.parquet", "integers.parquet", 1),
        ("strings.parquet", "edges.jsonl", 1),
        # Tokens as they are written may be of either kind, so these are no mistake.
        ("numbers.txt", "words.txt", 0),
        ("named.txt", "words.txt", 1),
    ],
)
def test_tokens_as_they_are_written_meet_whatever_is_written_like_them(files, one, other, found):
    assert len(la.similar_pairs(files(one), files(other))) == found


def test_strings_in_memory_that_are_no_numbers_meet_those_of_files(files):
    assert len(la.similar_pairs([["a", "b"], ["1", "a"]], files("words.txt"))) == 1
