"""Which road `auto` took and what others would have cost, in words for somebody who knows none of them."""

from __future__ import annotations

from lookalike.charts.numbers import seconds
from lookalike.theory import Choice
from lookalike.theory.choice import RoadEstimate

#: What roads are called. Of those that are not here, the name of the method says enough.
_NAMES = {
    "lsh": "bands (LSH)",
    "prefix": "exact prefixes",
    "divide": "counting all that is shared",
    "signature": "signatures alone",
    "external": "signatures alone, sorted",
    "pyramid": "a folded matrix (pyramid)",
    "exact": "comparing all with all",
    "pieces": "pieces of bits",
    "covering": "covering masks",
}
_MAY_MISS = ("lsh", "pyramid")


def road_name(method: str) -> str:
    """What a road is called in the lines that people read."""
    return _NAMES.get(method, method)


def told(choice: Choice) -> str:
    """The road that was taken, what it was expected to cost, and what the others would have cost.

    Examples
    --------
    >>> roads = {
    ...     "lsh": RoadEstimate(seconds=0.9, candidates=40.0),
    ...     "prefix": RoadEstimate(seconds=3.4, candidates=None),
    ... }
    >>> told(Choice(method="lsh", why="", roads=roads))
    'bands (LSH): 0.90 s expected; exact prefixes would take over 3.40 s'
    >>> told(Choice(method="divide", why="asked for", roads={}))
    'counting all that is shared: asked for'
    """
    taken = choice.roads.get(choice.method)
    others = {name: road for name, road in choice.roads.items() if name != choice.method}
    name = road_name(choice.method)
    if taken is None or not others:
        return f"{name}: {choice.why}"
    cost = ", ".join(
        f"{road_name(other)}{' would take' if first else ''} {_cost(road)}{_drawback(choice.method, other)}"
        for first, (other, road) in zip([True, *[False] * len(others)], others.items(), strict=False)
    )
    said = f"{name}: {seconds(taken.seconds)} expected; {cost}"
    cheaper = [other for other, road in others.items() if _surely_under(road, taken)]
    # What misses nothing may cost a little more. Any other road that is not the cheapest has a reason of its
    # own.
    if any(other not in _MAY_MISS or choice.method in _MAY_MISS for other in cheaper):
        return f"{said}; {choice.why}"
    return said


def _cost(road: RoadEstimate) -> str:
    return f"{'over ' if road.candidates is None else ''}{seconds(road.seconds)}"


def _drawback(taken: str, other: str) -> str:
    return " and may miss pairs" if other in _MAY_MISS and taken not in _MAY_MISS else ""


def _surely_under(road: RoadEstimate, other: RoadEstimate) -> bool:
    return road.candidates is not None and road.seconds < other.seconds
