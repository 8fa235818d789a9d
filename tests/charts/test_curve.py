"""The S-curve in characters and in SVG."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.charts import Axis, s_curve_svg, s_curve_text
from lookalike.errors import OptionError
from lookalike.theory import Banding, plan

SVG = "{http://www.w3.org/2000/svg}"


def curve_of(banding, points=101):
    similarities = np.linspace(0, 1, points)
    return similarities, banding.probabilities(similarities)


GOLDEN = """\
chance to be found, by similarity
100% ┤                 ┊▒▒▒▒▒▒▒⣀⣠⠤⠖⠒⠚⠉⠉⠉
     │                 ┊▒▒⣀⣠⠴⠒⠋⠁
 50% ┤               ⢀⣠⠤⠖⠋⠁
     │          ⣀⣠⠤⠖⠚⠉░┊
  0% ┤⣀⣀⣀⣠⠤⠤⠴⠒⠚⠉⠁░░░░░░┊
     └┬───────┬────────┬───────┬───────┬
      0      0.25     0.5     0.75     1
                       ▲ threshold 0.5
      ░ looked at in vain   ▒ missed"""

GOLDEN_ASCII = """\
chance to be found, by similarity
100% +                :ooooooooo********
     |                :ooo*******
 50% +               ******
     |        ********:
  0% +*********.......:
     ++-------+-------+--------+-------+
      0      0.25    0.5      0.75     1
                      ^ threshold 0.5
      . looked at in vain   o missed"""


def test_a_small_curve_in_braille():
    curve = curve_of(Banding(bands=2, rows=2))
    assert s_curve_text(*curve, threshold=0.5, reached=0.4375, width=40, height=10) == GOLDEN


def test_a_small_curve_in_ascii():
    curve = curve_of(Banding(bands=2, rows=2))
    drawn = s_curve_text(*curve, threshold=0.5, width=40, height=10, unicode=False)
    assert drawn == GOLDEN_ASCII
    assert drawn.isascii()


def test_what_is_reached_is_said_where_there_is_room():
    chosen = plan(0.8)
    drawn = s_curve_text(*chosen.curve(), threshold=chosen.threshold, reached=chosen.reached)
    assert "threshold 0.8: 95.3% found ▲" in drawn


def test_without_a_threshold_nothing_is_judged():
    drawn = s_curve_text(*curve_of(Banding(bands=2, rows=2)))
    assert not set("░▒┊▲") & set(drawn)


@given(
    st.builds(Banding, bands=st.integers(1, 60), rows=st.integers(1, 30)),
    st.floats(0, 1),
    st.integers(24, 120),
    st.integers(9, 40),
    st.booleans(),
)
def test_a_text_curve_keeps_to_its_size_and_rises(banding, threshold, width, height, unicode):
    reached = banding.probability(threshold)
    drawn = s_curve_text(
        *curve_of(banding), threshold=threshold, reached=reached, width=width, height=height, unicode=unicode
    ).split("\n")
    assert len(drawn) == height
    # The first and last lines are words; a very narrow chart lets them stand out.
    assert max(map(len, drawn[1:-1])) <= width
    is_curve = (lambda char: 0x2800 < ord(char) <= 0x28FF) if unicode else (lambda char: char == "*")
    picture = [line[6:].ljust(width - 6) for line in drawn[1:-4]]
    rows = [
        [row for row, line in enumerate(picture) if is_curve(line[column])] for column in range(width - 6)
    ]
    assert max(rows[0]) == len(picture) - 1
    assert min(rows[-1]) == 0
    highest = [min(found) for found in rows]
    assert highest == sorted(highest, reverse=True)


DEGREES = Axis(name="angle", low=0, high=180, unit="°", falls=True)

GOLDEN_FALLING = """\
chance to be found, by angle
100% ┤⠉⠙⠒⠦⣄▒▒┊
     │    ⠈⠙⠦⣄
 50% ┤       ⠈⠙⠦⣄⡀
     │       ┊░░░⠙⠲⠤⣄⡀
  0% ┤       ┊░░░░░░░⠉⠙⠒⠲⠤⠤⠤⢤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
     └┬───────┬────────┬───────┬───────┬
      0°     45°      90°     135°  180°
             ▲ threshold 40°
      ░ looked at in vain   ▒ missed"""


def falling(points=101):
    angles = np.linspace(0, 180, points)
    return angles, Banding(bands=2, rows=4).probabilities(1 - angles / 180)


def test_a_curve_by_distance_falls_and_has_its_sides_exchanged():
    assert s_curve_text(*falling(), threshold=40, axis=DEGREES, width=40, height=10) == GOLDEN_FALLING


def test_the_svg_of_a_falling_curve_shades_what_is_missed_on_the_left():
    svg = s_curve_svg(*falling(), threshold=40, reached=0.6, axis=DEGREES)
    root = ET.fromstring(svg)
    xs = {kind: [x for x, _ in points_of(by_kind(root, kind))] for kind in ("in-vain", "missed", "curve")}
    at = float(by_kind(root, "threshold").attrib["x1"])
    assert max(xs["missed"]) == pytest.approx(at)
    assert min(xs["in-vain"]) == pytest.approx(at)
    assert (at - min(xs["curve"])) / (max(xs["curve"]) - min(xs["curve"])) == pytest.approx(
        40 / 180, abs=1e-4
    )
    assert "falls with its angle" in root.attrib["aria-label"]
    assert "threshold 40°: 60.0% found" in [text.text for text in root.iter(f"{SVG}text")]


@given(st.floats(0.1, 1e6), st.integers(24, 120), st.booleans())
def test_axes_of_any_length_keep_to_their_width(high, width, unicode):
    axis = Axis(name="distance", high=high, falls=True)
    curve = np.linspace(0, high, 50), np.linspace(1, 0, 50)
    drawn = s_curve_text(*curve, threshold=high / 5, reached=0.8, axis=axis, width=width, unicode=unicode)
    assert max(map(len, drawn.split("\n")[1:-1])) <= width


def test_one_bit_is_no_bits():
    axis = Axis(name="distance", high=8, unit=" bits", falls=True)
    assert [axis.write(n) for n in (1.0, 3.0)] == ["1 bit", "3 bits"]


def points_of(path: ET.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([-\d.]+),([-\d.]+)", path.attrib["d"])]


def drawn_parts(svg: str):
    """The document, and functions from the paper back to the data, taken from the tick labels."""
    root = ET.fromstring(svg)
    labels = {text.text: text for text in root.iter(f"{SVG}text")}
    left, right = (float(labels[tick].attrib["x"]) for tick in ("0", "1"))
    # Labels of the axis that goes up are set four pixels low, to stand centred on their lines.
    floor, ceiling = (float(labels[tick].attrib["y"]) - 4 for tick in ("0%", "100%"))

    def data(point):
        return (point[0] - left) / (right - left), (point[1] - floor) / (ceiling - floor)

    return root, data


def by_kind(root: ET.Element, kind: str) -> ET.Element:
    (found,) = [e for e in root.iter() if e.attrib.get("class") == f"la-{kind}" and e.tag != f"{SVG}rect"]
    return found


def test_the_points_of_the_svg_curve_lie_where_the_data_says():
    chosen = plan(0.7)
    similarities, probabilities = chosen.curve()
    svg = s_curve_svg(similarities, probabilities, threshold=chosen.threshold, reached=chosen.reached)
    root, data = drawn_parts(svg)
    drawn = np.array([data(point) for point in points_of(by_kind(root, "curve"))])
    assert drawn[:, 0] == pytest.approx(similarities, abs=1e-4)
    assert drawn[:, 1] == pytest.approx(probabilities, abs=1e-4)
    circle = by_kind(root, "point").attrib
    assert data((float(circle["cx"]), float(circle["cy"]))) == pytest.approx((0.7, chosen.reached), abs=1e-4)


def shoelace(points) -> float:
    return (
        abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1], strict=True))) / 2
    )


def test_the_shaded_areas_are_as_large_as_the_errors():
    chosen = plan(0.7)
    svg = s_curve_svg(*chosen.curve(1001), threshold=chosen.threshold)
    root, data = drawn_parts(svg)
    for kind, area in (("in-vain", chosen.false_positives), ("missed", chosen.false_negatives)):
        points = [data(point) for point in points_of(by_kind(root, kind))]
        assert shoelace(points) == pytest.approx(area, abs=2e-4)


def test_the_svg_stands_alone_and_says_what_it_shows():
    svg = s_curve_svg(*curve_of(Banding(bands=2, rows=2)), threshold=0.5, reached=0.4375, title="A < B & C")
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == "A < B & C"
    assert "43.8%" in root.attrib["aria-label"]
    assert "prefers-color-scheme: dark" in svg
    # No script, no link, no font or image from elsewhere.
    assert not {e.tag.removeprefix(SVG) for e in root.iter()} - {
        *("svg", "title", "desc", "style", "rect", "text", "line", "path", "circle")
    }
    assert not re.search(r"url\(|@import|href", svg)


def test_every_kind_drawn_has_a_style():
    svg = s_curve_svg(*curve_of(Banding(bands=2, rows=2)), threshold=0.5, reached=0.4375)
    root = ET.fromstring(svg)
    styled = set(re.findall(r"\.(la-[a-z-]+)", root.find(f"{SVG}style").text))
    assert {e.attrib["class"] for e in root.iter() if "class" in e.attrib} <= styled


@pytest.mark.parametrize("draw", [s_curve_text, s_curve_svg])
@pytest.mark.parametrize(
    ("points", "more", "says"),
    [
        (([0, 1], [0, 0.5, 1]), {}, "as many probabilities"),
        (([0.5], [0.5]), {}, "two or more"),
        (([0, 1], [0, 80]), {}, "from 0 to 1"),
        (([1, 0], [0, 1]), {}, "ascending"),
        (([0, 1], [0, float("nan")]), {}, "from 0 to 1"),
        (([0, 1], [0, 1]), {"threshold": 80}, "threshold=80 lies outside"),
        (([0, 1], [0, 1]), {"threshold": 0.5, "reached": 2}, "reached=2 lies outside"),
        (([0, 1], [0, 1]), {"width": 10}, "width=10, height=.* too small"),
    ],
)
def test_what_is_not_a_curve_is_refused(draw, points, more, says):
    with pytest.raises(OptionError, match=says):
        draw(*points, **more)
