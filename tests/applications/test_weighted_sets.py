"""Weighted sets from edges, lines, lists and matrices: the same sets, and pairs as brute force finds them."""

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.applications.sets import collect_weighted_sets, read_sets
from lookalike.engines import LocalEngine
from lookalike.errors import MalformedRowError, OptionError, SourceError
from lookalike.measures.weighted import weighted_buffers
from lookalike.runs.watch import Watch

#: Whose set, what is in it, and how heavy: quarters, so that sums are exact in any order.
EDGES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 8), st.integers(1, 12).map(lambda x: x / 4)), max_size=60
)


def held(given, *, signed=False, engine=None):
    """What is read: a set by id, each as weights by element."""
    [collection] = collect_weighted_sets([given], engine or LocalEngine(1), Watch(), signed=signed)
    sets = {}
    for batch in collection.table.batches:
        elements, offsets, weights = weighted_buffers(batch)
        names = collection.ids(batch["row"].to_numpy()).to_pylist()
        for row, name, first, last in zip(
            batch["row"].to_pylist(), names, offsets, offsets[1:], strict=False
        ):
            own = dict(zip(elements[first:last].tolist(), weights[first:last].tolist(), strict=True))
            sets[row] = name, own
    return dict(sets[row] for row in range(collection.rows))


def table(edges):
    users, items, weights = zip(*edges, strict=True) if edges else ((), (), ())
    return pa.table(
        {
            "user": pa.array(users, pa.int64()),
            "item": pa.array(items, pa.int64()),
            "stars": pa.array(weights, pa.float64()),
        }
    )


def bags(edges):
    sets = {}
    for user, item, weight in edges:
        own = sets.setdefault(user, {})
        own[item] = own.get(item, 0.0) + weight
    return sets


@settings(max_examples=60, deadline=None)
@given(edges=EDGES.filter(bool))
def test_edges_lines_and_mappings_are_the_same_sets(edges, tmp_path_factory):
    expected = bags(edges)
    in_order = sorted(expected)
    lines = tmp_path_factory.mktemp("lines") / "sets.dat"
    lines.write_text(
        "".join(
            " ".join([f"u{user}", *(f"{item}:{weight}" for own, item, weight in edges if own == user)]) + "\n"
            for user in in_order
        )
    )
    of_edges = held(read_sets(table(edges), of="user", items="item", weight="stars"))
    of_lines = held(read_sets(lines, id="first"))
    of_mappings = held([expected[user] for user in in_order])
    assert list(of_edges) == in_order
    assert [of_edges[user] for user in in_order] == [of_lines[f"u{user}"] for user in in_order]
    assert [of_edges[user] for user in in_order] == list(of_mappings.values())


@settings(max_examples=60, deadline=None)
@given(edges=EDGES.filter(bool), threshold=st.sampled_from([0.4, 0.6, 0.8]))
def test_pairs_are_those_of_brute_force(edges, threshold):
    sets = bags(edges)
    expected = {}
    for a in sets:
        for b in (other for other in sets if a < other):
            every = sets[a].keys() | sets[b].keys()
            least = sum(min(sets[a].get(item, 0), sets[b].get(item, 0)) for item in every)
            most = sum(max(sets[a].get(item, 0), sets[b].get(item, 0)) for item in every)
            if least / most >= threshold:
                expected[a, b] = least / most
    found = la.similar_pairs(
        read_sets(table(edges), of="user", items="item", weight="stars"),
        measure="weighted-jaccard",
        threshold=threshold,
        recall=0.99999,
        slots=2048,
    )
    assert {(row["a"], row["b"]): row["similarity"] for row in found} == expected


def test_large_sets_in_pieces_add_up_to_the_same_bits():
    draw = np.random.default_rng(5)
    # Tenths are no sums of halves: another order of adding would show in the last bit.
    edges = [("big", int(item), weight / 10) for item, weight in draw.integers(1, 40, (3000, 2))]
    edges += [("small", 1, 0.1), ("small", 1, 0.2), ("small", 1, 0.3)]
    shuffled = [edges[at] for at in draw.permutation(len(edges))]

    def read(rows, **engine):
        data = pa.table(dict(zip("uiw", map(list, zip(*rows, strict=True)), strict=True)))
        return held(read_sets(data, of="u", items="i", weight="w"), engine=LocalEngine(**engine))

    once = read(edges)
    assert once == read(shuffled, threads=1, batch_rows=16) == read(shuffled, threads=2, memory=16 << 20)
    assert list(once["small"].values()) == pytest.approx([0.6])


def test_ratings_leave_out_edges_and_may_be_weights(tmp_path):
    rated = [("a", 1, 5.0), ("a", 2, 1.0), ("b", 1, 4.0), ("c", 2, 1.0)]
    data = pa.table(dict(zip("uir", map(list, zip(*rated, strict=True)), strict=True)))
    asked = {"of": "u", "items": "i", "rating": "r", "least_rating": 4}
    assert [list(own.values()) for own in held(read_sets(data, **asked, weight="r")).values()] == [
        [5],
        [4],
        [],
    ]
    assert [list(own.values()) for own in held(read_sets(data, **asked)).values()] == [[1], [1], []]
    both = data.append_column("w", pa.array([2.0, 3.0, 4.0, 5.0]))
    assert [list(own.values()) for own in held(read_sets(both, **asked, weight="w")).values()] == [
        [2],
        [4],
        [],
    ]


