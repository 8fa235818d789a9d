"""A label by the nearest: the one that most of an item's neighbours have, the more similar counting more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.errors import OptionError
from lookalike.joins.top import Neighbours
from lookalike.types import I64, U32, Tabular
from lookalike.wording import several


class Labels(Tabular):
    """One row an item: `id`, `label`, and `share`, of what all its labelled neighbours weigh."""

    _names = ("item with a label", "items with labels")


def codes_of(
    labels: Mapping[Any, Any] | Sequence[Any], ids: pa.Array, order: I64 | U32 | None
) -> tuple[I64, list[Any]]:
    """Each item's label as a number, −1 for none; and the labels, in the order they first come.

    `ids` are the items in the order of their rows, and `order` says which was given in which place; None if
    nobody knows.
    """
    values: Iterable[Any]
    if isinstance(labels, Mapping):
        values = (labels.get(id) for id in ids.to_pylist())
    else:
        listed = labels.to_pylist() if hasattr(labels, "to_pylist") else list(labels)
        if order is None:
            raise OptionError("a list of labels needs items in memory: give a dictionary of id and label")
        if len(listed) != len(ids):
            raise OptionError(
                f"there are {several(len(listed), 'label')} for {several(len(ids), 'item')}: "
                "give one each, None where unknown"
            )
        values = (listed[place] for place in order.tolist())
    known: dict[Any, int] = {}
    codes = [-1 if value is None else known.setdefault(value, len(known)) for value in values]
    return np.array(codes, np.int64), list(known)


def vote(found: Neighbours, codes: I64, names: list[Any], ids: pa.Array, first: int) -> Labels:
    """The label of most weight of each item, a neighbour weighing its similarity.

    Of labels of equal weight the one of the nearer neighbour; None where no neighbour has a label. `codes`
    are those of rows from `first` on.
    """
    labelled = np.flatnonzero(codes[found.other - first] >= 0)
    row, code = found.row[labelled], codes[found.other[labelled] - first]
    # Lines stand by row and rank, so a candidate's first line is its nearest neighbour's.
    candidates, nearest, candidate = np.unique(
        row * max(1, len(names)) + code, return_index=True, return_inverse=True
    )
    weight = np.bincount(candidate, found.similarity[labelled], minlength=len(candidates))
    order = np.lexsort((nearest, -weight, candidates // max(1, len(names))))
    rows, winner = np.unique(candidates[order] // max(1, len(names)), return_index=True)
    chosen = order[winner]
    total = np.bincount(row, found.similarity[labelled], minlength=len(ids))
    label = np.full(len(ids), -1, np.int64)
    label[rows] = candidates[chosen] % max(1, len(names))
    share = np.zeros(len(ids))
    share[rows] = weight[chosen] / total[rows]
    unknown = label < 0
    taken = pa.array(names).take(pa.array(label, mask=unknown)) if names else pa.nulls(len(ids))
    return Labels(pa.table({"id": ids, "label": taken, "share": pa.array(share, mask=unknown)}))
