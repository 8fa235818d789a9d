"""Sets from lists of tokens and from sparse boolean matrices."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike import _core
from lookalike.engines.cores import cores
from lookalike.errors import OptionError, SourceError
from lookalike.io.columns import is_list, plain_lists
from lookalike.measures.kinds import kinds_of, kinds_of_columns
from lookalike.types import U64, Kinds, Sets, string_buffers
from lookalike.wording import several


def as_sets(
    items: Any,
    *,
    seed: int = 0,
    sets: str = "rows",
    bag: bool = False,
    clusters: Iterable[Iterable[Any]] | None = None,
) -> Sets:
    """Sets from whatever holds them.

    Parameters
    ----------
    items
        `Sets`; a sequence of collections of integers or of strings; an Arrow, polars or pandas column of
        lists; or a sparse boolean matrix (anything with `tocsr`, such as SciPy's), of which every entry that
        is not zero is a member.
    sets
        Of a matrix: whether its `rows` or its `columns` are the sets.
    bag
        Count repeats: similarity is then Σmin/Σmax.
    clusters
        Elements that count as one and the same, such as the films of a series: collections of elements, of
        which none is in two. What is in no cluster stands for itself. Sets that differ may then be the same
        seen through clusters, at a distance of 0, so 1 − J is a pseudo-metric only.

    Raises
    ------
    SourceError
        If an element is null, or neither an integer of 64 bits nor a string, or if they are mixed; also if
        the rows are those of a dense 0/1 matrix, whose sets would be {0, 1}, {0} or {1}.

    Examples
    --------
    >>> [len(row) for row in as_sets([[1, 2, 3], {2, 3}, []])]
    [3, 2, 0]
    >>> [len(row) for row in as_sets([[1, 2, 3], {2, 3}, []], clusters=[[2, 3]])]
    [2, 1, 0]
    """
    if sets not in ("rows", "columns"):
        raise OptionError(f"sets={sets!r}: the sets of a matrix are its rows or its columns")
    merged = None if clusters is None else _Merged.of(clusters, seed)
    if hasattr(items, "tocsr"):
        return _from_matrix(items, sets, seed, merged)
    if sets == "columns":
        raise OptionError("sets='columns' goes with a sparse matrix: lists are one set each")
    if isinstance(items, Sets):
        if merged is not None:
            raise OptionError("clusters go with lists and matrices: name them where these sets are made")
        return items
    if hasattr(items, "__arrow_c_stream__") and not isinstance(items, pa.Array | pa.ChunkedArray):
        items = _column(items)
    if isinstance(items, pa.ChunkedArray):
        items = pa.concat_arrays(items.chunks) if items.num_chunks else pa.array([], items.type)
    if isinstance(items, pa.Array):
        return _from_arrow(items, seed, bag, merged)
    return _from_lists(items, seed, bag, merged)


@dataclass(frozen=True, eq=False)
class _Merged:
    """Elements of clusters, hashed and sorted, and beside each the one that stands for its cluster."""

    members: U64
    stand_in: U64

    @classmethod
    def of(cls, clusters: Iterable[Iterable[Any]], seed: int) -> _Merged:
        groups = _as_rows(clusters)
        tokens = listed_tokens(groups)
        hashed: U64 = hashed_tokens(tokens, seed)
        lengths = [len(group) for group in groups]
        starts = np.cumsum([0, *lengths])
        # Of an element that is repeated within a cluster there is no doubt; of one in two clusters there is.
        number = np.repeat(np.arange(len(groups)), lengths)
        order = np.lexsort((number, hashed))
        members, number = hashed[order], number[order]
        twice = np.flatnonzero((members[1:] == members[:-1]) & (number[1:] != number[:-1]))
        if len(twice):
            raise OptionError(
                f"{tokens[int(order[twice[0]])].as_py()!r:.40} is in two clusters: leave it in one of them"
            )
        least = np.array([hashed[a:b].min() if b > a else 0 for a, b in pairwise(starts)], np.uint64)
        return cls(members, least[number])

    def __call__(self, elements: Any) -> Any:
        """Hashed elements, each that is in a cluster replaced by what stands for it."""
        if not len(self.members):
            return elements
        at = np.minimum(np.searchsorted(self.members, elements), len(self.members) - 1)
        return np.where(self.members[at] == elements, self.stand_in[at], elements)


def _from_matrix(matrix: Any, sets: str, seed: int, merged: _Merged | None) -> Sets:
    # Sorted once, by whichever side the sets are on; the hash of an element is computed once, not once a set.
    compressed = matrix.tocsr() if sets == "rows" else matrix.T.tocsr()
    if not (compressed.has_canonical_format and compressed.data.all()):
        # What is compressed already is handed out as it is, and the caller's matrix must not change.
        compressed = compressed.copy()
        compressed.sum_duplicates()
        compressed.eliminate_zeros()
    # Row numbers as 0, 1, … are the same tokens that lists of them would hold.
    hashed = _mixed(np.arange(compressed.shape[1], dtype=np.int64), seed)
    if merged is not None:
        hashed = merged(hashed)
    kinds = kinds_of_columns(compressed)
    return _canonical(hashed[compressed.indices], compressed.indptr.astype(np.int64), False, kinds)


def _column(items: Any) -> pa.ChunkedArray:
    """A column of another library; pandas hands lists over as objects, which Arrow has to look at."""
    if type(items).__module__.split(".")[0] == "pandas":
        return pa.chunked_array([pa.array(items.tolist())])
    return pa.chunked_array(items)


def _from_arrow(array: pa.Array, seed: int, bag: bool, merged: _Merged | None) -> Sets:
    if not is_list(array.type):
        raise SourceError(f"sets must be an Arrow list column, not {array.type}: one list of tokens a row")
    if array.null_count:
        raise SourceError("a set is null: drop it, or make it an empty list")
    lists = plain_lists(array)
    hashed = hashed_tokens(lists.values, seed)
    _refuse_dense(lists.values, lists.offsets, bag)
    if merged is not None:
        hashed = merged(hashed)
    return _canonical(hashed, np.asarray(lists.offsets), bag, kinds_of(lists.values))


def _from_lists(items: Iterable[Iterable[Any]], seed: int, bag: bool, merged: _Merged | None) -> Sets:
    rows = _as_rows(items)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    tokens = listed_tokens(rows)
    # Two columns may be couples of tokens, but nobody holds these in an array that knows no others.
    _refuse_dense(tokens, offsets, bag, least=2 if isinstance(items, np.ndarray) else 3)
    hashed = hashed_tokens(tokens, seed)
    if merged is not None:
        hashed = merged(hashed)
    return _canonical(hashed, offsets, bag, kinds_of(tokens))


def _as_rows(items: Iterable[Iterable[Any]]) -> list[Any]:
    if not isinstance(items, Iterable):
        raise SourceError(f"{items!r:.40} holds no sets: give a list of lists of integers or of strings")
    rows: list[Any] = []
    for number, row in enumerate(items):
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise SourceError(
                f"item {number} is {row!r:.40}, not a set: give a list of integers or of strings"
            )
        # A Python set comes in an order that changes from run to run; the kernels sort it.
        rows.append(row if isinstance(row, Sequence | np.ndarray) else list(row))
    return rows


def _refuse_dense(tokens: pa.Array, offsets: Any, bag: bool, *, least: int = 3) -> None:
    """Raise if this is a dense matrix of zeros and ones: each row would be taken for a list of 0 and 1.

    Lists of so many tokens or more, all of one length and of nothing but 0 and 1, repeat themselves: as sets
    nobody means them.
    """
    widths = np.diff(offsets)
    if bag or len(widths) < 2 or widths[0] < least or not pa.types.is_integer(tokens.type):
        return
    if (widths == widths[0]).all() and pc.min_max(tokens).as_py() == {"min": 0, "max": 1}:
        raise SourceError(
            f"these {several(len(widths), 'row')} of {widths[0]:,} hold 0 and 1 alone, as a dense matrix"
            " does: give a boolean matrix as a sparse one, such as scipy.sparse.csr_array(matrix)"
        )


def listed_tokens(rows: Sequence[Sequence[Any]]) -> pa.Array:
    """The tokens of lists, one after the other."""
    try:
        try:
            return pa.array(chain.from_iterable(rows))
        except OverflowError:
            # Over 2⁶³, as 64-bit hashes are; Arrow has to be told.
            return pa.array(chain.from_iterable(rows), pa.uint64())
    except OverflowError as reason:
        raise SourceError(f"integers in sets lie from −2⁶³ to 2⁶³−1, or from 0 to 2⁶⁴−1: {reason}") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise SourceError(f"sets must hold integers or strings, not both: {_unlike(rows)}") from None
    except UnicodeEncodeError as reason:
        raise SourceError(f"a string in a set is not Unicode text: {reason}") from None


def _unlike(rows: Sequence[Sequence[Any]]) -> str:
    """Which row has the first element that is neither, or is not of the kind that the first one is."""
    first = None
    for number, row in enumerate(rows):
        for token in row:
            kind = next((kind for kind in (str, numbers.Integral) if isinstance(token, kind)), None)
            if token is None:
                continue
            if kind is None:
                return f"item {number} holds {token!r:.40}, which is neither"
            if first is None:
                first = number, token, kind
            elif kind is not first[2]:
                there = "it also" if first[0] == number else f"item {first[0]}"
                return f"item {number} holds {token!r:.40}, and {there} holds {first[1]!r:.40}"
    return "they hold what is neither"


def hashed_tokens(tokens: pa.Array, seed: int) -> Any:
    """The hashed elements of integers or strings."""
    if pa.types.is_dictionary(tokens.type):
        tokens = tokens.dictionary_decode()
    if str(tokens.type) == "string_view":
        tokens = tokens.cast(pa.large_string())
    if tokens.null_count:
        raise SourceError("an element of a set is null: leave it out, or give it a value of its own")
    if pa.types.is_integer(tokens.type):
        return _mixed(tokens.cast(pa.uint64() if tokens.type == pa.uint64() else pa.int64()).to_numpy(), seed)
    if pa.types.is_string(tokens.type) or pa.types.is_large_string(tokens.type):
        return _core.hash_strings(string_buffers(tokens), seed=seed, threads=cores())
    if pa.types.is_null(tokens.type):
        return np.empty(0, np.uint64)
    if pa.types.is_boolean(tokens.type):
        raise SourceError(
            "sets must hold integers or strings, not bool: give a boolean matrix as a sparse one"
        )
    raise SourceError(f"sets must hold integers or strings, not {tokens.type}")


def _mixed(tokens: Any, seed: int) -> Any:
    return _core.mix_integers(tokens.view(np.uint64), seed=seed, threads=cores())


def _canonical(elements: Any, offsets: Any, bag: bool, kinds: Kinds) -> Sets:
    return Sets(*_core.canonical_sets((elements, offsets), bag=bag, threads=cores()), kinds)
