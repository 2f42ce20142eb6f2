"""infra.kernel.public_address: which addresses strangers may make us call."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import ConfigError
from infra.kernel.public_address import LOOPBACK, is_loopback, is_this_machine, may_call, network_of, parse_address, parse_network

PRIVATE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::8.8.8.8",
    "::10.0.0.1",
    "::ffff:0:8.8.8.8",
    "::ffff:0:10.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1::1",
    "100::1",
    "100:0:0:1::1",
    "2001::1",
    "2001:0:808:808::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:a00:1::",
    "2002:c0a8:101::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456:789a::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "2606:4700::5efe:10.0.0.1",
    "2606:4700::200:5efe:10.0.0.1",
]
THIS_MACHINE = ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2606::5efe:127.0.0.1"]
DISGUISED = ["::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1"]
PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
]


def callable_without_a_list(address: str) -> bool:
    parsed = parse_address(address)
    assert parsed is not None
    return may_call(parsed)


@pytest.mark.parametrize("address", [*PRIVATE, *THIS_MACHINE, *DISGUISED])
def test_a_private_address_is_never_called_in_whatever_dress(address: str) -> None:
    """DPS-26: neither a network behind our walls nor this machine, nor what only looks like a public address."""
    assert not callable_without_a_list(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_called(address: str) -> None:
    assert callable_without_a_list(address)


@pytest.mark.parametrize("address", THIS_MACHINE)
def test_a_listed_network_is_called_and_no_other(address: str) -> None:
    """DPS-26: private addresses are called only where somebody has listed them."""
    parsed = parse_address(address)
    assert parsed is not None
    assert may_call(parsed, LOOPBACK)
    assert not may_call(parsed, [ip_network("10.0.0.0/8"), ip_network("fc00::/7")])


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_of_an_ipv6_address_is_judged_as_it_is(inner: object) -> None:
    number = int(ip_address(str(inner)))
    prefixes = (0xFFFF << 32, 0x64_FF9B << 96, 0x2606 << 112 | 0x5EFE << 32)
    dressed = [ip_address(prefix | number) for prefix in prefixes] + [ip_address(0x2002 << 112 | number << 80)]
    assert {may_call(each) for each in map(ip_address, map(str, dressed))} == {may_call(ip_address(number))}


@pytest.mark.parametrize("name", ["localhost", "127.1", "0x7f.1", "2130706433", "example.org", "", "1.2.3.4.5"])
def test_a_name_is_no_address(name: str) -> None:
    assert parse_address(name) is None


def test_a_network_that_makes_no_sense_is_refused_with_an_example() -> None:
    assert parse_network("outgoing.private", "10.1.0.0/16") == ip_network("10.1.0.0/16")
    assert parse_network("outgoing.private", "::1") == ip_network("::1/128")
    for text in ("10.1.2.3/8", "localhost", ""):
        with pytest.raises(ConfigError, match=r'outgoing\.private: .*"10\.1\.0\.0/16"'):
            parse_network("outgoing.private", text)


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::9", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("", ""),
    ],
)
def test_one_party_holds_one_ipv4_address_or_64_bits_of_ipv6(host: str, network: str) -> None:
    assert network_of(host) == network


def test_this_machine_is_known_by_all_its_addresses() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1")] == [True] * 4
    assert [is_loopback(host) for host in ("10.0.0.1", "::ffff:10.0.0.1", "::", "0.0.0.0", "localhost", "")] == [False] * 6
    assert [is_this_machine(host) for host in ("localhost", "[::1]", "::ffff:127.0.0.1", "localhost.example.org", "")] == [True] * 3 + [
        False
    ] * 2
