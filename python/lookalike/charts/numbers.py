"""Numbers a person can read: 1,234,567 and 1 pair and 2.7 MB and 3 min 20 s and 95.2%."""

from __future__ import annotations

from lookalike.wording import several as several

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def count(number: float) -> str:
    """A number of things, to the nearest whole one.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{round(number):,}"


def bytes_(number: float) -> str:
    """A size in decimal units, as file managers and disks count it.

    Examples
    --------
    >>> bytes_(2_700_000), bytes_(812)
    ('2.7 MB', '812 B')
    """
    size, unit = float(number), 0
    # 999,950 bytes would be printed as 1000.0 kB: such a number belongs to the next unit.
    while abs(size) >= (999.5 if unit == 0 else 999.95) and unit < len(_BYTE_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} B" if unit == 0 else f"{size:,.1f} {_BYTE_UNITS[unit]}"


def seconds(duration: float) -> str:
    """A time as one says it: two or three digits while short, two units when long.

    Examples
    --------
    >>> seconds(0.52), seconds(200), seconds(0.0123), seconds(7500)
    ('0.52 s', '3 min 20 s', '12 ms', '2 h 5 min')
    """
    if duration < 0:
        return f"−{seconds(-duration)}"
    if duration < 0.0995:
        return f"{duration * 1e6:.0f} µs" if duration < 0.0009995 else f"{duration * 1e3:.0f} ms"
    if duration < 9.995:
        return f"{duration:.2f} s"
    if duration < 59.95:
        return f"{duration:.1f} s"
    # Rounded in the smaller unit first, so that 119.6 s is 2 min 0 s and never 1 min 60 s.
    if (whole := round(duration)) < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if (minutes := round(duration / 60)) < 24 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(duration / 3600)
    return f"{hours // 24:,} d {hours % 24} h"


def percent(share: float) -> str:
    """A share in per cent, one decimal; more where fewer would make it look like all or nothing.

    Only exactly 1 is 100%, and only exactly 0 is 0%.

    Examples
    --------
    >>> percent(0.95213), percent(0.99996), percent(0.0004), percent(1)
    ('95.2%', '99.996%', '0.04%', '100%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    for places in range(1, 7):
        printed = f"{100 * share:.{places}f}"
        if float(printed) not in (0, 100):
            return f"{printed}%"
    return "under 0.000001%" if share < 0.5 else "over 99.999999%" if share < 1 else "over 100%"
