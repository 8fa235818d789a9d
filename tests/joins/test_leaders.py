"""Large buckets: leaders find who belongs together, nothing wrong is claimed, and the account adds up."""

import random
from itertools import combinations

import numpy as np
import pytest
from tests.conformance import oracle, texts

import lookalike as la
from lookalike.bands import buckets
from lookalike.bands.keys import BAND_BITS
from lookalike.engines import Table
from lookalike.joins import leaders
from lookalike.joins.leaders import (
    ACROSS,
    ROUNDS,
    LeaderAccount,
    across_large,
    by_row,
    join_large,
)

SURE = 0.9999


def grouped(result):
    """Clusters of two or more as sets of ids."""
    return {frozenset(group) for group in result.clusters.groups()}


def components(sets, threshold):
    labels = oracle.components(len(sets), oracle.pairs(sets, threshold))
    groups = [frozenset(row for row, label in enumerate(labels) if label == least) for least in set(labels)]
    return {group for group in groups if len(group) > 1}


def one_family():
    return texts.variants(texts.prose(100, 1), 60, 1)


def two_families_of_one_boilerplate():
    """Two thirds of each text are the same: all meet in its buckets, and only families match."""
    boilerplate = texts.prose(120, 2)
    return [
        row for family in (3, 4) for row in texts.variants(texts.prose(60, family) + boilerplate, 40, family)
    ]


def many_small_families_of_one_boilerplate():
    boilerplate = texts.prose(100, 5)
    return [
        row
        for family in range(15)
        for row in texts.variants(texts.prose(40, 50 + family) + boilerplate, 4, family)
    ]


def with_strangers():
    return [*one_family(), *(texts.prose(80, 100 + row) for row in range(40))]


COLLECTIONS = [
    one_family,
    two_families_of_one_boilerplate,
    many_small_families_of_one_boilerplate,
    with_strangers,
]


@pytest.mark.parametrize("large", [2, 4, 16])
@pytest.mark.parametrize("group", ["components", "star"])
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_clusters_are_those_of_brute_force_however_small_a_large_bucket_is(
    monkeypatch, collection, group, large
):
    monkeypatch.setattr(buckets, "LARGE", large)
    rows = collection()
    random.Random(7).shuffle(rows)
    docs = texts.joined(rows)
    sets = [oracle.shingles(text) for text in docs]
    truth = oracle.pairs(sets, 0.7)
    result = la.dedup(docs, threshold=0.7, recall=SURE, group=group, method="lsh")
    account = result.account
    # Small enough that leaders had to be asked.
    assert account.large.buckets > 0
    assert account.large.largest > large
    for row in result.pairs:
        assert truth[row["a"], row["b"]] == row["similarity"]
    # In these collections a family is a clique, so the stars are the components.
    assert grouped(result) == components(sets, 0.7)
    assert account.items == account.empty + account.copies + account.representatives
    assert account.pairs == len(result.pairs) - account.copies
    assert account.candidates >= account.pairs


@pytest.mark.parametrize("group", ["components", "star"])
def test_thousands_of_variants_of_a_template_cost_little_more_than_a_check_each(group):
    docs = texts.joined(texts.variants(texts.prose(200, 1), 5_000, 3))
    result = la.dedup(docs, group=group, recall=0.999)
    assert result.counts["kept"] <= 5
    assert 4_990 < result.account.candidates < 4 * 5_000
    # Every two of them meet: all but the checks was saved, and that is said.
    assert result.account.large.not_compared > 5_000**2 / 4


class Checks:
    """Rows match if they are of one family; every check is remembered."""

    def __init__(self, family):
        self.family = np.asarray(family)
        self.asked = []

    def __call__(self, a, b):
        self.asked += zip(a.tolist(), b.tolist(), strict=True)
        same = self.family[a] == self.family[b]
        return a[same], b[same]


