"""Sizes as people write them, and what is free on machines of every kind."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import OptionError
from lookalike.runs import sizes
from lookalike.runs.sizes import UNKNOWN_MEMORY, default_budget, free_memory, parse_size


@pytest.mark.parametrize(
    ("written", "bytes_"),
    [
        ("1", 1),
        (7, 7),
        ("2GB", 2 * 10**9),
        ("2 gb", 2 * 10**9),
        (" 512MB ", 512 * 10**6),
        ("1.5GiB", 3 * 2**29),
        ("4g", 4 * 10**9),
        ("4G", 4 * 10**9),
        ("64k", 64_000),
        ("64KiB", 65_536),
        ("1TiB", 2**40),
        ("1P", 10**15),
        ("0.5kB", 500),
        (".5MiB", 2**19),
        ("3.GB", 3 * 10**9),
        ("100B", 100),
        ("1.1k", 1100),
        # A float would be a byte off.
        ("9007199254740993", 2**53 + 1),
        ("9.007199254740993PB", 2**53 + 1),
    ],
)
def test_a_size_is_read_as_a_person_means_it(written, bytes_):
    assert parse_size(written) == bytes_


@pytest.mark.parametrize(
    "written",
    [
        "",
        "GB",
        "four",
        "4 gigs",
        "-1GB",
        "1e9",
        "1_000",
        "4GBB",
        "4iB",
        "0x10",
        "1,5GB",
        "nan",
        None,
        1.5,
        True,
    ],
)
def test_what_is_no_size_is_refused_with_examples(written):
    with pytest.raises(OptionError, match=r"not understood: write 4GB, 512MB, 1.5GiB or bytes"):
        parse_size(written)


@pytest.mark.parametrize("written", ["0", 0, -5, "0.4B", "9999999PB"])
def test_a_size_that_no_machine_has_is_out_of_range(written):
    with pytest.raises(OptionError, match="out of range"):
        parse_size(written)


@given(st.integers(1, 2**62))
def test_bytes_are_read_back(count):
    assert parse_size(str(count)) == parse_size(count) == parse_size(f"{count}B") == count


def system(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


MEMINFO = {"proc/meminfo": "MemTotal:  16000 kB\nMemFree:  1000 kB\nMemAvailable:  8000 kB\n"}
V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/memory"


def version_2(group: str, most: str, used: int, files: int = 0) -> dict[str, str]:
    return {
        f"{V2}/{group}/memory.max": f"{most}\n",
        f"{V2}/{group}/memory.current": f"{used}\n",
        f"{V2}/{group}/memory.stat": f"anon 5\ninactive_file {files}\n",
    }


def version_1(group: str, most: int, used: int, files: int = 0) -> dict[str, str]:
    return {
        f"{V1}/{group}/memory.limit_in_bytes": f"{most}\n",
        f"{V1}/{group}/memory.usage_in_bytes": f"{used}\n",
        f"{V1}/{group}/memory.stat": f"inactive_file 1\ntotal_inactive_file {files}\n",
    }


HERE = {"proc/self/cgroup": "0::/user/job\n"}
HYBRID = {"proc/self/cgroup": "4:memory:/jobs/7\n1:cpu,cpuacct:/\n0::/\n"}
AVAILABLE = 8000 * 1024


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, UNKNOWN_MEMORY),
        (MEMINFO, AVAILABLE),
        ({"proc/meminfo": "MemFree: 9 kB\nMemAvailable: lots\n"}, UNKNOWN_MEMORY),
        # A group that is narrower than the machine, one that is wider, one without a limit.
        ({**MEMINFO, **HERE, **version_2("user/job", "5000000", 2_000_000)}, 3_000_000),
        ({**MEMINFO, **HERE, **version_2("user/job", "99000000", 2_000_000)}, AVAILABLE),
        ({**MEMINFO, **HERE, **version_2("user/job", "max", 2_000_000)}, AVAILABLE),
        # Files in memory can be forgotten; more of them than are used is a stale count.
        ({**MEMINFO, **HERE, **version_2("user/job", "5000000", 4_000_000, files=1_000_000)}, 2_000_000),
        ({**MEMINFO, **HERE, **version_2("user/job", "5000000", 4_000_000, files=9_000_000)}, 5_000_000),
        # A limit further up binds too.
        (
            {
                **MEMINFO,
                **HERE,
                **version_2("user/job", "5000000", 0),
                **version_2("user", "4000000", 3_500_000),
            },
            500_000,
        ),
        # In a container the path is the host's, and the mount is the container's own group.
        ({**MEMINFO, **HERE, **version_2("", "6000000", 1_000_000)}, 5_000_000),
        ({**MEMINFO, "proc/self/cgroup": "0::/../up\n", **version_2("", "6000000", 0)}, 6_000_000),
        # The first version, and both at once.
        ({**MEMINFO, **HYBRID, **version_1("jobs/7", 3_000_000, 1_000_000, files=500_000)}, 2_500_000),
        ({**MEMINFO, **HYBRID, **version_1("jobs/7", 2**63 - 4096, 1_000_000)}, AVAILABLE),
        ({**MEMINFO, **HYBRID, **version_1("", 2_000_000, 1_000_000)}, 1_000_000),
        ({**MEMINFO, **HYBRID, **version_2("unified", "1500000", 0)}, 1_500_000),
        # More used than allowed is nothing free; a limit alone is better than no word.
        ({**MEMINFO, **HERE, **version_2("user/job", "1000", 5000)}, 0),
        ({**HERE, **version_2("user/job", "1000", 400)}, 600),
        ({**MEMINFO, "proc/self/cgroup": "nonsense\n\n"}, AVAILABLE),
    ],
)
def test_what_is_free_is_the_least_that_machine_and_groups_leave(tmp_path, files, free):
    assert free_memory(system(tmp_path, files)) == free
    assert default_budget(tmp_path) == max(1, free // 2)


def test_this_machine_has_something_free():
    assert 1 << 20 < free_memory() < 1 << 50


def test_a_system_without_such_files_is_asked_for_its_pages(monkeypatch):
    monkeypatch.setattr(sizes, "_lines", lambda path: [])
    answers = {"SC_AVPHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr("os.sysconf", lambda name: answers[name])
    assert free_memory() == 40_960

    def silent(name):
        raise ValueError(name)

    monkeypatch.setattr("os.sysconf", silent)
    assert free_memory() == UNKNOWN_MEMORY
