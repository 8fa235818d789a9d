"""lookalike plan"""

from __future__ import annotations

import json as jsonlib
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from lookalike.applications.documents import PairOptions
from lookalike.charts import Axis, numbers, s_curve_svg, s_curve_text
from lookalike.cli import options as shared
from lookalike.cli.typed import refuse_recall_of_given_bands
from lookalike.errors import OptionError
from lookalike.runs import atomic_write
from lookalike.theory import Plan
from lookalike.theory import plan as choose
from lookalike.theory.collisions import CauchyCollision, Collision, GaussianCollision, UnaryCollision
from lookalike.theory.luck import unlucky_recall
from lookalike.theory.outlay import Outlay

Value = TypeVar("Value")

#: For so many items the plan says what all pairs would cost, unless it is told how many there are.
_ITEMS = 1_000_000

#: A chart is drawn as wide as the terminal, within reason.
_NARROWEST, _WIDEST = 40, 78


def plan(
    context: typer.Context,
    threshold: Annotated[
        # Any: the default is a number, and a person may write a unit behind one.
        Any,
        typer.Option(
            "--threshold",
            "-t",
            metavar="NUMBER",
            parser=shared.as_written,
            rich_help_panel=shared.SIMILARITY,
            help="What makes a pair: of jaccard and weighted-jaccard the least similarity, over 0 and at "
            "most 1; of cosine the least cosine; of angle the greatest angle, such as 20deg; of l2 and l1 "
            "the greatest distance; of hamming how many bits may differ.",
        ),
    ] = PairOptions.threshold,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="jaccard|weighted-jaccard|cosine|angle|l2|l1|hamming",
            rich_help_panel=shared.SIMILARITY,
            help="What similarity or distance is, and with it the family: MinHash, hyperplanes, projections "
            "cut into buckets, or samples of bits.",
        ),
    ] = PairOptions.measure,
    recall: shared.Recall = PairOptions.recall,
    slots: shared.Slots = PairOptions.slots,
    bits: Annotated[
        int | None,
        typer.Option(
            "--bits",
            metavar="NUMBER",
            show_default=False,
            rich_help_panel=shared.SIMILARITY,
            help="Of hamming: how many bits an item has.",
        ),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(
            "--width",
            metavar="NUMBER",
            show_default="what suits the threshold",
            rich_help_panel=shared.SIMILARITY,
            help="Of l2 and l1: the width of the buckets that projections are cut into.",
        ),
    ] = None,
    extent: Annotated[
        float | None,
        typer.Option(
            "--extent",
            metavar="NUMBER",
            show_default=False,
            rich_help_panel=shared.SIMILARITY,
            help="Of l1: the length of all coordinates' ranges together, to sample levels of coordinates "
            "(a unary code) instead of projecting.",
        ),
    ] = None,
    bands: shared.Bands = None,
    rows: shared.Rows = None,
    items: Annotated[
        int | None,
        typer.Option(
            "--items",
            metavar="NUMBER",
            show_default="1000000",
            rich_help_panel=shared.SIMILARITY,
            help="For how many items to say what all pairs would cost, at a microsecond each, and what "
            "signatures weigh. With --json only if it is given.",
        ),
    ] = None,
    json: shared.Json = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="FILE", rich_help_panel=shared.WRITING, help="Also draw the curve as SVG."
        ),
    ] = None,
) -> None:
    """Show what a threshold and a promised recall ask of the bands.

    A signature is cut into bands, and two items are compared if they agree in one whole band. The curve
    says how likely that is, by similarity or by distance. Without data at hand the plan takes all of them to
    be equally common; dedup and pairs choose by a sample of the documents, see dedup --dry-run.

    \b
    Examples:
      lookalike plan --threshold 0.7 --recall 0.99
      lookalike plan -t 0.5 --slots 256 --svg curve.svg
      lookalike plan -t 0.8 --bands 20 --rows 5 --items 100000
      lookalike plan --measure angle --threshold 20deg --slots 1024
      lookalike plan --measure hamming --bits 64 --threshold 3
    """
    given = str(context.get_parameter_source("threshold")).endswith("COMMANDLINE")
    if not given and measure in ("angle", "l2", "l1", "hamming"):
        raise OptionError(f"a plan by {measure} needs a --threshold: {PairOptions.threshold} is a similarity")
    refuse_recall_of_given_bands(context, bands, rows)
    chosen = choose(
        threshold,
        measure=measure,
        recall=recall,
        slots=slots,
        bits=_of("--bits", bits, measure, "hamming"),
        collision=_collision(
            measure, _of("--width", width, measure, "l2", "l1"), _of("--extent", extent, measure, "l1")
        ),
        bands=bands,
        rows=rows,
    )
    outlay = chosen.outlay(_ITEMS if items is None else items)
    values, chances = chosen.curve(401)
    axis = _axis(chosen)
    if svg is not None:
        drawn = s_curve_svg(values, chances, threshold=chosen.threshold, reached=chosen.reached, axis=axis)
        atomic_write(svg, drawn.encode())
    if json:
        told = chosen.to_dict() if items is None else {**chosen.to_dict(), "outlay": outlay.to_dict()}
        print(jsonlib.dumps(told, indent=2))
        return
    width_of_chart = min(max(shutil.get_terminal_size().columns - 2, _NARROWEST), _WIDEST)
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(chosen)
    print(_spared(outlay, chosen.slots))
    if measure == "jaccard":
        print(_luck(chosen))
    print()
    print(
        s_curve_text(
            values,
            chances,
            threshold=chosen.threshold,
            reached=chosen.reached,
            axis=axis,
            width=width_of_chart,
            height=18,
            unicode=unicode,
        )
    )
    if svg is not None:
        print(f"\nwritten: {svg}")


