"""What a person typed: the command line, and which options. The others may take defaults of the items."""

from __future__ import annotations

from collections.abc import Iterable, Set
from contextvars import ContextVar

import typer

from lookalike.errors import OptionError

#: The command line that is running, word by word.
command_line: ContextVar[tuple[str, ...]] = ContextVar("command_line", default=())


def typed(context: typer.Context, name: str) -> bool:
    """Whether a person typed this option."""
    return str(context.get_parameter_source(name)).endswith("COMMANDLINE")


def only(context: typer.Context, known: Set[str], what: str) -> None:
    """Refuse options that were typed and would be ignored."""
    for name in context.params:
        if name not in known and typed(context, name):
            raise OptionError(f"--{name.replace('_', '-')} has no meaning with {what}: leave it out")


def without(context: typer.Context, ignored: Iterable[str], what: str) -> None:
    """Refuse these options if they were typed: they would be ignored."""
    only(context, set(context.params) - set(ignored), what)
