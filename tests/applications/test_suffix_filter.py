"""The suffix filter by name (SPEC M13): another way to the same pairs."""

import random

import pytest

import lookalike as la
from lookalike.errors import OptionError


def some_sets(seed, count=300, size=12, universe=60):
    draw = random.Random(seed)
    sets = [draw.sample(range(universe), size) for _ in range(count)]
    for row in range(0, count, 3):
        changed = draw.randrange(1, 6)
        sets[row] = sets[(row + 1) % count][changed:] + draw.sample(range(100, 200), changed)
    return sets


@pytest.mark.parametrize("measure", ["jaccard", "containment", "cosine", "overlap"])
@pytest.mark.parametrize("level", [0.3, 0.6, 0.8])
def test_the_suffix_filter_finds_what_prefixes_alone_find(measure, level):
    sets = some_sets(seed=5)
    asked = {"measure": measure, "method": "prefix", "threshold": 9 if measure == "overlap" else level}
    plain = la.similar_pairs(sets, **asked)
    filtered = la.similar_pairs(sets, **asked, suffix_filter=True)
    assert len(plain) > 0
    assert filtered.to_arrow() == plain.to_arrow()
    assert filtered.account.recall.recall == 1


def test_documents_are_deduplicated_alike(tmp_path):
    docs = [" ".join(f"w{word}" for word in row) for row in some_sets(seed=8)]
    asked = {"method": "prefix", "threshold": 0.5, "shingle": "words:2"}
    plain, filtered = (la.dedup(docs, **asked, suffix_filter=chosen) for chosen in (False, True))
    assert filtered.clusters.to_arrow() == plain.clusters.to_arrow()
    assert filtered.kept == plain.kept
    assert len(plain.kept) < len(docs)


@pytest.mark.parametrize("method", ["auto", "lsh", "divide", "pyramid"])
def test_other_methods_have_no_suffix_filter(method):
    with pytest.raises(OptionError, match="suffix_filter=True goes with method='prefix'"):
        la.similar_pairs([[1], [1]], method=method, suffix_filter=True)
    with pytest.raises(OptionError, match="is neither True nor False"):
        la.similar_pairs([[1], [1]], method="prefix", suffix_filter="yes")
