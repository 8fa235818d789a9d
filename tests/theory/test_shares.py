"""How many things a share of them is."""

from itertools import product

from lookalike.theory.shares import fewest, most


def test_a_share_that_is_a_count_of_them_is_that_count():
    for among in range(1, 200):
        for count in range(1, among):
            assert fewest(count / among, among) == count
            assert most(count / among, among) == count


def test_counts_are_those_that_division_says():
    for among, hundredth in product(range(1, 130), range(1, 100)):
        share = hundredth / 100
        reaching = [count for count in range(among + 1) if count / among >= share]
        within = [count for count in range(among + 1) if count / among <= share]
        assert (fewest(share, among), most(share, among)) == (reaching[0], within[-1])


def test_of_nothing_a_share_is_nothing():
    assert (fewest(0.5, 0), most(0.5, 0)) == (0, 0)
