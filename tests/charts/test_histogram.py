"""Histograms of similarity in characters and in SVG."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.charts import similarity_histogram_svg, similarity_histogram_text
from lookalike.errors import OptionError

SVG = "{http://www.w3.org/2000/svg}"

GOLDEN = """\
pairs, by similarity
5 ┤██████
  │██████
  │██████            ▅▅▅▅▅▅
0 ┤██████▆▆▆▆▆▆      ██████
  └┬───────────┬──────────┬
   0          0.5         1
               ▲ 0.5"""

GOLDEN_ASCII = """\
pairs, by similarity
50,000 +#####
       |#####
25,000 +#####
     0 +#####_____     _____
       ++---------+--------+
        0        0.5       1
                  ^ 0.5"""

GOLDEN_LOG = """\
pairs (logarithmic), by similarity
100,000 ┤▆▆▆▆▆
        │█████
    100 ┤█████
      0 ┤█████▂▂▂▂▂     ▃▃▃▃▃
        └┬─────────┬────────┬
         0        0.5       1"""


def test_a_small_histogram_in_blocks():
    assert similarity_histogram_text([5, 1, 0, 2], threshold=0.5, width=30, height=8) == GOLDEN


def test_a_small_histogram_in_ascii():
    drawn = similarity_histogram_text([50_000, 1, 0, 2], threshold=0.5, width=30, height=8, unicode=False)
    assert drawn == GOLDEN_ASCII
    assert drawn.isascii()


def test_a_logarithmic_histogram():
    assert similarity_histogram_text([50_000, 1, 0, 2], width=30, height=7, log=True) == GOLDEN_LOG


def bars_of(drawn: str) -> list[str]:
    """The columns of the picture, top to bottom, without axes."""
    lines = drawn.split("\n")[1:]
    floor = next(number for number, line in enumerate(lines) if "└" in line or "+-" in line or "++" in line)
    start = max(lines[floor].find("└"), lines[floor].find("+")) + 1
    width = len(lines[floor]) - start
    return [
        "".join(column) for column in zip(*(line[start:].ljust(width) for line in lines[:floor]), strict=True)
    ]


sizes = {
    "log": st.booleans(),
    "unicode": st.booleans(),
    "width": st.integers(60, 120),
    "height": st.integers(7, 30),
}


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=200), st.fixed_dictionaries(sizes))
def test_a_text_histogram_keeps_to_its_size(counts, size):
    lines = similarity_histogram_text(counts, threshold=0.5, **size).split("\n")
    assert len(lines) == size["height"]
    assert max(map(len, lines)) <= size["width"]


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40), st.fixed_dictionaries(sizes))
def test_a_bin_is_seen_just_when_it_holds_something(counts, size):
    columns = bars_of(similarity_histogram_text(counts, **size))
    wide, rest = divmod(len(columns), len(counts))
    assert rest == 0
    assert [bool(column.strip()) for column in columns] == [
        pairs > 0 for pairs in counts for _ in range(wide)
    ]


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=40), st.fixed_dictionaries(sizes))
def test_fuller_bins_stand_at_least_as_high(counts, size):
    columns = bars_of(similarity_histogram_text(counts, **size))
    wide = len(columns) // len(counts)
    blocks = " _▁▂▃▄▅▆▇█#"
    heights = [sum(blocks.index(cell) for cell in columns[number * wide]) for number in range(len(counts))]
    assert [height for _, height in sorted(zip(counts, heights, strict=True))] == sorted(heights)


def test_more_bins_than_columns_are_added_up():
    drawn = similarity_histogram_text([1] * 200, width=50, height=10)
    assert drawn.split("\n")[1].startswith("5 ┤")
    assert set(bars_of(drawn)) == {"███████"}


def test_a_label_longer_than_the_largest_count_leaves_room_for_all_bars():
    # 999 pairs are drawn on a scale up to 1,000, whose label is two characters longer.
    drawn = similarity_histogram_text([999, *[0] * 54], width=60)
    assert max(map(len, drawn.split("\n"))) <= 60
    assert bars_of(drawn)[0].strip()


def test_counts_too_long_for_the_width_are_refused():
    with pytest.raises(
        OptionError, match="width=30, height=16 is too small for a chart: at least 35 columns"
    ):
        similarity_histogram_text([10**15], width=30)


def rects(svg: str, kind: str) -> list[dict[str, float]]:
    names = ("x", "y", "width", "height")
    return [
        {name: float(rect.attrib[name]) for name in names}
        for rect in ET.fromstring(svg).iter(f"{SVG}rect")
        if rect.attrib["class"] == f"la-{kind}"
    ]


def label(svg: str, words: str) -> tuple[float, float]:
    (found,) = [text for text in ET.fromstring(svg).iter(f"{SVG}text") if text.text == words]
    return float(found.attrib["x"]), float(found.attrib["y"])


def test_svg_bars_stand_where_the_data_says():
    counts = [40, 0, 10, 20, 30]
    svg = similarity_histogram_svg(counts, threshold=0.6, span=(0.5, 1.0))
    left, right = label(svg, "0.5")[0], label(svg, "1")[0]
    floor, top = label(svg, "0")[1] - 4, label(svg, "40")[1] - 4
    bars = rects(svg, "bar") + rects(svg, "bar-over")
    assert len(rects(svg, "bar")) == 1  # of the bins under the threshold one holds nothing
    for bar, (number, pairs) in zip(bars, [(0, 40), (2, 10), (3, 20), (4, 30)], strict=True):
        centre = (bar["x"] + bar["width"] / 2 - left) / (right - left)
        assert centre == pytest.approx((number + 0.5) / 5, abs=1e-3)
        assert bar["height"] / (floor - top) == pytest.approx(pairs / 40, abs=1e-3)
        assert bar["y"] + bar["height"] == pytest.approx(floor, abs=0.02)


def test_a_single_pair_among_a_billion_is_seen_in_svg():
    svg = similarity_histogram_svg([10**9, 0, 1])
    assert len(rects(svg, "bar")) == 2
    assert min(bar["height"] for bar in rects(svg, "bar")) > 0.3


def test_svg_bars_say_what_they_hold():
    svg = similarity_histogram_svg([1234, 1], log=True)
    said = [title.text for title in ET.fromstring(svg).iter(f"{SVG}title")]
    assert said == ["How similar the pairs are", "0 to 0.5: 1,234 pairs", "0.5 to 1: 1 pair"]


def test_nothing_to_show_is_an_empty_chart():
    assert rects(similarity_histogram_svg(np.zeros(10, dtype=int)), "bar") == []
    assert not set("▁▂▃▄▅▆▇█") & set(similarity_histogram_text([0, 0, 0]))


@pytest.mark.parametrize("draw", [similarity_histogram_text, similarity_histogram_svg])
@pytest.mark.parametrize(
    ("counts", "more", "says"),
    [
        ([], {}, "at least one"),
        ([1, -1], {}, "each 0 or more"),
        ([[1, 2]], {}, "one row of counts"),
        ([1], {"span": (1.0, 0.5)}, "is empty"),
        ([1], {"threshold": 0.3, "span": (0.5, 1.0)}, "threshold=0.3 lies outside the chart, 0.5 to 1"),
        ([1], {"width": 5}, "too small"),
    ],
)
def test_what_is_not_a_histogram_is_refused(draw, counts, more, says):
    with pytest.raises(OptionError, match=says):
        draw(counts, **more)
