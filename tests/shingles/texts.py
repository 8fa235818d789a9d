"""Texts to shingle: scripts of the world, and everything that trips a scanner of 64-byte blocks."""

from hypothesis import strategies as st
from tests.shingles.oracle import KNOWN

#: A few characters of each kind, so that words recur and windows repeat.
FEW = (
    "ab B1 \t\n\r\0-.'_"  # ASCII: letters of both cases, digits, spaces, NUL, punctuation
    "éÀßǅİıſKΣσςﬁﬀ"  # two-byte letters, and those that fold oddly or to several
    "\u0301\u0308\u200d\ufe0f\u00ad"  # combining marks, joiners, selectors
    "яЖहिन्दी"  # Cyrillic; Hindi with its vowel marks
    "שלוםمرحبا\u200f٣"  # right to left, with its mark and an Arabic digit
    "漢字ひらカタกข〇Ａ１①½²"  # no spaces, full width, numbers that are not digits
    "😀🏽🇩🇪𐐀𐐨𝔸🄰𠀀"  # beyond the basic plane: emoji, cased letters, mathematics, Han
    "\u2028\u3000\x85\x1c«»—…€"  # spaces and punctuation beyond ASCII, and a control that is no space
)

few = st.text(st.sampled_from(FEW), max_size=60)
any_known = st.text(st.sampled_from(KNOWN), max_size=40)

#: Words over a small vocabulary, some long, with separators of every width: repeats, and words across blocks.
prose = st.lists(
    st.sampled_from(
        [
            "a",
            "to",
            "be",
            "Be",
            "or",
            "not",
            "naïve",
            "Straße",
            "x" * 63,
            "y" * 64,
            "z" * 65,
            "हिन्दी",
            "w" * 200,
        ]
    )
    | st.sampled_from([" ", "  ", "\r\n", "\0", ", ", " — ", "。", "\u3000", " " * 61, "-" * 64]),
    max_size=80,
).map("".join)

#: No letter and no digit: symbols, marks and white space.
symbols = st.text(st.sampled_from("!?.-*# \t\n\u3000…—😀🇩❤☀\ufe0f\u0301\u200dⒶⅧ①"), max_size=12)

texts = few | any_known | prose | symbols
