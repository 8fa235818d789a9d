"""Which options a person typed: the others may take defaults of the kind of items at hand."""

from __future__ import annotations

from collections.abc import Set

import typer

from lookalike.errors import OptionError


def typed(context: typer.Context, name: str) -> bool:
    """Whether a person typed this option."""
    return str(context.get_parameter_source(name)).endswith("COMMANDLINE")


def only(context: typer.Context, known: Set[str], what: str) -> None:
    """Refuse options that were typed and would be ignored."""
    for name in context.params:
        if name not in known and typed(context, name):
            raise OptionError(f"--{name.replace('_', '-')} has no meaning with {what}: leave it out")
