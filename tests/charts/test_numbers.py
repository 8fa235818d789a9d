"""Numbers as people read them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.charts.numbers import bytes_, count, percent, seconds, several

BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15, "EB": 10**18}
SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def read(text: str, units: dict[str, float]) -> float:
    """What a person understands by '3 min 20 s'."""
    parts = re.findall(r"([\d,.]+) (\S+)", text)
    assert " ".join(f"{number} {unit}" for number, unit in parts) == text
    return sum(float(number.replace(",", "")) * units[unit] for number, unit in parts)


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (1234567, "1,234,567"), (1234.6, "1,235"), (-4000, "-4,000")]
)
def test_counts(number, text):
    assert count(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 pairs"), (1, "1 pair"), (1.2, "1 pair"), (2, "2 pairs"), (1234, "1,234 pairs")],
)
def test_one_thing_is_not_called_several(number, text):
    assert several(number, "pair") == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (812, "812 B"),
        (999.6, "1.0 kB"),
        (2_700, "2.7 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (2_700_000, "2.7 MB"),
        (12_345_678_901, "12.3 GB"),
        (5e21, "5,000.0 EB"),
    ],
)
def test_sizes(number, text):
    assert bytes_(number) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0, "0 µs"),
        (0.0000042, "4 µs"),
        (0.0009996, "1 ms"),
        (0.0123, "12 ms"),
        (0.0996, "0.10 s"),
        (0.52, "0.52 s"),
        (9.996, "10.0 s"),
        (12.34, "12.3 s"),
        (59.96, "1 min 0 s"),
        (119.6, "2 min 0 s"),
        (200, "3 min 20 s"),
        (3599.7, "1 h 0 min"),
        (7500, "2 h 5 min"),
        (86399, "1 d 0 h"),
        (100_000, "1 d 4 h"),
        (-200, "−3 min 20 s"),
    ],
)
def test_durations(duration, text):
    assert seconds(duration) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.95213, "95.2%"),
        (0.5, "50.0%"),
        (0.9994, "99.9%"),
        (0.9996, "99.96%"),
        (0.99996, "99.996%"),
        (0.0004, "0.04%"),
        (1 - 1e-12, "over 99.999999%"),
        (1e-12, "under 0.000001%"),
        (1.5, "150.0%"),
    ],
)
def test_shares(share, text):
    assert percent(share) == text


@given(st.integers(-(10**18), 10**18))
def test_a_count_is_read_back_exactly(number):
    assert int(count(number).replace(",", "")) == number


@given(st.floats(0, 1e20))
def test_a_size_is_read_back_to_three_digits_or_a_byte(number):
    understood = read(bytes_(number), BYTES)
    assert abs(understood - number) <= max(
        0.5, 0.05 * max(u for u in BYTES.values() if u <= max(understood, 1))
    ) * (1 + 1e-9)


@given(st.floats(1e-3, 1e8))
def test_a_duration_is_read_back_to_within_its_smaller_unit(duration):
    assert read(seconds(duration), SECONDS) == pytest.approx(duration, rel=0.051)


@given(st.floats(0, 1e8), st.floats(0, 1e8))
def test_a_longer_time_never_reads_shorter(one, other):
    short, long = sorted((one, other))
    assert read(seconds(short), SECONDS) <= read(seconds(long), SECONDS) + 1e-9


@given(st.floats(0, 1))
def test_only_all_is_100_per_cent_and_only_nothing_is_0(share):
    text = percent(share)
    assert (text == "100%") == (share == 1)
    assert (text == "0%") == (share == 0)
    if re.fullmatch(r"[\d.]+%", text):
        assert float(text[:-1]) == pytest.approx(100 * share, abs=0.0501)
        assert (float(text[:-1]) == 100) == (share == 1)
