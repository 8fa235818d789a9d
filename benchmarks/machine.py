"""Says what machine a record came from: enough to read the figures by, nothing that names its owner."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_TELLING_FLAGS = ("avx2", "avx512f", "avx512bw", "avx512_vbmi2", "asimd", "sve")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine and the software on it."""

    cpu: str
    cores: int
    flags: tuple[str, ...]
    memory_gb: float
    system: str
    python: str
    versions: dict[str, str]

    def __str__(self) -> str:
        flags = f" ({', '.join(self.flags)})" if self.flags else ""
        packages = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return (
            f"{self.cpu}{flags}, {self.cores} cores, {self.memory_gb:.0f} GB, {self.system}, "
            f"Python {self.python}, {packages}"
        )


def describe(packages: tuple[str, ...] = ()) -> Machine:
    """Describe this machine, with the versions of the given packages."""
    fields = _cpuinfo()
    present = fields.get("flags", fields.get("Features", "")).split()
    return Machine(
        cpu=fields.get("model name", platform.machine()),
        cores=len(os.sched_getaffinity(0)),
        flags=tuple(flag for flag in _TELLING_FLAGS if flag in present),
        memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        system=_system(),
        python=platform.python_version(),
        versions={package: _version(package) for package in packages},
    )


def _cpuinfo() -> dict[str, str]:
    """Return the first processor of /proc/cpuinfo."""
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _system() -> str:
    kernel = ".".join(platform.release().split(".")[:2])
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        name = platform.system()
    return f"{name}, kernel {kernel}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    print(describe(("lookalike", "datasketch", "rensa", "gaoya", "numpy", "pyarrow")))
