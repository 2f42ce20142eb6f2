"""Messages of clients: read or refused with a reason, whatever they hold; and what they are answered."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accesspoint import messages
from infra.kernel.errors import GoingAway, Refused
from infra.kernel.http_error import described


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"op":"hello","token":"t"}', messages.HelloMessage("t", "", "desktop", None)),
        ('{"op":"hello","token":"t","client":"c","device":"mobile","user":"u"}', messages.HelloMessage("t", "c", "mobile", "u")),
        ('{"op":"subscribe","topics":["a","b"]}', messages.SubscribeMessage(["a", "b"], None, "local")),
        ('{"op":"subscribe","topics":[],"id":1,"wait":"all"}', messages.SubscribeMessage([], 1, "all")),
        ('{"op":"unsubscribe","topics":["a"],"id":"x"}', messages.UnsubscribeMessage(["a"], "x")),
        ('{"op":"act","kind":"play","track":{"a":1},"id":2}', messages.ActMessage("play", 2)),
        ('{"op":"last","topics":["a"],"id":2}', messages.LastMessage(["a"], 2)),
        ('{"op":"pull"}', messages.PullMessage(None, 50, None)),
        ('{"op":"pull","since":17,"limit":5}', messages.PullMessage(None, 5, 17)),
        ('{"op":"seen","mark":18,"id":3}', messages.SeenMessage(3, 18)),
        ('{"op":"list","before":18,"archived":true,"id":3}', messages.ListMessage(3, before=18, archived=True)),
        ('{"op":"change","action":"archive","marks":[3,4],"id":3}', messages.ChangeMessage("archive", [3, 4], 3)),
        ('{"op":"read"}', messages.ReadMessage(None, None)),
        ('{"op":"history","topic":"a","before":"c","id":7}', messages.HistoryMessage("a", 7, 50)),
        ('{"op":"ping","from":"a newer client"}', messages.PingMessage()),
        (' {"topics":[], "op":"subscribe"} ', messages.SubscribeMessage([])),
    ],
)
def test_what_a_client_may_say(text: str, message: messages.ClientMessage) -> None:
    """Fields that are not known are passed over, so that clients may be newer."""
    assert messages.parse(text.encode()) == message


def test_every_op_is_a_message_and_every_message_an_op() -> None:
    for op in messages.OPS:
        assert _code(b'{"op":"%b","token":"","topics":[],"topic":"","kind":"","on":true,"action":"","marks":[]}' % op.encode()) is None
    assert _code(b'{"op":"welcome"}') == "unknown-op"


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("", "bad-json", "truncated"),
        ('{"op":"ping"', "bad-json", "truncated"),
        ('{"op":"dance",', "bad-json", "truncated"),
        ("[]", "bad-field", "a message is a JSON object with an op"),
        ('{"token":"t"}', "bad-field", "missing required field `op`"),
        ('{"op":null}', "bad-field", "$.op"),
        (
            '{"op":"dance"}',
            "unknown-op",
            "act, change, hello, history, last, list, ping, private, pull, read, refresh, seen, subscribe, unsubscribe",
        ),
        ('{"op":"hello"}', "bad-field", "missing required field `token`"),
        ('{"op":"hello","token":"t","device":"fridge"}', "bad-field", "$.device"),
        ('{"op":"hello","token":"t","client":"' + "c" * 129 + '"}', "bad-field", "<= 128"),
        ('{"op":"pull","since":"yesterday"}', "bad-field", "$.since"),
        ('{"op":"history"}', "bad-field", "missing required field `topic`"),
        ('{"op":"last"}', "bad-field", "missing required field `topics`"),
        ('{"op":"subscribe","topics":[1]}', "bad-field", "$.topics[0]"),
        ('{"op":"ping","a":' + "[" * 33 + "]" * 33 + "}", "bad-json", "more than 32"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_a_reason_that_teaches(text: str, code: str, hint: str) -> None:
    with pytest.raises(Refused) as refused:
        messages.parse(text.encode())
    assert refused.value.code.name == code
    assert hint in refused.value.reason


def _code(text: bytes) -> str | None:
    try:
        messages.parse(text)
    except Refused as refused:
        return refused.code.name
    return None


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_a_message_or_refused(text: str) -> None:
    data = text.encode(errors="replace")
    assert _code(data) in (None, "bad-json", "bad-field", "unknown-op")
    assert messages.id_of(data) is None or isinstance(messages.id_of(data), int | str)


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        (b'{"op":"dance","id":7}', 7),
        (b'{"id":"seven","op":5}', "seven"),
        (b'{"id":7.5}', None),
        (b'{"id":null}', None),
        (b'{"id":[7]}', None),
        (b'{"id":%d}' % 10**30, 10**30),
        (b'{"id":1' + b"0" * 5000 + b"}", None),
        (b'{"op":"dance"}', None),
        (b"[7]", None),
        (b'{"id":7', None),
    ],
)
def test_the_id_is_found_even_in_a_message_that_cannot_be_taken(text: bytes, id_: int | str | None) -> None:
    assert messages.id_of(text) == id_


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            messages.welcome("s1", "sto", "eve", 5, 0.009, {"topics": 9}, {}),
            {"op": "welcome", "session": "s1", "site": "sto", "user": "eve", "time_ms": 5, "expires_ms": 9, "limits": {"topics": 9}}
            | {"window": {}},
        ),
        (
            messages.subscribed(1, "partial", ["lon"], [("x", described(Refused("bad-topic", "so")))]),
            {
                "op": "subscribed",
                "id": 1,
                "installed": "partial",
                "missing_sites": ["lon"],
                "rejected": [{"topic": "x", "code": "bad-topic", "number": 4109, "reason": "so"}],
            },
        ),
        (
            messages.subscribed(1, "local", [], [], messages.Recovery(False, [{"topic": "x", "reason": "expired"}], 3, None)),
            {"op": "subscribed", "id": 1, "installed": "local", "missing_sites": [], "rejected": []}
            | {"recovered": False, "lost": [{"topic": "x", "reason": "expired"}], "replayed": 3, "point": None},
        ),
        (messages.gap(["x"], "owner-lost", "p"), {"op": "gap", "topics": ["x"], "reason": "owner-lost", "point": "p"}),
        (messages.pong_with_point(9, "p"), {"op": "pong", "time_ms": 9, "point": "p"}),
        (
            messages.error(GoingAway("p"), reconnect_in_ms=7),
            {
                "op": "error",
                "id": None,
                "code": "going-away",
                "number": 4000,
                "reason": GoingAway().reason,
                "reconnect_in_ms": 7,
                "point": "p",
            },
        ),
        (messages.unsubscribed("u"), {"op": "unsubscribed", "id": "u"}),
        (messages.refreshed(4, 1.5), {"op": "refreshed", "id": 4, "expires_ms": 1500}),
        (messages.ok(3), {"op": "ok", "id": 3}),
        (messages.pong(9), {"op": "pong", "time_ms": 9}),
        (messages.error(Refused("bad-json", "why")), {"op": "error", "id": None, "code": "bad-json", "number": 4103, "reason": "why"}),
        (
            messages.error(Refused("going-away", "bye"), reconnect_in_ms=7),
            {"op": "error", "id": None, "code": "going-away", "number": 4000, "reason": "bye", "reconnect_in_ms": 7},
        ),
    ],
)
def test_what_an_access_point_says(answer: bytes, says: dict[str, Any]) -> None:
    """The protocol of the design, 4.1, to the letter."""
    assert json.loads(answer) == says
