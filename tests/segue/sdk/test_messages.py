"""What an access point says is read into values or refused, and nothing else happens."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.sdk.errors import ProtocolError
from segue.sdk.messages import (
    Event,
    Installed,
    Limits,
    Pong,
    Problem,
    RejectedTopic,
    Welcome,
    decode,
    topic_batches,
    weakest,
)


def test_a_welcome_without_limits_gets_careful_ones() -> None:
    welcome = decode(b'{"op":"welcome","session":"s","site":"sto","user":"alice","time_ms":5}')
    assert welcome == Welcome(session="s", site="sto", user="alice", time_ms=5, limits=Limits())


def test_a_problem_may_belong_to_no_call() -> None:
    problem = decode(b'{"op":"error","id":null,"code":"going-away","number":4000,"reason":"bye","reconnect_in_ms":250}')
    assert problem == Problem(code="going-away", number=4000, reason="bye", reconnect_in_ms=250)


def test_the_payload_may_hold_anything_that_looks_like_the_protocol() -> None:
    found = decode(b'{"op":"event","topic":"t","site":"s","epoch":1,"seq":1,"ts":1,"id":"i","kind":"k","payload":{"op":"error"}}')
    assert isinstance(found, Event)
    assert found.payload == {"op": "error"}


@pytest.mark.parametrize("payload", [b'{"n":1e999}', b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", b'{"a":"\xff"}', b"[]"])
def test_an_event_that_cannot_be_held_is_passed_over(payload: bytes) -> None:
    head = b'{"op":"event","topic":"t","site":"s","epoch":1,"seq":1,"ts":1,"id":"i","kind":"k","payload":'
    assert decode(head + payload + b"}") is None


@pytest.mark.parametrize("frame", [b"", b"[]", b"{}", b'{"op":"ok"}', b'{"op":7}', b'{"op":"pong","time_ms":"late"}', b"\xff"])
def test_what_is_not_the_protocol_is_refused(frame: bytes) -> None:
    with pytest.raises(ProtocolError, match="not segue"):
        decode(frame)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
OPS = st.sampled_from(["welcome", "subscribed", "unsubscribed", "ok", "pong", "event", "error", "marks"])


@given(
    st.binary(max_size=80)
    | st.dictionaries(st.text(max_size=8), JSON, max_size=5).flatmap(
        lambda rest: OPS.map(lambda op: json.dumps({"op": op} | rest).encode())
    )
)
def test_garbage_is_a_message_or_passed_over_or_refused(frame: bytes) -> None:
    try:
        message = decode(frame)
    except ProtocolError:
        return
    assert message is None or type(message).__module__ == "segue.sdk.messages"


@given(st.lists(st.text(max_size=50), max_size=40), st.integers(1, 400), st.integers(1, 7))
def test_topics_are_cut_into_messages_without_losing_one_or_the_order(topics: list[str], message_bytes: int, per_message: int) -> None:
    limits = Limits(message_bytes=message_bytes, topics_per_message=per_message)
    batches = list(topic_batches(topics, limits))
    assert [topic for batch in batches for topic in batch] == topics
    assert all(1 <= len(batch) <= per_message for batch in batches)
    assert all(len(batch) == 1 or sum(len(topic.encode()) for topic in batch) <= message_bytes / 2 for batch in batches)


def answer(installed: Any, *missing: str, rejected: tuple[RejectedTopic, ...] = ()) -> Installed:
    return Installed(installed=installed, missing_sites=missing, rejected=rejected)


def test_several_answers_promise_what_all_of_them_promise() -> None:
    bad = RejectedTopic("x", "bad-topic")
    assert weakest([answer("all"), answer("local", rejected=(bad,))]) == answer("local", rejected=(bad,))
    assert weakest([answer("partial", "lon"), answer("all"), answer("partial", "ash", "lon")]) == answer("partial", "ash", "lon")
    assert weakest([]).installed == "all"


def test_a_pong_carries_the_clock_of_the_server() -> None:
    """SB-13."""
    assert decode(b'{"op":"pong","time_ms":12}') == Pong(time_ms=12)
