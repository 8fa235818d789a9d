"""Every error Lookalike raises, as one tree.

    LookalikeError
    ├── InputError                  the caller can mend it; the command exits 2
    │   ├── OptionError             a parameter is out of range or contradicts another (also a ValueError)
    │   │   └── UnreachableRecallError
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


class LookalikeError(Exception):
    """The root: catch this to catch everything Lookalike raises on purpose."""


class InputError(LookalikeError):
    """Something the caller gave cannot be used as it is."""


class OptionError(InputError, ValueError):
    """A parameter is out of range, unknown, or contradicts another."""


class UnreachableRecallError(OptionError):
    """No banding of the given slots finds pairs at the threshold as often as promised."""


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
