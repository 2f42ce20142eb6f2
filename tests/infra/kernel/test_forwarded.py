"""infra.kernel.forwarded: whom a proxy speaks for, whatever else stands in the header."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.forwarded import caller_behind

PROXIES = [ip_network("10.0.0.0/8"), ip_network("2001:db8:1::/48")]


@pytest.mark.parametrize(
    ("forwarded", "caller"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("198.51.100.1, 192.0.2.7", "192.0.2.7"),
        ("192.0.2.7, 10.1.2.3", "192.0.2.7"),
        ("192.0.2.7,10.1.2.3 , 2001:db8:1::9", "192.0.2.7"),
        ("192.0.2.7:4711", "192.0.2.7"),
        ("[2001:db8:2::1]:4711", "2001:db8:2::"),
        ("2001:db8:2::1", "2001:db8:2::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("10.1.2.3", ""),
        ("", ""),
        ("192.0.2.7, unknown", ""),
        ("192.0.2.7, ", ""),
        ("192.0.2.7 198.51.100.1", ""),
    ],
)
def test_the_caller_is_the_last_address_that_is_no_proxy_of_ours(forwarded: str, caller: str) -> None:
    assert caller_behind(forwarded, PROXIES) == caller


@given(st.text(max_size=200), st.ip_addresses(v=4).filter(lambda each: each not in PROXIES[0]))
def test_what_a_caller_writes_into_the_header_changes_nothing(written: str, address: object) -> None:
    """DPS-26: the proxy appends; what stands before it is the caller's own word."""
    assert caller_behind(f"{written}, {address}", PROXIES) == str(ip_address(str(address)))


@given(st.text(max_size=200))
def test_any_text_is_read(written: str) -> None:
    assert isinstance(caller_behind(written, PROXIES), str)
