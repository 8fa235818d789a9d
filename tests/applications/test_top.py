"""`la.top`: what a user gets for what a user gives."""

import json
import random

import numpy as np
import polars
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import OptionError
from lookalike.runs import RunRecord, read_parquet

TEXTS = [
    "the cat sat on the mat and looked at the moon",
    "the cat sat on the mat and looked at the sun",
    "a dog barked when some postman came up his hill",
    "",
    "The cat sat on the mat, and looked at the moon!",
    "a dog barked when some miller came up his hill",
]


def lists(result):
    found = {}
    for row in result.neighbours:
        assert row["rank"] == len(found.setdefault(row["id"], [])) + 1
        found[row["id"]].append((row["neighbour"], row["similarity"]))
    return found


def by_hand(sets, k, others=None, ids=None, other_ids=None):
    ids = ids or list(range(len(sets)))
    offered = sets if others is None else others
    other_ids = other_ids or (ids if others is None else list(range(len(offered))))
    found = {}
    for at, one in enumerate(sets):
        near = [
            (other_ids[j], len(one & two) / len(one | two))
            for j, two in enumerate(offered)
            if one & two and (others is not None or j != at)
        ]
        near = sorted(near, key=lambda pair: (-pair[1], pair[0]))[:k]
        if near:
            found[ids[at]] = near
    return found


def some_sets(seed, rows=60):
    draw = random.Random(seed)
    return [set(draw.sample(range(40), draw.randrange(9))) for _ in range(rows)]


@pytest.mark.parametrize("method", ["auto", "exact", "lsh"])
def test_documents_have_their_most_similar_with_exact_similarities(method):
    result = la.top(TEXTS, k=2, shingle="words:2", method=method)
    assert lists(result) == {
        0: [(4, 1.0), (1, 9 / 11)],
        1: [(0, 9 / 11), (4, 9 / 11)],
        2: [(5, 7 / 11)],
        4: [(0, 1.0), (1, 9 / 11)],
        5: [(2, 7 / 11)],
    }
    assert result.account.method == ("lsh" if method == "lsh" else "exact")
    assert result.counts["empty"] == 1
    assert result.counts["with_neighbours"] == 5
    assert result.counts["neighbours"] == 8


@pytest.mark.parametrize("seed", range(12))
def test_sets_of_one_collection_or_two_are_as_by_hand(seed):
    sets, others = some_sets(seed), some_sets(seed + 100, rows=35)
    plain = [sorted(one) for one in sets]
    assert lists(la.top(plain, k=4)) == by_hand(sets, 4)
    result = la.top(plain, [sorted(one) for one in others], k=4)
    assert lists(result) == by_hand(sets, 4, others)
    assert result.counts["sets_by_collection"] == [60, 35]


def test_ids_decide_among_equals_and_names_are_the_users():
    table = pa.table({"text": [*TEXTS[:2], TEXTS[0], TEXTS[0]], "key": ["d", "b", "a", "c"]})
    result = la.top(table, id="key", k=3, shingle="words:2")
    near = 9 / 11
    assert lists(result) == {
        "a": [("c", 1.0), ("d", 1.0), ("b", near)],
        "b": [("a", near), ("c", near), ("d", near)],
        "c": [("a", 1.0), ("d", 1.0), ("b", near)],
        "d": [("a", 1.0), ("c", 1.0), ("b", near)],
    }
    shuffled = table.take([3, 1, 0, 2])
    for method in ("exact", "lsh"):
        again = la.top(shuffled, id="key", k=3, shingle="words:2", method=method)
        assert again.to_arrow().equals(result.to_arrow())


def test_bags_count_repeats():
    texts = ["a a b", "a b", "a a b b"]
    for method in ("exact", "lsh"):
        found = lists(la.top(texts, k=2, shingle="words:1+bag", method=method))
        assert found[0] == [(2, 3 / 4), (1, 2 / 3)]


def test_the_answer_goes_to_any_frame_and_to_a_folder(tmp_path):
    result = la.top(TEXTS, k=2, shingle="words:2")
    columns = ["id", "rank", "neighbour", "similarity"]
    assert result.to_arrow().column_names == columns
    assert list(result.to_pandas().columns) == columns
    assert isinstance(result.to_polars(), polars.DataFrame)
    out = result.write(tmp_path / "out")
    assert sorted(path.name for path in out.iterdir()) == ["neighbours.parquet", "run.json"]
    assert read_parquet(out / "neighbours.parquet", kind="neighbours")[0].equals(result.to_arrow())
    record = RunRecord.read(out)
    record.verify(out)
    assert record.counts == json.loads(json.dumps(result.counts))
    assert record.estimates["method"] == "exact"


