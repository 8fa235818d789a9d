"""Corpora on disk with their truth beside them, made once and kept in benchmarks/scratch/."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import feather

from lookalike.applications.planted import PlantOptions, plant

from . import lane

SCRATCH = Path(__file__).with_name("scratch")

# Goes up when the generator or the truth changes, so that what an older version left is not used.
_VERSION = 1
# Far under any threshold of a case: nothing outside the planted families can then be a true pair.
_STRANGERS_AT_MOST = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class Course:
    """A corpus file, its texts, and every true pair in it (a, b, similarity)."""

    corpus: Path
    texts: pa.LargeStringArray
    truth: pa.Table

    @property
    def text_bytes(self) -> int:
        """Bytes of text."""
        return int(self.texts.buffers()[2].size)


def prepare(options: PlantOptions, *, threshold: float, words: int) -> Course:
    """Plant a corpus and count its true pairs by brute force, unless an earlier run left them here."""
    SCRATCH.mkdir(exist_ok=True)
    identity = f"{_VERSION} {options.to_json()} {threshold} {words}"
    key = hashlib.sha256(identity.encode()).hexdigest()[:16]
    corpus, truth = SCRATCH / f"{key}.arrow", SCRATCH / f"{key}-truth.arrow"
    if not truth.exists():
        _make(options, corpus, truth, threshold=threshold, words=words)
    return Course(corpus=corpus, texts=lane.read_texts(corpus), truth=feather.read_table(truth))


def _make(options: PlantOptions, corpus: Path, truth: Path, *, threshold: float, words: int) -> None:
    planted = plant(
        options.documents,
        seed=options.seed,
        mean_bytes=options.mean_bytes,
        copies=options.copies,
        words=options.words,
        edits=options.edits,
    )
    alike = planted.strangers(k=words)
    if alike > _STRANGERS_AT_MOST:
        raise ValueError(f"unrelated documents reach a similarity of {alike:.2f}: the truth is incomplete")
    lane.write_texts(planted.texts, corpus)
    # Written last: its presence says that the corpus is whole.
    feather.write_feather(planted.truth(threshold, words), str(truth))
