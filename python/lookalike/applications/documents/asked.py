"""What all options have in common: how they are made from keywords, and how shingles are kept in them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from lookalike.errors import UnknownOptionError
from lookalike.shingles import Shingle


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What can be asked of a search."""

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """From keyword arguments; one that is unknown is named."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise UnknownOptionError.of(name, known)
        return cls(**options)


def in_short(shingle: str | Shingle | dict[str, Any]) -> str | Shingle:
    """A shingle as it reads best beside other options; its short form cannot say what the stop words are."""
    form = Shingle.from_dict(shingle) if isinstance(shingle, dict) else Shingle.parse(shingle)
    return str(form) if Shingle.parse(str(form)) == form else form
