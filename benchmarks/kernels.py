"""Kernels beside their limits, on one core.

    python -m benchmarks.kernels [--record]

Text to signature is set against what no kernel can beat: reading the bytes, and only finding the words.
Signing sets is set against rensa's kernel on the same prehashed tokens. Before a time is printed, the
signatures are checked: the same bits on every instruction path, and agreement with the exact similarity of
the sets.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lookalike import _core
from lookalike.applications.planted import plant
from lookalike.families import MinHash
from lookalike.shingles import Shingle, sets_of_texts
from lookalike.types import string_buffers

from . import machine, record

SLOTS = 128
_BYTES = 32 << 20
_RUNS = 9
_KEYS = (1 << 20, 1 << 22)
_TOKENS = 1_000_000
_SHINGLES = ("words:5", "chars:5", "chars:8", "chars:9")
# A letter of the Cyrillic alphabet for each of ours, to make text beyond ASCII with natural word lengths.
_CYRILLIC = {ord("a") + i: 0x430 + i for i in range(26)} | {ord("A") + i: 0x410 + i for i in range(26)}


def main(arguments: list[str] | None = None) -> int:
    """Check, measure and print; the exit status is 1 for a wrong answer."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels", description="Kernels and their limits."
    )
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    options = parser.parse_args(arguments)
    # One core for all, rensa's thread pool included, which is made when it is imported.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    console = record.console()
    texts = {"ASCII": _plain(), "mixed UTF-8": _mixed()}
    wrong = [fault for array in texts.values() for fault in faults(array.slice(0, 400))]
    for fault in wrong:
        console.print(fault, style="red")
    if wrong:
        return 1
    described = str(machine.describe(("lookalike", "rensa", "numpy")))
    today, command = datetime.date.today().isoformat(), record.command("kernels", arguments)
    made = [
        record.Record(
            name="kernels",
            title="Text to signature, one core",
            date=today,
            command=command,
            machine=described,
            columns=("text", "kernel", "GB/s", "share of reading", "share of finding words"),
            rows=tuple(text_rows(texts)),
            notes=(
                f"{SLOTS} slots, the best of {_RUNS} runs over {_BYTES >> 20} MiB of texts of about 2.7 KB.",
            ),
        ),
        record.Record(
            name="sets",
            title="Prehashed sets to signature, one core",
            date=today,
            command=command,
            machine=described,
            columns=("tokens a set", "lookalike µs", "rensa µs", "ratio"),
            rows=tuple(set_rows()),
            notes=("rensa: RMinHash.digest_matrix_from_flat_token_hashes, its full MinHash.",),
        ),
        record.Record(
            name="keys",
            title="Bucket keys sorted and grouped, one core",
            date=today,
            command=command,
            machine=described,
            columns=("keys", "kept", "lookalike M keys/s", "numpy M keys/s", "ratio"),
            rows=tuple(key_rows()),
            notes=(
                "numpy: a stable argsort, without the grouping. One key in five is in a run of two or more.",
            ),
        ),
    ]
    for one in made:
        one.show(console)
        if options.record:
            record.save(one)
    return 0


def faults(texts: pa.LargeStringArray) -> list[str]:
    """Return what is wrong with signatures of these texts, on any path."""
    found = []
    for name in _SHINGLES:
        shingle, family = Shingle.parse(name), MinHash(slots=SLOTS)
        signed = {
            path: family.signatures_of_texts(texts, shingle.shingler(0), threads=1, path=path).slots
            for path in _core.paths()
        }
        if any((slots != signed["scalar"]).any() for slots in signed.values()):
            found.append(f"{name}: paths disagree")
        sets = sets_of_texts(texts, shingle)
        pairs = [(row, row + 1) for row in range(len(sets) - 1)]
        exact = np.array([_jaccard(sets[a], sets[b]) for a, b in pairs])
        estimate = np.array([np.mean(signed["scalar"][a] == signed["scalar"][b]) for a, b in pairs])
        spread = np.sqrt(np.sum(exact * (1 - exact) / SLOTS))
        if abs(np.sum(estimate - exact)) > 4 * spread + 1e-9:
            found.append(f"{name}: estimates are off by {np.mean(estimate - exact):+.4f} on average")
    return found


