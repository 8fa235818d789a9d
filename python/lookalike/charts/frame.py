"""Axes around a picture made of characters, shared by all text charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lookalike.errors import OptionError


@dataclass(frozen=True)
class Signs:
    """The characters axes are drawn with."""

    wall: str
    wall_tick: str
    corner: str
    floor: str
    floor_tick: str
    pointer: str


UNICODE = Signs(wall="│", wall_tick="┤", corner="└", floor="─", floor_tick="┬", pointer="▲")
ASCII = Signs(wall="|", wall_tick="+", corner="+", floor="-", floor_tick="+", pointer="^")


def framed(
    picture: Sequence[str],
    *,
    up: Mapping[int, str],
    along: Mapping[int, str],
    margin: int,
    signs: Signs,
    pointer: tuple[int, Sequence[str]] | None = None,
) -> list[str]:
    """Draw axes left of and below a picture.

    Parameters
    ----------
    up, along
        Labels by row and by column of the picture.
    margin
        Columns for the labels on the left.
    pointer
        A column to point at from below, and what to say there: the first of the given words that fit.
    """
    columns = len(picture[0])
    lines = [
        f"{up.get(row, ''):>{margin}} {signs.wall_tick if row in up else signs.wall}{line}"
        for row, line in enumerate(picture)
    ]
    floor = [signs.floor_tick if column in along else signs.floor for column in range(columns)]
    lines.append(f"{'':{margin}} {signs.corner}{''.join(floor)}")
    lines.append(f"{'':{margin}}  {_beneath(along, columns)}")
    if pointer is not None:
        lines.append(f"{'':{margin}}  {_pointing(pointer, columns, signs)}")
    return [line.rstrip() for line in lines]


def checked_size(width: int, height: int, *, least_width: int, least_height: int) -> None:
    """Refuse a chart too small to be read."""
    if width < least_width or height < least_height:
        raise OptionError(
            f"width={width}, height={height} is too small for a chart:"
            f" at least {least_width} columns and {least_height} lines"
        )


def _beneath(labels: Mapping[int, str], columns: int) -> str:
    """Labels centred under their columns, as far as they fit; one too near its neighbour is left out."""
    line = [" "] * (columns + max(map(len, labels.values()), default=0))
    free = 0
    for column, label in sorted(labels.items()):
        start = max(0, min(column - (len(label) - 1) // 2, columns - len(label)))
        if start >= free:
            line[start : start + len(label)] = label
            free = start + len(label) + 1
    return "".join(line)


def _pointing(pointer: tuple[int, Sequence[str]], columns: int, signs: Signs) -> str:
    """`▲ words` under a column, or `words ▲` where the right side has no room."""
    column, choices = pointer
    for words in choices:
        if column + 2 + len(words) <= columns:
            return f"{' ' * column}{signs.pointer} {words}"
        if len(words) + 1 <= column:
            return f"{words + ' ':>{column}}{signs.pointer}"
    return f"{' ' * column}{signs.pointer}"
