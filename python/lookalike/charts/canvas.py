"""A small drawing surface for terminals: dots in braille, or in plain ASCII where that is all there is.

A braille cell holds two by four dots, which makes a curve eight times finer than letters would. In ASCII a
cell is one dot. Signs (shading, bars, markers) fill whole cells and never cover a dot.
"""

from __future__ import annotations

_BRAILLE = 0x2800
# Bits of a braille cell, by column and row of the dot within it.
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


class Canvas:
    """`columns` × `rows` cells; dots count from the top left corner."""

    def __init__(self, columns: int, rows: int, *, unicode: bool = True) -> None:
        self.columns = columns
        self.rows = rows
        self._per_cell = (2, 4) if unicode else (1, 1)
        self._dots = [[0] * columns for _ in range(rows)]
        self._signs = [[" "] * columns for _ in range(rows)]

    @property
    def across(self) -> int:
        """How many dots fit side by side."""
        return self.columns * self._per_cell[0]

    @property
    def down(self) -> int:
        """How many dots fit below each other."""
        return self.rows * self._per_cell[1]

    def dot(self, x: int, y: int) -> None:
        """Set one dot."""
        (column, in_x), (row, in_y) = divmod(x, self._per_cell[0]), divmod(y, self._per_cell[1])
        self._dots[row][column] |= _BITS[in_x][in_y]

    def sign(self, column: int, row: int, sign: str) -> None:
        """Put a character into a cell, unless a dot is or will be there."""
        self._signs[row][column] = sign

    def column_of(self, share: float) -> int:
        """The cell column in which a dot at `share` of the width lies."""
        return self.x_of(share) // self._per_cell[0]

    def row_of(self, share: float) -> int:
        """The cell row in which a dot at `share` of the height, counted from the bottom, lies."""
        return self.y_of(share) // self._per_cell[1]

    def x_of(self, share: float) -> int:
        """The dot at `share` of the width: the first at 0, the last at 1."""
        return round(share * (self.across - 1))

    def y_of(self, share: float) -> int:
        """The dot at `share` of the height, counted from the bottom."""
        return round((1 - share) * (self.down - 1))

    def lines(self) -> list[str]:
        """The picture, one string a row."""
        return [
            "".join(self._glyph(dots, sign) for dots, sign in zip(dot_row, sign_row, strict=True))
            for dot_row, sign_row in zip(self._dots, self._signs, strict=True)
        ]

    def _glyph(self, dots: int, sign: str) -> str:
        if not dots:
            return sign
        return "*" if self._per_cell == (1, 1) else chr(_BRAILLE + dots)
