"""Sets from files and frames, in either direction: what is joined is what brute force joins."""

import itertools
import json
from collections.abc import Sequence

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance import oracle

import lookalike as la
from lookalike.applications.sets import collect_sets, edges, read_sets
from lookalike.engines.memory import Budget
from lookalike.errors import DuplicateIdError, EmptySourceError, MalformedRowError, OptionError, SourceError
from lookalike.runs.watch import Watch

SURE = 0.9999


def truth(rows, threshold):
    return oracle.pairs([frozenset(own) for own in rows], threshold)


def found(pairs):
    return {(row["a"], row["b"]): row["similarity"] for row in pairs}


def named(pairs, names):
    return {(names[a], names[b]): similarity for (a, b), similarity in pairs.items()}


def likes(seed=0, users=40, films=30):
    """Edges in no order, some of them twice, users that are alike, and one that likes everything."""
    draw = np.random.default_rng(seed)
    edges = [("u00", film) for film in range(films)]
    for user in range(1, users):
        if user % 3 == 1:
            taste = draw.choice(films, 8, replace=False)
        edges += [(f"u{user:02}", int(film)) for film in taste[draw.integers(0, 3) :]]
    edges += edges[::5]
    draw.shuffle(edges)
    return [(str(user), int(film)) for user, film in edges]


EDGES = likes()
USERS = sorted({user for user, _ in EDGES})
FILMS = sorted({film for _, film in EDGES})
BY_USER = [frozenset(film for user, film in EDGES if user == own) for own in USERS]
BY_FILM = [frozenset(user for user, film in EDGES if film == own) for own in FILMS]


def table():
    users, films = zip(*EDGES, strict=True)
    return pa.table({"user": users, "film": films})


def written(form, path):
    rows = table().to_pylist()
    match form:
        case "csv":
            path.write_text("user,film\n" + "".join(f"{row['user']},{row['film']}\n" for row in rows))
        case "tsv":
            path.write_text("film\tuser\n" + "".join(f"{row['film']}\t{row['user']}\n" for row in rows))
        case "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case "parquet":
            pq.write_table(table(), path, row_group_size=50)
    return path


FORMS = ["csv", "tsv", "jsonl", "parquet", "table", "polars", "pandas"]


def edges_in(form, folder):
    match form:
        case "table":
            return table()
        case "polars":
            return polars.from_arrow(table())
        case "pandas":
            return table().to_pandas()
    return written(form, folder / f"likes.{form}")


@pytest.mark.parametrize("form", FORMS)
def test_an_edge_table_is_read_in_either_direction(form, tmp_path):
    data = edges_in(form, tmp_path)
    users = la.similar_pairs(la.read_sets(data, of="user", items="film"), threshold=0.6, recall=SURE)
    assert found(users) == named(truth(BY_USER, 0.6), USERS)
    films = la.similar_pairs(la.read_sets(data, of="film", items="user"), threshold=0.4, recall=SURE)
    # Every field of csv is a string, but whole numbers are in the order of numbers.
    names = [str(film) for film in FILMS] if form in ("csv", "tsv") else FILMS
    pairs = named(truth(BY_FILM, 0.4), names).items()
    expected = {tuple(sorted(pair, key=int)): value for pair, value in pairs}
    assert found(films) == expected
    assert len(users) > 10
    assert len(films) > 5


def test_an_edge_counts_once_and_the_order_of_edges_does_not_matter():
    pairs = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(EDGES))
        shuffled = table().take(pa.array(order))
        engine = la.LocalEngine(1 + seed % 2, batch_rows=[1 << 16, 1, 7][seed])
        pairs.append(list(la.similar_pairs(read_sets(shuffled, of="user", items="film"), engine=engine)))
    assert pairs[0] == pairs[1] == pairs[2]


def collected(given, **options):
    [collection] = collect_sets([given], la.LocalEngine(2, **options), Watch())
    rows = {}
    for batch in collection.table.batches:
        for row, own in zip(batch["row"].to_pylist(), batch["elements"].to_pylist(), strict=True):
            assert row not in rows
            assert own == sorted(set(own))
            rows[row] = own
    assert sorted(rows) == list(range(collection.rows))
    ids = collection.ids(np.arange(collection.rows)).to_pylist()
    return {name: set(rows[row]) for row, name in enumerate(ids)}


