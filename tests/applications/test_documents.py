"""Deduplication from end to end: what is kept, what every row is told, and what cannot be asked."""

import json
from decimal import Decimal
from math import nan

import numpy as np
import pyarrow as pa
import pytest
from tests.conformance import oracle, texts

import lookalike as la
from lookalike.errors import (
    EmptySourceError,
    MissingColumnError,
    OptionError,
    SourceError,
    UnreachableRecallError,
)

SURE = 0.9999


def test_a_plan_and_a_search_begin_with_the_same_defaults():
    options = la.PairOptions()
    assert la.plan() == la.plan(options.threshold, recall=options.recall, slots=options.slots)
    assert la.plan().banding == la.Banding(bands=13, rows=7)


def corpus():
    rows = texts.families(30, seed=11, changes=6)
    rows += [texts.dressed(rows[at], at) for at in range(0, len(rows), 5)]
    return [*rows, "", "a b c", "A, b; c!", "...", "a b d"]


DOCS = corpus()
SETS = [oracle.shingles(text) for text in DOCS]


def similarity(a, b):
    return oracle.jaccard(SETS[a], SETS[b])


@pytest.mark.parametrize("threshold", [0.4, 0.8])
@pytest.mark.parametrize("group", ["components", "star"])
@pytest.mark.parametrize("keep", ["first", "longest", "max:stars"])
def test_every_row_is_told_the_truth(threshold, group, keep):
    stars = np.random.default_rng(1).integers(0, 4, len(DOCS))
    order = {
        "first": list(range(len(DOCS))),
        "longest": [(-len(text.encode()), row) for row, text in enumerate(DOCS)],
        "max:stars": [(-int(value), row) for row, value in enumerate(stars)],
    }[keep]
    table = pa.table({"text": DOCS, "stars": stars})
    result = la.dedup(table, threshold=threshold, recall=SURE, group=group, keep=keep)
    rows = list(result.clusters)
    assert [row["id"] for row in rows] == list(range(len(DOCS)))
    members = {}
    for row in rows:
        members.setdefault(row["representative"], []).append(row["id"])
    for row in rows:
        number, kept = row["id"], row["representative"]
        assert row["kept"] == (number == kept)
        assert row["cluster"] == min(members[kept])
        assert row["flag"] == (
            None if len(DOCS[number].split()) > 4 else "short" if SETS[number] else "empty"
        )
        if not SETS[number]:
            # Nothing is like an empty document, not even itself.
            assert (row["kept"], row["similarity"], row["via"]) == (True, None, None)
            continue
        assert row["similarity"] == similarity(number, kept)
        if row["kept"]:
            assert row["via"] is None
            assert order[number] == min(order[other] for other in members[kept])
        else:
            assert similarity(number, row["via"]) >= threshold
    if group == "components":
        labels = oracle.components(len(DOCS), oracle.pairs(SETS, threshold))
        assert [row["cluster"] for row in rows] == labels
    else:
        assert all(row["kept"] or row["similarity"] >= threshold for row in rows)
        kept = [row["id"] for row in rows if row["kept"]]
        assert not oracle.pairs([SETS[number] for number in kept], threshold)
    under = sum(row["similarity"] is not None and row["similarity"] < threshold for row in rows)
    assert result.chained == result.counts["chained"] == under
    assert result.kept.column("text").to_pylist() == [DOCS[row["id"]] for row in rows if row["kept"]]


def test_counts_add_up():
    result = la.dedup(DOCS, threshold=0.4, recall=SURE)
    counts, account = result.counts, result.account
    sizes = [len(group) for group in result.clusters.groups()]
    assert counts["documents"] == len(DOCS) == counts["kept"] + counts["dropped"]
    assert counts["documents"] == account.empty + account.copies + account.representatives
    assert counts["dropped"] == sum(sizes) - len(sizes)
    assert (counts["clusters"], counts["largest_clusters"]) == (len(sizes), sizes[:5])
    assert counts["empty"] == sum(not own for own in SETS) == 1
    assert counts["short"] == 4
    assert counts["copies"] == len(SETS) - 1 - len({own for own in SETS if own})
    assert counts["pairs"] == len(result.pairs) - counts["copies"]
    assert counts["candidates"] >= counts["pairs"]
    assert counts["text_bytes"] == sum(len(text.encode()) for text in DOCS)
    assert counts["unreadable"] == 0
    assert int(result.kept_rows.sum()) == len(result.kept) == counts["kept"]


