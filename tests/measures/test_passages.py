"""Shared passages against the definition, written out slowly."""

import random
import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core
from lookalike.errors import OptionError
from lookalike.measures.passages import Passage, coverage, shared_passages


def shingler(unit="words", **options):
    plain = {"casefold": True, "nfkc": False, "whitespace": False, "punctuation": False}
    return _core.Shingler(unit, 5, **{**plain, "bag": False, "stops": [], "seed": 0, **options})


WORDS, CHARS = shingler(), shingler("chars")


def texts_of(passages, a, b):
    return [(a[p.a_start : p.a_end], b[p.b_start : p.b_end]) for p in passages]


def tokens_of(text, unit):
    """Tokens with their places; enough of a tokeniser for the letters used here."""
    found = re.finditer(r"\w+" if unit == "words" else r"(?s:.)", text)
    return [(match.group().casefold(), match.start(), match.end()) for match in found]


def tiled_by_brute_force(a, b, unit, least):
    """Look everywhere for the longest shared run of free tokens, take it, look again."""
    left, right = tokens_of(a, unit), tokens_of(b, unit)
    taken_left, taken_right = [False] * len(left), [False] * len(right)

    def run(i, j):
        length = 0
        while (
            i + length < len(left)
            and j + length < len(right)
            and left[i + length][0] == right[j + length][0]
            and not taken_left[i + length]
            and not taken_right[j + length]
        ):
            length += 1
        return length

    passages = []
    while True:
        runs = [(-run(i, j), i, j) for i in range(len(left)) for j in range(len(right))]
        length, i, j = min(runs, default=(0, 0, 0))
        length = -length
        if length < least:
            return sorted(passages, key=lambda passage: passage.a_start)
        taken_left[i : i + length] = taken_right[j : j + length] = [True] * length
        ends = (left[i][1], left[i + length - 1][2], right[j][1], right[j + length - 1][2])
        passages.append(Passage(*ends, tokens=length, changed=0))


def spaced_texts():
    words = st.sampled_from(["a", "B", "é", "ここ", "हिन्दी", "e\u0301", "𐐀x"])
    between = st.sampled_from([" ", "\r\n", " 🦀 ", "—", "\t\u00a0"])
    return st.lists(st.tuples(words, between), max_size=16).map(lambda parts: "".join(map("".join, parts)))


def fold_marks(text):
    # Python's \w leaves marks out, which are part of words here.
    return text.replace("हिन्दी", "ह").replace("e\u0301", "ë")


@given(spaced_texts().map(fold_marks), spaced_texts().map(fold_marks), st.integers(1, 4))
def test_passages_of_words_are_those_of_brute_force(a, b, least):
    expected = tiled_by_brute_force(a, b, "words", least)
    assert shared_passages(a, b, shingler=WORDS, least=least) == expected


@given(
    st.text("abAé漢🦀\u0301\r\n ", max_size=16),
    st.text("abAé漢🦀\u0301\r\n ", max_size=16),
    st.integers(1, 4),
)
def test_passages_of_characters_are_those_of_brute_force(a, b, least):
    expected = tiled_by_brute_force(a, b, "chars", least)
    assert shared_passages(a, b, shingler=CHARS, least=least) == expected


@given(spaced_texts(), spaced_texts(), st.integers(1, 3), st.integers(0, 3))
def test_passages_never_overlap_and_gaps_only_join_them(a, b, least, gap):
    passages = shared_passages(a, b, shingler=WORDS, least=least, gap=gap)
    exact = shared_passages(a, b, shingler=WORDS, least=least)
    assert sum(p.tokens for p in passages) == sum(p.tokens for p in exact)
    assert all(p.changed == 0 for p in exact)
    for start, end in (("a_start", "a_end"), ("b_start", "b_end")):
        ranges = sorted((getattr(p, start), getattr(p, end)) for p in passages)
        assert all(before[1] <= after[0] for before, after in pairwise(ranges))
        for piece in exact:
            around = [r for r in ranges if r[0] <= getattr(piece, start) and getattr(piece, end) <= r[1]]
            assert len(around) == 1
    for passage in passages:
        words = re.findall(r"[^\W_]+", fold_marks(a[passage.a_start : passage.a_end]))
        assert passage.tokens <= len(words) <= passage.tokens + passage.changed


@pytest.mark.parametrize("path", _core.paths())
def test_every_instruction_path_finds_the_same(path):
    a, b = (f"Größe und Maß 漢字 — number {i} of them, " * 20 for i in (1, 2))
    expected = _core.shared_passages(a.encode(), b.encode(), WORDS, least=4, gap=1)
    found = _core.shared_passages(a.encode(), b.encode(), WORDS, least=4, gap=1, path=path)
    assert len(found) > 0
    assert found.tolist() == expected.tolist()


def test_a_quotation_in_english_is_shown_as_it_stands_in_each_text():
    a = (
        "It was the best of times, it was the worst of times, it was the age of wisdom, "
        "it was the age of foolishness. There were a king with a large jaw and a queen with a plain face."
    )
    b = (
        "Dickens begins: “There were a king with a large jaw, and a queen with a fair face”, some say; "
        "others, IT WAS THE BEST OF TIMES;\r\nit was the worst of times …"
    )
    passages = shared_passages(a, b, shingler=WORDS, least=6)
    assert passages == [
        Passage(a_start=0, a_end=51, b_start=102, b_end=154, tokens=12, changed=0),
        Passage(a_start=110, a_end=163, b_start=17, b_end=71, tokens=13, changed=0),
    ]
    assert texts_of(passages, a, b) == [
        (
            "It was the best of times, it was the worst of times",
            "IT WAS THE BEST OF TIMES;\r\nit was the worst of times",
        ),
        (
            "There were a king with a large jaw and a queen with a",
            "There were a king with a large jaw, and a queen with a",
        ),
    ]


