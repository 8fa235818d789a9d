"""Important words: of every document those that the fewest documents hold."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.shingles.kernel import ragged
from tests.shingles.rarest import WORD, counter, element, rarest, words_of

from lookalike import _core
from lookalike.errors import InternalError, OptionError
from lookalike.shingles import (
    CountDocuments,
    RarestWords,
    Shingle,
    add_frequencies,
    no_frequencies,
    sets_of_texts,
)

RARE = Shingle(k=1, rare=3)
SHINGLER = WORD.shingler()


def chosen(docs, most, seed=0):
    return [set(row.tolist()) for row in sets_of_texts(docs, f"words:1+rare{most}", seed=seed)]


def elements(sets):
    return [{element(word) for word in words} for words in sets]


VOCABULARY = [
    "a",
    "B",
    "to",
    "be",
    "or",
    "not",
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "naïve",
    "Straße",
    "हिन्दी",
    "x1",
    "x2",
]
any_docs = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=15).map(" ".join), max_size=12)


def test_the_words_of_these_tests_share_no_counter():
    """So that the definition need not know of counters."""
    words = {word.casefold() for word in VOCABULARY}
    assert len({counter(word) for word in words}) == len(words)


def test_known_answer():
    docs = ["the cat sat on the mat", "the dog sat", "the cat", "on the road, on THE mat"]
    # the: 4, cat sat on mat: 2, dog road: 1
    assert chosen(docs, 1)[1:] == elements([{"dog"}, {"cat"}, {"road"}])
    assert chosen(docs, 2)[1:3] == elements([{"dog", "sat"}, {"cat", "the"}])
    assert chosen(docs, 4)[0] == elements([{"cat", "sat", "on", "mat"}])[0]


@given(any_docs, st.integers(1, 16))
def test_the_rarest_are_those_of_the_definition(docs, most):
    assert chosen(docs, most) == elements(rarest(docs, most, counted_as=str))


@given(any_docs, st.integers(0, 2**64 - 1))
def test_with_room_for_all_words_it_is_all_words(docs, seed):
    assert chosen(docs, 100, seed) == [set(row.tolist()) for row in sets_of_texts(docs, "words:1", seed=seed)]


@pytest.mark.parametrize(
    "docs",
    [
        [""],
        ["", "...", ""],
        ["all the same here"] * 20,
        [f"x{row} y{row} z{row}" for row in range(50)],
        [" ".join(f"w{n}" for n in range(3000)), "w1 w2", "w2 w3 w4 w5"],
        [" ".join(f"w{n}" for n in range(1, 60) if row % n == 0) for row in range(60)],
    ],
    ids=["empty", "no words", "all equal", "disjoint", "one giant", "power law"],
)
@pytest.mark.parametrize("most", [1, 3, 1000])
def test_odd_collections(docs, most):
    assert chosen(docs, most) == elements(rarest(docs, most))
    assert [len(row) for row in chosen(docs, most)] == [min(most, len(words_of(text))) for text in docs]


@given(any_docs, st.data())
def test_neither_batches_nor_order_matter(docs, data):
    whole = sorted(zip(docs, map(sorted, chosen(docs, 3)), strict=True))
    order = data.draw(st.permutations(docs))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(docs)), max_size=3)))
    batches = [
        pa.record_batch(
            {"row": pa.array(range(stop - start)), "text": pa.array(order[start:stop], pa.string())}
        )
        for start, stop in zip([0, *cuts], [*cuts, len(docs)], strict=True)
    ]
    frequencies = no_frequencies()
    for batch in batches:
        frequencies = add_frequencies(frequencies, CountDocuments(RARE, 0)(batch))
    picked = [
        (text, sorted(words))
        for batch in batches
        for text, words in zip(
            batch["text"].to_pylist(),
            RarestWords(RARE, 0, frequencies)(batch)["elements"].to_pylist(),
            strict=True,
        )
    ]
    assert sorted(picked) == whole


@settings(max_examples=50)
@given(st.lists(st.text(max_size=30), max_size=80), st.integers(1, 5))
def test_paths_and_threads_give_the_same_bits(docs, most):
    rows = ragged(*docs)
    counted = [SHINGLER.document_frequencies(rows, path=path).tobytes() for path in _core.paths()]
    assert len(set(counted)) == 1
    frequencies = SHINGLER.document_frequencies(rows)
    picked = {
        tuple(
            array.tobytes()
            for array in SHINGLER.rarest(rows, frequencies, most=most, threads=threads, path=path)
        )
        for path in _core.paths()
        for threads in (1, 2)
    }
    assert len(picked) == 1


def test_a_document_counts_a_word_once_and_words_that_share_a_counter_together():
    first, second = next(shared for shared in _sharing() if len(shared) == 2)
    docs = [f"{first} {first}", first.upper(), f"{second} {first}", "apart"]
    frequencies = SHINGLER.document_frequencies(ragged(*docs))
    assert (frequencies[counter(first)], frequencies[counter("apart")], frequencies.sum()) == (4, 1, 5)
    # Never rarer than they are: what is in fewer documents may come behind, never before its time.
    assert chosen([*docs, f"{second} apart", "apart"], 1)[-2] == elements([{"apart"}])[0]


def _sharing():
    """Words by the counter they share."""
    words = {}
    for number in range(5000):
        words.setdefault(counter(f"w{number}"), []).append(f"w{number}")
    return words.values()


def test_a_full_counter_stays_full():
    full = no_frequencies()
    full[7], full[8] = 2**32 - 2, 2**32 - 1
    more = no_frequencies()
    more[7:10] = 3
    assert add_frequencies(full, more)[6:11].tolist() == [0, 2**32 - 1, 2**32 - 1, 3, 0]
    assert full[7] == 2**32 - 2


def test_flags_are_those_of_the_text():
    batch = pa.record_batch({"row": pa.array([5, 3, 4]), "text": pa.array(["", "漢字仮名交じり文", "plain"])})
    made = RarestWords(RARE, 0, no_frequencies())(batch)
    assert made["row"].to_pylist() == [5, 3, 4]
    assert made["flags"].to_pylist() == [_core.FLAG_EMPTY, _core.FLAG_UNSPACED, 0]


def test_what_cannot_be_picked_from_is_refused():
    with pytest.raises(OptionError, match=f"there are 3 frequencies, not {2**20}"):
        SHINGLER.rarest(ragged("a"), np.zeros(3, np.uint32), most=1, threads=1)
    with pytest.raises(OptionError, match=r"hold a word, which only searches .* count: use words:1"):
        RARE.shingler()
    with pytest.raises(InternalError, match="does not say how many"):
        RarestWords(WORD, 0, no_frequencies())(pa.record_batch({"row": [0], "text": ["a"]}))
