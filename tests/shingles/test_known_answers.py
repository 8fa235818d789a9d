"""What is known of shingles without a computer (SPEC M1, M2)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.measures.exact import jaccard
from lookalike.shingles import ENGLISH_STOP_WORDS, Shingle, sets_of_texts


def hashes(text, shingle):
    """The shingles of a text, in order, repeats included."""
    return Shingle.parse(shingle).shingler().shingles(text.encode()).tolist()


def window(text, shingle):
    """The hash of a window: that of a text which is this window and no more."""
    (only,) = hashes(text, shingle)
    return only


def test_abcab_is_three_shingles_of_two_and_as_a_bag_ab_counts_twice():
    ab, bc, ca = (window(pair, "chars:2") for pair in ("ab", "bc", "ca"))
    assert hashes("abcab", "chars:2") == [ab, bc, ca, ab]
    assert set(sets_of_texts(["abcab"], "chars:2")[0].tolist()) == {ab, bc, ca}
    assert len(sets_of_texts(["abcab"], "chars:2+bag")[0]) == 4


WHICH, THAT = "The dog which chased the cat", "The dog that chased the cat"


def test_the_dog_loses_exactly_seven_windows():
    lost = Counter(hashes(WHICH, "chars:3-case")) - Counter(hashes(THAT, "chars:3-case"))
    windows = ["g w", " wh", "whi", "hic", "ich", "ch ", "h c"]
    assert lost == Counter(window(text, "chars:3-case") for text in windows)


def test_the_dog_gains_six_windows_as_a_bag_and_five_as_a_set():
    which, that = hashes(WHICH, "chars:3-case"), hashes(THAT, "chars:3-case")
    gained = ["g t", " th", "tha", "hat", "at ", "t c"]
    assert Counter(that) - Counter(which) == Counter(window(text, "chars:3-case") for text in gained)
    # ` th` stands in "chased the" already.
    assert set(that) - set(which) == {window(text, "chars:3-case") for text in gained if text != " th"}


def test_the_dogs_are_alike_in_18_of_30():
    which, that = (set(hashes(text, "chars:3-case")) for text in (WHICH, THAT))
    assert (len(which & that), len(which | that)) == (18, 30)
    assert jaccard(which, that) == 18 / 30


def test_windows_of_one_word_are_word_sets():
    expected = {window(word, "words:1") for word in ("to", "be", "or", "not")}
    assert set(hashes("To be, or not to be.", "words:1")) == expected
    assert len(sets_of_texts(["To be, or not to be."], "words:1")[0]) == 4


distinct_words = st.lists(st.integers(0, 10**6).map(str), min_size=1, max_size=60, unique=True)


@given(distinct_words, st.integers(1, 8), st.data())
def test_changing_a_word_touches_only_windows_within_k_of_it(words, k, data):
    place = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:place], "changed", *words[place + 1 :]]
    before, after = hashes(" ".join(words), f"words:{k}"), hashes(" ".join(changed), f"words:{k}")
    assert len(before) == len(after)
    touched = {i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b}
    assert touched == set(range(max(0, place - k + 1), min(place, len(before) - 1) + 1))


@given(
    st.lists(distinct_words, min_size=3, max_size=3, unique_by=tuple),
    st.integers(1, 8),
)
def test_moving_a_paragraph_touches_only_the_windows_across_its_borders(parts, k):
    first, moved, last = parts
    before = Counter(hashes(" ".join([*first, *moved, *last]), f"words:{k}"))
    after = Counter(hashes(" ".join([*first, *last, *moved]), f"words:{k}"))
    if sum(map(len, parts)) >= k:
        # There are two borders before and two after, and k − 1 windows lie across each.
        assert (before - after).total() <= 2 * (k - 1)
        assert (after - before).total() <= 2 * (k - 1)


SUDZO = Shingle(unit="stopwords", stops=("that", "you", "for", "your"))


def test_buy_sudzo_has_no_stop_word_shingle():
    assert hashes("Buy Sudzo", SUDZO) == []


def test_the_recommendation_of_sudzo_has_three_stop_word_shingles():
    windows = ["that you buy", "you buy sudzo", "for your laundry"]
    text = "I recommend that you buy Sudzo for your laundry"
    assert hashes(text, SUDZO) == [window(words, "words:3") for words in windows]


def test_running_text_holds_more_stop_word_shingles_than_the_page_around_it():
    article = (
        "It was said that the two of them had been there for most of the night, and that no one saw them."
    )
    around = (
        "Home News Sport Weather Subscribe Login Copyright Contact Advertise Shop Careers Newsletter Archive"
    )
    assert len(hashes(article, "stopwords")) >= 15
    assert hashes(around, "stopwords") == []


EVERY_KIND = ["words:5", "words:1", "words:3+bag", "chars:5", "chars:1", "chars:3+punctuation+whitespace"]


@pytest.mark.parametrize("shingle", [*EVERY_KIND, "stopwords"])
@pytest.mark.parametrize("text", ["", " ", "\r\n", " \t\u3000\x85"])
def test_blank_texts_have_no_shingle(text, shingle):
    assert hashes(text, shingle) == []


SYMBOLS = ["!!!", "!?", "…", "😀 😃", "🇩🇪", "❤\ufe0f", "☀\ufe0f", "❤\ufe0f ❤\ufe0f", "***", "---", "\u0301"]


@pytest.mark.parametrize("shingle", ["words:5", "words:1", "words:2-case", "words:3+nfkc", "words:5+bag"])
def test_texts_without_a_word_are_one_shingle_themselves(shingle):
    assert len({window(text, shingle) for text in SYMBOLS}) == len(SYMBOLS)


def test_white_space_case_and_forms_of_symbols_fold_as_those_of_others():
    assert window("! !!", "words:5") == window("!!!", "words:5") == window("\n!!\u3000!\t", "words:5")
    assert window("Ⓐ", "words:5") == window("ⓐ", "words:5") != window("Ⓐ", "words:5-case")
    assert window("︕", "words:5+nfkc") == window("!", "words:5+nfkc")
    assert window("︕", "words:5") != window("!", "words:5")


def test_symbols_are_characters_among_others_unless_they_are_folded_away():
    assert len(hashes("! !!", "chars:1")) == 4
    assert window("! !!", "chars:9") != window("!!!", "chars:9")
    folded = "chars:9+punctuation+whitespace"
    assert window("! !!", folded) == window("!!!", folded) != window("???", folded)


@pytest.mark.parametrize("text", ["Buy Sudzo", "!!!", "😀 😃"])
def test_with_stop_words_only_running_text_has_shingles(text):
    assert hashes(text, "stopwords") == []


def test_texts_shorter_than_k_are_one_shingle_themselves():
    assert len({window(text, "words:5") for text in ("to", "to be", "be to", "to be or not")}) == 4
    assert len({window(text, "chars:9") for text in ("t", "to", "ot", "to be or")}) == 4
    assert window("To  be!", "words:5") == window("to be", "words:5")


def test_english_stop_words_are_plain_words_each_once():
    assert len(set(ENGLISH_STOP_WORDS)) == len(ENGLISH_STOP_WORDS)
    assert all(word.isalpha() and word == word.casefold() for word in ENGLISH_STOP_WORDS)
