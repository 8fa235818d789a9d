"""What was odd about an item when it was signed, as bits of its flags."""

from __future__ import annotations

from lookalike import _core

#: The version of everything that decides a signature or a bucket; stored in every artefact.
ALGORITHM_VERSION: int = _core.ALGORITHM_VERSION

#: No shingle at all: matches nothing and is kept.
EMPTY: int = _core.FLAG_EMPTY
#: Shorter than a window: one shingle, itself.
SHORT: int = _core.FLAG_SHORT
#: Written mostly without spaces between words.
UNSPACED: int = _core.FLAG_UNSPACED
