"""Processes of our own making, to be killed: forked, so that they start in milliseconds."""

import os
import traceback


def forked(work):
    """Run `work(ready)` in a child and return its number once it has called `ready` or ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            work(lambda: os.write(writing, b"."))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            # Not sys.exit: the tests that come after this one are the parent's.
            os._exit(status)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    return child


def waited(child):
    """The exit status of a child; minus the signal's number if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
