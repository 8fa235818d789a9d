"""Training documents pass by once, a few batches at a time; what they have of the test items is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.batching import BATCH_BYTES
from lookalike.applications.decontaminate.found import Found
from lookalike.applications.decontaminate.options import DecontaminateOptions
from lookalike.applications.decontaminate.parts import in_parts
from lookalike.applications.decontaminate.result import DecontaminateResult
from lookalike.applications.decontaminate.sought import TestItems
from lookalike.applications.documents.collection import Collection, collect
from lookalike.charts import numbers
from lookalike.engines import Engine, Table, engine_of
from lookalike.errors import OptionError, SourceError
from lookalike.io import OnError, Source, open_source
from lookalike.keywords import suggesting
from lookalike.runs.watch import Watch
from lookalike.types import I64, Bools

#: Batches a thread that are worked on at a time: what is held of the training documents.
_BATCHES = 4
#: Windows whose findings are held apart.
_WINDOWS = 64
#: What a thread may need at most to search a text: of character shingles, 8 bytes each and twice more.
_TIMES = 24

_SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.large_string())])


@suggesting(DecontaminateOptions)
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
    memory: int | str | None = None,
    **options: Any,
) -> DecontaminateResult:
    """Find the test items that occur, whole or in part, in training documents.

    The answer is exact: nothing is sampled. The training documents are read once and not held, so memory is
    that of the test items, some 30 times their text, and of what is found.

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
    threads, memory
        How many threads work (all cores by default), and how much memory there is above what Python itself
        needs (`"4GB"`; half of what is free by default); the answer does not depend on them.
    **options
        `threshold`, `shingle`, `run`, `common`, `seed`: see `DecontaminateOptions`.

    Examples
    --------
    >>> test = ["who was the first person to walk on the moon", "how many legs does a spider have"]
    >>> train = ["quiz night: Who was the first person to walk on the Moon? And who the second?"]
    >>> decontaminate(test, train).clean
    ['how many legs does a spider have']
    """
    watch = Watch()
    chosen = DecontaminateOptions.of(options)
    items = open_source(test, text=text, id=id, on_error=on_error)
    documents = open_source(train, text=train_text or text, id=train_id, on_error=on_error)
    working = engine_of(engine, threads, memory)
    result = decontaminate_source(items, documents, chosen, engine=working, watch=watch)
    watch.stages.stop()
    return result


def decontaminate_source(
    test: Source, train: Source, options: DecontaminateOptions, *, engine: Engine, watch: Watch
) -> DecontaminateResult:
    """Look for the items of one open source in the documents of another.

    The test items are held, `TestItems.nbytes`, and what is found, some 100 bytes a pair and a passage. The
    training documents pass by in batches, a few at a time, of a size that the engine has room for; each part
    of them is settled as it is done.

    Raises
    ------
    OptionError
        If the test items need more than half of the engine's memory.
    """
    collection = collect(test, engine, watch)
    aside = engine.set_aside()
    with watch.stage("index", collection.rows, unit="items"):
        _require_room(int(collection.text_bytes.sum()), engine)
        items = TestItems.of(_texts(collection), options)
        _require_room(items.nbytes, engine)
        aside.grow(items.nbytes)
    parts: list[Found] = []
    seen = np.zeros(len(items.shingles.known), np.bool_)
    with watch.stage("search", unit="documents") as advance:
        for number, batches in enumerate(in_parts(_numbered(train, engine))):
            searched = engine.settle(f"search-{number:04}", partial(_search, batches, items, seen, engine))
            part = Found.of_table(searched, len(seen))
            advance(part.documents)
            aside.grow(part.nbytes)
            seen |= part.seen
            # One array holds the marks of all.
            parts.append(replace(part, seen=seen))
    found = Found.of_all(parts)
    return DecontaminateResult.of(collection, train, items, found, options, stages=watch.stages)


def _search(batches: Iterator[pa.RecordBatch], items: TestItems, seen: Bools, engine: Engine) -> Table:
    """What a part of the training documents has of the test items; of shingles, those not `seen` before."""
    found: list[Found] = []
    for window in _windows(batches, _BATCHES * engine.threads):
        here = engine.fold(engine.scan(window, _SCHEMA), items, Found.merge)
        assert here is not None
        found.append(here)
        # Shingles that are seen again and again are held once.
        if len(found) == _WINDOWS:
            found = [Found.of_all(found)]
    part = Found.of_all(found)
    return replace(part, seen=part.seen & ~seen).to_table()


def _require_room(needed: int, engine: Engine) -> None:
    room = 2 * engine.stage_bytes
    if needed > room:
        raise OptionError(
            f"the test items take {numbers.bytes_(needed)} or more to look for, and half of the memory, "
            f"{numbers.bytes_(room)}, is for that: allow memory='{_typed(4 * needed)}' or look for a part of "
            "them at a time"
        )


def _typed(size: int) -> str:
    """A size as one types it: in a shell a space would end it."""
    return numbers.bytes_(size).replace(" ", "")


def _texts(collection: Collection) -> pa.Array:
    """The texts of the test items, in the order of their ids."""
    texts = pa.chunked_array([batch["text"] for batch in collection.table.batches], pa.large_string())
    taken = texts.take(pa.array(collection.order)).combine_chunks()
    return pa.concat_arrays(taken.chunks) if isinstance(taken, pa.ChunkedArray) else taken


def _numbered(source: Source, engine: Engine) -> Iterator[pa.RecordBatch]:
    """The documents of a source in batches that a thread has room for, with what it makes of them."""
    done = 0
    source.room = engine.stage_bytes
    batch_bytes = min(BATCH_BYTES, max(1, engine.stage_bytes // (engine.threads * _TIMES)))
    for batch in source.scan(batch_bytes=batch_bytes):
        largest = pc.max(pc.binary_length(batch["text"])).as_py() or 0
        if largest > 2 * engine.stage_bytes:
            raise SourceError(
                f"one of the training documents {done:,} to {done + len(batch) - 1:,} has "
                f"{numbers.bytes_(largest)} of text, more than half of the memory: allow "
                f"memory='{_typed(_TIMES * largest)}' or cut it"
            )
        rows: I64 = np.arange(done, done + len(batch))
        yield pa.record_batch([pa.array(rows), batch["text"]], schema=_SCHEMA)
        done += len(batch)


def _windows(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    waiting = iter(batches)
    while window := list(islice(waiting, size)):
        yield window
