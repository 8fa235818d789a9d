"""Every row that was read is kept or dropped, once; every row that was not is counted."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.engines import LocalEngine, memory

WORDS = [f"word{at}" for at in range(40)]

TEXTS = st.one_of(
    st.sampled_from(
        ["", "   ", "...", "one", "just three words", "Just three words!", "ünïcödé tôô", "你好世界"]
    ),
    # Families: a beginning of the same words, and what is behind it.
    st.builds(
        lambda start, length, end: " ".join([*(WORDS * 2)[start : start + length], *end]),
        st.integers(0, 5),
        st.integers(8, 30),
        st.lists(st.sampled_from(WORDS), max_size=3),
    ),
    st.lists(
        st.sampled_from(["a line of five words", "another line, longer than that", "", "x"]), max_size=5
    ).map("\n".join),
)
#: None stands for a line that no reader can make sense of.
ROWS = st.lists(st.none() | TEXTS, min_size=1, max_size=40)


def write_jsonl(path, rows):
    lines = [
        json.dumps({"id": f"d{at}", "text": text, "more": at}) if text is not None else '{"id": "broken'
        for at, text in rows
    ]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def read_jsonl(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(row["id"], row["text"], row["more"]) for row in map(json.loads, lines)]


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "more"])
        for at, text in rows:
            writer.writerow(
                [f"d{at}", text, at] if text is not None else ["too", "many", "fields", "by", "far"]
            )


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return [(row["id"], row["text"], int(row["more"])) for row in csv.DictReader(file)]


def write_parquet(path, rows):
    readable = [(f"d{at}", text, at) for at, text in rows if text is not None]
    columns = zip(*readable, strict=True) if readable else ((), (), ())
    kinds = (pa.string(), pa.string(), pa.int64())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    pq.write_table(pa.table(dict(zip(("id", "text", "more"), arrays, strict=True))), path, row_group_size=5)


def read_parquet(path):
    return [tuple(row.values()) for row in pq.read_table(path).to_pylist()]


FORMATS = {
    "jsonl": (write_jsonl, read_jsonl, True),
    "csv": (write_csv, read_csv, True),
    "parquet": (write_parquet, read_parquet, False),
}


class Case:
    """Rows in files of one format, some of them unreadable."""

    def __init__(self, folder, form, rows, files):
        self.folder, self.form = folder, form
        write, self.read, breaks = FORMATS[form]
        rows = list(enumerate(rows))
        self.paths = []
        for number in range(files):
            path = folder / f"part{number}.{form}"
            write(path, rows[number::files])
            self.paths.append(path)
        self.texts = {f"d{at}": text for at, text in rows if text is not None}
        self.broken = sum(text is None for _, text in rows) if breaks else 0

    def kept_on_disk(self, output):
        return [
            row for path in sorted((output / "kept").rglob("*")) if path.is_file() for row in self.read(path)
        ]


@pytest.fixture
def folders(tmp_path_factory):
    return lambda: tmp_path_factory.mktemp("case")


ENGINES = st.sampled_from([(1, 10**9), (2, 10**9), (2, 60_000)])
GIVEN = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def any_budget(monkeypatch):
    monkeypatch.setattr(memory, "LEAST", 0)


@GIVEN
@given(
    rows=ROWS,
    form=st.sampled_from(sorted(FORMATS)),
    files=st.integers(1, 3),
    how=ENGINES,
    group=st.sampled_from(["components", "star"]),
    keep=st.sampled_from(["first", "longest", "max:more"]),
)
def test_documents_are_kept_or_dropped_once(folders, rows, form, files, how, group, keep):
    folder = folders()
    case = Case(folder, form, rows, files)
    if not case.texts:
        return
    result = la.dedup(
        case.paths,
        id="id",
        threshold=0.5,
        on_error="skip",
        group=group,
        keep=keep,
        engine=LocalEngine(how[0], memory=how[1]),
    )
    output = result.write(folder / "out")
    counts = result.counts
    assert (counts["documents"], counts["unreadable"]) == (len(case.texts), case.broken)
    assert counts["kept"] + counts["dropped"] == counts["documents"]
    clusters = pq.read_table(output / "clusters.parquet").to_pylist()
    assert sorted(row["id"] for row in clusters) == sorted(case.texts)
    kept = {row["id"] for row in clusters if row["kept"]}
    on_disk = case.kept_on_disk(output)
    # All columns of what is kept are on disk as they were given, and no row twice.
    assert sorted(on_disk) == sorted((name, case.texts[name], int(name[1:])) for name in kept)
    assert len(kept) == counts["kept"]
    for row in clusters:
        assert row["representative"] in kept
        assert row["kept"] == (row["representative"] == row["id"])
    flags = [row["flag"] for row in clusters]
    assert (flags.count("empty"), flags.count("short")) == (counts["empty"], counts["short"])
    assert all(row["kept"] for row in clusters if row["flag"] == "empty")
    sizes = np.unique([row["cluster"] for row in clusters], return_counts=True)[1]
    assert counts["clusters"] == np.count_nonzero(sizes > 1)
    assert counts["largest_clusters"] == sorted(sizes[sizes > 1].tolist(), reverse=True)[:5]
    dropped = pq.read_table(result.write(folder / "list", drop_list=True) / "dropped.parquet").to_pylist()
    assert {row["id"] for row in dropped} == set(case.texts) - kept
    assert not (folder / "list" / "kept").exists()
    pairs = pq.read_table(output / "pairs.parquet").to_pylist()
    assert len(pairs) == counts["pairs"] + counts["copies"]
    assert all(pair["a"] < pair["b"] and {pair["a"], pair["b"]} <= set(case.texts) for pair in pairs)
    assert len({(pair["a"], pair["b"]) for pair in pairs}) == len(pairs)


@GIVEN
@given(
    rows=ROWS,
    form=st.sampled_from(sorted(FORMATS)),
    how=ENGINES,
    unit=st.sampled_from(["line", "paragraph"]),
)
def test_units_are_kept_or_dropped_once(folders, rows, form, how, unit):
    folder = folders()
    case = Case(folder, form, rows, 2)
    if not case.texts:
        return
    result = la.dedup(
        case.paths,
        id="id",
        threshold=0.5,
        on_error="skip",
        unit=unit,
        shingle="words:2",
        engine=LocalEngine(how[0], memory=how[1]),
    )
    output = result.write(folder / "out")
    counts = result.counts
    assert (counts["documents"], counts["unreadable"]) == (len(case.texts), case.broken)
    assert counts["kept"] + counts["dropped"] == counts["units"]
    assert counts["kept_documents"] + counts["dropped_documents"] == counts["documents"]
    documents = pq.read_table(output / "documents.parquet").to_pylist()
    assert sorted(row["id"] for row in documents) == sorted(case.texts)
    assert sum(row["units"] for row in documents) == counts["units"]
    assert sum(row["kept_units"] for row in documents) == counts["kept"]
    units = pq.read_table(output / "clusters.parquet").to_pylist()
    assert len({row["id"] for row in units}) == len(units) == counts["units"]
    kept_units = {(row["document"], row["unit"]) for row in units if row["kept"]}
    for document in documents:
        mine = {unit for name, unit in kept_units if name == document["id"]}
        assert len(mine) == document["kept_units"]
        assert document["kept"] == (document["kept_units"] > 0 or document["units"] == 0)
    on_disk = {name: text for name, text, _ in case.kept_on_disk(output)}
    assert len(on_disk) == len(case.kept_on_disk(output)) == counts["kept_documents"]
    assert set(on_disk) == {row["id"] for row in documents if row["kept"]}
    whole = {row["id"] for row in documents if row["units"] == row["kept_units"]}
    assert all(on_disk[name] == case.texts[name] for name in whole)
    trimmed = [name for name in on_disk if name not in whole]
    assert len(trimmed) == counts["trimmed_documents"]
    assert all(len(on_disk[name]) < len(case.texts[name]) for name in trimmed)


SOME = st.lists(TEXTS, min_size=1, max_size=20)


@GIVEN
@given(first=SOME, second=SOME, form=st.sampled_from(sorted(FORMATS)), how=ENGINES)
def test_pairs_between_two_collections_name_rows_of_both(folders, first, second, form, how):
    folder = folders()
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    one, two = Case(folder / "one", form, first, 1), Case(folder / "two", form, second, 2)
    engine = LocalEngine(how[0], memory=how[1])
    pairs = la.similar_pairs(one.paths, two.paths, id="id", threshold=0.5, engine=engine)
    found = [(pair["a"], pair["b"]) for pair in pairs]
    assert len(set(found)) == len(found)
    assert {a for a, _ in found} <= set(one.texts)
    assert {b for _, b in found} <= set(two.texts)
    # Copies are pairs, whichever road finds them.
    copies = {
        (a, b)
        for a, x in one.texts.items()
        for b, y in two.texts.items()
        if x == y and any(map(str.isalnum, x))
    }
    assert copies <= set(found)
