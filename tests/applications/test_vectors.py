"""similar_pairs of vectors as a user meets it: tables, ids, files, two collections, bad input."""

import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.errors import (
    DuplicateIdError,
    EmptySourceError,
    LookalikeError,
    MalformedRowError,
    MissingColumnError,
    OptionError,
    SourceError,
    UnreachableRecallError,
)

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0], [1.0, 0.0]])


def pairs(*given, **options):
    found = la.similar_pairs(*given, **{"measure": "angle", "threshold": "20deg", **options})
    return list(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True))


def test_copies_are_pairs_like_others_or_a_star():
    assert pairs(ROWS, copies="stars") == [(0, 2), (0, 4), (1, 3)]
    assert pairs(ROWS) == [(0, 2), (0, 4), (1, 3), (2, 4)]


def test_every_form_gives_the_same_pairs(tmp_path):
    lists = pa.array(ROWS.tolist(), pa.list_(pa.float32(), 2))
    np.save(tmp_path / "x.npy", ROWS)
    pq.write_table(pa.table({"v": lists}), tmp_path / "x.parquet")
    for items in (
        ROWS,
        ROWS.astype(np.float32),
        ROWS.tolist(),
        lists,
        pa.chunked_array([lists]),
        pa.table({"v": lists}),
        la.Vectors(ROWS),
        tmp_path / "x.npy",
        str(tmp_path / "x.parquet"),
    ):
        assert pairs(items) == pairs(ROWS)
        assert pairs(items, measure="l2", threshold=0.2) == pairs(ROWS)
    for items in (ROWS, ROWS.tolist(), lists, pa.table({"v": lists}), la.Vectors(ROWS), tmp_path / "x.npy"):
        assert pairs(items, measure="cosine", threshold=0.95) == pairs(ROWS)


def test_frames_of_other_libraries_are_tables():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"name": list("edcba"), "v": ROWS.tolist()})
    assert pairs(frame, id="name") == [("a", "c"), ("a", "e"), ("b", "d"), ("c", "e")]
    assert pairs(frame["v"]) == pairs(ROWS)
    for items in (frame["v"], frame):
        assert pairs(items, measure="cosine", threshold=0.95) == pairs(ROWS)


def test_ids_name_rows_and_order_pairs():
    table = pa.table({"name": list("edcba"), "v": ROWS.tolist(), "w": ROWS.tolist()})
    assert pairs(table, id="name", text="v") == [("a", "c"), ("a", "e"), ("b", "d"), ("c", "e")]
    other = pa.table({"name": ["x", "y"], "v": [[2.0, 0.0], [-1.0, 0.0]]})
    assert pairs(table.drop_columns("w"), other, id="name") == [("a", "x"), ("c", "x"), ("e", "x")]


def test_two_collections_pair_across_and_may_differ_in_floats():
    assert pairs(ROWS[:2], ROWS[2:].astype(np.float32)) == [(0, 0), (0, 2), (1, 1)]
    found = la.similar_pairs(ROWS[:1], ROWS[1:], measure="l1", threshold=0.5)
    assert found["distance"].to_pylist() == [pytest.approx(0.1), 0.0]


def test_columns_say_what_they_hold_and_the_account_adds_up():
    cosine = la.similar_pairs(ROWS, measure="cosine", threshold="20deg")
    assert cosine.columns == ["a", "b", "similarity"]
    angle = la.similar_pairs(ROWS, measure="angle", threshold="0.35rad", method="lsh")
    assert angle.columns == ["a", "b", "distance"]
    account = angle.account
    assert (account.items, account.copies, account.representatives, account.pairs) == (5, 1, 4, 2)
    assert account.promised == 0.95
    assert account.recall.recall > 0.9
    assert account.choice.method == "lsh"
    assert la.similar_pairs(ROWS, measure="angle", threshold="20deg").account.choice.why


def test_auto_compares_all_where_no_banding_keeps_the_promise():
    found = la.similar_pairs(-ROWS, measure="angle", threshold="179deg", slots=2, recall=0.999)
    assert found.account.method == "exact"
    assert "no banding of 2 slots" in found.account.choice.why
    with pytest.raises(UnreachableRecallError, match="2 slots find at most"):
        la.similar_pairs(ROWS, measure="angle", threshold="170deg", slots=2, recall=0.999, method="lsh")


