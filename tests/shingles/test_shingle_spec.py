"""The words a user types for a shingle, and texts that cannot be shingled."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError, SourceError
from lookalike.shingles import ENGLISH_STOP_WORDS, Shingle, sets_of_texts

words = st.text(st.characters(categories=("L", "M", "Nd")), min_size=1)
shingles = (
    st.builds(
        Shingle,
        unit=st.sampled_from(["words", "chars"]),
        k=st.integers(1, 10_000),
        casefold=st.booleans(),
        nfkc=st.booleans(),
        whitespace=st.booleans(),
        punctuation=st.booleans(),
        bag=st.booleans(),
    )
    | st.builds(
        Shingle, k=st.just(1), rare=st.integers(1, 10_000), casefold=st.booleans(), nfkc=st.booleans()
    )
    | st.builds(
        Shingle,
        unit=st.just("stopwords"),
        stops=st.none() | st.lists(words, min_size=1).map(tuple),
        bag=st.booleans(),
    )
)


@given(shingles)
def test_shingles_survive_json(shingle):
    assert Shingle.from_dict(json.loads(json.dumps(shingle.to_dict()))) == shingle


@given(shingles.filter(lambda shingle: shingle.stops in (None, ENGLISH_STOP_WORDS)))
def test_the_short_form_says_it_all(shingle):
    assert Shingle.parse(str(shingle)) == shingle
    assert repr(shingle) == f"Shingle('{shingle}')"


def test_options_are_written_in_one_order():
    assert str(Shingle(k=1, rare=20, casefold=False, nfkc=True)) == "words:1+rare20+nfkc-case"


@pytest.mark.parametrize(
    ("form", "shingle"),
    [
        ("words", Shingle()),
        ("words:5", Shingle(unit="words", k=5)),
        (" chars:9 ", Shingle(unit="chars", k=9)),
        ("chars:5+whitespace-case", Shingle(unit="chars", k=5, whitespace=True, casefold=False)),
        ("words:1+bag+nfkc", Shingle(k=1, bag=True, nfkc=True)),
        ("words:2+nfkc-nfkc", Shingle(k=2)),
        ("words:1+rare20", Shingle(k=1, rare=20)),
        ("words:1-case+rare5", Shingle(k=1, rare=5, casefold=False)),
        ("words:1+rare20+rare5", Shingle(k=1, rare=5)),
        ("words:1+rare20-rare+bag", Shingle(k=1, bag=True)),
        ("stopwords", Shingle(unit="stopwords", stops=ENGLISH_STOP_WORDS)),
        ("stopwords-case", Shingle(unit="stopwords", casefold=False)),
    ],
)
def test_short_forms_are_read(form, shingle):
    assert Shingle.parse(form) == shingle
    assert Shingle.parse(shingle) is shingle


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("lines:3", "write words:5, chars:9 or stopwords"),
        ("words:", "is not understood"),
        ("words:-1", "is not understood"),
        ("words:5 +bag", "is not understood"),
        ("words:٣", "is not understood"),
        ("Words:5", "is not understood"),
        ("", "is not understood"),
        (None, "is not understood"),
        ("chars", "say how many characters"),
        ("stopwords:3", "always hold three words"),
        ("words:0", "shingle words:0 is out of range"),
        ("words:10001", "shingle words:10001 is out of range"),
        ("words:5+loud", "'loud' is unknown: choose among case, nfkc, whitespace, punctuation, bag, rare20"),
        ("words:5+bag3", "'bag' takes no number: write +bag"),
        ("words:" + "9" * 5000, "is not understood"),
        ("words:1+rare", "say how many words, such as +rare20"),
        ("words:1-rare20", "say how many words, such as +rare20"),
        ("words:1+rare0", "+rare0 is out of range"),
        ("words:1+rare10001", "+rare10001 is out of range"),
        ("words+rare20", "+rare20 picks single words: write words:1+rare20"),
        ("chars:9+rare20", "write words:1+rare20"),
        ("stopwords+rare20", "write words:1+rare20"),
        ("words:1+rare20+bag", "takes each word once and +bag counts repeats"),
    ],
)
def test_other_forms_are_refused_with_what_to_write(form, said):
    with pytest.raises(OptionError) as refused:
        Shingle.parse(form)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"unit": "lines"}, "'lines' is unknown"),
        ({"k": 2.5}, "k=2.5 is out of range"),
        ({"k": True}, "k=True is out of range"),
        ({"k": "5"}, "k='5' is out of range"),
        ({"k": 1, "rare": True}, "rare=True is out of range"),
        ({"k": 1, "rare": 2.5}, "rare=2.5 is out of range"),
        ({"stops": ("the",)}, "stops go with unit='stopwords'"),
        ({"unit": "stopwords", "stops": "the"}, "is one string, not a list of words"),
        ({"unit": "stopwords", "stops": ()}, "leaves nothing to begin a shingle with"),
    ],
)
def test_wrong_parameters_are_refused(wrong, said):
    with pytest.raises(OptionError) as refused:
        Shingle(**wrong)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "wrong", ["in the", " in", "in ", "don't", "", "...", "a\0", "\ud800", "①", 3, None, b"the"]
)
def test_a_stop_word_that_no_text_could_hold_is_refused(wrong):
    with pytest.raises(OptionError, match=r"is not a single word, so no shingle .*: give words one by one"):
        Shingle(unit="stopwords", stops=("of", wrong))


@given(words, st.booleans())
def test_a_stop_word_that_is_taken_is_found(word, casefold):
    shingle = Shingle(unit="stopwords", stops=(word,), casefold=casefold)
    assert len(sets_of_texts([f"one, {word}! two three"], shingle)[0]) >= 1


def test_a_stop_word_is_what_it_is_after_normalising():
    Shingle(unit="stopwords", stops=("①",), nfkc=True)
    with pytest.raises(OptionError, match="not a single word"):
        Shingle(unit="stopwords", stops=("a¨b",), nfkc=True)


def test_stop_words_take_the_same_folding_as_the_text():
    def count(text, **options):
        return len(sets_of_texts([text], Shingle(unit="stopwords", **options))[0])

    assert count("THE long road", stops=("the",)) == count("the long road", stops=("THE",)) == 1
    assert count("THE long road", stops=("the",), casefold=False) == 0
    assert count("STRASSE in Berlin", stops=("Straße",)) == 1
    assert (
        count("ﬁn de siècle", stops=("fin",), nfkc=True)
        == count("fin de siècle", stops=("ﬁn",), nfkc=True)
        == 1
    )
    assert count("ｔｈｅ long road", stops=("the",)) == 0


# Texts.


def test_texts_come_as_lists_and_as_arrow_strings():
    texts = ["to be or not to be", "", "è vero", "x"]
    expected = sets_of_texts(texts, "words:2")
    for given_texts in [
        tuple(texts),
        pa.array(texts),
        pa.array(texts, pa.large_string()),
        pa.chunked_array([texts[:1], texts[1:]]),
        pa.array(["before", *texts, "after"]).slice(1, 4),
    ]:
        sets = sets_of_texts(given_texts, "words:2")
        assert sets.elements.tolist() == expected.elements.tolist()
        assert sets.offsets.tolist() == expected.offsets.tolist()


@pytest.mark.parametrize(
    "nothing", [[], pa.array([], pa.string()), pa.array(["a"]).slice(1), pa.chunked_array([], pa.string())]
)
def test_no_texts_are_no_sets(nothing):
    assert len(sets_of_texts(nothing)) == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("a text", "is one text, not a list of them"),
        (["a", None], "a text is null"),
        (pa.array(["a", None]), "a text is null"),
        ([1, 2], "texts must be strings"),
        (pa.array([1, 2]), "texts must be strings, not int64"),
        ([b"\xff"], "texts must be strings"),
        (pa.array([b"a"]), "texts must be strings, not binary"),
        (["\ud800"], "texts must be strings"),
    ],
)
def test_what_is_no_text_is_refused(wrong, said):
    with pytest.raises(SourceError, match=said):
        sets_of_texts(wrong)
