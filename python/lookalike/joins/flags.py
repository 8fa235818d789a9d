"""What was odd about an item when it was signed, as bits of its flags."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike import _core
from lookalike.types import I64, U8, U32

#: The version of everything that decides a signature or a bucket; stored in every artefact.
ALGORITHM_VERSION: int = _core.ALGORITHM_VERSION

#: No shingle at all: matches nothing and is kept.
EMPTY: int = _core.FLAG_EMPTY
#: Shorter than a window: one shingle, itself.
SHORT: int = _core.FLAG_SHORT
#: Written mostly without spaces between words.
UNSPACED: int = _core.FLAG_UNSPACED


@dataclass(frozen=True, kw_only=True, eq=False)
class Flagged:
    """Rows that were looked at one by one.

    Attributes
    ----------
    representative
        Of every row: itself, or the row it is an exact copy of.
    flags
        What was odd about each row, as bits.
    """

    representative: I64 | U32
    flags: U8

    @property
    def empty(self) -> int:
        """Rows without a single element."""
        return self._flagged(EMPTY)

    @property
    def short(self) -> int:
        """Rows shorter than a shingle."""
        return self._flagged(SHORT)

    @property
    def unspaced(self) -> int:
        """Texts written without spaces between words."""
        return self._flagged(UNSPACED)

    @property
    def copies(self) -> int:
        """Rows that are exact copies of their representative."""
        return int(
            np.count_nonzero(self.representative != np.arange(len(self.representative), dtype=np.uint32))
        )

    def _flagged(self, flag: int) -> int:
        return int(np.count_nonzero(self.flags & flag))
