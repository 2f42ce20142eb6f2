"""infra.kernel.places: who gets a place at a door. One address has its part and no more, and takes nothing of the parts of others."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.places import NOWHERE, HeldPlace, Places, VisitorLimits, visitor_of
from infra.kernel.rates import RateRefused

SELDOM = {"new_per_s": 1e9, "new_per_address_per_s": 1e9}


def places_for(size: int = 1_000_000, per_address: int = 1_000_000, **limits: float) -> Places:
    """Returns places where nobody comes too often, unless `limits` say so."""
    return Places(size, VisitorLimits(per_address=per_address, **{**SELDOM, **limits}))  # type: ignore[arg-type]


def taken(places: Places, host: str) -> HeldPlace | None:
    try:
        return places.take(host, 0.0)
    except Refused:
        return None


def test_one_address_never_takes_the_places_of_others() -> None:
    """DPS-26: one noisy party is never another's loss."""
    places = places_for(size=10, per_address=3)
    assert [taken(places, "192.0.2.1") is not None for _ in range(5)] == [True, True, True, False, False]
    assert taken(places, "192.0.2.2") is not None
    assert places.refused == {"address": 2}


def refusing(code: str, asked: list[int]) -> Callable[[], str]:
    """Returns a check of a token that is refused with `code`; "" if it is good. `asked` grows each time."""

    def verify() -> str:
        asked.append(1)
        if code:
            raise Refused(code)
        return "ann"

    return verify


def outcome_of(place: HeldPlace, code: str, asked: list[int], now_s: float = 0.0) -> str:
    try:
        return place.check_token(refusing(code, asked), now_s)
    except Refused as refused:
        return refused.code.name


@pytest.mark.parametrize("code", ["bad-token", "token-expired", "token-not-yet-valid", "token-revoked", "forbidden"])
def test_an_address_shows_so_many_bad_tokens_a_second_and_later_ones_are_not_looked_at(code: str) -> None:
    """DPS-26: each forged token cost the verifying of a signature."""
    places, asked = places_for(bad_tokens_per_s=2), list[int]()
    forger, same, other = (places.take(host, 0.0) for host in ("192.0.2.1", "192.0.2.1", "192.0.2.2"))
    assert [outcome_of(forger, code, asked) for _ in range(6)] == [code] * 4 + ["rate-limited"] * 2
    assert (len(asked), places.unread_tokens) == (4, 2)
    with pytest.raises(RateRefused, match="over 2 tokens a second from this address") as refused:
        same.check_token(refusing("", asked), 0.0)
    assert refused.value.wait_s == pytest.approx(0.5)
    assert outcome_of(other, "", asked) == "ann"
    assert [outcome_of(same, each, asked, 0.5) for each in ("", code, "")] == ["ann", code, "rate-limited"]


def test_good_tokens_cost_nothing_and_what_says_nothing_about_a_token_neither() -> None:
    places, asked = places_for(bad_tokens_per_s=1), list[int]()
    place = places.take("192.0.2.1", 0.0)
    assert {outcome_of(place, "", asked) for _ in range(100)} == {"ann"}
    assert {outcome_of(place, "unavailable", asked) for _ in range(100)} == {"unavailable"}
    assert places.unread_tokens == 0


def test_proxies_and_connections_from_nowhere_have_no_bound_of_bad_tokens() -> None:
    places, asked = Places(9, VisitorLimits(bad_tokens_per_s=1, proxies=["192.0.2.0/24"])), list[int]()
    for place in (NOWHERE, places.take("192.0.2.1", 0.0)):
        assert {outcome_of(place, "bad-token", asked) for _ in range(9)} == {"bad-token"}


def test_behind_a_proxy_that_says_who_has_called_each_caller_has_a_bound_of_their_own() -> None:
    """DPS-26: one connection of the proxy may carry the requests of many."""
    places, asked = Places(9, VisitorLimits(bad_tokens_per_s=0.5, proxies=["192.0.2.0/24"], forwarded_for=True)), list[int]()
    place, direct = places.take("192.0.2.1", 0.0), places.take("198.51.100.1", 0.0)
    told = []
    for caller in ("203.0.113.1", "203.0.113.1", "203.0.113.2", "8.8.8.8, 203.0.113.1", "", ""):
        place.speak_for(caller)
        told.append(outcome_of(place, "bad-token", asked))
    assert told == ["bad-token", "rate-limited", "bad-token", "rate-limited", "bad-token", "bad-token"]
    assert (place.is_forwarded, direct.is_forwarded, NOWHERE.is_forwarded) == (True, False, False)
    assert places.unread_tokens == 2


def test_nobody_speaks_for_others_unless_a_proxy_is_listed() -> None:
    with pytest.raises(ConfigError, match=r"broker\.visitors\.proxies"):
        VisitorLimits(forwarded_for=True).check_in("broker")


def test_a_full_door_says_so_until_somebody_leaves() -> None:
    """DPS-26."""
    places = places_for(size=2)
    first, second, third = (taken(places, f"192.0.2.{n}") for n in range(3))
    assert first is not None
    assert second is not None
    assert third is None
    first.give_back()
    assert taken(places, "192.0.2.2") is not None
    assert places.refused == {"door": 1}


