"""Options with several values, as a shell makes them of a pattern without quotes."""

from __future__ import annotations

from collections.abc import Callable


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
