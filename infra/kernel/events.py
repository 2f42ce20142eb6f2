"""Events: from what a service submits to the bytes that clients get.

Encode once. The broker that takes an event in builds its *tail*: all that is known there. The owner of the topic puts the number in
front, and has the *body*: the very text that clients receive. Nobody decodes or encodes it again. The access point may only put in how
many older events it skipped.

    body = {"op":"event","site":"sto","epoch":7,"seq":42, + tail
         = {"op":"event","site":"sto","epoch":7,"seq":42,"after":[6,41], + tail    (the first one under an epoch that goes on from another)
    tail = "topic":"hm://...","ts":...,"id":"...","kind":"play","payload":{...}}
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

import msgspec

from .errors import Refused
from .readable import check_readable
from .topics import Kind, Topic, kind_of, parse_topic

OPENING: Final = b'{"op":"event",'
# Services use few kinds, the same ones again and again.
KINDS: Final = 256
# What Python and a queue need for an event besides its text, about.
_EVENT_BYTES: Final = 200
_SEQ: Final = b',"seq":'
_SKIPPED: Final = OPENING + b'"skipped":'
_TOPIC: Final = b'"topic":"'
_PRESENCE: Final = _TOPIC + b"hm://presence/"
_AFTER: Final = re.compile(rb',"after":\[(\d{1,19}),(\d{1,19})\],')
_NUMBERED: Final = re.compile(rb'\{"op":"event",(?:"skipped":\d{1,19},)?"site":"([^"]+)","epoch":\d{1,19},"seq":\d{1,19},')
_KIND: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")


class Submission(msgspec.Struct, forbid_unknown_fields=True):
    """An event as a service sends it (design 4.2). `payload` stays the JSON text that came in."""

    topic: str
    kind: str
    payload: msgspec.Raw
    id: str = ""


class Event(msgspec.Struct, gc=False):
    """A submission that has been checked: ready to be numbered by its owner. `id` is empty if the service gave none."""

    topic: Topic
    id: bytes
    tail: bytes


def is_text(tail: bytes) -> bool:
    """Returns whether `tail`, which a peer has made, is UTF-8. Clients get it as text, and would close the connection otherwise."""
    if tail.isascii():  # nearly all are
        return True
    try:
        tail.decode()
    except UnicodeDecodeError:
        return False
    return True


def waiting_bytes(texts: Collection[bytes]) -> int:
    """Returns how much memory events take while they wait, about. `texts` are their tails or bodies."""
    return sum(map(len, texts)) + _EVENT_BYTES * len(texts)


def accept(submission: Submission, ts_ms: int, fallback_id: str, max_payload_bytes: int) -> Event:
    """Returns the event that a submission makes, its tail encoded.

    - `ts_ms`: the Unix time of now.
    - `fallback_id`: the id that clients see where the service gave none.
    - `max_payload_bytes`: the largest payload that is taken.

    Raises `Refused` (bad-topic, bad-field, bad-json, bad-utf8, too-large).
    """
    topic = parse_topic(submission.topic)
    _check_kind(submission.kind)
    if submission.id and not _ID.fullmatch(submission.id):
        raise Refused("bad-field", "id must be 1 to 64 characters out of A-Z a-z 0-9 . _ : -")
    payload = bytes(submission.payload)
    if len(payload) > max_payload_bytes:
        raise Refused("too-large", f"payload of {len(payload)} bytes is over the limit of {max_payload_bytes}")
    if payload[:1] != b"{":  # msgspec has found it to be JSON, and its text begins at the first character
        raise Refused("bad-field", "payload must be a JSON object")
    check_readable(payload)
    tail = encode_tail(submission.topic, ts_ms, submission.id or fallback_id, submission.kind, payload)
    return Event(topic, submission.id.encode(), tail)


@lru_cache(maxsize=KINDS)
def _check_kind(kind: str) -> None:
    """Raises `Refused("bad-field")` for a kind of another form. Only those that are right are remembered, and they are short."""
    if not _KIND.fullmatch(kind):
        raise Refused("bad-field", "kind must be 1 to 32 characters a-z 0-9 - and start with a letter")


def encode_tail(uri: str, ts_ms: int, event_id: str, kind: str, payload: bytes) -> bytes:
    """Returns the tail of an event. `uri`, `event_id` and `kind` have been checked, so none needs escaping; `payload` is JSON."""
    return b'"topic":"%b","ts":%d,"id":"%b","kind":"%b","payload":%b}' % (
        uri.encode(),
        ts_ms,
        event_id.encode(),
        kind.encode(),
        payload,
    )


def opening_of(site: str) -> bytes:
    """Returns how all bodies of a site begin, and no others."""
    return b'%b"site":"%b",' % (OPENING, site.encode())


def numbering(site: str, epoch: int) -> bytes:
    """Returns the constant part of the bodies that one owner makes: `b"%b%d,%b" % (it, seq, tail)` is a body."""
    return b'%b"epoch":%d,"seq":' % (opening_of(site), epoch)


def first_body(opening: bytes, seq: int, last: tuple[int, int], tail: bytes) -> bytes:
    """Returns the body of the first event under an epoch that goes on from another one without loss (DPS-1).

    - `opening`: what `numbering` returns. `seq`: the number of the event.
    - `last`: epoch and number of the event before it.
    - `tail`: the event's.
    """
    return b'%b%d,"after":[%d,%d],%b' % (opening, seq, *last, tail)


def with_skipped(body: bytes, skipped: int) -> bytes:
    """Returns the body, saying that `skipped` older events of its topic were dropped for it (design 6), besides those that it says."""
    return b"%b%d,%b" % (_SKIPPED, skipped + skipped_in(body), body[_start(body) :])


def skipped_in(body: bytes) -> int:
    """Returns how many older events a body says that were dropped for it."""
    said = body[len(_SKIPPED) : body.find(b",", len(_SKIPPED))] if body.startswith(_SKIPPED) else b""
    return int(said) if said.isdigit() else 0  # what another site says is not known to be right


def _start(body: bytes) -> int:
    """Returns where that begins which its owner has written."""
    return body.find(b",", len(_SKIPPED)) + 1 if body.startswith(_SKIPPED) else len(OPENING)


def is_presence(body: bytes) -> bool:
    """Returns whether an event is on a user's topic: events of that class are shed first under load (design 5.3)."""
    return body.startswith(_PRESENCE, body.find(_TOPIC))  # what stands before it is ours and holds no such text


