"""Pairs of bits: every road finds what brute force finds, or what it promised."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _core
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError
from lookalike.families import Covering, DealtBits
from lookalike.joins import bitblocks, bitdraw, hamming
from lookalike.joins.bitchoice import BitSample, choose_road
from lookalike.joins.bitrows import BitItems
from lookalike.joins.bits import join_bits
from lookalike.joins.hamming import covering_join
from lookalike.measures.bits import as_bits
from lookalike.runs.watch import Watch

EXACT = ("exact", "pieces", "covering")


def brute(table, measure, threshold, boundary=None):
    """By the definition, from rows of 0 and 1."""
    table = table.astype(np.float64)
    # Exact: small whole numbers in floats, which are multiplied much faster.
    both = (table @ table.T).astype(np.int64)
    sizes = table.sum(axis=1).astype(np.int64)
    either = sizes[:, None] + sizes[None] - both
    if measure == "hamming":
        value, reached = either - both, either - both <= threshold
    else:
        value = np.divide(both, either, out=np.zeros(both.shape), where=either > 0)
        reached = value >= threshold
    a, b = np.nonzero(np.triu(reached, 1))
    if boundary is not None:
        across = (a < boundary) & (b >= boundary)
        a, b = a[across], b[across]
    return {(int(x), int(y)): float(value[x, y]) for x, y in zip(a, b, strict=True)}


def items_of(table, engine, boundary=None):
    bits = as_bits(np.packbits(table, axis=1), width=table.shape[1])
    return (
        BitItems.of(engine, bits)
        if boundary is None
        else BitItems.of(engine, bits[:boundary], bits[boundary:])
    )


def all_pairs(joined, boundary=None):
    """Near pairs of representatives, spread over their copies."""
    rows = np.arange(len(joined.representative))
    copies = {
        int(row): rows[joined.representative == row].tolist() for row in np.unique(joined.representative)
    }
    found = {}
    for a, b, value in zip(joined.a.tolist(), joined.b.tolist(), joined.similarity.tolist(), strict=True):
        assert a < b
        for x in copies[a]:
            for y in copies[b]:
                assert (min(x, y), max(x, y)) not in found
                found[min(x, y), max(x, y)] = value
    own = 1.0 if joined.own is None else 0.0
    for members in copies.values() if boundary is None else ():
        found.update({(x, y): own for x in members for y in members if x < y})
    return found


def joined(table, measure, threshold, *, engine=None, boundary=None, **options):
    engine = engine or LocalEngine(1)
    return join_bits(
        items_of(table, engine, boundary),
        measure=measure,
        threshold=threshold,
        engine=engine,
        watch=Watch(),
        **options,
    )


def clustered(rng, rows, width, flips, centres=6, density=0.5):
    table = (rng.random((centres, width)) < density)[rng.integers(0, centres, rows)]
    for row in table:
        row[rng.permutation(width)[: rng.integers(0, flips + 1)]] ^= True
    return table.astype(np.uint8)


@given(
    st.integers(1, 90),
    st.integers(0, 60),
    st.integers(0, 2**32),
    st.sampled_from([0.02, 0.3, 0.5]),
    st.data(),
)
@settings(max_examples=60)
def test_every_road_finds_exactly_what_brute_force_finds(width, rows, seed, density, data):
    rng = np.random.default_rng(seed)
    table = clustered(rng, rows, width, min(width, 6), density=density)
    boundary = data.draw(st.none() | st.integers(0, rows))
    radius = data.draw(st.integers(0, width))
    truth = brute(table, "hamming", radius, boundary)
    for method in EXACT if radius < width else ("exact", "auto"):
        assert (
            all_pairs(joined(table, "hamming", radius, method=method, boundary=boundary), boundary) == truth
        )
    threshold = data.draw(st.sampled_from([0.1, 0.5, 2 / 3, 0.8, 1.0]))
    found = joined(table, "jaccard", threshold, boundary=boundary)
    assert all_pairs(found, boundary) == brute(table, "jaccard", threshold, boundary)


@given(
    st.sampled_from([8, 24, 64, 65, 200, 256, 1024, 2048]),
    st.integers(0, 2**32),
    st.sampled_from([0, 1, 2, 3, 5, 8, 13, 40, 200]),
    st.booleans(),
)
@settings(max_examples=25)
def test_pairs_at_the_very_radius_and_one_beyond_it_are_told_apart(width, seed, radius, across):
    """Rows with others at distances around the radius, some of them flipped in neighbouring bits only."""
    rng = np.random.default_rng(seed)
    radius = min(radius, width - 1)
    originals = rng.random((8, width)) < rng.choice([0.5, 0.1, 0.9])
    rows = [*originals]
    for original in originals:
        for distance in (radius, radius + 1, max(0, radius - 1)):
            start = rng.integers(0, width - distance + 1) if distance < width else 0
            places = np.arange(start, min(width, start + distance))
            flipped = original.copy()
            flipped[places if rng.random() < 0.5 else rng.permutation(width)[:distance]] ^= True
            rows.append(flipped)
    table = np.array(rows)[rng.permutation(len(rows))].astype(np.uint8)
    boundary = 11 if across else None
    truth = brute(table, "hamming", radius, boundary)
    for method in (*EXACT, "auto"):
        found = joined(table, "hamming", radius, method=method, boundary=boundary, seed=seed)
        assert all_pairs(found, boundary) == truth, method
        assert found.account.recall.recall == 1 or found.account.method == "lsh"


def adversarial(width=64):
    rng = np.random.default_rng(8)
    flat = np.zeros((150, width), np.uint8)
    yield "all zero", flat
    yield "all one", flat + 1
    yield "all equal", np.tile(rng.integers(0, 2, width, dtype=np.uint8), (150, 1))
    giant = (rng.random((150, width)) < 0.05).astype(np.uint8)
    giant[17] = 1
    yield "one with all bits", giant
    last = np.zeros((4096, width), np.uint8)
    last[:, -12:] = np.unpackbits(np.arange(4096).astype(">u2").view(np.uint8).reshape(-1, 2), axis=1)[:, 4:]
    yield "alike but for twelve bits", last[rng.permutation(4096)[:400]]
    yield "in two halves", np.vstack([clustered(rng, 200, width, 2, centres=1), 1 - flat[:100]])
    yield "one after the other", np.tri(width, width, dtype=np.uint8)
    yield "none", flat[:0]
    yield "one", flat[:1]


ADVERSARIAL = dict(adversarial())


@pytest.mark.parametrize("name", ADVERSARIAL)
@pytest.mark.parametrize("split", [False, True])
def test_adversarial_collections_are_joined_exactly(monkeypatch, name, split):
    table = ADVERSARIAL[name]
    monkeypatch.setattr(hamming, "WHOLE", 50)
    monkeypatch.setattr(bitblocks, "BLOCK_ROWS", 64)
    boundary = len(table) // 3 if split else None
    for radius in (0, 3, 10):
        truth = brute(table, "hamming", radius, boundary)
        for method in (*EXACT, "auto"):
            found = joined(table, "hamming", radius, method=method, boundary=boundary)
            assert all_pairs(found, boundary) == truth, (method, radius)
            assert found.account.recall.recall == 1
    for threshold in (0.3, 0.8, 1.0):
        truth = brute(table, "jaccard", threshold, boundary)
        assert all_pairs(joined(table, "jaccard", threshold, boundary=boundary), boundary) == truth


@pytest.mark.parametrize(("measure", "threshold"), [("hamming", 5), ("jaccard", 0.75)])
def test_the_answer_does_not_depend_on_threads_batches_memory_or_order(monkeypatch, measure, threshold):
    monkeypatch.setattr(bitblocks, "BLOCK_ROWS", 100)
    rng = np.random.default_rng(4)
    table = clustered(rng, 1500, 130, 9, centres=40)
    truth = brute(table, measure, threshold)
    assert len(truth) > 1000
    engines = [LocalEngine(1), LocalEngine(2, batch_rows=300), LocalEngine(1, memory=16_000_000)]
    for engine in engines:
        for method in EXACT if measure == "hamming" else ("exact",):
            assert all_pairs(joined(table, measure, threshold, method=method, engine=engine)) == truth
    order = rng.permutation(1500)
    again = all_pairs(joined(table[order], measure, threshold))
    assert {tuple(sorted((order[a], order[b]))): value for (a, b), value in again.items()} == truth


@pytest.mark.parametrize("seed", [0, 1, 99])
@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_neither_the_order_of_bits_nor_the_parts_of_a_cover_change_anything(seed, parts):
    table = clustered(np.random.default_rng(2), 800, 64, 6)
    engine, cover = LocalEngine(1), Covering(64, 3, parts=parts, seed=seed)
    found = covering_join(items_of(table, engine), cover=cover, engine=engine, watch=Watch())
    pairs = dict(zip(zip(found.a.tolist(), found.b.tolist(), strict=True), found.apart.tolist(), strict=True))
    assert pairs == brute(table, "hamming", 3)


@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99])
def test_sampled_bits_keep_the_promised_recall(recall):
    """Of pairs exactly at the radius, which are the hardest; over many pairs that share no row."""
    rng = np.random.default_rng(int(100 * recall))
    width, radius, pairs = 128, 20, 1500
    table = rng.integers(0, 2, (2 * pairs, width), dtype=np.uint8)
    table[1::2] = table[::2]
    for row in table[1::2]:
        row[rng.permutation(width)[:radius]] ^= 1
    found = joined(table, "hamming", radius, method="lsh", recall=recall, engine=LocalEngine(2))
    share = len(found.a) / pairs
    truth = brute(table, "hamming", radius)
    assert set(zip(found.a.tolist(), found.b.tolist(), strict=True)) <= set(truth)
    # All pairs hang on the same few positions, so the share found wavers more than that of independent draws.
    assert share >= recall - 0.03
    assert found.account.promised == recall
    assert found.account.recall.recall == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("split", [False, True])
def test_sampled_bits_find_clusters_that_fill_large_buckets(monkeypatch, split):
    monkeypatch.setattr(hamming, "LARGE", 30)
    table = clustered(np.random.default_rng(6), 900, 256, 3, centres=3)
    boundary = 300 if split else None
    found = joined(table, "hamming", 12, method="lsh", boundary=boundary, engine=LocalEngine(2))
    truth = brute(table, "hamming", 12, boundary)
    pairs = all_pairs(found, boundary)
    assert pairs.items() <= truth.items()
    assert found.account.large.buckets > 0
    forest, expected = _core.Forest(900), _core.Forest(900)
    for trees, some in ((forest, pairs), (expected, truth)):
        a, b = np.array(sorted(some), np.uint32).T
        trees.join(np.ascontiguousarray(a), np.ascontiguousarray(b))
    assert np.array_equal(forest.labels(), expected.labels())


def chosen(rows, width, radius, *, flips=None):
    """What `auto` would do with so many rows, from a sample as a collection of them would give it."""
    rng = np.random.default_rng(5)
    table = rng.integers(0, 2, (400, width), dtype=np.uint8)
    if flips is not None:
        table = clustered(rng, 400, width, flips, centres=1)
    words = as_bits(np.packbits(table, axis=1)).words
    items = SimpleNamespace(width=width, words=width // 64, rows=rows, of_first=None)
    return choose_road(BitSample(words=words, items=items), radius, 0.95, 8192).choice


def test_auto_takes_an_exact_road_for_small_radii_and_bands_for_large_ones():
    assert chosen(500, 64, 3).method == "exact"
    near = chosen(10_000_000, 64, 3)
    assert near.method in ("pieces", "covering")
    assert "may miss pairs" in near.why
    assert near.roads[near.method].seconds < near.roads["exact"].seconds
    assert chosen(10_000_000, 1024, 100).method == "lsh"
    # All within reach of each other: nothing is gained by looking for who meets.
    assert chosen(20_000, 64, 8, flips=4).method == "exact"
    account = joined(np.eye(64, dtype=np.uint8), "hamming", 2).account
    assert account.choice.method == account.method == "exact"


def test_covering_masks_are_taken_where_rows_share_their_pieces():
    """Many rows alike in most of their bits, few of them near: keys are few beside who meet in a piece."""
    rng = np.random.default_rng(4)
    table = (rng.random((400, 64)) < 0.2).astype(np.uint8)
    words, rows = as_bits(np.packbits(table, axis=1)).words, 20_000_000
    items = SimpleNamespace(width=64, words=1, rows=rows, of_first=None)
    sample = BitSample(words=words, items=items)
    chosen = choose_road(sample, 3, 0.95, 8192, seed=7)
    assert chosen.choice.method == "covering"
    assert chosen.cover.parts < 4
    assert chosen.cover.seed == 7
    roads = chosen.choice.roads
    assert roads["covering"].candidates < roads["pieces"].candidates / 4
    assert roads["covering"].seconds < roads["pieces"].seconds < roads["exact"].seconds


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_meetings_are_expected_as_often_as_rows_meet(parts):
    """On average over seeds, as the sample does not know them."""
    table = clustered(np.random.default_rng(1), 500, 64, 25, centres=4)
    engine = LocalEngine(1)
    items = items_of(table, engine)
    sample = BitSample(words=as_bits(np.packbits(table, axis=1)).words, items=items)
    met = [
        covering_join(
            items, cover=Covering(64, 3, parts=parts, seed=seed), engine=engine, watch=Watch()
        ).candidates
        for seed in range(60)
    ]
    expected = sample.meetings(Covering(64, 3, parts=parts)) * 500 * 499 / 2
    assert np.mean(met) == pytest.approx(expected, rel=0.15)


def test_a_scan_is_expected_to_look_at_pairs_with_as_many_bits():
    rng = np.random.default_rng(3)
    table = (rng.random((300, 128)) < rng.random((300, 1))).astype(np.uint8)
    sample = BitSample(words=as_bits(np.packbits(table, axis=1)).words, items=None)
    sizes = table.sum(axis=1)
    one, other = np.triu_indices(300, 1)
    for radius in (0, 5, 128):
        near = np.abs(sizes[one].astype(int) - sizes[other]) <= radius
        assert sample.of_like_sizes(radius) == pytest.approx(near.mean())


@pytest.mark.parametrize("method", ["pieces", "covering"])
def test_a_radius_that_no_masks_cover_is_refused_and_auto_compares_all(method):
    table = clustered(np.random.default_rng(1), 40, 16, 16)
    with pytest.raises(OptionError, match="radius=16 is out of range: of 16 bits, 0 to 15 may differ"):
        joined(table, "hamming", 16, method=method)
    found = joined(table, "hamming", 16)
    assert found.account.method == "exact"
    assert len(all_pairs(found)) == 40 * 39 // 2


def test_rows_without_a_bit_are_no_pairs_by_jaccard():
    table = np.zeros((5, 10), np.uint8)
    table[3:, 2] = 1
    found = joined(table, "jaccard", 0.5)
    assert all_pairs(found) == {(3, 4): 1.0}
    assert found.account.empty == 3
    assert found.account.copies == 1


def test_roads_that_are_not_for_a_measure_are_refused():
    with pytest.raises(OptionError, match="method='lsh' is for measure='hamming'"):
        joined(np.ones((2, 8), np.uint8), "jaccard", 0.5, method="lsh")


def pairs_that_differ(differences, width, *, seed=0):
    """Rows, and behind them each again with some bits flipped: a row of positions a pair."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (len(differences), width), dtype=np.uint8)
    flipped = rows.copy()
    for row, positions in zip(flipped, differences, strict=True):
        row[positions] ^= 1
    return np.vstack([rows, flipped])


