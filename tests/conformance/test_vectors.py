"""Near pairs of vectors: exact equals brute force, bands keep their promise, and nothing else matters."""

import math

import numpy as np
import pytest

import lookalike as la
from lookalike import _core
from lookalike.engines import LocalEngine
from lookalike.joins import crowds
from lookalike.measures.vectors import rounded_cosines

MEASURES = {"angle": "25deg", "cosine": 0.9, "l2": 1.5, "l1": 6.0}


def brute_force(first, second, measure, threshold):
    """Every pair, by our kernel one with one; kernels themselves are held against NumPy elsewhere."""
    if measure == "angle":
        threshold = float(threshold.removesuffix("deg"))
    rows = first if second is None else np.concatenate([first, second])
    a, b = np.triu_indices(len(rows), 1)
    if second is not None:
        across = (a < len(first)) & (b >= len(first))
        a, b = a[across], b[across]
    values = _core.compare_vectors([rows], a.astype(np.uint32), b.astype(np.uint32), measure, threads=1)
    if measure == "cosine":
        values = rounded_cosines(values)
    near = values >= threshold if measure == "cosine" else values <= threshold
    b = b if second is None else b - len(first)
    return dict(zip(zip(a[near].tolist(), b[near].tolist(), strict=True), values[near].tolist(), strict=True))


def found(first, second, measure, threshold, **given):
    pairs = la.similar_pairs(first, second, measure=measure, threshold=threshold, **given)
    (value,) = set(pairs.columns) - {"a", "b"}
    assert value == ("similarity" if measure == "cosine" else "distance")
    assert len({(row["a"], row["b"]) for row in pairs}) == len(pairs)
    return {(row["a"], row["b"]): row[value] for row in pairs}


def clustered(seed, clusters=12, each=6, width=12, spread=0.25):
    """Clusters of normal numbers, some rows repeated, some scaled, some alone."""
    numbers = np.random.default_rng(seed)
    rows = np.repeat(numbers.normal(size=(clusters, width)), each, axis=0)
    rows += spread * numbers.normal(size=rows.shape)
    rows = np.concatenate([rows, rows[:5], 2 * rows[5:8], numbers.normal(size=(9, width))])
    return rows[numbers.permutation(len(rows))]


COLLECTIONS = {
    **{f"clustered {seed}": clustered(seed) for seed in range(4)},
    "narrow": clustered(9).astype(np.float32),
    "noise": np.random.default_rng(1).normal(size=(80, 3)),
    "all equal": np.ones((70, 4)),
    "two opposite": np.array([[1.0, 2.0], [-1.0, -2.0]]),
    "one row": np.ones((1, 3)),
    "one coordinate": np.array([[1.0], [-3.0], [2.4], [2.5], [2.5], [4.0]]),
    "ties at the threshold": np.array([[0.0, 1.0], [1.5, 1.0], [3.0, 1.0], [0.0, 7.0], [6.0, 1.0]]),
    "far from the origin": clustered(5) + 1e7,
    "one giant": np.concatenate([clustered(6), np.full((1, 12), 1e30)]),
    "tiny": clustered(7) * 1e-180,
    "power law": np.random.default_rng(2).pareto(1.0, size=(90, 6)) + 0.1,
    "small integers": np.random.default_rng(3).integers(1, 4, size=(100, 5)).astype(np.uint8),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", COLLECTIONS)
def test_exact_finds_exactly_what_brute_force_finds(name, measure):
    rows, threshold = COLLECTIONS[name], MEASURES[measure]
    as_floats = np.asarray(rows, np.float64) if rows.dtype == np.float64 else rows.astype(np.float32)
    if name == "tiny" and measure in ("l1", "l2"):
        threshold = threshold * 1e-180
    assert found(rows, None, measure, threshold, method="exact") == brute_force(
        as_floats, None, measure, threshold
    )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(10))
