"""Exact similarity, of one pair or of a batch of candidates, and what two texts share.

candidates   candidates → verified pairs: the one place where a similarity is decided
overlap      similarity from three counts; bounds: what a threshold asks of sizes
weighted     the same for weighted sets
sets         sets of whatever holds them; weights: weighted sets; tokens: as files write them
kinds        which tokens two collections can have in common, and which would meet by mistake
vectors      vectors of whatever holds them, and how far apart they are
bits         bits of whatever holds them, and how alike they are
closeness    rows of measurements, by how many are close
passages     what two texts share; occurrences: what a large collection has of a small one
exact        one pair of sets at a time, to learn from; distances: of vectors; edits: of strings
"""