def test_rows_that_cannot_be_read_are_counted_when_they_are_skipped():
    docs = ["a b c d e f", None, "a b c d e f", "x"]
    with pytest.raises(SourceError):
        la.dedup(docs)
    result = la.dedup(docs, on_error="skip")
    assert result.counts["documents"] == 3
    assert result.counts["unreadable"] == 1
    assert [row["id"] for row in result.clusters] == [0, 2, 3]
    assert result.kept == ["a b c d e f", "x"]


# Which one is kept


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("first", "b"),
        ("longest", "a"),
        ("max:score", "c"),
        ("max:unknown", "a"),
        ("max:some", "d"),
        ("max:day", "b"),
    ],
)
def test_the_policy_says_which_copy_is_kept(keep, expected):
    text = "the cat sat on the mat"
    table = pa.table(
        {
            "id": ["b", "d", "a", "c"],
            "text": [text, text + "!", text + "!", text],
            # Ties go by id.
            "score": [1, 2, 1, 2],
            "unknown": pa.array([None] * 4, pa.float64()),
            "some": [None, 0.5, nan, nan],
            "day": pa.array([9, 1, 2, 3], pa.date32()),
        }
    )
    result = la.dedup(table, id="id", keep=keep)
    assert result.kept.column("id").to_pylist() == [expected]
    assert {row["cluster"] for row in result.clusters} == {"a"}
    assert {row["representative"] for row in result.clusters} == {expected}
    assert [row["via"] for row in result.clusters] == [
        None if name == expected else expected for name in "abcd"
    ]


def test_a_policy_that_cannot_be_followed_is_refused():
    table = pa.table({"text": ["a b", "a b"], "name": ["x", "y"]})
    with pytest.raises(SourceError, match=r"numbers, dates or booleans.* such as 2026-01-31"):
        la.dedup(table, keep="max:name")
    with pytest.raises(MissingColumnError, match="stars"):
        la.dedup(table, keep="max:stars")
    with pytest.raises(OptionError, match="max:COLUMN"):
        la.dedup(table, keep="best")


# Approximate by name


def test_signatures_alone_give_estimates_and_say_so():
    threshold = 0.6
    exact = la.dedup(DOCS, threshold=threshold, recall=0.99)
    result = la.dedup(DOCS, threshold=threshold, recall=0.99, verify="signature")
    assert result.pairs.columns == ["a", "b", "estimate"]
    assert result.clusters.columns == ["id", "cluster", "representative", "estimate", "via", "kept", "flag"]
    assert "estimate" in result.samples.column_names
    shingler = la.Shingle.parse("words:5").shingler(0)
    signatures = la.MinHash().signatures_of_texts(pa.array(DOCS, pa.large_string()), shingler)
    # The same candidates; of them, those that agree in enough slots.
    assert result.account.candidates == exact.account.candidates
    assert len(result.pairs) > 10
    for row in result.pairs:
        assert row["estimate"] == signatures.similarity(row["a"], row["b"]) >= threshold
    below = [row for row in result.samples.to_pylist() if row["side"] == "under"]
    assert all(row["estimate"] < threshold for row in below)
    for row in exact.pairs:
        if signatures.similarity(row["a"], row["b"]) >= threshold:
            assert (row["a"], row["b"]) in {(other["a"], other["b"]) for other in result.pairs}
    for row in result.clusters:
        if SETS[row["id"]]:
            assert row["estimate"] == signatures.similarity(row["id"], row["representative"])


def test_estimates_between_two_collections():
    pairs = la.similar_pairs(DOCS[:50], DOCS[50:], threshold=0.5, verify="signature")
    assert pairs.columns == ["a", "b", "estimate"]


# The ends of the road


@pytest.mark.parametrize("verify", ["exact", "signature"])
@pytest.mark.parametrize("group", ["components", "star"])
@pytest.mark.parametrize(
    ("docs", "kept", "clusters"),
    [
        (["one document, and that is it"], 1, 0),
        ([""], 1, 0),
        (["", " ", "...", "\n"], 4, 0),
        (["the same text again and again"] * 7, 1, 1),
        (["a", "A", "b", ""], 3, 1),
        (["a b", "b a", "a b c d", "A B C D"], 3, 1),
    ],
)
def test_small_and_odd_collections(docs, kept, clusters, group, verify):
    for method in ("auto", "lsh"):
        result = la.dedup(docs, group=group, verify=verify, method=method)
        assert (result.counts["kept"], result.counts["clusters"]) == (kept, clusters)
        assert len(result.clusters) == len(docs)
        assert str(len(docs)) in repr(result)
    # Bands that found nothing cannot tell whether there was anything to find.
    assert result.account.recall.recall is None


@pytest.mark.parametrize(
    "nothing", [[], (), pa.array([], pa.string()), pa.table({"text": pa.array([], pa.string())})]
)
@pytest.mark.parametrize("verb", [la.dedup, la.similar_pairs])
def test_nothing_to_read_is_an_error_that_says_so(verb, nothing):
    with pytest.raises(EmptySourceError, match="nothing to read"):
        verb(nothing)