def test_a_place_is_given_back_once() -> None:
    places = places_for(size=2, per_address=2)
    first, second = places.take("192.0.2.1", 0.0), places.take("192.0.2.1", 0.0)
    first.give_back()
    first.give_back()
    assert (places.taken, places.visitors) == (1, 1)
    second.give_back()
    assert (places.taken, places.visitors) == (0, 0)


def test_a_connection_that_others_count_leaves_the_door_and_stays_one_of_its_address() -> None:
    places = places_for(size=1, per_address=1)
    place = places.take("192.0.2.1", 0.0)
    place.hand_over()
    place.hand_over()
    assert places.taken == 0
    assert taken(places, "192.0.2.1") is None
    assert taken(places, "192.0.2.2") is not None
    place.give_back()
    assert (places.taken, places.visitors) == (1, 1)


def test_a_refusal_says_which_bound_was_met() -> None:
    places = places_for(size=1, per_address=1)
    places.take("192.0.2.1", 0.0)
    with pytest.raises(Refused, match="overloaded: this address has 1 connections"):
        places.take("192.0.2.1", 0.0)
    with pytest.raises(Refused, match="overloaded: 1 connections are open, and there is no room"):
        places.take("192.0.2.2", 0.0)


def test_an_address_that_comes_too_often_is_told_when_to_come_and_takes_nothing_of_what_others_have() -> None:
    """DPS-26."""
    places = places_for(new_per_s=100, new_per_address_per_s=10)
    for _ in range(20):
        places.take("192.0.2.1", 0.0)
    for _ in range(10_000):
        with pytest.raises(RateRefused, match="over 10 new connections a second from this address") as refused:
            places.take("192.0.2.1", 0.0)
        assert refused.value.wait_s == pytest.approx(0.1)
    for n in range(180):
        places.take(f"198.51.100.{n}", 0.0)
    with pytest.raises(RateRefused, match="over 100 new connections a second"):
        places.take("198.51.100.200", 0.0)
    places.take("198.51.100.200", 0.01)
    assert places.refused == {"address_rate": 10_000, "rate": 1}


def test_whoever_finds_a_full_door_may_come_at_once_when_there_is_room() -> None:
    places = places_for(size=1, new_per_address_per_s=0.5)
    held = places.take("192.0.2.1", 0.0)
    for _ in range(10):
        assert taken(places, "192.0.2.2") is None
    held.give_back()
    assert taken(places, "192.0.2.2") is not None


@pytest.mark.parametrize(
    ("host", "visitor"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
        ("fe80::1%lo", "fe80::"),
        ("::1", "::"),
        ("", ""),
    ],
)
def test_a_network_of_ipv6_addresses_is_one_visitor(host: str, visitor: str) -> None:
    assert visitor_of(host) == visitor


@pytest.mark.parametrize("host", ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::7", ""])
def test_a_proxy_may_have_as_many_as_it_likes(host: str) -> None:
    limits = VisitorLimits(per_address=1, new_per_address_per_s=0.1, proxies=["10.0.0.0/8", "2001:db8::7"])
    places = Places(1_000, limits)
    for _ in range(100):
        places.take(host, 0.0).give_back()
        places.take(host, 0.0)
    assert (places.taken, places.visitors) == (100, 0)
    places.take("192.0.2.1", 0.0)
    with pytest.raises(Refused):
        places.take("192.0.2.1", 0.0)


def test_what_comes_from_nowhere_has_nothing_to_give_back() -> None:
    NOWHERE.hand_over()
    NOWHERE.give_back()
    assert NOWHERE.host == ""


@given(st.lists(st.tuples(st.sampled_from(["come", "hand over", "go"]), st.integers(0, 4)), max_size=100))
def test_no_bound_is_ever_passed_no_place_is_lost_and_nobody_is_remembered(steps: list[tuple[str, int]]) -> None:
    places, inside = places_for(size=5, per_address=2), list[HeldPlace]()
    handed_over = list[HeldPlace]()
    for what, number in steps:
        if what == "come":
            place = taken(places, f"192.0.2.{number}")
            inside += [place] if place is not None else []
        elif inside:
            place = inside[number % len(inside)]
            if what == "go":
                place.give_back()
                inside.remove(place)
            else:
                place.hand_over()
                handed_over.append(place)
        hosts = Counter(place.host for place in inside)
        assert places.taken == len([place for place in inside if place not in handed_over]) <= 5
        assert max(hosts.values(), default=0) <= 2
        assert places.visitors == len(hosts)


def test_what_is_no_network_is_refused_with_an_example() -> None:
    with pytest.raises(ConfigError, match=r"accesspoint\.visitors\.proxies: .*10\.1\.0\.0/16"):
        VisitorLimits(proxies=["the balancer"]).check_in("accesspoint")
    with pytest.raises(ConfigError, match=r"accesspoint\.visitors\.per_address is 0"):
        VisitorLimits(per_address=0).check_in("accesspoint")