@pytest.mark.parametrize(
    ("items", "options", "error", "message"),
    [
        (ROWS, {"threshold": None}, OptionError, "need a threshold"),
        (ROWS, {"threshold": 0.3}, OptionError, "cosine or a small angle"),
        (ROWS, {"measure": "l2", "threshold": -1}, OptionError, "over 0"),
        (ROWS, {"recall": 1.5}, OptionError, "recall"),
        (ROWS, {"method": "prefix"}, OptionError, "unknown for vectors"),
        (ROWS, {"shingle": "words:5"}, OptionError, "there is no option 'shingle' of vectors"),
        (ROWS, {"seed": -1}, OptionError, "seed"),
        (ROWS, {"id": "name"}, MissingColumnError, "leave it out"),
        (np.zeros((3, 2)), {}, MalformedRowError, "row 0 is all zeros"),
        (np.array([[1.0], [np.nan]]), {}, MalformedRowError, "row 1 holds nan"),
        (np.empty((0, 4)), {}, EmptySourceError, "no vectors"),
        ([], {}, EmptySourceError, "no vectors"),
        (pa.table({"text": ["a"]}), {}, MissingColumnError, "no column of vectors"),
        (
            pa.table({"i": [1, 1], "v": [[1.0], [2.0]]}),
            {"id": "i"},
            DuplicateIdError,
            "occurs twice",
        ),
        (pa.table({"i": [1, None], "v": [[1.0], [2.0]]}), {"id": "i"}, SourceError, "null"),
        (ROWS, {"measure": "jaccard"}, OptionError, "matrix of floats holds vectors"),
        (["a.npy", "b.npy"], {}, SourceError, "one file"),
        ("nowhere.npy", {}, SourceError, "there is no file"),
        (["a text", "another"], {}, LookalikeError, "numbers"),
    ],
)
def test_bad_input_is_a_short_error_that_says_what_to_do(items, options, error, message):
    with pytest.raises(error, match=message) as raised:
        pairs(items, **options)
    assert "\n" not in str(raised.value)


def test_errors_of_rows_say_in_which_collection_they_are(tmp_path):
    odd = np.array([[1.0, 2.0], [np.nan, 1.0]])
    with pytest.raises(MalformedRowError, match=r"^the second collection: row 1 holds nan"):
        pairs(ROWS[:, :2], odd)
    with pytest.raises(MalformedRowError, match=r"^row 1 holds nan"):
        pairs(odd)
    np.save(tmp_path / "odd.npy", odd)
    np.save(tmp_path / "zeros.npy", np.zeros((1, 2)))
    for given in (tmp_path / "odd.npy", [str(tmp_path / "odd.npy")]):
        with pytest.raises(MalformedRowError, match=r"odd\.npy: row 1 holds nan"):
            pairs(given)
    with pytest.raises(MalformedRowError, match=r"zeros\.npy: row 0 is all zeros"):
        pairs(ROWS[:, :2], tmp_path / "zeros.npy")
    twice = pa.table({"i": [1, 1], "v": [[1.0], [2.0]]})
    with pytest.raises(DuplicateIdError, match=r"^the second collection: id 1 occurs twice"):
        pairs(twice.slice(1), twice, id="i")


def test_collections_of_other_widths_do_not_meet():
    with pytest.raises(SourceError, match="of 2 and of 3 coordinates"):
        pairs(ROWS, np.ones((2, 3)))


def test_options_can_be_made_before_anything_else_is_imported():
    code = "import lookalike as la; print(la.VectorOptions(measure='l2', threshold=2).level)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2.0\n"


def test_zeros_are_vectors_by_distance():
    assert pairs(np.zeros((2, 3)), measure="l1", threshold=1) == [(0, 1)]


@pytest.mark.parametrize(("method", "probes"), [("auto", None), ("lsh", None), ("lsh", 4), ("exact", None)])
@pytest.mark.parametrize("threshold", ["0.3deg", "0.005rad"])
def test_angles_under_a_degree_are_searched_for_on_every_road(method, probes, threshold):
    turned = np.radians([0.0, 0.2, 10.0, 10.25])
    rows = np.stack([np.cos(turned), np.sin(turned)], axis=1)
    assert pairs(rows, threshold=threshold, method=method, probes=probes) == [(0, 1), (2, 3)]
    options = la.VectorOptions(threshold=threshold, method=method, probes=probes)
    assert la.VectorOptions.of(options.to_dict()) == options


@pytest.mark.parametrize("method", ["exact", "lsh"])
def test_a_vector_and_its_multiple_have_the_cosine_1(method):
    rows = np.random.default_rng(5).normal(size=(100, 7))
    multiples = rows * np.random.default_rng(6).uniform(0.1, 10, (100, 1))
    found = la.similar_pairs(rows, multiples, measure="cosine", threshold=1.0, method=method)
    assert found["similarity"].to_pylist() == [1.0] * 100
    assert found["a"].to_pylist() == found["b"].to_pylist() == list(range(100))


@pytest.mark.parametrize("measure", ["l2", "l1"])
@pytest.mark.parametrize("options", [{}, {"method": "lsh"}, {"probes": 4}])
def test_the_least_threshold_is_searched_for_on_every_road(measure, options):
    vectors = np.random.default_rng(4).normal(size=(40, 3)) * 1e30
    pairs = la.similar_pairs(np.vstack([vectors, vectors[:5]]), measure=measure, threshold=1e-300, **options)
    assert pairs.to_arrow()["b"].to_pylist() == [40, 41, 42, 43, 44]


