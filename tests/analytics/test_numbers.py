"""Numbers written for readers."""

import math

import pytest

from analytics.numbers import decade, duration, number


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "0"),
        (12, "12"),
        (1_234_567.0, "1,234,567"),
        (0.98765, "0.9877"),
        (12_345.67, "12,345.7"),
        (3.2e-7, "3.20·10⁻⁷"),
        (-0.5, "-0.5"),
        (1.5e20, "1.50·10²⁰"),
        (math.nan, "none"),
    ],
)
def test_a_number_is_told_with_the_digits_that_count(value: float, told: str) -> None:
    assert number(value) == told


@pytest.mark.parametrize(("value", "told"), [(1, "1"), (10_000, "10,000"), (1e5, "10⁵"), (0.1, "0.1"), (0.01, "0.01"), (1e-5, "10⁻⁵")])
def test_a_decade_is_told_in_full_near_one_and_as_a_power_far_from_it(value: float, told: str) -> None:
    assert decade(value) == told


@pytest.mark.parametrize(
    ("days", "told"),
    [
        (10.0, ("10", "days")),
        (0.5, ("12", "hours")),
        (23.6 / 86_400, ("23.6", "seconds")),
        (0.0, ("0", "seconds")),
        (3968.0, ("3,968", "days")),
    ],
)
def test_a_duration_is_told_in_the_largest_unit_that_it_fills(days: float, told: tuple[str, str]) -> None:
    assert duration(days) == told
