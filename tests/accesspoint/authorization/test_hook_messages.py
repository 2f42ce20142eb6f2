"""What the answers of the hook mean: whatever is in doubt is decided against the user."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accesspoint.authorization.hook_messages import HookReply, read_connect, read_topics
from infra.kernel.errors import Refused
from infra.kernel.topics import parse_topic
from tests.support.user import feed

BOB, EVE = parse_topic(feed("bob")), parse_topic(feed("eve"))


def reply(document: Any, status: int = 200, *, is_whole: bool = True) -> HookReply:
    """Returns an answer with a document as JSON, or with a body as it is."""
    return HookReply(status, document if isinstance(document, bytes) else json.dumps(document).encode(), is_whole)


def code(found: object) -> str:
    """Returns the code of a refusal, and "" for an answer."""
    return found.code.name if isinstance(found, Refused) else ""


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ({"allowed": [feed("bob"), feed("eve")]}, ["", ""]),
        ({"allowed": [feed("bob")], "refused": {feed("eve"): "private"}}, ["", "forbidden"]),
        ({"allowed": []}, ["forbidden", "forbidden"]),
        ({"allowed": [feed("bob")], "refused": {feed("bob"): "or not"}}, ["forbidden", "forbidden"]),
        ({"allowed": [feed("BOB"), "hm://presence/user/*/", "*", feed("cid")]}, ["forbidden", "forbidden"]),
    ],
)
def test_what_is_named_as_allowed_and_nothing_else_is_seen(answer: dict[str, Any], codes: list[str]) -> None:
    """AUTH-10."""
    found = read_topics(reply(answer), [BOB, EVE])
    assert isinstance(found, list)
    assert [code(each) for each in found] == codes


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"{}",
        b"[]",
        b"null",
        b'{"allowed": null}',
        b'{"allowed": "all"}',
        b'{"allowed": [1]}',
        b'{"allowed": [], "refused": ["x"]}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_an_answer_that_says_something_else_says_nothing(body: bytes) -> None:
    assert code(read_topics(reply(body), [BOB])) == "unavailable"
    assert code(read_connect(reply(body))) == "unavailable"


@pytest.mark.parametrize("status", [201, 204, 301, 307, 400, 401, 404, 429, 500, 503])
def test_another_status_than_200_allows_nothing_whatever_stands_in_the_body(status: int) -> None:
    assert code(read_connect(reply({"allow": True}, status))) == "unavailable"
    assert code(read_topics(reply({"allowed": [feed("bob")]}, status), [BOB])) == "unavailable"


def test_a_status_of_403_forbids_all() -> None:
    assert code(read_connect(reply({"allow": True}, 403))) == "forbidden"
    found = read_topics(reply({"allowed": [feed("bob")]}, 403), [BOB, EVE])
    assert isinstance(found, list)
    assert [code(each) for each in found] == ["forbidden", "forbidden"]


def test_half_an_answer_is_none() -> None:
    assert code(read_connect(reply({"allow": True}, is_whole=False))) == "unavailable"


def test_who_may_come_in_and_who_may_not() -> None:
    assert read_connect(reply({"allow": True, "and": "more"})) is None
    refused = read_connect(reply({"allow": False}))
    assert refused is not None
    assert (refused.code.name, refused.reason) == ("forbidden", "you may not come in")
    for strange in ('"true"', "1", "null"):
        assert code(read_connect(reply(f'{{"allow": {strange}}}'.encode()))) == "unavailable"


def test_a_reason_is_short_and_harmless_to_a_terminal() -> None:
    refused = read_connect(reply({"allow": False, "reason": "\x1b[2Jgone" + "x" * 1000}))
    assert refused is not None
    assert refused.reason.startswith("\\u001b[2Jgone")
    assert len(refused.reason) < 210


@given(body=st.binary(max_size=200), status=st.sampled_from([200, 403, 500]), is_whole=st.booleans())
def test_no_answer_breaks_anything(body: bytes, status: int, is_whole: bool) -> None:
    assert read_connect(HookReply(status, body, is_whole)) is not None
    found = read_topics(HookReply(status, body, is_whole), [BOB])
    assert isinstance(found, Refused) or all(found)
