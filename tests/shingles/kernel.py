"""The kernels' side of the comparison with the oracle."""

import numpy as np
from tests.shingles import oracle


def hashes(text, shingle, path=None):
    """The shingles of a text as the kernels have them: in order, repeats included."""
    return shingle.shingler().shingles(text.encode(), path=path).tolist()


def ragged(*texts):
    """Texts as kernels take them: bytes, and where each text begins."""
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def assert_cut_like_the_oracle(shingle, *texts):
    """One hash for one window, over all the texts together, in the order of the text."""
    seen = [x for text in texts for x in hashes(text, shingle)]
    windows = [x for text in texts for x in oracle.shingles(text, shingle)]
    assert len(seen) == len(windows)
    # As many couples as hashes and as windows: each has exactly one partner.
    couples = set(zip(seen, windows, strict=True))
    assert len(couples) == len(set(seen)) == len(set(windows))
