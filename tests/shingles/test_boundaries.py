"""Texts are read in blocks of 64 bytes and handed on in pieces: nobody may notice."""

import random
from functools import cache

import pytest
from tests.shingles import oracle
from tests.shingles.kernel import assert_cut_like_the_oracle, hashes

from lookalike import _core
from lookalike.shingles import Shingle

PATHS = _core.paths()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("character", ["a", "é", "漢", "𐐀", "\u0301", "-", "—", "😀"])
def test_a_character_at_every_offset_of_a_block(character, path):
    # A window is what it is, wherever it lies: shingles know nothing of offsets.
    for unit, k in [("words", 2), ("chars", 3)]:
        shingle = Shingle(unit=unit, k=k)
        for fill in (" ", "x"):
            for before in [*range(130), 4094, 4095, 4096, 4097]:
                text = fill * before + character + "yz w" + fill * 70
                windows = oracle.shingles(text, shingle)
                seen = hashes(text, shingle, path)
                assert len(seen) == len(windows)
                around = slice(max(0, before - 3), before + 5) if unit == "chars" else slice(None)
                assert [hash_of(window, shingle) for window in windows[around]] == seen[around]


@cache
def hash_of(window, shingle):
    """The hash of a window by itself, or behind a letter, since a blank text has none."""
    if isinstance(window, str) and window.isspace():
        return hashes("x" + window, shingle, "scalar")[-1]
    (only,) = hashes(window if isinstance(window, str) else " ".join(window), shingle, "scalar")
    return only


@pytest.mark.parametrize("path", PATHS)
def test_words_of_every_length_have_one_hash_wherever_they_stand(path):
    words = Shingle(unit="words", k=1)
    for length in [*range(1, 140), 4095, 4096, 4097, 10_000]:
        for letter in ("w", "é", "字"):
            word = letter * length
            alone = hashes(word, words, path)
            assert len(alone) == 1
            for before in (1, 7, 31, 63 - length % 64, 64, 65):
                assert hashes(" " * before + word + "." + word, words, path) == alone * 2
    # And words that differ in one letter anywhere differ.
    long = "q" * 300
    variants = {long[:i] + "r" + long[i + 1 :] for i in range(300)} | {long[:i] for i in range(1, 300)}
    assert len(set(hashes(" ".join(variants), words, path))) == len(variants)


ALPHABETS = {
    "ascii": ["lorem", "ipsum", "dolor", "Sit", "AMET", "x" * 70, "42", ",", "\r\n", "  ", "\0"],
    "mixed": [
        "lorem",
        "naïve",
        "Straße",
        "हिन्दी",
        "漢字",
        "Привет",
        "𐐀𐐨",
        "😀",
        "—",
        "\u3000",
        " ",
        "e\u0301",
    ],
}


def long_text(alphabet, length, seed):
    """Random words and separators: most windows differ, some recur."""
    draw = random.Random(seed)
    pieces = []
    while length > 0:
        pieces.append(draw.choice(ALPHABETS[alphabet]) + draw.choice(["", " ", str(draw.randrange(50))]))
        length -= len(pieces[-1].encode())
    return "".join(pieces)


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize(
    "form", ["words:5", "words:12-case", "chars:5", "chars:9-case", "chars:20+nfkc+whitespace", "stopwords"]
)
def test_texts_of_many_pieces_are_cut_like_the_oracle(form, alphabet):
    shingle = (
        Shingle(unit="stopwords", stops=("lorem", "Straße")) if form == "stopwords" else Shingle.parse(form)
    )
    for length in (4095, 4096, 4097, 8192, 50_000):
        assert_cut_like_the_oracle(shingle, long_text(alphabet, length, seed=length))


@pytest.mark.parametrize(
    ("form", "alphabet"),
    [("words:5", "mixed"), ("words:9", "ascii"), ("chars:7", "ascii"), ("chars:6", "mixed")],
)
def test_texts_over_a_megabyte_are_cut_like_the_oracle(form, alphabet):
    text = long_text(alphabet, 1_100_000, seed=1)
    assert len(text.encode()) > 1_000_000
    assert_cut_like_the_oracle(Shingle.parse(form), text)


def test_one_word_of_a_megabyte_is_one_word():
    text = "ab" * 600_000
    assert len(hashes(text, Shingle(k=1))) == 1
    assert hashes(text, Shingle(k=1)) != hashes(text + "a", Shingle(k=1))
    assert len(hashes("字" * 400_000, Shingle(k=1))) == 1
