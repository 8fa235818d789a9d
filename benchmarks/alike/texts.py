"""Web pages as people write them: an article, and what the site puts before and behind it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from .collection import Collection, Planted, groups_of

#: Shingles are words:5, so a text has four fewer than words.
_WINDOW = 4
_SYLLABLES = [first + last for first in "bdfgklmnprstvz" for last in ("a", "e", "i", "o", "u", "an", "er")]
_NOTICES = (
    "we use cookies and similar technologies to give you the best experience on our site to measure how"
    " it is used and to show you advertising that fits your interests by clicking accept you agree to the"
    " storing of cookies on your device you may change your choice at any time in the settings read more"
    " about this in our privacy policy and in our terms of use",
    "home news sport weather shop travel culture more search sign in register your account newsletters"
    " follow us on social media contact the editors jobs with us advertise with us accessibility help all"
    " rights reserved no part of this page may be reproduced without written permission the publisher is"
    " not responsible for the content of external sites read about our approach to linking",
    "free delivery on all orders over fifty returns within thirty days no questions asked your basket is"
    " empty continue to checkout customers who bought this also bought write a review ask a question share"
    " this product compare prices gift cards store finder size guide secure payment by card or invoice"
    " prices include tax and exclude shipping unless stated otherwise subject to availability while stocks"
    " last",
)


def site(
    rng: np.random.Generator,
    *,
    pairs: int,
    words: int,
    header: int = 0,
    footer: int,
    groups: int,
    share: float,
    strangers: int = 0,
) -> Planted:
    """Pairs of articles, the one with so many words before it, the other with so many behind it.

    J = (words − 4) / (words − 4 + header + footer). The first three groups have the texts of real sites.
    """
    vocabulary = np.array(["".join(rng.choice(_SYLLABLES, size)) for size in rng.integers(2, 5, 4000)])
    # Common words are a little less common than in nature, so that no five in a row come twice.
    frequency = 1 / np.arange(20, len(vocabulary) + 20)
    frequency /= frequency.sum()

    def prose(size: int) -> str:
        return " ".join(rng.choice(vocabulary, size, p=frequency))

    def notice(kind: int, size: int) -> str:
        if kind < 0 or kind >= len(_NOTICES):
            return prose(size)
        words = _NOTICES[kind].split()
        if size > len(words):
            raise AssertionError(f"{size} words are asked of a notice that has {len(words)}")
        return " ".join(words[:size])

    headers = [notice(kind + 1 if groups < 3 else -1, header) for kind in range(groups)]
    footers = [notice(kind, footer) for kind in range(groups)]
    first, second = [], []
    for kind in groups_of(rng, pairs, groups, share):
        article = prose(words)
        first.append(f"{headers[kind] if kind >= 0 else prose(header)} {article}")
        second.append(f"{article} {footers[kind] if kind >= 0 else prose(footer)}")
    others = [f"{prose(words)} {notice(0, footer)}" for _ in range(strangers)]
    return Planted.in_halves(pa.array([*first, *second, *others]), pairs)


def collections() -> Iterator[Collection]:
    """Of texts."""

    def of(
        name: str, threshold: float, *, pairs: int, groups: int, share: float = 1.0, **sizes: int
    ) -> Collection:
        similarity = (sizes["words"] - _WINDOW) / (
            sizes["words"] - _WINDOW + sizes.get("header", 0) + sizes["footer"]
        )
        if similarity != threshold:
            raise AssertionError(f"{name}: {similarity}, not {threshold}")
        return Collection(
            name=f"texts: {name}",
            family="MinHash",
            measure="jaccard",
            threshold=threshold,
            groups=groups,
            share=share,
            pairs=pairs,
            plant=partial(site, pairs=pairs, groups=groups, share=share, **sizes),
        )

    yield of("one cookie notice", 0.8, pairs=1000, groups=1, words=124, footer=30)
    yield of("one header", 0.6, pairs=1000, groups=1, words=64, header=40, footer=0)
    yield of("one header and footer", 0.9, pairs=1000, groups=1, words=184, header=10, footer=10)
    yield of("half with one footer", 0.65, pairs=1000, groups=1, share=0.5, words=69, footer=35)
    yield of("3 sites", 0.7, pairs=1200, groups=3, words=130, footer=54)
    yield of("30 signatures", 0.55, pairs=1200, groups=30, words=48, footer=36)
    yield of("none", 0.75, pairs=1000, groups=0, words=94, footer=30)
    yield of("none, few pairs", 0.85, pairs=300, groups=0, words=106, footer=18, strangers=900)
