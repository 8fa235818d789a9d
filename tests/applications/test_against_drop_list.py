"""New documents against runs that wrote a drop list: what they kept is where they read it."""

import json
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.applications.test_units import TEXTS, write_input
from tests.conformance import texts

import lookalike as la
from lookalike.applications.documents import keys
from lookalike.errors import SourceError

SURE = {"method": "lsh", "threshold": 0.5, "recall": 0.9999, "slots": 512}
ROADS = {
    "bands, stored keys": SURE,
    "bands, signed again": SURE,
    "prefix": {"method": "prefix", "threshold": 0.5},
}


@pytest.fixture(params=ROADS)
def road(request, monkeypatch):
    monkeypatch.setattr(keys, "_WORTH", 0 if "stored" in request.param else 1 << 40)
    return ROADS[request.param]


@pytest.fixture
def corpus(tmp_path):
    """Documents in three files whose names and ids are in other orders; the last ones are new."""
    docs = texts.families(50, 4, words=30, most=5, changes=3)
    for at, name in enumerate(["b/z.parquet", "a/m.parquet", "c/a.parquet"]):
        own = [
            {"id": f"d{len(docs) - row:03}", "text": docs[row]} for row in range(at, len(docs) * 2 // 3, 3)
        ]
        path = tmp_path / "old" / name
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(own), path)
    rows = [{"id": f"n{row:03}", "text": text} for row, text in enumerate(docs[len(docs) * 2 // 3 :])]
    return tmp_path / "old", pa.Table.from_pylist(rows)


def runs_of(source, folder, **options):
    """The same run twice: with what it kept, and with a drop list."""
    result = la.dedup(source, **options)
    return result.write(folder / "kept"), result.write(folder / "dropped", drop_list=True)


@pytest.mark.parametrize("unit", ["document", "line"])
def test_it_is_as_if_the_kept_documents_were_there(road, corpus, tmp_path, unit):
    old, new = corpus
    with_kept, with_list = runs_of(old, tmp_path, id="id", unit=unit, **road)
    assert not (with_list / "kept").exists()
    answers = [la.dedup(new, id="id", unit=unit, against=folder, **road) for folder in (with_kept, with_list)]
    assert answers[0].counts["duplicates_of_earlier"] > 10
    assert answers[1].counts == answers[0].counts
    assert answers[1].kept.equals(answers[0].kept)
    assert [(row["id"], row["kept"], row["similarity"]) for row in answers[1].clusters] == [
        (row["id"], row["kept"], row["similarity"]) for row in answers[0].clusters
    ]


@pytest.mark.parametrize("form", ["jsonl.gz", "csv", "parquet", "txt"])
@pytest.mark.parametrize("unit", ["document", "paragraph"])
def test_whatever_files_were_read_nothing_of_them_comes_again(form, unit, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "new").mkdir()
    folder = la.dedup(write_input(form, tmp_path / "in"), unit=unit).write(tmp_path / "run", drop_list=True)
    result = la.dedup(write_input(form, tmp_path / "new"), unit=unit, against=folder)
    assert result.counts["kept"] == 0
    assert result.counts["duplicates_of_earlier"] > 20


def test_rows_that_could_not_be_read_do_not_move_the_others(tmp_path):
    lines = [json.dumps({"text": text}) for text in TEXTS]
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text("\n".join([*lines[:3], "{broken", *lines[3:20], "{}", *lines[20:]]) + "\n")
    folder = la.dedup(old, on_error="skip").write(tmp_path / "run", drop_list=True)
    new.write_text(lines[25] + "\n" + json.dumps({"text": "something else"}) + "\n")
    result = la.dedup(new, against=folder)
    assert [row["kept"] for row in result.clusters] == [False, True]


def test_drop_lists_follow_drop_lists(road, corpus, tmp_path):
    old, new = corpus
    how = {"id": "id", **road}
    one = la.dedup(old / "a", **how).write(tmp_path / "one", drop_list=True)
    two = la.dedup(old / "b", against=one, **how).write(tmp_path / "two", drop_list=True)
    kept_two = la.dedup(old / "b", against=one, **how).write(tmp_path / "kept two")
    answers = [la.dedup(new, against=[one, other], **how) for other in (two, kept_two)]
    assert answers[0].counts == answers[1].counts
    assert answers[0].kept.equals(answers[1].kept)


def test_other_work_in_between_does_no_harm(corpus, tmp_path, monkeypatch):
    old, new = corpus
    monkeypatch.chdir(tmp_path)
    folder = la.dedup("old", id="id").write(tmp_path / "run", drop_list=True)
    monkeypatch.chdir("/")
    expected = la.dedup(new, id="id", against=folder).counts
    # A file that was copied or touched is the same; one more beside it was not read.
    path = old / "a" / "m.parquet"
    shutil.copy(path, tmp_path / "copy")
    os.replace(tmp_path / "copy", path)
    shutil.copy(path, old / "a" / "more.parquet")
    assert la.dedup(new, id="id", against=folder).counts == expected


def _shorter(path):
    pq.write_table(pq.read_table(path).slice(1), path)


def _other(path):
    rows = pq.read_table(path)
    content = bytearray(path.read_bytes())
    at = content.index(rows["text"][0].as_py()[-4:].encode())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (os.unlink, "cannot read .*No such file"),
        (_shorter, "bytes now and had"),
        (_other, "other content now"),
    ],
)
def test_an_input_that_is_gone_or_another_is_an_error(corpus, tmp_path, spoil, words):
    old, new = corpus
    folder = la.dedup(old, id="id", method="prefix").write(tmp_path / "run", drop_list=True)
    spoil(old / "c" / "a.parquet")
    with pytest.raises(SourceError, match=f"holds a drop list, so .*{words}.*without --drop-list"):
        la.dedup(new, id="id", method="prefix", against=folder)


def test_what_was_in_memory_is_gone(tmp_path):
    docs = pa.table({"id": ["a", "b"], "text": ["one text", "another text"]})
    folder = la.dedup(docs, id="id").write(tmp_path / "run", drop_list=True)
    with pytest.raises(SourceError, match="from memory and is gone: run it again without --drop-list"):
        la.dedup(pa.table({"id": ["c"], "text": ["one text"]}), id="id", against=folder)


def test_an_input_that_changes_during_the_run_is_an_error(corpus, tmp_path):
    old, _ = corpus
    result = la.dedup(old, id="id")
    _shorter(old / "c" / "a.parquet")
    with pytest.raises(SourceError, match=r"a\.parquet was changed"):
        result.write(tmp_path / "run", drop_list=True)
    assert not (tmp_path / "run").exists()
