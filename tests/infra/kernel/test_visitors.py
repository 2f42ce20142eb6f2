"""Visitors: one address has its part and no more, and takes nothing of the parts of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.rates import RateRefused
from infra.kernel.visitors import VisitorLimits, Visitors, visitor


def test_one_address_has_so_many_connections_and_others_have_theirs() -> None:
    """DPS-26."""
    visitors = Visitors(VisitorLimits(per_address=2))
    first, _ = visitors.enter("192.0.2.1", 0.0), visitors.enter("192.0.2.1", 0.0)
    with pytest.raises(Refused, match="overloaded: this address has 2 connections"):
        visitors.enter("192.0.2.1", 0.0)
    visitors.enter("192.0.2.2", 0.0)
    visitors.leave(first)
    visitors.enter("192.0.2.1", 0.0)
    assert visitors.refused == {"overloaded": 1}


def test_an_address_that_comes_too_often_is_told_when_to_come_and_takes_nothing_of_what_others_have() -> None:
    visitors = Visitors(VisitorLimits(new_per_s=100, new_per_address_per_s=10))
    for _ in range(20):
        visitors.enter("192.0.2.1", 0.0)
    for _ in range(10_000):
        with pytest.raises(RateRefused, match="over 10 new connections a second from this address") as refused:
            visitors.enter("192.0.2.1", 0.0)
        assert refused.value.wait_s == pytest.approx(0.1)
    for n in range(180):
        visitors.enter(f"198.51.100.{n}", 0.0)
    with pytest.raises(RateRefused, match="over 100 new connections a second"):
        visitors.enter("198.51.100.200", 0.0)
    visitors.enter("198.51.100.200", 0.01)


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("fe80::1%lo", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
    ],
)
def test_a_network_of_ipv6_addresses_is_one_visitor(host: str, key: str) -> None:
    assert visitor(host) == key


@pytest.mark.parametrize("host", ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::7"])
def test_a_proxy_may_have_as_many_as_it_likes(host: str) -> None:
    visitors = Visitors(VisitorLimits(per_address=1, new_per_address_per_s=0.1, proxies=["10.0.0.0/8", "2001:db8::7"]))
    for _ in range(100):
        visitors.leave(visitors.enter(host, 0.0))
        visitors.enter(host, 0.0)
    visitors.enter("192.0.2.1", 0.0)
    with pytest.raises(Refused):
        visitors.enter("192.0.2.1", 0.0)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=100))
def test_of_those_who_have_left_nothing_is_kept(steps: list[tuple[int, bool]]) -> None:
    visitors = Visitors(VisitorLimits(per_address=3, new_per_s=10**6, new_per_address_per_s=10**6))
    inside: list[str] = []
    for number, comes in steps:
        if comes:
            try:
                inside.append(visitors.enter(f"192.0.2.{number}", 0.0))
            except Refused:
                assert inside.count(f"192.0.2.{number}") == 3
        elif inside:
            visitors.leave(inside.pop(0))
    assert len(visitors) == len(set(inside))


def test_what_is_no_network_is_refused_with_an_example() -> None:
    with pytest.raises(ConfigError, match=r"accesspoint\.visitors\.proxies: .*10\.1\.0\.0/16"):
        VisitorLimits(proxies=["the balancer"]).check_in("accesspoint")
    with pytest.raises(ConfigError, match=r"accesspoint\.visitors\.per_address is 0"):
        VisitorLimits(per_address=0).check_in("accesspoint")
