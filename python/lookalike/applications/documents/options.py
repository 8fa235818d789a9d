"""What can be asked of a search for similar documents; everything else takes its defaults from here."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, get_args

from lookalike.applications.documents.asked import Asked, in_short
from lookalike.clusters import parse_keep
from lookalike.errors import OptionError
from lookalike.io.units import Unit
from lookalike.joins.divide import most_rows
from lookalike.joins.prepare import Verify
from lookalike.keywords import suggesting
from lookalike.shingles import Shingle
from lookalike.theory import Banding, plan
from lookalike.theory.first_filter import first_filter
from lookalike.theory.planning import given_banding
from lookalike.theory.pyramid import plan_pyramid
from lookalike.theory.ranges import checked_recall, checked_seed, checked_slots, checked_threshold

Method = Literal["auto", "lsh", "prefix", "divide", "signature", "external", "pyramid"]
Measure = Literal["jaccard", "containment", "cosine", "overlap"]

#: Methods that find every pair, and know every measure.
EXACT_METHODS = ("prefix", "divide")
_CHOICES: dict[str, tuple[str, ...]] = {
    "measure": get_args(Measure),
    "method": get_args(Method),
    "verify": get_args(Verify),
}


@suggesting()
@dataclass(frozen=True, kw_only=True)
class PairOptions(Asked):
    """How similar pairs are searched for.

    Parameters
    ----------
    threshold
        The least similarity of a pair; of `overlap`, the least count, 1 or more.
    recall
        The promised chance that a pair exactly at the threshold is found; `lsh` and `pyramid` keep it, and
        other methods find every pair.
    shingle
        How a document becomes a set, such as `words:5`, `chars:9`, `stopwords` or `words:1+rare20` (of its
        words the 20 that the fewest documents hold); or a `Shingle`.
    slots
        Length of a signature (peers call it `num_perm`).
    seed
        Draws the hashes. Another seed may find another few of the pairs that a run misses.
    measure
        What similarity means, of sets of shingles or of sets (of bags, with a shingle such as `words:1+bag`):
        `jaccard`, |a ∩ b| / |a ∪ b|; `containment`, |a ∩ b| / |a|, how much of a is in b; `cosine`,
        |a ∩ b| / √(|a|·|b|); `overlap`, |a ∩ b|. All but `jaccard` need an exact method. Containment is
        directed: within one collection each direction that reaches the threshold is a pair of its own.
    method
        `lsh`: MinHash signatures and bands. `prefix`: every pair, exactly, by the rarest elements of sets,
        best for small sets and high thresholds. `divide`: every pair, exactly, by counting all that any two
        sets share. `signature`, `external`: every pair whose signatures agree in a fraction `threshold` of
        their slots; the column is then called `estimate`. `pyramid`: bands of a folded boolean matrix, for
        thresholds from .5. `auto`: `lsh` or `prefix`, whichever is expected to cost less; `account.choice`
        says why.
    verify
        `exact`: every candidate is checked on the data. `signature`, with `lsh`: by agreement of signatures,
        cheaper and approximate; the column is then called `estimate`. `both`, with `lsh`: candidates whose
        signatures agree too little are dropped first, and the others checked on the data. Of the pairs at the
        threshold that loses a thousandth at most, which bands make up for.
    common
        With `divide`: leave out elements that more items than this hold (a fraction: of the items, copies
        aside). Pairs that share nothing else are then missed, and `account.left_out` says how many items that
        may concern. None, the default, leaves nothing out.
    suffix_filter
        With `prefix`: before what two sets share is counted, look for differences behind the first common
        element by halving what is left. It changes how long a run takes and never the answer. `auto` does
        without, since it has not paid where it was measured (`benchmarks/prefix.py`).
    bands, rows
        A banding of one's own for `lsh`, of so many bands of so many rows, in place of one that keeps
        `recall`. What is promised then is what it gives at the threshold, and no bands are added to it.

    Examples
    --------
    >>> options = PairOptions(threshold=0.5, shingle="chars:9")
    >>> options.recall, options.shingle
    (0.95, 'chars:9')
    >>> PairOptions(threshold=1.5)
    Traceback (most recent call last):
    lookalike.errors.OptionError: threshold=1.5 is out of range: over 0 and at most 1
    """

    threshold: float = 0.8
    recall: float = 0.95
    shingle: str | Shingle = "words:5"
    slots: int = 128
    seed: int = 0
    measure: Measure = "jaccard"
    method: Method = "auto"
    verify: Verify = "exact"
    common: int | float | None = None
    suffix_filter: bool = False
    bands: int | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise OptionError(f"{name}={getattr(self, name)!r} is unknown: {_advised(self, name)}")
        object.__setattr__(self, "threshold", _checked_threshold(self.threshold, self.measure))
        object.__setattr__(
            self, "recall", checked_recall(self.recall, exact="method='prefix'", method=self.method)
        )
        object.__setattr__(self, "slots", checked_slots(self.slots))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        _check_together(self)
        object.__setattr__(self, "shingle", in_short(self.shingle))
        self.check_promise()

    def check_promise(self) -> None:
        """Say at once that a promise cannot be kept: it is not worth a pass over the data."""
        if self.method == "pyramid":
            plan_pyramid(self.threshold, recall=self.recall)
        elif self.method == "lsh" or (self.method == "auto" and self.measure == "jaccard"):
            wanted = [self.recall]
            if self.verify == "both":
                first = first_filter(self.threshold, slots=self.slots, recall=self.recall)
                wanted.append(first.bands_recall(self.recall))
            for recall in wanted:
                plan(self.threshold, recall=recall, slots=self.slots, bands=self.bands, rows=self.rows)

    @property
    def banding(self) -> Banding | None:
        """The banding that was asked for."""
        return given_banding(self.bands, self.rows, self.slots)

    @property
    def column(self) -> str:
        """What the column of similarities is called."""
        estimated = self.verify == "signature" or self.method in ("signature", "external")
        return "estimate" if estimated else "similarity"

    def by(self, method: str) -> Self:
        """The same, by a method that is settled."""
        return replace(self, method=method)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; `of` reads them back."""
        plain = asdict(self)
        if isinstance(self.shingle, Shingle):
            plain["shingle"]["stops"] = list(self.shingle.stops or ())
        return plain


