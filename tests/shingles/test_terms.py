"""Documents that hold a term, and weights by them, against counts of plain Python."""

import math
import random
from collections import Counter
from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core
from lookalike.measures.weighted import weighted_buffers
from lookalike.shingles import Shingle
from lookalike.shingles.rare import CountDocuments
from lookalike.shingles.terms import MOST_TERMS, CountTerms, TermWeights, add_counts

WORD = Shingle.parse("words:1")
SHINGLER = WORD.shingler(0)


def batch(texts, first=0):
    return pa.record_batch(
        {"row": range(first, first + len(texts)), "text": pa.array(texts, pa.large_string())}
    )


def hashes(words):
    return np.array([SHINGLER.shingles(word.encode())[0] for word in words], np.uint64)


def wide(count, seed=0):
    """Documents with words of their own, and common ones."""
    draw = random.Random(seed)
    words = [f"w{int(10 ** (8 * draw.random()))}" for _ in range(count * 20)]
    return [" ".join(words[i * 20 : i * 20 + draw.randint(0, 20)]) for i in range(count)]


def holding(texts):
    return Counter(word for text in texts for word in set(text.split()))


def counted(texts, parts, most):
    values = [CountTerms(WORD, 0, most)(batch(texts[part::parts])) for part in range(parts)]
    return reduce(add_counts, values)


@pytest.mark.parametrize("parts", [1, 2, 7, 100])
def test_documents_of_every_term_are_counted_exactly(parts):
    texts = wide(20_000)
    expected = holding(texts)
    # So many that thousands would share one of 2²⁰ counters with another.
    assert len(expected) > 100_000
    frequencies = counted(texts, parts, MOST_TERMS)
    assert frequencies.exact
    assert frequencies.of(hashes(expected)).tolist() == list(expected.values())
    assert frequencies.of(hashes(["nowhere"])).tolist() == [0]


@given(
    st.lists(st.lists(st.sampled_from("abcdefghijk")).map(" ".join), min_size=1),
    st.integers(1, 5),
    st.integers(0, 12),
)
def test_whether_counters_are_shared_depends_on_the_number_of_terms_alone(texts, parts, most):
    expected = holding(texts)
    frequencies = counted(texts, parts, most)
    assert frequencies.exact == (len(expected) <= most)
    if frequencies.exact:
        assert frequencies.of(hashes(expected)).tolist() == list(expected.values())
    else:
        # Those of rare words, which are counted without a thought of how many there are.
        table = CountDocuments(WORD, 0)(batch(texts))
        assert frequencies.nbytes == table.nbytes
        of_shared = CountTerms(WORD, 0, 0)(batch(texts)).of(hashes(expected))
        assert frequencies.of(hashes(expected)).tolist() == of_shared.tolist()
        assert set(of_shared.tolist()) <= set(table.tolist())


def test_what_is_added_is_taken_over():
    one, other = (CountTerms(WORD, 0)(batch([text])) for text in ("a b", "b c"))
    one.add(other)
    one.add(one)
    words = hashes("abc")
    assert (one.of(words).tolist(), other.of(words).tolist()) == ([1, 2, 1], [0, 0, 0])


@pytest.mark.parametrize("path", _core.paths())
def test_weights_are_those_of_exact_counts(path):
    texts = wide(5000, seed=1)
    expected = holding(texts)
    stage = TermWeights(WORD, 0, counted(texts, 3, MOST_TERMS), len(texts))
    elements, offsets, weights = weighted_buffers(stage(batch(texts)))
    again = _core.DocumentFrequencies(
        (np.frombuffer("".join(texts).encode(), np.uint8), np.cumsum([0, *map(len, texts)])),
        SHINGLER,
        most=MOST_TERMS,
        path=path,
    )
    assert again.of(elements).tolist() == stage.frequencies.of(elements).tolist()
    for row in range(0, len(texts), 7):
        tf = Counter(texts[row].split())
        own = {
            int(term): n * math.log(1 + len(texts) / expected[word])
            for term, (word, n) in zip(hashes(tf), tf.items(), strict=True)
        }
        of = slice(offsets[row], offsets[row + 1])
        assert elements[of].tolist() == sorted(own)
        assert weights[of].tolist() == pytest.approx([own[x] for x in sorted(own)], rel=1e-14)
