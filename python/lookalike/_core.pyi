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

# Bucket keys (one row a band, one column an item), content hashes, bag digests, flags.
_Keyed: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]

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
    def flagged_sets(
        self, texts: _Texts, *, threads: int, path: str | None = None
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]]: ...
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

@final
class Sieve:
    def __new__(cls, elements: NDArray[np.uint64], *, least: int) -> Self: ...
    def texts_that_pass(
        self, texts: _Texts, shingler: Shingler, *, path: str | None = None
    ) -> NDArray[np.bool_]: ...
    def sets_that_pass(self, sets: _Sets) -> NDArray[np.bool_]: ...

def mix_integers(tokens: NDArray[np.uint64], *, seed: int, threads: int) -> NDArray[np.uint64]: ...
def hash_strings(tokens: _Texts, *, seed: int, threads: int) -> NDArray[np.uint64]: ...
def glances(rows: _Texts, *, seed: int) -> NDArray[np.uint64]: ...
def checksum(bytes: NDArray[np.uint8]) -> int: ...
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
def key_texts(
    texts: _Texts, shingler: Shingler, orders: Orders, *, bands: int, rows: int, path: str | None = None
) -> _Keyed: ...
def key_sets(sets: _Sets, orders: Orders, *, bands: int, rows: int, path: str | None = None) -> _Keyed: ...
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

@final
class Led:
    def __new__(
        cls,
        rows: NDArray[np.uint32],
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
        *,
        leaders: int,
        tried: int,
        one_in: int,
    ) -> Self: ...
    def candidates(self, forest: Forest, content: NDArray[np.uint64], most: int) -> _TwoColumns: ...
    def settle(self, forest: Forest) -> None: ...
    def given_up(self) -> NDArray[np.uint32]: ...
    def rows(self) -> NDArray[np.uint32]: ...
    def __len__(self) -> int: ...

def sorted_runs(
    pieces: Sequence[NDArray[np.uint64]], *, threads: int, least: int = 1, most: int | None = None
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...
def standing_runs(
    pieces: Sequence[NDArray[np.uint64]], *, least: int = 1, most: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None: ...
def stars(order: NDArray[np.uint32], neighbours: _Neighbours) -> NDArray[np.uint32]: ...
def pair_up(rows: NDArray[np.uint32], runs: NDArray[np.int64], *, threads: int) -> _TwoColumns: ...
def shared_bands(
    pieces: Sequence[Sequence[NDArray[np.uint64]]], a: NDArray[np.uint32], b: NDArray[np.uint32]
) -> NDArray[np.uint64]: ...
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

# Sets → prefixes → candidates → exact counts; strings → grams → distances.

# Key, row, size, position, previous, bits, side: the columns of entries.
_Entries: TypeAlias = tuple[
    NDArray[np.uint64],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.uint64],
    NDArray[np.uint64],
    NDArray[np.uint8],
]
# Rows (or places) a and b, and where in each the element stands at which they met.
_Met: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]

@final
class LeastShared:
    def __new__(cls, measure: str, threshold: float, *, q: int = 1) -> Self: ...
    def __call__(self, a: NDArray[np.uint32], b: NDArray[np.uint32]) -> NDArray[np.uint32]: ...

def bucket_counts(sets: _Sets, *, bits: int) -> NDArray[np.uint32]: ...
def bucket_ranks(counts: NDArray[np.uint32]) -> NDArray[np.uint32]: ...
def order_sets(sets: _Sets, ranks: NDArray[np.uint32]) -> NDArray[np.uint64]: ...
def prefix_counts(sets: _Sets, prefixes: NDArray[np.uint32], *, bits: int) -> NDArray[np.uint32]: ...
def prefix_entries(
    sets: _Sets,
    rows: NDArray[np.uint32],
    prefixes: NDArray[np.uint32],
    counts: NDArray[np.uint32],
    *,
    block: int,
    boundary: int | None = None,
    everybody_of: int | None = None,
    asking: tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None,
) -> _Entries: ...
def prefix_candidates(
    entries: _Entries, bound: LeastShared, *, across: bool, path: str | None = None
) -> _Met: ...
def prefix_shared(
    pieces: Sequence[_Sets], met: _Met, bound: LeastShared, *, across: bool, suffix: bool, whole: bool = False
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]: ...
def grams(texts: _Texts, *, q: int) -> _Sets: ...
def edit_distances(
    pieces: Sequence[_Texts], a: NDArray[np.uint32], b: NDArray[np.uint32], *, kind: str, most: int
) -> NDArray[np.uint32]: ...

