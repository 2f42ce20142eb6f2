"""infra.runtime.address: what is an address, and what the others get told."""

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.address import Address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("127.0.0.1:7811", "127.0.0.1", 7811), ("broker-1.sto:0", "broker-1.sto", 0), ("[::1]:65535", "::1", 65535)],
)
def test_an_address_is_parsed_and_printed_back(text: str, host: str, port: int) -> None:
    address = Address.parse(text)
    assert (address.host, address.port) == address == (host, port)
    assert str(address) == text


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1", ":7811", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:-1", "h:65536", "::1:80", "[h]:80", "[::1]", "h:\u0661"]
)
def test_anything_else_is_refused_with_the_form_and_what_was_got(text: str) -> None:
    with pytest.raises(ConfigError, match=r"host:port, for example 127\.0\.0\.1:7811") as refusal:
        Address.parse(text)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_reached_from_this_machine_only(host: str) -> None:
    assert Address(host, 80).is_loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "example.org", "localhost.example.org", "fe80::1%eth0"])
def test_everything_else_is_reached_from_elsewhere(host: str) -> None:
    assert not Address(host, 80).is_loopback