def _spared(outlay: Outlay, slots: int) -> str:
    """What all pairs would cost, and what is kept instead of comparing them."""
    items, weight = numbers.several(outlay.items, "item"), numbers.bytes_(outlay.signature_bytes)
    return (
        f"to compare all {numbers.several(outlay.pairs, 'pair')} of {items}, at 1 µs each, would take"
        f" {_in_days(outlay.seconds)}\n"
        f"their signatures of {numbers.several(slots, 'slot')} weigh {weight},"
        f" their bucket keys {numbers.bytes_(outlay.key_bytes)}"
    )


def _luck(chosen: Plan) -> str:
    """What one draw may find, in plain words."""
    unlucky = numbers.percent(unlucky_recall(chosen.banding, chosen.threshold))
    return (
        "luck: of pairs that all differ alike, as pages with one footer do, one run in twenty would find"
        f"\nunder {unlucky} by these bands alone; a run measures that, and adds bands if it was unlucky"
    )


def _in_days(seconds: float) -> str:
    for unit, length in (("years", 365.25 * 86_400), ("days", 86_400.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return numbers.seconds(seconds)


def _of(option: str, value: Value | None, measure: str, *measures: str) -> Value | None:
    """An option that only some measures have."""
    if value is not None and measure not in measures:
        raise OptionError(f"{option} is for --measure {' or '.join(measures)}, not {measure}: leave it out")
    return value


def _collision(measure: str, width: float | None, extent: float | None) -> Collision | None:
    """The family that the options name, if they name one."""
    if width is not None and extent is not None:
        raise OptionError("--width cuts projections into buckets and --extent does without them: give one")
    if extent is not None:
        return UnaryCollision(extent)
    if width is not None:
        return GaussianCollision(width) if measure == "l2" else CauchyCollision(width)
    return None


def _axis(chosen: Plan) -> Axis:
    scale = chosen.scale
    low, high = scale.axis(chosen.threshold)
    return Axis(name=scale.noun, low=low, high=high, unit=scale.unit, falls=not scale.rises)
