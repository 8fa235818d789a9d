"""New documents against paragraphs and lines that earlier runs kept: the answer of brute force."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.applications import appending
from tests.applications.test_units import read_kept, write_input
from tests.conformance import oracle, texts

import lookalike as la
from lookalike.applications.documents import keys
from lookalike.engines import LocalEngine, memory
from lookalike.errors import DuplicateIdError, OptionError
from lookalike.io.units import split_units
from lookalike.runs import RunRecord, StoredTable

THRESHOLD = 0.5
SURE = {"method": "lsh", "threshold": THRESHOLD, "recall": 0.9999, "slots": 512}
ROADS = {
    "bands, stored keys": SURE,
    "bands, signed again": SURE,
    "prefix": {"method": "prefix", "threshold": THRESHOLD},
}
JOINT = {"paragraph": "\n\n", "line": "\n"}


@pytest.fixture(params=ROADS)
def road(request, monkeypatch):
    monkeypatch.setattr(keys, "_WORTH", 0 if "stored" in request.param else 1 << 40)
    return ROADS[request.param]


def table(docs, letter):
    """Documents whose ids are in another order than they come in."""
    ids = [f"{letter}{len(docs) - at:03}" for at in range(len(docs))]
    return pa.table({"id": ids, "text": pa.array(docs, pa.string())})


def cut(rows, unit):
    """The units of documents in id order: name and content."""
    return [
        (f"{row['id']}:{at}", own)
        for row in sorted(rows, key=lambda row: row["id"])
        for at, own in enumerate(row["text"].split(JOINT[unit]) if row["text"] else [])
    ]


def check(result, new, folders, unit):
    """Whether a result is what walking over all kept units gives."""
    fresh = cut(new.to_pylist(), unit)
    kept, clusters = [], {}
    for folder in folders:
        rows = pq.read_table(folder / "clusters.parquet").to_pylist()
        clusters |= {row["id"]: row["cluster"] for row in rows}
        names = {row["id"]: [] for row in rows}
        for row in rows:
            names.setdefault(row["document"], []).extend([row["id"]] if row["kept"] else [])
        # In kept/ units are numbered anew; what they were called is in clusters.parquet.
        for row in pq.read_table(folder / "kept" / "kept.parquet").to_pylist():
            own = [text for text in row["text"].split(JOINT[unit]) if text]
            kept += zip(names.get(row["id"], []), own, strict=True)
    # Documents arrived in the order of their ids turned round.
    arrival = sorted(
        range(len(fresh)), key=lambda at: (-int(fresh[at][0][1:4]), int(fresh[at][0].split(":")[1]))
    )
    ids = [name for name, _ in [*fresh, *kept]]
    sets = [oracle.shingles(text) for _, text in [*fresh, *kept]]
    priority = np.argsort(arrival).tolist()
    expected = appending.assigned(sets[: len(fresh)], sets[len(fresh) :], THRESHOLD, priority=priority)
    found = list(result.clusters)
    assert [row["id"] for row in found] == ids[: len(fresh)]
    for at, own in enumerate(expected):
        assert found[at]["kept"] == (own == at)
        assert found[at]["representative"] == ids[own]
        if sets[at]:
            assert found[at]["similarity"] == oracle.jaccard(sets[at], sets[own])
        if own >= len(fresh):
            assert found[at]["cluster"] == clusters[found[at]["representative"]]
    dropped = {ids[at] for at, own in enumerate(expected) if own != at}
    of_earlier = sum(own >= len(fresh) for own in expected)
    assert result.counts["duplicates_of_earlier"] == of_earlier
    assert result.counts["duplicates_of_new"] == len(dropped) - of_earlier
    assert result.counts["units"] == len(fresh) == result.counts["kept"] + len(dropped)
    assert result.counts["earlier_units"] == len(kept)
    left = {
        row["id"]: [text for name, text in cut([row], unit) if name not in dropped] for row in new.to_pylist()
    }
    whole = {row["id"]: row["text"] for row in new.to_pylist()}
    assert {
        row["id"]: [own for own in row["text"].split(JOINT[unit]) if own] for row in result.kept.to_pylist()
    } == {name: own for name, own in left.items() if own or not whole[name]}


def documents(seed, count, unit, families=25):
    """Documents of a few units each, which come again, edited, in others."""
    pool = texts.families(families, seed, words=14, most=5, changes=2)
    draw = np.random.default_rng(seed)
    cuts = np.sort(draw.choice(np.arange(1, len(pool)), count - 1, replace=False))
    return [JOINT[unit].join(own) for own in np.split(np.array(pool, object), cuts)]


@pytest.mark.parametrize("unit", ["paragraph", "line"])
@pytest.mark.parametrize("seed", range(2))
def test_units_of_new_documents_are_compared_with_those_kept(road, tmp_path, unit, seed):
    docs = [*documents(seed, 24, unit), ""]
    folder = la.dedup(table(docs[:10], "o"), id="id", unit=unit, **road).write(tmp_path / "run")
    new = table(docs[10:], "n")
    result = la.dedup(new, id="id", unit=unit, against=folder, **road)
    assert result.counts["duplicates_of_earlier"] > 5
    assert result.counts["duplicates_of_new"] > 2
    assert result.counts["trimmed_documents"] > 2
    check(result, new, [folder], unit)
    RunRecord.read(result.write(tmp_path / "out")).verify(tmp_path / "out")


UNITS = st.sampled_from(["a b c d e f", "A b c d e f", "g h i j k l m", "g h i j k l n", "x", "y z", "…"])
DOCS = st.lists(st.lists(UNITS, max_size=4), min_size=1, max_size=6)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=DOCS, new=DOCS, unit=st.sampled_from(["paragraph", "line"]))
def test_small_and_hostile_collections_are_what_brute_force_finds(road, tmp_path, old, new, unit):
    old, new = (
        table([JOINT[unit].join(own) for own in docs], letter) for docs, letter in ((old, "o"), (new, "n"))
    )
    folder = la.dedup(old, id="id", unit=unit, **road).write(tmp_path / "run", overwrite=True)
    check(la.dedup(new, id="id", unit=unit, against=folder, **road), new, [folder], unit)


@given(
    text=st.text(alphabet=" \n\r\tab", max_size=40),
    unit=st.sampled_from(["paragraph", "line"]),
    data=st.data(),
)
def test_what_is_left_of_a_document_is_cut_as_the_whole_was(text, unit, data):
    # Places in the kept files stand on it.
    units = split_units(pa.array([text], pa.large_string()), unit)
    kept = np.array([data.draw(st.booleans()) for _ in range(len(units))], np.bool_)
    again = split_units(units.texts(kept), unit)
    assert again.contents().to_pylist() == units.contents().filter(pa.array(kept)).to_pylist()


def test_a_third_batch_comes_to_both(road, tmp_path):
    docs = documents(5, 30, "paragraph", families=40)
    how = {"id": "id", "unit": "paragraph", **road}
    one = la.dedup(table(docs[:10], "p"), **how).write(tmp_path / "one")
    two = la.dedup(table(docs[10:20], "q"), against=one, **how).write(tmp_path / "two")
    new = table(docs[20:], "n")
    result = la.dedup(new, against=[two, one], **how)
    check(result, new, [one, two], "paragraph")
    again = la.dedup(new, against=[one, two, two], **how)
    assert again.clusters.to_arrow().equals(result.clusters.to_arrow())
    alone = la.dedup(new, against=two, **how)
    assert any(str(one) in sentence for sentence in alone.advice)


@pytest.mark.parametrize("unit", ["paragraph", "line"])
def test_copies_are_dropped_as_if_old_and_new_came_together(tmp_path, unit):
    draw = np.random.default_rng(3)
    pool = texts.joined(texts.prose(15, seed) for seed in range(40))
    docs = [JOINT[unit].join(draw.choice(pool, draw.integers(1, 6))) for _ in range(60)]
    rows = [{"id": f"d{at:02}", "text": text} for at, text in enumerate(docs)]
    together = la.dedup(pa.Table.from_pylist(rows), id="id", unit=unit)
    folder = la.dedup(pa.Table.from_pylist(rows[:25]), id="id", unit=unit).write(tmp_path / "run")
    result = la.dedup(pa.Table.from_pylist(rows[25:]), id="id", unit=unit, against=folder)
    before = pq.read_table(folder / "kept" / "kept.parquet").to_pylist()
    assert before + result.kept.to_pylist() == together.kept.to_pylist()
    kept = [row["id"] for row in together.clusters if row["kept"]]
    old = pq.read_table(folder / "clusters.parquet").to_pylist()
    assert [row["id"] for row in [*old, *result.clusters] if row["kept"]] == kept


@pytest.mark.parametrize("form", ["jsonl.gz", "csv", "parquet", "txt"])
def test_whatever_files_were_read_nothing_of_them_comes_again(form, tmp_path):
    (tmp_path / "in").mkdir()
    folder = la.dedup(write_input(form, tmp_path / "in"), unit="paragraph").write(tmp_path / "run")
    (tmp_path / "new").mkdir()
    result = la.dedup(write_input(form, tmp_path / "new"), unit="paragraph", against=folder)
    assert result.counts["kept"] == 0
    assert result.counts["duplicates_of_earlier"] == result.counts["units"]
    assert read_kept(form, folder / "kept")


def test_threads_budgets_and_batches_change_nothing(road, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "LEAST", 0)
    docs = documents(9, 60, "line", families=60)
    how = {"id": "id", "unit": "line", **road}
    folder = la.dedup(table(docs[:30], "o"), **how).write(tmp_path / "run")
    engines = [LocalEngine(1), LocalEngine(2, batch_rows=7), LocalEngine(2, memory=200_000)]
    results = [la.dedup(table(docs[30:], "n"), against=folder, engine=engine, **how) for engine in engines]
    for other in results[1:]:
        assert other.clusters.to_arrow().equals(results[0].clusters.to_arrow())
        assert other.kept.equals(results[0].kept)


@pytest.mark.parametrize("options", [{"keep": "longest"}, {"group": "star"}, {"measure": "cosine"}])
def test_other_choices_work_too(tmp_path, options):
    how = {"unit": "line", "threshold": 0.6, **options}
    base = texts.joined(texts.prose(30, seed) for seed in range(9))
    folder = la.dedup(table(["\n".join(base[:5]), base[5]], "o"), id="id", **how).write(tmp_path / "run")
    edited = " ".join(texts.variants(base[2].split(), 1, 4)[0])
    result = la.dedup(table([f"{edited}\n{base[7]}", base[5]], "n"), id="id", against=folder, **how)
    assert result.kept["text"].to_pylist() == [base[7]]


def test_units_of_stored_keys_are_not_signed_again(tmp_path):
    long = texts.joined(texts.prose(2000, seed) for seed in range(12))
    docs = table(["\n".join(long[at : at + 3]) for at in range(0, 12, 3)], "o")
    folder = la.dedup(docs, id="id", unit="line", method="lsh").write(tmp_path / "run")
    assert StoredTable.open(folder / keys.KEYS_NAME).header.parameters["bands"] is not None
    new = table([f"{long[4]}\nand something else"], "n")
    result = la.dedup(new, id="id", unit="line", method="lsh", against=folder)
    assert result.kept["text"].to_pylist() == ["and something else"]
    assert next(stage.items for stage in result.stages if stage.name == "fetch") == 1


def test_documents_are_told_apart_by_their_ids(tmp_path):
    folder = la.dedup(table(["", "one line\nanother line"], "o"), id="id", unit="line").write(
        tmp_path / "run"
    )
    # An empty document has no unit, and an id all the same.
    for name in ("o002", "o001"):
        new = pa.table({"id": [name], "text": ["a third line"]})
        with pytest.raises(DuplicateIdError, match=name):
            la.dedup(new, id="id", unit="line", against=folder)
    result = la.dedup(table(["another line"], "n"), id="id", unit="line", against=folder)
    assert [row["representative"] for row in result.clusters] == ["o001:1"]


def test_numbers_as_text_are_ids_like_numbers(tmp_path):
    numbers = pa.table({"id": [3, 7], "text": ["one line of it", "another line of it"]})
    folder = la.dedup(numbers, id="id", unit="line").write(tmp_path / "run")
    written = pa.table({"id": ["8", "9"], "text": ["Another line of it!", "something new"]})
    result = la.dedup(written, id="id", unit="line", against=folder)
    assert [row["representative"] for row in result.clusters] == ["7:0", "9:0"]


@pytest.mark.parametrize(("then", "now"), [("line", "paragraph"), ("line", "document"), ("document", "line")])
def test_another_unit_is_refused(tmp_path, then, now):
    folder = la.dedup(table(["a text"], "o"), id="id", unit=then).write(tmp_path / "run")
    with pytest.raises(OptionError, match=f"made with unit='{then}' and unit='{now}' is asked for"):
        la.dedup(table(["b"], "n"), id="id", unit=now, against=folder)


def test_a_line_that_was_cut_out_by_hand_is_noticed(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps({"text": "one line\nanother line"}) + "\n")
    folder = la.dedup(path, unit="line").write(tmp_path / "run")
    kept: Path = folder / "kept" / "old.jsonl"
    kept.write_text(kept.read_text().replace("\\nanother line", "  another line"))
    (tmp_path / "new.jsonl").write_text(json.dumps({"text": "one line"}) + "\n")
    with pytest.raises(la.errors.ArtefactError, match=r"old\.jsonl"):
        la.dedup(tmp_path / "new.jsonl", unit="line", against=folder)
