"""The S-curve: how likely a pair is to be found, by its similarity.

Left of the threshold the area under the curve is work in vain: pairs looked at and thrown away. Right of it
the area above the curve is what is missed. Both are shaded, in a terminal and in SVG.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lookalike.charts.canvas import Canvas
from lookalike.charts.frame import ASCII, UNICODE, checked_size, framed
from lookalike.charts.numbers import percent
from lookalike.charts.scales import share_ticks
from lookalike.charts.svg import Drawing, Plot
from lookalike.errors import OptionError

IN_VAIN = "looked at in vain"
MISSED = "missed"

FloatArray = npt.NDArray[np.float64]


def s_curve_text(
    similarities: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    threshold: float | None = None,
    reached: float | None = None,
    width: int = 72,
    height: int = 20,
    unicode: bool = True,
) -> str:
    """Draw an S-curve with characters, `width` columns wide and `height` lines high.

    Parameters
    ----------
    similarities, probabilities
        Points of the curve, both from 0 to 1, similarities ascending.
    threshold
        Marked by a dotted line; the two kinds of error on its sides are shaded.
    reached
        The probability at the threshold, to be printed beside it.
    unicode
        Braille dots and line drawing; without, plain ASCII.
    """
    curve = _checked(similarities, probabilities, threshold, reached)
    signs = UNICODE if unicode else ASCII
    in_vain, missed, dotted = ("░", "▒", "┊") if unicode else (".", "o", ":")
    below = 3 if threshold is None else 5
    checked_size(width, height, least_width=24, least_height=below + 4)

    margin = len("100%")
    canvas = Canvas(width - margin - 2, height - below, unicode=unicode)
    if threshold is not None:
        _shade(canvas, curve, threshold, in_vain, missed)
        for row in range(canvas.rows):
            canvas.sign(canvas.column_of(threshold), row, dotted)
    _trace(canvas, curve)

    lines = ["chance to be found, by similarity"]
    lines += framed(
        canvas.lines(),
        up={canvas.row_of(tick): f"{tick:.0%}" for tick in share_ticks(canvas.rows / 2 + 0.5)},
        along={canvas.column_of(tick): f"{tick:g}" for tick in share_ticks(canvas.columns / 6)},
        margin=margin,
        signs=signs,
        pointer=None if threshold is None else _pointer(canvas, threshold, reached),
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
    title: str = "How likely a pair is to be found",
    width: int = 640,
    height: int = 380,
) -> str:
    """Draw an S-curve as a standalone SVG document; parameters as in `s_curve_text`."""
    xs, ys = curve = _checked(similarities, probabilities, threshold, reached)
    drawing = Drawing(width, height, title=title, description=_described(threshold, reached))
    plot = Plot(drawing, high=(1.0, 1.0), label_length=len("100%"))
    plot.grid(
        along=[(tick, f"{tick:g}") for tick in share_ticks(6)],
        up=[(tick, f"{tick:.0%}") for tick in share_ticks(6)],
        names=("similarity of the pair", "chance to be found"),
    )
    if threshold is not None:
        low, high = _sides(curve, threshold)
        plot.area([*low, (threshold, 0.0), (float(xs[0]), 0.0)], "in-vain")
        plot.area([*high, (float(xs[-1]), 1.0), (threshold, 1.0)], "missed")
        plot.line((threshold, 0.0), (threshold, 1.0), "threshold")
    plot.path(list(zip(xs.tolist(), ys.tolist(), strict=True)), "curve")
    if threshold is not None:
        if reached is not None:
            plot.point((threshold, reached), "point")
        plot.note((threshold, 0.0), _at(threshold, reached))
        plot.key([("in-vain", IN_VAIN), ("missed", MISSED)])
    return drawing.render()


def _checked(
    similarities: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    threshold: float | None,
    reached: float | None,
) -> tuple[FloatArray, FloatArray]:
    xs, ys = np.asarray(similarities, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if xs.ndim != 1 or xs.shape != ys.shape or xs.size < 2:
        raise OptionError(
            f"a curve needs as many probabilities as similarities, two or more: got {ys.shape} and {xs.shape}"
        )
    within = all(bool(np.all((values >= 0) & (values <= 1))) for values in (xs, ys))
    if not within or bool(np.any(np.diff(xs) < 0)):
        raise OptionError("the points of a curve lie from 0 to 1, in ascending order of similarity")
    for name, value in (("threshold", threshold), ("reached", reached)):
        if value is not None and not 0 <= value <= 1:
            raise OptionError(f"{name}={value:g} lies outside the chart: both axes go from 0 to 1")
    return xs, ys


def _trace(canvas: Canvas, curve: tuple[FloatArray, FloatArray]) -> None:
    """Set a dot in every column, and the dots between where the curve is steep."""
    probabilities = np.interp(np.linspace(0.0, 1.0, canvas.across), *curve)
    ys = [canvas.y_of(probability) for probability in probabilities.tolist()]
    canvas.dot(0, ys[0])
    for x in range(1, canvas.across):
        # Half of a jump is drawn in either column, which keeps a steep curve as thin as a flat one.
        middle = (ys[x - 1] + ys[x]) // 2
        for column, end in ((x - 1, ys[x - 1]), (x, ys[x])):
            for y in range(min(middle, end), max(middle, end) + 1):
                canvas.dot(column, y)


def _shade(
    canvas: Canvas, curve: tuple[FloatArray, FloatArray], threshold: float, in_vain: str, missed: str
) -> None:
    for column in range(canvas.columns):
        similarity = (column + 0.5) / canvas.columns
        probability = float(np.interp(similarity, *curve))
        for row in range(canvas.rows):
            here = 1 - (row + 0.5) / canvas.rows
            if similarity < threshold and here < probability:
                canvas.sign(column, row, in_vain)
            elif similarity > threshold and here > probability:
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


def _pointer(canvas: Canvas, threshold: float, reached: float | None) -> tuple[int, list[str]]:
    """Where the threshold is and what to say there, the longest words first."""
    words = [_at(threshold, reached), _at(threshold, None), f"{threshold:g}"]
    return canvas.column_of(threshold), words


def _at(threshold: float, reached: float | None) -> str:
    return f"threshold {threshold:g}" + ("" if reached is None else f": {percent(reached)} found")


def _described(threshold: float | None, reached: float | None) -> str:
    rising = "The chance that a pair is found rises with its similarity in the shape of an S."
    if threshold is None:
        return rising
    at = "" if reached is None else f" At the threshold {threshold:g} it is {percent(reached)}."
    return f"{rising}{at} Shaded: pairs under the threshold looked at in vain, and pairs over it missed."
