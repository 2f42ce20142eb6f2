"""Origins: a page of strangers does not act in the name of whoever looks at it."""

import pytest

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.origins import check_origin, check_origins, may_connect

NEAR = [
    "https://music.example",
    "HTTPS://Music.Example",
    "http://music.example",
    "http://localhost:3000",
    "http://127.0.0.1:8080",
    "http://127.9.9.9",
    "http://[::1]:1",
    "https://app.example.com",
]
STRANGE = [
    "https://evil.example",
    "https://music.example.evil.example",
    "https://music.example:8443",
    "https://evil.example/music.example",
    "https://music.example@evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://10.0.0.1",
    "http://[::2]",
    "http://[broken",
    "file://",
    "null",
    "",
    "https://app.example.com.evil.example",
    "chrome-extension://localhost",
    "https://music.example, https://evil.example",
]
ALLOWED = ["https://app.example.com"]


@pytest.mark.parametrize("origin", NEAR)
def test_pages_of_the_same_host_of_this_machine_and_of_listed_origins_may_connect(origin: str) -> None:
    """DPS-26."""
    check_origin(origin, "music.example", ALLOWED)
    assert may_connect(origin, "music.example", ALLOWED)


@pytest.mark.parametrize("origin", STRANGE)
def test_pages_of_strangers_may_not(origin: str) -> None:
    with pytest.raises(Refused, match="origin-refused"):
        check_origin(origin, "music.example", ALLOWED)
    check_origin(origin, "music.example", ["*"])
    assert not may_connect(origin, "music.example", ALLOWED)


def test_programs_send_no_origin_and_may_connect() -> None:
    check_origin(None, "music.example", [])


def test_a_page_without_an_origin_of_its_own_may_connect_if_that_is_listed() -> None:
    check_origin("null", "music.example", ["null"])


def test_what_no_browser_sends_cannot_be_listed() -> None:
    check_origins("accesspoint.allowed_origins", ["*", "null", "https://app.example.com", "http://app.example.com:8080"])
    for wrong in ("app.example.com", "https://app.example.com/", "https://App.example.com", "", "https://"):
        with pytest.raises(ConfigError, match=r"accesspoint\.allowed_origins has"):
            check_origins("accesspoint.allowed_origins", [wrong])
