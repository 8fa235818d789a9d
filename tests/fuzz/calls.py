"""Every kernel, called with drawn arguments.

Run by test_fuzz.py in a process of its own, `python -m tests.fuzz.calls SEED COUNT`, since what is looked for
is the end of the process. It ends with 0 if every call returned, or raised what a caller can handle.
"""

import faulthandler
import resource
import sys

import numpy as np
from tests.fuzz.drawing import Draw

from lookalike import _core
from lookalike.errors import InternalError, LookalikeError

#: Address space of the process: what no machine has is asked for often, and must be refused, not got.
ADDRESSES = 4 << 30
HANDLED = (LookalikeError, TypeError, OverflowError, MemoryError)
#: Where in two sets they met is told by another kernel, and looked at only where the sets are: a wrong place
#: is found there, and is a defect.
TOLD_BY_KERNELS = {"prefix_shared"}


def shingler(draw):
    return _core.Shingler(
        draw.word("chars", "words", "stopwords"),
        draw.number(1, 2, 3, 5, 8, 9, 16, 17),
        casefold=draw.flag(),
        nfkc=draw.flag(),
        whitespace=draw.flag(),
        punctuation=draw.flag(),
        bag=draw.flag(),
        stops=draw.random.choice([[], ["the", "that"], ["É", ""]]),
        seed=draw.number(0, 1, 2**63),
    )


def orders(draw):
    family = draw.word("bucketed", "khash", "universal")
    return _core.Orders(family, slots=draw.number(1, 7, 8, 16, 17, 100, 128), seed=draw.number(0, 5))


def bound(draw):
    measure = draw.word("jaccard", "containment", "cosine", "overlap", "levenshtein", "indel")
    return _core.LeastShared(measure, draw.real(0.0, 0.5, 0.8, 1.0, 3.0), q=draw.number(1, 2, 3))


def sieve(draw):
    elements, _ = draw.sets()
    return _core.Sieve(np.asarray(elements, np.uint64), least=draw.number(0, 9))


def shared_bands(draw):
    bands, rows = draw.random.choice([0, 1, 13, 70]), draw.random.choice([0, 4, 40])
    pieces = [
        [draw.array(draw.words64(draw.random.choice([rows] * 30 + [3])) % 3) for _ in range(bands)]
        for _ in range(draw.random.choice([0, 1, 3]))
    ]
    return _core.shared_bands(pieces, *draw.pairs())


def path(draw):
    return draw.word(None, *_core.paths())


def frequencies(draw):
    return draw.array(np.arange(_core.FREQUENCY_COUNTERS, dtype=np.uint32) % 5)


def document_frequencies(draw):
    return _core.DocumentFrequencies(
        draw.texts(), shingler(draw), most=draw.number(0, 1, 9, 10**6), path=path(draw)
    )


def counts(draw):
    return draw.below(draw.random.choice([1, 2, 8, 1000, 1024]), 9)


def led(draw):
    rows, offsets = draw.buckets()
    if not isinstance(offsets, np.ndarray) or offsets.ndim != 1:
        offsets = np.zeros(1, np.int64)
    waiting = _core.Led(
        rows,
        draw.array(offsets[:-1].copy()),
        draw.array(offsets[1:].copy()),
        leaders=draw.number(0, 1, 8),
        tried=draw.number(0, 1, 2, 1024),
        one_in=draw.number(0, 1, 128),
    )
    return waiting, _core.Forest(draw.random.choice([1, 50, 100]))


def led_candidates(draw):
    waiting, forest = led(draw)
    for _ in range(2):
        waiting.candidates(forest, draw.array(draw.words64(100)), draw.number(1, 2, 64))
        waiting.settle(forest)


def prefixes(draw):
    sets = draw.sets()
    rows = draw.rows_of(sets)
    return sets, draw.below(rows, 1, 4), draw.below(rows, 10)


def prefix_entries(draw):
    sets, lengths, rows = prefixes(draw)
    boundary, everybody = draw.optional(draw.number(0, 2)), draw.optional(draw.number(0, 9))
    table = counts(draw)
    asking = draw.optional((draw.below(draw.rows_of(sets), 1, 4), table if draw.flag() else counts(draw)))
    block = draw.number(1, 3)
    _core.prefix_entries(
        sets,
        rows,
        lengths,
        table,
        block=block,
        boundary=boundary,
        everybody_of=everybody,
        asking=asking,
    )


