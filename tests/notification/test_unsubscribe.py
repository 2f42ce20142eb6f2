"""Tokens behind unsubscribe links."""

from typing import Any

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.runtime.keys import AuthOptions, Keys
from infra.runtime.tokens import Verifier
from infra.runtime.tokens import issue as issue_login
from notification.unsubscribe import ALL, UnsubscribeWish, issue, verify

SECRET = b"s" * 32
NOW_S = 1_795_000_000.0
DAY_S = 86_400
WISH = UnsubscribeWish("alice", "new-album")


def signed(changes: dict[str, Any], secret: bytes | str = SECRET, algorithm: str = "HS256") -> str:
    """Returns a token with `changes` of the claims that `issue` gives it; None takes one away. `secret`, `algorithm`: of its signature."""
    good: dict[str, Any] = {"aud": "unsubscribe", "user": "alice", "class": "new-album", "exp": int(NOW_S) + DAY_S}
    return jwt.encode({name: value for name, value in (good | changes).items() if value is not None}, secret, algorithm)


@settings(max_examples=50)
@given(user=st.from_regex(r"[A-Za-z0-9._-]{1,128}", fullmatch=True), cls=st.from_regex(r"[a-z][a-z0-9-]{0,31}", fullmatch=True))
def test_a_link_says_who_and_what(user: str, cls: str) -> None:
    wish = UnsubscribeWish(user, cls)
    assert verify(SECRET, issue(SECRET, wish, NOW_S), NOW_S) == wish


def test_a_link_for_everything_is_one_too() -> None:
    assert verify(SECRET, issue(SECRET, UnsubscribeWish("alice", ALL), NOW_S), NOW_S).cls == ALL


def test_a_link_works_for_longer_than_notifications_live_and_not_for_ever() -> None:
    token = issue(SECRET, WISH, NOW_S)
    assert verify(SECRET, token, NOW_S + 90 * DAY_S) == WISH
    assert verify(SECRET, token, NOW_S - DAY_S) == WISH
    with pytest.raises(Refused, match="over a year old"):
        verify(SECRET, token, NOW_S + 366 * DAY_S)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "a.b.c",
        "x" * 2000,
        "ü",
        issue(SECRET, WISH, NOW_S)[:-2],
        signed({}, secret=b"t" * 32),
        signed({}, secret=SECRET * 2, algorithm="HS512"),
        signed({}, secret="", algorithm="none"),
        signed({"aud": "another"}),
        signed({"aud": None}),
        signed({"exp": None}),
        signed({"exp": "soon"}),
        signed({"user": None}),
        signed({"user": ["alice"]}),
        signed({"user": "a/b"}),
        signed({"class": "NO"}),
    ],
)
def test_a_wrong_link_is_refused(token: str) -> None:
    with pytest.raises(Refused) as refusal:
        verify(SECRET, token, NOW_S)
    assert refusal.value.code.name == "bad-token"


@pytest.mark.parametrize("audience", [None, "unsubscribe"])
def test_an_unsubscribe_link_opens_no_other_door(audience: str | None) -> None:
    verifier = Verifier(AuthOptions(audience=audience), Keys(secret=SECRET), lambda: None)
    with pytest.raises(Refused):
        verifier.client(issue(SECRET, WISH, NOW_S), NOW_S)


def test_a_login_is_no_unsubscribe_link() -> None:
    with pytest.raises(Refused, match="bad-token"):
        verify(SECRET, issue_login(SECRET, user="alice", ttl_s=60, now_s=NOW_S), NOW_S)


@pytest.mark.parametrize("wish", [UnsubscribeWish("", "new-album"), UnsubscribeWish("alice", ""), UnsubscribeWish("a b", "new-album")])
def test_no_link_is_made_that_could_not_be_read(wish: UnsubscribeWish) -> None:
    with pytest.raises(ValueError, match="needs a user name and a class"):
        issue(SECRET, wish, NOW_S)
