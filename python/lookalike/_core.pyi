# The kernels as Python sees them: what rust/binding/src offers, in the same order.
#
# tests/test_stub.py holds this file against the built module, so that neither can change alone.

from collections.abc import Sequence
from typing import Final, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

# Rows one after the other, and where each begins: row i is values[offsets[i]:offsets[i + 1]].
_Texts: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.int64]]
_Sets: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.int64]]
_Neighbours: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.int64]]

# Signatures (one row an item, one column a slot), content hashes, bag digests, flags.
_Signed: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]

# Two columns that belong together: rows a and b, or shared and joint counts.
_TwoColumns: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint32]]

ALGORITHM_VERSION: Final[int]
FLAG_EMPTY: Final[int]
FLAG_SHORT: Final[int]
FLAG_UNSPACED: Final[int]
FREQUENCY_COUNTERS: Final[int]

def paths() -> list[str]: ...
def panic_on_purpose() -> None: ...

# Texts and tokens → sets.

@final
class Shingler:
    def __new__(
        cls,
        unit: str,
        k: int,
        *,
        casefold: bool,
        nfkc: bool,
        whitespace: bool,
        punctuation: bool,
        bag: bool,
        stops: Sequence[str],
        seed: int,
    ) -> Self: ...
    def shingles(self, text: bytes, *, path: str | None = None) -> NDArray[np.uint64]: ...
    def sets(self, texts: _Texts, *, threads: int, path: str | None = None) -> _Sets: ...
    def document_frequencies(self, texts: _Texts, *, path: str | None = None) -> NDArray[np.uint32]: ...
    def rarest(
        self,
        texts: _Texts,
        frequencies: NDArray[np.uint32],
        *,
        most: int,
        threads: int,
        path: str | None = None,
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]]: ...

def mix_integers(tokens: NDArray[np.uint64], *, seed: int, threads: int) -> NDArray[np.uint64]: ...
def hash_strings(tokens: _Texts, *, seed: int, threads: int) -> NDArray[np.uint64]: ...
def canonical_sets(sets: _Sets, *, bag: bool, threads: int) -> _Sets: ...

# Texts and sets → signatures → bucket keys.

@final
class Orders:
    def __new__(cls, family: str, *, slots: int, seed: int) -> Self: ...
    @property
    def seed(self) -> int: ...
    @property
    def slots(self) -> int: ...
    @property
    def coefficients(self) -> list[tuple[int, int]]: ...

def sign_texts(
    texts: _Texts, shingler: Shingler, orders: Orders, *, threads: int, path: str | None = None
) -> _Signed: ...
def sign_sets(sets: _Sets, orders: Orders, *, threads: int, path: str | None = None) -> _Signed: ...
def universal_minima(sets: _Sets, orders: Orders) -> NDArray[np.uint64]: ...
def band_keys(
    signatures: NDArray[np.uint32], *, bands: int, rows: int, first: int = 0
) -> NDArray[np.uint64]: ...
def agreements(
    signatures: NDArray[np.uint32], a: NDArray[np.uint32], b: NDArray[np.uint32], *, threads: int
) -> NDArray[np.uint32]: ...
def agreement_histogram(signatures: NDArray[np.uint32], *, threads: int) -> NDArray[np.uint64]: ...

# Bucket keys → candidates → exact counts → clusters.

@final
class Forest:
    def __new__(cls, rows: int) -> Self: ...
    def join(self, a: NDArray[np.uint32], b: NDArray[np.uint32]) -> None: ...
    def labels(self) -> NDArray[np.uint32]: ...

def sorted_runs(
    pieces: Sequence[NDArray[np.uint64]], *, threads: int, least: int = 1, most: int | None = None
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...
def stars(order: NDArray[np.uint32], neighbours: _Neighbours) -> NDArray[np.uint32]: ...
def pair_up(rows: NDArray[np.uint32], runs: NDArray[np.int64], *, threads: int) -> _TwoColumns: ...
def distinct_pairs(a: NDArray[np.uint32], b: NDArray[np.uint32], *, threads: int) -> _TwoColumns: ...
def compare_texts(
    pieces: Sequence[_Texts],
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    shingler: Shingler,
    *,
    at_least: float,
    threads: int,
    path: str | None = None,
) -> _TwoColumns: ...
def same_texts(
    pieces: Sequence[_Texts], a: NDArray[np.uint32], b: NDArray[np.uint32]
) -> NDArray[np.bool_]: ...
def compare_sets(
    pieces: Sequence[_Sets], a: NDArray[np.uint32], b: NDArray[np.uint32], *, at_least: float, threads: int
) -> _TwoColumns: ...

# Two texts → the passages they share.

# A row a passage: begin and end in a, begin and end in b (bytes), tokens shared, tokens changed.
def shared_passages(
    a: bytes, b: bytes, shingler: Shingler, *, least: int, gap: int, path: str | None = None
) -> NDArray[np.uint32]: ...
def count_tokens(text: bytes, shingler: Shingler, *, path: str | None = None) -> int: ...
