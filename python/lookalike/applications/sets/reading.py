"""What holds sets, and how it is to be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from lookalike.errors import OptionError
from lookalike.io import OnError
from lookalike.io.columns import is_list
from lookalike.io.matrices import is_matrix_file
from lookalike.io.setfiles import is_table_file
from lookalike.keywords import suggesting
from lookalike.measures.tokens import checked_separator
from lookalike.types import Sets


@dataclass(frozen=True, kw_only=True, eq=False)
class SetInput:
    """Sets that are still to be read; made by `read_sets`."""

    data: Any
    form: Literal["lines", "lists", "edges", "matrix"]
    of: str | None = None
    items: str | None = None
    id: str | None = None
    rating: str | None = None
    least_rating: float | None = None
    weight: str | None = None
    separator: str | None = None
    on_error: OnError = "raise"

    @property
    def paths(self) -> list[str]:
        """The paths given; none for a table in memory."""
        given = [self.data] if isinstance(self.data, str | Path) else self.data
        return [str(path) for path in given] if isinstance(given, list | tuple) else []


@suggesting()
def read_sets(
    data: Any,
    *,
    of: str | None = None,
    items: str | None = None,
    id: str | None = None,
    rating: str | None = None,
    least_rating: float | None = None,
    weight: str | None = None,
    separator: str | None = None,
    on_error: OnError = "raise",
) -> SetInput:
    """Say how sets are to be read; `similar_pairs` reads them.

    A transaction file holds a set a line, its tokens between white space; blank lines are empty sets. With
    `of` and `items` a table holds an edge a row, and the same table read in the other direction gives the
    dual: sets of items by user, or of users by item. With `items` alone a table holds a list a row. Files
    that end in .npz or .mtx hold a sparse boolean matrix.

    A token written like a whole number is that number. A set named in an edge table is there even if the
    least rating leaves it empty; an edge that occurs twice counts once.

    Compared by weight (`measure="weighted-jaccard"` or `"weighted-cosine"`), edges are as heavy as the column
    `weight` says, tokens of lines as a number behind a colon (`bread:2.5`), entries of a matrix as their
    values. What says nothing of it weighs 1, and weights of what occurs twice add up.

    Parameters
    ----------
    data
        A path or paths (transaction files: any ending, plain, .gz or .zst; tables: csv, tsv, parquet or
        jsonl); or a table in memory (Arrow, polars, pandas).
    of, items
        Columns of an edge table: whose sets, and what is in them. Of a matrix `of` says whether its `rows`
        (the default) or its `columns` are the sets.
    id
        Of lists: the column of ids. Of lines: `first` if each begins with its id. Without it a set is called
        by its file and row, or by its number.
    rating, least_rating
        Of edges: leave out those whose rating is less.
    weight
        Of edges: the column of their weights; it may be the rating.
    separator
        Of lines: one character between tokens instead of white space.

    Examples
    --------
    >>> import lookalike as la
    >>> likes = pa.table({"user": ["ann", "ann", "bob", "bob", "cat"], "film": [1, 2, 2, 1, 3]})
    >>> la.similar_pairs(la.read_sets(likes, of="user", items="film"))
    1 pair
    a    b    similarity
    ann  bob  1.0000
    >>> rated = likes.append_column("stars", pa.array([5, 4, 4, 5, 3]))
    >>> sets = la.read_sets(rated, of="user", items="film", weight="stars")
    >>> la.similar_pairs(sets, measure="weighted-jaccard")
    1 pair
    a    b    similarity
    ann  bob  1.0000
    """
    checked_separator(separator)
    paths = [data] if isinstance(data, str | Path) else data if isinstance(data, list | tuple) else []
    shared = {"data": data, "of": of, "items": items, "id": id, "on_error": on_error}
    if least_rating is not None and rating is None:
        raise OptionError(f"least_rating={least_rating!r} needs rating=…, the column of ratings")
    if least_rating is not None and not np.isfinite(least_rating):
        raise OptionError(f"least_rating={least_rating!r} is out of range: give a number")
    if any(is_matrix_file(path) for path in paths):
        others = {"rating": rating, "weight": weight, "separator": separator}
        return SetInput(form="matrix", **_matrix_only(shared, paths, **others))
    if of is not None:
        if items is None:
            raise OptionError(f"of={of!r} needs items=…, the column of what is in the sets")
        _none(f"a table of edges, sets of {of!r}", id=id, separator=separator)
        if rating is not None and least_rating is None:
            raise OptionError(
                f"rating={rating!r} needs least_rating=…, the rating from which on an edge counts"
            )
        return SetInput(form="edges", rating=rating, least_rating=least_rating, weight=weight, **shared)
    if items is not None:
        _none(f"a list a row in {items!r}", rating=rating, weight=weight, separator=separator)
        return SetInput(form="lists", **shared)
    _none("a set a line", rating=rating, weight=weight)
    if not paths:
        raise OptionError("a table in memory needs column names: items=…, and for an item a row also of=…")
    if id not in (None, "first"):
        raise OptionError(f"id={id!r} is out of range: of lines, the id can only be the first token")
    # Who says how a line begins, or what separates its tokens, means lines.
    for path in paths if separator is None and id is None else ():
        if is_table_file(path):
            raise OptionError(
                f"{path} looks like a table: name its columns, items=… and for an item a row also of=…; or "
                "separator=…, what stands between its tokens, if it is a set a line"
            )
    return SetInput(form="lines", separator=separator, **shared)


def _matrix_only(shared: dict[str, Any], paths: Any, **others: Any) -> dict[str, Any]:
    of = shared["of"] or "rows"
    if len(paths) > 1:
        raise OptionError("a matrix is one file: name it alone")
    if of not in ("rows", "columns"):
        raise OptionError(f"of={of!r} is out of range: the sets of a matrix are its rows or its columns")
    _none("a matrix", items=shared["items"], id=shared["id"], **others)
    return {**shared, "of": of}


def _none(what: str, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise OptionError(f"{name}={value!r} does not go with {what}: leave it out")


def listed(items: Any) -> Any:
    """What was given; an iterator, which can be looked at once only, as a list."""
    speaks_arrow = hasattr(items, "__arrow_c_stream__") or hasattr(items, "__arrow_c_array__")
    return list(items) if isinstance(items, Iterator) and not speaks_arrow else items


def holds_sets(items: Any) -> bool:
    """Whether these are sets rather than documents."""
    if isinstance(items, SetInput | Sets) or hasattr(items, "tocsr"):
        return True
    if isinstance(items, pa.Array | pa.ChunkedArray):
        return is_list(items.type)
    kind = type(items)
    if kind.__module__.split(".")[0] == "polars" and kind.__name__ == "Series":
        return is_list(pa.chunked_array(items.head(0)).type)
    if kind.__module__.split(".")[0] == "pandas" and kind.__name__ == "Series":
        return len(items) > 0 and _is_collection(items.iloc[0])
    # A column of a dataset is a sequence, too.
    if isinstance(items, Sequence | np.ndarray) and not isinstance(items, str | bytes) and len(items):
        return _is_collection(items[0])
    return False


def _is_collection(first: Any) -> bool:
    # A dict is a record, which `io` turns down with a hint.
    return isinstance(first, Iterable) and not (
        isinstance(first, str | bytes | dict) or hasattr(first, "__fspath__")
    )
