"""The test items, ready to be looked for in batches of training documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from sys import getsizeof

import numpy as np
import pyarrow as pa

from lookalike.applications.decontaminate.found import PASSAGES, Found
from lookalike.applications.decontaminate.options import DecontaminateOptions
from lookalike.measures.occurrences import Met, Owners, Sought
from lookalike.measures.passages import count_tokens, shared_passages
from lookalike.shingles import Shingle
from lookalike.types import I64, Bools, Sets, string_buffers

#: The least passage worth showing, in words or in characters.
_LEAST = {"words": 8, "characters": 24}


@dataclass(frozen=True, kw_only=True, eq=False)
class TestItems:
    """A stage for `fold`: training documents by `row` → `Found`.

    It holds the texts of the test items, their shingles and their runs, some 30 times the text (`nbytes`).
    """

    # Not a class of tests, whatever its name says to a collector of them.
    __test__ = False

    texts: Sequence[str]
    options: DecontaminateOptions
    shingles: Sought
    holding: Owners
    #: Shorter than a shingle, so compared as a whole.
    short: Bools
    #: Runs, each as one long shingle; None if runs do not count.
    runs: Sought | None
    sharing: Owners | None

    @classmethod
    def of(cls, texts: pa.Array, options: DecontaminateOptions) -> TestItems:
        """Cut the test items into shingles and runs."""
        shingler = options.form.shingler(options.seed)
        sought = Sought.of(Sets(*shingler.sets(string_buffers(texts), threads=1)))
        plain = texts.to_pylist()
        tokens = np.array([count_tokens(text, shingler=shingler) for text in plain], np.int64)
        runs = sharing = None
        if options.run:
            # A text shorter than a run would stand for itself as a whole, which is no run.
            long = pa.array(
                [text if count >= options.run else "" for text, count in zip(plain, tokens, strict=True)]
            )
            runs = Sought.of(_run_sets(long.cast(pa.large_string()), options))
            sharing = Owners.sharing_any(runs, most=options.common)
        return cls(
            texts=plain,
            options=options,
            shingles=sought,
            holding=Owners.holding(sought, options.threshold),
            short=(tokens < options.form.k) & (sought.sizes > 0),
            runs=runs,
            sharing=sharing,
        )

    @property
    def nbytes(self) -> int:
        """What is held, in bytes."""
        held = (self.shingles, self.holding, self.runs, self.sharing)
        texts = sum(map(getsizeof, self.texts))
        return texts + sum(one.nbytes for one in held if one is not None)

    @property
    def common_runs(self) -> int:
        """How many runs are in so many test items that they say nothing."""
        return 0 if self.runs is None else int(np.count_nonzero(self.runs.frequencies > self.options.common))

    def __call__(self, batch: pa.RecordBatch) -> Found:
        texts = batch["text"]
        buffers = string_buffers(texts)
        shingler = self.options.form.shingler(self.options.seed)
        met = self.shingles.met(Sets(*shingler.sets(buffers, threads=1)))
        seen = np.zeros(len(self.shingles.known), np.bool_)
        seen[met.element] = True
        row, test = self.holding.named(met)
        shared = self.shingles.shared(met, row, test)
        enough = shared / np.maximum(self.shingles.sizes[test], 1) >= self.options.threshold
        row, test = row[enough], test[enough]
        with_run = self._with_runs(texts)
        row, test, copied = _together((row, test), with_run, len(self.texts))
        train = batch["row"].to_numpy()[row]
        run, passages = self._passages(texts, row, test, train, copied)
        return Found(
            test=test,
            train=train,
            shared=self.shingles.shared(met, row, test),
            run=run,
            seen=seen,
            passages=passages,
            documents=len(batch),
            text_bytes=int(buffers[1][-1] - buffers[1][0]),
        )

    def _with_runs(self, texts: pa.Array) -> tuple[I64, I64]:
        if self.runs is None or self.sharing is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        met: Met = self.runs.met(_run_sets(texts, self.options))
        return self.sharing.named(met)

    def _passages(
        self, texts: pa.Array, row: I64, test: I64, train: I64, copied: Bools
    ) -> tuple[I64, pa.Table]:
        """The longest run of each pair, and the passages it shares."""
        shingler = self.options.form.shingler(self.options.seed)
        least = max(self.options.form.k, _LEAST[self.options.unit])
        rows: list[dict[str, object]] = []
        longest = np.where(copied, self.options.run or 0, 0).astype(np.int64)
        for at in range(len(row)):
            item, document = self.texts[test[at]], texts[int(row[at])].as_py()
            for passage in shared_passages(item, document, shingler=shingler, least=least):
                # Folding may make a run that the aligner, which works on the text as it is, sees in two.
                longest[at] = max(longest[at], passage.tokens)
                rows.append(
                    {
                        "test": int(test[at]),
                        "train": int(train[at]),
                        "start": passage.a_start,
                        "end": passage.a_end,
                        "train_start": passage.b_start,
                        "train_end": passage.b_end,
                        "tokens": passage.tokens,
                    }
                )
        return longest, pa.Table.from_pylist(rows, PASSAGES)


def _run_sets(texts: pa.Array, options: DecontaminateOptions) -> Sets:
    """Texts as sets of their runs."""
    form, k = options.form, options.run or 1
    # Stop-word shingles are made of words too.
    run = (
        Shingle(k=k, casefold=form.casefold, nfkc=form.nfkc)
        if form.unit == "stopwords"
        else replace(form, k=k)
    )
    return Sets(*run.shingler(options.seed).sets(string_buffers(texts), threads=1))


def _together(one: tuple[I64, I64], other: tuple[I64, I64], width: int) -> tuple[I64, I64, Bools]:
    """Pairs of either kind, sorted, each once; and which of them are of the other."""
    first, second = (row * max(1, width) + test for row, test in (one, other))
    codes = np.union1d(first, second).astype(np.int64)
    return codes // max(1, width), codes % max(1, width), np.isin(codes, second)
