"""The most similar by user ids: for people to read, for programs to use, and as a folder on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.collection import Collection
from lookalike.applications.sets import SetCollection
from lookalike.applications.top.labels import Labels, codes_of, vote
from lookalike.applications.top.options import TopOptions
from lookalike.charts import numbers
from lookalike.io import Source
from lookalike.joins import ALGORITHM_VERSION
from lookalike.joins.best import places_in_runs
from lookalike.joins.measured import MeasuredRecall
from lookalike.joins.top import Neighbours, TopAccount
from lookalike.runs import Header, RunFolder, RunRecord, Stage, write_parquet
from lookalike.runs.stopwatch import took
from lookalike.types import I64, U32, Tabular
from lookalike.wording import agreeing


class NeighbourTable(Tabular):
    """Neighbours by item and rank: `id`, `rank` (1 is the most similar), `neighbour`, `similarity`."""

    _names = ("neighbour", "neighbours")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TopResult:
    """The outcome of `top`; `print` shows a summary, and `write` makes the folder that the command makes.

    Attributes
    ----------
    neighbours
        A table: the `rank`-th most similar of `id` is `neighbour`.
    account
        Which road was taken, and the recall it measured.
    options
        What was asked.
    found
        The same as `neighbours`, by row numbers.

    Examples
    --------
    >>> from lookalike import top
    >>> result = top([["jazz", "blues"], ["jazz", "blues", "soul"], ["opera"]], k=1)
    >>> result.neighbours["neighbour"].to_pylist()
    [1, 0]
    >>> [row["label"] for row in result.label(["club", "bar", "stage"])]
    ['bar', 'club', None]
    """

    options: TopOptions
    collections: Sequence[Collection] | Sequence[SetCollection]
    found: Neighbours
    text_bytes: int
    stages: Sequence[Stage]

    @cached_property
    def neighbours(self) -> NeighbourTable:
        """The neighbours of every item, most similar first."""
        return NeighbourTable(
            pa.table(
                {
                    "id": self.collections[0].ids(self.found.row),
                    "rank": pa.array((places_in_runs(self.found.row) + 1).astype(np.int32)),
                    "neighbour": self.collections[-1].ids(self.found.other - self._first_offered),
                    "similarity": pa.array(self.found.similarity),
                }
            )
        )

    @property
    def account(self) -> TopAccount:
        """Which road was taken, what it cost, and how much it found."""
        return self.found.account

    def to_arrow(self) -> pa.Table:
        """The neighbours as a pyarrow Table."""
        return self.neighbours.to_arrow()

    def to_pandas(self) -> Any:
        """The neighbours as a pandas DataFrame."""
        return self.neighbours.to_pandas()

    def to_polars(self) -> Any:
        """The neighbours as a polars DataFrame."""
        return self.neighbours.to_polars()

    def label(self, labels: Mapping[Any, Any] | Sequence[Any]) -> Labels:
        """Give every item the label that most of its neighbours have, each weighing its similarity.

        Parameters
        ----------
        labels
            Of those who may be neighbours: a dictionary of id and label, or one label each in the order in
            which they were given. Those without a label (None) have no vote.

        Examples
        --------
        >>> import lookalike as la
        >>> likes = [["jazz", "blues"], ["jazz", "soul"], ["opera", "lied"], ["jazz", "blues", "soul"]]
        >>> la.top(likes).label(["modern", None, "classical", None])
        4 items with labels
        id  label   share
        0
        1   modern  1.0000
        2
        3   modern  1.0000
        """
        offered = self.collections[-1]
        codes, names = codes_of(labels, offered.ids(_all_rows(offered)), _order_given(offered))
        asking = self.collections[0]
        return vote(self.found, codes, names, asking.ids(_all_rows(asking)), self._first_offered)

    @property
    def counts(self) -> dict[str, Any]:
        """What was counted."""
        kind = "sets" if self._sets else "documents"
        sources = [collection.source for collection in self.collections]
        return {
            kind: self.account.items,
            f"{kind}_by_collection": [collection.rows for collection in self.collections],
            ("elements" if self._sets else "text_bytes"): (
                self.account.elements if self._sets else self.text_bytes
            ),
            "unreadable": sum(_unreadable(source)[0] for source in sources),
            "unreadable_files": sum(_unreadable(source)[1] for source in sources),
            "empty": self.account.empty,
            "copies": self.account.copies,
            "candidates": self.account.candidates,
            "neighbours": len(self.found.row),
            "with_neighbours": int(np.count_nonzero(np.diff(self.found.row, prepend=-1))),
        }

    @property
    def advice(self) -> list[str]:
        """What the user may want to change, in sentences."""
        recall = self.account.recall
        if recall is None or recall.recall is None or recall.recall >= 0.9:
            return []
        return [
            f"about {numbers.percent(1 - recall.recall)} of the true neighbours were missed, the less "
            f"similar ones first: more than {self.options.slots} slots find more, and the exact method finds "
            f"all, in about {numbers.seconds(self.account.exact_seconds)} of one core"
        ]

    def summary(self) -> str:
        """A few lines for a person."""
        return "\n".join(f"{name:<13} {value}" for name, value in self._facts() if value)

    def __repr__(self) -> str:
        return self.summary()

    def record(self) -> RunRecord:
        """What run.json says of this run."""
        return RunRecord(
            job="top",
            parameters=self.options.to_dict(),
            counts=self.counts,
            estimates=self.account.to_dict(),
            stages=tuple(self.stages),
            took=took(self.stages),
        )

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the run folder: neighbours and run.json. It appears whole or not at all."""
        with RunFolder.create(path, overwrite=overwrite) as folder:
            self.write_into(folder.path)
            self.record().write(folder.path)
        return Path(path)

    def write_into(self, folder: Path) -> None:
        """Write everything but run.json."""
        header = Header(kind="neighbours", algorithm=ALGORITHM_VERSION, parameters=self.options.to_dict())
        write_parquet(folder / "neighbours.parquet", self.to_arrow(), header)

    @property
    def _first_offered(self) -> int:
        return self.collections[0].rows if len(self.collections) == 2 else 0

    @property
    def _sets(self) -> bool:
        return isinstance(self.collections[0], SetCollection)

    def _facts(self) -> list[tuple[str, str]]:
        counts, count = self.counts, numbers.count
        kind = "sets" if self._sets else "documents"
        held = (
            f"{numbers.several(counts['elements'], 'element')} in all"
            if self._sets
            else f"{numbers.bytes_(self.text_bytes)} of text"
        )
        seconds = took(self.stages)
        peak = max((stage.peak_bytes for stage in self.stages), default=0)
        without = self.collections[0].rows - counts["with_neighbours"]
        return [
            (kind, f"{count(counts[kind])}, {held}"),
            ("unreadable", f"{count(counts['unreadable'])}, skipped" if counts["unreadable"] else ""),
            ("empty", f"{count(counts['empty'])}, like nothing" if counts["empty"] else ""),
            ("exact copies", "" if counts["copies"] is None else count(counts["copies"])),
            ("candidates", "" if counts["candidates"] is None else f"{count(counts['candidates'])} verified"),
            (
                "neighbours",
                f"{count(counts['neighbours'])}, up to {self.options.k} each of "
                f"{numbers.several(counts['with_neighbours'], kind[:-1])}; {count(without)} "
                f"{agreeing(without, 'has', 'have')} none",
            ),
            *_recall_facts(self.account.recall, kind),
            ("took", f"{numbers.seconds(seconds)}, peak memory {numbers.bytes_(peak)}"),
        ]


