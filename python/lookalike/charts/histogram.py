"""How many pairs there are of each similarity, as bars.

Nearly all pairs of a collection are unlike, so counts differ by powers of ten: `log=True` shows them side by
side. A bin that holds anything at all is always seen, however small its share.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lookalike.charts.canvas import Canvas
from lookalike.charts.frame import ASCII, UNICODE, checked_size, framed
from lookalike.charts.numbers import count, several
from lookalike.charts.scales import CountScale, round_ticks
from lookalike.charts.svg import Drawing, Plot
from lookalike.errors import OptionError

_EIGHTHS = " ▁▂▃▄▅▆▇█"

IntArray = npt.NDArray[np.int64]


def similarity_histogram_text(
    counts: npt.ArrayLike,
    *,
    threshold: float | None = None,
    span: tuple[float, float] = (0.0, 1.0),
    log: bool = False,
    width: int = 72,
    height: int = 16,
    unicode: bool = True,
) -> str:
    """Draw counts of pairs by similarity with characters, in at most `width` columns and `height` lines.

    Parameters
    ----------
    counts
        Pairs in each of equally wide bins over `span`. Where there are more bins than columns,
        neighbours are added up.
    threshold
        Pointed at from below.
    log
        Heights go by the logarithm of the counts.
    unicode
        Block characters in eighths of a line; without, plain ASCII.
    """
    bins = _checked(counts, span, threshold)
    signs = UNICODE if unicode else ASCII
    below = 3 if threshold is None else 4
    # No bar holds more than all bins together, so no label is longer than the one that would top them.
    longest = len(count(CountScale.over(float(bins.sum()), log=log).top))
    checked_size(width, height, least_width=max(24, longest + 14), least_height=below + 3)

    rows = height - below
    columns = width - longest - 2
    together = math.ceil(bins.size / columns)
    bars = np.add.reduceat(bins, np.arange(0, bins.size, together))
    scale = CountScale.over(float(bars.max()), log=log)
    up = {_row_of(scale.height(tick), rows): count(tick) for tick in scale.ticks(rows / 2 + 1)}
    margin = max(map(len, up.values()))
    wide = (width - margin - 2) // bars.size

    canvas = Canvas(bars.size * wide, rows, unicode=unicode)
    for number, pairs in enumerate(bars.tolist()):
        for row, glyph in enumerate(_column(scale.height(pairs), rows, unicode=unicode)):
            for column in range(number * wide, (number + 1) * wide):
                canvas.sign(column, row, glyph)

    def column_of(value: float) -> int:
        """The column that a similarity falls in; the end of the span falls in the last."""
        exact = (value - span[0]) / (span[1] - span[0]) * bins.size / together * wide
        return min(canvas.columns - 1, math.floor(exact + 1e-9))

    ticks = round_ticks(*span, canvas.columns / 6)
    lines = [f"pairs{' (logarithmic)' if log else ''}, by similarity"]
    lines += framed(
        canvas.lines(),
        up=up,
        along={column_of(tick): f"{tick:g}" for tick in ticks},
        margin=margin,
        signs=signs,
        pointer=None
        if threshold is None
        else (column_of(threshold), [f"threshold {threshold:g}", f"{threshold:g}"]),
    )
    return "\n".join(lines)


def similarity_histogram_svg(
    counts: npt.ArrayLike,
    *,
    threshold: float | None = None,
    span: tuple[float, float] = (0.0, 1.0),
    log: bool = False,
    title: str = "How similar the pairs are",
    width: int = 640,
    height: int = 340,
) -> str:
    """Draw counts of pairs by similarity as a standalone SVG document; parameters as in the text form."""
    bins = _checked(counts, span, threshold)
    scale = CountScale.over(float(bins.max()), log=log)
    described = f"{several(bins.sum(), 'pair')} by similarity from {span[0]:g} to {span[1]:g}."
    drawing = Drawing(width, height, title=title, description=described)
    up = [(scale.height(tick), count(tick)) for tick in scale.ticks(7)]
    plot = Plot(
        drawing, low=(span[0], 0.0), high=(span[1], 1.0), label_length=max(len(label) for _, label in up)
    )
    plot.grid(
        along=[(tick, f"{tick:g}") for tick in round_ticks(*span, 6)],
        up=up,
        names=("similarity of the pair", "pairs (logarithmic)" if log else "pairs"),
    )
    edges = np.linspace(*span, bins.size + 1).tolist()
    for left, right, pairs in zip(edges[:-1], edges[1:], bins.tolist(), strict=True):
        if pairs == 0:
            continue
        over = threshold is not None and left >= threshold - 1e-9
        # Half a pixel at least: a bin that holds anything is seen.
        tall = max(scale.height(pairs), 0.5 / height)
        says = f"{left:.4g} to {right:.4g}: {several(pairs, 'pair')}"
        plot.bar(left, right, tall, "bar-over" if over else "bar", says=says)
    if threshold is not None:
        plot.line((threshold, 0.0), (threshold, 1.0), "threshold")
        plot.note((threshold, 0.0), f"threshold {threshold:g}")
    return drawing.render()


def _checked(counts: npt.ArrayLike, span: tuple[float, float], threshold: float | None) -> IntArray:
    bins = np.asarray(counts, dtype=np.int64)
    if bins.ndim != 1 or bins.size == 0 or bool(np.any(bins < 0)):
        raise OptionError("a histogram needs one row of counts, each 0 or more, and at least one of them")
    if not span[0] < span[1]:
        raise OptionError(f"span={span} is empty: give its lower end first")
    if threshold is not None and not span[0] <= threshold <= span[1]:
        raise OptionError(f"threshold={threshold:g} lies outside the chart, {span[0]:g} to {span[1]:g}")
    return bins


def _row_of(height: float, rows: int) -> int:
    """The row that holds the top of a bar of this height."""
    return min(rows - 1, rows - math.ceil(height * rows - 1e-9))


def _column(height: float, rows: int, *, unicode: bool) -> list[str]:
    """One bar from the top row down: full cells, a partial one above them, nothing above that."""
    if not unicode:
        full = round(height * rows)
        if height > 0 and full == 0:
            return [" "] * (rows - 1) + ["_"]
        return [" "] * (rows - full) + ["#"] * full
    eighths = max(round(height * rows * 8), 1 if height > 0 else 0)
    return [_EIGHTHS[min(8, max(0, eighths - 8 * (rows - 1 - row)))] for row in range(rows)]
