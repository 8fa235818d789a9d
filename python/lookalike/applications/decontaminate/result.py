"""What was found of the test items: for people to read, for programs to use, and as a folder on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.applications.decontaminate.found import Found
from lookalike.applications.decontaminate.naming import Names
from lookalike.applications.decontaminate.options import DecontaminateOptions
from lookalike.applications.decontaminate.sought import TestItems
from lookalike.applications.documents.collection import Collection
from lookalike.charts import numbers
from lookalike.io import Source
from lookalike.joins import ALGORITHM_VERSION
from lookalike.runs import Header, RunFolder, RunRecord, Stage, write_parquet
from lookalike.runs.stopwatch import took
from lookalike.types import F64, I64, Bools


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DecontaminateResult:
    """The outcome of `decontaminate`.

    Attributes
    ----------
    items
        One row a test item: of the training documents it is paired with, the greatest `containment` (share of
        its shingles that the document has), in which (`train`), and the longest `run` of words in a row, all
        null if there is none; `covered`, the share of its shingles that all documents together have; whether
        it is `contaminated`; and a `flag` if it is empty or shorter than a shingle.
    pairs
        Test items with the training documents that hold enough of them, or a long run.
    names
        What `passages` are made from.
    clean_rows
        Which test items are not contaminated, as a mask over the input in its order.
    """

    source: Source
    train: Source
    options: DecontaminateOptions
    items: pa.Table
    pairs: pa.Table
    names: Names
    clean_rows: Bools
    counts: dict[str, Any]
    stages: Sequence[Stage]

    @classmethod
    def of(
        cls,
        collection: Collection,
        train: Source,
        test: TestItems,
        found: Found,
        options: DecontaminateOptions,
        *,
        stages: Sequence[Stage],
    ) -> DecontaminateResult:
        """Name what was found, and decide which items are contaminated."""
        sizes = test.shingles.sizes
        share = found.shared / np.maximum(sizes[found.test], 1)
        names = Names(collection, train, test.texts, found)
        pairs, best = names.pairs(share)
        covered = _covered(test, found)
        containment = _greatest(len(sizes), found.test, share)
        run = _greatest(len(sizes), found.test, found.run)
        unpaired = np.bincount(found.test, minlength=len(sizes)) == 0
        long = (run >= options.run) if options.run else np.zeros(len(sizes), np.bool_)
        in_one = (containment >= options.threshold) & (sizes > 0)
        together = (covered >= options.threshold) & (sizes > 0)
        contaminated = in_one | together | long
        flag = np.where(sizes == 0, "empty", np.where(test.short, "short", ""))
        rows = np.arange(len(sizes), dtype=np.int64)
        clean = np.empty(len(sizes), np.bool_)
        clean[collection.order] = ~contaminated
        return cls(
            source=collection.source,
            train=train,
            options=options,
            items=pa.table(
                {
                    "id": collection.ids(rows),
                    "containment": pa.array(containment, mask=unpaired),
                    "train": best,
                    "run": pa.array(run, mask=unpaired),
                    "covered": pa.array(covered),
                    "contaminated": pa.array(contaminated),
                    "flag": pa.array(flag, mask=flag == ""),
                }
            ),
            pairs=pairs,
            names=names,
            clean_rows=clean,
            counts={
                "items": len(sizes),
                "documents": found.documents,
                "unreadable": collection.source.unreadable.rows + train.unreadable.rows,
                "unreadable_files": collection.source.unreadable.files + train.unreadable.files,
                "empty": int(np.count_nonzero(sizes == 0)),
                "short": int(np.count_nonzero(test.short)),
                "contaminated": int(np.count_nonzero(contaminated)),
                "whole": int(np.count_nonzero(in_one & (containment == 1))),
                "in_one_document": int(np.count_nonzero(in_one)),
                "in_several_together": int(np.count_nonzero(together & ~in_one)),
                "by_run_alone": int(np.count_nonzero(long & ~in_one & ~together)),
                "clean": int(np.count_nonzero(~contaminated)),
                "pairs": len(found.test),
                "common_runs": test.common_runs,
                "item_bytes": int(collection.text_bytes.sum()),
                "text_bytes": found.text_bytes,
            },
            stages=stages,
        )

    @property
    def passages(self) -> pa.Table:
        """What these pairs share, word for word, and where it lies in both texts, in code points."""
        return pa.Table.from_batches(self.names.passages(), self.names.passage_schema)

    @property
    def clean(self) -> Any:
        """The test items that are not contaminated, in the form they were given."""
        return self.source.kept(self.clean_rows)

    @property
    def advice(self) -> list[str]:
        """What the user may want to know beside the result, in sentences."""
        said = []
        if self.counts["short"]:
            one = self.counts["short"] == 1
            said.append(
                f"{numbers.several(self.counts['short'], 'test item')} {'is' if one else 'are'} shorter than "
                f"a shingle ({self.options.form}) and found only as a whole document: use a smaller k"
            )
        if self.counts["common_runs"]:
            one = self.counts["common_runs"] == 1
            said.append(
                f"{numbers.several(self.counts['common_runs'], 'run')} of {self.options.run} "
                f"{self.options.unit} {'is' if one else 'are each'} in more than "
                f"{numbers.several(self.options.common, 'test item')} and {'counts' if one else 'count'} for "
                "none: a prompt or a heading, probably"
            )
        return said

    def summary(self) -> str:
        """A few lines for a person."""
        counts, count = self.counts, numbers.count
        seconds = took(self.stages)
        peak = max((stage.peak_bytes for stage in self.stages), default=0)
        speed = f" ({numbers.bytes_(counts['text_bytes'] / seconds)}/s)" if seconds else ""
        share = numbers.percent(counts["contaminated"] / max(1, counts["items"]))
        facts = [
            ("test items", f"{count(counts['items'])}, {numbers.bytes_(counts['item_bytes'])} of text"),
            ("training", f"{count(counts['documents'])}, {numbers.bytes_(counts['text_bytes'])} of text"),
            ("unreadable", f"{count(counts['unreadable'])}, skipped" if counts["unreadable"] else ""),
            ("empty", f"{count(counts['empty'])}, found nowhere" if counts["empty"] else ""),
            ("contaminated", f"{count(counts['contaminated'])} ({share})"),
            ("  whole", f"{count(counts['whole'])} in one training document"),
            (
                "  in part",
                f"{count(counts['in_one_document'] - counts['whole'])} at {self.options.threshold:g} or over "
                f"in one, {count(counts['in_several_together'])} in several together",
            ),
            (
                "  by a run",
                f"{count(counts['by_run_alone'])} by {self.options.run} {self.options.unit} in a row alone"
                if self.options.run
                else "",
            ),
            ("clean", count(counts["clean"])),
            ("took", f"{numbers.seconds(seconds)}{speed}, peak memory {numbers.bytes_(peak)}"),
        ]
        return "\n".join(f"{name:<13} {value}" for name, value in facts if value)

    def __repr__(self) -> str:
        return self.summary()

    def record(self) -> RunRecord:
        """What run.json says of this run."""
        return RunRecord(
            job="decontaminate",
            parameters=self.options.to_dict(),
            algorithm=ALGORITHM_VERSION,
            counts=self.counts,
            stages=tuple(self.stages),
            took=took(self.stages),
        )

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the run folder: items, pairs, passages, kept, run.json. It appears whole or not at all."""
        with RunFolder.create(path, overwrite=overwrite) as folder:
            self.write_into(folder.path)
            self.record().write(folder.path)
        return Path(path)

    def write_into(self, folder: Path) -> None:
        """Write everything but run.json."""
        for kind, table, schema in (
            ("items", self.items, None),
            ("pairs", self.pairs, None),
            ("passages", self.names.passages(), self.names.passage_schema),
        ):
            header = Header(kind=kind, algorithm=ALGORITHM_VERSION, parameters=self.options.to_dict())
            write_parquet(folder / f"{kind}.parquet", table, header, schema=schema)
        (folder / "kept").mkdir()
        self.source.write_kept(folder / "kept", self.clean_rows)


def _covered(test: TestItems, found: Found) -> F64:
    """Of every item, the share of its shingles that occur anywhere."""
    totals = np.concatenate([[0], np.cumsum(found.seen[test.shingles.sets])])[test.shingles.offsets]
    covered: F64 = np.diff(totals) / np.maximum(test.shingles.sizes, 1)
    return covered


def _greatest(items: int, test: I64, values: Any) -> Any:
    greatest = np.zeros(items, values.dtype)
    np.maximum.at(greatest, test, values)
    return greatest
