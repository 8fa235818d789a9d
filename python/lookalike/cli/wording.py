"""Errors in the words of the person who typed the command: --least-rating 4, not least_rating=4."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

#: Parameters of the library that are called otherwise on the command line, by what they are called there.
_OTHERWISE = {"of": "set_of", "share": "threshold", "kind": "measure", "width": "range_width"}

#: A parameter and its value, as messages write them; not within a path or a quotation.
_GIVEN = re.compile(
    r"(?<![\w/.'\"=-])(?P<name>[a-z]\w*)="
    r"(?P<value>'[^']*'|\"[^\"]*\"|\([^()]*\)|[^\s,;:?()'\"/]*[^\s,;:?()'\"/.])(?![\w/'\"])"
)
#: A parameter of several words, without a value.
_NAMED = re.compile(r"(?<![\w/.'\"=-])[a-z]+(?:_[a-z]+)+(?![\w/.'\"=])")


def options_of(command: Any) -> dict[str, str]:
    """The options of a command, as they are typed, by the names of its parameters."""
    spelt = {}
    for parameter in command.params:
        written = [option for option in parameter.opts if option.startswith("-")]
        if written:
            spelt[str(parameter.name)] = max(written, key=len)
    return spelt


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
