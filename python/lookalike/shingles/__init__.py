"""Things → sets: how a document is cut into shingles.

spec    what a person writes: `words:5`, `chars:9`, `stopwords`
sets    texts → sets; rare: of their rarest words
terms   texts → weighted terms
"""

from lookalike.shingles.rare import CountDocuments, RarestWords, add_frequencies, no_frequencies
from lookalike.shingles.sets import sets_of_texts
from lookalike.shingles.spec import ENGLISH_STOP_WORDS, Shingle

__all__ = [
    "ENGLISH_STOP_WORDS",
    "CountDocuments",
    "RarestWords",
    "Shingle",
    "add_frequencies",
    "no_frequencies",
    "sets_of_texts",
]
