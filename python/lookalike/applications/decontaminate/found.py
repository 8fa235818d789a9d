"""What training documents have of the test items: a value for `fold`, and one that a run can settle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.engines import Table
from lookalike.types import I64, Bools, concatenate

#: A pair: test item, training document, shingles they share, and their longest run.
PAIRS = pa.schema([(name, pa.int64()) for name in ("test", "train", "shared", "run")])
#: A passage: test item, training document, where it lies in both (code points), and its tokens. Its text is
#: that of the test item there, which the driver holds anyway.
PASSAGES = pa.schema(
    [(name, pa.int64()) for name in ("test", "train", "start", "end", "train_start", "train_end", "tokens")]
)
#: One row: all that was found.
_SETTLED = pa.schema(
    [
        ("documents", pa.int64()),
        ("text_bytes", pa.int64()),
        ("seen", pa.large_list(pa.int64())),
        ("pairs", pa.large_list(pa.struct(PAIRS))),
        ("passages", pa.large_list(pa.struct(PASSAGES))),
    ]
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What some training documents have of the test items.

    `test`, `train`, `shared`, `run` are pairs that count as contaminated. `seen` marks the shingles that
    occur in any document, by their numbers. A pair takes 32 bytes, a passage 56.
    """

    test: I64
    train: I64
    shared: I64
    run: I64
    seen: Bools
    passages: pa.Table
    documents: int
    text_bytes: int

    def merge(self, other: Found) -> Found:
        """What both found."""
        return Found.of_all([self, other])

    @classmethod
    def of_all(cls, parts: Sequence[Found]) -> Found:
        """What all of them found."""
        return cls(
            test=concatenate((part.test for part in parts), np.int64),
            train=concatenate((part.train for part in parts), np.int64),
            shared=concatenate((part.shared for part in parts), np.int64),
            run=concatenate((part.run for part in parts), np.int64),
            seen=np.logical_or.reduce([part.seen for part in parts]),
            passages=pa.concat_tables([PASSAGES.empty_table(), *(part.passages for part in parts)]),
            documents=sum(part.documents for part in parts),
            text_bytes=sum(part.text_bytes for part in parts),
        )

    @property
    def nbytes(self) -> int:
        """What pairs and passages take."""
        return 32 * len(self.test) + int(self.passages.nbytes)

    def to_table(self) -> Table:
        """As a table of one row; `of_table` reads it back."""
        pairs = [self.test, self.train, self.shared, self.run]
        values = {
            "documents": pa.array([self.documents]),
            "text_bytes": pa.array([self.text_bytes]),
            "seen": _listed(pa.array(np.flatnonzero(self.seen))),
            "pairs": _listed(
                pa.StructArray.from_arrays([pa.array(one) for one in pairs], fields=list(PAIRS))
            ),
            "passages": _listed(
                pa.StructArray.from_arrays(
                    [column.combine_chunks() for column in self.passages.columns], fields=list(PASSAGES)
                )
            ),
        }
        batch = pa.record_batch([values[name] for name in _SETTLED.names], schema=_SETTLED)
        return Table((batch,), _SETTLED)

    @classmethod
    def of_table(cls, table: Table, shingles: int) -> Found:
        """What `to_table` made, with the marks of so many shingles."""
        [batch] = table.batches
        pairs, passages = (batch[name].flatten() for name in ("pairs", "passages"))
        seen = np.zeros(shingles, np.bool_)
        seen[batch["seen"].flatten().to_numpy()] = True
        test, train, shared, run = (part.to_numpy() for part in pairs.flatten())
        return cls(
            test=test,
            train=train,
            shared=shared,
            run=run,
            seen=seen,
            passages=pa.Table.from_arrays(passages.flatten(), schema=PASSAGES),
            documents=batch["documents"][0].as_py(),
            text_bytes=batch["text_bytes"][0].as_py(),
        )


def _listed(values: pa.Array) -> pa.LargeListArray:
    """All of them as one list."""
    return pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)
