"""Notices: what a publishing service wants its followers to know, checked once (spec 4.1). Pure."""

import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.readable import check_readable
from infra.kernel.roles import ARTIST, PLAYLIST, SOCIAL
from infra.kernel.topics import MAX_ID, Kind, Topic, format_topic, kind_of, parse_topic
from rule_engine.gather import class_of

# The followers whom each service may notify. A fourth service is refused (SB-45).
SERVICE_KINDS: Final = {PLAYLIST: Kind.PLAYLIST, ARTIST: Kind.ARTIST, SOCIAL: Kind.SOCIAL}
MAX_PAYLOAD_BYTES: Final = 16 << 10
MAX_PAGE: Final = 1000

_KIND: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_NAME: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_ID}}}")
_NAMES: Final = re.compile(rf"{_NAME.pattern}(?:\n{_NAME.pattern})*")


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of an audience. `friend`: they are friends of the producer; `sent`: the engine has given it to them already."""

    followers: Annotated[list[str], msgspec.Meta(max_length=MAX_PAGE)]
    friend: bool = False
    sent: bool = False


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A notice as it comes in, without its audience."""

    id: str
    topic: str
    kind: str
    payload: msgspec.Raw
    producer: str = ""


class NoticeRequest(Header, frozen=True, forbid_unknown_fields=True):
    """A notice with its whole audience: followers who are all alike, or pages of them."""

    followers: list[str] = []
    pages: list[Page] = []

    def audience(self) -> list[Page]:
        """Returns all followers, in pages."""
        plain = [Page(self.followers[at : at + MAX_PAGE]) for at in range(0, len(self.followers), MAX_PAGE)]
        return plain + self.pages


class Notice(msgspec.Struct, frozen=True, gc=False):
    """A notice as it is stored.

    - `id`: the service's own; the same one again is the same notice.
    - `service`, `topic`, `kind`, `producer`, `payload`: what happened.
    - `ts_ms`: when it was taken in.
    - `digest`: of its content, so the same id with other content is noticed.
    """

    id: str
    service: str
    topic: str
    kind: str
    producer: str
    payload: bytes
    ts_ms: int
    digest: str

    @property
    def compact(self) -> Topic:
        """Its topic, parsed."""
        return parse_topic(self.topic)

    @property
    def class_(self) -> str:
        """The class that users choose by: the notification type of its topic, or "playlist"."""
        return class_of(self.compact)


def check(header: Header, service: str, ts_ms: int) -> Notice:
    """Returns the notice of `service` with this `header`, taken in at `ts_ms`.

    Raises `Refused` (bad-topic, bad-field, bad-json, bad-utf8, too-large, forbidden).
    """
    topic = parse_topic(header.topic)
    if kind_of(topic) is not SERVICE_KINDS.get(service):
        allowed = SERVICE_KINDS.get(service)
        may = f"notify about {allowed} topics" if allowed else f"not notify; only {', '.join(SERVICE_KINDS)} may"
        raise Refused("forbidden", f"service {service!r} may {may}, this is one of kind {kind_of(topic)}")
    if not _ID.fullmatch(header.id):
        raise Refused("bad-field", "id must be 1 to 64 characters out of A-Z a-z 0-9 . _ : - ; repeat a notice with the same one")
    if not _KIND.fullmatch(header.kind):
        raise Refused("bad-field", "kind must be 1 to 32 characters a-z 0-9 - and start with a letter")
    if header.producer and not _NAME.fullmatch(header.producer):
        raise Refused("bad-field", f"producer must be the name of an artist or a user: 1 to {MAX_ID} of A-Z a-z 0-9 . _ -")
    payload = bytes(header.payload)
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise Refused("too-large", f"payload of {len(payload)} bytes is over the limit of {MAX_PAYLOAD_BYTES}")
    if payload[:1] != b"{":
        raise Refused("bad-field", "payload must be a JSON object")
    check_readable(payload)
    producer = header.producer or producer_of(topic)
    return Notice(header.id, service, header.topic, header.kind, producer, payload, ts_ms, _digest(header, service, producer))


def check_names(names: Sequence[str]) -> None:
    """Raises `Refused("bad-field")` for what is no user's name. All are looked at in one go, because there may be millions."""
    text = "\n".join(names)
    if names and not (_NAMES.fullmatch(text) and text.count("\n") == len(names) - 1):
        wrong = next(name for name in names if not _NAME.fullmatch(name))
        raise Refused("bad-field", f"followers: {wrong!r:.80} is no user name: 1 to {MAX_ID} of A-Z a-z 0-9 . _ -")


def producer_of(topic: Topic) -> str:
    """Returns who is behind a topic: the owner of a playlist, the artist, the user whose friend joined."""
    text = format_topic(topic)
    return text.split("/")[4].partition("%")[0] if kind_of(topic) is not Kind.PLAYLIST else text.split("/")[4]


def _digest(header: Header, service: str, producer: str) -> str:
    parts = (service.encode(), header.topic.encode(), header.kind.encode(), producer.encode(), bytes(header.payload))
    return hashlib.blake2b(b"\0".join(parts), digest_size=16).hexdigest()
