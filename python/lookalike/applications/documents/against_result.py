"""What deduplication found of new documents, with earlier runs at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.documents.collection import Collection
from lookalike.applications.documents.earlier import EarlierRun, no_number
from lookalike.applications.documents.keys import Arrived
from lookalike.applications.documents.result import DedupResult
from lookalike.applications.documents.unit_result import UnitResult
from lookalike.applications.documents.units import UnitCollection
from lookalike.engines import Table
from lookalike.errors import DuplicateIdError, SourceError
from lookalike.io.columns import common_types
from lookalike.runs import RunRecord
from lookalike.types import I64


@dataclass(frozen=True, kw_only=True, eq=False)
class NewAndEarlier:
    """New documents and, behind them, earlier ones that take part in a join; how they are called.

    Of runs by paragraphs or lines, so are units; they are told apart by the ids of their documents.

    `numbers` are those of the earlier ones, counted over all runs. Names of earlier documents are looked up
    when they are asked for, so the driver holds none that no pair needs.
    """

    new: Collection | UnitCollection
    runs: tuple[EarlierRun, ...]
    id_type: pa.DataType
    numbers: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    texts: Table | None = None
    _known: dict[int, tuple[I64, pa.Array, pa.Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, new: Collection | UnitCollection, runs: Sequence[EarlierRun]) -> NewAndEarlier:
        """Check that ids tell the documents of all runs apart.

        Raises
        ------
        DuplicateIdError
            If a new document is called like an earlier one.
        SourceError
            If documents are called by numbers here and by names there.
        """
        documents = new.documents if isinstance(new, UnitCollection) else new
        own = documents.ids(np.arange(min(1, documents.rows))).type
        for run in runs:
            _check_alike(documents, own, run)
        # Files of text columns, such as csv, hold numbers as they are written: those of new documents decide.
        as_own = pa.large_string() if _is_text(own) else pa.int64()
        kinds = {own, *(run.id_type if _is_text(run.id_type) == _is_text(own) else as_own for run in runs)}
        common = common_types([pa.schema([("id", kind)]) for kind in sorted(kinds, key=str)])[0]
        total = new.rows + sum(run.rows for run in runs)
        if total >= 2**32 - 1:
            raise SourceError(f"{total:,} rows, new and earlier, are more than one run can tell apart")
        for run in runs:
            _check_apart(documents, run, common)
        return cls(new=new, runs=tuple(runs), id_type=common if documents is new else pa.string())

    def that_met(self, numbers: I64, texts: Table) -> NewAndEarlier:
        """With the earlier documents that take part, and their texts."""
        return replace(self, numbers=numbers, texts=texts)

    @property
    def new_rows(self) -> int:
        """How many documents are new."""
        return self.new.rows

    @property
    def rows(self) -> int:
        """How many documents take part."""
        return self.new.rows + len(self.numbers)

    def ids(self, rows: I64) -> pa.Array:
        """The user ids of row numbers."""
        return self._named(rows, 0)

    def cluster_ids(self, rows: I64) -> pa.Array:
        """The user ids of row numbers that stand for clusters: of an earlier one, its cluster's id."""
        return self._named(rows, 1)

    def text(self, row: int) -> str:
        """The text of one row."""
        if row < self.new.rows:
            return self.new.text(row)
        assert self.texts is not None
        # Earlier texts lie in the order of their numbers.
        place = row - self.new.rows
        for at, piece in enumerate(self.texts.batches.pieces):
            if place < piece.num_rows:
                return str(self.texts.batches[at]["text"][place].as_py())
            place -= piece.num_rows
        raise IndexError(row)

    def _named(self, rows: I64, which: int) -> pa.Array:
        old = rows >= self.new.rows
        parts = [self.new.ids(rows[~old]).cast(self.id_type)]
        order = np.empty(len(rows), np.int64)
        order[~old] = np.arange(len(parts[0]))
        wanted, at = np.unique(self.numbers[rows[old] - self.new.rows], return_inverse=True)
        order[old] = len(parts[0]) + at
        firsts = np.cumsum([0, *(run.rows for run in self.runs)])
        cuts = np.searchsorted(wanted, firsts)
        for at_run, (start, stop) in enumerate(pairwise(cuts.tolist())):
            if stop > start:
                names = self._names(at_run, wanted[start:stop] - firsts[at_run])
                parts.append(names[which].cast(self.id_type))
        self._check_distinct(parts[1:])
        return pa.concat_arrays(parts).take(pa.array(order))

    def _names(self, at_run: int, places: I64) -> tuple[pa.Array, pa.Array]:
        """What documents of a run are called, and their clusters; each is looked up once."""
        places_known, *names = self._known.get(at_run, (np.empty(0, np.int64), None, None))
        if not np.isin(places, places_known).all():
            places_known = np.union1d(places_known, places)
            names = [*self.runs[at_run].names(places_known)]
            self._known[at_run] = (places_known, *names)
        found = pa.array(np.searchsorted(places_known, places))
        return names[0].take(found), names[1].take(found)

    def _check_distinct(self, parts: list[pa.Array]) -> None:
        """Earlier runs were checked against new documents, not against each other: look at those in use."""
        for at, names in enumerate(parts):
            for others in parts[:at]:
                common = names.filter(pc.is_in(names, value_set=others))
                if len(common):
                    raise DuplicateIdError(
                        f"the id {common[0].as_py()!r:.60} is in two of the earlier runs, for documents that "
                        "new ones are like: run one of them again with other ids"
                    )


