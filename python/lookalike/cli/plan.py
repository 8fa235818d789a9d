"""lookalike plan"""

from __future__ import annotations

import json as jsonlib
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from lookalike.applications.documents import PairOptions
from lookalike.charts import s_curve_svg, s_curve_text
from lookalike.cli import options as shared
from lookalike.runs import atomic_write
from lookalike.theory import plan as choose

#: A chart is drawn as wide as the terminal, within reason.
_NARROWEST, _WIDEST = 40, 78


def plan(
    threshold: shared.Threshold = PairOptions.threshold,
    recall: shared.Recall = PairOptions.recall,
    slots: shared.Slots = PairOptions.slots,
    json: shared.Json = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="FILE", rich_help_panel=shared.WRITING, help="Also draw the curve as SVG."
        ),
    ] = None,
) -> None:
    """Show what a threshold and a promised recall ask of the bands.

    A signature is cut into bands, and two documents are compared if they agree in one whole band. The curve
    says how likely that is, by similarity. Without data at hand the plan takes all similarities to be equally
    common; dedup and pairs choose by a sample of the documents, see dedup --dry-run.

    \b
    Examples:
      lookalike plan --threshold 0.7 --recall 0.99
      lookalike plan -t 0.5 --slots 256 --svg curve.svg
    """
    chosen = choose(threshold, recall=recall, slots=slots)
    similarities, chances = chosen.curve(401)
    if svg is not None:
        atomic_write(
            svg, s_curve_svg(similarities, chances, threshold=threshold, reached=chosen.reached).encode()
        )
    if json:
        print(jsonlib.dumps(chosen.to_dict(), indent=2))
        return
    width = min(max(shutil.get_terminal_size().columns - 2, _NARROWEST), _WIDEST)
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(chosen)
    print()
    drawn = s_curve_text(
        similarities,
        chances,
        threshold=threshold,
        reached=chosen.reached,
        width=width,
        height=18,
        unicode=unicode,
    )
    print(drawn)
    if svg is not None:
        print(f"\nwritten: {svg}")
