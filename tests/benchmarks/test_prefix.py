"""The benchmark of the prefix join sees wrong answers before it says how fast they came."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import prefix
from lookalike.joins.found import Found
from lookalike.joins.pair_tables import nothing_found, pair_table


@pytest.mark.parametrize("make", [prefix.zipf, prefix.even])
def test_sets_have_as_many_tokens_as_said_and_planted_pairs_of_many_similarities(make):
    made = make(5_000)
    assert made.tokens.shape == (5_000, prefix.TOKENS)
    assert all(len(set(row)) == prefix.TOKENS for row in made.tokens.tolist())
    shared = {len(np.intersect1d(made.tokens[a], made.tokens[b])) for a, b in made.planted}
    assert {prefix.TOKENS - 1, prefix.TOKENS - 5} <= shared
    assert (made.planted[:, 0] < made.planted[:, 1]).all()


def test_our_answer_is_the_peers_and_has_no_faults():
    made = prefix.zipf(3_000)
    found = prefix.join(made.items(), 0.7, 2)
    assert len(found.a) > 20
    assert prefix.pairs_of(found) == prefix.peer(made, 0.7)[0]
    assert prefix.faults(made, 0.7, found) == []


def test_missing_and_wrong_pairs_are_faults():
    made = prefix.zipf(3_000)
    nothing = Found(near=nothing_found(), candidates=0)
    assert any("planted" in fault for fault in prefix.faults(made, 0.7, nothing))
    other = Found(near=pair_table(np.array([0]), np.array([1]), np.array([0.9])), candidates=1)
    assert any("rows 0 and 1" in fault for fault in prefix.faults(made, 0.7, other))


def test_a_run_says_what_it_measured(capsys):
    # So small that what a call itself costs may hide how much faster it is.
    prefix.main(["--sets", "2000", "--peer-sets", "2000", "--runs", "1"])
    said = capsys.readouterr().out
    assert "The exact prefix join" in said
    assert "planted" not in said
