"""Who may ask the server of Segue Radio."""

import pytest

from infra.kernel.errors import Refused
from segue.demo.radio.gate import check_page, policy

OWN = "127.0.0.1:8123"


@pytest.mark.parametrize("host", [OWN, "localhost:8123"])
def test_its_own_pages_may_ask_and_change(host: str) -> None:
    check_page("GET", host, None, 8123)
    check_page("GET", host, f"http://{host}", 8123)
    check_page("POST", host, f"http://{host}", 8123)


@pytest.mark.parametrize("host", ["radio.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:8123.evil.example", "", "evil.example:8123"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_name_that_a_stranger_lets_point_here_is_refused(method: str, host: str) -> None:
    """DNS rebinding."""
    with pytest.raises(Refused, match="forbidden"):
        check_page(method, host, f"http://{host}", 8123)


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://localhost:8123", "https://127.0.0.1:8123", "http://127.0.0.1:9"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_other_origins_are_refused(method: str, origin: str) -> None:
    with pytest.raises(Refused, match="origin-refused"):
        check_page(method, OWN, origin, 8123)


def test_a_change_without_an_origin_comes_from_no_page_of_ours() -> None:
    with pytest.raises(Refused, match="origin-refused"):
        check_page("POST", OWN, None, 8123)


def test_a_page_loads_and_asks_nothing_else() -> None:
    found = policy("ws://127.0.0.1:1", "http://127.0.0.1:2")
    assert "default-src 'none'" in found
    assert "connect-src 'self' ws://127.0.0.1:1 http://127.0.0.1:2;" in found
    assert "unsafe" not in found
