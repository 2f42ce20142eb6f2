"""Who may ask at the first page."""

import pytest

from infra.kernel.errors import Refused
from segue.home.admission import check_key, check_place, key_of

SECRET = b"0" * 32


@pytest.mark.parametrize("host", ["127.0.0.1:7780", "localhost:7780", "LOCALHOST:7780", "[::1]:7780"])
def test_whoever_opens_the_page_on_this_machine_may_ask(host: str) -> None:
    check_place(host, None, "http", 7780)
    check_place(host, f"http://{host}", "http", 7780)


@pytest.mark.parametrize(
    "host",
    [
        *("", "evil.example:7780", "localhost.evil.example:7780", "127.0.0.1.evil.example:7780", "me@localhost:7780", "10.0.0.1:7780"),
        *("localhost", "127.0.0.1:80", "localhost:7780/", "localhost:7780#", "[::1", "localhost:x", "localhost.:7780"),
    ],
)
def test_a_name_of_a_stranger_that_leads_here_is_refused(host: str) -> None:
    """DNS rebinding: the page of that name would be of the same origin."""
    with pytest.raises(Refused) as refused:
        check_place(host, f"http://{host}", "http", 7780)
    assert refused.value.code.name == "forbidden"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:7780", "http://127.0.0.1:7781", "http://localhost:7780", ""]
)
def test_the_page_of_another_origin_is_refused(origin: str) -> None:
    with pytest.raises(Refused) as refused:
        check_place("127.0.0.1:7780", origin, "http", 7780)
    assert refused.value.code.name == "origin-refused"


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer wrong", "Basic {key}", "Bearer {key}x", "Bearer é"])
def test_without_the_key_nobody_is_served(header: str) -> None:
    with pytest.raises(Refused) as refused:
        check_key(header.format(key=key_of(SECRET)), key_of(SECRET))
    assert refused.value.code.name == "bad-token"


def test_the_key_is_the_same_after_a_restart_and_another_one_with_another_secret() -> None:
    check_key(f"Bearer {key_of(SECRET)}", key_of(SECRET))
    assert len(key_of(SECRET)) == 22
    assert key_of(SECRET) != key_of(b"1" * 32)
