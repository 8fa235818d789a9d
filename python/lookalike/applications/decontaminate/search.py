"""Training documents pass by once, a few batches at a time; what they have of the test items is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.decontaminate.options import DecontaminateOptions
from lookalike.applications.decontaminate.result import DecontaminateResult
from lookalike.applications.decontaminate.sought import Found, TestItems
from lookalike.applications.documents.collection import BATCH_BYTES, Collection, collect
from lookalike.engines import Engine, LocalEngine
from lookalike.io import OnError, Source, open_source
from lookalike.runs.watch import Watch
from lookalike.types import I64

#: Batches a thread that are worked on at a time: what is held of the training documents.
_BATCHES = 4
#: Windows whose findings are held apart.
_PARTS = 64

_SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.large_string())])


def decontaminate(
    test: Any,
    train: Any,
    *,
    text: str = "text",
    id: str | None = None,
    train_text: str | None = None,
    train_id: str | None = None,
    on_error: OnError = "raise",
    engine: Engine | None = None,
    threads: int | None = None,
    **options: Any,
) -> DecontaminateResult:
    """Find the test items that occur, whole or in part, in training documents.

    The answer is exact: nothing is sampled. The training documents are read once and not held, so memory is
    that of the test items and of what is found.

    Parameters
    ----------
    test, train
        Documents: a list of strings, an Arrow, polars or pandas column or table, a Hugging Face dataset, or
        paths.
    text, id
        Columns of the test items: what to look for, and what to call an item.
    train_text, train_id
        Columns of the training documents; the text is in `text` there too if not said otherwise.
    on_error
        `raise` at the first row that cannot be read, or `skip` such rows and count them.
    **options
        `threshold`, `shingle`, `run`, `common`, `seed`: see `DecontaminateOptions`.

    Examples
    --------
    >>> test = ["who was the first person to walk on the moon", "how many legs does a spider have"]
    >>> train = ["quiz night: Who was the first person to walk on the Moon? And who the second?"]
    >>> decontaminate(test, train).clean
    ['how many legs does a spider have']
    """
    chosen = DecontaminateOptions.of(options)
    items = open_source(test, text=text, id=id, on_error=on_error)
    documents = open_source(train, text=train_text or text, id=train_id, on_error=on_error)
    return decontaminate_source(
        items, documents, chosen, engine=engine or LocalEngine(threads), watch=Watch()
    )


def decontaminate_source(
    test: Source, train: Source, options: DecontaminateOptions, *, engine: Engine, watch: Watch
) -> DecontaminateResult:
    """Look for the items of one open source in the documents of another."""
    collection = collect(test, engine, watch)
    with watch.stage("index", collection.rows, unit="items"):
        items = TestItems.of(_texts(collection), options)
    parts: list[Found] = []
    with watch.stage("search", unit="documents") as advance:
        for window in _windows(_numbered(train), _BATCHES * engine.threads):
            part = engine.fold(engine.scan(window, _SCHEMA), items, Found.merge)
            assert part is not None
            advance(part.documents)
            parts.append(part)
            # Shingles that are seen again and again are held once.
            if len(parts) == _PARTS:
                parts = [Found.of_all(parts)]
    found = Found.of_all(parts)
    return DecontaminateResult.of(collection, train, items, found, options, stages=watch.stages)


def _texts(collection: Collection) -> pa.Array:
    """The texts of the test items, in the order of their ids."""
    texts = pa.chunked_array([batch["text"] for batch in collection.table.batches], pa.large_string())
    taken = texts.take(pa.array(collection.order)).combine_chunks()
    return pa.concat_arrays(taken.chunks) if isinstance(taken, pa.ChunkedArray) else taken


def _numbered(source: Source) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in source.scan(batch_bytes=BATCH_BYTES):
        rows: I64 = np.arange(done, done + len(batch))
        yield pa.record_batch([pa.array(rows), batch["text"]], schema=_SCHEMA)
        done += len(batch)


def _windows(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    waiting = iter(batches)
    while window := list(islice(waiting, size)):
        yield window
