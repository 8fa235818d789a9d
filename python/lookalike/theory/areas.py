"""The two areas by which an S-curve is wrong, for 1 − (1 − sʳ)ᵇ.

A perfect curve is a step: 0 below the threshold t, 1 from it on. What lies between the step and the curve is

    passed_below    ∫₀ᵗ 1 − (1 − sʳ)ᵇ ds    false positives: dissimilar pairs that are looked at
    missed_above    ∫ₜ¹     (1 − sʳ)ᵇ ds    false negatives: similar pairs that never meet

Both are incomplete beta functions in disguise. Integrating d/ds [s (1 − sʳ)ᵇ] gives a recurrence from
b − 1 bands to b, and for false positives all its terms are positive: no digit is lost however small the
area. The recurrence for false negatives subtracts, so a series of positive terms takes its place where
that would hurt.
"""

from __future__ import annotations

import math


def passed_below(threshold: float, *, bands: int, rows: int) -> float:
    """∫₀ᵗ 1 − (1 − sʳ)ᵇ ds, to nearly full relative precision.

    Examples
    --------
    >>> passed_below(1.0, bands=1, rows=3)
    0.25
    """
    # (1 + b·r)·F_b = t·(1 − (1 − tʳ)ᵇ) + b·r·F_(b−1), and F_0 = 0.
    log_miss = _log_one_minus(threshold**rows)
    area = 0.0
    for band in range(1, bands + 1):
        steps = band * rows
        area = (threshold * -math.expm1(band * log_miss) + steps * area) / (1 + steps)
    return area


def missed_above(threshold: float, *, bands: int, rows: int) -> float:
    """∫ₜ¹ (1 − sʳ)ᵇ ds, to nearly full relative precision.

    Examples
    --------
    >>> missed_above(0.0, bands=1, rows=3)
    0.75
    """
    met_in_one_band = threshold**rows
    if bands * met_in_one_band < 1:
        # The curve has not yet turned at t: much of the whole area lies above it, and subtracting is safe.
        return _missed_in_all(bands, rows) - (threshold - passed_below(threshold, bands=bands, rows=rows))
    # With x = 1 − tʳ: t·x^(b+1) / (r·(b+1)) · Σₙ xⁿ · Π (b + 1 + 1/r + k) / (b + 2 + k) for k < n.
    # At most about 36 terms a band are needed, since here tʳ ≥ 1/b.
    missed_by_one_band = 1 - met_in_one_band
    term = threshold * missed_by_one_band ** (bands + 1) / (rows * (bands + 1))
    area = 0.0
    top = bands + 1
    while term > area * 1e-17:
        area += term
        term *= missed_by_one_band * (top + 1 / rows) / (top + 1)
        top += 1
    return area


def _missed_in_all(bands: int, rows: int) -> float:
    """∫₀¹ (1 − sʳ)ᵇ ds, a complete beta function written as a product."""
    area = 1.0
    for band in range(1, bands + 1):
        area *= band * rows / (1 + band * rows)
    return area


def _log_one_minus(chance: float) -> float:
    return math.log1p(-chance) if chance < 1 else -math.inf
