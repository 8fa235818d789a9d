"""The benchmark of memory sees wrong answers before it says how little was needed."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from benchmarks import budget
from lookalike.engines import memory


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("budget")
    budget.write_documents(folder / "documents", 3_000)
    return budget.run(folder / "documents", folder / "output", memory.LEAST), folder


def test_of_ten_documents_one_is_a_copy_and_one_a_variant(answered):
    texts = pq.read_table(answered[1] / "documents")["text"].to_pylist()
    assert len(texts) == 3_000
    assert all(texts[at + 9] == texts[at] for at in range(0, 3_000, 10))
    assert all(texts[at + 8].split()[:-1] == texts[at].split()[:-1] for at in range(0, 3_000, 10))
    # A variant may draw the same word again, but hardly ever.
    assert len(set(texts)) >= 2_690


def test_our_answer_has_no_faults(answered):
    run, folder = answered
    assert (run.documents, budget.faults(folder / "output", 3_000)) == (3_000, [])
    assert run.elapsed > run.seconds > 0
    assert run.peak > 30_000_000


def test_rows_that_are_missing_kept_twice_or_kept_in_vain_are_faults(answered, tmp_path):
    output = answered[1] / "output"
    clusters = pq.read_table(output / "clusters.parquet")
    (tmp_path / "kept").mkdir()
    pq.write_table(pq.read_table(output / "kept").slice(5), tmp_path / "kept" / "a.parquet")
    pq.write_table(clusters, tmp_path / "clusters.parquet")
    assert budget.faults(tmp_path, 3_000) == ["5 documents are not kept or dropped once"]
    pq.write_table(clusters.filter(clusters["kept"]), tmp_path / "clusters.parquet")
    said = " ".join(budget.faults(tmp_path, 3_000))
    assert all(
        word in said for word in ("300 copies were kept", "0.0% of the variants", "not kept or dropped")
    )


def test_a_run_says_what_it_measured(capsys, tmp_path):
    budget.main(["--documents", "2000", "--memory", "16MB", "--folder", str(tmp_path)])
    said = capsys.readouterr().out
    assert "Deduplication within 16MB" in said
    assert "peak, MB" in said
    assert list(tmp_path.iterdir()) == []
