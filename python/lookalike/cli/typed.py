"""What a person typed: the command line, and which options. The others may take defaults of the items."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextvars import ContextVar
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

from lookalike.errors import OptionError
from lookalike.wording import meant, pointed

#: The command line that is running, word by word.
command_line: ContextVar[tuple[str, ...]] = ContextVar("command_line", default=())
#: Options that name places, any number of them.
_NAMED_PLACES = frozenset({"against", "other"})
#: When it was started, by `time.monotonic`.
began: ContextVar[float | None] = ContextVar("began", default=None)


def command_seconds() -> float:
    """How long the command that is running has taken so far."""
    now = time.monotonic()
    return now - (began.get() or now)


def kinds_of(command: Callable[..., Any]) -> dict[str, type]:
    """What the values of a command's options are, by the names of its parameters: numbers, paths, strings."""
    hints = get_type_hints(command)
    known = {name: {hint, *get_args(hint)} for name, hint in hints.items()}
    return {name: kind for name, kinds in known.items() for kind in (int, float, Path) if kind in kinds}


def check_given(
    parser: Any, parameters: Sequence[Any], kinds: Mapping[str, type], arguments: Sequence[str]
) -> None:
    """Look over what was typed, before the parser takes the last of two values and Python an empty path.

    Raises
    ------
    OptionError
        If an option that has one value is given twice, a path is empty, or a number is not written as one.
    """
    try:
        options, _, order = parser.parse_args(list(arguments))
    except Exception as mistake:
        # The class of the parser's mistakes has moved between versions of typer.
        if (unknown := getattr(mistake, "option_name", None)) and hasattr(mistake, "possibilities"):
            _refuse_unknown(unknown, parameters)
        raise
    for parameter in parameters:
        if parameter.param_type_name != "option":
            continue
        option = max(parameter.opts, key=len)
        value = options.get(parameter.name)
        takes_one = not (parameter.multiple or parameter.is_flag or parameter.count)
        if takes_one and sum(one.name == parameter.name for one in order) > 1:
            raise OptionError(f"{option} is given more than once, and takes one value: say which it is to be")
        if isinstance(value, str):
            _check_value(option, kinds.get(parameter.name, str), value)
        elif parameter.name in _NAMED_PLACES and not all(one.strip() for one in value or ()):
            raise OptionError(f"{option} is empty: name a place behind it, or leave the option out")


def _refuse_unknown(written: str, parameters: Sequence[Any]) -> None:
    """Name the option that was probably meant; other tools' words for ours are known."""
    known = [
        option[2:]
        for parameter in parameters
        if parameter.param_type_name == "option"
        for option in parameter.opts
        if option.startswith("--")
    ]
    near = meant(written.lstrip("-").replace("-", "_"), known)
    if near is not None:
        raise OptionError(f"there is no option {written}: did you mean --{near}?")


def _check_value(option: str, kind: type, value: str) -> None:
    if kind is Path and not value.strip():
        raise OptionError(f"{option} is empty: name a place behind it, or leave the option out")
    if kind in (int, float):
        try:
            kind(value)
        except ValueError:
            raise OptionError(no_number(option, value, whole=kind is int)) from None


def no_number(option: str, value: str, *, whole: bool = False, such_as: str = "") -> str:
    """That an option's value is no number, and how to write the one that was probably meant.

    Examples
    --------
    >>> no_number("--threshold", "0,8")
    '--threshold 0,8 is no number: write 0.8, with a point'
    >>> no_number("--slots", "many", whole=True)
    '--slots many is no whole number: give one such as 12'
    """
    if not whole and (number := pointed(value)) is not None:
        return f"{option} {value} is no number: write {number}, with a point"
    bare = re.sub(r"[\s,_'.]", "", value)
    if whole and bare.isdecimal() and re.fullmatch(r"[0-9]{1,3}([\s,_'.][0-9]{3})+", value.strip()):
        return f"{option} {value} is no whole number: write {bare}, without marks"
    shown = value if value.strip() else repr(value)
    example = such_as or ("12" if whole else "0.8")
    return f"{option} {shown} is no {'whole ' if whole else ''}number: give one such as {example}"


def typed(context: typer.Context, name: str) -> bool:
    """Whether a person typed this option."""
    return str(context.get_parameter_source(name)).endswith("COMMANDLINE")


def refuse(context: typer.Context, names: Iterable[str], what: str) -> None:
    """Refuse these options if they were typed: they would be ignored."""
    for name in names:
        if typed(context, name):
            raise OptionError(f"--{name.replace('_', '-')} has no meaning with {what}: leave it out")


def only(context: typer.Context, known: Set[str], what: str) -> None:
    """Refuse options that were typed and would be ignored."""
    refuse(context, [name for name in context.params if name not in known], what)


def refuse_recall_of_given_bands(context: typer.Context, bands: int | None, rows: int | None) -> None:
    """Raise if a recall was typed beside a banding, which gives the recall it gives."""
    if (bands is not None or rows is not None) and typed(context, "recall"):
        raise OptionError(
            "--bands and --rows give the recall they give at the threshold: leave out --recall, or leave out"
            " both and have the banding chosen"
        )
