"""Standard output for what is set in colours and columns."""

from __future__ import annotations

from typing import Any, NoReturn

from rich.console import Console


class Paper(Console):
    """A rich console, but when its reader has seen enough, that is said to us rather than exit code 1."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, **settings)

    def on_broken_pipe(self) -> NoReturn:
        """What rich calls where it caught one."""
        raise BrokenPipeError
