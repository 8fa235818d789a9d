"""Test items in training documents: every rule is held against brute force."""

import json
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _core
from lookalike.applications.decontaminate import DecontaminateOptions, parts, search
from lookalike.applications.decontaminate.found import PASSAGES, Found
from lookalike.errors import EmptySourceError, OptionError
from lookalike.runs import RunRecord, read_parquet

K, RUN = 2, 4


def windows(words, k):
    """The k-word windows of a text; a shorter one is a window itself."""
    return {tuple(words[at : at + k]) for at in range(max(1, len(words) - k + 1))} if words else set()


def runs(words, run):
    return windows(words, run) if len(words) >= run else set()


def brute_force(test, train, *, threshold, run, common=100):
    """Pairs with their containment, and the items that count by any rule."""
    tests, trains = [text.split() for text in test], [text.split() for text in train]
    sets, documents = [windows(words, K) for words in tests], [windows(words, K) for words in trains]
    everywhere = set().union(*documents)
    times = {}
    for words in tests:
        for own in runs(words, run):
            times[own] = times.get(own, 0) + 1
    pairs, contaminated = {}, []
    for at, own in enumerate(sets):
        for there, other in enumerate(documents):
            share = len(own & other) / len(own) if own else 0.0
            copied = {x for x in runs(tests[at], run) & runs(trains[there], run) if times[x] <= common}
            if own and (share >= threshold or copied):
                pairs[at, there] = share
        covered = len(own & everywhere) / len(own) if own else 0.0
        paired = any(pair[0] == at for pair in pairs)
        contaminated.append(bool(own) and (paired or covered >= threshold))
    return pairs, contaminated


WORDS = st.sampled_from(["a", "b", "c", "d", "e", "f"])
TEXTS = st.lists(st.lists(WORDS, max_size=10).map(" ".join), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    test=TEXTS,
    train=TEXTS,
    threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    run=st.sampled_from([0, RUN]),
    common=st.sampled_from([1, 100]),
    threads=st.sampled_from([1, 2]),
)
def test_what_is_found_is_what_brute_force_finds(test, train, threshold, run, common, threads):
    result = la.decontaminate(
        test, train, threshold=threshold, shingle=f"words:{K}", run=run, common=common, threads=threads
    )
    pairs, contaminated = brute_force(test, train, threshold=threshold, run=run or 10**9, common=common)
    assert {(row["test"], row["train"]): row["containment"] for row in result.pairs.to_pylist()} == pairs
    assert result.items["contaminated"].to_pylist() == contaminated
    assert result.clean == [text for text, leaked in zip(test, contaminated, strict=True) if not leaked]
    counts = result.counts
    assert counts["items"] == len(test) == counts["clean"] + counts["contaminated"]
    assert counts["contaminated"] == (
        counts["in_one_document"] + counts["in_several_together"] + counts["by_run_alone"]
    )
    assert counts["documents"] == len(train)
    for row in result.items.to_pylist():
        own = [share for (at, _), share in pairs.items() if at == row["id"]]
        assert row["containment"] == (max(own) if own else None)
        if own:
            assert pairs[row["id"], row["train"]] == row["containment"]


QUESTION = "which river runs through the city of vienna and on to the black sea in the end"
LONG = " ".join(f"w{n}" for n in range(60))


def test_the_passages_are_there_word_for_word():
    train = ["nothing here", f"Q7: Which river runs through the city of Vienna, and on to the sea? {LONG}"]
    result = la.decontaminate([QUESTION, "another question altogether"], train, run=8)
    assert [row["contaminated"] for row in result.items.to_pylist()] == [True, False]
    [passage] = result.passages.to_pylist()
    assert QUESTION[passage["start"] : passage["end"]] == passage["text"]
    assert train[1][passage["train_start"] : passage["train_end"]] == (
        "Which river runs through the city of Vienna, and on to the"
    )
    assert passage["tokens"] == result.pairs["run"][0].as_py() == 12
    assert result.pairs["containment"][0].as_py() < 0.8
    assert result.counts["by_run_alone"] == 1


