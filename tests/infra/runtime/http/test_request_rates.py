"""infra.runtime.http.request_rates: a service, a user and an address each have a rate of their own, and refusals are counted."""

import pytest

from infra.kernel.rates import RateRefused
from infra.runtime.http.request_rates import MAX_KNOWN, RequestRates
from infra.runtime.http.web_limits import WebLimits

LIMITS = WebLimits(user_requests_per_s=2, user_burst=3, service_requests_per_s=10, service_burst=5)


def allowed(rates: RequestRates, user: str, service: str, address: str, now_s: float = 0.0) -> int:
    """Returns how many of 20 requests at once are taken."""
    taken = 0
    for _ in range(20):
        try:
            rates.check(user, service, address, now_s)
        except RateRefused:
            continue
        taken += 1
    return taken


def test_a_service_has_the_rate_of_services_wherever_it_is() -> None:
    """DPS-26."""
    rates = RequestRates(LIMITS)
    assert allowed(rates, "", "shop", "192.0.2.1") == 5
    assert allowed(rates, "", "shop", "192.0.2.2") == 0
    assert allowed(rates, "", "radio", "192.0.2.1") == 5


def test_a_user_has_one_rate_at_all_addresses_and_leaves_neighbours_theirs() -> None:
    """DPS-26: many people share an address."""
    rates = RequestRates(LIMITS)
    assert allowed(rates, "ann", "", "192.0.2.1") == 3
    assert allowed(rates, "ann", "", "192.0.2.2") == 0
    assert allowed(rates, "bob", "", "192.0.2.1") == 3


def test_without_a_token_the_rate_is_that_of_the_address() -> None:
    """DPS-26."""
    rates = RequestRates(LIMITS)
    assert allowed(rates, "", "", "192.0.2.1") == 3
    assert allowed(rates, "", "", "192.0.2.2") == 3


def test_a_user_who_is_called_like_an_address_or_a_service_has_a_rate_of_their_own() -> None:
    rates = RequestRates(LIMITS)
    assert allowed(rates, "", "", "192.0.2.1") == 3
    assert allowed(rates, "192.0.2.1", "", "192.0.2.9") == 3
    assert allowed(rates, "", "shop", "192.0.2.9") == 5
    assert allowed(rates, "shop", "", "192.0.2.9") == 3


@pytest.mark.parametrize(
    ("user", "service", "wait_s", "said"),
    [
        ("ann", "", 0.5, "more than 2 requests a second, after 3 at once"),
        ("", "", 0.5, "more than 2 requests a second, after 3 at once"),
        ("", "shop", 0.1, "more than 10 requests a second, after 5 at once"),
    ],
)
def test_a_refusal_says_the_rate_and_when_to_come_back(user: str, service: str, wait_s: float, said: str) -> None:
    """DPS-26: whoever waits that long is heard again, once."""
    rates = RequestRates(LIMITS)
    allowed(rates, user, service, "192.0.2.1")
    with pytest.raises(RateRefused, match=said) as refused:
        rates.check(user, service, "192.0.2.1", 0.0)
    assert refused.value.code.name == "rate-limited"
    assert refused.value.wait_s == pytest.approx(wait_s)
    assert allowed(rates, user, service, "192.0.2.1", refused.value.wait_s) == 1


def test_refusals_are_counted_and_what_is_taken_is_not() -> None:
    rates = RequestRates(LIMITS)
    assert rates.refused == 0
    rates.check("ann", "", "192.0.2.1", 0.0)
    assert rates.refused == 0
    assert allowed(rates, "bob", "", "192.0.2.1") == 3
    assert allowed(rates, "", "shop", "192.0.2.1") == 5
    assert rates.refused == (20 - 3) + (20 - 5)


def test_so_many_are_known_and_who_was_away_for_longest_begins_anew() -> None:
    """DPS-26: what is remembered has a bound, also where strangers without number come."""
    rates = RequestRates(WebLimits(user_requests_per_s=0.001, user_burst=2))
    assert allowed(rates, "ann", "", "192.0.2.1") == 2
    for index in range(MAX_KNOWN - 1):
        rates.check("", "", f"stranger {index}", 0.0)
    assert allowed(rates, "ann", "", "192.0.2.1") == 0
    for index in range(MAX_KNOWN):
        rates.check("", "", f"another stranger {index}", 0.0)
    assert allowed(rates, "ann", "", "192.0.2.1") == 2
