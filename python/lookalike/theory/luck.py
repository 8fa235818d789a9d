"""What the luck of a draw may cost, before bands are added: pairs that all differ by one common part.

Of two sets one has a footer more, and so has every other pair. In one slot the pairs agree whose own part
holds a lesser hash than the footer, and the footer's hash is the same for all of them: so what share of all
pairs agrees there is a matter of luck. With the footer's least hash E, an exponential number in parts of its
mean, that share is 1 − exp(−E · J / (1 − J)), and J on average.
"""

from __future__ import annotations

import numpy as np

from lookalike.theory.banding import Banding

#: Draws that are simulated: enough for a share of one in twenty, to a percent.
_DRAWS = 4000


def unlucky_recall(banding: Banding, similarity: float, *, one_in: int = 20) -> float:
    """The recall that one draw in so many falls short of, for pairs that all differ by one common part.

    Examples
    --------
    >>> round(unlucky_recall(Banding(bands=13, rows=7), 0.8), 2)
    0.83
    >>> unlucky_recall(Banding(bands=13, rows=7), 1.0)
    1.0
    """
    if similarity >= 1:
        return 1.0
    least = np.random.default_rng(0).exponential(size=(_DRAWS, banding.bands, banding.rows))
    agree = -np.expm1(-least * similarity / (1 - similarity))
    found = 1 - np.prod(1 - np.prod(agree, axis=2), axis=1)
    return float(np.quantile(found, 1 / one_in))
