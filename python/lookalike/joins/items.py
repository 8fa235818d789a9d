"""What is joined: one collection or two, of texts or of sets, as a table an engine can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.engines import Table
from lookalike.families import MinHash
from lookalike.joins.glanced import Glanced
from lookalike.joins.sign import Keying, KeySets, KeyTexts, SignSets, SignTexts
from lookalike.measures.candidates import Exact, element_buffers, text_buffers
from lookalike.shingles import Shingle
from lookalike.theory import Banding
from lookalike.types import I64, U8, U32, Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class Items:
    """Rows to join.

    Parameters
    ----------
    table
        `row` (numbers 0, 1, … in id order, each once) and `text`, or `elements` of sets and, if these were
        made of texts, their `flags`.
    bytes
        How many bytes the items hold; what checks are expected to cost depends on it.
    shingle
        How texts become sets; None if the items are sets.
    seed
        Of the hashes.
    boundary
        Rows from here on are of a second collection, and only pairs across count; None for one collection.
    first_within
        Of two collections: pairs within the first count as well. So it is where new rows are joined with
        those of earlier runs, which have been compared with each other already.
    glanced
        A sample of the table, if one was kept while it was read.
    most_from_copies
        More pairs of copies than these are an error; None if there may be any number, or nobody lists them.
    """

    table: Table
    bytes: int
    shingle: Shingle | None
    seed: int = 0
    boundary: int | None = None
    first_within: bool = False
    glanced: Glanced | None = None
    most_from_copies: int | None = None

    @property
    def kept_sample(self) -> Glanced | None:
        """The sample that was kept of this very table while it was read."""
        kept = self.glanced
        known = kept is not None and kept.batches is self.table.batches and kept.seed == self.seed
        return kept if known else None

    def holding(self, rows: I64) -> Table:
        """The table, or a small one that has these rows too."""
        kept = self.kept_sample
        return kept.table if kept is not None and np.isin(rows, kept.rows).all() else self.table

    @property
    def rows(self) -> int:
        """How many items there are."""
        return self.table.rows

    def sides(self, representative: I64 | U32) -> tuple[Bools, Bools] | None:
        """Of two collections: which representatives stand for rows of the first, which for the second.

        A pair counts if it has one of each; so where pairs within the first count, all stand for the second.
        """
        if self.boundary is None:
            return None
        if self.first_within:
            return np.arange(self.rows) < self.boundary, np.ones(self.rows, np.bool_)
        first, second = np.zeros((2, self.rows), np.bool_)
        first[representative[: self.boundary]] = True
        second[representative[self.boundary :]] = True
        return first, second

    def sign(self, family: MinHash) -> SignTexts | SignSets:
        """The stage that signs these items."""
        return SignSets(family) if self.shingle is None else SignTexts(family, self.shingle)

    def key(self, family: MinHash, banding: Banding) -> Keying:
        """The stage that signs these items and keeps the keys of their bands alone."""
        if self.shingle is None:
            return KeySets(family, banding)
        return KeyTexts(family, banding, self.shingle)

    @property
    def view(self) -> Callable[[pa.RecordBatch], tuple[U8, I64]]:
        """What the bytes of a batch of items are, and where each item begins."""
        return element_bytes if self.shingle is None else text_buffers

    def exact(self, *, at_least: float) -> Exact:
        """The stage that checks candidates among these items."""
        return Exact(None if self.shingle is None else self.shingle.shingler(self.seed), at_least)


def element_bytes(batch: pa.RecordBatch) -> tuple[U8, I64]:
    """The column `elements` as bytes, eight an element."""
    elements, offsets = element_buffers(batch)
    return elements.view(np.uint8), offsets * 8
