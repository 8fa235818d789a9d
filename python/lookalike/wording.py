"""Words that messages are made of: articles, one or several, a near name, and names whose blanks show."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

#: Words that begin with a vowel and are not spoken so, and abbreviations whose first letter is.
_NOT_SPOKEN_SO = re.compile(r"u(?:[0-9]|int|ni[oqtv]|se|sua|tf|u)|eu|one\b|once\b", re.IGNORECASE)
_SPELT_OUT = re.compile(r"[AEFHILMNORSX](?:[A-Z0-9]|\b)|ndarray")
_ABBREVIATION = re.compile(r"[A-Z](?:[A-Z0-9]|\b)")

#: What other tools call our parameters; docs/README.md has their other words.
_ELSEWHERE = {
    "slots": "num_perm num_perms num_permutations permutations num_hashes n_hashes hashes",
    "threshold": "jaccard_threshold similarity_threshold min_similarity similarity radius cutoff",
    "shingle": "ngram ngrams n_gram n_grams ngram_size kgram shingles shingle_size",
    "measure": "metric similarity_func_name distance_measure",
    "seed": "random_state",
    "threads": "n_jobs num_threads num_proc num_workers workers processes",
    "memory": "memory_limit max_memory",
    "method": "algorithm",
    "k": "n_neighbors n_neighbours top_k neighbours",
    "text": "text_column text_key text_field column",
    "id": "id_column id_key idx_column",
    "support": "min_support",
    "distance": "max_distance score_cutoff",
    "probes": "nprobe num_probes",
}
_OURS = {theirs: ours for ours, names in _ELSEWHERE.items() for theirs in names.split()}


def an(words: str) -> str:
    """Words with the article that goes before them, as they are spoken.

    Examples
    --------
    >>> an("int"), an("str"), an("uint64"), an("LSH index"), an("IterableDataset")
    ('an int', 'a str', 'a uint64', 'an LSH index', 'an IterableDataset')
    """
    if _SPELT_OUT.match(words) or _ABBREVIATION.match(words):
        vowel = _SPELT_OUT.match(words) is not None
    else:
        vowel = words[:1].lower() in {"a", "e", "i", "o", "u"} and _NOT_SPOKEN_SO.match(words) is None
    return f"{'an' if vowel else 'a'} {words}"


def agreeing(number: float, one: str, several: str) -> str:
    """The form of a word that goes with a number of things, as it is printed.

    Examples
    --------
    >>> agreeing(1, "has", "have"), agreeing(0, "has", "have"), agreeing(2, "row", "rows")
    ('has', 'have', 'rows')
    """
    return one if round(number) == 1 else several


def several(number: float, word: str) -> str:
    """A number of things and their name, in the plural but for one.

    Examples
    --------
    >>> several(1, "pair"), several(1234, "document")
    ('1 pair', '1,234 documents')
    """
    return f"{round(number):,} {agreeing(number, word, f'{word}s')}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words one after the other, as one says them.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def pointed(written: str) -> str | None:
    """The number that was meant where a decimal comma was written; None if it was nothing like that.

    Examples
    --------
    >>> pointed("0,8"), pointed("20,5deg"), pointed("0.8"), pointed("a,b")
    ('0.8', '20.5deg', None, None)
    """
    with_point = written.strip().replace(",", ".")
    number = re.fullmatch(r"[-+]?[0-9]*\.[0-9]+\s*[a-z°]*", with_point, re.IGNORECASE)
    return with_point if number and "," in written else None


def meant(name: str, known: Iterable[str]) -> str | None:
    """Which of the known names somebody probably meant: one that is written much like it, or ours for it.

    Examples
    --------
    >>> meant("treshold", ["threshold", "recall"]), meant("num_perm", ["slots", "seed"])
    ('threshold', 'slots')
    >>> meant("colour", ["threshold", "recall"]) is None
    True
    """
    there = list(known)
    written = {_plain(one): one for one in reversed(there)}
    if (same := written.get(_plain(name))) is not None:
        return same
    if (ours := _OURS.get(name.lower())) in there:
        return ours
    near = difflib.get_close_matches(_plain(name), list(written), n=1, cutoff=0.6)
    return written[near[0]] if near else None


def visible(name: str) -> str:
    """A name as it can be told from others: in quotation marks if blanks or invisible characters hide in it.

    Examples
    --------
    >>> visible("text"), visible("text "), visible("the text"), visible("\\ufefftext")
    ('text', "'text '", 'the text', "'\\\\ufefftext'")
    """
    return repr(name) if hides_something(name) or not name else name


def hides_something(name: str) -> bool:
    """Whether a name looks like another: blanks at an end, two in a row, or a character that nobody sees."""
    return name != " ".join(name.split()) or not name.isprintable()


def _plain(name: str) -> str:
    """Without case, blanks, and the marks that separate words."""
    return re.sub(r"[\s_\-\ufeff\u200b]+", "", name).lower()