def test_exact_finds_exactly_what_brute_force_finds_at_any_threshold(seed, measure):
    numbers = np.random.default_rng(seed)
    rows = clustered(seed, width=int(numbers.integers(1, 40)), spread=float(numbers.uniform(0.01, 1)))
    threshold = {
        "angle": f"{numbers.uniform(0, 170):.3f}deg",
        "cosine": float(numbers.uniform(-0.9, 1)),
        "l2": float(numbers.uniform(0.1, 6)),
        "l1": float(numbers.uniform(0.1, 20)),
    }[measure]
    assert found(rows, None, measure, threshold, method="exact") == brute_force(
        rows, None, measure, threshold
    )
    first, second = rows[:30], rows[30:]
    assert found(first, second, measure, threshold, method="exact") == brute_force(
        first, second, measure, threshold
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_thresholds_that_pairs_reach_to_the_bit_are_reached(measure):
    """Every value that occurs, as the threshold: pairs exactly there are found."""
    rows = clustered(11, clusters=4, each=3)
    values = sorted(
        set(
            brute_force(
                rows,
                None,
                measure,
                "180deg" if measure == "angle" else -1.0 if measure == "cosine" else math.inf,
            ).values()
        )
    )
    for value in values[:: len(values) // 7]:
        if value <= 0 and measure in ("l1", "l2"):
            continue
        threshold = f"{value!r}deg" if measure == "angle" else value
        assert found(rows, None, measure, threshold, method="exact") == brute_force(
            rows, None, measure, threshold
        )


@pytest.mark.parametrize("measure", MEASURES)
def test_bands_keep_their_promise(measure):
    """Over ten seeds of clustered data: of pairs near the threshold, at least the promised share."""
    there = seen = 0
    close_there = close_seen = 0
    for seed in range(10):
        rows = clustered(seed, clusters=40, each=8, width=16, spread=0.3)
        threshold = {"angle": "24deg", "cosine": 0.91, "l2": 1.7, "l1": 5.5}[measure]
        level = (
            math.cos(math.radians(24)) if measure == "cosine" else float(str(threshold).removesuffix("deg"))
        )
        truth = brute_force(rows, None, measure, threshold)
        by_bands = found(rows, None, measure, threshold, method="lsh", seed=seed, recall=0.9)
        assert by_bands.items() <= truth.items()
        there += len(truth)
        seen += len(by_bands)
        close = {
            pair
            for pair, value in truth.items()
            if (value > 0.9 * level if measure != "cosine" else value < 0.93)
        }
        close_there += len(close)
        close_seen += len(close & by_bands.keys())
    assert there > 3000
    assert seen / there >= 0.9
    # Pairs share rows and so are not independent; four standard errors as if a few were.
    assert close_seen / close_there >= 0.9 - 4 * math.sqrt(0.09 / (close_there / 4))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["lsh", "exact"])
def test_threads_batches_memory_and_order_do_not_matter(measure, method):
    rows = clustered(3, clusters=25, each=10).astype(np.float32)
    engines = [
        LocalEngine(1),
        LocalEngine(2, batch_rows=300),
        LocalEngine(2, memory=16 << 20, batch_rows=2000),
    ]
    answers = [
        found(rows, None, measure, MEASURES[measure], method=method, engine=engine) for engine in engines
    ]
    assert answers[0]
    assert answers[1] == answers[0]
    assert answers[2] == answers[0]
    order = np.random.default_rng(0).permutation(len(rows))
    shuffled = found(rows[order], None, measure, MEASURES[measure], method=method)
    named = {tuple(sorted((int(order[a]), int(order[b])))): value for (a, b), value in shuffled.items()}
    assert named == answers[0]


def test_between_two_collections_bands_find_what_they_find_in_one():
    rows = clustered(4, clusters=60, each=10)
    first, second = rows[:200], rows[200:]
    truth = brute_force(first, second, "angle", "25deg")
    across = found(first, second, "angle", "25deg", method="lsh")
    assert across.items() <= truth.items()
    assert len(across) / len(truth) >= 0.95
    one = la.similar_pairs(first[:1], second, measure="angle", threshold="25deg", method="lsh")
    assert {row["a"] for row in one} <= {0}


def test_a_crowd_costs_no_square_and_says_what_it_left_out(monkeypatch):
    """3,000 vectors near each other, and buckets that pair a row with 4: few pairs, all accounted for."""
    numbers = np.random.default_rng(0)
    rows = numbers.normal(size=8) + 0.01 * numbers.normal(size=(3000, 8))
    monkeypatch.setattr(crowds, "FOLLOWING", 4)
    monkeypatch.setattr(crowds, "ALL_PAIRS", 9)
    monkeypatch.setattr(crowds, "AFFORDABLE", 0)
    pairs = la.similar_pairs(rows, measure="angle", threshold="20deg", method="lsh")
    account = pairs.account
    assert account.candidates <= account.plan.banding.bands * 4 * 3000
    assert account.large.largest > 1000
    assert account.large.not_compared > 0
    # Everyone still has somebody.
    assert len(set(pairs["a"].to_pylist()) | set(pairs["b"].to_pylist())) == 3000
    small = LocalEngine(2, batch_rows=50)
    again = la.similar_pairs(rows, measure="angle", threshold="20deg", method="lsh", engine=small)
    assert again.to_arrow().equals(pairs.to_arrow())


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("probes", [None, 4])
def test_the_promise_is_kept_among_a_few_thousand_that_are_all_near_each_other(two, probes):
    """Large buckets; as long as their pairs can be afforded none is left out."""
    numbers = np.random.default_rng(1)
    rows = numbers.normal(size=12) + 0.05 * numbers.normal(size=(2400, 12))
    first, second = (rows[:1000], rows[1000:]) if two else (rows, None)
    asked = {"measure": "angle", "threshold": "2.5deg"}
    truth = len(la.similar_pairs(first, second, **asked, method="exact"))
    found = []
    for seed in range(6):
        pairs = la.similar_pairs(first, second, **asked, method="lsh", probes=probes, seed=seed)
        assert pairs.account.large.largest > 600
        assert pairs.account.large.not_compared == 0
        found.append(len(pairs))
    assert np.mean(found) >= 0.95 * truth


def test_pairs_of_large_buckets_grow_up_to_what_can_be_afforded(monkeypatch):
    sizes = np.array([1000, 3000, 600])
    within = crowds.PairsWithin.of(sizes, sizes, None)
    for most in (0, 10**6, 2 * 10**6, 10**7):
        monkeypatch.setattr(crowds, "AFFORDABLE", most)
        following = within.affordable()
        account = within.account(following)
        assert following >= 256
        assert account.checked <= max(most, 256 * sizes.sum())
        assert account.checked + account.not_compared == account.possible
        assert following > 3000 or within.made(2 * following).sum() > most
    assert account.not_compared == 0


def test_a_crowd_of_copies_is_a_star():
    rows = np.ones((5000, 4))
    pairs = la.similar_pairs(rows, measure="l2", threshold=1.0, method="lsh", copies="stars")
    assert pairs["a"].to_pylist() == [0] * 4999
    assert pairs["distance"].to_pylist() == [0.0] * 4999
    assert pairs.account.candidates == 0