def test_lists_are_bags_and_matrices_have_weights(tmp_path):
    bag = pa.table({"items": [["x", "y", "x"], []], "id": ["b", "a"]})
    assert [sorted(own.values()) for own in held(read_sets(bag, items="items", id="id")).values()] == [
        [],
        [1, 2],
    ]
    matrix = scipy.sparse.csr_matrix([[0.5, 0, 2], [0, -1, 0]])
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix)
    rows = held(read_sets(tmp_path / "m.npz"), signed=True)
    assert [list(own.values()) for own in rows.values()] == [
        list(own.values()) for own in held(matrix, signed=True).values()
    ]
    columns = held(read_sets(tmp_path / "m.npz", of="columns"), signed=True)
    assert [list(own.values()) for own in columns.values()] == [[0.5], [-1], [2]]
    with pytest.raises(SourceError, match="a weight is -1"):
        held(read_sets(tmp_path / "m.npz"))


def test_vectors_of_edges_have_cosines(tmp_path):
    data = pa.table({"d": ["p", "p", "q", "q", "r"], "t": [1, 2, 1, 2, 2], "w": [1.0, -2.0, 2.0, -4.0, 1.0]})
    sets = read_sets(data, of="d", items="t", weight="w")
    found = la.similar_pairs(sets, measure="weighted-cosine", threshold=0.9)
    assert [(row["a"], row["b"], round(row["similarity"], 9)) for row in found] == [("p", "q", 1.0)]


@pytest.mark.parametrize("line", ["a:1 b:x", "a:1 :2", "a:", "a:nan", "x a:1e999"])
def test_a_weight_that_is_none_is_named_with_its_place(tmp_path, line):
    path = tmp_path / "sets.dat"
    path.write_text(f"fine:1\n{line}\n")
    with pytest.raises(MalformedRowError, match=r"sets\.dat, line 2: .* is no item:weight"):
        held(read_sets(path))


def test_colons_within_items_names_and_separators(tmp_path):
    path = tmp_path / "sets.dat"
    path.write_text("u:1|http://x:2|plain|two words: 3\n")
    sets = held(read_sets(path, id="first", separator="|"))
    assert {name: sorted(own.values()) for name, own in sets.items()} == {"u:1": [1.0, 2.0, 3.0]}


def test_rows_with_a_bad_weight_are_skipped_and_counted(tmp_path):
    path = tmp_path / "likes.csv"
    path.write_text("u,i,w\n" + "".join(f"a,1,{weight}\n" for weight in (1, "x", "", "inf", " 2 ")))
    asked = {"of": "u", "items": "i", "weight": "w"}
    with pytest.raises(MalformedRowError, match="'x', not a number"):
        held(read_sets(path, **asked))
    sets = read_sets(path, on_error="skip", **asked)
    assert [list(own.values()) for own in held(sets).values()] == [[3.0]]


def test_weights_where_they_mean_nothing_are_refused(tmp_path):
    data = table([(1, 2, 0.5)])
    with pytest.raises(OptionError, match="counts only by weight"):
        la.similar_pairs(read_sets(data, of="user", items="item", weight="stars"))
    with pytest.raises(OptionError, match="is an end"):
        held(read_sets(data, of="user", items="item", weight="item"))
    with pytest.raises(OptionError, match="does not go with a set a line"):
        read_sets(tmp_path / "x.dat", weight="stars")


@pytest.mark.parametrize(
    ("weights", "signed"),
    [([1e308, 1e308], False), ([1e308], False), ([1e200, 1.0], True), ([1e-200], True)],
)
def test_weights_that_do_not_add_up_are_a_named_error(weights, signed):
    measure = "weighted-cosine" if signed else "weighted-jaccard"
    rows = [dict(enumerate(weights)), {0: 1.0}]
    with pytest.raises(
        SourceError, match="do not add up in 64-bit floats: multiply all weights by one number"
    ):
        la.similar_pairs(rows, measure=measure)
    unit = 1 / max(weights) if max(weights) > 1e-300 else 1e300
    scaled = [{item: weight * unit for item, weight in row.items()} for row in rows[:1]]
    assert len(la.similar_pairs(scaled * 2, measure=measure)) == 1


def test_a_sparse_vector_and_its_multiple_have_the_cosine_1():
    numbers = np.random.default_rng(0)
    rows = numbers.normal(size=(60, 6))
    multiples = rows * numbers.uniform(0.1, 10, (60, 1))
    found = la.similar_pairs(rows, multiples, measure="weighted-cosine", threshold=1.0)
    assert found["similarity"].to_pylist() == [1.0] * 60
    assert found["a"].to_pylist() == found["b"].to_pylist() == list(range(60))


def test_bags_come_in_every_layout_of_strings():
    bags = [["a", "a", "b"], ["a", "b"], ["c"]]
    for strings in (pa.string(), pa.large_string(), pa.string_view()):
        column = pa.array(bags, pa.list_(strings))
        pairs = la.similar_pairs(column, measure="weighted-jaccard", threshold=0.5)
        assert pairs.to_arrow().to_pydict() == {"a": [0], "b": [1], "similarity": [2 / 3]}