def test_an_item_may_lie_in_several_documents_together():
    words = LONG.split()
    halves = [" ".join(words[:31]), " ".join(words[27:])]
    result = la.decontaminate([LONG], halves, run=0)
    assert result.counts["in_several_together"] == 1
    assert result.items["covered"].to_pylist() == [1.0]
    assert len(result.pairs) == 0
    assert not la.decontaminate([LONG], halves[:1], run=0).counts["contaminated"]


def test_prompts_that_many_items_have_count_for_none():
    prompt = "read the text below and then choose the one answer that fits it best"
    test = [f"{prompt} {' '.join(f'x{at}y{n}' for n in range(30))}" for at in range(5)]
    train = [f"exam rules: {prompt} thank you"]
    assert la.decontaminate(test, train).counts["contaminated"] == 5
    result = la.decontaminate(test, train, common=4)
    assert result.counts["contaminated"] == 0
    assert result.counts["common_runs"] == 2
    assert "count for none" in result.advice[0]


def test_short_items_are_flagged_and_found_only_as_whole_documents():
    test = ["to be", "not to be", "…", "?!", " \n"]
    result = la.decontaminate(test, ["to be or not to be that is", "To be!", "? !", "what … what"])
    assert result.items["contaminated"].to_pylist() == [True, False, False, True, False]
    assert result.items["flag"].to_pylist() == ["short", "short", "short", "short", "empty"]
    assert "shorter than a shingle" in result.advice[0]


def test_characters_can_be_shingled_too():
    test = ["東京タワーの高さは何メートルですか。" * 4]
    result = la.decontaminate(test, [f"問題集:{test[0]}答え"], shingle="chars:5")
    assert result.options.run == 50
    assert result.items["run"].to_pylist() == [len(test[0])]
    assert result.counts["whole"] == 1


def corpus():
    draw = np.random.default_rng(3)
    words = [f"w{n}" for n in range(500)]
    train = [" ".join(draw.choice(words, 80)) for _ in range(200)]
    test = [" ".join(draw.choice(words, 25)) for _ in range(30)]
    for at in range(0, 200, 9):
        host = train[at].split()
        train[at] = " ".join([*host[:40], *test[at % 30].split()[: 10 + at % 16], *host[40:]])
    return test, train


def test_the_answer_does_not_depend_on_threads_batches_or_order(monkeypatch):
    test, train = corpus()
    ids = pa.table({"doc": [f"t{at:03}" for at in range(len(train))], "text": train})
    answers = []
    for seed, (threads, batch_bytes) in enumerate([(1, 1 << 20), (2, 2_000), (2, 50_000)]):
        monkeypatch.setattr(search, "BATCH_BYTES", batch_bytes)
        monkeypatch.setattr(search, "_WINDOWS", 2)
        order = np.random.default_rng(seed).permutation(len(train)) if seed else np.arange(len(train))
        shuffled = ids.take(pa.array(order))
        result = la.decontaminate(test, shuffled, train_id="doc", run=10, threads=threads)
        answers.append((result.items, result.pairs, result.passages))
    assert answers[0][1].num_rows > 10
    for answer in answers[1:]:
        assert all(one.equals(other) for one, other in zip(answers[0], answer, strict=True))


def test_the_training_documents_are_never_held_all_at_once(monkeypatch):
    """Windows of a few batches, whatever the size of the collection."""
    _, train = corpus()
    monkeypatch.setattr(search, "BATCH_BYTES", 1_000)
    held = []

    class Watched(la.LocalEngine):
        def fold(self, table, stage, merge):
            held.append(table.rows)
            return super().fold(table, stage, merge)

    la.decontaminate([QUESTION], train, engine=Watched(1))
    assert sum(held) == len(train)
    assert max(held) <= 20


