"""Errors in the words of the person who typed the command: --least-rating 4, not least_rating=4."""

from __future__ import annotations

import re
import shlex
from ast import literal_eval
from collections.abc import Mapping
from functools import partial
from typing import Any

#: Parameters of the library that are called otherwise on the command line, by what they are called there.
_OTHERWISE = {"of": "set_of", "share": "threshold", "kind": "measure", "width": "range_width"}
_OTHERWISE |= {"column": "text"}

#: A parameter and its value, as messages write them; not within a path or a quotation.
_GIVEN = re.compile(
    r"(?<![\w/.'\"=-])(?P<name>[a-z]\w*)="
    r"(?P<value>'[^']*'|\"[^\"]*\"|\([^()]*\)|[^\s,;:?()'\"/]*[^\s,;:?()'\"/.])(?![\w/'\"])"
)
#: A parameter of several words, without a value.
_NAMED = re.compile(r"(?<![\w/.'\"=-])[a-z]+(?:_[a-z]+)+(?![\w/.'\"=])")

#: Hints that errors carry as notes in the words of the library, and what one types instead.
_HINTS = (
    (re.compile(r"similar_pairs\(read_sets\(data, items=(.*)\)\)"), "lookalike pairs --sets --items {}"),
    (
        re.compile(r"similar_pairs\(data, measure=('\w+'), threshold=('\w+')\)"),
        "lookalike pairs --measure {} --threshold {}",
    ),
    (re.compile(r"similar_bits\(data\)"), "lookalike pairs --bits"),
)


def options_of(command: Any) -> dict[str, str]:
    """The options of a command, as they are typed, by the names of its parameters."""
    spelt = {}
    for parameter in command.params:
        written = [option for option in parameter.opts if option.startswith("-")]
        if written:
            spelt[str(parameter.name)] = max(written, key=len)
    return spelt


def hints_as_typed(error: BaseException) -> list[str]:
    """The hints of an error in the words of the command; those that only callers can use are left out.

    Examples
    --------
    >>> error = ValueError("no text")
    >>> error.add_note("These are sets: similar_pairs(read_sets(data, items='words'))")
    >>> error.add_note("Documents go in a list: [text]")
    >>> hints_as_typed(error)
    ['These are sets: lookalike pairs --sets --items words']
    """
    hints = []
    for note in getattr(error, "__notes__", ()):
        hint = note
        for said, typed in _HINTS:
            hint = said.sub(partial(_typed_call, typed), hint)
        if hint != note:
            hints.append(hint)
    return hints


def _typed_call(typed: str, call: re.Match[str]) -> str:
    return typed.format(*(shlex.quote(literal_eval(argument)) for argument in call.groups()))


def as_typed(message: str, options: Mapping[str, str]) -> str:
    """A message of the library with the parameters of a command as its options.

    Examples
    --------
    >>> as_typed("threshold='20deg' is no share: did you mean least_rating=4?", {"threshold": "--threshold"})
    '--threshold 20deg is no share: did you mean least_rating=4?'
    """

    def option(name: str) -> str | None:
        return options.get(name) or options.get(_OTHERWISE.get(name, ""))

    def given(found: re.Match[str]) -> str:
        typed, value = option(found["name"]), found["value"]
        if typed is None:
            return found[0]
        if value == "True":
            return typed
        quoted = value[0] in "'\""
        return f"{typed} {shlex.quote(value[1:-1]) if quoted else value.strip('()').replace(', ', ',')}"

    def named(found: re.Match[str]) -> str:
        return option(found[0]) or found[0]

    return _NAMED.sub(named, _GIVEN.sub(given, message))