def _advised(options: PairOptions, name: str) -> str:
    if name == "measure" and options.measure in ("levenshtein", "indel"):
        return (
            "distances between strings are what similar_strings finds (pairs --measure, on the command line)"
        )
    further = (
        "; documents take tfidf, strings levenshtein or indel, sets with weights weighted-jaccard or"
        " weighted-cosine, bits hamming (--bits), vectors angle, l2 or l1"
    )
    return f"choose {' or '.join(_CHOICES[name])}{further if name == 'measure' else ''}"


def _checked_threshold(threshold: float, measure: str) -> float:
    """A similarity over 0 and at most 1; of overlap, a count."""
    if measure != "overlap":
        return checked_threshold(threshold)
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 1 <= threshold < 2**32:
        raise OptionError(f"threshold={threshold!r} is out of range: overlap is a count, 1 or more")
    if threshold != int(threshold):
        raise OptionError(f"threshold={threshold!r} is no count: overlap is a whole number, 1 or more")
    return float(threshold)


def _check_together(options: PairOptions) -> None:
    """Refuse what no road does."""
    if options.common is not None:
        most_rows(options.common, 1)
        if options.method != "divide":
            raise OptionError(
                f"common={options.common!r} goes with method='divide', not with method={options.method!r}, "
                "which needs nothing left out"
            )
    if options.banding is not None and (
        options.method not in ("auto", "lsh") or options.measure != "jaccard"
    ):
        raise OptionError(
            f"bands={options.bands}, rows={options.rows} go with method='lsh' and measure='jaccard', not with"
            f" method={options.method!r} and measure={options.measure!r}: leave them out"
        )
    if not isinstance(options.suffix_filter, bool):
        raise OptionError(f"suffix_filter={options.suffix_filter!r} is neither True nor False")
    if options.suffix_filter and options.method != "prefix":
        raise OptionError(
            f"suffix_filter=True goes with method='prefix', not with method={options.method!r}: leave it out"
        )
    if options.measure != "jaccard" and options.method not in ("auto", *EXACT_METHODS):
        raise OptionError(
            f"method={options.method!r} finds pairs by Jaccard similarity, not by {options.measure}: "
            "choose method='prefix' or method='divide', or leave it at 'auto'"
        )
    by_signatures = ("auto", "lsh", *(("signature", "external") if options.verify == "signature" else ()))
    if options.verify != "exact" and (options.method not in by_signatures or options.measure != "jaccard"):
        raise OptionError(
            f"verify={options.verify!r} goes with method='lsh' and measure='jaccard', not with "
            f"method={options.method!r} and measure={options.measure!r}: leave it at 'exact'"
        )


@suggesting()
@dataclass(frozen=True, kw_only=True)
class DedupOptions(PairOptions):
    """How near-duplicates are searched for, and which of them is kept.

    `measure` is `jaccard` or `cosine` here: a document that is contained in a longer one is no duplicate of
    it, and a count of shared shingles says little of how alike two documents are.

    Parameters
    ----------
    keep
        `first` (in order of path and row), `longest`, or `max:COLUMN`.
    group
        `components`: everything connected is one cluster. `star`: every dropped document is at or over the
        threshold to one that is kept.
    unit
        What is compared and dropped: a whole `document`, or a `paragraph` (between blank lines) or a `line`,
        wherever in the collection it occurs again. Documents then lose their repeated parts, and those of
        which nothing is left are dropped.

    Examples
    --------
    >>> options = DedupOptions(threshold=0.7, keep="longest")
    >>> options.group, options.unit
    ('components', 'document')
    """

    unit: Unit = "document"
    keep: str = "first"
    group: Literal["components", "star"] = "components"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.measure not in ("jaccard", "cosine"):
            raise OptionError(
                f"measure={self.measure!r} does not tell duplicates: choose jaccard or cosine, or list the "
                "pairs with similar_pairs"
            )
        parse_keep(self.keep)
        if self.group not in ("components", "star"):
            raise OptionError(f"group={self.group!r} is unknown: choose components or star")
        if self.unit not in ("document", "paragraph", "line"):
            raise OptionError(f"unit={self.unit!r} is unknown: choose document, paragraph or line")
