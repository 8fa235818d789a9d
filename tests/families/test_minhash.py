"""What every MinHash signature obeys, whatever its orders."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import _core
from lookalike.errors import OptionError, SourceError
from lookalike.families import MinHash
from lookalike.measures.sets import as_sets
from lookalike.shingles import Shingle, sets_of_texts
from lookalike.theory import Cascade, Sensitivity

FAMILIES = ["bucketed", "khash", "universal"]
PATHS = _core.paths()
over_every_family = pytest.mark.parametrize("family", FAMILIES)

tokens = st.integers(0, 2**64 - 1) | st.integers(0, 50)
token_lists = st.lists(tokens, max_size=120)
slot_counts = st.sampled_from([1, 2, 3, 16, 17, 100, 128, 130])


def sign(family, *rows, slots=64, seed=0, threads=1, path=None):
    """Signatures of rows of elements as they are: not premixed, not sorted, repeats and all."""
    elements = np.array([x for row in rows for x in row], np.uint64)
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    orders = _core.Orders(family, slots=slots, seed=seed)
    return _core.sign_sets((elements, offsets), orders, threads=threads, path=path)


@over_every_family
@given(data=st.data(), row=token_lists, slots=slot_counts)
def test_order_and_repeats_do_not_matter(family, data, row, slots):
    again = data.draw(
        st.permutations(row + data.draw(st.lists(st.sampled_from(row), max_size=9)) if row else [])
    )
    slots_of, content, _, _ = sign(family, row, again, slots=slots)
    assert slots_of[0].tolist() == slots_of[1].tolist()
    assert content[0] == content[1]


@pytest.mark.parametrize("family", ["bucketed", "khash"])
@given(one=token_lists, other=token_lists, slots=slot_counts)
def test_the_signature_of_a_union_is_the_slot_wise_minimum(family, one, other, slots):
    a, b, union = sign(family, one, other, one + other, slots=slots)[0]
    assert np.array_equal(np.minimum(a, b), union)


@pytest.mark.parametrize("family", ["bucketed", "khash"])
def test_large_sets_merge_as_small_ones_do(family):
    # More than one piece of 4,096 elements: slots filled late, and pieces that meet.
    elements = np.random.default_rng(0).integers(0, 2**64, 10_001, dtype=np.uint64)
    whole = sign(family, elements, slots=128)[0][0]
    for cuts in [(1, 9_000), (4_095, 4_097), (5_000, 5_000), (0, 10_001)]:
        parts = sign(family, *np.split(elements, cuts), slots=128)[0]
        assert np.array_equal(parts.min(axis=0), whole)


@over_every_family
@given(rows=st.lists(token_lists, max_size=40), slots=slot_counts, seed=st.integers(0, 2**64 - 1))
@settings(max_examples=60)
def test_signatures_are_the_same_on_every_path_and_for_any_number_of_threads(family, rows, slots, seed):
    expected = [array.tobytes() for array in sign(family, *rows, slots=slots, seed=seed, path="scalar")]
    for path in PATHS:
        for threads in (1, 2):
            signed = sign(family, *rows, slots=slots, seed=seed, threads=threads, path=path)
            assert [array.tobytes() for array in signed] == expected


@over_every_family
@pytest.mark.parametrize("size", [1, 31, 32, 33, 4_095, 4_096, 4_097, 9_000])
def test_sets_around_the_width_of_a_piece_are_the_same_on_every_path(family, size):
    row = np.random.default_rng(size).integers(0, 2**64, size, dtype=np.uint64)
    signed = [sign(family, row, slots=128, path=path)[0].tobytes() for path in PATHS]
    assert len(set(signed)) == 1


@over_every_family
@given(row=st.lists(tokens, min_size=1, max_size=60))
def test_bytes_of_a_set_depend_on_the_set_alone(family, row):
    alone = sign(family, row)
    among = sign(family, [1, 2, 3], row, [], row)
    for mine, rows in zip(alone, among, strict=True):
        assert mine[0].tolist() == rows[1].tolist() == rows[3].tolist()


@over_every_family
def test_an_empty_set_is_flagged_and_agrees_only_with_empty_sets(family):
    slots_of, _, _, flags = sign(family, [], [5], [], range(1000))
    assert (flags & _core.FLAG_EMPTY).tolist() == [_core.FLAG_EMPTY, 0, _core.FLAG_EMPTY, 0]
    assert np.array_equal(slots_of[0], slots_of[2])
    assert not (slots_of[0] == slots_of[1]).any()
    assert not (slots_of[0] == slots_of[3]).any()


@over_every_family
@given(
    texts=st.lists(st.text("ab c.é漢", max_size=400), max_size=12),
    form=st.sampled_from(["words:2", "chars:3", "words:1+bag"]),
)
@settings(max_examples=60)
def test_texts_are_signed_as_their_sets_are(family, texts, form):
    minhash, shingle = MinHash(slots=32, orders=family, seed=9), Shingle.parse(form)
    of_texts = minhash.signatures_of_texts(pa.array(texts, pa.string()), shingle.shingler(9))
    of_sets = minhash.signatures(sets_of_texts(texts, form, seed=9))
    assert np.array_equal(of_texts.slots, of_sets.slots)
    assert np.array_equal(of_texts.content, of_sets.content)
    assert np.array_equal(of_texts.flags & _core.FLAG_EMPTY, of_sets.flags & _core.FLAG_EMPTY)


@over_every_family
def test_the_sets_of_a_long_text_are_signed_as_the_text_is(family):
    text = " ".join(str(i * i % 10_007) for i in range(15_000))
    minhash = MinHash(orders=family)
    of_text = minhash.signatures_of_texts(pa.array([text]), Shingle(k=3).shingler())
    assert np.array_equal(of_text.slots, minhash.signatures(sets_of_texts([text], "words:3")).slots)


def test_the_digest_of_a_bag_tells_texts_of_one_set_apart():
    shingler = Shingle(k=1).shingler()
    signed = MinHash().signatures_of_texts(pa.array(["a b", "b a", "a b a", "a b b"]), shingler)
    assert len(set(signed.content.tolist())) == 1
    assert signed.bag[0] == signed.bag[1]
    assert len(set(signed.bag.tolist())) == 3


def test_texts_shorter_than_k_are_flagged():
    signed = MinHash().signatures_of_texts(pa.array(["", "a b", "a b c"]), Shingle(k=3).shingler())
    assert signed.flags.tolist() == [_core.FLAG_EMPTY, _core.FLAG_SHORT, 0]


@over_every_family
def test_seeds_draw_different_orders(family):
    signed = [MinHash(seed=seed, orders=family).signatures([range(500)]).slots[0] for seed in range(20)]
    agreeing = [np.mean(signed[i] == signed[j]) for i in range(20) for j in range(i)]
    assert max(agreeing) < 0.05


@pytest.mark.parametrize("family", ["bucketed", "khash"])
def test_a_short_signature_begins_a_long_one_unless_it_has_buckets(family):
    # A k-hash slot depends on its number and the seed; a bucket also on how many there are.
    few, many = (MinHash(slots=slots, orders=family).signatures([range(100)]).slots[0] for slots in (16, 128))
    assert np.array_equal(few, many[:16]) == (family == "khash")


# Where sets come from.


def test_signatures_take_whatever_holds_sets():
    rows = [[1, 2, 3], [2, 3, 4], []]
    expected = MinHash().signatures(rows)
    for items in (map(set, rows), pa.array(rows), as_sets(rows), [np.array(row, np.int32) for row in rows]):
        assert np.array_equal(MinHash().signatures(items).slots, expected.slots)
    with pytest.raises(SourceError, match="null"):
        MinHash().signatures([[1, None]])


def test_similarity_is_the_fraction_of_agreeing_slots():
    signed = MinHash(slots=256).signatures([range(60), range(20, 80)])
    agreeing = _core.agreements(signed.slots, np.array([0], np.uint32), np.array([1], np.uint32), threads=1)
    assert signed.similarity(0, 1) == agreeing[0] / 256 == np.mean(signed.slots[0] == signed.slots[1])
    assert signed.similarity(0, 0) == 1


def test_collision_is_one_minus_the_distance():
    assert [MinHash().collision(distance) for distance in (0, 0.25, 1)] == [1, 0.75, 0]
    with pytest.raises(OptionError, match="is not a Jaccard distance"):
        MinHash().collision(1.5)


# Options.


@given(st.integers(1, 65_536), st.integers(0, 2**64 - 1), st.sampled_from(FAMILIES))
def test_options_survive_json(slots, seed, family):
    minhash = MinHash(slots=slots, seed=seed, orders=family)
    assert MinHash(**json.loads(json.dumps(minhash.to_dict()))) == minhash


@pytest.mark.parametrize(
    "wrong",
    [
        {"slots": 0},
        {"slots": 65_537},
        {"slots": 12.5},
        {"slots": True},
        {"seed": -1},
        {"seed": 2**64},
        {"seed": None},
    ],
)
def test_options_out_of_range_are_refused(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(OptionError, match=f"{name}={value!r} is out of range"):
        MinHash(**wrong)


def test_unknown_orders_are_refused_with_those_there_are():
    with pytest.raises(OptionError, match="choose bucketed, khash or universal"):
        MinHash(orders="simhash")
    with pytest.raises(OptionError, match="threads=0"):
        MinHash().signatures([[1]], threads=0)


def test_the_family_says_what_ands_and_ors_make_of_it():
    family = MinHash()
    assert family.collision(0.25) == 0.75
    assert family.sensitivity(0.2, 0.8) == Sensitivity(0.2, 0.8, family.collision(0.2), family.collision(0.8))
    cascade = family.and_(5).or_(20)
    assert isinstance(cascade, Cascade)
    assert cascade.functions == 100
    assert f"{1 - cascade.probability(0.2):.6f}" == "0.000356"
    assert cascade.fixed_point() == pytest.approx(cascade.probability(cascade.fixed_distance()))
    with pytest.raises(OptionError, match=r"1\.5 is not a Jaccard distance: they lie from 0 to 1"):
        family.collision(1.5)
