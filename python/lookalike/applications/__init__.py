"""Jobs people have, composed of stages and joins; no loops over rows.

documents/           near-duplicates, similar pairs, appending
sets/ vectors/       similar pairs of sets and vectors, from files and frames
top/                 the most similar of every item
strings, bits        strings within a few edits, hashes within a few bits
measurements         items close in most measurements; measurement_tables: from files
baskets              what is bought together
decontaminate/       test items in training data
compare, grouping    two texts; clusters of pairs that are there already
demo, planted/       a demonstration, and the corpora with a known answer behind it
pair_rows            pairs by row numbers → pairs by user ids
batching             how large the batches are in which collections are read
chosen               which road was taken, and what others would have cost, in words
too_large            rows that memory is too small for
"""