def text_rows(texts: dict[str, pa.LargeStringArray]) -> Iterator[tuple[str, ...]]:
    """Time text to signature, and its limits."""
    orders = MinHash(slots=SLOTS).drawn()
    for name, array in texts.items():
        values, offsets = string_buffers(array)
        size = int(offsets[-1] - offsets[0])
        reading = size / _best(lambda v=values: _read(v))
        words = Shingle.parse("words:5").shingler(0)
        whole = values.tobytes()
        finding = size / _best(lambda w=whole, s=words: _core.count_tokens(w, s))
        yield name, "reading memory", f"{reading / 1e9:.2f}", "", ""
        yield name, "finding words", f"{finding / 1e9:.2f}", f"{finding / reading:.0%}", ""
        for form in _SHINGLES:
            shingler = Shingle.parse(form).shingler(0)
            for path in _core.paths():
                rate = size / _best(
                    lambda s=shingler, p=path, t=(values, offsets): _core.sign_texts(
                        t, s, orders, threads=1, path=p
                    )
                )
                shares = (f"{rate / reading:.0%}", f"{rate / finding:.0%}")
                yield name, f"sign {form}, {path}", f"{rate / 1e9:.2f}", *shares


def key_rows() -> Iterator[tuple[str, ...]]:
    """Time bucket keys to sorted runs beside NumPy's sort, answers compared first."""
    rng = np.random.default_rng(0)
    for count in _KEYS:
        keys = rng.integers(0, 2**64, count, dtype=np.uint64)
        copies = rng.permutation(count)[: count // 10]
        keys[copies] = keys[np.roll(copies, 1) - 1]
        order = np.argsort(keys, kind="stable")
        theirs = _best(lambda k=keys: np.argsort(k, kind="stable"))
        for least, what in ((1, "all"), (2, "runs of two or more")):
            found, places = _core.sorted_runs([keys], threads=1, least=least)
            if not np.array_equal(*_runs(keys[order], order, least, found, places)):
                raise AssertionError(f"{count} keys, {what}: not the order of NumPy's stable sort")
            ours = _best(lambda k=keys, n=least: _core.sorted_runs([k], threads=1, least=n))
            rates = [count / seconds / 1e6 for seconds in (ours, theirs)]
            yield f"{count:,}", what, *(f"{rate:.1f}" for rate in rates), f"{rates[0] / rates[1]:.1f}"


def _runs(
    keys: NDArray[np.uint64],
    order: NDArray[np.int64],
    least: int,
    found: NDArray[np.uint64],
    places: NDArray[np.uint32],
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Keys and places as they should be and as they are, each as one array."""
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    wanted = counts[inverse] >= least
    right = np.concatenate([keys[wanted], order[wanted].astype(np.uint64)])
    return right, np.concatenate([found, places.astype(np.uint64)])


def set_rows() -> Iterator[tuple[str, ...]]:
    """Time prehashed sets to signature beside rensa."""
    import rensa

    full = rensa.RMinHash.digest_matrix_from_flat_token_hashes
    orders = MinHash(slots=SLOTS).drawn()
    rng = np.random.default_rng(0)
    for tokens in (10, 30, 100, 300, 1_000, 10_000):
        # Many sets a call, so that what a call itself costs does not count.
        rows = _TOKENS // tokens
        elements = rng.integers(0, 2**64, rows * tokens, dtype=np.uint64)
        offsets = np.arange(0, len(elements) + 1, tokens, dtype=np.int64)
        ours = _best(lambda e=elements, o=offsets: _core.sign_sets((e, o), orders, threads=1)) / rows
        starts = offsets.astype(np.uint64)
        theirs = _best(lambda e=elements, s=starts: full(e, s, SLOTS, 42)) / rows
        yield f"{tokens:,}", f"{ours * 1e6:.2f}", f"{theirs * 1e6:.2f}", f"{theirs / ours:.1f}"


def _best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def _read(values: NDArray[np.uint8]) -> object:
    whole = values[: len(values) // 8 * 8].view(np.uint64)
    return np.bitwise_or.reduce(whole)


def _jaccard(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> float:
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / (len(a) + len(b) - shared)


def _plain() -> pa.LargeStringArray:
    return plant(_BYTES // 2_700, seed=1, copies=0.3, mean_bytes=2_700).texts


def _mixed() -> pa.LargeStringArray:
    """Every other document in Cyrillic letters, every fourth word of the rest accented."""
    documents = _plain().to_pylist()
    mixed = [
        text.translate(_CYRILLIC) if row % 2 else " ".join(_accented(text.split(" ")))
        for row, text in enumerate(documents)
    ]
    return pa.array(mixed, pa.large_string())


def _accented(words: list[str]) -> list[str]:
    table = str.maketrans("aeiouAEIOU", "àéîöùÀÉÎÖÙ")
    return [word if place % 4 else word.translate(table) for place, word in enumerate(words)]


if __name__ == "__main__":
    sys.exit(main())
