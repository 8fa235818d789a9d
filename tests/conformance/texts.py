"""Small collections for the oracle: texts that are unlike each other, and edited copies of them."""

import random


def prose(words, seed, *, vocabulary=20_000):
    """So many words drawn at random: two of them share next to no window."""
    draw = random.Random(seed)
    return [f"w{draw.randrange(vocabulary)}" for _ in range(words)]


def variants(template, count, seed, *, changes=1):
    """Copies of a template, each with other words in `changes` places drawn at random."""
    draw = random.Random(seed)
    copies = []
    for copy in range(count):
        tokens = list(template)
        for place in draw.sample(range(len(tokens)), changes):
            tokens[place] = f"v{seed}x{copy}x{place}"
        copies.append(tokens)
    return copies


def joined(collection):
    """Tokens as texts."""
    return [" ".join(tokens) for tokens in collection]


def families(count, seed, *, words=60, most=5, changes=3):
    """Shuffled texts: originals, each with up to `most` copies in which up to `changes` words differ."""
    draw = random.Random(seed)
    rows = []
    for family in range(count):
        original = prose(words + draw.randrange(words), seed * 1000 + family)
        rows.append(original)
        for copy in range(draw.randrange(most + 1)):
            rows += variants(original, 1, seed * 1000 + copy, changes=draw.randrange(changes + 1))
    draw.shuffle(rows)
    return joined(rows)


def dressed(text, seed):
    """The same words in other dress: capitals, punctuation and white space differ."""
    draw = random.Random(seed)
    marks = (" ", "  ", ", ", ". ", "!\n", "\t", " — ", " (", "…")
    return "".join(
        draw.choice((str.upper, str.lower, str.title))(word) + draw.choice(marks) for word in text.split()
    )
