"""Options that several commands share: their names, their help, and the library's defaults."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike.applications.documents import PairOptions
from lookalike.cli.repeated import WITH
from lookalike.cli.typed import no_number
from lookalike.errors import OptionError
from lookalike.io import open_source
from lookalike.runs import choose_progress
from lookalike.wording import pointed

# Defaults that the library keeps in the signatures of functions rather than in options.
TEXT: str = inspect.signature(open_source).parameters["text"].default
ON_ERROR: str = inspect.signature(open_source).parameters["on_error"].default
PROGRESS: str = inspect.signature(choose_progress).parameters["kind"].default
SHINGLE = str(PairOptions.shingle)

READING = "What is read"
SIMILARITY = "What is similar"
KEEPING = "What is kept"
WRITING = "What is written"
RUNNING = "How it runs"

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        show_default=False,
        rich_help_panel=READING,
        help="Files, folders, globs in quotes, or - for jsonl on standard input. Parquet, jsonl, csv, tsv "
        "and txt are read, by the file's ending; all but parquet also as .gz or .zst. A .txt file is one "
        "document.",
    ),
]


def second_collection(metavar: str, help: str) -> Any:
    """The option that names another collection; what it is for is each command's own."""
    return typer.Option(WITH, metavar=metavar, show_default=False, rich_help_panel=READING, help=help)


Text = Annotated[
    str, typer.Option("--text", metavar="COL", rich_help_panel=READING, help="Column of the text.")
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COL",
        rich_help_panel=READING,
        help="Column of unique ids. Without it a document is called FILE:ROW, its row counted from 0.",
    ),
]
OnError = Annotated[
    str,
    typer.Option(
        "--on-error",
        metavar="raise|skip",
        rich_help_panel=READING,
        help="What to do with rows that cannot be read: stop at the first, or skip and count them.",
    ),
]

SetsGiven = Annotated[
    bool,
    typer.Option(
        "--sets",
        rich_help_panel=READING,
        help="The input holds sets: a set a line, tokens between white space (--id first: before them its "
        "id); or a table, as the options below say; or a sparse matrix (.npz, .mtx).",
    ),
]
SetOf = Annotated[
    str | None,
    typer.Option(
        "--set-of",
        metavar="COL",
        show_default=False,
        rich_help_panel=READING,
        help="Of a table with an item a row (user, item): the column of whose sets they are. Of a matrix: "
        "rows or columns.",
    ),
]
Items = Annotated[
    str | None,
    typer.Option(
        "--items",
        metavar="COL",
        show_default=False,
        rich_help_panel=READING,
        help="The column of what is in the sets; without --set-of it holds a list a row. Exchange the two "
        "for the dual: similar items rather than users.",
    ),
]
Rating = Annotated[
    str | None,
    typer.Option(
        "--rating",
        metavar="COL",
        show_default=False,
        rich_help_panel=READING,
        help="A column of numbers: rows under --least-rating are left out of the sets.",
    ),
]
LeastRating = Annotated[
    float | None,
    typer.Option(
        "--least-rating",
        metavar="NUMBER",
        show_default=False,
        rich_help_panel=READING,
        help="The least rating of an item that counts.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight",
        metavar="COL",
        show_default=False,
        rich_help_panel=READING,
        help="With --measure weighted-jaccard or weighted-cosine, of a table with an item a row: the column "
        "of weights; it may be the rating. Tokens of lines have theirs behind a colon (bread:2.5), matrices "
        "as values. What says nothing weighs 1, and weights of what occurs twice add up.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        show_default=False,
        rich_help_panel=READING,
        help="Of a set a line: what stands between tokens, instead of white space.",
    ),
]

Threshold = Annotated[
    float,
    typer.Option(
        "--threshold",
        "-t",
        metavar="NUMBER",
        rich_help_panel=SIMILARITY,
        help="The least similarity of a pair, over 0 and at most 1.",
    ),
]


