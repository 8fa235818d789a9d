"""Sizes of memory: as a person writes them, and as this machine has them free."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lookalike.errors import OptionError
from lookalike.theory.ranges import whole

#: What is taken to be free where the system does not tell.
UNKNOWN_MEMORY = 2_000_000_000

#: Letters for powers of 1000; with an i behind them, of 1024. A letter alone is the smaller of the two, so
#: that nobody gets more than they meant.
_LETTERS = "kmgtp"
_FORM = re.compile(
    rf"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?:(?P<letter>[{_LETTERS}])(?P<binary>i)?)?b?\Z", re.ASCII
)
_LARGEST = 1 << 62


def parse_size(given: str | int) -> int:
    """Read how many bytes of memory are meant.

    `2GB`, `512 MB` and `4g` count in thousands, `1.5GiB` in 1024s; a number alone is bytes.

    Raises
    ------
    OptionError
        If it is no size, is under one byte, or is more than any machine has.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5GiB"), parse_size("4096")
    (2000000000, 1610612736, 4096)
    """
    size = whole(given)
    if size is None:
        form = _FORM.match(given.strip().lower()) if isinstance(given, str) else None
        if form is None:
            raise OptionError(f"memory={given!r} is not understood: write 4GB, 512MB, 1.5GiB or bytes")
        size = _exactly(form["number"], _unit(form["letter"], form["binary"]))
    if not 1 <= size <= _LARGEST:
        raise OptionError(f"memory={given!r} is out of range: 1 byte to 4 EiB, such as 4GB")
    return size


def _unit(letter: str | None, binary: str | None) -> int:
    power = 0 if letter is None else _LETTERS.index(letter) + 1
    return int((1024 if binary else 1000) ** power)


def _exactly(number: str, unit: int) -> int:
    """The product, rounded down to whole bytes; in whole numbers, as floats lose bytes from 9 PB on."""
    whole, _, decimals = number.partition(".")
    return int(f"{whole}{decimals}") * unit // int(10 ** len(decimals))


def default_budget(root: Path = Path("/")) -> int:
    """What a run may use when nobody says: half of the memory that is free now."""
    return max(1, free_memory(root) // 2)


def free_memory(root: Path = Path("/")) -> int:
    """The bytes this process could still take before the system swaps or a limit ends it.

    On Linux the least of what the machine has available and what every control group around this process
    still allows (a container, a batch job); elsewhere what the system says is unused; `UNKNOWN_MEMORY` if it
    says nothing. Never below 0. Results must not depend on it.

    Parameters
    ----------
    root
        Where the system's files lie; another one is for tests.
    """
    available = _available(root)
    if available is None:
        # Pages of this machine would say nothing about the system under another root.
        available = _unused_pages() if root == Path("/") else None
    # Without a word about the whole machine a limit is still a word.
    known = [*([] if available is None else [available]), *_allowances(root)]
    return max(0, min(known)) if known else UNKNOWN_MEMORY


def _available(root: Path) -> int | None:
    for line in _lines(root / "proc/meminfo"):
        match line.split():
            case ["MemAvailable:", size, "kB"] if size.isdecimal():
                return int(size) * 1024
    return None


def _unused_pages() -> int | None:
    for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            pages, page = os.sysconf(name), os.sysconf("SC_PAGE_SIZE")
        except (ValueError, OSError, AttributeError):
            continue
        if pages > 0 and page > 0:
            return pages * page
    return None


def _allowances(root: Path) -> Iterator[int]:
    """What each control group with a limit on memory still allows."""
    groups = root / "sys/fs/cgroup"
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":
            # Version 2, alone or beside the first.
            for mount in (groups, groups / "unified"):
                yield from _around(mount, path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _around(groups / "memory", path, *names)


def _around(mount: Path, path: str, limit: str, used: str, reclaimable: str) -> Iterator[int]:
    """The group of a path and all above it: each may have a limit, and the narrowest counts."""
    # In a container the path may be the host's and lead nowhere; then the mount itself is the container's.
    inside = PurePosixPath(path.lstrip("/") or ".")
    if ".." in inside.parts:
        inside = PurePosixPath(".")
    for group in (inside, *inside.parents):
        folder = mount / group
        most, now = _number(folder / limit), _number(folder / used)
        if most is not None and now is not None:
            # Files that were read and can be forgotten again count as used, but are in nobody's way.
            yield most - max(0, now - _statistic(folder / "memory.stat", reclaimable))


def _number(path: Path) -> int | None:
    """The number a file holds; None if there is no such file, or it says `max`."""
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdecimal() else None


def _statistic(path: Path, name: str) -> int:
    for line in _lines(path):
        words = line.split()
        if len(words) == 2 and words[0] == name and words[1].isdecimal():
            return int(words[1])
    return 0


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
