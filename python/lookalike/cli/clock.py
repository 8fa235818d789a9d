"""When this process was started: that is when a person began to wait, long before our first line runs."""

from __future__ import annotations

import os
import time

_STATUS = "/proc/self/stat"
#: Which of the numbers behind the name of the program is the time it was started, in ticks since boot.
_STARTED = 19


def process_began() -> float:
    """The time of `time.monotonic` at which this process was started, to a hundredth of a second.

    Where the system does not tell, it is now.
    """
    now = time.monotonic()
    try:
        with open(_STATUS, "rb") as status:
            # The name may hold blanks and parentheses itself.
            fields = status.read().rpartition(b")")[2].split()
        since_boot = int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    # Ticks are rounded down; a clock that says something else is none of this process.
    return now - age if 0 <= age <= now else now
