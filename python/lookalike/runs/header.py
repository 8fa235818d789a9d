"""What every stored file says about itself: whose it is, what it holds, and how it was made.

Files made by another format or algorithm version, of another kind, or with other parameters are refused by
name instead of being read as if they fitted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lookalike.errors import ArtefactError

MAGIC = "lookalike"
FORMAT_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Header:
    """The header of a stored file.

    Parameters
    ----------
    kind
        What the file holds, such as `pairs` or `signatures`.
    algorithm
        Version of the algorithm that made it; results of different versions never mix.
    parameters
        What it was made with, as JSON values.
    checksum
        Of the file's content; filled in by the writer.

    Examples
    --------
    >>> header = Header(kind="pairs", algorithm=1, parameters={"threshold": 0.8})
    >>> Header.from_json(header.to_json()) == header
    True
    """

    kind: str
    algorithm: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT_VERSION
    checksum: str = ""

    def to_json(self) -> str:
        """One line of JSON. The checksum comes last, where a writer can fill it in place."""
        return json.dumps(
            {
                "magic": MAGIC,
                "format": self.format,
                "kind": self.kind,
                "algorithm": self.algorithm,
                "parameters": dict(self.parameters),
                "checksum": self.checksum,
            },
            separators=(",", ":"),
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, text: str | bytes, *, where: str = "this file") -> Header:
        """Read a header back; `where` names the file in errors."""
        try:
            stored = json.loads(text)
            if not isinstance(stored, dict) or stored["magic"] != MAGIC:
                raise ValueError("magic")
            header = cls(
                kind=stored["kind"],
                algorithm=stored["algorithm"],
                parameters=stored["parameters"],
                format=stored["format"],
                checksum=stored["checksum"],
            )
        except (ValueError, KeyError) as error:
            raise damaged(where, "its header cannot be read") from error
        if header.format != FORMAT_VERSION:
            raise ArtefactError(
                f"{where} has file format {header.format}, and this version of Lookalike reads format "
                f"{FORMAT_VERSION}: make it again, or read it with the version that wrote it"
            )
        return header

    def require(
        self,
        *,
        where: str,
        kind: str | None = None,
        algorithm: int | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Refuse a file of another kind, algorithm version or parameters than those asked for."""
        if kind is not None and self.kind != kind:
            raise ArtefactError(f"{where} holds {self.kind}, not {kind}: name the file of {kind}")
        if algorithm is not None and self.algorithm != algorithm:
            raise ArtefactError(
                f"{where} was made by version {self.algorithm} of the algorithm and this is version "
                f"{algorithm}, whose results differ: make it again"
            )
        for name, asked in (parameters or {}).items():
            stored = self.parameters.get(name)
            if stored != asked:
                raise ArtefactError(
                    f"{where} was made with {name}={stored!r} and {name}={asked!r} is asked for: "
                    f"use {name}={stored!r}, or make the file again"
                )


def damaged(where: str, how: str) -> ArtefactError:
    """The error for a file whose bytes are not those that were written."""
    return ArtefactError(f"{where} is damaged ({how}): delete it and make it again")
