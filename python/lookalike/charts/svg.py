"""Charts as standalone SVG: valid XML, readable on light and dark paper, no script, no font of its own.

Everything drawn has a kind, and the style sheet below says how each kind looks. Colours are chosen to be told
apart by people who see fewer of them, and no chart speaks by colour alone.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from lookalike.errors import OptionError

Point = tuple[float, float]

_STYLE = """
.la-chart { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; }
.la-paper { fill: #ffffff; }
.la-title { fill: #1c2330; font-size: 16px; font-weight: 600; }
.la-name, .la-note { fill: #1c2330; }
.la-tick { fill: #5a6475; font-size: 12px; }
.la-grid { stroke: #e4e7ec; stroke-width: 1; }
.la-floor { stroke: #8a94a4; stroke-width: 1; }
.la-curve { fill: none; stroke: #1f5fae; stroke-width: 2.5; stroke-linejoin: round; }
.la-point { fill: #1f5fae; stroke: #ffffff; stroke-width: 2; }
.la-threshold { stroke: #1c2330; stroke-width: 1.25; stroke-dasharray: 3 4; }
.la-in-vain { fill: #e3a008; fill-opacity: 0.28; }
.la-missed { fill: #c2324a; fill-opacity: 0.6; }
.la-bar { fill: #a8b8cc; }
.la-bar-over { fill: #1f5fae; }
@media (prefers-color-scheme: dark) {
  .la-paper { fill: #14181f; }
  .la-title, .la-name, .la-note { fill: #e8ebf0; }
  .la-tick { fill: #9aa5b5; }
  .la-grid { stroke: #2a313c; }
  .la-floor { stroke: #6b7686; }
  .la-curve { stroke: #7ab3f5; }
  .la-point { fill: #7ab3f5; stroke: #14181f; }
  .la-threshold { stroke: #e8ebf0; }
  .la-in-vain { fill: #f0b429; }
  .la-missed { fill: #f0657c; }
  .la-bar { fill: #4c5a6e; }
  .la-bar-over { fill: #7ab3f5; }
}
"""


class Drawing:
    """A sheet of paper measured in pixels from its top left corner."""

    def __init__(self, width: int, height: int, *, title: str, description: str) -> None:
        if width < 320 or height < 200:
            raise OptionError(
                f"width={width}, height={height} is too small for a chart: at least 320 and 200"
            )
        self.width = width
        self.height = height
        self._root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {width} {height}",
                "width": str(width),
                "height": str(height),
                "role": "img",
                "aria-label": f"{title}. {description}",
                "class": "la-chart",
            },
        )
        ET.SubElement(self._root, "title").text = title
        ET.SubElement(self._root, "desc").text = description
        ET.SubElement(self._root, "style").text = _STYLE
        self.rect((0, 0), (width, height), "paper")
        self.text((16, 28), title, "title")

    def line(self, start: Point, end: Point, kind: str) -> None:
        (x1, y1), (x2, y2) = start, end
        self._add("line", kind, x1=_px(x1), y1=_px(y1), x2=_px(x2), y2=_px(y2))

    def rect(self, corner: Point, size: Point, kind: str, *, says: str | None = None) -> None:
        """A rectangle; `says` appears when a pointer rests on it."""
        element = self._add(
            "rect", kind, x=_px(corner[0]), y=_px(corner[1]), width=_px(size[0]), height=_px(size[1])
        )
        if says is not None:
            ET.SubElement(element, "title").text = says

    def path(self, points: Sequence[Point], kind: str, *, closed: bool = False) -> None:
        steps = " L".join(f"{_px(x)},{_px(y)}" for x, y in points)
        self._add("path", kind, d=f"M{steps}{' Z' if closed else ''}")

    def circle(self, centre: Point, radius: float, kind: str) -> None:
        self._add("circle", kind, cx=_px(centre[0]), cy=_px(centre[1]), r=_px(radius))

    def text(self, at: Point, words: str, kind: str, *, anchor: str = "start", upright: bool = False) -> None:
        """Words whose start, middle or end lies at a point; `upright` ones are read from below."""
        x, y = _px(at[0]), _px(at[1])
        turned = {"transform": f"rotate(-90 {x} {y})"} if upright else {}
        self._add("text", kind, **{"x": x, "y": y, "text-anchor": anchor, **turned}).text = words

    def render(self) -> str:
        """The whole document."""
        ET.indent(self._root)
        return ET.tostring(self._root, encoding="unicode") + "\n"

    def _add(self, tag: str, kind: str, **attributes: str) -> ET.Element:
        return ET.SubElement(self._root, tag, {"class": f"la-{kind}", **attributes})


class Plot:
    """The part of a drawing where data lies: from `low` at its lower left to `high` at its upper right."""

    _TOP, _RIGHT, _BOTTOM = 64, 24, 56

    def __init__(
        self, drawing: Drawing, *, high: Point, low: Point = (0.0, 0.0), label_length: int = 4
    ) -> None:
        """`label_length`: characters of the longest label on the axis that goes up, to leave room for it."""
        self._drawing = drawing
        self._left = 44 + 7 * label_length
        self._low = low
        self._span = (high[0] - low[0], high[1] - low[1])
        self._width = drawing.width - self._left - self._RIGHT
        self._height = drawing.height - self._TOP - self._BOTTOM

    def at(self, point: Point) -> Point:
        """Where a point of the data lies on the paper."""
        along = (point[0] - self._low[0]) / self._span[0]
        up = (point[1] - self._low[1]) / self._span[1]
        return self._left + along * self._width, self._TOP + (1 - up) * self._height

    def grid(
        self, *, along: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]], names: tuple[str, str]
    ) -> None:
        """Axes: labelled values on both, horizontal lines through those that go up, and the axes' names."""
        left, bottom = self.at(self._low)
        right = left + self._width
        for value, label in up:
            _, y = self.at((self._low[0], value))
            self._drawing.line((left, y), (right, y), "floor" if value == self._low[1] else "grid")
            self._drawing.text((left - 8, y + 4), label, "tick", anchor="end")
        for value, label in along:
            x, _ = self.at((value, self._low[1]))
            self._drawing.line((x, bottom), (x, bottom + 5), "floor")
            self._drawing.text((x, bottom + 19), label, "tick", anchor="middle")
        self._drawing.text((right, bottom + 42), names[0], "name", anchor="end")
        self._drawing.text(
            (18, self._TOP + self._height / 2), names[1], "name", anchor="middle", upright=True
        )

    def line(self, start: Point, end: Point, kind: str) -> None:
        self._drawing.line(self.at(start), self.at(end), kind)

    def path(self, points: Sequence[Point], kind: str) -> None:
        self._drawing.path([self.at(point) for point in points], kind)

    def area(self, points: Sequence[Point], kind: str) -> None:
        self._drawing.path([self.at(point) for point in points], kind, closed=True)

    def bar(self, left: float, right: float, height: float, kind: str, *, says: str) -> None:
        """A bar standing on the floor, a hair narrower than its bin so that neighbours stay apart."""
        (x1, top), (x2, bottom) = self.at((left, height)), self.at((right, self._low[1]))
        gap = min(1.0, 0.15 * (x2 - x1))
        self._drawing.rect((x1 + gap / 2, top), (x2 - x1 - gap, bottom - top), kind, says=says)

    def point(self, at: Point, kind: str) -> None:
        self._drawing.circle(self.at(at), 5, kind)

    def note(self, at: Point, words: str) -> None:
        """Words over the plot at a threshold, on whichever side of it has more room."""
        x, _ = self.at(at)
        right_half = x > self._left + self._width / 2
        self._drawing.text(
            (x + (4 if right_half else -4), self._TOP - 8),
            words,
            "note",
            anchor="end" if right_half else "start",
        )

    def key(self, entries: Sequence[tuple[str, str]]) -> None:
        """What the shadings mean, below the plot on the left, where no data can be in the way."""
        x, y = self._left, self._TOP + self._height + 42
        for kind, words in entries:
            self._drawing.rect((x, y - 11), (13, 13), kind)
            self._drawing.text((x + 19, y), words, "tick")
            x += 19 + 7 * len(words) + 16


def _px(value: float) -> str:
    """Hundredths of a pixel are finer than any eye, and keep files small and equal everywhere."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
