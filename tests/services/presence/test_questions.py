"""What presence is asked, what it answers, and how the answers of several nodes become one."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.codec import MAX_FRAME_BYTES, encode
from infra.kernel.errors import Refused
from infra.kernel.frames import Reply
from infra.kernel.topics import MAX_LAST
from services.presence import questions
from services.presence.options import LARGEST_PAYLOAD_BYTES


def tail(user: str, ts_ms: int) -> bytes:
    return b'"topic":"hm://presence/user/%b/","ts":%d,"id":"p-%d","kind":"play","payload":{}}' % (user.encode(), ts_ms, ts_ms)


@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5).map(bytes), min_size=1, max_size=4))
def test_online_anywhere_is_online(answers: list[bytes]) -> None:
    expected = [max(bits & 1 for bits in column) | max(bits & 2 for bits in column) for column in zip(*answers, strict=True)]
    assert list(questions.merge_whereabouts(answers[0], answers[1:])) == expected


def test_an_answer_about_other_users_is_passed_over() -> None:
    assert questions.merge_whereabouts(b"\1\0", [b"\1\1\1", b"", b"\0\2"]) == b"\1\2"
    assert questions.merge_whereabouts(b"", [b""]) == b""


@given(st.lists(st.lists(st.none() | st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4))
def test_the_newest_event_of_each_user_is_the_last_one(answers: list[list[int | None]]) -> None:
    """SB-29: a user who acted at two sites has one last event."""
    own, *others = [[b"" if ts is None else tail(f"u{n}", ts) for n, ts in enumerate(answer)] for answer in answers]
    merged = questions.merge_tails(own, map(questions.encode_tails, others))
    newest = [max((ts for ts in column if ts is not None), default=None) for column in zip(*answers, strict=True)]
    assert merged == [b"" if ts is None else tail(f"u{n}", ts) for n, ts in enumerate(newest)]


PACK = msgspec.msgpack.encode


@pytest.mark.parametrize("body", [b"", b"\xff", PACK([b"", b""]), PACK([b"no json"]), b"\x91\xc4\x01\xff"])
def test_an_answer_that_cannot_be_read_is_passed_over(body: bytes) -> None:
    assert questions.merge_tails([tail("ann", 1)], [body]) == [tail("ann", 1)]


def test_a_client_asks_for_feeds_each_once_and_gets_those_that_have_a_last_event() -> None:
    body = b'{"op":"last","id":"x","topics":["hm://presence/user/bob/","hm://presence/user/ann/","hm://presence/user/bob/"]}'
    users, id_ = questions.read_last("eve", body)
    assert (users, id_) == (["bob", "ann"], b'"x"')
    answer = json.loads(questions.answer_last(id_, [tail("bob", 7), b""]))
    event = {"topic": "hm://presence/user/bob/", "ts": 7, "id": "p-7", "kind": "play", "payload": {}}
    assert answer == {"op": "last", "id": "x", "events": [event]}
    assert json.loads(questions.answer_last(questions.read_last("eve", b'{"topics":[]}')[1], [])) == {
        "op": "last",
        "id": None,
        "events": [],
    }


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "bad-field"),
        (b"{}", "bad-field"),
        (b'{"topics":[1]}', "bad-field"),
        (b'{"topics":["hm://presence/user/bob"]}', "bad-topic"),
        (b'{"topics":["hm://playlist/user/bob/playlist/p/"]}', "bad-topic"),
        (b'{"topics":["hm://notifications/inbox/bob/"]}', "bad-topic"),
        (json.dumps({"topics": ["hm://presence/user/bob/"] * 501}).encode(), "too-many-topics"),
    ],
)
def test_what_is_no_question_is_refused(body: bytes, code: str) -> None:
    with pytest.raises(Refused, match=code):
        questions.read_last("eve", body)


def test_whereabouts_are_asked_with_a_list_of_names() -> None:
    assert questions.decode_users(questions.encode_users(["ann", "bob"])) == ["ann", "bob"]
    for body in (b"", b"\xc1", msgspec.msgpack.encode("ann"), msgspec.msgpack.encode([1])):
        with pytest.raises(Refused, match="bad-field"):
            questions.decode_users(body)


def test_the_largest_answer_fits_into_a_frame() -> None:
    event = tail("x" * 128, 10**13)[:-3] + b'{"x":"' + b"x" * (LARGEST_PAYLOAD_BYTES - 8) + b'"}}'
    tails = [event] * MAX_LAST
    assert len(encode(Reply(2**62 - 1, "", "", questions.answer_last(b'"%b"' % (b"x" * 128), tails)))) < MAX_FRAME_BYTES
    assert len(encode(Reply(2**62 - 1, "", "", questions.encode_tails(tails)))) < MAX_FRAME_BYTES
