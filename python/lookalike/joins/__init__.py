"""Roads from sets to verified pairs, all of one call shape."""

from lookalike.joins.account import Account
from lookalike.joins.flags import ALGORITHM_VERSION, EMPTY, SHORT, UNSPACED
from lookalike.joins.items import Items
from lookalike.joins.lsh import Joined, lsh
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
