"""lookalike compare"""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from lookalike.applications.compare import LEAST, Comparison
from lookalike.applications.compare import compare as compare_texts
from lookalike.applications.documents import PairOptions
from lookalike.cli import options as shared
from lookalike.cli.output import note
from lookalike.cli.side_by_side import show
from lookalike.errors import OptionError, SourceError

_STANDARD_INPUT = "-"
#: A text this long that is one shingle or two was not cut into words.
_UNCUT = 40


def _file(which: str) -> object:
    return typer.Argument(
        metavar=which,
        show_default=False,
        rich_help_panel=shared.READING,
        help=f"Text file {which} in UTF-8, or - for standard input.",
    )


def compare(
    a: Annotated[str, _file("A")],
    b: Annotated[str, _file("B")],
    shingle: shared.ShingleForm = shared.SHINGLE,
    slots: shared.Slots = PairOptions.slots,
    seed: shared.Seed = PairOptions.seed,
    least: Annotated[
        int,
        typer.Option(
            "--least",
            metavar="NUMBER",
            rich_help_panel=shared.SIMILARITY,
            help="How many words in a row make a shared passage (characters, with character shingles).",
        ),
    ] = LEAST,
    json: shared.Json = False,
) -> None:
    """Show how similar two texts are, and the passages they share.

    The texts are shown side by side. A passage both have is marked ⟦1: …⟧ with the same number, and on a
    terminal the same colour, in both; long stretches are cut in the middle.

    \b
    Examples:
      lookalike compare essay.txt source.txt
      lookalike compare old.txt new.txt --shingle chars:9 --least 40
    """
    if a == b == _STANDARD_INPUT:
        raise OptionError("- (standard input) can be read once only: name a file for A or for B")
    comparison = compare_texts(_text(a), _text(b), shingle=shingle, slots=slots, seed=seed, least=least)
    if json:
        print(jsonlib.dumps(comparison.to_dict(), indent=2))
        return
    print("\n".join(comparison.facts()))
    if comparison.passages:
        print()
        show(comparison, names=(a, b))
    for name, text, count in (
        (a, comparison.a, comparison.shingles[0]),
        (b, comparison.b, comparison.shingles[1]),
    ):
        _judge(name, text, count, comparison)


def _text(name: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if name == _STANDARD_INPUT else Path(name).read_bytes()
    except FileNotFoundError as error:
        raise SourceError(f"there is no file {name}: check the name") from error
    except IsADirectoryError as error:
        raise SourceError(
            f"{name} is a folder: name two text files, or use dedup or pairs on folders"
        ) from error
    except OSError as error:
        raise SourceError(f"cannot read {name}: {error.strerror}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{name} is not UTF-8 (byte 0x{raw[error.start]:02x} at offset {error.start}): convert it first, "
            f"for example with iconv -f latin1 -t utf-8"
        ) from error


def _judge(name: str, text: str, shingles: int, comparison: Comparison) -> None:
    """Say so when the shingles saw next to nothing of a text."""
    if shingles == 0:
        note(f"{name} holds no shingle at all, so it is like nothing")
    elif shingles <= 2 and len(text) >= _UNCUT and comparison.unit == "words":
        note(
            f"{name} has {len(text):,} characters and hardly a word shingle: for text written without spaces "
            "(Chinese, Japanese, Thai, …) use character shingles, such as --shingle chars:5"
        )
