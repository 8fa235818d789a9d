"""What an unfinished run has done, in words for the person who goes on with it."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: What it means that a stage is done, by the beginning of its name up to the first number, in the order of a
#: run. Stages with numbers are parts of one, and counted.
_DONE = {
    "rare": "the rarest words picked",
    "terms": "words weighed",
    "weighed": "the cost weighed",
    "choice": "the method chosen",
    "sample": "a sample compared",
    "directions": "a sample compared",
    "signed": "everything signed",
    "keyed": "everything signed",
    "digests": "everything digested",
    "met": "what shares a bucket looked up",
    "dealt": "bands of bits compared",
    "dealt-large": "",
    # Settled in any case, mostly because there was nothing to do.
    "meeting": "",
    "large": "crowds picked out",
    "blocks": "everything cut into blocks",
    "copies": "exact copies found",
    "shared": "buckets sorted",
    "candidates": "candidates found",
    "counted": "what pairs share counted",
    "masks": "pieces compared",
    "compared": "blocks compared",
    "block": "blocks compared",
    "strip": "strips of rows compared",
    "search": "parts searched",
    "passing": "signatures of candidates compared",
    "found": "pairs verified",
    "verified": "pairs verified",
    "affordable": "",
    "hits": "the recall estimated",
    "looked": "some rows compared with all",
    "seen": "",
    "keyed-too": "bands added",
    "led": "large buckets gone through",
    "neighbours": "neighbours found",
    "measured": "the recall measured",
    "clusters": "clusters made",
}
#: Of these, how many parts are done says how far the run is.
_COUNTED = {"masks", "compared", "block", "strip", "search"}


def in_words(stages: Iterable[str]) -> list[str]:
    """What the stages of these names did, in the order of a run, each once.

    Examples
    --------
    >>> in_words(["candidates", "keyed", "sample", "shared-0", "shared-3"])
    ['a sample compared', 'everything signed', 'buckets sorted', 'candidates found']
    >>> in_words(["search-0001", "search-0002"])
    ['2 parts searched']
    """
    parts: dict[str, int] = {}
    for stage in stages:
        kind = re.sub(r"-[0-9].*", "", stage)
        parts[kind] = parts.get(kind, 0) + 1
    known = [kind for kind in _DONE if kind in parts and _DONE[kind]]
    said = [f"{parts[kind]} {_DONE[kind]}" if kind in _COUNTED else _DONE[kind] for kind in known]
    # A stage that has no words here is called by its name: that is better than to hide it.
    return list(dict.fromkeys([*said, *sorted(parts.keys() - _DONE.keys())]))