def test_small_edits_join_passages_when_asked():
    a = "the cat sat on the mat and then it slept all day long in the sun"
    b = "the cat sat on the red mat and then it slept all night long in the sun"
    (whole,) = shared_passages(a, b, shingler=WORDS, least=4, gap=1)
    assert (whole.tokens, whole.changed) == (15, 2)
    assert texts_of([whole], a, b) == [(a, b)]
    exact = shared_passages(a, b, shingler=WORDS, least=4)
    assert [p.tokens for p in exact] == [5, 6, 4]


def test_planted_passages_are_found_wherever_they_were_moved():
    draw = random.Random(5)
    fresh = iter(f"w{i}" for i in draw.sample(range(1_000_000), 20_000))
    planted = [" ".join(next(fresh) for _ in range(draw.randint(8, 60))) for _ in range(50)]
    noise = lambda: " ".join(next(fresh) for _ in range(draw.randint(1, 30)))  # noqa: E731
    shuffled = draw.sample(planted, len(planted))
    a = "\n\n".join(f"{noise()}. {passage}!" for passage in planted)
    b = "\n\n".join(f"{noise()}… {passage.upper()}?" for passage in shuffled)
    passages = shared_passages(a, b, shingler=WORDS)
    assert texts_of(passages, a, b) == [(passage, passage.upper()) for passage in planted]
    shares = coverage(passages, a, b, shingler=WORDS)
    count = sum(len(passage.split()) for passage in planted)
    assert shares == pytest.approx((count / len(a.split()), count / len(b.split())))


@pytest.mark.parametrize(
    ("spec", "text", "tokens"),
    [
        (WORDS, "One text, the same — twice over; the same, the same.", 10),
        (CHARS, "我们今天去公园散步。", 10),
        (shingler("stopwords", stops=["the"]), "a stop word spec aligns its words too", 8),
    ],
)
def test_identical_texts_are_one_passage(spec, text, tokens):
    (passage,) = shared_passages(text, text, shingler=spec, least=7)
    assert passage.tokens == tokens
    assert passage.a_end == passage.b_end == len(text.rstrip(".")) == passage.a_end - passage.a_start
    assert coverage([passage], text, text, shingler=spec) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("", ""),
        ("", "one two three"),
        ("—!?", "—!?"),
        ("one two three", "three two one"),
        ("one two", "one two"),
    ],
)
def test_nothing_shared_is_an_empty_list(a, b):
    assert shared_passages(a, b, shingler=WORDS, least=3) == []
    assert coverage([], a, b, shingler=WORDS) == (0.0, 0.0)


def test_folded_white_space_and_punctuation_are_shown_as_written():
    spec = shingler("chars", whitespace=True, punctuation=True)
    a, b = "»Hello,   WORLD\r\nagain«", "say: hello world… again and again"
    passages = shared_passages(a, b, shingler=spec, least=10)
    assert texts_of(passages, a, b) == [("Hello,   WORLD\r\nagain", "hello world… again")]
    assert passages[0].tokens == len("hello world again")


def test_folding_keeps_words_together_and_characters_apart():
    a, b = "Große Straße", "GROSSE STRASSE"
    assert texts_of(shared_passages(a, b, shingler=WORDS, least=2), a, b) == [(a, b)]
    assert texts_of(shared_passages(a, b, shingler=CHARS, least=3), a, b) == [
        ("Gro", "GRO"),
        ("e Stra", "E STRA"),
    ]
    assert shared_passages(a, b, shingler=shingler(casefold=False), least=1) == []


def test_positions_are_of_the_text_as_it_is_even_under_nfkc():
    a, b = "ｆｕｌｌ width ½ marks here", "full width 1⁄2 marks here"
    passages = shared_passages(a, b, shingler=shingler(nfkc=True), least=1)
    assert texts_of(passages, a, b) == [("width", "width"), ("marks here", "marks here")]


def test_halves_of_surrogate_pairs_are_code_points_like_any_other():
    a, b = "x\ud800y é one two", "\udfff\ud800y é ONE two"
    assert texts_of(shared_passages(a, b, shingler=CHARS, least=3), a, b) == [(a[1:], b[1:])]


@pytest.mark.parametrize(
    ("a", "b", "tokens"),
    [
        ("a " * 500_000, "a " * 500_000, [500_000]),
        ("a " * 250_000, "a " * 500_000, [250_000]),
        ("a b " * 125_000, "a b " * 125_000 + "c " + "b a " * 100_000, [250_000]),
    ],
)
def test_a_megabyte_of_one_word_is_quick(a, b, tokens):
    started = time.perf_counter()
    passages = shared_passages(a, b, shingler=WORDS)
    # Looking at every two places would take hours; a busy machine takes a fraction of a second.
    assert time.perf_counter() - started < 10
    assert [p.tokens for p in passages] == tokens


@pytest.mark.parametrize("option", [{"least": 0}, {"least": 2.5}, {"least": True}, {"gap": -1}, {"gap": "1"}])
def test_options_out_of_range_are_refused_by_name(option):
    (name,) = option
    with pytest.raises(OptionError, match=f"{name}=.* a whole number of tokens"):
        shared_passages("a", "b", shingler=WORDS, **option)


def test_more_tokens_than_any_text_has_are_never_found():
    assert shared_passages("a b", "a b", shingler=WORDS, least=10**30, gap=10**30) == []
