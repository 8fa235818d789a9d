"""Perceptual hashes and molecular fingerprints: all similar pairs of rows of bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.applications.batching import batch_bytes_of
from lookalike.applications.pair_rows import PairRows, pair_rows
from lookalike.applications.sets.stages import Renumber
from lookalike.applications.too_large import called
from lookalike.engines import Engine, Table, engine_of
from lookalike.errors import OptionError, SourceError
from lookalike.io import FileSource, Source
from lookalike.io.bits import BitColumns, count_widths, has_columns, open_bits
from lookalike.joins.bitblocks import BitMeasure
from lookalike.joins.bitrows import BitItems, bit_table, bits_column
from lookalike.joins.bits import BitMethod, join_bits
from lookalike.joins.expand import Copies, checked_copies, most_from_copies
from lookalike.keywords import suggesting
from lookalike.measures.bits import as_bits, from_packed
from lookalike.runs.watch import Watch
from lookalike.theory.ranges import checked_recall, checked_seed, checked_threshold
from lookalike.theory.thresholds import Written, scale_of
from lookalike.types import I64, Pairs

#: The column of bits, unless another is named.
COLUMN = "bits"
_MEASURES = ("hamming", "jaccard")
_METHODS = ("auto", "exact", "pieces", "covering", "lsh")
#: The threshold of each measure if none is given: what perceptual hashes of one picture differ in, and what
#: chemists call similar.
_THRESHOLDS: dict[str, Written] = {"hamming": 3, "jaccard": 0.8}


#: What can be asked of a search for near bits.
BIT_OPTIONS = ("measure", "threshold", "recall", "method", "seed")


@suggesting()
def similar_bits(
    bits: Any,
    other: Any = None,
    *,
    measure: BitMeasure = "hamming",
    threshold: Written | None = None,
    recall: float = 0.95,
    method: BitMethod = "auto",
    column: str = COLUMN,
    id: str | None = None,
    copies: Copies | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Pairs:
    """Find all pairs of hashes or fingerprints that are near.

    Every pair was checked. Nothing is missed but by `method="lsh"`, which `auto` takes for large collections
    and radii so large that no exact road is quick; `account.recall` then estimates what was missed.

    Parameters
    ----------
    bits, other
        Whatever `as_bits` takes: packed bytes, an array of uint64, hexadecimal strings, an Arrow column. Or a
        table, or paths: parquet, with any such column, csv and jsonl, with hexadecimal strings, in `column`;
        .npy or .bvecs matrices; text files of a string a line. With `other`, pairs go from a row of the first
        to one of the second.
    measure
        `hamming`: how many bits differ, the column `distance`. `jaccard`: of the bits set in either the share
        set in both, known as Tanimoto similarity, the column `similarity`; rows without a bit match nothing.
    threshold
        The most bits that may differ, 3 if not given, or the least similarity, .8 if not given.
    recall
        What `lsh` promises of pairs exactly at the threshold.
    method
        `exact` compares every row with every other, 64 folded bits first; `pieces` looks only at rows that
        agree in a piece of their bits, as near ones must, `covering` at those that agree under one of
        Pagh's masks (`Covering`), as near ones must too; `lsh` at rows that agree in a band of sampled bits.
    column, id
        Columns of a table: the bits, and what to call a row. Without `id` rows are numbered.
    copies
        `"all"` lists every pair, those between exact copies too: that is the default, but over 100 million
        pairs that only copies make are an error, unless `"all"` is written out. `"stars"` lists each copy
        once, with the first of them.
    seed
        Orders or samples the bits; the answer of exact methods does not depend on it.
    threads, memory
        How many threads work (all cores by default), and how much memory they may take above what Python
        needs, such as `"4GB"` (half of what is free by default); more than fits goes to disk. Neither changes
        the result. `engine` is for those who bring their own.

    Examples
    --------
    >>> similar_bits(["ffff0000", "ffff0001", "0000ffff"], threshold=2)
    1 pair
    a  b  distance
    0  1  1
    """
    engine = engine_of(engine, threads, memory)
    return pairs_of_bits(
        (bits,) if other is None else (bits, other),
        {"measure": measure, "threshold": threshold, "recall": recall, "method": method, "seed": seed},
        column=column,
        id=id,
        copies=checked_copies(copies),
        engine=engine,
        watch=Watch(),
    ).collected(engine)


def pairs_of_bits(
    given: tuple[Any, ...],
    asked: dict[str, Any],
    *,
    column: str,
    id: str | None,
    copies: Copies | None,
    engine: Engine,
    watch: Watch,
) -> PairRows:
    """Near pairs of one collection of bits, or of two; `asked` are the `BIT_OPTIONS`."""
    measure, threshold, recall, method, seed = (asked[name] for name in BIT_OPTIONS)
    if measure not in _MEASURES:
        raise OptionError(
            f"measure={measure!r} is unknown for bits: choose {' or '.join(_MEASURES)}, which is Tanimoto's"
        )
    if method not in _METHODS:
        raise OptionError(
            f"method={method!r} is unknown: choose {', '.join(_METHODS[:-1])} or {_METHODS[-1]}"
        )
    seed = checked_seed(seed)
    opened = [_opened(one, column, id) for one in given]
    if column != COLUMN and not any(isinstance(one, Source) and has_columns(one) for one in opened):
        raise OptionError(f"column={column!r} names a column, and what was given has none: leave it out")
    collections: list[_Collection] = []
    for one in opened:
        before = sum(collection.rows for collection in collections)
        collections.append(_collect(one, engine, watch, first_row=before))
    width = _common_width(collections)
    wanted = _THRESHOLDS[measure] if threshold is None else threshold
    joined = join_bits(
        BitItems.together([collection.table for collection in collections], width),
        measure=measure,
        threshold=scale_of("hamming", bits=width).read(wanted)
        if measure == "hamming"
        else checked_threshold(wanted),
        recall=checked_recall(recall, method=method),
        method=method,
        seed=seed,
        most_from_copies=most_from_copies(copies),
        engine=engine,
        watch=watch,
    )
    return pair_rows(
        joined,
        (collections[0].names, collections[-1].names),
        copies=copies,
        boundary=collections[0].rows if len(collections) == 2 else None,
        column="distance" if measure == "hamming" else "similarity",
        whole=measure == "hamming",
        engine=engine,
        watch=watch,
    )


@dataclass(frozen=True, eq=False)
class _Collection:
    """Rows of bits in the order of their ids, and how to name them again."""

    table: Table
    width: int
    names: Callable[[I64], pa.Array]

    @property
    def rows(self) -> int:
        return self.table.rows


def _opened(given: Any, column: str, id: str | None) -> Any:
    """What has a name, as a source; rows of bits as they are."""
    return open_bits(given, column=column, id=id) if _is_named(given) else given


def _collect(given: Any, engine: Engine, watch: Watch, *, first_row: int) -> _Collection:
    if isinstance(given, Source):
        return _read(given, engine, watch, first_row=first_row)
    bits = as_bits(given)
    return _Collection(bit_table(bits, engine, first_row=first_row), bits.width, pa.array)


def _read(source: Source, engine: Engine, watch: Watch, *, first_row: int) -> _Collection:
    """Read a source of packed bits; the driver holds ids, if there are any, and 8 bytes a row then."""
    columns, named = source.wanted, source.wanted.id is not None
    assert isinstance(columns, BitColumns)
    if isinstance(source, FileSource) and source.skips:
        with watch.stage("widths", unit="rows") as advance:
            count_widths(source, advance)
    with watch.stage("read", unit="rows") as advance:
        batches = source.scan(batch_bytes_of(engine))
        first = next(batches)
        width = columns.width.bits
        assert width is not None
        schema = pa.schema([("row", pa.int64()), ("bits", _words(first, width).type)])
        start = 0 if named else first_row

        def numbered() -> Iterator[pa.RecordBatch]:
            row = start
            for batch in chain([first], batches):
                rows = pa.array(np.arange(row, row + len(batch), dtype=np.int64))
                yield pa.record_batch([rows, _words(batch, width)], schema=schema)
                row += len(batch)
                advance(len(batch))

        with called(lambda row: source.ids(np.array([row - start]))[0]):
            table = engine.scan(numbered(), schema)
        if not named:
            return _Collection(table, width, source.ids)
        order = pc.sort_indices(source.layout.ids).to_numpy().astype(np.int64)
        numbers = np.empty_like(order)
        numbers[order] = np.arange(first_row, first_row + len(order))
        table = engine.map(table, Renumber(numbers, schema))
    return _Collection(table, width, lambda rows: source.ids(order[rows]))


def _words(batch: pa.RecordBatch, width: int) -> pa.Array:
    return bits_column(from_packed(batch.column(0), width).words)


def _is_named(given: Any) -> bool:
    """Whether it is a table or names files, rather than open or rows of bits."""
    if isinstance(given, Source):
        return False
    if isinstance(given, str | Path):
        return True
    if isinstance(given, list):
        return bool(given) and all(isinstance(one, Path) for one in given)
    return hasattr(given, "column_names") or (
        hasattr(given, "columns") and hasattr(given, "__arrow_c_stream__")
    )


def _common_width(collections: Sequence[_Collection]) -> int:
    widths = [collection.width for collection in collections]
    if len(set(widths)) > 1:
        raise OptionError(f"bits of {widths[0]} and of {widths[1]} do not compare: make them as wide")
    rows = sum(collection.rows for collection in collections)
    if rows >= 2**32 - 1:
        raise SourceError(f"{rows:,} rows are more than one run can tell apart: at most 4,294,967,294")
    return widths[0]