def topic_in(body: bytes) -> Topic | None:
    """Returns the topic that a body names; None where it names none, as no broker writes it."""
    start = body.find(_TOPIC) + len(_TOPIC)  # what stands before it is ours and holds no such text
    try:
        return parse_topic(body[start : body.find(b'"', start)].decode())
    except (Refused, UnicodeDecodeError):
        return None


def kind_in(body: bytes) -> Kind | None:
    """Returns the kind of the topic that a body names; None where it names none."""
    topic = topic_in(body)
    return None if topic is None else kind_of(topic)


def place(body: bytes) -> tuple[bytes, int]:
    """Returns the part of a body that names site and epoch, and the event's number among those of its topic in these."""
    start = body.index(_SEQ) + len(_SEQ)  # what stands before it is ours and holds no such text
    return OPENING + body[_start(body) : start], int(body[start : body.index(b",", start)])


def origin_epoch_seq(body: bytes) -> tuple[str, int, int]:
    """Returns the site where an event was numbered, its epoch and its number."""
    start = _start(body)
    site_at = start + len(b'"site":"')
    epoch_at = body.index(b'"epoch":', site_at) + len(b'"epoch":')
    seq_at = body.index(_SEQ, epoch_at) + len(_SEQ)
    site = body[site_at : body.index(b'"', site_at)].decode()
    return site, int(body[epoch_at : body.index(b",", epoch_at)]), int(body[seq_at : body.index(b",", seq_at)])


def after_in(body: bytes) -> tuple[int, int] | None:
    """Returns epoch and number of the event which a body says that its epoch goes on from; None where it says none."""
    start = body.index(_SEQ) + len(_SEQ)  # what stands before it is ours and holds no such text
    said = _AFTER.match(body, body.index(b",", start))
    return (int(said[1]), int(said[2])) if said is not None else None


def origin_if_sound(body: bytes) -> bytes | None:
    """Returns the site where an event was numbered; None where a body does not begin as every broker begins one."""
    found = _NUMBERED.match(body)
    return found[1] if found is not None else None


def origin(body: bytes) -> bytes:
    """Returns the site where an event was numbered."""
    start = _start(body) + len(b'"site":"')
    return body[start : body.find(b'"', start)]
