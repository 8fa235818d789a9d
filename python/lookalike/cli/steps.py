"""A line for each stage of a short run: what is going on, then how much was done and how long it took."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console
from rich.text import Text

from lookalike.charts import numbers
from lookalike.runs import StageProgress

#: What each stage does, in words for somebody who sees it for the first time.
DOING = {
    "plant": "writing documents, editing copies of some",
    "read": "reading",
    "sign": "cutting into shingles, signing",
    "copies": "setting exact copies aside",
    "choose": "weighing by a sample how pairs are found best",
    "plan": "choosing the bands by a sample",
    "sets": "cutting into shingles",
    "order": "putting rare shingles first",
    "candidates": "finding documents that share a bucket",
    "verify": "checking every candidate on the text",
    "look": "comparing a few documents with all, as next to nothing was found",
    "add bands": "signing again, as the first bands found too little",
    "large buckets": "going through large buckets",
    "cluster": "joining pairs to clusters",
    "judge": "counting what is true, slowly, in plain Python",
}


class Steps:
    """Progress for a terminal: each stage turns, and leaves a line when it is done."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False)

    @contextlib.contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "documents") -> Iterator[StageProgress]:
        """Follow one stage."""
        counted = _Counted()
        started = time.perf_counter()
        doing = DOING.get(name, name)
        with self._console.status(Text(doing), spinner_style="cyan"):
            yield counted
        done = counted.done or total
        how_many = f"{numbers.count(done)} {unit}" if done else ""
        line = Text.assemble(("✓ ", "green"), f"{doing:<48}", (f"{how_many:>17}", "dim"))
        line.append(f"{numbers.seconds(time.perf_counter() - started):>9}", style="cyan")
        self._console.print(line)


class _Counted:
    def __init__(self) -> None:
        self.done = 0

    def advance(self, count: int) -> None:
        self.done += count
