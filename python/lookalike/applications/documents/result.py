"""What deduplication found: for people to read, for programs to use, and as a folder on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.documents.assigning import ClusterRows
from lookalike.applications.documents.join import Search
from lookalike.applications.documents.keys import Arrived, write_keys
from lookalike.applications.documents.options import DedupOptions
from lookalike.applications.documents.samples import near_threshold
from lookalike.applications.documents.summary import advice, run_estimates, summary_lines
from lookalike.io import Source
from lookalike.joins import ALGORITHM_VERSION, Account
from lookalike.runs import Header, RunFolder, RunRecord, Stage, write_parquet
from lookalike.runs.stopwatch import took
from lookalike.types import I64, Bools, Clusters, Pairs


@dataclass(frozen=True, kw_only=True, eq=False)
class DedupResult:
    """The outcome of `dedup`; `print` shows a summary, and `write` makes the folder that the command makes.

    Attributes
    ----------
    kept
        The kept documents, in the form they were given.
    clusters
        One row a document, as a table: its cluster, the document kept for it, how similar it is to that, by
        way of which neighbour it joined, and whether it was kept.
    pairs
        Verified pairs of near-duplicates, and each exact copy with its representative.
    cluster_rows
        The same as `clusters`, by row numbers.
    kept_rows
        Which documents are kept, as a mask over the input in its order.
    account
        Counts, the plan, and the estimated recall.

    Examples
    --------
    >>> from lookalike import dedup
    >>> result = dedup(["the cat sat on the mat today", "a dog barked", "The cat sat on the mat, today!"])
    >>> result.kept_rows.tolist(), result.counts["dropped"]
    ([True, True, False], 1)
    >>> result.clusters["representative"].to_pylist()
    [0, 1, 0]
    """

    source: Source
    options: DedupOptions
    pairs: Pairs
    cluster_rows: ClusterRows
    search: Search[Any]
    kept_rows: Bools
    chained: int
    #: Of the clusters of two or more, the largest first.
    cluster_sizes: I64
    account: Account
    stages: Sequence[Stage]
    text_bytes: int

    @cached_property
    def clusters(self) -> Clusters:
        """One row a document, as a table."""
        return Clusters(pa.Table.from_batches(self.cluster_rows.batches(), self.cluster_rows.schema))

    @cached_property
    def samples(self) -> pa.Table:
        """Pairs near the threshold on both sides, with their texts, to judge it by."""
        return near_threshold(self.search, self.options)

    @property
    def kept(self) -> Any:
        """The kept documents, in the form they were given: a list, a data frame, a table."""
        return self.source.kept(self.kept_rows)

    @property
    def counts(self) -> dict[str, Any]:
        """What was counted. Every document read is kept, or dropped as an exact copy or a near-duplicate."""
        sizes = self.cluster_sizes
        kept = int(np.count_nonzero(self.kept_rows))
        unreadable = self.source.unreadable
        account = self.account
        return {
            "documents": account.items,
            "unreadable": unreadable.rows,
            "unreadable_files": unreadable.files,
            "empty": account.empty,
            "short": account.short,
            "unspaced": account.unspaced,
            "copies": account.copies,
            "candidates": account.candidates,
            "pairs": account.pairs,
            "clusters": len(sizes),
            "largest_clusters": sizes[:5].tolist(),
            "chained": self.chained,
            "kept": kept,
            "dropped": account.items - kept,
            "text_bytes": self.text_bytes,
        }

    @property
    def advice(self) -> list[str]:
        """What the user may want to change, in sentences."""
        return advice(self.account, self.options, self.counts)

    def summary(self) -> str:
        """A few lines for a person."""
        return "\n".join(summary_lines(self.account, self.counts, self.stages))

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        cells = (line.split("  ", 1) for line in summary_lines(self.account, self.counts, self.stages))
        body = "".join(f"<tr><td>{cell[0].strip()}</td><td>{cell[-1].strip()}</td></tr>" for cell in cells)
        return f"<table><tbody>{body}</tbody></table>"

    def record(self) -> RunRecord:
        """What run.json says of this run."""
        return RunRecord(
            job="dedup",
            parameters=self.options.to_dict(),
            algorithm=ALGORITHM_VERSION,
            counts=self.counts,
            estimates=run_estimates(self.account, self.stages),
            stages=tuple(self.stages),
            took=took(self.stages),
        )

    def to_arrow(self) -> pa.Table:
        """What became of each document, the table of `clusters`, as a pyarrow Table."""
        return self.clusters.to_arrow()

    def to_pandas(self) -> Any:
        """What became of each document as a pandas DataFrame."""
        return self.clusters.to_pandas()

    def to_polars(self) -> Any:
        """What became of each document as a polars DataFrame."""
        return self.clusters.to_polars()

    def write(self, path: str | Path, *, overwrite: bool = False, drop_list: bool = False) -> Path:
        """Write the run folder: kept, clusters, pairs, samples, run.json. It appears whole or not at all.

        With `drop_list`, `dropped.parquet` names the dropped documents and no kept rows are written.
        """
        with RunFolder.create(path, overwrite=overwrite) as folder:
            self.write_into(folder.path, drop_list=drop_list)
            self.record().write(folder.path)
        return Path(path)

    def write_into(self, folder: Path, *, drop_list: bool = False) -> None:
        """Write everything but run.json."""
        header = self._header
        rows = self.cluster_rows
        # Batch by batch: a table of all rows may be larger than what the run was allowed.
        write_parquet(folder / "clusters.parquet", rows.batches(), header("clusters"), schema=rows.schema)
        write_parquet(folder / "pairs.parquet", self.pairs.to_arrow(), header("pairs"))
        write_parquet(folder / "samples.parquet", self.samples, header("samples"))
        if drop_list:
            schema = pa.schema([rows.schema.field(name) for name in _DROPPED])
            write_parquet(
                folder / "dropped.parquet", map(_dropped, rows.batches()), header("dropped"), schema=schema
            )
        else:
            (folder / "kept").mkdir()
            self._write_kept(folder / "kept")
        self._write_keys(folder, drop_list=drop_list)

    def _write_kept(self, folder: Path) -> None:
        self.source.write_kept(folder, self.kept_rows)

    def _write_keys(self, folder: Path, *, drop_list: bool) -> None:
        """Leave to later runs what they need to compare new documents with the kept ones."""
        write_keys(
            folder,
            self._items,
            self._kept_items,
            self.search.joined,
            self.options,
            drop_list=drop_list,
        )

    @property
    def _items(self) -> Arrived:
        """What was compared, as it was read."""
        collection: Arrived = self.search.collections[0]
        return collection

    @property
    def _kept_items(self) -> Bools:
        """Which of it is kept, in the order it arrived."""
        return self.kept_rows

    def _header(self, kind: str) -> Header:
        return Header(kind=kind, algorithm=ALGORITHM_VERSION, parameters=self.options.to_dict())


_DROPPED = ("id", "representative")


def _dropped(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.filter(pc.invert(batch["kept"])).select(list(_DROPPED))
