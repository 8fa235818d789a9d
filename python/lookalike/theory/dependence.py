"""What the slots of the default family owe to each other, and what that does to bands.

In a slot whose bucket holds some of the elements of two sets, the least of those decides; it lies in no other
bucket. So such slots are drawn from the u elements of the union without replacement, and the share s = J·u of
them that agree runs out: m filled slots all agree with s(s−1)…(s−m+1) / u(u−1)…(u−m+1), less than Jᵐ. Slots
left open, (1 − 1/k)ᵘ of k, are as good as independent. A band is the less likely to agree the more of the
slots it takes; but bands fail together less often too, which mostly makes up for it where there are several.

    >>> from lookalike.theory import Banding
    >>> lone = Banding(bands=1, rows=115)
    >>> round(lone.probability(0.99), 3), round(least_chance(lone, 0.99, slots=128), 3)
    (0.315, 0.212)
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, exp, expm1, fsum, lgamma, log

from lookalike.theory.banding import Banding

#: Sizes of unions, in slots: of smaller unions too few slots are filled, and larger ones hardly run out.
_UNIONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 6.0)
#: So many bands agree on average where their failing together has long made up for everything; and so many
#: terms are added up before they become too large to take from each other.
_BANDS_THAT_AGREE, _TERMS = 5.0, 40
#: How many slots are filled is taken to be their mean, which makes what is lost a few hundredths less.
_ROUNDED_UP = 1.1


@lru_cache(maxsize=1 << 12)
def least_chance(banding: Banding, similarity: float, *, slots: int) -> float:
    """The chance that a pair meets in some band, for the size of the union at which it is least.

    Of a signature of `slots` slots of the default family.
    """
    independent = banding.probability(similarity)
    agreeing = banding.bands * similarity**banding.rows
    if similarity in (0, 1) or agreeing > _BANDS_THAT_AGREE or banding.bands > _TERMS:
        return independent
    # Two sets that differ differ by an element at least.
    unions = {max(1 / (1 - similarity), share * slots) for share in _UNIONS}
    least = min(_chance(banding, similarity, union, slots) for union in unions)
    # To nine digits, on which all machines agree.
    lost = round(_ROUNDED_UP * max(0.0, independent - least), 9)
    return max(0.0, independent - lost)


def _chance(banding: Banding, similarity: float, union: float, slots: int) -> float:
    """Of meeting in one band, less that in two, and so on: inclusion and exclusion."""
    agree = (_all_agree(n * banding.rows, similarity, union, slots) for n in range(1, banding.bands + 1))
    return fsum((-1) ** n * comb(banding.bands, n + 1) * chance for n, chance in enumerate(agree))


def _all_agree(rows: int, similarity: float, union: float, slots: int) -> float:
    """The chance that so many slots all agree, by how many of them are filled on average."""
    filled = rows * -expm1(union * log(1 - 1 / slots)) if slots > 1 else rows
    shared = similarity * union
    if filled >= shared + 1:
        return 0.0
    drawn = lgamma(shared + 1) - lgamma(shared - filled + 1) - lgamma(union + 1) + lgamma(union - filled + 1)
    return exp(drawn + (rows - filled) * log(similarity))