def test_the_folder_holds_what_was_found_and_the_clean_items(tmp_path):
    test, train = corpus()
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps({"q": text, "id": at}) + "\n" for at, text in enumerate(test)))
    result = la.decontaminate(path, train, text="q", id="id", train_text="text", run=10)
    folder = result.write(tmp_path / "out")
    for kind in ("items", "pairs", "passages"):
        assert read_parquet(folder / f"{kind}.parquet", kind=kind)[0].equals(getattr(result, kind))
    kept = [json.loads(line)["id"] for line in (folder / "kept" / "test.jsonl").read_text().splitlines()]
    assert kept == [at for at, leaked in enumerate(result.items["contaminated"].to_pylist()) if not leaked]
    record = RunRecord.read(folder)
    record.verify(folder)
    assert record.algorithm == _core.ALGORITHM_VERSION


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"threshold": 0}, "threshold"),
        ({"run": -1}, "run=-1 is out of range"),
        ({"common": 0}, "common=0 is out of range"),
        ({"shingle": "words:1+bag"}, "leave .bag out"),
        ({"shingle": "words:1+rare9"}, "leaves words out"),
        ({"recall": 0.9}, "no option 'recall'"),
    ],
)
def test_options_out_of_range_are_refused(options, reason):
    with pytest.raises(OptionError, match=reason):
        la.decontaminate(["a"], ["b"], **options)


def test_nothing_to_look_for_or_in_is_said():
    with pytest.raises(EmptySourceError):
        la.decontaminate([], ["a"])
    with pytest.raises(EmptySourceError):
        la.decontaminate(["a"], [])


def test_options_are_read_back():
    options = DecontaminateOptions(shingle="chars:9", threshold=0.5)
    assert DecontaminateOptions.of(json.loads(json.dumps(options.to_dict()))) == options


@settings(max_examples=50, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 30), max_size=25),
    cuts=st.lists(st.integers(0, 40), max_size=8),
    taken=st.integers(0, 3),
)
def test_parts_end_where_the_rows_say_however_they_lie_in_batches(sizes, cuts, taken):
    texts = pa.array(["x" * size for size in sizes], pa.large_string())
    whole = pa.record_batch({"row": pa.array(range(len(sizes)), pa.int64()), "text": texts})

    def ends(edges):
        """The rows of each part; of every fourth, only a batch or none is taken up."""
        found = []
        for number, part in enumerate(parts.in_parts(whole[a:b] for a, b in pairwise(edges))):
            some = islice(part, taken) if number % 4 == 3 else part
            found.append([row for batch in some for row in batch["row"].to_pylist()])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_BYTES", 50)
        one = ends([0, len(sizes)])
        other = ends([0, *sorted(min(cut, len(sizes)) for cut in cuts), len(sizes)])
    complete = [at for at in range(len(one)) if at % 4 != 3]
    assert [one[at] for at in complete] == [other[at] for at in complete]
    assert len(one) == len(other)
    for at in complete[:-1]:
        if at != len(one) - 1:
            assert sum(sizes[row] for row in one[at]) >= 50 > sum(sizes[row] for row in one[at][:-1])


def test_what_was_found_is_the_same_from_a_table():
    numbers = np.arange(3)
    passages = pa.Table.from_arrays([pa.array(numbers + at) for at in range(7)], schema=PASSAGES)
    some = Found(
        test=numbers,
        train=numbers + 4,
        shared=numbers * 2,
        run=numbers + 1,
        seen=np.array([True, False, True]),
        passages=passages,
        documents=9,
        text_bytes=90,
    )
    for found in (
        some,
        replace(some, test=numbers[:0], train=numbers[:0], shared=numbers[:0], run=numbers[:0]),
    ):
        again = Found.of_table(found.to_table(), 3)
        for name in ("test", "train", "shared", "run", "seen"):
            assert getattr(again, name).tolist() == getattr(found, name).tolist()
        assert again.passages.equals(passages)
        assert (again.documents, again.text_bytes) == (9, 90)