def elements(own):
    return set(la.as_sets([list(own)])[0].tolist())


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5) | st.integers(-(2**63), 2**63 - 1), st.integers(0, 9)), min_size=1),
    st.integers(1, 5),
)
def test_any_edges_are_grouped_to_their_sets(pairs, batch_rows):
    users, items = zip(*pairs, strict=True)
    given = read_sets(pa.table({"user": users, "item": items}), of="user", items="item")
    expected = {user: elements({item for own, item in pairs if own == user}) for user in users}
    assert collected(given, batch_rows=batch_rows) == expected


def test_a_set_larger_than_a_batch_is_whole():
    users = ["all"] * 500 + ["few"] * 3 + ["all"] * 500
    items = [*range(500), 1, 2, 3, *range(250, 750)]
    given = read_sets(pa.table({"user": users, "item": items}), of="user", items="item")
    assert collected(given, batch_rows=64) == {"all": elements(range(750)), "few": elements({1, 2, 3})}


@pytest.mark.parametrize("piece_bytes", [1 << 10, 1 << 12, 1 << 16])
def test_pieces_of_a_set_that_were_cut_and_joined_on_disk_are_one_set(monkeypatch, piece_bytes):
    monkeypatch.setattr(Budget, "take", lambda budget, batch: None)
    monkeypatch.setattr(Budget, "piece_bytes", piece_bytes)
    sizes = {"all": 900, "few": 3, "half": 450, "one": 1, "most": 700, **{f"u{at}": 20 for at in range(40)}}
    users = [user for user, size in sizes.items() for _ in range(size)]
    items = [item for size in sizes.values() for item in range(size)]
    given = read_sets(pa.table({"user": users, "item": items}), of="user", items="item")
    for batch_rows in (7, 64, 500):
        whole = collected(given, batch_rows=batch_rows)
        assert whole == {user: elements(range(size)) for user, size in sizes.items()}


def test_edges_under_the_least_rating_are_left_out_and_their_sets_are_not():
    data = pa.table({"user": [3, 3, 1, 2], "item": [7, 8, 7, 9], "stars": [5, 1, 4, 2]})
    given = read_sets(data, of="user", items="item", rating="stars", least_rating=4)
    assert collected(given) == {1: elements({7}), 2: set(), 3: elements({7})}
    assert found(la.similar_pairs(given)) == {(1, 3): 1.0}


def test_ids_whose_hashes_collide_are_refused(monkeypatch):
    monkeypatch.setattr(edges, "hash_tokens", lambda ids, **_: np.zeros(len(ids), np.uint64))
    given = read_sets(table(), of="user", items="film")
    with pytest.raises(OptionError, match=r"same 64-bit hash.*another seed"):
        la.similar_pairs(given)


def baskets(path, rows, name="{}"):
    path.write_text("".join(" ".join(name.format(item) for item in own) + "\n" for own in rows))
    return path


ROWS = [sorted(own) for own in BY_USER] + [[]]


@pytest.mark.parametrize("name", ["{}", "item{}"])
def test_a_set_a_line_is_called_by_file_and_row(tmp_path, name):
    path = baskets(tmp_path / "baskets.dat", ROWS, name)
    pairs = la.similar_pairs(la.read_sets(path), threshold=0.6, recall=SURE)
    assert found(pairs) == named(truth(ROWS, 0.6), [f"{path}:{row}" for row in range(len(ROWS))])
    assert pairs.account.empty == 1


def test_lines_of_numbers_hold_the_same_sets_as_lists_of_them(tmp_path):
    path = baskets(tmp_path / "baskets.dat", ROWS)
    pairs = la.similar_pairs(la.read_sets(path), ROWS, threshold=0.6, recall=SURE)
    names = [f"{path}:{row}" for row in range(len(ROWS))]
    expected = oracle.pairs_across(*2 * [[frozenset(own) for own in ROWS]], 0.6)
    assert found(pairs) == {(names[a], b): similarity for (a, b), similarity in expected.items()}


def test_a_line_may_begin_with_its_id(tmp_path):
    path = tmp_path / "invoices.tsv"
    lines = [f"{name}\t{' '.join(map(str, own))}\n" for name, own in zip(reversed(USERS), ROWS, strict=False)]
    path.write_text("".join(lines))
    with pytest.raises(OptionError, match="looks like a table"):
        la.read_sets(path)
    given = la.read_sets(path, id="first")
    assert collected(given) == {name: elements(own) for name, own in zip(reversed(USERS), ROWS, strict=False)}
    pairs = la.similar_pairs(given, threshold=0.6, recall=SURE)
    names = list(reversed(USERS))
    expected = {tuple(sorted(pair)): value for pair, value in named(truth(ROWS[:-1], 0.6), names).items()}
    assert found(pairs) == expected