def of_kinds(kinds, width, distance, *, pairs=400, seed=0):
    """Positions in which pairs differ, each pair in those of one of so many kinds."""
    rng = np.random.default_rng([kinds, width, distance, seed])
    alike = [rng.permutation(width)[:distance] for _ in range(kinds)]
    return [alike[rng.integers(0, kinds)] for _ in range(pairs)]


def found_share(found, pairs):
    return float((found.b - found.a == pairs).sum()) / pairs


def test_pairs_that_all_differ_in_bit_10_are_found_and_the_promise_is_kept():
    table = pairs_that_differ([[10]] * 1000, 64)
    for seed in range(20):
        found = joined(table, "hamming", 1, method="lsh", seed=seed, engine=LocalEngine(2))
        account = found.account
        assert found_share(found, 1000) == 1
        assert account.recall.low < account.recall.recall == account.recall.high == 1


def first_draw_alone(monkeypatch):
    monkeypatch.setattr(hamming, "ROUNDS", 0)


def test_a_draw_that_lost_a_kind_of_pairs_gets_bands_and_finds_it(monkeypatch):
    table = pairs_that_differ(of_kinds(3, 64, 6), 64)
    options = {"method": "lsh", "engine": LocalEngine(2)}
    lost = []
    with monkeypatch.context() as patch:
        first_draw_alone(patch)
        for seed in range(60):
            found = joined(table, "hamming", 6, seed=seed, **options)
            assert not found.account.added
            lost += [seed] if found_share(found, 400) < 0.9 else []
    assert lost
    for seed in lost[:4]:
        found = joined(table, "hamming", 6, seed=seed, **options)
        account = found.account
        assert found_share(found, 400) == 1
        assert {added.reason for added in account.added} <= {"alike", "short", "unseen"}
        assert account.recall.low <= 1 <= account.recall.high + 1e-12
        assert account.estimates()["added_bands"] == [added.to_dict() for added in account.added]