def bucket_table(*members_of_buckets, bands=None):
    sizes = [len(members) for members in members_of_buckets]
    bands = range(len(sizes)) if bands is None else bands
    keys = [(place + 1 << BAND_BITS) | band for place, band in enumerate(bands)]
    rows = [row for members in members_of_buckets for row in members]
    # Whoever comes first has the least content.
    content = {row: place for place, row in reversed(list(enumerate(rows)))}
    return Table.of(
        bucket=np.repeat(np.array(keys, np.uint64), sizes),
        row=np.array(rows, np.uint32),
        content=np.array([content[row] for row in rows], np.uint64),
    )


def joined(large, rows, known, check):
    content = by_row(rows, large.column("row"), large.column("content"))
    return join_large(large, rows, [known], lambda _: content, check)


NOTHING = (np.empty(0, np.uint32), np.empty(0, np.uint32))


@pytest.fixture
def ten_is_the_most_of_a_small_bucket(monkeypatch):
    monkeypatch.setattr(buckets, "LARGE", 10)


def test_without_large_buckets_nothing_is_checked():
    empty = Table((), bucket_table([1]).schema)
    assert joined(empty, 5, NOTHING, None) == LeaderAccount()
    assert across_large(empty, np.zeros(5, bool), np.zeros(5, bool))[2] == LeaderAccount()


@pytest.mark.usefixtures("ten_is_the_most_of_a_small_bucket")
def test_one_check_a_row_joins_a_family_and_other_bands_need_none():
    checks = Checks([0] * 50)
    account = joined(bucket_table(range(50), range(49, -1, -1)), 50, NOTHING, checks)
    assert checks.asked == [(0, row) for row in range(1, 50)]
    assert account == LeaderAccount(
        buckets=2, rows=50, largest=50, checked=49, not_compared=2 * 50 * 49 // 2 - 49, unsettled=0
    )


@pytest.mark.usefixtures("ten_is_the_most_of_a_small_bucket")
def test_pairs_that_are_joined_already_are_not_checked():
    checks = Checks([0] * 30)
    known = (np.arange(29, dtype=np.uint32), np.arange(1, 30, dtype=np.uint32))
    assert joined(bucket_table(range(30)), 30, known, checks).checked == 0


@pytest.mark.usefixtures("ten_is_the_most_of_a_small_bucket")
def test_rows_that_match_no_leader_choose_their_own_and_few_are_paired_outright():
    family = [row % 3 for row in range(60)] + [9, 9, 8]
    checks = Checks(family)
    account = joined(bucket_table(range(63)), 63, NOTHING, checks)
    rounds = [(0, row) for row in range(1, 63)] + [
        (1, row) for row in range(2, 63) if row % 3 != 0 or row >= 60
    ]
    last = [row for row in range(2, 63) if row % 3 == 2 and row < 60] + [60, 61, 62]
    rounds += [(2, row) for row in last[1:]]
    assert sorted(checks.asked) == sorted(set(rounds) | set(combinations([60, 61, 62], 2)))
    assert account.unsettled == 0


@pytest.mark.usefixtures("ten_is_the_most_of_a_small_bucket")
def test_strangers_in_a_bucket_are_given_up_after_a_few_rounds_and_counted_once():
    checks = Checks(range(100))
    account = joined(bucket_table(range(100), range(100)), 100, NOTHING, checks)
    # Round i checks what is left against row i; a failed check is not repeated in the other band.
    assert sorted(checks.asked) == [
        (leader, row) for leader in range(ROUNDS) for row in range(leader + 1, 100)
    ]
    # The first of those that are left would have been the next leader, and leaders do not count.
    assert account.unsettled == 100 - ROUNDS - 1


@pytest.mark.usefixtures("ten_is_the_most_of_a_small_bucket")
def test_what_is_small_after_the_last_round_is_still_paired():
    rows = ROUNDS + 5
    checks = Checks([*range(ROUNDS), *[99] * 5])
    account = joined(bucket_table(range(rows)), rows, NOTHING, checks)
    assert set(combinations(range(ROUNDS, rows), 2)) <= set(checks.asked)
    assert account.unsettled == 0


def triers(monkeypatch, tried, one_in):
    monkeypatch.setattr(leaders, "TRIED", tried)
    monkeypatch.setattr(leaders, "ONE_IN", one_in)


