"""infra.runtime.http.admin_access: who reads what an admin door shows."""

import re
from collections.abc import Mapping

import pytest
from aiohttp.test_utils import make_mocked_request

from infra.kernel.errors import ConfigError, Refused
from infra.runtime.address import Address
from infra.runtime.http.admin_access import AdminAccess
from infra.runtime.tokens import AuthOptions, Keys, Verifier, issue

SECRET = b"s" * 32
NOW_S = 1_000.0


class Socket:
    """A transport whose other end is at `host`."""

    def __init__(self, host: str) -> None:
        self._host = host

    def get_extra_info(self, name: str, default: object = None) -> object:
        return (self._host, 4711) if name == "peername" else default


def access() -> AdminAccess:
    return AdminAccess(Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None), lambda: NOW_S)


def bearer(service: str = "", user: str = "", secret: bytes = SECRET) -> dict[str, str]:
    token = issue(secret, user=user or None, service=service or None, ttl_s=60, now_s=NOW_S)
    return {"Authorization": f"Bearer {token}"}


def outcome(headers: Mapping[str, str], peer: str, method: str = "GET", rule: AdminAccess | None = None) -> str:
    """Returns who was let in ("" for this machine), or the code of the refusal."""
    request = make_mocked_request(method, "/v1/stats", {"Host": "127.0.0.1:7790"} | dict(headers), transport=Socket(peer))
    try:
        return (rule or access()).check(request)
    except Refused as refused:
        return refused.code.name


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_reads_without_a_token(peer: str) -> None:
    """DPS-25: the socket's other end counts."""
    assert outcome({}, peer) == ""


@pytest.mark.parametrize("peer", ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1", ""])
def test_others_show_the_token_of_an_operator_or_a_monitor(peer: str) -> None:
    """DPS-25: nothing that a request says of where it comes from gives a right."""
    assert outcome({}, peer) == "bad-token"
    assert outcome({"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1", "Host": "localhost"}, peer) == "bad-token"
    assert outcome(bearer("operator"), peer) == "operator"
    assert outcome(bearer("monitor"), peer) == "monitor"
    assert outcome(bearer("presence"), peer) == "forbidden"
    assert outcome(bearer(user="operator"), peer) == "forbidden"
    assert outcome(bearer("operator", secret=b"x" * 32), peer) == "bad-token"


@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via"])
def test_what_came_through_a_proxy_on_this_machine_is_not_from_this_machine(name: str) -> None:
    """DPS-25: a header can take the right of this machine away."""
    assert outcome({name: "127.0.0.1"}, "127.0.0.1") == "bad-token"
    assert outcome({name: "127.0.0.1"} | bearer("monitor"), "127.0.0.1") == "monitor"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example:7790"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "[broken"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_a_page_in_a_browser_on_this_machine_reads_nothing(headers: dict[str, str]) -> None:
    """DPS-25: a name of a stranger that leads to 127.0.0.1 (DNS rebinding), or a page of another origin."""
    assert outcome(headers, "127.0.0.1") == "bad-token"


@pytest.mark.parametrize("host", ["localhost:7790", "127.0.0.1", "[::1]:7790"])
def test_this_machine_is_asked_by_its_own_names(host: str) -> None:
    assert outcome({"Host": host}, "127.0.0.1") == ""


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_changes_state_without_an_operators_token_anywhere(method: str) -> None:
    """DPS-25: not even on loopback, and not with the token of a monitor."""
    assert outcome({}, "127.0.0.1", method) == "bad-token"
    assert outcome(bearer("monitor"), "127.0.0.1", method) == "forbidden"
    assert outcome(bearer("operator"), "127.0.0.1", method) == "operator"


def test_without_keys_only_this_machine_gets_in_and_other_addresses_are_refused_at_the_start() -> None:
    """DPS-25: a door that nobody could guard does not open."""
    closed = AdminAccess()
    assert outcome({}, "127.0.0.1", rule=closed) == ""
    assert outcome(bearer("operator"), "192.0.2.7", rule=closed) == "forbidden"
    for text in ("127.0.0.1:7790", "[::1]:0", "localhost:7790"):
        closed.check_address("presence.admin", Address.parse(text))
    with pytest.raises(ConfigError, match=re.escape("presence.admin is 0.0.0.0:7793") + r".*auth\.secret_file.*127\.0\.0\.1:7793"):
        closed.check_address("presence.admin", Address.parse("0.0.0.0:7793"))
    access().check_address("presence.admin", Address.parse("0.0.0.0:7793"))
