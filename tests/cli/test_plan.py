"""lookalike plan."""

import json
import xml.etree.ElementTree as ET

import pytest

from lookalike import plan
from lookalike.theory.collisions import CauchyCollision, GaussianCollision, UnaryCollision


def test_the_plan_is_told_in_words_and_drawn(type_):
    ended = type_("plan")
    assert (ended.code, ended.err) == (0, "")
    assert "13 bands of 7 rows, 91 of 128 slots" in ended.out
    assert "promised 95%" in ended.out
    assert "looks at" in ended.out
    assert "misses" in ended.out
    assert "threshold 0.8: 95.3% found" in ended.out
    assert max(len(line) for line in ended.out.splitlines()[8:]) <= 80


def test_the_plan_says_what_all_pairs_would_cost_and_signatures_weigh(type_):
    told = type_("plan").out
    assert "all 499,999,500,000 pairs of 1,000,000 items, at 1 µs each, would take 5.8 days" in told
    assert "128 slots weigh 512.0 MB, their bucket keys 104.0 MB" in told
    told = type_("plan", "--items", "100000", "--slots", "100").out
    assert "their signatures of 100 slots weigh 40.0 MB" in told
    told = json.loads(type_("plan", "--items", "100000", "--json").out)
    assert told["outlay"] == plan(0.8).outlay(100_000).to_dict()


def test_a_banding_of_ones_own_is_shown_with_what_it_promises(type_, refused):
    told = type_("plan", "-t", "0.8", "--bands", "15", "--rows", "5").out
    assert "15 bands of 5 rows, 75 of 128 slots" in told
    assert "finds 99.74% of the pairs at similarity 0.8 (as bands and rows were given" in told
    typed = ("plan", "--bands", "20", "--rows", "5", "--slots", "100", "--json")
    assert json.loads(type_(*typed).out) == plan(0.8, bands=20, rows=5, slots=100).to_dict()
    assert refused("plan", "--bands", "20") == (
        "--bands 20 needs rows too: say how many slots a band has, such as --rows 5"
    )
    assert "leave out --recall" in refused("plan", "--bands", "20", "--rows", "5", "--recall", "0.9")
    assert "use --slots 140 or more" in refused("plan", "--bands", "20", "--rows", "7")


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
        "16 slots find at most 97.2% of pairs at similarity 0.2, short of --recall 0.99: "
        "use --slots 21 or more, or accept --recall 0.97"
    )


def test_an_angle_is_planned_and_drawn_in_degrees(type_, tmp_path):
    svg = tmp_path / "curve.svg"
    typed = ("plan", "--measure", "angle", "--threshold", "20deg", "--slots", "1024", "--svg", svg)
    ended = type_(*typed, "--recall", ".95")
    assert (ended.code, ended.err) == (0, "")
    assert "44 bands of 23 rows, 1,012 of 1,024 slots" in ended.out
    assert "chance to be found, by angle" in ended.out
    assert "▲ threshold 20°: 95.2% found" in ended.out
    assert "180°" in ended.out
    drawn = ended.out.splitlines()[7:-2]
    assert 40 <= max(map(len, drawn)) <= 78
    words = [element.text for element in ET.parse(svg).getroot().iter() if element.text]
    assert "angle of the pair" in words
    assert "threshold 20°: 95.2% found" in words


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("--measure angle -t 20deg", {"threshold": "20deg", "measure": "angle"}),
        ("--measure cosine", {"measure": "cosine"}),
        ("--measure cosine -t 20deg", {"threshold": "20deg", "measure": "cosine"}),
        ("--measure weighted-jaccard", {"measure": "weighted-jaccard"}),
        ("--measure l2 -t 1.5", {"threshold": 1.5, "measure": "l2"}),
        (
            "--measure l2 -t 1.5 --width 4",
            {"threshold": 1.5, "measure": "l2", "collision": GaussianCollision(4)},
        ),
        ("--measure l1 -t 3 --width 4", {"threshold": 3, "measure": "l1", "collision": CauchyCollision(4)}),
        (
            "--measure l1 -t 3 --extent 100",
            {"threshold": 3, "measure": "l1", "collision": UnaryCollision(100)},
        ),
        ("--measure hamming -t 3 --bits 64", {"threshold": 3, "measure": "hamming", "bits": 64}),
    ],
)
def test_every_measure_is_planned_as_the_library_does(type_, typed, asked):
    ended = type_("plan", *typed.split(), "--json")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == plan(**asked).to_dict()
    assert "finds" in type_("plan", *typed.split()).out


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("--measure angle -t 200deg", "--threshold 200deg is out of range"),
        ("--measure angle -t .9", "could be a cosine or a small angle"),
        ("--measure cosine -t 1.5", "a cosine is over -1 and at most 1"),
        ("--measure hamming -t 65 --bits 64", "of 64 bits, a whole number from 0 to 63 may differ"),
        (
            "--measure hamming -t 3",
            "--measure hamming needs to know how long items are: say so, such as --bits 64",
        ),
        ("--measure hamming --bits 64", "a plan by hamming needs a --threshold"),
        ("--measure hamming -t 3 --bits 0", "--bits 0 is out of range"),
        ("--measure l2", "a plan by l2 needs a --threshold"),
        ("--measure l2 -t 0", "a distance by l2 is over 0"),
        ("--measure l2 -t 1 --width -1", "--width -1 is out of range"),
        ("--measure l2 -t 1 --bits 8", "--bits is for --measure hamming, not l2"),
        ("--measure l2 -t 1 --extent 8", "--extent is for --measure l1, not l2"),
        ("--measure l1 -t 1 --extent 8 --width 2", "give one"),
        ("--measure l1 -t 9 --extent 8", "9 is not an L1 distance: they lie from 0 to 8"),
        ("--measure tfidf", "--measure tfidf goes by the cosine of two vectors: choose cosine"),
        ("--measure taste", "--measure taste is unknown: choose jaccard"),
        ("-t 20deg", "--threshold 20deg is not a number"),
        ("--measure angle -t 179deg --slots 4", "4 slots find at most 2.2% of pairs at angle 179°"),
    ],
)
def test_thresholds_that_are_none_are_refused_with_what_to_do(refused, typed, says):
    assert says in refused("plan", *typed.split())


def test_an_svg_that_cannot_be_written_is_an_error(refused, tmp_path):
    assert "cannot write" in refused("plan", "--svg", tmp_path / "deeper" / "curve.svg")
    assert list(tmp_path.iterdir()) == []