@pytest.mark.usefixtures("ten_is_the_most_of_a_small_bucket")
def test_in_a_crowd_of_strangers_a_leader_is_tried_on_few(monkeypatch):
    triers(monkeypatch, 20, 10)
    checks = Checks(range(1_000))
    account = joined(bucket_table(range(1_000)), 1_000, NOTHING, checks)
    assert account.checked == len(checks.asked) == ROUNDS * 20
    assert {leader for leader, _ in checks.asked} == set(range(ROUNDS))
    assert account.not_compared == 1_000 * 999 // 2 - account.checked
    assert account.unsettled == 1_000 - ROUNDS - 1


@pytest.mark.usefixtures("ten_is_the_most_of_a_small_bucket")
def test_a_leader_of_enough_of_those_it_is_tried_on_is_compared_with_all_once(monkeypatch):
    triers(monkeypatch, 50, 10)
    checks = Checks([row % 2 for row in range(1_000)])
    account = joined(bucket_table(range(1_000), range(1_000)), 1_000, NOTHING, checks)
    # The first leads a half, and the others are led by the second; the other band has nothing to add.
    assert account.checked == len(set(checks.asked)) == 999 + 499
    assert account.unsettled == 0


@pytest.mark.usefixtures("ten_is_the_most_of_a_small_bucket")
def test_what_trials_find_does_not_depend_on_the_order_of_rows_in_a_bucket(monkeypatch):
    triers(monkeypatch, 30, 15)
    family = [row if row % 7 else -1 for row in range(500)]
    content = np.arange(500, dtype=np.uint64)
    asked = []
    for order in (list(range(500)), random.Random(5).sample(range(500), 500)):
        checks, bucket = Checks(family), np.full(500, 1 << BAND_BITS, np.uint64)
        large = Table.of(bucket=bucket, row=np.array(order, np.uint32), content=content[order])
        asked.append((join_large(large, 500, [NOTHING], lambda _: content, checks), sorted(checks.asked)))
    assert asked[0] == asked[1]


def test_a_crowd_just_under_the_threshold_costs_few_checks_and_stays_apart():
    template = " ".join(f"shared{word}" for word in range(46))
    docs = [f"{template} {' '.join(f'{text:x}x{word}' for word in range(24))}" for text in range(20_000)]
    apart = la.dedup(docs, threshold=0.5)
    together = la.dedup(docs, threshold=0.46)
    assert (apart.counts["kept"], apart.counts["pairs"]) == (20_000, 0)
    assert apart.account.large.unsettled > 19_000
    assert apart.account.large.checked < 20 * 20_000
    assert together.counts["kept"] < 100


def test_across_every_row_meets_a_few_leaders_of_the_other_side_and_never_itself():
    first = np.array([row < 30 or row >= 55 for row in range(60)])
    second = np.array([row >= 30 for row in range(60)])
    order = random.Random(3).sample(range(60), 60)
    a, b, account = across_large(bucket_table(order, order[:40], bands=[0, 1]), first, second)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs) == account.checked
    assert all(one < two for one, two in pairs)
    assert all((first[one] and second[two]) or (second[one] and first[two]) for one, two in pairs)
    met = {
        row: {*(two for one, two in pairs if one == row), *(one for one, two in pairs if two == row)}
        for row in range(60)
    }
    assert all(len(others) >= ACROSS for others in met.values())
    # Each bucket's leaders are the first of each side, as they come.
    ones, others = [r for r in order if first[r]][:ACROSS], [r for r in order if second[r]][:ACROSS]
    assert all(set(others) - {row} <= met[row] for row in range(60) if first[row])
    assert all(set(ones) - {row} <= met[row] for row in range(60) if second[row])


def test_across_counts_what_was_not_compared():
    order = list(range(40))
    first = np.array([row < 25 for row in order])
    second = np.array([row >= 20 for row in order])
    a, _, account = across_large(bucket_table(order), first, second)
    possible = {
        (one, two)
        for one, two in combinations(order, 2)
        if (first[one] and second[two]) or (second[one] and first[two])
    }
    assert account.not_compared == len(possible) - len(a)
