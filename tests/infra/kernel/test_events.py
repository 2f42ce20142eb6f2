"""From what a service submits to the bytes that clients get, read back by Python's own JSON."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.events import (
    Event,
    Submission,
    accept,
    after_in,
    encode_tail,
    first_body,
    is_presence,
    numbering,
    origin,
    origin_epoch_seq,
    place,
    skipped_in,
    with_skipped,
)
from infra.kernel.topics import parse_topic

USER = "hm://presence/user/ann/"
URIS = [
    USER,
    "hm://playlist/user/ann/playlist/p1/",
    "hm://notifications/feed/abba%new-album/",
    "hm://notifications/feed/ann%friend-joined/",
]
SITES = st.from_regex(r"[A-Za-z0-9._-]{1,128}", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)
SPACE = st.text(" \t\r\n", max_size=3)


def submit(payload: bytes, *, limit_bytes: int = 4096, fallback_id: str = "b1-7", **fields: str) -> Event:
    """Returns the event of `payload`, with the other fields as they usually are, the way it takes through a broker's door."""
    rest = json.dumps({"topic": USER, "kind": "play"} | fields).encode()
    submission = msgspec.json.decode(b'{"payload":%b,%b' % (payload, rest[1:]), type=Submission)
    return accept(submission, ts_ms=1234, fallback_id=fallback_id, max_payload_bytes=limit_bytes)


def refusal(payload: bytes = b"{}", *, limit_bytes: int = 4096, **fields: str) -> tuple[str, str]:
    """Returns the code and the reason that `payload` and `fields` are refused with."""
    with pytest.raises(Refused) as refused:
        submit(payload, limit_bytes=limit_bytes, **fields)
    return refused.value.code.name, refused.value.reason


def body_of(event: Event, site: str = "sto", epoch: int = 7, seq: int = 42) -> bytes:
    return b"%b%d,%b" % (numbering(site, epoch), seq, event.tail)


@given(OBJECTS, st.booleans(), SPACE, SPACE)
def test_a_body_is_json_and_holds_what_was_submitted(payload: dict[str, Any], ascii_only: bool, before: str, after: str) -> None:
    text = json.dumps(payload, ensure_ascii=ascii_only)
    try:
        raw = f"{before}{text}{after}".encode()
    except UnicodeEncodeError:  # half of a pair can be escaped, but not encoded
        return
    event = submit(raw, limit_bytes=1 << 20, id="id:1", kind="play-2")
    assert json.loads(body_of(event)) == {
        "op": "event",
        "site": "sto",
        "epoch": 7,
        "seq": 42,
        "topic": USER,
        "ts": 1234,
        "id": "id:1",
        "kind": "play-2",
        "payload": payload,
    }
    assert (event.topic, event.id) == (parse_topic(USER), b"id:1")


def test_an_event_without_an_id_gets_one_but_counts_as_having_none() -> None:
    """Two submissions without an id are never taken for one."""
    event = submit(b"{}", fallback_id="b1-8")
    assert (event.id, json.loads(body_of(event))["id"]) == (b"", "b1-8")


@given(st.binary(max_size=60))
def test_what_is_no_json_object_never_becomes_an_event(payload: bytes) -> None:
    """A client would close the connection on one bad body: garbage in means a refusal, or a body that any parser reads."""
    try:
        event = submit(b'{"a":%b}' % payload)
    except (msgspec.DecodeError, Refused):
        return
    json.loads(body_of(event))


@pytest.mark.parametrize("payload", [b"[]", b"null", b"1", b'"{}"', b"true", b" [ ] "])
def test_a_payload_that_is_no_object_is_refused(payload: bytes) -> None:
    assert refusal(payload) == ("bad-field", "payload must be a JSON object")


