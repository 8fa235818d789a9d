"""Options that `lookalike pairs` alone has: what its items may be, and what is written of copies."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli.options import HOW_PAIRS_ARE_FOUND, METHODS, READING, SIMILARITY, WRITING
from lookalike.cli.repeated import MEASUREMENTS

BitsGiven = Annotated[
    bool,
    typer.Option(
        "--bits",
        rich_help_panel=READING,
        help="Items are bits, such as perceptual hashes and fingerprints: hexadecimal strings, in .parquet "
        "also binaries, uint64 or lists of uint8, in the column `bits` or the one that --text names; "
        "hexadecimal lines of .txt; or the rows of a .npy (uint8 as packed bytes, uint64, or booleans) or "
        ".bvecs file. With --on-error skip, the width that most rows have is the right one. By --measure "
        "hamming (the default here; --threshold is how many bits may differ) or jaccard, which is "
        "Tanimoto's.",
    ),
]
Measurements = Annotated[
    list[str] | None,
    typer.Option(
        MEASUREMENTS,
        metavar="COL...",
        show_default=False,
        rich_help_panel=READING,
        help="Items are rows of measurements, such as faces: their columns, one after the other or between "
        "commas. The items of a pair are close (--within) in at least a share (--threshold) of them.",
    ),
]
Within = Annotated[
    str | None,
    typer.Option(
        "--within",
        metavar="NUMBER",
        show_default=False,
        rich_help_panel=SIMILARITY,
        help="Of measurements: by how much close values may differ, one number or one for each (2,2,0.5).",
    ),
]
RangeWidth = Annotated[
    str | None,
    typer.Option(
        "--range-width",
        metavar="NUMBER",
        show_default="three times --within",
        rich_help_panel=SIMILARITY,
        help="Of measurements: how wide the ranges of values are that a bucket holds. Changes the time, and "
        "not what is promised.",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar=f"{METHODS}|exact|pieces|covering",
        rich_help_panel=SIMILARITY,
        help=f"{HOW_PAIRS_ARE_FOUND} Vectors: auto, lsh or exact. Bits: these, pieces or covering. "
        "Measurements, tfidf, weighted-jaccard and weighted-cosine: auto, lsh or exact.",
    ),
]
Copies = Annotated[
    str | None,
    typer.Option(
        "--copies",
        metavar="all|stars",
        show_default="all",
        rich_help_panel=WRITING,
        help="all: write every pair, those between exact copies too; over 100 million pairs that only copies "
        "make are an error, unless all is typed. stars: write each copy once, with the first of them.",
    ),
]
