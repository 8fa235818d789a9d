"""Measurements with method="exact" are what brute force finds, whatever the numbers are."""

import numpy as np
import pytest

import lookalike as la
from lookalike.engines import LocalEngine
from lookalike.errors import OptionError


def brute_force(one, other, within, share):
    """{(a, b): share of close measurements}; within one collection a < b."""
    found = {}
    for a, x in enumerate(one):
        for b, y in enumerate(one if other is None else other):
            if other is not None or a < b:
                close = float(np.mean(np.abs(x - y) <= within))
                if close >= share:
                    found[a, b] = close
    return found


def pairs_of(pairs):
    return {(row["a"], row["b"]): row["similarity"] for row in pairs.to_arrow().to_pylist()}


@pytest.mark.parametrize("seed", range(300))
def test_exact_ranges_find_what_brute_force_finds(seed):
    draw = np.random.default_rng(seed)
    dimensions = int(draw.integers(1, 8))
    scale = 10.0 ** draw.integers(-6, 7)
    within = scale * (draw.random(dimensions) + 0.01)
    share = float(draw.choice([0.01, 1 / 3, 0.5, 0.8, 1.0]))

    def items(count):
        values = draw.normal(size=(count, dimensions)) * within * draw.choice([0.5, 3, 100])
        # Some at the very edge of what is close to others, to the last bit or one beyond.
        edge = draw.integers(0, count, count // 3)
        values[: len(edge)] = values[edge] + within * draw.choice([-1, 1], (len(edge), dimensions))
        values[: len(edge)] = np.nextafter(values[: len(edge)], draw.choice([-np.inf, 0, np.inf]))
        return values

    one, other = items(25), items(15) if seed % 2 else None
    found = la.similar_measurements(
        one,
        other,
        within=tuple(within.tolist()),
        share=share,
        method="exact",
        engine=LocalEngine(1 + seed % 2, memory=[None, 16_000_000][seed % 3 == 0], batch_rows=7),
    )
    assert pairs_of(found) == brute_force(one, other, within, share)


@pytest.mark.parametrize("power", [30, 45, 50, 51, 52, 53, 60])
def test_numbers_that_fill_their_floats_are_found_too(power):
    draw = np.random.default_rng(power)
    # So far from 0 that neighbouring floats are a good part of a range apart, or more.
    values = 2.0**power + draw.integers(-40, 41, (60, 2)) * max(1.0, 2.0 ** (power - 52))
    for within in (1.0, 2.0, 3.0, 7.0):
        found = la.similar_measurements(values, within=within, share=0.5, method="exact")
        assert pairs_of(found) == brute_force(values, None, within, 0.5)


def test_what_exact_cannot_go_with_is_refused():
    rows = [[1.0, 2.0], [1.0, 3.0]]
    for options, said in [
        ({"method": "prefix"}, "method='prefix' is unknown for measurements: choose auto, lsh or exact"),
        ({"method": "exact", "ranges": la.Ranges(dimensions=2, width=1, rows=1)}, "has ranges of its own"),
        ({"method": "exact", "within": 0}, "within=0 asks for equal values"),
    ]:
        with pytest.raises(OptionError, match=said):
            la.similar_measurements(rows, **{"within": 1, "share": 0.5, **options})
    with pytest.raises(OptionError, match="width=2 is under three times within=1"):
        la.Ranges.exact(2, within=1, share=0.5, width=2)
    with pytest.raises(OptionError, match="more than 65,536: use a higher share"):
        la.Ranges.exact(100_000, within=1, share=0.1)
