"""The S-curve: how likely a pair is to be found, by its similarity or by its distance.

By similarity it rises. Left of the threshold the area under the curve is work in vain: pairs looked at and
thrown away. Right of it the area above the curve is what is missed. By distance it falls, and the sides are
exchanged. Both areas are shaded, in a terminal and in SVG.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lookalike.charts.canvas import Canvas
from lookalike.charts.frame import ASCII, UNICODE, checked_size, framed
from lookalike.charts.numbers import percent
from lookalike.charts.scales import round_ticks, share_ticks
from lookalike.charts.svg import Drawing, Plot
from lookalike.errors import OptionError

IN_VAIN = "looked at in vain"
MISSED = "missed"

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What lies along the curve.

    Parameters
    ----------
    name, unit
        What it is called, and what is written behind a value.
    low, high
        Its ends.
    falls
        It is a distance: the nearer, the likelier found.
    """

    name: str = "similarity"
    low: float = 0.0
    high: float = 1.0
    unit: str = ""
    falls: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between the ends, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def value(self, share: float) -> float:
        """What lies there."""
        return self.low + share * (self.high - self.low)

    def ticks(self, most: float) -> list[tuple[float, str]]:
        """Round values, about `most` of them at most, each as it is written."""
        if self.unit == "°" and (self.low, self.high) == (0.0, 180.0):
            # Thirds of a right angle are round, and tens are not.
            step = next((step for step in (15, 30, 45, 90) if 180 / step + 1 <= most), 180)
            return [(float(angle), f"{angle}°") for angle in range(0, 181, step)]
        sign = self.unit if self.unit == "°" else ""
        return [(tick, f"{tick:g}{sign}") for tick in round_ticks(self.low, self.high, most)]

    def write(self, value: float) -> str:
        """A value with its unit, of one thing in the singular."""
        unit = self.unit.removesuffix("s") if value == 1 else self.unit
        return f"{value:.6g}{unit}"


SIMILARITY = Axis()


def s_curve_text(
    similarities: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    threshold: float | None = None,
    reached: float | None = None,
    axis: Axis = SIMILARITY,
    width: int = 72,
    height: int = 20,
    unicode: bool = True,
) -> str:
    """Draw an S-curve with characters, `width` columns wide and `height` lines high.

    Parameters
    ----------
    similarities, probabilities
        Points of the curve, probabilities from 0 to 1, and similarities (or distances) in ascending order
        between the ends of the axis.
    threshold
        Marked by a dotted line; the two kinds of error on its sides are shaded.
    reached
        The probability at the threshold, to be printed beside it.
    axis
        What lies along the curve; similarities from 0 to 1 unless it says otherwise.
    unicode
        Braille dots and line drawing; without, plain ASCII.
    """
    curve = _checked(similarities, probabilities, threshold, reached, axis)
    signs = UNICODE if unicode else ASCII
    in_vain, missed, dotted = ("░", "▒", "┊") if unicode else (".", "o", ":")
    below = 3 if threshold is None else 5
    checked_size(width, height, least_width=24, least_height=below + 4)

    margin = len("100%")
    canvas = Canvas(width - margin - 2, height - below, unicode=unicode)
    if threshold is not None:
        _shade(canvas, curve, axis, threshold, in_vain, missed)
        for row in range(canvas.rows):
            canvas.sign(canvas.column_of(axis.share(threshold)), row, dotted)
    _trace(canvas, curve, axis)

    lines = [f"chance to be found, by {axis.name}"]
    lines += framed(
        canvas.lines(),
        up={canvas.row_of(tick): f"{tick:.0%}" for tick in share_ticks(canvas.rows / 2 + 0.5)},
        along={canvas.column_of(axis.share(tick)): label for tick, label in axis.ticks(canvas.columns / 6)},
        margin=margin,
        signs=signs,
        pointer=None if threshold is None else _pointer(canvas, axis, threshold, reached),
    )
    if threshold is not None:
        lines.append(f"{'':{margin}}  {in_vain} {IN_VAIN}   {missed} {MISSED}")
    return "\n".join(lines)


def s_curve_svg(
    similarities: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    threshold: float | None = None,
    reached: float | None = None,
    axis: Axis = SIMILARITY,
    title: str = "How likely a pair is to be found",
    width: int = 640,
    height: int = 380,
) -> str:
    """Draw an S-curve as a standalone SVG document; parameters as in `s_curve_text`."""
    xs, ys = curve = _checked(similarities, probabilities, threshold, reached, axis)
    drawing = Drawing(width, height, title=title, description=_described(axis, threshold, reached))
    plot = Plot(drawing, low=(axis.low, 0.0), high=(axis.high, 1.0), label_length=len("100%"))
    plot.grid(
        along=axis.ticks(8 if axis.falls else 6),
        up=[(tick, f"{tick:.0%}") for tick in share_ticks(6)],
        names=(f"{axis.name} of the pair", "chance to be found"),
    )
    if threshold is not None:
        low, high = _sides(curve, threshold)
        left, right = ("missed", "in-vain") if axis.falls else ("in-vain", "missed")
        floor = {"in-vain": 0.0, "missed": 1.0}
        plot.area([*low, (threshold, floor[left]), (float(xs[0]), floor[left])], left)
        plot.area([*high, (float(xs[-1]), floor[right]), (threshold, floor[right])], right)
        plot.line((threshold, 0.0), (threshold, 1.0), "threshold")
    plot.path(list(zip(xs.tolist(), ys.tolist(), strict=True)), "curve")
    if threshold is not None:
        if reached is not None:
            plot.point((threshold, reached), "point")
        plot.note((threshold, 0.0), _at(axis, threshold, reached))
        plot.key([("in-vain", IN_VAIN), ("missed", MISSED)])
    return drawing.render()


