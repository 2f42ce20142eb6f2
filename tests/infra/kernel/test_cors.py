"""CORS: pages of allowed origins, and no others, may read answers."""

import pytest

from infra.kernel.cors import Cors
from infra.kernel.errors import Refused

HOST = "music.example"
APP = "https://app.example.com"


@pytest.mark.parametrize("origin", [APP, "https://music.example", "http://localhost:5173"])
def test_a_page_that_may_connect_may_read_answers_and_no_cookie_goes_along(origin: str) -> None:
    """DPS-26."""
    headers = dict(Cors([APP]).headers(origin, HOST))
    assert headers["Access-Control-Allow-Origin"] == origin
    assert "Retry-After" in headers["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://app.example.com.evil.example", ""])
def test_a_page_of_strangers_may_read_nothing_and_its_preflight_is_refused(origin: str) -> None:
    """DPS-26."""
    cors = Cors([APP])
    assert cors.headers(origin, HOST) == ()
    with pytest.raises(Refused, match="origin-refused"):
        cors.preflight(origin, HOST)


def test_where_all_may_the_answer_is_for_all() -> None:
    assert dict(Cors(["*"]).headers("https://evil.example", HOST))["Access-Control-Allow-Origin"] == "*"


def test_a_preflight_is_told_the_methods_and_that_a_token_may_be_shown() -> None:
    told = dict(Cors([APP]).preflight(APP, HOST))
    assert {"PUT", "DELETE", "PATCH"} <= set(told["Access-Control-Allow-Methods"].split(", "))
    assert {"Authorization", "Content-Type"} <= set(told["Access-Control-Allow-Headers"].split(", "))
