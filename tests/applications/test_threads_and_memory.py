"""Every search in Python takes threads and memory, and finds the same with any of them."""

import random

import pytest

import lookalike as la
from lookalike.errors import OptionError

_DRAW = random.Random(5)
WORDS = ["".join(_DRAW.choices("abcde", k=_DRAW.randint(3, 8))) for _ in range(400)]
SEARCHES = {
    "dedup": lambda **how: list(la.dedup(WORDS, shingle="chars:2", threshold=0.5, **how).clusters),
    "similar_pairs": lambda **how: list(la.similar_pairs([list(word) for word in WORDS], **how)),
    "top": lambda **how: list(la.top([list(word) for word in WORDS], k=2, **how).neighbours),
    "decontaminate": lambda **how: la.decontaminate(WORDS[:20], WORDS[10:], **how).clean,
    "similar_bits": lambda **how: list(la.similar_bits([f"{hash_of(word):016x}" for word in WORDS], **how)),
    "similar_strings": lambda **how: list(la.similar_strings(WORDS, distance=1, **how)),
    "similar_measurements": lambda **how: list(
        la.similar_measurements(MEASURED, within=0.2, share=0.6, **how)
    ),
    "frequent_pairs": lambda **how: list(la.frequent_pairs([list(word) for word in WORDS], support=5, **how)),
}
MEASURED = [[_DRAW.random() for _ in range(4)] for _ in range(300)]


def hash_of(word):
    return sum(ord(letter) << 8 * at for at, letter in enumerate(word[:8]))


@pytest.mark.parametrize("search", SEARCHES)
def test_threads_and_memory_change_nothing(search):
    find = SEARCHES[search]
    found = find()
    assert found
    assert find(threads=1) == find(threads=3, memory="20MB") == find(memory=20_000_000) == found


@pytest.mark.parametrize("search", SEARCHES)
def test_what_is_no_memory_or_comes_with_an_engine_is_refused(search):
    with pytest.raises(OptionError, match="memory"):
        SEARCHES[search](memory="a lot")
    with pytest.raises(OptionError, match=r"memory=20000000 goes to the engine"):
        SEARCHES[search](memory=20_000_000, engine=la.LocalEngine(1))
