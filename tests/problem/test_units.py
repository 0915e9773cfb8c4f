"""Quantities with units are exact, and a number without one is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from themis_opt.problem.errors import InputError
from themis_opt.problem.units import (
    MAX_LENGTH,
    bandwidth_column,
    exact_text,
    format_bandwidth,
    format_size,
    format_time,
    parse_bandwidth,
    parse_size,
    parse_time,
    size_column,
    time_column,
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


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("600GB", "GB/s"),  # and not 'Gb/s', which is an eighth of it
        ("600 Gb", "Gb/s"),
        ("600 GBps", "GB/s"),
        ("600 Gbps", "Gb/s"),
        ("600 gb/s", "Gb/s"),
        ("600 GB/S", "GB/s"),
        ("600 MiB", "MiB/s"),
    ],
)
def test_bytes_are_not_taken_for_bits(text: str, meant: str) -> None:
    with pytest.raises(InputError, match=rf"\(did you mean '{meant}'\?\)"):
        parse_bandwidth(text)


@given(st.fractions(min_value=0, max_value=10**15, max_denominator=10**9))
def test_exact_text_reads_back_as_the_same_number(value: Fraction) -> None:
    assert parse_bandwidth(exact_text(value, "B/s")) == value
    assert parse_time(exact_text(value, "ns")) == value * 1000


@given(st.integers(1, 10**1000), st.integers(0, 1000).map(lambda places: 10**places) | st.integers(1, 10**1000))
def test_exact_text_is_always_short_enough_to_be_read(numerator: int, denominator: int) -> None:
    value = Fraction(numerator, denominator) % 10**50
    text = exact_text(value, "GB/s")
    assert len(text) <= MAX_LENGTH
    assert parse_bandwidth(text) == value * 10**9


def test_exact_text_is_a_decimal_unless_its_decimals_have_no_end_or_fill_a_page() -> None:
    assert exact_text(Fraction(1, 8), "GB/s") == "0.125 GB/s"
    assert exact_text(Fraction(1, 3), "GB/s") == "1/3 GB/s"
    assert exact_text(Fraction(1, 2**1000), "GB/s") == f"1/{2**1000} GB/s"  # 302 digits instead of 1000 decimals


@pytest.mark.parametrize(
    ("times_ps", "texts"),
    [
        ([1_086_700_000, 816_500_000, 0], ["1.0867 ms", "0.8165 ms", "0 ms"]),
        ([816_500_000, 12_300_000], ["816.50 us", "12.30 us"]),
        ([12_300_000_000, 816_500_000], ["12.3000 ms", "0.8165 ms"]),
        ([5, 0], ["5 ps", "0 ps"]),
        # A million times smaller than its neighbour: in milliseconds nothing would be left of it.
        ([500_000_000_000, 100], ["500.000000 ms", "100 ps"]),
        ([], []),
        ([0, 0], ["0 ps", "0 ps"]),
    ],
)
def test_a_column_of_times_has_one_unit(times_ps: list[int], texts: list[str]) -> None:
    assert time_column(times_ps) == texts


def test_columns_of_given_figures_have_no_needless_decimals() -> None:
    assert time_column([700_000, 1_700_000, 20_000], trim=True) == ["0.70 us", "1.70 us", "0.02 us"]
    assert bandwidth_column([175e9, 25e9, 12.5e9]) == ["175.0 GB/s", "25.0 GB/s", "12.5 GB/s"]
    assert size_column([10**10, 93_750_000]) == ["10.00000 GB", "0.09375 GB"]


@pytest.mark.parametrize("parse", [parse_time, parse_size, parse_bandwidth])
def test_what_no_quantity_can_be_is_a_short_message(parse: Callable[[str], object]) -> None:
    unit = {parse_time: "s", parse_size: "TB", parse_bandwidth: "TB/s"}[parse]
    for number in ("9" * 400, "9" * 3000 + ".5", "1e30", "9" * 5000):
        if number == "1e30":
            parse(f"{number} {unit}")  # 10^42: beyond reason, and within the limit
            continue
        with pytest.raises(InputError) as caught:
            parse(f"{number} {unit}")
        assert len(str(caught.value)) < 300


def test_formats_for_people() -> None:
    assert format_time(816_500_000) == "816.50 us"
    assert format_time(0) == "0 ps"
    assert format_size(10**8) == "100 MB"
    assert format_size(104_857_600) == "100 MiB"
    assert format_size(65_536) == "64 KiB"
    assert format_bandwidth(Fraction(175 * 10**9)) == "175 GB/s"
