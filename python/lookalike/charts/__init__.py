"""Arrays in, pictures out: text for terminals, SVG for pages; and numbers a person can read.

curve        the S-curve of a banding, with what it misses and what it looks at in vain
histogram    how many pairs there are of each similarity
numbers      1,234,567 and 2.7 MB and 3 min 20 s and 95.2%
canvas       dots on a terminal; frame: axes around them; scales: where ticks go
svg          the same as SVG
"""

from lookalike.charts import numbers
from lookalike.charts.curve import Axis, s_curve_svg, s_curve_text
from lookalike.charts.histogram import similarity_histogram_svg, similarity_histogram_text

__all__ = [
    "Axis",
    "numbers",
    "s_curve_svg",
    "s_curve_text",
    "similarity_histogram_svg",
    "similarity_histogram_text",
]
