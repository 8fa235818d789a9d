"""The benchmark from files to files judges what was written, and gives no time to what cannot stand."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.contestants import Job, components
from benchmarks.removal import Outcome, Verdict
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import course, pipeline, record, removal
from lookalike.applications.planted import plant, truth

US, PEER = pipeline.CONTESTANTS
# Rows 0, 1, 2 are alike (0.6 with 0, a third between 1 and 2), 3 is 0 once more, 4 is a stranger.
TEXTS = [
    "one two three four five six seven eight",
    "one two three four five six seven nine",
    "zero two three four five six seven eight",
    "One two, three four five six seven eight.",
    "nothing of this is anywhere else at all",
]


def ground_of(texts: list[str], groups: list[list[int]], threshold: float) -> course.Course:
    pairs = truth.pairs_within(groups, dict(enumerate(texts)), k=5, threshold=threshold)
    columns = dict(zip(("a", "b", "similarity"), zip(*pairs, strict=True), strict=True))
    return course.Course(
        corpus=Path("unused"), texts=pa.array(texts, pa.large_string()), truth=pa.table(columns)
    )


@pytest.fixture
def ground() -> course.Course:
    return ground_of(TEXTS, [[0, 1, 2, 3]], 0.6)


@pytest.fixture
def planted() -> course.Course:
    corpus = plant(400, seed=6, mean_bytes=800)
    return course.Course(corpus=Path("unused"), texts=corpus.texts, truth=corpus.truth(0.8))


def outcome_of(cluster: list[int], kept: list[int]) -> Outcome:
    return Outcome(cluster=np.array(cluster), kept=np.array(kept, dtype=bool))


def test_a_perfect_removal_gets_a_perfect_verdict(ground):
    verdict = removal.judge_removal(
        outcome_of([0, 0, 0, 0, 4], [1, 0, 0, 0, 1]), ground, threshold=0.6, words=5
    )
    assert (verdict.recall_at, verdict.recall_above, verdict.at_most_one_kept, verdict.precision) == (
        1,
        1,
        1,
        1,
    )
    assert (verdict.true_at, verdict.true_above, verdict.removed, verdict.overlooked) == (4, 5, 3, 0)


def test_missed_pairs_and_wrongly_removed_documents_are_counted(ground):
    # 1 and 2 are taken for duplicates, which they are not, and so is the stranger with 0.
    verdict = removal.judge_removal(
        outcome_of([0, 1, 1, 3, 0], [1, 0, 1, 1, 0]), ground, threshold=0.6, words=5
    )
    assert (verdict.together, verdict.together_at) == (0, 0)
    assert verdict.settled == 2, "one of 0 and 1, and one of 1 and 3, is gone, if for a wrong reason"
    assert (verdict.removed, verdict.right) == (2, 0)


def test_a_duplicate_that_the_truth_lacks_is_not_held_against_the_contestant(ground):
    partial = replace(ground, truth=ground.truth.slice(1))
    verdict = removal.judge_removal(
        outcome_of([0, 0, 2, 3, 4], [1, 0, 1, 1, 1]), partial, threshold=0.6, words=5
    )
    assert (verdict.overlooked, verdict.precision) == (1, 1.0)
    assert "mend the benchmark" in removal.objections(verdict, promise=None, at_least=0)[0]


@given(st.lists(st.integers(0, 4), min_size=5, max_size=5))
def test_a_verdict_counts_what_counting_by_hand_counts(cluster):
    ground = ground_of(TEXTS, [[0, 1, 2, 3]], 0.6)
    kept = [number not in cluster[:row] for row, number in enumerate(cluster)]
    verdict = removal.judge_removal(outcome_of(cluster, kept), ground, threshold=0.6, words=5)
    sets = [truth.shingles(text, 5) for text in TEXTS]
    true = [(a, b) for a, b in combinations(range(5), 2) if truth.jaccard(sets[a], sets[b]) >= 0.6]
    right = {row for a, b in true if cluster[a] == cluster[b] for row in (a, b) if not kept[row]}
    assert verdict.together == sum(cluster[a] == cluster[b] for a, b in true)
    assert verdict.settled == sum(not (kept[a] and kept[b]) for a, b in true)
    assert (verdict.removed, verdict.right, verdict.overlooked) == (5 - sum(kept), len(right), 0)
    assert removal.faults(outcome_of(cluster, kept)) == []


@pytest.mark.parametrize(
    ("kept", "fault"), [([1, 0, 1], None), ([0, 0, 1], "no document"), ([1, 1, 1], "more than one")]
)
def test_of_every_cluster_exactly_one_document_is_kept(kept, fault):
    found = removal.faults(outcome_of([7, 7, 9], kept))
    assert found == [] if fault is None else len(found) == 1 and fault in found[0]


@pytest.mark.parametrize(
    ("changes", "objection"),
    [
        ({}, None),
        ({"together_at": 94}, None),
        ({"together_at": 85}, "at the threshold"),
        ({"together": 940}, "recall 0.940"),
        ({"right": 499}, "1 documents were removed without"),
    ],
)
def test_who_promises_is_held_to_it_within_chance(changes, objection):
    counts = {"true_at": 100, "together_at": 96, "true_above": 1000, "together": 990, "settled": 990}
    verdict = Verdict(**(counts | {"removed": 500, "right": 500, "overlooked": 0} | changes))
    found = removal.objections(verdict, promise=0.95)
    assert found == [] if objection is None else len(found) == 1 and objection in found[0]
    assert removal.objections(verdict, promise=None) == []
    assert "is no answer" in removal.objections(replace(verdict, together=499), promise=None)[0]


def test_shards_hold_every_document_once_in_its_order(tmp_path):
    shards = pipeline.write_shards(pa.array(TEXTS, pa.large_string()), tmp_path / "shards", 3)
    files = sorted(shards.folder.iterdir())
    documents = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    assert shards.starts == [0, 2, 4]
    assert [int(first["id"]) for first, *_ in documents] == shards.starts
    assert [document["text"] for file in documents for document in file] == TEXTS
    assert removal.read_kept(shards.folder, pa.array(TEXTS)).all()


@pytest.mark.parametrize(("text", "fault"), [(TEXTS[1], "twice"), (TEXTS[0], "another text")])
def test_kept_documents_are_there_once_and_unchanged(text, fault, tmp_path):
    pipeline.write_shards(pa.array(TEXTS[:1], pa.large_string()), tmp_path / "kept", 1)
    lines = [json.dumps({"id": "1", "text": text})] * 2
    (tmp_path / "kept" / "00001.jsonl").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=fault):
        removal.read_kept(tmp_path / "kept", pa.array(TEXTS))


def test_clusters_of_the_peer_are_read_by_shard_and_place(tmp_path):
    (tmp_path / "clusters").mkdir()
    np.array([1, 0, 2, 1], dtype="<u4").tofile(tmp_path / "clusters" / "000000.clusters")
    np.array([0, 1, 1, 0], dtype="<u4").tofile(tmp_path / "clusters" / "000001.clusters")
    shards = pipeline.Shards(folder=tmp_path, starts=[0, 3])
    assert PEER.clusters(tmp_path, shards, 6).tolist() == [6, 0, 1, 1, 0, 11]


def test_words_given_to_the_peer_are_the_words_of_the_truth():
    pytest.importorskip("datatrove", reason="datatrove is not installed: it comes with the extra bench")
    from benchmarks.datatrove_minhash import Words
    from datatrove.utils.text import simplify_text

    for text in plant(60, seed=4, mean_bytes=400).texts.to_pylist():
        assert Words().word_tokenize(simplify_text(text)) == truth.words(text)


@pytest.mark.parametrize("contestant", pipeline.CONTESTANTS, ids=lambda contestant: contestant.name)
def test_a_pipeline_reads_shards_and_keeps_one_of_every_cluster(contestant, planted, tmp_path):
    pytest.importorskip(contestant.name, reason="not installed: the peers come with the extra bench")
    shards = pipeline.write_shards(planted.texts, tmp_path / "shards")
    result = pipeline.compete(contestant, shards, planted, Job(), runs=1)
    assert result.objections == ()
    assert result.verdict.true_above > 50
    assert result.verdict.recall_above > 0.9
    assert 0 < result.verdict.right <= result.verdict.removed
    assert result.median > 0


def test_a_command_that_fails_says_why(planted, tmp_path):
    shards = pipeline.write_shards(planted.texts, tmp_path / "shards")
    nobody = replace(PEER, command=lambda *_: ["-m", "no_such_module"])
    result = pipeline.compete(nobody, shards, planted, Job(), runs=1)
    assert "No module named" in result.objections[0]
    assert result.seconds == ()


def test_what_cannot_stand_gets_no_time(planted, monkeypatch):
    rows = np.arange(len(planted.texts))
    all_kept = Outcome(cluster=rows, kept=np.ones(len(rows), dtype=bool))
    whole = true_removal(planted)

    monkeypatch.setattr(course, "prepare", lambda *_, **__: planted)
    monkeypatch.setattr(
        pipeline, "run", lambda contestant, *_: (2.0, whole if contestant is US else all_kept)
    )
    shown = []
    monkeypatch.setattr(record.Record, "show", lambda self, _: shown.append(self))
    assert pipeline.main(["--documents", "400", "--runs", "1"]) == 1
    (made,) = shown
    assert [row[:4] for row in made.rows] == [
        ("lookalike", "2.00", f"{planted.text_bytes / 2e6:.1f}", "1.0"),
        ("datatrove", "refused", "–", "–"),
    ]
    assert made.rows[0][-1] == "1.000"


def true_removal(ground: course.Course) -> Outcome:
    """Keep what the truth itself would keep."""
    pairs = zip(ground.truth["a"].to_pylist(), ground.truth["b"].to_pylist(), strict=True)
    cluster = np.array(components.label(pairs, len(ground.texts)))
    return Outcome(cluster=cluster, kept=cluster == np.arange(len(cluster)))
