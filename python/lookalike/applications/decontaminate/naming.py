"""What was found, by user ids and in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from lookalike.applications.decontaminate.found import Found
from lookalike.applications.documents.collection import Collection
from lookalike.io import Source, id_order
from lookalike.types import F64, I64

#: Passages that are named, and have their texts cut out, at a time.
_NAMED = 1 << 17


class Names:
    """Pairs and passages of test items and training documents, named.

    Ids are looked at once a document, however many pairs it is in.
    """

    def __init__(self, collection: Collection, train: Source, texts: Sequence[str], found: Found) -> None:
        self._collection = collection
        self._texts = texts
        self._found = found
        self._documents: I64 = np.unique(found.train)
        self._ids = train.ids(self._documents)
        # Documents by the order of their ids.
        self._ranks = np.empty(len(self._documents), np.int64)
        self._ranks[id_order(self._ids)] = np.arange(len(self._documents))

    def pairs(self, share: F64) -> tuple[pa.Table, pa.Array]:
        """The pairs, sorted; and of every item the document with most of it, the first of equals."""
        test, train, run = self._found.test, self._found.train, self._found.run
        order = np.lexsort((self._ranks[self._place(train)], -share, test))
        test, train = test[order], train[order]
        rows, first = np.unique(test, return_index=True)
        best, without = np.zeros(self._collection.rows, np.int64), np.ones(self._collection.rows, np.bool_)
        best[rows], without[rows] = self._place(train[first]), False
        table = pa.table(
            {
                "test": self._collection.ids(test),
                "train": self._document(train),
                "containment": pa.array(share[order]),
                "run": pa.array(run[order]),
            }
        )
        return table, self._ids.take(pa.array(best, mask=without))

    @property
    def passage_schema(self) -> pa.Schema:
        """The columns of passages and their types."""
        return self._passages(slice(0, 0)).schema

    def passages(self) -> Iterator[pa.RecordBatch]:
        """The passages in the order of item, document and place, some at a time."""
        starts = range(0, len(self._order), _NAMED)
        return (self._passages(slice(start, start + _NAMED)) for start in starts)

    @cached_property
    def _order(self) -> I64:
        test, train, start = (self._found.passages[name].to_numpy() for name in ("test", "train", "start"))
        return np.lexsort((start, self._ranks[self._place(train)], test))

    def _passages(self, here: slice) -> pa.RecordBatch:
        taken = self._found.passages.take(pa.array(self._order[here]))
        columns = {name: taken[name].to_numpy() for name in taken.schema.names}
        places = zip(columns["test"], columns["start"], columns["end"], strict=True)
        texts = [self._texts[test][start:end] for test, start, end in places]
        return pa.record_batch(
            {
                **columns,
                "test": self._collection.ids(columns["test"]),
                "train": self._document(columns["train"]),
                "text": pa.array(texts, pa.large_string()),
            }
        )

    def _document(self, train: I64) -> pa.Array:
        return self._ids.take(pa.array(self._place(train)))

    def _place(self, train: I64) -> I64:
        return np.searchsorted(self._documents, train)