# Roads beside the main one.

# Packed pairs (a << 32 | b) and how often each met; or bucket keys and the set each is of.
_KeysAndCounts: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.uint32]]

def meetings(
    rows: NDArray[np.uint32],
    runs: NDArray[np.int64],
    *,
    nearest: int,
    farthest: int,
    boundary: int | None = None,
    first: int = 0,
    last: int = ...,
) -> _KeysAndCounts: ...
def agreeing_pairs(
    left: NDArray[np.uint32], right: NDArray[np.uint32] | None = None, *, least: int, path: str | None = None
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]: ...
def pyramid_keys(
    sets: _Sets,
    first: NDArray[np.uint8],
    last: NDArray[np.uint8],
    *,
    bands: int,
    rows: int,
    seed: int,
) -> _KeysAndCounts: ...
def pair_buckets(sets: _Sets, *, bits: int) -> NDArray[np.uint32]: ...
def basket_pairs(
    sets: _Neighbours, hashes: NDArray[np.uint64], frequent: NDArray[np.bool_] | None = None
) -> _KeysAndCounts: ...

# Row, neighbour, similarity, and how many sets were gone through.
_Nearest: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], int]

@final
class HeldSets:
    def __new__(cls, sets: _Sets, rows: NDArray[np.uint32]) -> Self: ...
    def best_for_passing(
        self, sets: _Sets, rows: NDArray[np.uint32], *, k: int, most: int = ...
    ) -> _Nearest: ...
    def best_for_held(
        self, sets: _Sets, rows: NDArray[np.uint32], *, k: int, most: int = ...
    ) -> _Nearest: ...

# Two texts → the passages they share.

# A row a passage: begin and end in a, begin and end in b (bytes), tokens shared, tokens changed.
def shared_passages(
    a: bytes, b: bytes, shingler: Shingler, *, least: int, gap: int, path: str | None = None
) -> NDArray[np.uint32]: ...
def count_tokens(text: bytes, shingler: Shingler, *, path: str | None = None) -> int: ...

# Weighted sets and weighted terms of texts → signatures, sides, bucket keys; candidates → similarities.

# Elements, where each set begins, and a weight an element.
_Weighted: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]

def sign_weighted(sets: _Weighted, *, slots: int, seed: int, threads: int) -> _Signed: ...
def sparse_sides(vectors: _Weighted, *, slots: int, seed: int, threads: int) -> NDArray[np.uint8]: ...
def key_sparse(vectors: _Weighted, *, slots: int, seed: int, bands: int, rows: int) -> _Keyed: ...

@final
class DocumentFrequencies:
    def __new__(cls, texts: _Texts, shingler: Shingler, *, most: int, path: str | None = None) -> Self: ...
    @property
    def exact(self) -> bool: ...
    @property
    def nbytes(self) -> int: ...
    def add(self, other: Self) -> None: ...
    def of(self, terms: NDArray[np.uint64]) -> NDArray[np.uint32]: ...

def term_weights(
    texts: _Texts,
    shingler: Shingler,
    frequencies: DocumentFrequencies,
    *,
    documents: int,
    threads: int,
    path: str | None = None,
) -> _Weighted: ...
def compare_weighted(
    pieces: Sequence[_Weighted],
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    *,
    measure: str,
    threads: int,
) -> NDArray[np.float64]: ...

# Rows of bits, a row of 64-bit words each.

