"""Who asks for every pair, by recall=1, is told the method that finds it; and that method does."""

import re

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import OptionError

VECTORS = np.random.default_rng(3).normal(size=(40, 3))
SETS = [[at, at + 1, at + 2, 99] for at in range(30)]
SEARCHES = {
    "documents": lambda **how: la.similar_pairs(["a b c d e f", "a b c d e g"], threshold=0.3, **how),
    "sets": lambda **how: la.similar_pairs(SETS, threshold=0.5, **how),
    "kept documents": lambda **how: la.dedup(["a b c d e f", "a b c d e g"], threshold=0.3, **how).pairs,
    "vectors": lambda **how: la.similar_pairs(VECTORS, measure="angle", threshold="20deg", **how),
    "weighted sets": lambda **how: la.similar_pairs(
        [{1: 1.0, 2: 2.0}, {1: 1.0, 2: 1.5}], measure="weighted-jaccard", threshold=0.5, **how
    ),
    "meaning": lambda **how: la.similar_pairs(
        ["a cat sat", "a cat ran", "no dog"], measure="tfidf", threshold=0.1, **how
    ),
    "bits": lambda **how: la.similar_bits(["ff00", "ff01", "00ff"], **how),
    "measurements": lambda **how: la.similar_measurements([[1, 2], [1, 3]], within=1, share=0.5, **how),
}


@pytest.mark.parametrize("search", SEARCHES)
def test_the_method_that_is_named_finds_every_pair(search):
    find = SEARCHES[search]
    with pytest.raises(OptionError, match="recall=1 is more than bands can promise") as raised:
        find(recall=1)
    method = re.search(r"method='(\w+)' finds every pair", str(raised.value))[1]
    found = find(method=method)
    assert len(found)
    account = getattr(found, "account", None)
    assert account is None or account.recall.recall in (None, 1.0)
    # Who takes it already is told that there is nothing to promise.
    with pytest.raises(OptionError, match=f"what method='{method}' has in any case: leave out recall"):
        find(method=method, recall=1)
