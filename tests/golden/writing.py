"""Golden vectors as files, one for every version of the algorithms."""

import json
from pathlib import Path

from lookalike import _core

HERE = Path(__file__).parent


def file_of(kind):
    """The golden vectors of this version."""
    return HERE / f"{kind}-{_core.ALGORITHM_VERSION}.json"


def write(kind, golden, arguments):
    """Writes what `golden` makes, unless it is written already; returns why not."""
    file = file_of(kind)
    if file.exists() and arguments != ["--overwrite"]:
        return f"{file.name} is there already: if answers were meant to change, raise ALGORITHM_VERSION"
    file.write_text(json.dumps(golden(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return None
