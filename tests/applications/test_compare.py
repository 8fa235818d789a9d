"""Two texts: similarity by definition, the estimate by its law, passages where they are."""

import json
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.applications.compare import compare
from lookalike.applications.planted import truth
from lookalike.errors import OptionError, SourceError

WORDS = st.lists(st.sampled_from(["to", "be", "or", "not", "that", "is"]), max_size=30).map(" ".join)


@given(WORDS, WORDS, st.integers(1, 4))
def test_similarity_and_containment_are_those_of_the_sets_of_shingles(a, b, k):
    found = compare(a, b, shingle=f"words:{k}")
    left, right = truth.shingles(a, k), truth.shingles(b, k)
    assert found.similarity == truth.jaccard(left, right)
    assert found.shingles == (len(left), len(right), len(left & right))
    assert found.a_in_b == (len(left & right) / len(left) if left else 0)
    assert found.b_in_a == (len(left & right) / len(right) if right else 0)


def test_known_answer_of_one_word_changed():
    found = compare("The dog which chased the cat", "The dog that chased the cat", shingle="chars:3-case")
    assert found.similarity == 18 / 30


def test_the_estimate_is_within_its_spread():
    a = " ".join(f"w{number}" for number in range(600))
    b = " ".join(f"w{number}" for number in range(150, 750))
    exact = compare(a, b, shingle="words:1", slots=1024).similarity
    assert exact == 450 / 750
    spread = sqrt(exact * (1 - exact) / 1024)
    estimates = [compare(a, b, shingle="words:1", slots=1024, seed=seed).estimate for seed in range(20)]
    assert max(abs(estimate - exact) for estimate in estimates) < 5 * spread
    assert len(set(estimates)) > 1


def test_a_text_and_itself():
    found = compare("one two three four five six seven eight", "One two three four five six seven eight!")
    assert (found.similarity, found.estimate, found.a_in_b, found.b_in_a) == (1, 1, 1, 1)
    assert (found.coverage.a, found.coverage.b) == (1, 1)


@pytest.mark.parametrize(("a", "b"), [("", ""), ("", "a b c"), (" \n", " \n"), ("a b c", " ")])
def test_nothing_is_like_an_empty_text_not_even_another(a, b):
    found = compare(a, b)
    assert (found.similarity, found.estimate, found.a_in_b, found.b_in_a) == (0, 0, 0, 0)
    assert found.passages == ()
    assert "none" in repr(found)


@pytest.mark.parametrize("shingle", ["words:5", "words:1", "chars:5", "chars:9+punctuation+whitespace"])
@pytest.mark.parametrize("text", ["!!!", "😀 😃", "❤\ufe0f", "---", "to be"])
def test_a_text_is_like_itself_even_if_it_has_no_word(text, shingle):
    found = compare(text, text, shingle=shingle)
    assert (found.similarity, found.estimate, found.a_in_b, found.b_in_a) == (1, 1, 1, 1)
    other = compare(text, "???", shingle=shingle)
    assert (other.similarity, other.estimate) == (0, 0)


def test_bags_count_repeats():
    assert compare("a a b", "a b b", shingle="words:1+bag").similarity == 0.5
    assert compare("a a b", "a b b", shingle="words:1").similarity == 1


@given(WORDS, WORDS, st.integers(1, 5))
def test_pieces_put_together_are_the_texts(a, b, least):
    found = compare(a, b, least=least)
    left, right = found.pieces()
    assert "".join(piece.text for piece in left) == a
    assert "".join(piece.text for piece in right) == b
    numbered = [{piece.passage: piece.text for piece in side if piece.passage} for side in (left, right)]
    assert numbered[0].keys() == numbered[1].keys() == set(range(1, len(found.passages) + 1))
    for number, text in numbered[0].items():
        assert truth.words(text) == truth.words(numbered[1][number])


def test_pieces_of_chosen_passages_only():
    found = compare("a b c d, x, e f g h", "e f g h; y; a b c d", least=4)
    assert len(found.passages) == 2
    left, right = found.pieces(found.passages[1:])
    assert [(piece.text, piece.passage) for piece in left] == [("a b c d, x, ", None), ("e f g h", 1)]
    assert [(piece.text, piece.passage) for piece in right] == [("e f g h", 1), ("; y; a b c d", None)]


def test_it_goes_to_json_and_carries_its_parameters():
    found = compare("a b c d e f", "a b c d e g", shingle="words:2", slots=64, least=3)
    stored = json.loads(json.dumps(found.to_dict()))
    assert stored == found.to_dict()
    assert stored["parameters"] == {"shingle": "words:2", "slots": 64, "least": 3}
    assert stored["passages"][0]["tokens"] == 5


def test_the_repr_quotes_the_first_passages_and_counts_the_rest():
    a = " x ".join(f"n{number} m{number} o{number}" for number in range(13))
    b = " y ".join(f"n{number} m{number} o{number}" for number in range(13))
    lines = repr(compare(a, b, least=3)).splitlines()
    assert lines[4] == "   1  3 words: n0 m0 o0"
    assert lines[-1].strip() == "… 3 more"


def test_one_thing_is_not_called_several():
    said = repr(compare("same", "same", shingle="words:1", least=1, slots=1))
    assert "1 of 1 different shingle (words:1) is in both" in said
    assert "signatures of 1 slot\n" in said
    assert "1 of 1 word or more" in said
    assert "1 word: same" in said
    assert "1 of 1 character or more" in repr(compare("x", "x", shingle="chars:1", least=1))


def test_html_marks_passages_in_both_and_escapes_the_rest():
    html = compare("<b>bold</b> one two three", "one two three & <i>more</i>", least=3)._repr_html_()
    assert html.count("<mark") == 2
    assert "&lt;b&gt;" in html
    assert "<i>" not in html


@pytest.mark.parametrize(("a", "b", "said"), [("a\ud800", "a", "a is"), ("a", "\U0001f600\udc00", "b is")])
def test_half_a_surrogate_pair_is_refused_with_where_it_stands(a, b, said):
    with pytest.raises(SourceError, match=rf"{said} not Unicode text: '\\ud[8c]00' at character 1 is half"):
        compare(a, b)


def test_what_is_no_text_or_no_option_is_refused():
    with pytest.raises(SourceError, match="b is bytes"):
        compare("text", b"text")
    with pytest.raises(OptionError, match="least=0"):
        compare("a", "b", least=0)
    with pytest.raises(OptionError, match="slots=0"):
        compare("a", "b", slots=0)
    for seed in (-1, 2**64, 1.5, "x"):
        with pytest.raises(OptionError, match="seed="):
            compare("a", "b", seed=seed)
    with pytest.raises(OptionError, match="how many documents of a collection"):
        compare("a", "b", shingle="words:1+rare5")
    with pytest.raises(OptionError, match="shingle"):
        compare("a", "b", shingle="pages:1")