def as_written(threshold: Any) -> str:
    """A threshold is a number with or without a unit; what it means, the measure knows."""
    return str(threshold).strip()


def number(threshold: str) -> float:
    """A threshold without a unit."""
    try:
        return float(threshold)
    except ValueError:
        pass
    if any(character.isdigit() for character in threshold) and pointed(threshold) is None:
        raise OptionError(
            f"--threshold {threshold} is no similarity: give a number such as 0.8; angles go with"
            " --measure angle"
        )
    raise OptionError(no_number("--threshold", threshold, such_as="0.8, or 20deg"))


def count_or_share(common: str | None) -> int | float | None:
    """A number of items, or a share of them if it has a point."""
    if common is None:
        return None
    try:
        return float(common) if "." in common else int(common)
    except ValueError:
        raise OptionError(
            f"--common {common} is no number: give a number of items such as 1000, or a share such as 0.1"
        ) from None


WrittenThreshold = Annotated[
    # Any: the default is a number, and a person may write a unit behind one.
    Any,
    typer.Option(
        "--threshold",
        "-t",
        metavar="NUMBER",
        parser=as_written,
        rich_help_panel=SIMILARITY,
        help="The least similarity of a pair, over 0 and at most 1; of overlap a count, 1 or more. Of "
        "vectors the greatest angle, such as 20deg, or distance; of cosine the least cosine. Of bits how "
        "many may differ, 3 if nothing is said.",
    ),
]
Recall = Annotated[
    float,
    typer.Option(
        "--recall",
        metavar="NUMBER",
        rich_help_panel=SIMILARITY,
        help="The promised chance that a pair exactly at the threshold is found; more similar pairs "
        "are found more often.",
    ),
]
_CUT = "How a document becomes a set: words:5, chars:9 (chars:5 for short text), or stopwords for news"
_SWITCHES = "Options follow it: chars:9+nfkc-case."
ShingleForm = Annotated[
    str,
    typer.Option("--shingle", metavar="UNIT:K", rich_help_panel=SIMILARITY, help=f"{_CUT}. {_SWITCHES}"),
]
#: Where a whole collection is at hand before its sets are made.
ShingleOfACollection = Annotated[
    str,
    typer.Option(
        "--shingle",
        metavar="UNIT:K",
        rich_help_panel=SIMILARITY,
        help=f"{_CUT}; or words:1+rare20, the 20 words of it that the fewest documents hold. {_SWITCHES}",
    ),
]
Slots = Annotated[
    int,
    typer.Option(
        "--slots",
        metavar="NUMBER",
        rich_help_panel=SIMILARITY,
        help="Length of a signature, elsewhere called num_perm.",
    ),
]
Bands = Annotated[
    int | None,
    typer.Option(
        "--bands",
        metavar="NUMBER",
        show_default="what keeps --recall",
        rich_help_panel=SIMILARITY,
        help="Bands of a banding of your own; --rows goes with it. What it gives at the threshold is then "
        "the promise, in place of --recall.",
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(
        "--rows",
        metavar="NUMBER",
        show_default="what keeps --recall",
        rich_help_panel=SIMILARITY,
        help="Slots in each of --bands.",
    ),
]
Verify = Annotated[
    str,
    typer.Option(
        "--verify",
        metavar="exact|signature|both",
        rich_help_panel=SIMILARITY,
        help="Check candidates on the data, or only by their signatures: faster, and approximate. Both: drop "
        "those whose signatures agree too little, then check the others on the data.",
    ),
]
Measure = Annotated[
    str,
    typer.Option(
        "--measure",
        metavar="jaccard|containment|cosine|overlap|tfidf|levenshtein|indel|angle|l2|l1|weighted-jaccard|"
        "weighted-cosine",
        rich_help_panel=SIMILARITY,
        help="What similarity is: of shared to joint elements, of shared to all of the first, the cosine, or "
        "how many are shared. By tfidf, the cosine of words weighed by how frequent they are in a document "
        "and how rare in the collection. Or, of texts as they are, how many edits lie between them "
        "(--distance). All these but jaccard and tfidf are found exactly, and those if --method says so. "
        "Of vectors, the angle or the distance. Of sets with weights (--weight), the sum of lesser to that "
        "of greater weights, or the cosine.",
    ),
]
Probes = Annotated[
    int | None,
    typer.Option(
        "--probes",
        metavar="N",
        rich_help_panel=SIMILARITY,
        help="Of vectors: look into so many buckets of a band, from 1, its own, to 128; fewer bands keep the "
        "recall then. Without it, into one, unless a long search is expected to be clearly shorter.",
    ),
]
NotCopies = Annotated[
    float | None,
    typer.Option(
        "--not-copies",
        metavar="SIMILARITY",
        rich_help_panel=SIMILARITY,
        help="With --measure tfidf: leave out pairs whose shingles of five words are at least so similar "
        "(0.2, say). What is left is close in meaning, and not copied.",
    ),
]
Distance = Annotated[
    int | None,
    typer.Option(
        "--distance",
        metavar="NUMBER",
        show_default=False,
        rich_help_panel=SIMILARITY,
        help="Of levenshtein (letters inserted, deleted or replaced) and indel (only the former): the most "
        "edits between the texts of a pair.",
    ),
]
METHODS = "auto|lsh|prefix|divide|signature|external|pyramid"
HOW_PAIRS_ARE_FOUND = (
    "How pairs are found: by bands of MinHash signatures (lsh), exactly by rare elements (prefix), or "
    "whichever of these is expected to cost less (auto); exactly by counting what is shared (divide), by a "
    "folded matrix (pyramid), or by signatures alone, in pieces (signature) or by sorting (external)."
)
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar=METHODS,
        rich_help_panel=SIMILARITY,
        help=HOW_PAIRS_ARE_FOUND,
    ),
]
Common = Annotated[
    str | None,
    typer.Option(
        "--common",
        metavar="NUMBER",
        show_default=False,
        rich_help_panel=SIMILARITY,
        help="With --method divide: leave out elements that more items than this hold (0.1: a tenth of all). "
        "Pairs that share nothing else are then missed, and it is said how many items that may concern.",
    ),
]
SuffixFilter = Annotated[
    bool,
    typer.Option(
        "--suffix-filter",
        rich_help_panel=SIMILARITY,
        help="With --method prefix: look for differences by halving before counting what two sets share. "
        "Changes how long it takes, never the answer.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="NUMBER",
        rich_help_panel=SIMILARITY,
        help="Draws the hashes. The same seed gives the same result, everywhere.",
    ),
]

OutputFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        show_default=False,
        rich_help_panel=WRITING,
        help="Folder to write. It appears when everything is done, or not at all.",
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", rich_help_panel=WRITING, help="Replace what an earlier run wrote under that name."
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", rich_help_panel=WRITING, help="Print the result as JSON, for programs."),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=RUNNING,
        help="Read and sign the input once, print the plan, the candidates and the expected cost; write "
        "nothing.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="NUMBER",
        show_default="all cores",
        rich_help_panel=RUNNING,
        help="Threads to use. The result does not depend on it.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        show_default="half of what is free",
        rich_help_panel=RUNNING,
        help="Memory to work with, such as 4GB, above what Python itself needs. What does not fit waits on "
        "disk. The result does not depend on it.",
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        show_default="beside the output",
        rich_help_panel=RUNNING,
        help="Folder for what does not fit memory, and for standard input; best on a fast disk.",
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        rich_help_panel=RUNNING,
        help="Go on with a run that was killed, interrupted, or out of disk or memory: the same input and "
        "options, and what it had done is not done again.",
    ),
]
ProgressKind = Annotated[
    str,
    typer.Option(
        "--progress",
        metavar="auto|bar|jsonl|off",
        rich_help_panel=RUNNING,
        help="What to show on standard error meanwhile: a bar (auto: on a terminal only) or lines of JSON.",
    ),
]
