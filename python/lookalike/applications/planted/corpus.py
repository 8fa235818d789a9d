"""The planted corpus: what was asked for, what was made, and who copied whom."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lookalike.errors import OptionError

from . import truth, vocabulary
from .draws import Draws
from .edits import EDITS

UNRELATED = "unrelated"
ORIGINAL = "original"


@dataclass(frozen=True, kw_only=True)
class PlantOptions:
    """What to plant.

    Attributes
    ----------
    documents : rows of the corpus, copies included
    seed : the same seed gives the same bytes on every machine
    mean_bytes : mean size of a document; sizes are log-normal about it
    copies : the share of rows that are edited copies of others
    words : size of the vocabulary
    edits : kinds of edit that make copies, of `EDITS`
    """

    documents: int = 20_000
    seed: int = 0
    mean_bytes: int = 2_700
    copies: float = 0.2
    words: int = 50_000
    edits: tuple[str, ...] = tuple(EDITS)

    def __post_init__(self) -> None:
        object.__setattr__(self, "edits", tuple(self.edits))
        _demand(self.documents >= 1, f"documents={self.documents} plants nothing: ask for 1 or more")
        _demand(self.seed >= 0, f"seed={self.seed} is negative: seeds are 0 or more")
        _demand(
            200 <= self.mean_bytes <= 1_000_000,
            f"mean_bytes={self.mean_bytes} is outside what can be planted: use 200 to 1,000,000",
        )
        _demand(
            0 <= self.copies <= 0.6,
            f"copies={self.copies} is outside what can be planted: use a share of the rows from 0 to 0.6",
        )
        _demand(
            1_000 <= self.words <= vocabulary.LARGEST,
            f"words={self.words} is outside what can be invented: use 1,000 to {vocabulary.LARGEST:,}",
        )
        unknown = sorted(set(self.edits) - set(EDITS))
        _demand(not unknown, f"unknown edits {unknown}: the kinds are {', '.join(EDITS)}")
        _demand(bool(self.edits), f"edits is empty: name at least one of {', '.join(EDITS)}")

    def to_json(self) -> str:
        """Return the options as JSON, in a fixed order."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> PlantOptions:
        """Read what `to_json` wrote."""
        return cls(**json.loads(text))


@dataclass(frozen=True, kw_only=True, eq=False)
class PlantedCorpus:
    """Documents of which it is known who copied whom.

    Attributes
    ----------
    options : what was asked for
    texts : the documents, in random order
    family : for each row the number of its family, −1 for a document without copies
    kind : for each row the edit that made it; "original" and "unrelated" were not made by one
    source : for each copy the row it was made from, else −1; copies are also made from copies
    """

    options: PlantOptions
    texts: pa.LargeStringArray
    family: NDArray[np.int64]
    kind: NDArray[np.str_]
    source: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Bytes of text."""
        offsets = np.frombuffer(self.texts.buffers()[1], dtype=np.int64)
        return int(offsets[len(self.texts)] - offsets[0])

    def families(self) -> list[list[int]]:
        """Return the rows of every family, in ascending order."""
        rows = np.flatnonzero(self.family >= 0)
        rows = rows[np.argsort(self.family[rows], kind="stable")]
        cuts = np.flatnonzero(np.diff(self.family[rows])) + 1
        return [group.tolist() for group in np.split(rows, cuts) if len(group)]

    def truth(self, threshold: float, k: int = 5) -> pa.Table:
        """Return every true pair: a table (a, b, similarity) of rows a < b of one family.

        Every two rows of a family are compared, copies of copies included, by the exact Jaccard similarity
        of their k-word shingles, in plain Python.
        """
        groups = self.families()
        texts = self._texts_of([row for group in groups for row in group])
        pairs = truth.pairs_within(groups, texts, k=k, threshold=threshold)
        a, b, similarity = zip(*pairs, strict=True) if pairs else ((), (), ())
        return pa.table(
            {
                "a": pa.array(a, pa.int64()),
                "b": pa.array(b, pa.int64()),
                "similarity": pa.array(similarity, pa.float64()),
            }
        )

    def strangers(self, sample: int = 2_000, k: int = 5, *, seed: int = 0) -> float:
        """Return the greatest similarity of two documents that are not of one family, among a sample of rows.

        Truth looks inside families only; this says that nothing is to be found outside of them.
        """
        order = Draws(seed).order(len(self.texts))
        family = self.family[order]
        # One member stands for its family, so that no two rows of the sample are of the same one.
        stands = family < 0
        stands[np.unique(family, return_index=True)[1]] = True
        chosen = order[stands][:sample]
        return truth.greatest_similarity(self.texts.take(pa.array(chosen)).to_pylist(), k=k)

    def _texts_of(self, rows: list[int]) -> dict[int, str]:
        return dict(zip(rows, self.texts.take(pa.array(rows, pa.int64())).to_pylist(), strict=True))


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise OptionError(otherwise)
