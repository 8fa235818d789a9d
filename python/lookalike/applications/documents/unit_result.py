"""What deduplication by paragraphs or lines found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.documents.result import DedupResult
from lookalike.io.edits import Edits
from lookalike.runs import write_parquet
from lookalike.types import Bools


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnitResult(DedupResult):
    """The outcome of `dedup` with a unit other than the document.

    `pairs` and `clusters` are of units, called `ID:UNIT`; `clusters` names document and unit apart too.
    `kept_rows` are the documents of which something is left, or which were empty to begin with.

    Attributes
    ----------
    documents
        One row a document: how many units it had and has, and whether it is kept.
    kept_units
        Which units are kept, in the order of `clusters`.
    edits
        The new texts of documents that lost something.
    """

    documents: pa.Table
    kept_units: Bools
    edits: Edits

    @property
    def kept(self) -> Any:
        """The kept documents without their repeated units, in the form they were given."""
        return self.source.kept(self.kept_rows, self.edits)

    @property
    def counts(self) -> dict[str, Any]:
        """What was counted.

        Every unit is kept or dropped; every document is whole, trimmed, or dropped because nothing is left.
        """
        counts = super().counts
        # The account is of what was compared: units.
        units, kept = counts.pop("documents"), int(pc.sum(self.documents["kept_units"]).as_py() or 0)
        kept_documents = int(np.count_nonzero(self.kept_rows))
        changed = int(np.count_nonzero(self.edits.changed))
        dropped = len(self.kept_rows) - kept_documents
        return {
            "documents": len(self.kept_rows),
            "units": units,
            **counts,
            "kept": kept,
            "dropped": units - kept,
            "kept_documents": kept_documents,
            "dropped_documents": dropped,
            "trimmed_documents": changed - dropped,
        }

    def write_into(self, folder: Path, *, drop_list: bool = False) -> None:
        """Write everything but run.json; `documents.parquet` says what became of each document."""
        super().write_into(folder, drop_list=drop_list)
        write_parquet(folder / "documents.parquet", self.documents, self._header("documents"))

    def _write_kept(self, folder: Path) -> None:
        self.source.write_kept(folder, self.kept_rows, self.edits)

    @property
    def _kept_items(self) -> Bools:
        arrived = np.empty_like(self.kept_units)
        arrived[self._items.order] = self.kept_units
        return arrived
