"""Tables that hold sets: edges and lists, in every format, and what is wrong with them by line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.errors import MalformedRowError, MissingColumnError, OptionError, SourceError
from lookalike.io.edges import open_edges, open_lists

EDGES = [("ann", 1, 5.0), ("bob", 2, 2.5), ("ann", 2, 1.0), ("ann", 1, 4.0)]


def write_csv(path, delimiter=","):
    rows = [("user", "item", "stars"), *EDGES]
    path.write_text("".join(delimiter.join(map(str, row)) + "\n" for row in rows))
    return path


def write_jsonl(path):
    names = ("user", "item", "stars")
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in EDGES))
    return path


def write_parquet(path):
    user, item, stars = zip(*EDGES, strict=True)
    pq.write_table(pa.table({"user": user, "item": item, "stars": stars}), path)
    return path


WRITERS = {
    "edges.csv": write_csv,
    "edges.tsv": lambda path: write_csv(path, "\t"),
    "edges.jsonl": write_jsonl,
    "edges.parquet": write_parquet,
}


def rows_of(source, batch_bytes=1 << 20):
    return [tuple(row.values()) for batch in source.scan(batch_bytes) for row in batch.to_pylist()]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("batch_bytes", [1 << 20, 8])
def test_edges_are_the_same_in_every_format(tmp_path, name, batch_bytes):
    source = open_edges(WRITERS[name](tmp_path / name), of="user", items="item", rating="stars")
    rows = rows_of(source, batch_bytes)
    assert [(user, int(item), stars) for item, user, stars in rows] == EDGES
    # csv keeps what is written; the other formats keep their integers.
    assert isinstance(rows[0][0], str if name.endswith("sv") else int)


@pytest.mark.parametrize("name", WRITERS)
def test_edges_can_be_read_the_other_way(tmp_path, name):
    source = open_edges(WRITERS[name](tmp_path / name), of="item", items="user")
    assert [(user, int(item)) for user, item in rows_of(source)] == [edge[:2] for edge in EDGES]


def test_tables_in_memory_hold_edges_too():
    table = pa.table(
        {"user": pa.array(["ann", "bob"]).dictionary_encode(), "item": pa.array([1, 2], pa.int8())}
    )
    assert rows_of(open_edges(table, of="user", items="item")) == [(1, "ann"), (2, "bob")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("ann,3,many", r"line 3: 'stars' is 'many', not a number"),
        ("ann,3,", r"line 3: 'stars' is '', not a number"),
        (",3,5", r"line 3: 'user' is empty"),
        ("ann,,5", r"line 3: 'item' is empty"),
        ("ann,3", r"line 3: 2 fields where the header has 3"),
    ],
)
def test_a_bad_row_of_csv_is_named_by_its_line(tmp_path, line, reason):
    path = tmp_path / "edges.csv"
    path.write_text(f"user,item,stars\nann,1,5\n{line}\nbob,2,4\n")
    with pytest.raises(MalformedRowError, match=rf"edges.csv, {reason}"):
        rows_of(open_edges(path, of="user", items="item", rating="stars"))
    source = open_edges(path, of="user", items="item", rating="stars", on_error="skip")
    assert rows_of(source) == [("1", "ann", 5.0), ("2", "bob", 4.0)]
    assert source.unreadable.rows == 1


@pytest.mark.parametrize("line", ['{"user": "ann", "item": null}', '{"user": "ann"}', '{"item": 3}'])
def test_an_edge_without_an_end_is_named(tmp_path, line):
    path = tmp_path / "edges.jsonl"
    path.write_text('{"user": "ann", "item": 1}\n' + line + "\n")
    with pytest.raises(MalformedRowError, match=r"edges.jsonl, line 2: '(user|item)' is null or missing"):
        rows_of(open_edges(path, of="user", items="item"))


def test_columns_that_cannot_be_ends_are_refused(tmp_path):
    table = pa.table({"user": [1.5], "item": [1], "film": [1], "tags": [["a"]]})
    with pytest.raises(
        SourceError, match=r"'user' of .* holds double: name a column of whole numbers or strings"
    ):
        open_edges(table, of="user", items="item")
    with pytest.raises(SourceError, match=r"'tags' of .*: name a column of numbers"):
        open_edges(table, of="item", items="film", rating="tags")
    with pytest.raises(OptionError, match="name two columns"):
        open_edges(table, of="item", items="item")
    with pytest.raises(MissingColumnError, match="no column 'users'"):
        open_edges(table, of="users", items="item")
    (tmp_path / "a.txt").write_text("1")
    with pytest.raises(SourceError, match="has no columns"):
        open_edges(tmp_path / "a.txt", of="user", items="item")


LISTS = [[1, 2, 2], [], [3]]


@pytest.mark.parametrize("form", ["jsonl", "parquet", "fixed", "memory"])
@pytest.mark.parametrize("kind", [int, str])
def test_lists_are_read_with_their_ids(tmp_path, form, kind):
    lists = [[kind(item) for item in own] for own in (LISTS if form != "fixed" else [[1, 2], [3, 4]])]
    ids = list("xyz")[: len(lists)]
    table = pa.table({"id": ids, "tags": lists})
    if form == "fixed":
        table = table.set_column(1, "tags", table["tags"].cast(pa.list_(table["tags"].type.value_type, 2)))
    path = tmp_path / f"lists.{form}"
    if form == "jsonl":
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in [{"id": "w", "tags": []}, *table.to_pylist()])
        )
        ids, lists = ["w", *ids], [[], *lists]
    elif form != "memory":
        path = tmp_path / "lists.parquet"
        pq.write_table(table, path)
    source = open_lists(table if form == "memory" else path, items="tags", id="id")
    assert rows_of(source, 16) == list(zip(lists, ids, strict=True))
    assert source.ids(np.arange(len(ids))).to_pylist() == ids


def test_a_null_in_a_list_or_instead_of_one_is_named(tmp_path):
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"tags": [[1], [2, None], None]}), path)
    with pytest.raises(MalformedRowError, match=r"row 1 .*: 'tags' holds a null"):
        rows_of(open_lists(path, items="tags"))
    source = open_lists(path, items="tags", on_error="skip")
    assert rows_of(source) == [([1],)]
    assert source.unreadable.rows == 2


def test_what_is_no_list_is_refused(tmp_path):
    with pytest.raises(SourceError, match="not lists of whole numbers or strings"):
        open_lists(pa.table({"tags": ["a"]}), items="tags")
    with pytest.raises(SourceError, match="not lists of whole numbers or strings"):
        open_lists(pa.table({"tags": [[1.5]]}), items="tags")
