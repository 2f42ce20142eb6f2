"""Questions that presence answers: where users are online, and what they did last. Pure.

Bodies. whereabouts: MessagePack list of user names -> one byte for each. last: the client's JSON -> the client's answer;
between presence nodes, MessagePack list of user names -> MessagePack list of tails (see `events`), empty for none.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from infra.kernel.access import check_may_see
from infra.kernel.errors import Refused
from infra.kernel.topics import check_feed, check_last, parse_topic, user_of

_USERS: Final = msgspec.msgpack.Decoder(list[str])
_TAILS: Final = msgspec.msgpack.Decoder(list[bytes])
_ENCODE: Final = msgspec.msgpack.Encoder().encode


class _Last(msgspec.Struct):
    topics: list[str]
    id: msgspec.Raw = msgspec.Raw(b"null")


class _Stamped(msgspec.Struct):
    ts: int


_LAST: Final = msgspec.json.Decoder(_Last)
_STAMPED: Final = msgspec.json.Decoder(_Stamped)


def encode_users(users: Sequence[str]) -> bytes:
    """Returns the body of a question to a peer."""
    return _ENCODE(users)


def decode_users(body: bytes) -> list[str]:
    """Returns the users that a question is about. Raises `Refused("bad-field")`."""
    try:
        return _USERS.decode(body)
    except msgspec.DecodeError as wrong:
        raise Refused("bad-field", f"the body must be a MessagePack list of user names: {wrong}") from wrong


def merge_whereabouts(own: bytes, others: Iterable[bytes]) -> bytes:
    """Returns the devices on which each user is online anywhere. An answer about another number of users is ignored."""
    # Each byte is the devices of a user. As one large number, all users are merged by one "or".
    bits = int.from_bytes(own)
    for other in others:
        if len(other) == len(own):
            bits |= int.from_bytes(other)
    return bits.to_bytes(len(own))


def read_last(user: str, body: bytes) -> tuple[list[str], bytes]:
    """Returns the users about whom `user` asks in `body`, each once, and the id as it was written.

    Raises `Refused` (bad-field, too-many-topics, bad-topic, forbidden).
    """
    try:
        said = _LAST.decode(body)
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise Refused("bad-field", f"last needs a list of topics: {wrong}") from wrong
    check_last(len(said.topics))
    return list(dict.fromkeys(_asked_about(user, uri) for uri in said.topics)), bytes(said.id)


def _asked_about(user: str, uri: str) -> str:
    topic = parse_topic(uri)
    check_feed(topic)
    check_may_see(user, topic)
    return user_of(topic)


def encode_tails(tails: Sequence[bytes]) -> bytes:
    """Returns the body of the answer to a peer."""
    return _ENCODE(tails)


def merge_tails(own: Sequence[bytes], others: Iterable[bytes]) -> list[bytes]:
    """Returns the newest tail of each user. An answer that cannot be read is ignored."""
    newest = list(own)
    for body in others:
        try:
            tails = _TAILS.decode(body)
            newest = [max(pair, key=_ts_of) for pair in zip(newest, tails, strict=True)]
        except (msgspec.DecodeError, ValueError):
            continue
    return newest


def _ts_of(tail: bytes) -> int:
    return _STAMPED.decode(b"{" + tail).ts if tail else -1


def answer_last(id_: bytes, tails: Iterable[bytes]) -> bytes:
    """Returns what the client gets: the last events, of the users who have one."""
    events = b",".join(b"{" + tail for tail in tails if tail)
    return b'{"op":"last","id":%b,"events":[%b]}' % (id_, events)