def test_a_second_collection_must_not_be_empty_either():
    with pytest.raises(EmptySourceError, match="nothing to read"):
        la.similar_pairs(["a b"], [])
    with pytest.raises(EmptySourceError, match="nothing to read"):
        la.similar_pairs([[1, 2]], [])


@pytest.mark.parametrize("recall", [0.5, 0.999])
@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.99, 1.0])
def test_ends_of_what_can_be_asked(threshold, recall):
    slots = 512 if threshold < 0.1 else 128
    truth = oracle.pairs(SETS, threshold)
    pairs = la.similar_pairs(DOCS, threshold=threshold, recall=recall, slots=slots)
    found = {(row["a"], row["b"]): row["similarity"] for row in pairs}
    assert found.items() <= truth.items()
    assert len(found) >= recall * len(truth) * 0.9
    assert pairs.account.plan.reached >= recall


def test_a_threshold_of_one_finds_equal_sets_whatever_their_bags():
    passage = " ".join(texts.prose(12, 1))
    docs = [" ".join([passage] * times) for times in (2, 3, 5)] + [passage]
    assert {(row["a"], row["b"]) for row in la.similar_pairs(docs, threshold=1.0)} == {
        (0, 1),
        (0, 2),
        (1, 2),
    }


REFUSED = {
    "threshold=0": ({"threshold": 0}, OptionError, "threshold"),
    "threshold over 1": ({"threshold": 1.01}, OptionError, "threshold"),
    "threshold NaN": ({"threshold": nan}, OptionError, "threshold"),
    "threshold in words": ({"threshold": "high"}, OptionError, "threshold"),
    "recall=1": ({"recall": 1}, OptionError, "recall"),
    "recall=0": ({"recall": 0}, OptionError, "recall"),
    "no slots": ({"slots": 0}, OptionError, "slots"),
    "half a slot": ({"slots": 16.5}, OptionError, "slots"),
    "out of reach": ({"slots": 16, "threshold": 0.1}, UnreachableRecallError, "16 slots find at most"),
    "seed below 0": ({"seed": -1}, OptionError, "seed"),
    "seed too large": ({"seed": 2**64}, OptionError, "seed"),
    "half a seed": ({"seed": 0.5}, OptionError, "seed"),
    "shingle": ({"shingle": "syllables:3"}, OptionError, "shingle"),
    "verify": ({"verify": "never"}, OptionError, "exact or signature"),
    "method": ({"method": "magic"}, OptionError, "auto or lsh"),
    "measure": ({"measure": "taste"}, OptionError, "jaccard or containment"),
    "unknown": ({"num_perm": 128}, OptionError, "no option 'num_perm': did you mean slots"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("verb", [la.dedup, la.similar_pairs])
def test_what_cannot_be_asked_is_refused_with_what_can_be(verb, case):
    options, error, said = REFUSED[case]
    with pytest.raises(error, match=said):
        verb(["a text", "another"], **options)


def test_options_of_clusters_go_with_dedup_alone():
    with pytest.raises(OptionError, match="components or star"):
        la.dedup(["a"], group="cliques")
    with pytest.raises(OptionError, match="no option 'keep'"):
        la.similar_pairs(["a"], keep="first")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"threshold": 0.5, "keep": "max:stars", "group": "star", "seed": 2**64 - 1, "verify": "signature"},
        {"shingle": la.Shingle(unit="chars", k=7, casefold=False)},
        {"shingle": la.Shingle(unit="stopwords", stops=("that", "you"))},
    ],
)
def test_options_round_trip_to_json(options):
    import json

    chosen = la.DedupOptions(**options)
    assert la.DedupOptions.of(json.loads(json.dumps(chosen.to_dict()))) == chosen


def test_stop_words_of_ones_own():
    stops = la.Shingle(unit="stopwords", stops=("that", "you", "for", "your"))
    docs = [
        "I recommend that you buy Sudzo for your laundry",
        "that you buy! For your laundry; you buy Sudzo",
        "Buy Sudzo",
    ]
    pairs = la.similar_pairs(docs, shingle=stops, threshold=0.4)
    # that-you-buy, you-buy-sudzo, for-your-laundry, and on the right also you-buy-for, your-laundry-you.
    assert [(row["a"], row["b"], row["similarity"]) for row in pairs] == [(0, 1, 3 / 5)]
    assert pairs.account.empty == 1


# Advice


def advised(docs, **options):
    return "\n".join(la.dedup(docs, **options).advice)