def test_ids_of_lines_are_there_and_unique(tmp_path):
    path = tmp_path / "named.txt"
    path.write_text("a 1 2\n\nb 3\n")
    with pytest.raises(MalformedRowError, match=r"named.txt:1: a blank line has no first token"):
        la.similar_pairs(la.read_sets(path, id="first"))
    path.write_text("a 1 2\nb\na 3\n")
    with pytest.raises(DuplicateIdError, match=r"'a' occurs twice, at .*named.txt:0 and at .*named.txt:2"):
        la.similar_pairs(la.read_sets(path, id="first"))


def test_a_separator_makes_a_table_a_set_a_line(tmp_path):
    path = tmp_path / "groceries.csv"
    path.write_text("whole milk, rye bread\nrye bread,whole milk ,,\nmilk\n")
    pairs = la.similar_pairs(la.read_sets(path, separator=","))
    assert found(pairs) == {(f"{path}:0", f"{path}:1"): 1.0}


@pytest.mark.parametrize("form", ["table", "polars", "jsonl", "parquet"])
def test_a_list_a_row_with_or_without_ids(form, tmp_path):
    rows = pa.table({"who": [f"r{row:02}" for row in range(len(ROWS))][::-1], "tags": ROWS})
    data = {"table": rows, "polars": polars.from_arrow(rows)}.get(form, tmp_path / f"rows.{form}")
    if form == "jsonl":
        data.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    if form == "parquet":
        pq.write_table(rows, data)
    expected = {name: elements(own) for name, own in zip(rows["who"].to_pylist(), ROWS, strict=True)}
    assert collected(la.read_sets(data, items="tags", id="who")) == expected
    numbered = collected(la.read_sets(data, items="tags"))
    assert list(numbered.values()) == [elements(own) for own in ROWS]


def matrix():
    ends = [(row, item) for row, own in enumerate(ROWS) for item in own]
    rows, columns = zip(*ends, strict=True)
    return scipy.sparse.coo_matrix((np.ones(len(ends)), (rows, columns)), shape=(len(ROWS), 30))


@pytest.mark.parametrize("name", ["likes.npz", "likes.mtx"])
def test_a_matrix_in_a_file_is_read_by_rows_or_columns(name, tmp_path):
    path = tmp_path / name
    scipy.sparse.save_npz(path, matrix()) if name.endswith("npz") else scipy.io.mmwrite(path, matrix())
    rows = la.similar_pairs(la.read_sets(path), threshold=0.6, recall=SURE)
    assert found(rows) == truth(ROWS, 0.6)
    columns = la.similar_pairs(la.read_sets(path, of="columns"), threshold=0.4, recall=SURE)
    assert found(columns) == truth(BY_FILM, 0.4)


def test_what_is_no_matrix_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.mtx").write_text("1 2 3\n")
    with pytest.raises(SourceError, match=r"a.mtx holds no sparse matrix"):
        la.similar_pairs(la.read_sets(tmp_path / "a.mtx"))
    np.savez(tmp_path / "b.npz", x=np.arange(3))
    with pytest.raises(SourceError, match=r"b.npz holds no sparse matrix"):
        la.similar_pairs(la.read_sets(tmp_path / "b.npz"))
    with pytest.raises(SourceError, match="there is no file"):
        la.similar_pairs(la.read_sets(tmp_path / "c.npz"))
    monkeypatch.setitem(__import__("sys").modules, "scipy.io", None)
    with pytest.raises(OptionError, match="needs SciPy"):
        la.similar_pairs(la.read_sets(tmp_path / "b.npz"))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"of": "user"}, "of='user' needs items=…, the column"),
        ({"of": "user", "items": "film", "id": "x"}, "id='x' does not go with a table of edges"),
        ({"of": "user", "items": "film", "rating": "stars"}, "needs least_rating=…"),
        ({"of": "user", "items": "film", "least_rating": 3}, "needs rating=…"),
        ({"items": "tags", "separator": ","}, "does not go with a list a row"),
        ({"separator": ",,"}, "one ASCII character"),
        ({"id": "name"}, "can only be the first token"),
        ({"rating": "stars"}, "does not go with a set a line"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, reason):
    with pytest.raises(OptionError, match=reason):
        la.read_sets("likes.dat", **options)


