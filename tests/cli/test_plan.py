"""lookalike plan."""

import json
import xml.etree.ElementTree as ET

from lookalike import plan


def test_the_plan_is_told_in_words_and_drawn(type_):
    ended = type_("plan")
    assert (ended.code, ended.err) == (0, "")
    assert "13 bands of 7 rows, 91 of 128 slots" in ended.out
    assert "promised 95%" in ended.out
    assert "looks at" in ended.out
    assert "misses" in ended.out
    assert "threshold 0.8: 95.3% found" in ended.out
    assert max(len(line) for line in ended.out.splitlines()[4:]) <= 80


def test_the_plan_is_that_of_the_library(type_):
    ended = type_("plan", "-t", "0.6", "--recall", "0.9", "--slots", "64", "--json")
    assert json.loads(ended.out) == plan(0.6, recall=0.9, slots=64).to_dict()


def test_the_curve_is_drawn_as_svg(type_, tmp_path):
    ended = type_("plan", "--svg", tmp_path / "curve.svg")
    assert str(tmp_path / "curve.svg") in ended.out
    assert ET.parse(tmp_path / "curve.svg").getroot().tag.endswith("svg")


def test_recall_out_of_reach_says_what_is(refused):
    message = refused("plan", "-t", "0.2", "--recall", "0.99", "--slots", "16")
    assert message == (
        "16 slots find at most 97.2% of pairs at similarity 0.2, short of recall=0.99: "
        "use slots=21 or more, or accept recall=0.97"
    )


def test_an_svg_that_cannot_be_written_is_an_error(refused, tmp_path):
    assert "cannot write" in refused("plan", "--svg", tmp_path / "deeper" / "curve.svg")
    assert list(tmp_path.iterdir()) == []