def test_text_without_spaces_is_met_with_advice():
    chinese = ["我们今天去公园散步然后回家吃饭看书休息" + chr(0x4E00 + at) for at in range(20)]
    assert "chars:5" in advised(chinese)
    assert advised(chinese, shingle="chars:5") == ""
    assert advised(DOCS) == ""


def test_shingles_too_small_are_met_with_advice():
    letters = [" ".join(texts.prose(60, seed, vocabulary=40)) for seed in range(120)]
    assert "larger k" in advised(letters, shingle="words:1")
    assert "larger k" not in advised(letters)


def test_a_huge_cluster_is_met_with_advice():
    docs = texts.joined(texts.variants(texts.prose(100, 1), 1200, 1))
    assert "largest cluster" in advised(docs)


def test_a_keep_column_may_be_the_id_or_the_text_once_more():
    table = pa.table({"id": [3, 1, 2], "text": ["a b c d e f", "A B C D E F", "other words than those here"]})
    kept = la.dedup(table, id="id", keep="max:id").kept
    assert sorted(kept["id"].to_pylist()) == [2, 3]


def test_numbers_of_a_csv_file_are_numbers_to_keep_by(tmp_path):
    (tmp_path / "a.csv").write_text("text,n\na b c d e f,9\nA B C D E F,10\n")
    result = la.dedup(tmp_path / "a.csv", keep="max:n")
    assert result.kept_rows.tolist() == [False, True]


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (["9", "", "10"], 2),
        (["", "", ""], 0),
        (["2026-01-31", "2026-02-01", "2025-12-31"], 1),
        (["2026-01-31T12:00:00Z", "2026-01-31T12:30:00+01:00", ""], 0),
        (["false", "", "true"], 2),
    ],
)
@pytest.mark.parametrize("unit", ["document", "paragraph"])
def test_numbers_and_dates_written_as_text_are_values_to_keep_by(tmp_path, values, kept, unit):
    lines = ["text,n", *(f"a b c d e f,{value}" for value in values)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    rows = [json.dumps({"text": "a b c d e f", "n": value or None}) for value in values]
    (tmp_path / "a.jsonl").write_text("\n".join(rows) + "\n")
    for name in ("a.csv", "a.jsonl"):
        result = la.dedup(tmp_path / name, keep="max:n", unit=unit)
        assert np.flatnonzero(result.kept_rows).tolist() == [kept]


def test_a_folder_is_read_without_the_run_folders_in_it(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a b c d e f"}\n')
    la.dedup(tmp_path).write(tmp_path / "out")
    again = la.dedup(tmp_path)
    assert again.counts["documents"] == 1
    again.write(tmp_path / "out", overwrite=True)


def test_recall_is_not_claimed_for_pairs_in_very_large_buckets():
    template = [f"word{i}" for i in range(60)]
    docs = [" ".join([*template[: i % 60], f"new{i}", *template[i % 60 + 1 :]]) for i in range(400)]
    result = la.dedup(docs, threshold=0.7, method="lsh")
    assert result.account.large.not_compared > 0
    assert "outside very large buckets" in result.summary()
    assert any("not every pair is listed" in sentence for sentence in result.advice)


@pytest.mark.parametrize(
    "values", [[Decimal("1.10"), Decimal("1.2"), None], [False, True, None]], ids=["decimals", "booleans"]
)
def test_the_row_to_keep_may_be_the_one_of_a_decimal_or_of_true(values):
    table = pa.table({"text": ["one and the same text here"] * 3, "value": values})
    assert la.dedup(table, keep="max:value").kept_rows.tolist() == [False, True, False]


def test_a_result_is_a_table_of_what_became_of_each_document():
    result = la.dedup(["a rose is a rose", "A rose is a rose!", "a tulip"])
    assert result.to_arrow().equals(result.clusters.to_arrow())
    assert result.to_pandas()["kept"].tolist() == [True, False, True]
    assert result.to_polars()["representative"].to_list() == [0, 0, 2]


def test_pairs_skip_what_cannot_be_read_and_take_a_budget():
    docs = ["a rose is a rose", None, "A rose is a rose!"]
    pairs = la.similar_pairs(docs, on_error="skip", memory="50MB", threads=1)
    assert pairs.to_arrow().to_pydict() == {"a": [0], "b": [2], "similarity": [1.0]}
    with pytest.raises(SourceError, match=r"row 1 .* null .*on_error='skip'"):
        la.similar_pairs(docs)
    with pytest.raises(OptionError, match="memory='lots' is not understood"):
        la.similar_pairs(docs, memory="lots")


def test_a_policy_that_is_no_string_is_refused():
    with pytest.raises(OptionError, match="keep=3 is not understood: write first, longest"):
        la.dedup(["a"], keep=3)
