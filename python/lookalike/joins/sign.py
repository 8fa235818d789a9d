"""Texts or sets → signed or keyed rows: the fused call, one kernel call a batch.

Signed rows hold all slots of a signature, keyed rows only a bucket key a band: a fifth of the bytes, and all
that the main road needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from lookalike import _core
from lookalike.bands import key_columns, key_names
from lookalike.engines import Held, Stage
from lookalike.families import MinHash
from lookalike.measures.candidates import slot_matrix
from lookalike.shingles import Shingle
from lookalike.theory import Banding
from lookalike.theory.added_bands import FinalBands
from lookalike.types import U8, U64, Sets, Signatures, list_buffers, string_buffers


class Keying(Protocol):
    """A stage that keys rows, and can do so again from another seed."""

    def __call__(self, batch: pa.RecordBatch, /) -> pa.RecordBatch:
        """Keyed rows."""

    def again(self, seed: int, bands: int) -> Keying:
        """The stage that keys the same rows by so many bands of a fresh draw."""


@dataclass(frozen=True)
class SignTexts:
    """A stage: `row`, `text` → signed rows."""

    family: MinHash
    shingle: Shingle

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        shingler = self.shingle.shingler(self.family.seed)
        return _signed(batch, self.family.signatures_of_texts(batch["text"], shingler, threads=1))


@dataclass(frozen=True)
class SignSets:
    """A stage: `row`, `elements`, and `flags` if the sets are of texts → signed rows."""

    family: MinHash

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return _signed(batch, self.family.signatures(Sets(*list_buffers(batch["elements"])), threads=1))


@dataclass(frozen=True)
class KeyTexts:
    """A stage: `row`, `text` → keyed rows; signatures are not kept."""

    family: MinHash
    banding: Banding
    shingle: Shingle

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        bands, rows = self.banding.bands, self.banding.rows
        shingler = self.shingle.shingler(self.family.seed)
        texts = string_buffers(batch["text"])
        return _keyed(batch, *_core.key_texts(texts, shingler, self.family.drawn(), bands=bands, rows=rows))

    def again(self, seed: int, bands: int) -> KeyTexts:
        """The stage that keys the same texts by so many bands of a fresh draw."""
        return replace(
            self, family=replace(self.family, seed=seed), banding=replace(self.banding, bands=bands)
        )


@dataclass(frozen=True)
class KeySets:
    """A stage: `row`, `elements`, and `flags` if the sets are of texts → keyed rows; no signature is kept."""

    family: MinHash
    banding: Banding
    #: Elements were hashed by the run's seed when they were read, and a slot's bucket goes by that hash: for
    #: a fresh draw they are hashed once more, or most slots would be drawn as before.
    mixed: bool = False

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        bands, rows = self.banding.bands, self.banding.rows
        elements, offsets = list_buffers(batch["elements"])
        if self.mixed:
            elements = _core.mix_integers(elements, seed=self.family.seed, threads=1)
        return _keyed(
            batch, *_core.key_sets((elements, offsets), self.family.drawn(), bands=bands, rows=rows)
        )

    def again(self, seed: int, bands: int) -> KeySets:
        """The stage that keys the same sets by so many bands of a fresh draw."""
        family = replace(self.family, seed=seed)
        return replace(self, family=family, banding=replace(self.banding, bands=bands), mixed=True)


@dataclass(frozen=True)
class AddedKeys:
    """A stage: rows → `row` and the keys of bands that are added to `first` others."""

    key: Stage
    first: int
    bands: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keyed = self.key(batch)
        # The lowest bits of a key say which band it is of.
        keys = [keyed[name].to_numpy() + np.uint64(self.first) for name in key_names(self.bands)]
        names = key_names(self.first + self.bands)[self.first :]
        columns = {name: pa.array(key) for name, key in zip(names, keys, strict=True)}
        return pa.record_batch({"row": batch["row"], **columns})


@dataclass(frozen=True)
class KeyAll:
    """A stage: rows → keyed rows with the keys of several draws beside each other."""

    key: Keying
    added: tuple[AddedKeys, ...]

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keyed = self.key(batch)
        columns = {name: keyed[name] for name in keyed.schema.names}
        for added in self.added:
            more = added(batch)
            columns |= {name: more[name] for name in more.schema.names if name != "row"}
        return pa.record_batch(columns)


@dataclass(frozen=True)
class WithAddedKeys:
    """A stage for `fetch` from rows with added keys: keyed rows → with those keys too."""

    first: int
    bands: int

    def __call__(self, batch: pa.RecordBatch, held: Held) -> pa.RecordBatch:
        names = key_names(self.first + self.bands)[self.first :]
        added = pa.Table.from_batches([piece.select(names) for piece in held.batches])
        chosen = added.take(pa.array(held.at(batch["row"].to_numpy()))).combine_chunks()
        columns = {name: batch[name] for name in batch.schema.names}
        for name in names:
            columns[name] = pa.array(chosen[name].to_numpy())
        return pa.record_batch(columns)


def key_all(key: Keying, bands: FinalBands) -> Stage:
    """The stage that keys rows by all bands that a run ended with; `key` is that of its plan."""
    added, first = [], bands.banding.bands
    for one in bands.added:
        added.append(AddedKeys(key.again(one.seed, one.bands), first, one.bands))
        first += one.bands
    return KeyAll(key, tuple(added)) if added else key


@dataclass(frozen=True)
class WithKeys:
    """A stage: rows → signed rows with the keys of their bands."""

    sign: SignTexts | SignSets
    banding: Banding

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        signed = self.sign(batch)
        keys = _core.band_keys(slot_matrix((signed,)), bands=self.banding.bands, rows=self.banding.rows)
        columns = {name: signed[name] for name in signed.schema.names}
        return pa.record_batch(columns | key_columns(keys))


def _keyed(batch: pa.RecordBatch, keys: U64, content: U64, bag: U64, flags: U8) -> pa.RecordBatch:
    columns = {
        "row": batch["row"],
        "content": content,
        "copy": _copy(content, bag),
        "flags": _flags(batch, flags),
    }
    return pa.record_batch({name: pa.array(column) for name, column in columns.items()} | key_columns(keys))


def _flags(batch: pa.RecordBatch, flags: U8) -> U8:
    # What was odd about a text is not to be seen in its set.
    return flags | batch["flags"].to_numpy() if "flags" in batch.schema.names else flags


def _copy(content: U64, bag: U64) -> U64:
    """What copies have in common: the signature and the bag of shingles."""
    return (content ^ np.uint64(0x9E3779B97F4A7C15)) * (bag | np.uint64(1)) + bag


def _signed(batch: pa.RecordBatch, signed: Signatures) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "row": batch["row"],
            "slots": pa.FixedSizeListArray.from_arrays(
                pa.array(signed.slots.reshape(-1)), signed.slots.shape[1]
            ),
            "content": pa.array(signed.content),
            "copy": pa.array(_copy(signed.content, signed.bag)),
            "flags": pa.array(_flags(batch, signed.flags)),
        }
    )
