"""Every character there is: whether it is of a word, what it folds to, whether it is a space."""

import unicodedata

import numpy as np
import pyarrow as pa
from tests.shingles import oracle

from lookalike import _core
from lookalike.shingles import Shingle, sets_of_texts

#: Wide enough to make each of the texts one shingle, so that equal hashes say equal texts.
WHOLE = Shingle(unit="chars", k=10_000, casefold=False)


def hashes(texts, shingle):
    """The one shingle of each text."""
    sets = sets_of_texts(pa.array(texts, pa.large_string()), shingle)
    assert np.array_equal(sets.offsets, np.arange(len(texts) + 1))
    return sets.elements


def assert_same_texts(texts, shingle, expected):
    differ = hashes(texts, shingle) != hashes(expected, WHOLE)
    assert not differ.any(), [texts[i] for i in np.flatnonzero(differ)[:10]]


def test_words_are_made_of_letters_marks_and_decimal_digits():
    sets = sets_of_texts(pa.array([f"x{c}y" for c in oracle.KNOWN], pa.large_string()), "words:1-case")
    one_word = np.diff(sets.offsets) == 1
    expected = np.array([oracle.is_of_a_word(c) for c in oracle.KNOWN])
    assert not (one_word != expected).any(), [
        oracle.KNOWN[i] for i in np.flatnonzero(one_word != expected)[:10]
    ]


def test_words_fold_as_python_folds_them():
    words = [c for c in oracle.KNOWN if oracle.is_of_a_word(c)]
    folded = hashes([word.casefold() for word in words], "words:1-case")
    differ = hashes(words, "words:1") != folded
    assert not differ.any(), [words[i] for i in np.flatnonzero(differ)[:10]]


def test_characters_fold_as_python_folds_them():
    texts = [f"Ab{c}C" for c in oracle.KNOWN]
    assert_same_texts(texts, Shingle(unit="chars", k=10_000), [text.casefold() for text in texts])


def test_compatibility_forms_are_pythons():
    # Between letters, and before a mark that may join with what comes before it.
    texts = [f"e{c}\u0301b" for c in oracle.KNOWN]
    nfkc = Shingle(unit="chars", k=10_000, casefold=False, nfkc=True)
    assert_same_texts(texts, nfkc, [unicodedata.normalize("NFKC", text) for text in texts])


def test_white_space_and_punctuation_fold_to_one_space():
    for whitespace, punctuation in [(True, True), (True, False), (False, True)]:
        both = whitespace and punctuation
        # Letters, most of all characters, are tried once.
        characters = [c for c in oracle.KNOWN if both or not oracle.is_of_a_word(c)]
        texts = [f"a{c} {c}b" for c in characters]
        shingle = Shingle(
            unit="chars", k=10_000, casefold=False, whitespace=whitespace, punctuation=punctuation
        )
        assert_same_texts(texts, shingle, [oracle.characters(text, shingle) for text in texts])


def test_text_written_without_spaces_is_flagged():
    orders = _core.Orders("bucketed", slots=8, seed=0)
    unspaced = [
        "漢字仮名交じり文",
        "ภาษาไทยไม่มีวรรค",
        "ພາສາລາວ",
        "ភាសាខ្មែរ",
        "မြန်မာဘာသာ",
        "བོད་སྐད་",
        "カタカナ",
        "漢字仮名 and",
    ]
    spaced = [
        "plain text",
        "Привет, мир",
        "हिन्दी के शब्द",
        "שלום עולם",
        "한국어 문장",
        "",
        "a 漢 in a long line of English",
        "😀😀",
    ]
    texts = [text.encode() for text in unspaced + spaced]
    ragged = np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])
    flags = _core.sign_texts(ragged, Shingle().shingler(), orders, threads=1)[3]
    assert ((flags & _core.FLAG_UNSPACED) > 0).tolist() == [True] * len(unspaced) + [False] * len(spaced)
