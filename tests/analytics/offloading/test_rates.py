"""Forecasts: an exponentially weighted mean of the periods, in which idle topics have no part."""

import pytest

from analytics.offloading.rates import Rates


def test_the_first_count_is_the_forecast_and_steady_rates_are_forecast_as_they_are() -> None:
    rates = Rates(0.3)
    for _ in range(5):
        rates.count(0, 4)
        rates.count(0, 3)
        assert rates.close(2).tolist() == [7, 0]


@pytest.mark.parametrize(("weight", "expected"), [(1.0, 2), (0.5, 6), (0.25, 8)])
def test_the_last_period_has_the_weight_that_is_asked_for(weight: float, expected: int) -> None:
    rates = Rates(weight)
    rates.count(0, 10)
    rates.close(1)
    rates.count(0, 2)
    assert rates.close(1).tolist() == [expected]


def test_an_idle_topic_is_left_out_is_remembered_for_a_while_and_then_forgotten() -> None:
    """WA-29: idle topics are excluded, however much they had before."""
    rates = Rates(0.5)
    rates.count(0, 3)
    assert rates.close(1).tolist() == [3]
    remembered = []
    for _ in range(3):
        assert rates.close(1).tolist() == [0]
        remembered.append(bool(rates.forecast[0] > 0))
    assert remembered == [True, True, False]


def test_counts_too_large_to_be_added_up_stay_too_large() -> None:
    """And never turn into fewer than none; whoever plans on them refuses them."""
    rates = Rates(1.0)
    for _ in range(4):
        rates.count(0, (1 << 62) - 1)
    assert rates.close(1).tolist() == [1 << 62]


def test_a_rare_event_counts_as_one() -> None:
    rates = Rates(0.1)
    rates.count(0, 1)
    rates.close(1)
    for _ in range(6):
        rates.close(1)
    rates.count(0, 1)
    assert rates.close(1).tolist() == [1]
