"""The benchmark of appending sees wrong answers before it says how quick they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lookalike as la
from benchmarks import append


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("append")
    old, new = append.write_corpus(folder / "corpus", 2_000)
    run = la.dedup(old, method="lsh").write(folder / "run")
    return [la.dedup(new, against=run, method=method) for method in ("lsh", "prefix")]


def test_our_answer_has_no_faults(answered):
    assert append.faults(*answered) == []
    assert answered[1].counts["duplicates_of_earlier"] > 5


def test_what_is_dropped_in_vain_or_kept_in_vain_is_a_fault(answered):
    bands, exact = answered
    all_dropped = replace(bands, kept_rows=np.zeros_like(bands.kept_rows))
    assert "like nothing" in append.faults(all_dropped, exact)[0]
    all_kept = replace(bands, kept_rows=np.ones_like(bands.kept_rows))
    assert "short of 95%" in append.faults(all_kept, exact)[0]


def test_a_run_says_what_it_measured(capsys):
    append.main(["--documents", "600"])
    said = capsys.readouterr().out
    assert "new against old, stored keys" in said
    assert "bytes each" in said
