"""The words that messages are made of, and that every message of the package is made of them."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike.errors
from lookalike.wording import an, meant, pointed, several, visible

PACKAGE = Path(lookalike.errors.__file__).parent


@pytest.mark.parametrize(
    "said",
    [
        *(
            "an int",
            "a str",
            "a list",
            "a float",
            "an object",
            "an ndarray",
            "an Array",
            "an IterableDataset",
        ),
        *("a uint64", "a UUID", "a union", "a user", "a unit", "an unknown", "an unsigned", "an upper bound"),
        *(
            "an LSH index",
            "an SVG",
            "an N",
            "a URL",
            "a UTF-8 string",
            "a NumPy array",
            "a Series",
            "a MinHash",
        ),
        *(
            "a .npy",
            "a csv",
            "a one",
            "a Series",
            "an IterableDataset",
            "a European",
            "an OrderedDict",
            "a DataFrame",
        ),
    ],
)
def test_articles_go_by_how_a_word_is_spoken(said):
    assert an(said.partition(" ")[2]) == said


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (0.6, "1 row"), (1200, "1,200 rows")]
)
def test_there_is_one_row_and_there_are_several_rows(number, said):
    assert several(number, "row") == said


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("treshold", ["recall", "threshold"], "threshold"),
        ("Threshold", ["recall", "threshold"], "threshold"),
        ("num_perm", ["slots", "seed"], "slots"),
        ("num_perm", ["seed"], None),
        ("n_jobs", ["threads", "memory"], "threads"),
        ("text", ["id", "text "], "text "),
        ("text", ["Text", "text "], "Text"),
        ("text", ["\ufefftext"], "\ufefftext"),
        ("colour", ["threshold", "seed"], None),
    ],
)
def test_the_name_that_was_meant_is_found(name, known, near):
    assert meant(name, known) == near


@pytest.mark.parametrize(
    "hidden", [" ", "\t", "\n", "\r", "\xa0", "\u200b", "\ufeff", "\u00ad", "\u2028", "\x00"]
)
@pytest.mark.parametrize("place", ["{}text", "text{}", "te{}{}xt"])
def test_no_character_hides_in_a_name(hidden, place):
    shown = visible(place.format(hidden, hidden))
    assert shown[0] == shown[-1] == "'"
    assert shown.isprintable()
    assert ast.literal_eval(shown) == place.format(hidden, hidden)


@given(st.from_regex(r"[a-zA-Zé_0-9]+( [a-z]+)?", fullmatch=True))
def test_a_plain_name_is_shown_as_it_is(name):
    assert visible(name) == name


@given(st.floats(0.001, 1e6).map(lambda number: f"{number:.3f}"), st.sampled_from(["", "deg", " rad"]))
def test_a_decimal_comma_is_read_as_a_point(number, unit):
    assert pointed(number.replace(".", ",") + unit) == number + unit
    assert pointed(number + unit) is None


def test_a_list_of_numbers_is_not_one_with_a_comma():
    assert [pointed(written) for written in ("1,2,3", "a,b", "1,", "", "0.5,0.6")] == [None] * 5


#: What is counted and never one, or names no things: it is not worth a function.
_NEVER_ONE = {
    ("applications/documents/summary.py", "numbers.count(counts['largest_clusters'][0])"),  # over 1,000
    ("applications/documents/summary.py", "numbers.count(large.rows)"),  # more than a bucket holds
    ("applications/sets/edges.py", "len(ids)"),  # two with one hash
    ("applications/vectors/collection.py", "len(given)"),
    ("cli/compare.py", "len(text)"),  # 40 at least
    ("cli/meaning.py", "numbers.count(MOST_TERMS)"),
    ("joins/choice.py", "count(others)"),
    ("joins/divide.py", "numbers.count(crowd.meetings)"),
    ("joins/external.py", "numbers.count(crowd.meetings)"),
    ("joins/hammingtable.py", "len(sought.words)"),  # not 1: that is the error
    ("joins/joined.py", "len(b)"),
    ("joins/lookers.py", "len(homes) + len(lookers)"),
}
_ARTICLE = re.compile(r"(?:^|[\s(\"'])[Aa]n? ['\"]?$")
_SINGULAR = "is|has|was|as|holds|says|this|its|does"
_MANY = re.compile(
    rf" (?:(?!of|to|in)[a-z]+ ){{0,2}}?(?!(?:{_SINGULAR})\b)[a-z]+s\b| (?:have|are|were|share|hold)\b"
)
_COUNT = re.compile(r"(?:numbers\.)?count\(|len\(")


def _pieces(file):
    """Each two neighbouring pieces of the f-strings of a file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for pair in zip(node.values, node.values[1:], strict=False):
                yield node.lineno, *pair


def _articles(file):
    for line, one, other in _pieces(file):
        if (
            isinstance(one, ast.Constant)
            and isinstance(other, ast.FormattedValue)
            and _ARTICLE.search(one.value)
        ):
            yield f"{file.name}:{line}: …{one.value[-20:]}{{{ast.unparse(other.value)}}}: use wording.an"


def _plurals(file, root=PACKAGE):
    for line, one, other in _pieces(file):
        if isinstance(one, ast.FormattedValue) and isinstance(other, ast.Constant):
            counted = ast.unparse(one.value)
            known = (file.relative_to(root).as_posix(), counted) in _NEVER_ONE
            if _COUNT.match(counted) and _MANY.match(other.value) and not known:
                yield f"{file.name}:{line}: {{{counted}}}{other.value[:20]}…: use wording.several or agreeing"


FILES = sorted(PACKAGE.rglob("*.py"))


def test_no_message_chooses_an_article_before_it_knows_the_word():
    assert [said for file in FILES for said in _articles(file)] == []


def test_no_message_counts_one_in_the_plural():
    assert [said for file in FILES for said in _plurals(file)] == []


def test_the_look_at_messages_sees_such_defects(tmp_path):
    file = tmp_path / "sample.py"
    messages = ["a {kind} cannot be read", "{count(n)} rows", "{count(n)} have none", "{count(n)} is one"]
    file.write_text("".join(f'f"{message}"\n' for message in messages))
    assert len(list(_articles(file))) == 1
    assert len(list(_plurals(file, tmp_path))) == 2
