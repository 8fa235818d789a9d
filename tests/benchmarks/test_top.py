"""The benchmark of the most similar sees wrong answers before it says how fast they came."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lookalike as la
from benchmarks import top


@pytest.mark.parametrize("make", [top.documents, top.tastes])
def test_right_answers_have_no_faults_and_wrong_ones_do(make):
    made = make(1_500)
    found = la.top(made.items, k=top.K, method="exact").found
    assert top.faults(made, found, complete=True) == []
    assert top.recall(found, found) == 1.0
    off = replace(found, similarity=found.similarity * 0.999)
    assert any("similar" in fault for fault in top.faults(made, off, complete=False))
    rest = np.flatnonzero(np.isin(found.row, made.checked) & (found.similarity < 1))
    kept = np.setdiff1d(np.arange(len(found.row)), rest[:1])
    less = replace(found, row=found.row[kept], other=found.other[kept], similarity=found.similarity[kept])
    assert any("misses" in fault for fault in top.faults(made, less, complete=True))
    assert 0 < top.recall(less, found) < 1


def test_a_run_says_what_it_measured(capsys):
    assert top.main(["--documents", "1500", "--sets", "600", "--runs", "1"]) == 0
    said = capsys.readouterr().out
    assert "The 10 most similar of every item" in said
    assert "as measured" in said