def _recall_facts(recall: MeasuredRecall | None, kind: str) -> list[tuple[str, str]]:
    if recall is None:
        return [("recall", f"all: every two {kind} that share anything were compared")]
    if recall.recall is None or recall.interval is None:
        return [("recall", f"of the {kind} looked at, none has a neighbour to find")]
    low, high = (numbers.percent(edge) for edge in recall.interval)
    total = (
        f"{numbers.percent(recall.recall)} of true neighbours found ({low} to {high}), measured on "
        f"{numbers.several(recall.drawn, kind[:-1])} of which {numbers.count(recall.rows)} "
        f"{agreeing(recall.rows, 'has', 'have')} any"
    )
    facts, over = [("recall", total)], 1.0
    for level in recall.levels:
        if level.true:
            where = f"at {level.at_least:g} or over" if over == 1 else f"{level.at_least:g} to {over:g}"
            facts.append(("", f"  {numbers.percent(level.found / level.true)} of those {where}"))
        over = level.at_least
    return facts


def _all_rows(collection: Collection | SetCollection) -> I64:
    return np.arange(collection.rows, dtype=np.int64)


def _order_given(collection: Collection | SetCollection) -> I64 | U32 | None:
    """In which place each row was given; None if it was read from files."""
    if isinstance(collection, Collection):
        return collection.order if collection.source.in_memory else None
    return _all_rows(collection) if collection.source is None else None


def _unreadable(source: Source | None) -> tuple[int, int]:
    return (0, 0) if source is None else (source.unreadable.rows, source.unreadable.files)
