"""Keywords that a function or a class does not know are named, together with the one that was meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from lookalike.errors import UnknownOptionError

Named = TypeVar("Named", bound=Callable[..., Any])


def suggesting(*options: type | str) -> Callable[[Named], Named]:
    """Decorate a function, or a class, so that an unknown keyword is an error which names a near one.

    `options` are the classes of which its `**options` are made, or names of them. What is in none of these
    is refused here; which of them go together is for those classes to say.

    Examples
    --------
    >>> @suggesting()
    ... def repeat(text, *, times=1):
    ...     return text * times
    >>> repeat("a", time=2)
    Traceback (most recent call last):
    lookalike.errors.UnknownOptionError: there is no option 'time': did you mean times? There are text, times
    """

    def decorate(named: Named) -> Named:
        if isinstance(named, type):
            setattr(named, "__init__", _checked(named.__dict__["__init__"], options))  # noqa: B010
            return named
        wrapped: Named = _checked(named, options)
        return wrapped

    return decorate


def _checked(function: Any, options: tuple[type | str, ...]) -> Any:
    known = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    for one in options:
        names = [one] if isinstance(one, str) else inspect.signature(one).parameters
        known += [name for name in names if name not in known]
    known = [name for name in known if name != "self"]
    there = frozenset(known)

    @wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if not there.issuperset(keywords):
            raise UnknownOptionError.of(next(name for name in keywords if name not in there), known)
        return function(*arguments, **keywords)

    return checked