def _is_text(kind: pa.DataType) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _check_alike(new: Collection, own: pa.DataType, run: EarlierRun) -> None:
    """Whether ids of both can be compared: of one kind, or whole numbers on one side and such as text."""
    if _is_text(own) == _is_text(run.id_type):
        return
    other = run.id_type if _is_text(own) else own
    if pa.types.is_integer(other):
        name = no_number(new.ids(np.arange(new.rows))) if _is_text(own) else run.first_that_is_no_number()
        if name is None:
            return
        why = f", of which {name!r} is not a whole number of 64 bits as one writes it"
    else:
        why = ""
    raise SourceError(
        f"documents of {run.name} are called by {run.id_type} and new ones by {own}{why}: name a column of "
        "the same kind of ids (id='COLUMN'), or run the earlier job again with ids like these"
    )


def _check_apart(new: Collection, run: EarlierRun, id_type: pa.DataType) -> None:
    labels = new.source.labels
    if labels and run.labels:
        again = sorted(set(labels) & set(run.labels))
        if again:
            raise DuplicateIdError(
                f"{again[0]} was read by {run.name} too, and its documents would be called the "
                "same: name only files that are new, or a column of ids (id='COLUMN')"
            )
        return
    ids = new.ids(np.arange(new.rows)).cast(id_type)
    again_id = run.also_named(ids)
    if again_id is not None:
        raise DuplicateIdError(
            f"the id {again_id!r:.60} is in {run.name} too: name only documents that are new, by ids that "
            "tell them from the earlier ones"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AgainstResult(DedupResult):
    """The outcome of `dedup` against earlier runs.

    `kept_rows`, `clusters` and `kept` are of new documents alone. A new document may be dropped for an
    earlier one: `representative` and `via` name it by its id there, and `cluster` is that of its own cluster.
    In `pairs`, `a` is new and `b` new or earlier.

    Attributes
    ----------
    runs
        The earlier runs.
    of_earlier
        How many new documents were dropped for earlier ones.
    bridging
        How many are alike to several earlier ones, which stay apart: each hangs on the most similar.
    """

    runs: tuple[EarlierRun, ...]
    of_earlier: int
    bridging: int

    @property
    def counts(self) -> dict[str, Any]:
        """What was counted, of new documents; and how many earlier ones (or units of them) there are."""
        counts = super().counts
        compared = "units" if "units" in counts else "documents"
        return {
            **counts,
            "earlier_runs": len(self.runs),
            f"earlier_{compared}": sum(run.rows for run in self.runs),
            "duplicates_of_earlier": self.of_earlier,
            "duplicates_of_new": counts["dropped"] - self.of_earlier,
            "bridging": self.bridging,
        }

    @property
    def advice(self) -> list[str]:
        """What the user may want to change, in sentences."""
        given = {run.place for run in self.runs if run.temporary is None}
        sums = {run.checksum for run in self.runs}
        said = [
            f"{run.name} was made by another version of the algorithms: its documents were signed again, "
            "as they will be each time until that run is made again"
            for run in self.runs
            if run.is_of_another_version
        ]
        said += [
            f"{run.name} was itself compared with {folder}, whose documents were not looked at: name it too"
            for run in self.runs
            for checksum, folder in run.earlier.items()
            if checksum not in sums and str(Path(folder).resolve()) not in given
        ]
        said += [
            f"texts of {run.name} were read from the column {run.text_column!r}, and new ones from "
            f"{self.source.text_column!r}: they are compared as they are"
            for run in self.runs
            if run.text_column not in (None, self.source.text_column) and self.source.format != "txt"
        ]
        return [*super().advice, *said]

    def record(self) -> RunRecord:
        """What run.json says of this run; of the earlier ones, where they are and what their run.json was."""
        record = super().record()
        against = [{"folder": run.place, "checksum": run.checksum, "kept": run.rows} for run in self.runs]
        return replace(record, parameters={**record.parameters, "against": against})

    @property
    def _items(self) -> Arrived:
        named: NewAndEarlier = self.search.collections[0]
        return named.new


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AgainstUnitResult(AgainstResult, UnitResult):
    """The outcome of `dedup` by paragraphs or lines against earlier runs by the same.

    `clusters` and `pairs` are of units, of which those of earlier runs are called `ID:UNIT` as they were
    there; `kept` are the new documents, without what is repeated in them or was kept before.
    """
