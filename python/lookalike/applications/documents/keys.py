"""keys.table: what a later run needs to know of the documents that this one keeps.

A row a kept document, in any order: its `place` among the kept files, its `row` in clusters.parquet, and,
where that is cheap, its bucket keys. A run that appends (`against.py`) then signs nothing again. Keys take 25
bytes a document and 8 a band, some 130 at the default options. They are stored where that is at most an
eighth of the text; for shorter texts signing again costs no more than reading keys would, and the file holds
8 bytes a document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.documents.collection import Collection
from lookalike.applications.documents.options import PairOptions
from lookalike.engines import Table
from lookalike.io import FileSource, FrameSource, Source
from lookalike.joins import ALGORITHM_VERSION, Joined
from lookalike.joins.earlier import key_names
from lookalike.runs import Header, StoredTable
from lookalike.shingles import Shingle
from lookalike.theory import Plan
from lookalike.types import I64, U32, Bools

KEYS_NAME = "keys.table"
#: The place of what is not kept.
NOWHERE = np.uint32(2**32 - 1)
#: What an append needs of a document besides the keys of its bands.
KEYED_COLUMNS = ("content", "copy", "flags")

_BYTES_A_ROW = 25
_WORTH = 8
_ROWS = 1 << 16


def with_keys_worth_storing(joined: Joined, options: PairOptions, *, rows: int, text_bytes: int) -> Joined:
    """A join of so many rows, with its keys only if a run should leave them to later ones."""
    plan = joined.account.plan
    # Which words are rare is a matter of the collection: keys of one say nothing of another.
    if isinstance(plan, Plan) and Shingle.parse(options.shingle).rare is None:
        stored = rows * (_BYTES_A_ROW + 8 * plan.banding.bands)
        if _WORTH * stored <= text_bytes:
            return joined
    return replace(joined, keyed=None)


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptPlaces:
    """Where kept documents lie: files in the order of their names, and the documents in them.

    `place_of[row]` is the place of a row of clusters.parquet, `NOWHERE` if it is not kept. 4 bytes a row.
    """

    files: tuple[tuple[str, int], ...]
    place_of: U32

    @classmethod
    def of(cls, collection: Collection, kept_rows: Bools) -> KeptPlaces:
        """Of the rows kept of a collection, a mask in the order they arrived."""
        starts = collection.source.layout.starts.tolist()
        by_name = sorted(zip(kept_names(collection.source), pairwise(starts), strict=True))
        places = np.full(collection.rows, NOWHERE, np.uint32)
        files, placed = [], 0
        for name, (start, stop) in by_name:
            here = kept_rows[start:stop]
            count = int(np.count_nonzero(here))
            places[start:stop][here] = np.arange(placed, placed + count, dtype=np.uint32)
            files += [(name, count)] if count else []
            placed += count
        return cls(files=tuple(files), place_of=places[collection.order])


def kept_names(source: Source) -> list[str]:
    """What the kept rows of each file of a source are called in kept/."""
    if isinstance(source, FileSource):
        return [file.name.as_posix() for file in source.files]
    return [FrameSource.KEPT_NAME]


def write_keys(
    folder: Path, collection: Collection, kept_rows: Bools, joined: Joined, options: PairOptions
) -> None:
    """Write keys.table into the folder of a run; with the keys of the join, if it has any."""
    places = KeptPlaces.of(collection, kept_rows)
    source, plan, keyed = collection.source, joined.account.plan, joined.keyed
    banding = plan.banding if isinstance(plan, Plan) and keyed is not None else None
    parameters: dict[str, Any] = {
        "text": source.text_column,
        "labels": source.labels,
        "files": places.files,
        "method": joined.account.method,
        "banding": None if banding is None else banding.to_dict(),
        "options": options.to_dict(),
    }
    header = Header(kind="keys", algorithm=ALGORITHM_VERSION, parameters=parameters)
    if keyed is None or banding is None:
        batches = _places(places.place_of)
    else:
        batches = _with_keys(keyed, places.place_of, banding.bands)
    first = next(batches)
    StoredTable.write(folder / KEYS_NAME, first.schema, chain([first], batches), header, compression="lz4")


def _places(place_of: U32) -> Iterator[pa.RecordBatch]:
    # One at least, so that there is a schema where nothing is kept.
    for start in range(0, max(1, len(place_of)), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(place_of)))
        yield _placed(place_of, rows[place_of[rows] != NOWHERE])


def _placed(place_of: U32, rows: I64) -> pa.RecordBatch:
    columns = {"place": place_of[rows], "row": rows.astype(np.uint32)}
    return pa.record_batch({name: pa.array(column) for name, column in columns.items()})


def _with_keys(keyed: Table, place_of: U32, bands: int) -> Iterator[pa.RecordBatch]:
    for batch in keyed.batches:
        rows = batch["row"].to_numpy()
        # Rows behind the last are of earlier runs, and stay where they are.
        own = np.flatnonzero(rows < len(place_of))
        kept = own[place_of[rows[own]] != NOWHERE]
        chosen = batch.select([*KEYED_COLUMNS, *key_names(bands)]).take(pa.array(kept))
        placed = _placed(place_of, rows[kept])
        yield pa.RecordBatch.from_arrays(
            [*placed.columns, *chosen.columns], names=[*placed.schema.names, *chosen.schema.names]
        )