def test_the_summary_says_what_was_measured():
    draw = random.Random(5)
    sets = [draw.sample(range(3000), 30) for _ in range(800)]
    exact, banded = (la.top(sets, k=5, method=method) for method in ("exact", "lsh"))
    assert "all: every two sets that share anything" in exact.summary()
    recall = banded.account.recall
    assert recall.rows == 200
    assert 0 < recall.recall < 1
    assert recall.interval[0] < recall.recall < recall.interval[1]
    assert f"{recall.recall:.1%} of true neighbours found" in banded.summary()
    # What the sample says holds for all rows.
    true, found = lists(exact), lists(banded)
    good = sum(len(set(true[row]) & set(found.get(row, []))) for row in true)
    # Ties may be others of the same similarity, which count in the sample.
    assert recall.interval[1] > good / sum(map(len, true.values()))
    assert bool(banded.advice) == (recall.recall < 0.9)


def test_one_that_is_like_nothing_and_a_collection_of_one():
    assert lists(la.top([[1, 2]])) == {}
    assert lists(la.top([[], [1], []])) == {}
    assert "0, up to 10 each" in la.top([[1, 2]], method="lsh").summary()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"k": 0}, "k=0 is out of range"),
        ({"k": 1001}, "1 to 1,000"),
        ({"k": True}, "k=True"),
        ({"method": "magic"}, "choose auto, exact or lsh"),
        ({"threshold": 0.5}, "there is no option 'threshold'"),
        ({"slots": 0}, "slots"),
    ],
)
def test_what_cannot_be_is_refused(options, says):
    with pytest.raises(OptionError, match=says):
        la.top(TEXTS, **options)


def test_vectors_are_sent_to_what_compares_them():
    for given in ([np.eye(3)], [la.Vectors(np.eye(3))], [TEXTS, np.eye(3)]):
        with pytest.raises(OptionError, match="holds vectors, and top compares documents and sets: choose"):
            la.top(*given)


def test_options_come_back_from_json():
    options = la.TopOptions(k=3, shingle=la.Shingle.parse("chars:4"), method="lsh")
    assert la.TopOptions.of(json.loads(json.dumps(options.to_dict()))) == options


def vote_by_hand(result, labels, ids):
    """The label of most weight, of equal ones that of the nearer."""
    expected = {}
    for id in ids:
        weights, total = {}, 0.0
        for other, similarity in lists(result).get(id, []):
            if labels.get(other) is not None:
                weights[labels[other]] = weights.get(labels[other], 0.0) + similarity
                total += similarity
        # A dictionary keeps the order of first coming, and max takes the first of equals.
        best = max(weights, key=weights.get) if weights else None
        expected[id] = (best, None if best is None else weights[best] / total)
    return expected


@pytest.mark.parametrize("seed", range(10))
def test_a_label_is_that_of_most_neighbours_weighed_by_similarity(seed):
    draw = random.Random(seed)
    sets = some_sets(seed)
    labels = [draw.choice(["red", "green", "blue", None]) for _ in sets]
    result = la.top([sorted(one) for one in sets], k=5)
    expected = vote_by_hand(result, dict(enumerate(labels)), range(len(sets)))
    for given in (labels, dict(enumerate(labels)), pa.array(labels)):
        got = {row["id"]: (row["label"], row["share"]) for row in result.label(given)}
        assert {id: label for id, (label, _) in got.items()} == {
            id: label for id, (label, _) in expected.items()
        }
        assert all(
            got[id][1] == (None if share is None else pytest.approx(share))
            for id, (_, share) in expected.items()
        )


def test_of_equal_weights_the_nearer_neighbour_decides():
    sets = [[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 6, 7], [1, 2, 8, 9]]
    result = la.top(sets, k=3)
    # 3/5 for the first, 1/3 + 1/3 for the two others: more weight wins.
    assert result.label({1: "near", 2: "far", 3: "far"})["label"][0].as_py() == "far"
    assert result.label({2: "low", 3: "high"})["label"][0].as_py() == "low"
    assert result.label({2: "z", 3: "a"})["label"][0].as_py() == "z"
    assert result.label({})["label"].null_count == 4


def test_labels_may_be_of_another_collection_given_in_any_order():
    table = pa.table({"text": [TEXTS[2], TEXTS[1], TEXTS[0]], "key": [30, 10, 20]})
    asked = pa.table({"text": [TEXTS[5], TEXTS[4]], "key": [1, 2]})
    result = la.top(asked, table, id="key", shingle="words:2")
    # As given, not as sorted.
    assert result.label(["dog", "cat", "cat"]).to_arrow().to_pylist() == [
        {"id": 1, "label": "dog", "share": 1.0},
        {"id": 2, "label": "cat", "share": 1.0},
    ]
    with pytest.raises(OptionError, match="2 labels for 3 items"):
        result.label(["dog", "cat"])


def test_a_list_of_labels_does_not_fit_files(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    result = la.top(path, shingle="words:2", k=1)
    with pytest.raises(OptionError, match="dictionary"):
        result.label(["x"] * len(TEXTS))
    labels = result.label({f"{path}:0": "cats"})
    assert labels["label"].to_pylist() == [None, "cats", None, None, "cats", None]


def test_threads_do_not_change_the_answer():
    draw = np.random.default_rng(2)
    sets = [draw.integers(0, 300, 20).tolist() for _ in range(400)]
    for method in ("exact", "lsh"):
        one, two = (la.top(sets, k=3, method=method, threads=threads).to_arrow() for threads in (1, 2))
        assert one.equals(two)