# Rows a and b, and in how many bits they differ.
_Apart: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]

@final
class BitMasks:
    def __new__(cls, positions: _Neighbours, *, words: int) -> Self: ...
    def keys(self, rows: NDArray[np.uint64], first: int, last: int) -> NDArray[np.uint64]: ...
    def sign(self, rows: NDArray[np.uint64], *, threads: int) -> NDArray[np.uint64]: ...
    def covered_pairs(
        self,
        rows: NDArray[np.uint64],
        numbers: NDArray[np.uint32],
        runs: NDArray[np.int64],
        of: NDArray[np.uint16],
        *,
        radius: int,
        boundary: int | None = None,
        path: str | None = None,
    ) -> _Apart: ...

@final
class BitTable:
    def __new__(cls, rows: NDArray[np.uint64], masks: _Neighbours, *, radius: int, threads: int) -> Self: ...
    def query(self, query: NDArray[np.uint64], *, most: int, path: str | None = None) -> _TwoColumns: ...

def bit_sizes(rows: NDArray[np.uint64], *, path: str | None = None) -> NDArray[np.uint32]: ...
def compare_bits(
    rows: NDArray[np.uint64], a: NDArray[np.uint32], b: NDArray[np.uint32], *, path: str | None = None
) -> _TwoColumns: ...
def scan_bits(
    rows: NDArray[np.uint64], query: NDArray[np.uint64], *, most: int, path: str | None = None
) -> _TwoColumns: ...
def bit_pairs(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64] | None = None,
    *,
    measure: str,
    threshold: float,
    plain: bool = False,
    path: str | None = None,
) -> _Apart: ...
def drawn_positions(width: int, count: int, *, seed: int) -> NDArray[np.uint32]: ...
def dealt_positions(width: int, *, rows: int, bands: int, seed: int) -> NDArray[np.uint32]: ...
def covering_positions(width: int, radius: int, *, parts: int, seed: int) -> _Neighbours: ...
def sample_bits(rows: NDArray[np.uint64], positions: NDArray[np.uint32]) -> NDArray[np.uint64]: ...
def bucket_pairs(
    rows: NDArray[np.uint64],
    numbers: NDArray[np.uint32],
    runs: NDArray[np.int64],
    *,
    radius: int,
    boundary: int | None = None,
    path: str | None = None,
) -> _Apart: ...

# Vectors → signatures and bucket keys; candidates → exact distances.

_Vectors: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

@final
class Projections:
    # Slots from `first` on.
    def __new__(
        cls, kind: str, *, dimensions: int, slots: int, seed: int, width: float = 1.0, first: int = 0
    ) -> Self: ...
    def sides(self, vectors: _Vectors, *, threads: int, path: str | None = None) -> NDArray[np.uint8]: ...
    def buckets(self, vectors: _Vectors, *, threads: int, path: str | None = None) -> NDArray[np.int64]: ...
    # One line a band, one column a row.
    def keys(
        self, vectors: _Vectors, *, bands: int, rows: int, path: str | None = None
    ) -> NDArray[np.uint64]: ...
    # One line a band and probe, one column a row. A set: an earlier one, and a rank or its complement.
    def probe_keys(
        self,
        vectors: _Vectors,
        *,
        bands: int,
        rows: int,
        sets: NDArray[np.int16],
        path: str | None = None,
    ) -> NDArray[np.uint64]: ...

def compare_vectors(
    pieces: Sequence[_Vectors],
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    measure: str,
    *,
    threads: int,
    cosine_at_least: float = ...,
    path: str | None = None,
) -> NDArray[np.float64]: ...
def vector_contents(vectors: _Vectors, *, seed: int) -> NDArray[np.uint64]: ...

# Packed pairs (a << 32 | b), and how many were left out.
def crowd_pairs(
    rows: NDArray[np.uint32], runs: NDArray[np.int64], *, most: int, boundary: int | None = None
) -> tuple[NDArray[np.uint64], int]: ...
