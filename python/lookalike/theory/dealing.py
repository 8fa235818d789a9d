"""Bands of bits dealt out from shuffles: how often a pair agrees in some of them.

The N positions are shuffled and cut into as many bands of r rows as there is room for; the next bands are cut
from another shuffle. A pair that differs in d positions agrees in a band that holds none of them. No position
is in two bands of a shuffle, so the more bands are spoilt the fewer differences are left for the others:
misses are rarer than of independent bands, and fewer than g differences never spoil all of g bands.

Of one shuffle with g bands a pair misses all with chance Σⱼ (−1)ʲ C(g, j) C(N − jr, d) / C(N, d). Those terms
cancel; so differences are dealt out one after the other instead. If i of them have left h bands whole, the
next one falls into one of these with chance hr / (N − i). No term is negative, so neither the chance to meet
nor that to miss loses its digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from lookalike.theory.banding import Banding

_Floats = npt.NDArray[np.float64]
_Whole = npt.NDArray[np.int64]

_Kind = tuple[int, int]

#: A promise is kept within this: logarithms differ in their last bit from machine to machine.
_SLACK = 1e-12
#: In how many bands a pair agrees is told apart up to here.
FEW = 3


def chances(bits: int, bandings: Sequence[Banding], distances: npt.ArrayLike) -> tuple[_Floats, _Floats]:
    """The chances to meet in some band, and to miss all: a row a banding, a column a distance.

    Distances are whole numbers, in any order.

    Examples
    --------
    >>> met, missed = chances(64, [Banding(bands=2, rows=32), Banding(bands=4, rows=16)], [1, 3, 4])
    >>> met.round(4).tolist()
    [[1.0, 0.2381, 0.1132], [1.0, 1.0, 0.8969]]
    """
    shuffles = [_shuffles(bits, banding) for banding in bandings]
    kinds = list(dict.fromkeys(kind for parts in shuffles for kind, _ in parts))
    log_missed = dict(zip(kinds, _log_missed(bits, kinds, np.asarray(distances, np.int64)), strict=True))
    logs = np.array([sum(times * log_missed[kind] for kind, times in parts) for parts in shuffles])
    # 0.0 − x, not −x: a chance of nothing is 0.0 and should not be printed as -0.0.
    return 0.0 - np.expm1(logs), np.exp(logs)


def few_agree(bits: int, banding: Banding, distances: npt.ArrayLike) -> _Floats:
    """The chances that a pair agrees in 0, 1, … `FEW` bands: a row a distance, a column a number of bands.

    Examples
    --------
    >>> few_agree(64, Banding(bands=2, rows=32), [0, 1]).tolist()
    [[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    wanted, row = np.unique(np.asarray(distances, np.int64), return_inverse=True)
    few = np.zeros((len(wanted), FEW + 1))
    few[:, 0] = 1
    for kind, times in _shuffles(bits, banding):
        bands = min(kind[1], FEW)
        of_shuffle = np.zeros_like(few)
        for at, state in enumerate(_dealt(bits, [kind], wanted)):
            of_shuffle[at, : bands + 1] = state[::-1][: bands + 1]
        for _ in range(times):
            few = together(few, of_shuffle)
    return few[row]


def together(one: _Floats, other: _Floats) -> _Floats:
    """The chances of `few_agree` for the bands of both, drawn each by themselves."""
    both = np.zeros_like(one)
    for bands in range(FEW + 1):
        both[:, bands:] += one[:, bands : bands + 1] * other[:, : FEW + 1 - bands]
    return both


def fewest_bands(bits: int, rows: Sequence[int], distance: int, recall: float, *, most: int) -> list[int]:
    """For each number of rows the fewest bands that find a pair with probability `recall`.

    Rows are rising numbers up to `bits`. More of them never take fewer bands, so the answers end where more
    than `most` slots are taken.

    Examples
    --------
    >>> fewest_bands(64, [1, 10, 16, 20], 6, 0.95, most=1000)
    [2, 5, 14, 28]
    """
    allowed = (1 - recall) * (1 + _SLACK)
    in_one_band = np.cumprod((bits - distance - np.arange(bits)) / (bits - np.arange(bits))).clip(0)
    asked = np.asarray(rows, np.int64)
    chance = in_one_band[asked - 1]
    # All bands together find no more than the sum of what each finds.
    within = asked * recall <= most * chance
    asked, chance = asked[within], chance[within]
    # So many independent bands would do, and bands that share no bit do no worse.
    with np.errstate(divide="ignore"):
        enough = np.maximum(np.ceil(np.log(allowed) / np.log1p(-chance)), 1).astype(np.int64)
    too_few = np.zeros(len(asked), np.int64)
    while (open_ := enough - too_few > 1).any():
        middle = (too_few + enough) // 2
        bandings = [
            Banding(bands=bands, rows=width) for bands, width in zip(middle[open_], asked[open_], strict=True)
        ]
        kept = chances(bits, bandings, [distance])[1][:, 0] <= allowed
        places = np.flatnonzero(open_)
        enough[places[kept]], too_few[places[~kept]] = middle[places[kept]], middle[places[~kept]]
    beyond = np.flatnonzero(enough * asked > most)
    fewest: list[int] = enough[: beyond[0] if len(beyond) else None].tolist()
    return fewest


def _shuffles(bits: int, banding: Banding) -> list[tuple[_Kind, int]]:
    """The rows and bands of the shuffles that a banding is cut from, and how many there are of each kind."""
    at_once = bits // banding.rows
    times, rest = divmod(banding.bands, at_once)
    kinds = [((banding.rows, at_once), times), ((banding.rows, rest), 1)]
    return [(kind, count) for kind, count in kinds if kind[1] and count]


def _log_missed(bits: int, kinds: Sequence[_Kind], distances: _Whole) -> _Floats:
    """The logarithm of the chance to miss all bands of a shuffle: a row a kind, a column a distance."""
    wanted, column = np.unique(distances, return_inverse=True)
    sums = np.empty((len(wanted), 2 * len(kinds)))
    # Of each shuffle: some band is whole, and none is.
    ends = _ends(kinds)
    halves = np.stack([np.append(0, ends[:-1] + 1), ends], axis=1).reshape(-1)
    for at, state in enumerate(_dealt(bits, kinds, wanted)):
        np.add.reduceat(state, halves, out=sums[at])
    met, missed = sums[:, ::2], sums[:, 1::2]
    with np.errstate(divide="ignore"):  # log 0 = −∞ is meant: few differences never spoil all bands
        # The smaller of two chances that add up to 1 tells more.
        logs: _Floats = np.where(met < 0.5, np.log1p(-np.minimum(met, 0.5)), np.log(missed))
    return logs.T[:, column]


def _ends(kinds: Sequence[_Kind]) -> _Whole:
    """Where each of several shuffles ends that stand one after the other: all its bands are spoilt."""
    return np.cumsum([bands + 1 for _, bands in kinds]) - 1


def _dealt(bits: int, kinds: Sequence[_Kind], distances: _Whole) -> Iterator[_Floats]:
    """For each distance, which rise, how likely 0, 1, … bands of a shuffle are spoilt.

    The shuffles of all kinds stand one after the other.
    """
    # Positions in bands that are still whole.
    whole = np.concatenate([rows * np.arange(bands, -1, -1.0) for rows, bands in kinds])
    state = np.zeros(len(whole))
    state[np.append(0, _ends(kinds)[:-1] + 1)] = 1
    dealt = 0
    for distance in distances.tolist():
        for left in range(bits - dealt, bits - distance, -1):
            # A state that has more positions in whole bands than are left was never reached: it is 0.
            spoilt = state * whole
            state = state * (left - whole)
            state[1:] += spoilt[:-1]
            state /= left
        dealt = distance
        yield state
