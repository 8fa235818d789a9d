"""Roads from items to verified pairs, all of one call shape.

What they are about:
items         what is joined, texts or sets; vector_items and bitrows: vectors, bits
joined        what every road hands to applications: pairs of representatives, copies, an account
found         what every road between sets finds, by row numbers
account       what a join did, in numbers that add up; flags: what was odd about a row

The main road:
lsh           signatures → bands → candidates → verified pairs
prepare       what comes before: sample, plan, signatures, copies
sample        how alike rows are, whatever their order; glanced: the sample, kept while rows are read
sign          one kernel call a batch; signatures: those of some rows; rare: texts as their rarest words
copies        exact copies, confirmed; classes: what copies have is their representative's
meeting       rows that share a bucket, picked out; only: some rows of a table
leaders       large buckets; outright: those of which all pairs are listed
promise       bands are added where the draw falls short: recall_of_draw measures it, added_bands signs again,
              exact_look compares a few rows exactly
least         the rows with the least hashes, of which samples are made
weighted      weighted sets: the same road with other keys and another check; weighted_exact: without
              loss, by what is rare and heavy (`weighted_prefixes`)
earlier       the same against rows of earlier runs; large_earlier: their large buckets

Roads from set to set, all exact or of signatures:
choice        which road `auto` takes; weighted_choice, range_choice: of weighted sets, of measurements
distinct      copies aside first; elements: items as sets
prefix        by the rarest elements; prefixes: the step it shares with strings;
              bucket_counts: how often keys occur
divide        by counting what is shared; crowded: foretold; left_out: what was left out on request
agree         by agreement of signatures, in blocks (`blocks`); external: by sorting alone
pyramid       by a folded boolean matrix
meetings      who shares a key with whom, how often; expand: representatives → rows
pair_tables   found pairs as tables of the engine

The most similar of every row:
top           by one of two roads; measured: how many it found
nearest       exactly, a block of sets at a time
beside        candidates by the order in each slot; best: the best of every row

Vectors:
near          the main road for vectors; vector_sample: its sample; drawn_lines: what its draw does
products      all with all; blocked: two blocks at a time, for bits too
crowds        large buckets; crowd_sample: what they left out
lookers       several buckets a row
range_search  one query; range_points: of vectors, or of bits
ranges        items with many measurements, by range buckets

Bits and strings:
bits          by the road that is asked for; bitchoice: which one `auto` takes
hamming       buckets of masked bits; bitblocks: every row with every other
bitdraw       what a run by sampled bits knows of its own draw
hammingtable  one query
strings       within a few edits
baskets       pairs of items that are often together
"""

from lookalike.joins.account import Account
from lookalike.joins.flags import ALGORITHM_VERSION, EMPTY, SHORT, UNSPACED
from lookalike.joins.items import Items
from lookalike.joins.joined import Joined
from lookalike.joins.lsh import lsh
from lookalike.joins.rare import by_rarest_words

__all__ = [
    "ALGORITHM_VERSION",
    "EMPTY",
    "SHORT",
    "UNSPACED",
    "Account",
    "Items",
    "Joined",
    "by_rarest_words",
    "lsh",
]