def test_what_is_found_depends_on_the_final_bands_alone(monkeypatch):
    """Whenever they were added, all pairs within the radius that agree in one of the bands, and no others."""
    table = pairs_that_differ(of_kinds(3, 64, 6), 64)
    found = joined(table, "hamming", 6, method="lsh")
    account = found.account
    assert account.added
    banding = account.plan.banding
    draws = [
        DealtBits(bits=64, bands=banding.bands, rows=banding.rows),
        *(DealtBits(bits=64, bands=one.bands, rows=banding.rows, seed=one.seed) for one in account.added),
    ]
    positions = np.concatenate([draw.positions for draw in draws])
    expected = {
        pair: apart
        for pair, apart in brute(table, "hamming", 6).items()
        if apart and (table[pair[0]][positions] == table[pair[1]][positions]).all(axis=1).any()
    }
    assert all_pairs(found) == expected


def test_the_estimate_depends_on_no_order_threads_or_memory(monkeypatch):
    monkeypatch.setattr(bitdraw, "MOST", 100)
    monkeypatch.setattr(bitdraw, "_LEAST", 100)
    rng = np.random.default_rng(1)
    differences = [rng.permutation(64)[: rng.integers(3, 7)] for _ in range(400)]
    table = pairs_that_differ(differences, 64)
    first = joined(table, "hamming", 6, method="lsh").account
    assert 0 < first.recall.low < first.recall.recall < first.recall.high <= 1
    order = rng.permutation(len(table))
    for one, engine in (
        (table[order], LocalEngine(1)),
        (table, LocalEngine(2)),
        (table[order], LocalEngine(2, memory=40 << 20)),
    ):
        account = joined(one, "hamming", 6, method="lsh", engine=engine).account
        assert account.recall == first.recall
        assert account.added == first.added


