"""Bit sampling in bands that share no bit, cut from shuffles of the positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lookalike import _core
from lookalike.engines.cores import checked_threads
from lookalike.errors import OptionError
from lookalike.families.family import Family
from lookalike.families.parameters import check_bits
from lookalike.measures.bits import as_bits
from lookalike.theory.banding import Banding
from lookalike.theory.collisions import DealtBandsCollision
from lookalike.theory.ranges import checked_seed
from lookalike.types import I64, U32, U64


@dataclass(frozen=True, kw_only=True)
class DealtBits(Family):
    """The family that looks at bands of bits, none of which is in two bands of a shuffle.

    Near items disagree in few bits, so few bands of a shuffle hold one of them: with the same bits looked at,
    fewer near pairs are missed than by `BitSampling`, and none that differs in fewer bits than a shuffle has
    bands.

    Parameters
    ----------
    bits
        How many bits an item has.
    bands, rows
        How many bands there are, and of how many bits each. A shuffle is cut into ⌊bits / rows⌋ of them, and
        the next are cut from another one.
    seed
        Draws the shuffles. Keys of different seeds do not compare.

    Examples
    --------
    >>> family = DealtBits(bits=64, bands=4, rows=16)
    >>> keys = family.signatures(["0123456789abcdef", "0123456789abcde8"])
    >>> keys.shape, bool((keys[0] == keys[1]).any())
    ((2, 4), True)
    >>> family.collision(3), round(family.collision(16), 5)
    (1.0, 0.01846)
    """

    bits: int
    bands: int
    rows: int
    seed: int = 0

    def __post_init__(self) -> None:
        law = self.law
        check_bits(law.bits)
        for name in ("bits", "bands", "rows"):
            object.__setattr__(self, name, getattr(law, name))
        object.__setattr__(self, "seed", checked_seed(self.seed))

    @property
    def law(self) -> DealtBandsCollision:
        """How often two items agree in some band, over the draw of the shuffles."""
        return DealtBandsCollision(self.bits, bands=self.bands, rows=self.rows)

    @property
    def banding(self) -> Banding:
        """How many bands, and of how many bits."""
        return Banding(bands=self.bands, rows=self.rows)

    @property
    def positions(self) -> U32:
        """The bits that each band looks at: a row a band."""
        drawn = _core.dealt_positions(self.bits, rows=self.rows, bands=self.bands, seed=self.seed)
        return drawn.reshape(self.bands, self.rows)

    def signatures(self, items: Any, *, threads: int | None = None) -> U64:
        """A key by every band, the same for items that agree in it: a matrix of uint64, a row an item."""
        rows = as_bits(items)
        if rows.width != self.bits:
            raise OptionError(f"items of {rows.width} bits cannot be signed: the family is for {self.bits}")
        return masks_of([self]).sign(rows.words, threads=checked_threads(threads))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `DealtBits(**…)` reads them back."""
        return asdict(self)


def masks_of(draws: Sequence[DealtBits]) -> _core.BitMasks:
    """The kernel's form of all bands of some draws, numbered on from one to the next."""
    positions = [draw.positions.reshape(-1) for draw in draws]
    sizes = [size for draw in draws for size in [draw.rows] * draw.bands]
    offsets: I64 = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return _core.BitMasks((np.concatenate(positions), offsets), words=-(-draws[0].bits // 64))


def mask_words(draws: Sequence[DealtBits]) -> U64:
    """The bits of all bands of some draws, as words of rows: two rows agree where these are equal."""
    words = -(-draws[0].bits // 64)
    masks = np.zeros((sum(draw.bands for draw in draws), words), np.uint64)
    first = 0
    for draw in draws:
        positions = draw.positions.astype(np.uint64)
        band = np.repeat(np.arange(first, first + draw.bands), draw.rows)
        # Bit p is bit 7 − p % 8 of byte p / 8.
        place = (positions % np.uint64(64)) ^ np.uint64(7)
        np.bitwise_or.at(
            masks,
            (band, (positions // np.uint64(64)).reshape(-1).astype(np.int64)),
            np.uint64(1) << place.reshape(-1),
        )
        first += draw.bands
    return masks
