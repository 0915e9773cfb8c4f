"""Quantities with units are exact, and a number without one is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from themis_opt.errors import InputError
from themis_opt.units import (
    exact_text,
    format_bandwidth,
    format_size,
    format_time,
    parse_bandwidth,
    parse_size,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "bytes_per_s"),
    [
        ("1600 Gb/s", 200 * 10**9),  # bits: 1600 / 8 decimal gigabytes
        ("150 GiB/s", 150 * 2**30),
        ("187.5GB/s", Fraction(1875, 10) * 10**9),
        ("1e3 B/s", 1000),
        ("4/3 B/s", Fraction(4, 3)),
    ],
)
def test_bandwidths(text: str, bytes_per_s: Fraction) -> None:
    assert parse_bandwidth(text) == bytes_per_s


def test_times_and_sizes() -> None:
    assert parse_time("0.5 us") == parse_time("500 ns") == 500_000
    assert parse_size("100MB") == 10**8
    assert parse_size("1.5 KiB") == 1536


@pytest.mark.parametrize("text", ["1600", "", "GB/s", "-5 GB/s", "1,5 GB/s", "5 gb/s", "5 GB", "nan GB/s", "1e99 B/s"])
def test_what_is_no_bandwidth(text: str) -> None:
    with pytest.raises(InputError):
        parse_bandwidth(text)


def test_the_message_names_the_accepted_suffixes() -> None:
    with pytest.raises(InputError, match=r"'1600' has no unit.*Gb/s"):
        parse_bandwidth("1600")


@given(st.fractions(min_value=0, max_value=10**15, max_denominator=10**9))
def test_exact_text_reads_back_as_the_same_number(value: Fraction) -> None:
    assert parse_bandwidth(exact_text(value, "B/s")) == value
    assert parse_time(exact_text(value, "ns")) == value * 1000


def test_formats_for_people() -> None:
    assert format_time(816_500_000) == "816.50 us"
    assert format_time(0) == "0 ps"
    assert format_size(10**8) == "100 MB"
    assert format_size(104_857_600) == "100 MiB"
    assert format_size(65_536) == "64 KiB"
    assert format_bandwidth(Fraction(175 * 10**9)) == "175 GB/s"