def _checked(
    similarities: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    threshold: float | None,
    reached: float | None,
    axis: Axis,
) -> tuple[FloatArray, FloatArray]:
    xs, ys = np.asarray(similarities, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if xs.ndim != 1 or xs.shape != ys.shape or xs.size < 2:
        raise OptionError(
            f"a curve needs as many probabilities as similarities, two or more: got {ys.shape} and {xs.shape}"
        )
    ends = ((xs, axis.low, axis.high), (ys, 0.0, 1.0))
    within = all(bool(np.all((values >= low) & (values <= high))) for values, low, high in ends)
    if not within or bool(np.any(np.diff(xs) < 0)):
        raise OptionError(
            f"the points of a curve lie from {axis.low:g} to {axis.high:g},"
            f" in ascending order of {axis.name}, and their probabilities from 0 to 1"
        )
    for name, value, low, high in (("threshold", threshold, axis.low, axis.high), ("reached", reached, 0, 1)):
        if value is not None and not low <= value <= high:
            raise OptionError(
                f"{name}={value:g} lies outside the chart: its axis goes from {low:g} to {high:g}"
            )
    return xs, ys


def _trace(canvas: Canvas, curve: tuple[FloatArray, FloatArray], axis: Axis) -> None:
    """Set a dot in every column, and the dots between where the curve is steep."""
    probabilities = np.interp(np.linspace(axis.low, axis.high, canvas.across), *curve)
    ys = [canvas.y_of(probability) for probability in probabilities.tolist()]
    canvas.dot(0, ys[0])
    for x in range(1, canvas.across):
        # Half of a jump is drawn in either column, which keeps a steep curve as thin as a flat one.
        middle = (ys[x - 1] + ys[x]) // 2
        for column, end in ((x - 1, ys[x - 1]), (x, ys[x])):
            for y in range(min(middle, end), max(middle, end) + 1):
                canvas.dot(column, y)


def _shade(
    canvas: Canvas,
    curve: tuple[FloatArray, FloatArray],
    axis: Axis,
    threshold: float,
    in_vain: str,
    missed: str,
) -> None:
    for column in range(canvas.columns):
        value = axis.value((column + 0.5) / canvas.columns)
        unlike, alike = value < threshold, value > threshold
        if axis.falls:
            unlike, alike = alike, unlike
        probability = float(np.interp(value, *curve))
        for row in range(canvas.rows):
            here = 1 - (row + 0.5) / canvas.rows
            if unlike and here < probability:
                canvas.sign(column, row, in_vain)
            elif alike and here > probability:
                canvas.sign(column, row, missed)


def _sides(
    curve: tuple[FloatArray, FloatArray], threshold: float
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """The points of the curve left and right of the threshold, each side closed by the point at it."""
    middle = (threshold, float(np.interp(threshold, *curve)))
    points = list(zip(curve[0].tolist(), curve[1].tolist(), strict=True))
    left = [point for point in points if point[0] < threshold]
    right = [point for point in points if point[0] > threshold]
    return [*left, middle], [middle, *right]


def _pointer(canvas: Canvas, axis: Axis, threshold: float, reached: float | None) -> tuple[int, list[str]]:
    """Where the threshold is and what to say there, the longest words first."""
    words = [_at(axis, threshold, reached), _at(axis, threshold, None), axis.write(threshold)]
    return canvas.column_of(axis.share(threshold)), words


def _at(axis: Axis, threshold: float, reached: float | None) -> str:
    return f"threshold {axis.write(threshold)}" + ("" if reached is None else f": {percent(reached)} found")


def _described(axis: Axis, threshold: float | None, reached: float | None) -> str:
    way = "falls" if axis.falls else "rises"
    shape = f"The chance that a pair is found {way} with its {axis.name} in the shape of an S."
    if threshold is None:
        return shape
    at = "" if reached is None else f" At the threshold {axis.write(threshold)} it is {percent(reached)}."
    unlike, alike = ("over", "under") if axis.falls else ("under", "over")
    return f"{shape}{at} Shaded: pairs {unlike} the threshold looked at in vain, and pairs {alike} it missed."
