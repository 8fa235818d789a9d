"""Threshold and recall in, banding out, for any family.

For a given number of rows, more bands find more pairs, similar and dissimilar alike, and cost more. So for
each number of rows only the fewest bands that keep the promise are worth a look. All of that is about the
chance that one slot agrees; what distance means to that chance is the family's `collision`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lookalike.errors import OptionError, UnreachableRecallError
from lookalike.keywords import suggesting
from lookalike.theory import dealing
from lookalike.theory.banding import Banding
from lookalike.theory.cascades import Cascade
from lookalike.theory.collisions import (
    CauchyCollision,
    Collision,
    DealtBitsCollision,
    GaussianCollision,
    HyperplaneCollision,
    LinearCollision,
    MinHashCollision,
    WeightedMinHashCollision,
)
from lookalike.theory.costs import (
    seconds_for_checks,
    seconds_for_keys,
    seconds_for_vector_checks,
    seconds_for_vector_slots,
)
from lookalike.theory.dependence import least_chance
from lookalike.theory.distances import DistanceSample
from lookalike.theory.plans import Plan, unreachable
from lookalike.theory.quadrature import nodes
from lookalike.theory.ranges import MOST_SLOTS, checked_recall, checked_slots
from lookalike.theory.sample import SimilaritySample
from lookalike.theory.thresholds import Scale, Written, scale_of

__all__ = ["Plan", "plan", "plan_of"]

# The slots of the default family are slightly dependent: where the formula is under this, fewer pairs than it
# says meet in some band, by up to this much (measured; see tests/statistics).
_DEPENDENT = 0.6
_SPARE = 0.012

# Logarithms differ in their last bit from machine to machine; a plan must not. A promise is kept within this.
_SLACK = 1e-12

#: Bands of dealt bits are tried with every number of rows up to twice this, and then in steps of that part.
_FINE_ROWS = 48
#: A chance that is none.
_UNSEEN = 1e-16

#: Widths of buckets that are tried for projections, as multiples of the threshold: half of it to 64 times.
_WIDTHS = [2.0 ** (quarter / 4) for quarter in range(-4, 25)]

_FAMILIES = {
    "jaccard": ("minhash",),
    "weighted-jaccard": ("weighted-minhash",),
    "cosine": ("hyperplanes", "signs"),
    "angle": ("hyperplanes", "signs"),
    "l2": ("gaussian",),
    "l1": ("cauchy", "unary"),
    "hamming": ("dealt-bits", "bit-sampling"),
}

#: What each of some bandings costs: of some families all are told together.
Costs = Callable[[Sequence[Banding]], Sequence[float]]


@suggesting()
def plan(
    threshold: Written = 0.8,
    *,
    measure: str = "jaccard",
    recall: float = 0.95,
    slots: int = 128,
    bits: int | None = None,
    collision: Collision | None = None,
    similarities: SimilaritySample | None = None,
    distances: DistanceSample | None = None,
    bands: int | None = None,
    rows: int | None = None,
) -> Plan:
    """Choose how to cut a signature into bands.

    Of the bandings that find a pair exactly at `threshold` with probability at
    least `recall`, take the one expected to let the fewest dissimilar pairs through.
    Given a sample of the data, `similarities` (by agreeing slots) or `distances`, take
    the one expected to cost least: more rows let fewer pairs through and need more
    bands. Among equals, the one of fewest slots.

    The measure may be jaccard, weighted-jaccard, cosine, angle (`"20deg"`), l2, l1
    or hamming (a count, of `bits`). Its family is the usual one unless `collision`
    names another; projections are planned with the width of buckets that suits
    the threshold best.

    Who wants a banding of their own gives `bands` and `rows`. Nothing is chosen then:
    `recall` counts for nothing, and what is promised is what this banding gives at the
    threshold, `reached`.

    Raises
    ------
    UnreachableRecallError
        If no banding of `slots` slots is sensitive enough.
    OptionError
        If one of `bands` and `rows` is given without the other, or they are more than
        `slots` slots.

    Examples
    --------
    >>> plan(0.8, recall=0.95, slots=128).banding
    Banding(bands=13, rows=7)
    >>> plan() == plan(0.8, recall=0.95, slots=128)
    True
    >>> plan("20deg", measure="angle", slots=1024).banding
    Banding(bands=44, rows=23)
    >>> given = plan(0.8, bands=20, rows=5)
    >>> given.banding, round(given.reached, 4), given.recall == given.reached
    (Banding(bands=20, rows=5), 0.9996, True)
    """
    scale = scale_of(measure, bits=bits if collision is None else getattr(collision, "bits", bits))
    threshold = scale.read(threshold)
    recall = checked_recall(recall, exact="an exact method (prefix for sets, exact for vectors and bits)")
    slots = checked_slots(slots)
    banding = given_banding(bands, rows, slots)
    if similarities is not None and distances is not None:
        raise OptionError("a plan goes by one sample: give similarities or distances, not both")
    tried = families_for(measure, scale.distance(threshold), bits, collision)
    if similarities is not None and len(tried) > 1:
        raise OptionError(
            "how often slots agree depends on the width of buckets: give distances, or a collision"
        )
    if banding is not None:
        if len(tried) > 1:
            raise OptionError(
                f"bands={bands}, rows={rows}: what they give depends on the width of buckets: name it, by"
                " a collision such as GaussianCollision(width) (--width)"
            )
        return _as_given(scale, threshold, slots, banding, tried[0], similarities or distances)

    best = None
    for wanted, wary in _ways_to_keep(recall, tried[0]):
        best = best or _cheapest(scale, threshold, tried, wanted, slots, similarities or distances, wary)
    if best is None:
        family = max(tried, key=lambda one: scale.agreement(threshold, one))
        most_sensitive = _chances(scale, threshold, Banding(bands=slots, rows=1), family)
        needed = next(
            (one.bands for one in _worthwhile(scale, threshold, family, recall, MOST_SLOTS, 0.0)), None
        )
        raise UnreachableRecallError(unreachable(scale, threshold, most_sensitive, recall, slots, needed))
    return _described(scale, threshold, recall, slots, *best, similarities or distances)


def given_banding(bands: int | None, rows: int | None, slots: int) -> Banding | None:
    """The banding that somebody asked for; None if they left it open.

    Examples
    --------
    >>> given_banding(20, 5, slots=128), given_banding(None, None, slots=128)
    (Banding(bands=20, rows=5), None)
    """
    if bands is None and rows is None:
        return None
    if rows is None:
        raise OptionError(f"bands={bands!r} needs rows too: say how many slots a band has, such as rows=5")
    if bands is None:
        raise OptionError(f"rows={rows!r} needs bands too: say how many bands there are, such as bands=20")
    banding = Banding(bands=bands, rows=rows)
    if banding.slots > slots:
        raise OptionError(
            f"bands={bands}, rows={rows} take {banding.slots:,} slots, and there are {slots:,}:"
            f" use slots={banding.slots} or more"
        )
    return banding


def _as_given(
    scale: Scale,
    threshold: float,
    slots: int,
    banding: Banding,
    family: Collision,
    sample: SimilaritySample | DistanceSample | None,
) -> Plan:
    """The plan of a banding that was asked for."""
    if family.most_rows is not None and banding.rows > family.most_rows:
        raise OptionError(
            f"rows={banding.rows} is out of range: {family.family} has {family.most_rows} at most"
        )
    plan = _described(scale, threshold, 0.0, slots, banding, family, sample)
    return replace(plan, recall=plan.reached, given=True)


def plan_of(banding: Banding, threshold: float, *, recall: float, slots: int) -> Plan | None:
    """The plan of a given banding for Jaccard similarity; None if it does not keep the promise.

    Examples
    --------
    >>> plan_of(Banding(bands=13, rows=7), 0.7, recall=0.95, slots=128) is None
    True
    """
    wanted = recall
    if recall < _DEPENDENT:
        # As much to spare as a plan would have, or what there is.
        wanted = min(recall + _SPARE, plan(threshold, recall=recall, slots=slots).reached)
    if banding.probability(threshold) < wanted - _SLACK:
        return None
    return _described(scale_of("jaccard"), threshold, recall, slots, banding, MinHashCollision(), None)


def with_bands(chosen: Plan, bands: int, distances: DistanceSample) -> Plan:
    """A plan of as many rows a band and another number of bands, and what that promises."""
    banding = Banding(bands=bands, rows=chosen.banding.rows)
    return _described(
        chosen.scale, chosen.threshold, chosen.recall, chosen.slots, banding, chosen.collision, distances
    )


def families_for(
    measure: str, distance: float, bits: int | None, collision: Collision | None
) -> Sequence[Collision]:
    """The families to choose between: one, or projections of several widths."""
    if collision is not None:
        if collision.family not in _FAMILIES[measure]:
            raise OptionError(
                f"collision={collision!r} is not for measure={measure!r}:"
                f" that takes {' or '.join(_FAMILIES[measure])}"
            )
        return [collision]
    if measure in ("cosine", "angle"):
        return [HyperplaneCollision()]
    if measure == "hamming":
        assert bits is not None  # or its scale would not be known
        return [DealtBitsCollision(bits)]
    if measure == "l2":
        return [GaussianCollision(distance * ratio) for ratio in _WIDTHS]
    if measure == "l1":
        return [CauchyCollision(distance * ratio) for ratio in _WIDTHS]
    return [MinHashCollision() if measure == "jaccard" else WeightedMinHashCollision()]


def _ways_to_keep(recall: float, family: Collision) -> Iterator[tuple[float, float]]:
    """What the formula must say, and the least chance be where slots are dependent: first what is best."""
    if family.dependent:
        # A low promise is kept with something to spare, if that is within reach, and else to the letter.
        if recall < _DEPENDENT:
            yield recall + _SPARE, recall
        yield recall, recall
    yield recall, 0.0


def _cheapest(
    scale: Scale,
    threshold: float,
    tried: Sequence[Collision],
    recall: float,
    slots: int,
    sample: SimilaritySample | DistanceSample | None,
    wary: float,
) -> tuple[Banding, Collision] | None:
    """Of all families and bandings that keep the promise the one that costs least, then of fewest slots."""
    best: tuple[tuple[float, int], Banding, Collision] | None = None
    for family in tried:
        bandings = list(_worthwhile(scale, threshold, family, recall, slots, wary))
        if not bandings:
            continue
        costs = _costs(scale, threshold, family, sample)(bandings)
        for banding, cost in zip(bandings, costs, strict=True):
            key = rounded(cost), banding.slots
            if best is None or key < best[0]:
                best = key, banding, family
    return None if best is None else best[1:]


def _costs(
    scale: Scale, threshold: float, family: Collision, sample: SimilaritySample | DistanceSample | None
) -> Costs:
    """What bandings are judged by: expected seconds, or without a sample the area beyond the threshold."""
    if isinstance(sample, SimilaritySample):
        similarities = sample

        def by_agreements(banding: Banding) -> float:
            keys = seconds_for_keys(similarities.keyed_items, banding.bands)
            candidates = similarities.expected_candidates(banding)
            return keys + seconds_for_checks(candidates, similarities.bytes_per_item)

        return _each(by_agreements)
    if isinstance(sample, DistanceSample):
        distances = sample
        candidates_of: Costs = (
            partial(distances.candidates_of_dealt, family)
            if isinstance(family, DealtBitsCollision)
            else _each(distances.candidates(family))
        )

        seconds = partial(_seconds, distances, family)
        return lambda bandings: list(map(seconds, bandings, candidates_of(bandings)))
    if isinstance(family, DealtBitsCollision):
        return lambda bandings: _dealt_areas(threshold, bandings, family)[1]
    if isinstance(family, LinearCollision):
        agreement = scale.agreement(threshold, family)
        return _each(lambda banding: banding.false_positive_area(agreement))
    points, weights = nodes(scale.distance(threshold), scale.furthest(threshold, family))
    agreements = family.probabilities(points)
    return _each(lambda banding: float(weights @ banding.probabilities(agreements)))


def _seconds(sample: DistanceSample, family: Collision, banding: Banding, candidates: float) -> float:
    values = sample.values_per_item
    signing = seconds_for_vector_slots(sample.keyed_items, banding.slots, values if family.reads_all else 1.0)
    keys = seconds_for_keys(sample.keyed_items, banding.bands)
    return signing + keys + seconds_for_vector_checks(candidates, values)


def _each(cost: Callable[[Banding], float]) -> Costs:
    return lambda bandings: [cost(banding) for banding in bandings]


def _described(
    scale: Scale,
    threshold: float,
    recall: float,
    slots: int,
    banding: Banding,
    family: Collision,
    sample: SimilaritySample | DistanceSample | None,
) -> Plan:
    """The plan with all that can be said of it."""
    missed, passed = _areas(scale, threshold, banding, family)
    # The banding was chosen by what the sample cannot rule out, too; what is said of it is what is likely.
    candidates, cost = None, None
    if isinstance(sample, SimilaritySample):
        candidates = sample.likely_candidates(banding)
        cost = _costs(scale, threshold, family, sample)([banding])[0]
    elif isinstance(sample, DistanceSample):
        candidates = sample.likely_candidates(banding, family)
        cost = _seconds(sample, family, banding, sample.candidates(family)(banding))
    return Plan(
        threshold=threshold,
        recall=recall,
        slots=slots,
        banding=banding,
        reached=_chances(scale, threshold, banding, family)[0],
        false_negatives=missed,
        false_positives=passed,
        expected_candidates=candidates,
        expected_cost=cost,
        measure=scale.measure,
        collision=family,
    )


def _areas(scale: Scale, threshold: float, banding: Banding, family: Collision) -> tuple[float, float]:
    """What is missed within the threshold and passed beyond it, in units of distance."""
    if isinstance(family, DealtBitsCollision):
        missed, passed = _dealt_areas(threshold, [banding], family)
        return missed[0], passed[0]
    if isinstance(family, LinearCollision):
        agreement = scale.agreement(threshold, family)
        return (
            family.limit * banding.false_negative_area(agreement),
            family.limit * banding.false_positive_area(agreement),
        )
    cascade = Cascade(family).and_(banding.rows).or_(banding.bands)
    return cascade.areas(scale.distance(threshold), furthest=scale.furthest(threshold, family))


def _dealt_areas(
    threshold: float, bandings: Sequence[Banding], family: DealtBitsCollision
) -> tuple[list[float], list[float]]:
    """The areas of several bandings; between whole distances the chance lies on straight lines."""
    at, most = int(threshold), family.bits
    # Beyond that distance independent bands would meet more seldom than the digits of a sum can show.
    sure = max(1 - (_UNSEEN / banding.bands) ** (1 / banding.rows) for banding in bandings)
    met, missed = dealing.chances(most, bandings, np.arange(max(at, min(most, math.ceil(sure * most))) + 1))
    areas = [(part[:, 1:] + part[:, :-1]).sum(axis=1) / 2 for part in (missed[:, : at + 1], met[:, at:])]
    return areas[0].tolist(), areas[1].tolist()


def _chances(scale: Scale, threshold: float, banding: Banding, family: Collision) -> tuple[float, float]:
    """The chances to find a pair exactly at the threshold, and to miss it."""
    banded = family.banded(banding)
    if banded is not None:
        found, missed = banded.chances(scale.distance(threshold))
        return float(found), float(missed)
    agreement = scale.agreement(threshold, family)
    return banding.probability(agreement), banding.miss(agreement)


def _worthwhile(
    scale: Scale, threshold: float, family: Collision, recall: float, slots: int, wary: float
) -> Iterator[Banding]:
    """For each number of rows the fewest bands that reach `recall`, while the slots last.

    And whose least chance, of dependent slots, reaches `wary`.
    """
    most_rows = min(slots, family.most_rows or slots)
    if isinstance(family, DealtBitsCollision):
        if threshold:
            # Two bands to a shuffle at least: else which bits are in many bands is a matter of luck.
            most_rows = max(1, min(most_rows, family.bits // 2))
        # Beyond some number of rows one more is no longer another banding.
        widths = [rows for rows in range(1, most_rows + 1) if not rows % max(1, rows // _FINE_ROWS)]
        bands_of = dealing.fewest_bands(family.bits, widths, int(threshold), recall, most=slots)
        for rows, bands in zip(widths, bands_of, strict=False):
            yield Banding(bands=bands, rows=rows)
        return
    agreement = scale.agreement(threshold, family)
    for rows in range(1, most_rows + 1):
        fewest = fewest_bands(agreement, recall, rows, most=slots // rows)
        if fewest is None:
            return  # more rows need at least as many bands, so more slots still
        for bands in range(fewest, slots // rows + 1):
            banding = Banding(bands=bands, rows=rows)
            if not wary or least_chance(banding, agreement, slots=slots) >= wary - _SLACK:
                yield banding
                break


def fewest_bands(agreement: float, recall: float, rows: int, *, most: int) -> int | None:
    """The fewest bands that find a pair with probability `recall` whose slots agree with `agreement`.

    None if it takes more than `most`.
    """
    in_one_band = agreement**rows
    if in_one_band == 1:
        return 1
    log_miss = math.log1p(-in_one_band)
    log_allowed = math.log1p(-recall) + _SLACK
    if most * log_miss > log_allowed:
        return None
    return min(most, max(1, math.ceil(log_allowed / log_miss)))


def rounded(cost: float) -> float:
    """Nine digits of a cost, so that two machines agree on which of two equal bandings is the better one."""
    return float(f"{cost:.8e}")