def test_a_table_needs_column_names():
    with pytest.raises(OptionError, match="needs column names"):
        la.read_sets(table())
    with pytest.raises(OptionError, match=r"likes.csv.gz looks like a table"):
        la.read_sets("likes.csv.gz")
    with pytest.raises(OptionError, match="one file"):
        la.read_sets(["a.npz", "b.npz"])
    with pytest.raises(OptionError, match="its rows or its columns"):
        la.read_sets("a.npz", of="user")


def test_nothing_to_read_is_said(tmp_path):
    with pytest.raises(EmptySourceError):
        la.similar_pairs(la.read_sets(pa.table({"user": [1], "item": [1]}).slice(1), of="user", items="item"))


SERIES = {
    "polars lists": lambda rows: polars.Series("tags", rows, polars.List(polars.Int64)),
    "polars arrays": lambda rows: polars.Series(
        "tags", [list(own)[:5] for own in rows], polars.Array(polars.Int64, 5)
    ),
    "pandas lists": pandas.Series,
    "pandas Arrow lists": lambda rows: pandas.Series(
        pa.array(rows), dtype=pandas.ArrowDtype(pa.list_(pa.int64()))
    ),
    "fixed-size lists": lambda rows: pa.array([own[:5] for own in rows], pa.list_(pa.int64(), 5)),
    "slice of fixed-size lists": lambda rows: pa.array(
        [rows[0][:5], *(own[:5] for own in rows)], pa.list_(pa.int64(), 5)
    ).slice(1),
    "a generator": lambda rows: (set(own) for own in rows),
    "a map": lambda rows: map(frozenset, rows),
    "an array of lists": lambda rows: np.array([*rows, None], object)[:-1],
}


@pytest.mark.parametrize("form", SERIES)
def test_columns_of_lists_and_generators_hold_sets(form):
    rows = [own for own in ROWS if len(own) > 5]
    cut = "fixed" in form or "arrays" in form
    expected = truth([own[:5] for own in rows] if cut else rows, 0.6)
    assert found(la.similar_pairs(SERIES[form](rows), threshold=0.6, recall=SURE)) == expected


def test_a_generator_of_texts_holds_documents():
    texts = ["the cat sat on the mat today", "a dog", "The cat sat on the mat, today!"]
    assert found(la.similar_pairs(text for text in texts)) == {(0, 2): 1.0}
    assert found(la.similar_pairs(polars.Series(texts))) == {(0, 2): 1.0}
    assert found(la.similar_pairs(itertools.islice(texts, 3), iter(texts[:1]))) == {(0, 0): 1.0, (2, 0): 1.0}


@pytest.mark.parametrize("layout", [pa.list_, pa.large_list, pa.list_view, pa.large_list_view])
@pytest.mark.parametrize("strings", [pa.string(), pa.string_view(), pa.large_string()])
def test_lists_of_every_layout_are_sets(layout, strings):
    rows = [["a", "b", "c"], [], ["b", "c"], ["c", "b", "a"], []]
    table = pa.table({"key": list("vwxyz"), "has": pa.array(rows, layout(strings))})
    sets = la.read_sets(table, items="has", id="key")
    pairs = la.similar_pairs(sets, threshold=0.5, method="prefix")
    assert found(pairs) == named(truth(rows, 0.5), list("vwxyz"))


def test_a_null_list_is_a_flaw_in_every_layout():
    table = pa.table({"has": pa.array([["a"], None], pa.list_view(pa.string()))})
    with pytest.raises(MalformedRowError, match=r"row 1 .*'has' is null"):
        la.similar_pairs(la.read_sets(table, items="has"))


class Column(Sequence):
    """A column of a Hugging Face dataset: a sequence that reads its values when they are looked at."""

    def __init__(self, values):
        self._values = values

    def __len__(self):
        return len(self._values)

    def __getitem__(self, key):
        return self._values[key]


def test_a_sequence_of_lists_holds_sets_and_one_of_strings_documents():
    assert la.similar_pairs(Column([[1, 2], [2, 1], [3]])).to_arrow().num_rows == 1
    assert la.similar_pairs(Column(["a rose", "A rose", "a tulip"])).to_arrow().num_rows == 1


def test_lists_in_a_column_for_texts_are_met_with_what_reads_them():
    with pytest.raises(SourceError, match="not text") as told:
        la.similar_pairs(pa.table({"has": [["a"]]}), text="has")
    assert "read_sets(data, items='has')" in told.value.__notes__[0]
    with pytest.raises(OptionError, match=r"on_error='skip' goes with documents, .*read_sets"):
        la.similar_pairs([["a"], ["b"]], on_error="skip")
