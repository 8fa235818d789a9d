"""The contestants of the race, one file each.

A contestant's module has

    run(texts, job)      the timed part: from an Arrow string array in memory to clusters
    answer(outcome, …)   untimed: what `run` returned, in the form the judge reads

The name of the file is that of the installed package. A contestant's name may carry a variant behind a
hyphen: `datasketch-tuned` is the variant "tuned" of datasketch.py.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Job:
    """What every contestant is asked to do. Peers call `slots` num_perm or num_hashes."""

    threshold: float = 0.8
    recall: float = 0.95
    words: int = 5
    slots: int = 128
    threads: int = 2
    variant: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What a contestant found: reported pairs, as rows of two with a < b, and a cluster for every row."""

    pairs: NDArray[np.int64]
    cluster: NDArray[np.int64]


class Contestant(Protocol):
    """The shape of a contestant's module."""

    def run(self, texts: pa.LargeStringArray, job: Job) -> Any: ...

    def answer(self, outcome: Any, rows: int, *, pairs: bool) -> Answer: ...


def load(name: str) -> tuple[Contestant, str]:
    """Return the module of a contestant and the variant its name asks for."""
    module: Any = importlib.import_module(f"{__name__}.{package(name)}")
    return module, name.partition("-")[2]


def package(name: str) -> str:
    """Return the package a contestant is of, without importing it."""
    return name.partition("-")[0]