def prefix_counts(draw):
    sets, lengths, _ = prefixes(draw)
    _core.prefix_counts(sets, lengths, bits=draw.number(1, 4, 10))


def prefix_candidates(draw):
    count = draw.length()
    keys = np.sort(draw.numbers.integers(0, 9, count).astype(np.uint64))
    columns = (
        draw.array(keys),
        draw.below(count, 10),
        draw.below(count, 1, 30, 2**32),
        draw.below(count, 1, 5, 2**32),
        draw.array(draw.words64(count)),
        draw.array(draw.words64(count)),
        draw.below(count, 2, 3, 256, dtype=np.uint8),
    )
    _core.prefix_candidates(columns, bound(draw), across=draw.flag(), path=path(draw))


def prefix_shared(draw):
    count, places = draw.random.choice([0, 1, 9, 300]), draw.random.choice([1, 3, 2**32])
    met = (*(draw.below(count, 1, 2) for _ in range(2)), *(draw.below(count, places) for _ in range(2)))
    flags = {"across": draw.flag(), "suffix": draw.flag(), "whole": draw.flag()}
    _core.prefix_shared(draw.pieces(draw.sets), met, bound(draw), **flags)


def agreeing_pairs(draw):
    width = draw.random.choice([0, 1, 7, 64, 128])
    left, right = (draw.matrix(width, np.uint32, 3) for _ in range(2))
    _core.agreeing_pairs(left, draw.optional(right), least=draw.number(0, 1, 5), path=path(draw))


def pyramid_keys(draw):
    sets = draw.sets()
    rows = draw.rows_of(sets)
    levels = (draw.below(rows, 12, dtype=np.uint8), draw.below(rows, 41, dtype=np.uint8))
    _core.pyramid_keys(sets, *levels, bands=draw.number(1, 3), rows=draw.number(1, 5), seed=draw.number(0))


def basket_pairs(draw):
    items = draw.below(draw.length(), 5)
    frequent = draw.below(draw.random.choice([1, 2, 3, 64]), 2, dtype=np.bool_)
    hashes = draw.array(draw.words64(draw.random.choice([0, 5, 64])))
    _core.basket_pairs((items, draw.offsets(np.size(items))), hashes, draw.optional(frequent))


def held_sets(draw):
    sets = draw.sets()
    return _core.HeldSets(sets, draw.below(draw.rows_of(sets), 9))


def held_best(draw, look):
    held, sets = held_sets(draw), draw.sets()
    rows, most = draw.below(draw.rows_of(sets), 9), draw.number(0, 1, 100)
    getattr(held, look)(sets, rows, k=draw.number(1, 2, 10), most=most)


def masks(draw, words):
    positions = draw.below(draw.length(), 64 * words)
    return positions, draw.offsets(np.size(positions))


def bit_masks(draw, words):
    return _core.BitMasks(masks(draw, words), words=draw.number(words))


