"""Two texts beside each other, with what they share marked in both.

Passages that come in the same order in both texts stand on the same line; one that was moved stands in each
text where it belongs, under the same number. What is long is shown by its beginning and its end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from lookalike.applications.compare import Comparison, Piece
from lookalike.charts import numbers
from lookalike.cli.paper import Paper
from lookalike.measures.passages import Passage
from lookalike.wording import agreeing

#: The longest passages are shown; more of them would hide the text.
MOST = 40
#: Characters shown of a stretch at most: of one that is shared, and of one that is not.
_SHARED, _OTHER = 360, 160
_STYLES = (
    "black on bright_yellow",
    "black on bright_cyan",
    "black on bright_green",
    "black on bright_magenta",
)


def show(comparison: Comparison, *, names: tuple[str, str]) -> None:
    """Print the texts of a comparison to standard output, as wide as the terminal."""
    shown = longest(comparison.passages, MOST)
    table = Table(expand=True, header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in told_apart(*names):
        table.add_column(Text(name, overflow="ellipsis", no_wrap=True), ratio=1)
    for left, right in rows(*comparison.pieces(shown), in_step(shown)):
        table.add_row(_written(left), _written(right))
    console = Paper()
    console.print(table)
    left_out = len(comparison.passages) - len(shown)
    if left_out:
        console.print(
            f"{numbers.several(left_out, 'shorter passage')} {agreeing(left_out, 'is', 'are')} not "
            "marked; --least asks for longer ones"
        )


def told_apart(a: str, b: str) -> tuple[str, str]:
    """Two names without the folders they have in common, which leave no room for the rest.

    Examples
    --------
    >>> told_apart("essays/2024/anna.txt", "essays/2024/ben.txt")
    ('anna.txt', 'ben.txt')
    """
    same = 0
    parts = a.split("/"), b.split("/")
    while same < min(map(len, parts)) - 1 and parts[0][same] == parts[1][same]:
        same += 1
    return "/".join(parts[0][same:]), "/".join(parts[1][same:])


def longest(passages: Sequence[Passage], most: int) -> list[Passage]:
    """The `most` longest passages, in the order they came."""
    ranked = sorted(range(len(passages)), key=lambda at: (-passages[at].tokens, at))
    return [passages[at] for at in sorted(ranked[:most])]


def in_step(passages: Sequence[Passage]) -> set[int]:
    """Numbers, from 1, of the most passages that come in the same order in both texts."""
    # Patience sorting: `tails[n]` is the least place in b at which a chain of n + 1 passages can end.
    tails: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for at, passage in enumerate(passages):
        length = bisect_left(tails, passage.b_start)
        before.append(ends[length - 1] if length else None)
        tails[length : length + 1], ends[length : length + 1] = [passage.b_start], [at]
    chain: set[int] = set()
    step = ends[-1] if ends else None
    while step is not None:
        chain.add(step + 1)
        step = before[step]
    return chain


def rows(
    left: Sequence[Piece], right: Sequence[Piece], together: set[int]
) -> Iterator[tuple[list[Piece], list[Piece]]]:
    """What stands side by side: passages of `together`, each on a line, and what lies between them."""
    ours, theirs = _between(left, together), _between(right, together)
    for (a, shared_a), (b, shared_b) in zip(ours, theirs, strict=True):
        # A full stop between two passages is no difference worth a line.
        if any(sign.isalnum() for piece in (*a, *b) for sign in piece.text):
            yield a, b
        if shared_a is not None and shared_b is not None:
            yield [shared_a], [shared_b]


def _between(pieces: Sequence[Piece], together: set[int]) -> Iterator[tuple[list[Piece], Piece | None]]:
    waiting: list[Piece] = []
    for piece in pieces:
        if piece.passage in together:
            yield waiting, piece
            waiting = []
        else:
            waiting.append(piece)
    yield waiting, None


def _written(pieces: Sequence[Piece]) -> Text:
    text = Text()
    for piece in pieces:
        if piece.passage is None:
            text.append(elided(piece.text, _OTHER), style="dim")
        else:
            style = _STYLES[piece.passage % len(_STYLES)]
            text.append(f"⟦{piece.passage}: {elided(piece.text, _SHARED)}⟧", style=style)
        text.append(" ")
    return text


def elided(text: str, most: int) -> str:
    """A text on one line, its middle left out if it is longer than `most` characters.

    Examples
    --------
    >>> elided("to be or not to be, that is the question", 24)
    'to be or not to … question'
    """
    head, tail = text, ""
    if len(text) > 4 * most:
        # White space may fold to a third; what is certainly in the middle need not be looked at.
        head, tail = text[: 2 * most], text[-2 * most :]
    start, end = _line(head), _line(tail)
    if not end and len(start) <= most:
        return start
    end = (end or start)[-(most // 3) :]
    # Whole words only, if there are any.
    kept = start[: most - most // 3]
    return f"{kept.rpartition(' ')[0] or kept} … {end.partition(' ')[2] or end}"


def _line(text: str) -> str:
    # Control characters could speak to the terminal; they are shown as the white space they are not.
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
