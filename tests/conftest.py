"""What holds for every test.

With `CI=true` a skipped test fails: what is not run there is not known to work, and a skip is easily
overlooked. A machine's own limits are no reason to skip either: ask `_core.paths()` which paths to test.
"""

import os

import pytest
from hypothesis import settings

CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}

# Busy machines stall now and then, which says nothing about the code: no deadline. In CI the same examples
# are drawn each time.
settings.register_profile("lookalike", deadline=None, derandomize=CI, print_blob=True)
settings.load_profile("lookalike")


def refuse_skip(report):
    """Turns a skip into a failure that gives the reason; an expected failure (xfail) stays what it is."""
    if CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI=true does not accept: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return refuse_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return refuse_skip((yield))