def covered_pairs(draw):
    words = draw.random.choice([1, 2])
    held, rows = bit_masks(draw, words), draw.bits(words)
    runs = draw.offsets(len(rows) if isinstance(rows, np.ndarray) and rows.ndim else 1)
    of = draw.below(max(0, np.size(runs) - 1), 1, 2, dtype=np.uint16)
    _core.BitMasks.covered_pairs(
        held,
        rows,
        draw.below(np.size(rows) // words, 100),
        runs,
        of,
        radius=draw.number(0, 1, 3, 70),
        boundary=draw.optional(draw.number(0, 5)),
        path=path(draw),
    )


def bucket_pairs(draw):
    rows = draw.bits(1)
    boundary = draw.optional(draw.number(0, 20))
    numbers, runs = draw.below(np.size(rows), 50), draw.offsets(np.size(rows))
    _core.bucket_pairs(rows, numbers, runs, radius=draw.number(0, 3, 70), boundary=boundary, path=path(draw))


def bit_table(draw, words):
    return _core.BitTable(
        draw.bits(words), masks(draw, words), radius=draw.number(0, 3), threads=draw.threads()
    )


def bit_query(draw):
    words = draw.random.choice([1, 2, 3])
    bit_table(draw, words).query(draw.array(draw.words64(words)), most=draw.number(0, 1, 3), path=path(draw))


def scan_bits(draw):
    words = draw.random.choice([0, 1, 2, 8])
    query = draw.array(draw.words64(words))
    _core.scan_bits(draw.bits(words), query, most=draw.number(0, 3, 70), path=path(draw))


def bit_pairs(draw):
    words = draw.random.choice([0, 1, 2, 8])
    measure, threshold = draw.word("hamming", "jaccard"), draw.real(0.3, 0.8, 1.0, 3.0, 30.0)
    left, right = draw.bits(words), draw.optional(draw.bits(words))
    _core.bit_pairs(left, right, measure=measure, threshold=threshold, plain=draw.flag(), path=path(draw))


def projections(draw, *kinds):
    width = draw.random.choice([1, 2, 8, 17])
    functions = _core.Projections(
        draw.word(*kinds),
        dimensions=draw.number(width),
        slots=draw.number(1, 8, 17, 60),
        seed=draw.number(0, 1),
        width=draw.real(1.0, 1e-300),
        first=draw.number(0, 0, 8),
    )
    return functions, draw.vectors(width)


LINES, PLANES = ("gaussian", "cauchy"), ("hyperplanes", "signs")


def probe_keys(draw):
    functions, vectors = projections(draw, *LINES, *PLANES)
    count = draw.random.choice([0, 1, 4])
    steps = np.stack([np.arange(count), draw.numbers.integers(-3, 4, count)], axis=1)
    if draw.spoilt():
        steps = draw.numbers.integers(-(2**15), 2**15, (count, draw.random.choice([1, 2, 3])))
    sets = draw.array(steps.astype(np.int16))
    functions.probe_keys(
        vectors, bands=draw.number(1, 2), rows=draw.number(1, 2, 8), sets=sets, path=path(draw)
    )


def keys(draw):
    functions, vectors = projections(draw, *LINES, *PLANES)
    functions.keys(vectors, bands=draw.number(1, 2, 3), rows=draw.number(1, 2, 4), path=path(draw))


def compare_vectors(draw):
    width = draw.random.choice([0, 1, 3, 17])
    pieces, measure = (
        draw.pieces(lambda: draw.vectors(width)),
        draw.word("angle", "cosine", "l2", "l1", "linf"),
    )
    floor = draw.real(-1.0, 0.5)
    _core.compare_vectors(
        pieces, *draw.pairs(), measure, threads=draw.threads(), cosine_at_least=floor, path=path(draw)
    )


def banding(draw):
    return {"bands": draw.number(1, 2, 5), "rows": draw.number(1, 3, 5)}


def running(draw):
    return {"threads": draw.threads(), "path": path(draw)}


CALLS = {
    "paths": lambda d: _core.paths(),
    "Shingler": shingler,
    "Shingler.shingles": lambda d: shingler(d).shingles(d.text(), path=path(d)),
    "Shingler.sets": lambda d: shingler(d).sets(d.texts(), **running(d)),
    "Shingler.flagged_sets": lambda d: shingler(d).flagged_sets(d.texts(), **running(d)),
    "Shingler.document_frequencies": lambda d: shingler(d).document_frequencies(d.texts(), path=path(d)),
    "Shingler.rarest": lambda d: shingler(d).rarest(
        d.texts(), frequencies(d), most=d.number(1, 5), **running(d)
    ),
    "Sieve": sieve,
    "Sieve.texts_that_pass": lambda d: sieve(d).texts_that_pass(d.texts(), shingler(d), path=path(d)),
    "Sieve.sets_that_pass": lambda d: sieve(d).sets_that_pass(d.sets()),
    "mix_integers": lambda d: _core.mix_integers(
        d.array(d.words64(d.length())), seed=d.number(0), threads=d.threads()
    ),
    "hash_strings": lambda d: _core.hash_strings(d.texts(), seed=d.number(0), threads=d.threads()),
    "glances": lambda d: _core.glances(d.texts(), seed=d.number(0)),
    "checksum": lambda d: _core.checksum(d.texts()[0]),
    "canonical_sets": lambda d: _core.canonical_sets(d.sets(), bag=d.flag(), threads=d.threads()),
    "Orders": lambda d: orders(d).coefficients,
    "sign_texts": lambda d: _core.sign_texts(d.texts(), shingler(d), orders(d), **running(d)),
    "sign_sets": lambda d: _core.sign_sets(d.sets(), orders(d), **running(d)),
    "universal_minima": lambda d: _core.universal_minima(d.sets(), orders(d)),
    "key_texts": lambda d: _core.key_texts(d.texts(), shingler(d), orders(d), **banding(d), path=path(d)),
    "key_sets": lambda d: _core.key_sets(d.sets(), orders(d), **banding(d), path=path(d)),
    "band_keys": lambda d: _core.band_keys(d.matrix(30, np.uint32, 4), **banding(d), first=d.number(0, 1)),
    "agreements": lambda d: _core.agreements(d.matrix(7, np.uint32, 4), *d.pairs(), threads=d.threads()),
    "agreement_histogram": lambda d: _core.agreement_histogram(
        d.matrix(d.random.choice([0, 1, 17]), np.uint32, 4), threads=d.threads()
    ),
    "Forest": lambda d: _core.Forest(d.number(0, 5)).labels(),
    "Forest.join": lambda d: _core.Forest(d.number(4, 60)).join(*d.pairs()),
    "Forest.labels": lambda d: _core.Forest(d.number(0, 5)).labels(),
    "Led": led,
    "Led.candidates": led_candidates,
    "Led.rows": lambda d: led(d)[0].rows(),
    "Led.given_up": lambda d: led(d)[0].given_up(),
    "Led.settle": led_candidates,
    "sorted_runs": lambda d: _core.sorted_runs(
        d.pieces(lambda: d.array(d.words64(d.length()))),
        threads=d.threads(),
        least=d.number(0, 1, 2, 3),
        most=d.optional(d.number(1, 5)),
    ),
    "standing_runs": lambda d: _core.standing_runs(
        d.pieces(lambda: d.array(np.sort(d.words64(d.length())))),
        least=d.number(0, 1, 2, 3),
        most=d.optional(d.number(1, 5)),
    ),
    "stars": lambda d: _core.stars(d.array(np.arange(5, dtype=np.uint32)), (d.below(4, 5), d.offsets(4, 5))),
    "pair_up": lambda d: _core.pair_up(*d.buckets(), threads=d.threads()),
    "shared_bands": shared_bands,
    "distinct_pairs": lambda d: _core.distinct_pairs(*d.pairs(), threads=d.threads()),
    "compare_texts": lambda d: _core.compare_texts(
        d.pieces(d.texts), *d.pairs(), shingler(d), at_least=d.real(0.0, 0.5, 1.0), **running(d)
    ),
    "same_texts": lambda d: _core.same_texts(d.pieces(d.texts), *d.pairs()),
    "compare_sets": lambda d: _core.compare_sets(
        d.pieces(d.sets), *d.pairs(), at_least=d.real(0.0, 0.5, 1.0), threads=d.threads()
    ),
    "LeastShared": lambda d: bound(d)(*d.pairs()),
    "bucket_counts": lambda d: _core.bucket_counts(d.sets(), bits=d.number(1, 3, 10)),
    "bucket_ranks": lambda d: _core.bucket_ranks(counts(d)),
    "order_sets": lambda d: _core.order_sets(d.sets(), counts(d)),
    "prefix_counts": prefix_counts,
    "prefix_entries": prefix_entries,
    "prefix_candidates": prefix_candidates,
    "prefix_shared": prefix_shared,
    "grams": lambda d: _core.grams(d.texts(), q=d.number(1, 2, 3, 64)),
    "edit_distances": lambda d: _core.edit_distances(
        d.pieces(d.texts), *d.pairs(), kind=d.word("levenshtein", "indel"), most=d.number(0, 1, 5, 100)
    ),
    "meetings": lambda d: _core.meetings(
        *d.buckets(),
        nearest=d.number(1, 2),
        farthest=d.number(1, 8),
        boundary=d.optional(d.number(0, 5)),
        first=d.number(0, 3),
        last=d.number(0, 5),
    ),
    "agreeing_pairs": agreeing_pairs,
    "pyramid_keys": pyramid_keys,
    "pair_buckets": lambda d: _core.pair_buckets(d.sets(), bits=d.number(1, 5, 12)),
    "basket_pairs": basket_pairs,
    "HeldSets": held_sets,
    "HeldSets.best_for_passing": lambda d: held_best(d, "best_for_passing"),
    "HeldSets.best_for_held": lambda d: held_best(d, "best_for_held"),
    "shared_passages": lambda d: _core.shared_passages(
        d.text(), d.text(), shingler(d), least=d.number(1, 3), gap=d.number(0, 2), path=path(d)
    ),
    "count_tokens": lambda d: _core.count_tokens(d.text(), shingler(d), path=path(d)),
    "sign_weighted": lambda d: _core.sign_weighted(
        d.weighted(), slots=d.number(1, 7, 128), seed=d.number(0), threads=d.threads()
    ),
    "sparse_sides": lambda d: _core.sparse_sides(
        d.weighted(), slots=d.number(1, 7, 128), seed=d.number(0), threads=d.threads()
    ),
    "key_sparse": lambda d: _core.key_sparse(
        d.weighted(), slots=d.number(25, 60), seed=d.number(0), **banding(d)
    ),
    "term_weights": lambda d: _core.term_weights(
        d.texts(), shingler(d), document_frequencies(d), documents=d.number(0, 1000), **running(d)
    ),
    "DocumentFrequencies": document_frequencies,
    "DocumentFrequencies.add": lambda d: document_frequencies(d).add(document_frequencies(d)),
    "DocumentFrequencies.of": lambda d: document_frequencies(d).of(d.array(d.words64(d.length()))),
    "compare_weighted": lambda d: _core.compare_weighted(
        d.pieces(d.weighted), *d.pairs(), measure=d.word("jaccard", "cosine"), threads=d.threads()
    ),
    "BitMasks": lambda d: bit_masks(d, 2),
    "BitMasks.keys": lambda d: bit_masks(d, 2).keys(d.bits(2), d.number(0, 1), d.number(1, 2)),
    "BitMasks.sign": lambda d: bit_masks(d, 2).sign(d.bits(2), threads=d.threads()),
    "BitMasks.covered_pairs": covered_pairs,
    "BitTable": lambda d: bit_table(d, 2),
    "BitTable.query": bit_query,
    "bit_sizes": lambda d: _core.bit_sizes(d.bits(d.random.choice([0, 1, 8])), path=path(d)),
    "compare_bits": lambda d: _core.compare_bits(d.bits(2), *d.pairs(), path=path(d)),
    "scan_bits": scan_bits,
    "bit_pairs": bit_pairs,
    "drawn_positions": lambda d: _core.drawn_positions(d.number(1, 64), d.number(0, 10), seed=d.number(0)),
    "dealt_positions": lambda d: _core.dealt_positions(
        d.number(1, 64), rows=d.number(1, 9, 64), bands=d.number(0, 10), seed=d.number(0)
    ),
    "covering_positions": lambda d: _core.covering_positions(
        d.number(1, 64, 1000), d.number(0, 1, 9), parts=d.number(1, 2, 4), seed=d.number(0)
    ),
    "sample_bits": lambda d: _core.sample_bits(d.bits(2), d.below(d.length(), 128, 2**32)),
    "bucket_pairs": bucket_pairs,
    "Projections": lambda d: projections(d, *LINES, *PLANES),
    "Projections.sides": lambda d: (lambda p: p[0].sides(p[1], **running(d)))(projections(d, *PLANES)),
    "Projections.buckets": lambda d: (lambda p: p[0].buckets(p[1], **running(d)))(projections(d, *LINES)),
    "Projections.keys": keys,
    "Projections.probe_keys": probe_keys,
    "compare_vectors": compare_vectors,
    "vector_contents": lambda d: _core.vector_contents(
        d.vectors(d.random.choice([0, 1, 3])), seed=d.number(0)
    ),
    "crowd_pairs": lambda d: _core.crowd_pairs(
        *d.buckets(), most=d.number(1, 8), boundary=d.optional(d.number(0, 5))
    ),
}


def main(seed, count):
    """Make so many calls of each kernel; returns what ended otherwise than it should, one line each."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    wrong = []
    for name, call in CALLS.items():
        answered = 0
        for number in range(count):
            # Every call can be made again alone.
            draw = Draw(f"{name} {seed} {number}")
            print(name, seed, number, file=sys.stderr)
            try:
                call(draw)
                answered += 1
            except HANDLED as error:
                if (
                    isinstance(error, InternalError)
                    and name not in TOLD_BY_KERNELS
                    and "kernel" in str(error)
                ):
                    wrong.append(f"{name}, call {number}: {error}")
            except BaseException as error:
                # A panic that gets through is none of Python's exceptions.
                wrong.append(f"{name}, call {number}: {type(error).__name__}: {error}")
        if not answered:
            wrong.append(f"{name}: not one of {count} calls returned, so its arguments make no sense")
    return wrong


if __name__ == "__main__":
    found = main(int(sys.argv[1]), int(sys.argv[2]))
    print("\n".join(found))
    sys.exit(bool(found))
