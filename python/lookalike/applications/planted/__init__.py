"""Corpora with planted edited copies, for which the right answer is known.

    draws       random integers, the same everywhere
    vocabulary  pronounceable words with natural frequencies
    prose       documents as tokens; tokens as text
    edits       what a copy may differ by
    planting    options → corpus
    truth       what is truly similar, by brute force in plain Python

The demonstration plants a corpus and says what it found of it; benchmarks and statistical tests measure
recall and precision on one.

planting     options → corpus; corpus: what it holds
vocabulary   words; prose: texts of them
edits        how copies differ from their source
truth        which pairs are similar, counted in plain Python
draws        random numbers that are the same everywhere
"""

from .corpus import ORIGINAL, UNRELATED, PlantedCorpus, PlantOptions
from .edits import EDITS
from .planting import plant

__all__ = ["EDITS", "ORIGINAL", "UNRELATED", "PlantOptions", "PlantedCorpus", "plant"]