def test_few_pairs_are_too_few_to_tell():
    found = joined(pairs_that_differ([[1, 2, 3, 4, 5, 6]] * 4, 64), "hamming", 6, method="lsh")
    assert found.account.recall.recall is None or found.account.recall.few
    assert found.account.look is not None


def test_where_nothing_is_found_some_rows_are_compared_with_all_others():
    nothing = np.random.default_rng(0).integers(0, 2, (2000, 128), dtype=np.uint8)
    account = joined(nothing, "hamming", 8, method="lsh").account
    assert account.recall.recall is None
    assert (account.look.rows, account.look.near, account.look.found) == (300, 0, 0)
    assert account.look.at_most == pytest.approx(0.01, abs=2e-4)
    assert not account.added
    # Copies are found without any band.
    assert joined(np.repeat(nothing, 2, axis=0), "hamming", 0, method="lsh").account.look is None


@pytest.mark.parametrize("split", [False, True])
def test_what_all_bands_lost_is_seen_by_the_look(monkeypatch, split):
    """One kind of pairs only: if it is lost nothing is found, and nothing tells so but the look."""
    table = pairs_that_differ(of_kinds(1, 64, 6), 64)
    boundary = 400 if split else None
    lost = []
    with monkeypatch.context() as patch:
        first_draw_alone(patch)
        for seed in range(60):
            found = joined(table, "hamming", 6, method="lsh", seed=seed, boundary=boundary)
            lost += [] if len(found.a) else [seed]
    assert lost
    for seed in lost[:3]:
        found = joined(table, "hamming", 6, method="lsh", seed=seed, boundary=boundary)
        account = found.account
        assert account.added[0].reason == "unseen"
        assert account.look.rows == 300
        assert account.look.near >= 300
        assert found_share(found, 400) == account.look.recall == 1


def test_rows_of_a_crowd_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(hamming, "LARGE", 30)
    table = clustered(np.random.default_rng(6), 300, 256, 3, centres=1)
    account = joined(table, "hamming", 12, method="lsh").account
    # Leaders join them, and to list all of their pairs would cost their square.
    assert account.large.rows > 200
    assert account.look.rows < 5


@pytest.mark.parametrize("seed", [0, 6, 15])
def test_a_kind_of_pairs_lost_among_many_others_is_seen_by_a_look_at_a_few_rows(seed):
    # Half of all pairs differ in the same three bits, and the first bands of these draws lose all of them.
    draw = np.random.default_rng(0)
    one = draw.integers(0, 2**64, size=800, dtype=np.uint64)
    other = one.copy()
    for row in range(800):
        bits = (3, 20, 41) if row % 2 else draw.choice(64, 3, replace=False)
        for bit in bits:
            other[row] ^= np.uint64(1 << int(bit))
    pairs = la.similar_bits(np.concatenate([one, other]), threshold=3, method="lsh", seed=seed)
    assert [added.reason for added in pairs.account.added] == ["unseen"]
    assert pairs.account.look.found == pairs.account.look.near > 0
    assert len(pairs) > 0.95 * 800