@pytest.mark.parametrize("payload", [b"\t{ }\n", b' {"a" :\r\n1} '])
def test_white_space_around_a_payload_is_not_part_of_it(payload: bytes) -> None:
    assert submit(payload).tail.endswith(b'"payload":%b}' % payload.strip())


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80"])
def test_bytes_that_are_not_utf8_are_refused_where_they_stand(bad: bytes) -> None:
    assert refusal(b'{"a":"%b"}' % bad) == ("bad-utf8", "byte 6 is not UTF-8")
    assert refusal(b'{"%b":1}' % bad) == ("bad-utf8", "byte 2 is not UTF-8")


def test_a_payload_over_the_limit_is_refused_and_one_at_it_is_not() -> None:
    payload = b'{"a":"xxxx"}'
    submit(payload, limit_bytes=len(payload))
    assert refusal(payload, limit_bytes=len(payload) - 1) == ("too-large", "payload of 12 bytes is over the limit of 11")


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_ten_thousand_nested_values_are_refused_and_break_nothing(opening: bytes) -> None:
    """They end in an error that the handler answers; an event that was accepted can be read."""
    with pytest.raises((msgspec.DecodeError, RecursionError)):
        submit(b'{"a":%b' % (opening * 10_000), limit_bytes=1 << 20)
    closing = b"]" if opening == b"[" else b"}"
    with pytest.raises(RecursionError):
        submit(b'{"a":%b1%b}' % (opening * 10_000, closing * 10_000), limit_bytes=1 << 20)
    assert refusal(b'{"a":%b1%b}' % (opening * 100, closing * 100))[0] == "bad-json"
    json.loads(body_of(submit(b'{"a":%b1%b}' % (opening * 31, closing * 31))))


def test_a_number_that_no_double_holds_is_refused() -> None:
    assert refusal(b'{"n":[1e999]}')[0] == "bad-json"


@pytest.mark.parametrize("kind", ["", "Play", "2play", "-play", "play it", 'play"', "play\n", "p" * 33, "é"])
def test_a_kind_that_would_need_escaping_is_refused(kind: str) -> None:
    assert refusal(kind=kind) == ("bad-field", "kind must be 1 to 32 characters a-z 0-9 - and start with a letter")


@pytest.mark.parametrize("event_id", ["a b", 'a"', "a\n", "a" * 65, "é", "a/b"])
def test_an_id_that_would_need_escaping_is_refused(event_id: str) -> None:
    assert refusal(id=event_id) == ("bad-field", "id must be 1 to 64 characters out of A-Z a-z 0-9 . _ : -")


def test_a_topic_that_is_none_is_refused() -> None:
    assert refusal(topic="hm://presence/user/ann")[0] == "bad-topic"


@given(st.sampled_from(URIS), SITES, st.integers(0, 2**62), st.integers(0, 2**62), st.integers(1, 10**9))
def test_a_body_tells_its_class_and_origin_and_how_many_it_skipped(uri: str, site: str, epoch: int, seq: int, skipped: int) -> None:
    """Whatever the payload holds: it comes last."""
    payload = b'{"topic":"hm://presence/user/x/","site":"x","seq":1}'
    body = b"%b%d,%b" % (numbering(site, epoch), seq, encode_tail(uri, 1, "1", "p", payload))
    spliced = with_skipped(body, skipped)
    assert origin(body) == site.encode()
    assert place(body) == place(spliced) == (numbering(site, epoch), seq)
    assert (skipped_in(body), skipped_in(spliced), origin(spliced)) == (0, skipped, site.encode())
    first = first_body(numbering(site, epoch), seq, (3, 9), encode_tail(uri, 1, "1", "p", payload))
    assert origin_epoch_seq(body) == origin_epoch_seq(spliced) == origin_epoch_seq(first) == (site, epoch, seq)
    assert (after_in(body), after_in(spliced), after_in(first), after_in(with_skipped(first, skipped))) == (None, None, (3, 9), (3, 9))
    assert with_skipped(spliced, 2) == with_skipped(body, skipped + 2)
    assert is_presence(body) == is_presence(spliced) == (uri == USER)
    assert json.loads(spliced) == json.loads(body) | {"skipped": skipped}
