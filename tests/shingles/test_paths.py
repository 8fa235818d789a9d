"""Every instruction path and any number of threads give the same bits, on text and on what is no text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.shingles.kernel import ragged
from tests.shingles.texts import FEW, texts

from lookalike import _core
from lookalike.shingles import Shingle

PATHS = _core.paths()
SHINGLES = [
    Shingle.parse(form)
    for form in [
        *(f"words:{k}" for k in (1, 2, 5, 8, 9, 13)),
        *(f"chars:{k}-case" for k in (1, 4, 5, 8, 9, 16, 17, 30)),
        "words:3-case+nfkc",
        "words:2+bag",
        "chars:5",
        "chars:5+bag",
        "chars:6+nfkc",
        "chars:4+whitespace+punctuation",
        "chars:4+punctuation-case",
        "stopwords",
    ]
]
any_shingle = st.sampled_from(SHINGLES)

#: Bytes that are hardly ever UTF-8: anything, cut characters, and continuation bytes without a beginning.
fragments = st.sampled_from(
    [*(c.encode() for c in FEW), b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\x80" * 5]
)
wild_bytes = (
    st.binary(max_size=300)
    | st.lists(fragments.flatmap(lambda b: st.sampled_from([b, b[:1], b[:-1], b[1:]])), max_size=120).map(
        b"".join
    )
    | st.builds(
        lambda head, fill, tail: b" " * head + fill * 40 + tail, st.integers(0, 70), fragments, fragments
    )
)


def everything(text, shingle, orders, path):
    """All that can be asked of one text on one path, as bytes."""
    shingler = shingle.shingler()
    row = np.frombuffer(text, np.uint8), np.array([0, len(text)])
    arrays = [
        shingler.shingles(text, path=path),
        *shingler.sets(row, threads=1, path=path),
        *_core.sign_texts(row, shingler, orders, threads=1, path=path),
    ]
    return [array.tobytes() for array in arrays]


ORDERS = [_core.Orders(family, slots=16, seed=0) for family in ("bucketed", "khash", "universal")]
any_orders = st.sampled_from(ORDERS)


@settings(max_examples=150)
@given(texts.map(str.encode), any_shingle, any_orders)
def test_texts_are_the_same_on_every_path(text, shingle, orders):
    expected = everything(text, shingle, orders, "scalar")
    for path in [*PATHS, None]:
        assert everything(text, shingle, orders, path) == expected


@settings(max_examples=200)
@given(wild_bytes, any_shingle, any_orders)
def test_bytes_that_are_no_text_crash_nothing_and_are_the_same_on_every_path(text, shingle, orders):
    expected = everything(text, shingle, orders, "scalar")
    for path in [*PATHS, None]:
        assert everything(text, shingle, orders, path) == expected


@pytest.mark.parametrize("shingle", SHINGLES, ids=str)
def test_long_bytes_are_the_same_on_every_path(shingle):
    draw = np.random.default_rng(0)
    plain = draw.choice(np.frombuffer(b"abcABC019 ,.\n", np.uint8), 20_000).tobytes()
    mixed = draw.choice(np.frombuffer("aß Ж漢😀-ſ".encode(), np.uint8), 20_000).tobytes()
    for text in (plain, mixed, draw.integers(0, 256, 20_000, np.uint8).tobytes()):
        expected = everything(text, shingle, ORDERS[0], "scalar")
        for path in PATHS:
            assert everything(text, shingle, ORDERS[0], path) == expected


@settings(max_examples=50)
@given(st.lists(texts, max_size=200), any_shingle, any_orders)
def test_batches_are_the_same_for_one_thread_and_two(some_texts, shingle, orders):
    rows, shingler = ragged(*some_texts), shingle.shingler()
    one, two = (shingler.sets(rows, threads=threads) for threads in (1, 2))
    assert [array.tobytes() for array in one] == [array.tobytes() for array in two]
    one, two = (_core.sign_texts(rows, shingler, orders, threads=threads) for threads in (1, 2))
    assert [array.tobytes() for array in one] == [array.tobytes() for array in two]


@settings(max_examples=50)
@given(st.lists(texts, min_size=1, max_size=60), any_shingle)
def test_a_text_in_a_batch_is_what_it_is_alone(some_texts, shingle):
    shingler = shingle.shingler()
    slots = _core.sign_texts(ragged(*some_texts), shingler, ORDERS[0], threads=2)[0]
    elements, offsets = shingler.sets(ragged(*some_texts), threads=2)
    for i, text in enumerate(some_texts):
        assert (
            slots[i].tolist() == _core.sign_texts(ragged(text), shingler, ORDERS[0], threads=1)[0][0].tolist()
        )
        assert elements[offsets[i] : offsets[i + 1]].tolist() == sorted(
            set(shingler.shingles(text.encode()).tolist())
        )
