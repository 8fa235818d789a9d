"""Every error Lookalike raises, as one tree.

    LookalikeError
    ├── InputError                  the caller can mend it; the command exits 2
    │   ├── OptionError             a parameter is out of range or contradicts another (also a ValueError)
    │   │   ├── UnknownOptionError  there is none of that name (also a TypeError, as Python's own is)
    │   │   ├── UnreachableRecallError
    │   │   └── RowTooLargeError    rows that are compared do not fit the memory budget
    │   ├── SourceError             what was to be read is missing, broken or not what was promised
    │   │   ├── MissingColumnError
    │   │   ├── MalformedRowError   one row of one file; `on_error="skip"` counts it instead
    │   │   ├── DuplicateIdError
    │   │   └── EmptySourceError
    │   ├── OutputError             the result cannot be written where it was asked for
    │   │   ├── ScratchError        what does not fit memory cannot be set aside
    │   │   └── ResumeError         an unfinished run was begun with other parameters, inputs or versions
    │   └── ArtefactError           a stored file is damaged, or of another version or other parameters
    └── InternalError               our fault; the command exits 1

Messages say what was asked, what is possible, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lookalike.wording import meant


class LookalikeError(Exception):
    """The root: catch this to catch everything Lookalike raises on purpose.

    Examples
    --------
    >>> import lookalike as la
    >>> try:
    ...     la.dedup("no such folder")
    ... except la.LookalikeError as error:
    ...     print(error)
    there is no file or folder no such folder: check the name
    """


class InputError(LookalikeError):
    """Something the caller gave cannot be used as it is."""


class OptionError(InputError, ValueError):
    """A parameter is out of range, unknown, or contradicts another."""


class UnknownOptionError(OptionError, TypeError):
    """There is no option of that name."""

    @classmethod
    def of(cls, name: str, known: Iterable[str], *, where: str = "") -> UnknownOptionError:
        """Name the option, the one that was probably meant, and those there are.

        Examples
        --------
        >>> print(UnknownOptionError.of("num_perm", ["threshold", "slots"]))
        there is no option 'num_perm': did you mean slots? There are threshold, slots
        """
        there = list(known)
        near = meant(name, there)
        if near is None:
            return cls(f"there is no option {name!r}{where}: choose among {', '.join(there)}")
        return cls(f"there is no option {name!r}{where}: did you mean {near}? There are {', '.join(there)}")


class UnreachableRecallError(OptionError):
    """No banding of the given slots finds pairs at the threshold as often as promised."""


class RowTooLargeError(OptionError):
    """Rows that are looked at together do not fit the memory budget.

    Parameters
    ----------
    rows
        Their numbers. Whoever knows what they are called puts `names` in their place.
    needed, room
        How many bytes they take, and how many there are for them.
    enough
        A budget that would do.
    """

    def __init__(
        self, rows: Sequence[int], *, needed: int, room: int, enough: int, names: Sequence[str] = ()
    ) -> None:
        self.rows = tuple(rows)
        self.needed, self.room, self.enough, self.names = needed, room, enough, tuple(names)
        called = " and ".join(names or [f"row {row}" for row in rows])
        take = "takes" if len(rows) == 1 else "take together"
        super().__init__(
            f"{called} {take} about {needed:,} bytes, and the memory budget leaves {room:,} for what is "
            f"looked at at once: allow memory='{-(-enough // 10**6)}MB'"
        )

    def numbered(self, rows: Sequence[int]) -> RowTooLargeError:
        """The same by other numbers, where rows had been numbered anew."""
        return RowTooLargeError(rows, needed=self.needed, room=self.room, enough=self.enough)

    def called(self, names: Sequence[str]) -> RowTooLargeError:
        """The same by the names that users know."""
        how = {"needed": self.needed, "room": self.room, "enough": self.enough}
        return RowTooLargeError(self.rows, **how, names=names)


class SourceError(InputError):
    """The input is missing, broken, or not of the promised form."""


class MissingColumnError(SourceError, KeyError):
    """A named column is not in the input."""

    def __str__(self) -> str:
        # KeyError would quote the message as if it were a key.
        return Exception.__str__(self)


class MalformedRowError(SourceError):
    """One row of the input cannot be read."""


class DuplicateIdError(SourceError):
    """Two rows carry the same id."""


class EmptySourceError(SourceError):
    """There is nothing to read."""


class OutputError(InputError):
    """The result cannot be written where it was asked for."""


class ScratchError(OutputError):
    """What does not fit memory cannot be set aside where it was to wait."""


class ResumeError(OutputError):
    """An unfinished run cannot go on: what is asked for now is not what it was begun with."""


class ArtefactError(InputError):
    """A stored file is damaged, or was made by another version or with other parameters."""


class InternalError(LookalikeError):
    """A defect of Lookalike itself; the message asks the reader to report it."""
