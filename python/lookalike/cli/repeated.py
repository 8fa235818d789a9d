"""Options with several values, as a shell makes them of a pattern without quotes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lookalike.cli.app import Command

WITH, MEASUREMENTS = "--with", "--measurements"


class Reader(Command):
    """Reads `--with A B C` as `--with A --with B --with C`, and `--measurements` too.

    A shell makes several arguments of a pattern without quotes, and options take one value; without this the
    command would put all files but the first into the first collection.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat such options before each of their values."""
        for option in (WITH, MEASUREMENTS):
            args = repeated(args, option)
        return super().parse_args(ctx, args)


def repeated(
    arguments: list[str], option: str, belongs: Callable[[str], bool] = lambda value: True
) -> list[str]:
    """Write `option a b` as `option a option b`, for as long as what follows belongs to the option.

    Examples
    --------
    >>> repeated(["x", "--with", "a", "b", "-o", "out"], "--with")
    ['x', '--with', 'a', '--with', 'b', '-o', 'out']
    """
    result: list[str] = []
    values = 0
    within = False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            within, values = argument == option, 0
        elif within:
            within = not values or belongs(argument)
            if values and within:
                result.append(option)
            values += 1
        result.append(argument)
    return result
