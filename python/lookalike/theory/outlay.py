"""What bands spare and what they take: all pairs compared one by one, and the weight of signatures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from lookalike.errors import OptionError
from lookalike.theory.ranges import whole

#: What one comparison is taken to cost, in seconds: a microsecond, for a pair of texts of ordinary length.
PAIR_SECONDS = 1e-6

#: What one slot takes in a signature, in bits.
_SLOT_BITS = {
    **dict.fromkeys(("hyperplanes", "signs", "bit-sampling", "dealt-bits", "unary"), 1),
    **dict.fromkeys(("gaussian", "cauchy"), 64),
}
_OTHER_SLOT_BITS = 32

#: A bucket key.
_KEY_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class Outlay:
    """What so many items come to.

    Examples
    --------
    >>> outlay = Outlay.of(items=1_000_000, slots=128)
    >>> outlay.pairs, f"{outlay.seconds / 86_400:.1f} days"
    (499999500000, '5.8 days')
    >>> Outlay.of(items=100_000, slots=100).signature_bytes
    40000000
    """

    items: int

    pairs: int
    """How many pairs there are: n(n − 1)/2."""

    seconds: float
    """How long it would take one core to compare all of them."""

    signature_bytes: int
    """What the signatures of all items take."""

    key_bytes: int
    """What their bucket keys take, which is what a join keeps of signatures: 8 bytes a band."""

    @classmethod
    def of(
        cls,
        *,
        items: int,
        slots: int,
        bands: int = 0,
        family: str = "minhash",
        pair_seconds: float = PAIR_SECONDS,
    ) -> Self:
        """Of items with signatures of so many slots of a family, cut into so many bands."""
        number = whole(items)
        if number is None or number < 1:
            raise OptionError(f"items={items!r} is out of range: a whole number, 1 or more")
        if not 0 < pair_seconds < float("inf"):
            raise OptionError(f"pair_seconds={pair_seconds!r} is out of range: over 0")
        pairs = number * (number - 1) // 2
        row_bits = slots * _SLOT_BITS.get(family, _OTHER_SLOT_BITS)
        return cls(
            items=number,
            pairs=pairs,
            seconds=pairs * pair_seconds,
            signature_bytes=number * -(-row_bits // 8),
            key_bytes=number * bands * _KEY_BYTES,
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)
