"""No argument makes a kernel end the process, read what is not there, or panic."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.calls import CALLS
from tests.test_stub import CLASSES, FUNCTIONS, METHODS

ROOT = Path(__file__).parents[2]


def test_every_kernel_is_called():
    # One panics on purpose.
    assert set(CALLS) == (FUNCTIONS | CLASSES | METHODS) - {"panic_on_purpose"}


@pytest.mark.parametrize("seed", range(3))
def test_kernels_answer_or_raise_whatever_they_are_given(seed):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.calls", str(seed), "60"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    # The last calls are on stderr: of a process that ended, the one that ended it.
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr[-2000:]}"