def test_vectors_of_very_different_sizes_are_compared_without_a_warning():
    rows = np.array([[1.0, 2.0], [1.0, 2.5], [1e200, 0.0], [1e200, 1e190]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pairs(rows, measure="l2", threshold=1, method="exact") == [(0, 1)]
        assert pairs(rows, measure="l1", threshold=1e191, method="exact") == [(0, 1), (2, 3)]


@pytest.mark.parametrize("method", ["auto", "exact", "lsh"])
def test_numbers_whose_distances_may_be_none_are_named(method):
    rows = np.array([[1.0, 2.0], [1e308, 1e308], [1.0, -1e308]])
    with pytest.raises(MalformedRowError, match=r"row 1 holds 1e\+308: .* multiply all by one small number"):
        pairs(rows, measure="l2", threshold=1, method=method)
    # Directions have no such limits.
    assert pairs(rows, threshold="80deg", method=method) == [(0, 1)]


@pytest.mark.parametrize(
    ("items", "says"),
    [
        (None, "None holds no vectors"),
        (np.float64(3), "holds no vectors"),
        ([], "the input has no vectors"),
        (np.ma.array(ROWS, mask=ROWS == 0.1), "row 2 holds a masked value"),
    ],
)
def test_what_holds_no_vectors_is_told(items, says):
    with pytest.raises(SourceError, match=says):
        pairs(items, measure="l2", threshold=1)


def test_sparse_matrices_are_sent_to_their_measure():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(SourceError, match="measure='weighted-cosine'"):
        pairs(sparse.csr_matrix(ROWS), measure="l2", threshold=1)


def test_a_table_without_lists_says_what_it_has():
    with pytest.raises(MissingColumnError, match=r"it has no lists of numbers, but x, y"):
        pairs(pa.table({"x": [1.0, 2.0], "y": [1.0, 2.0]}), measure="l2", threshold=1)


def test_parquet_files_of_vectors_are_known_by_their_columns_of_floats(tmp_path):
    file, said = (
        tmp_path / "x.parquet",
        ["one two three", "four five six", "one two three", "five", "four five six"],
    )
    lists = pa.array(ROWS.tolist(), pa.list_(pa.float32()))
    pq.write_table(pa.table({"v": lists}), file)
    for text in ("text", "v"):
        assert pairs(file, measure="cosine", threshold=0.95, text=text) == pairs(ROWS)
    # With a column of that name it is documents, whatever lies beside it.
    pq.write_table(pa.table({"text": said, "v": lists}), file)
    documents = pairs(file, measure="cosine", threshold=0.95)
    assert [(a[-1], b[-1]) for a, b in documents] == [("0", "2"), ("1", "4")]
    assert pairs(file, measure="cosine", threshold=0.95, text="v") == pairs(ROWS)


@pytest.mark.parametrize("values", [np.array([[1.0, np.nan], [1.0, 2.0]]), np.array([1.0, 2.0])])
def test_vectors_that_somebody_made_are_checked_too(values):
    with pytest.raises(SourceError, match=r"row 0 holds nan|this has the shape \(2,\)"):
        pairs(la.Vectors(values), measure="l2", threshold=1)
    assert pairs(la.Vectors([[1, 2], [1, 2]]), measure="l2", threshold=1) == [(0, 1)]


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.list_(pa.int8(), 3), pa.large_list(pa.uint8())])
@pytest.mark.parametrize("name", ["text", "v"])
def test_whole_numbers_of_a_table_are_vectors_by_cosine_as_by_angle(tmp_path, kind, name):
    rows = [[1, 2, 3], [2, 4, 6], [9, 1, 1], [8, 1, 1]]
    table = pa.table({name: pa.array(rows, kind), "key": ["p", "q", "r", "s"]})
    pq.write_table(table, tmp_path / "v.parquet")
    exact = np.array(rows) / np.linalg.norm(rows, axis=1)[:, None]
    near = {("pqrs"[a], "pqrs"[b]) for a in range(4) for b in range(a) if exact[a] @ exact[b] >= 0.99}
    for given in (table, table.to_pandas(), tmp_path / "v.parquet"):
        for named in ({}, {"text": name}):
            found = la.similar_pairs(given, measure="cosine", threshold=0.99, id="key", **named).to_arrow()
            assert set(zip(found["b"].to_pylist(), found["a"].to_pylist(), strict=True)) == near


def test_sets_that_are_no_vectors_are_said_to_be_sets_perhaps(tmp_path):
    pq.write_table(pa.table({"items": [[1, 2, 3], [1, 2]]}), tmp_path / "sets.parquet")
    with pytest.raises(MalformedRowError, match=r"if they are sets of tokens, have them read by read_sets"):
        la.similar_pairs(tmp_path / "sets.parquet", measure="cosine", threshold=0.5)
    read = la.read_sets(tmp_path / "sets.parquet", items="items")
    assert len(la.similar_pairs(read, measure="cosine", threshold=0.5)) == 1
