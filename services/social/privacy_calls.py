"""The calls about privacy that social answers: who may see what, who may edit what, and private sessions.

Bodies are MessagePack, save that of `private`, which is a client's message. A rule is its number in `infra.kernel.access`; 0: none forbids.

- `may-see`: `[topic, …]` -> `[rule, …]`, for the user of the call.
- `who-may-see`: `[topic, [user, …]]` -> a byte for each user, the rule.
- `may-edit`: `topic` of a collaborative playlist -> `rule`, for the user of the call.
- `who-sees`: `[topic, [user, …]]` -> a byte for each user: bit 0, they may see it; bit 1, they follow its owner.
- `visibility`: `topic` of a playlist -> `visibility`, as text.
- `private`: begins or ends a private session of the calling client.
- `is-private`: nothing -> until when the calling client is private, in ms; 0: it is not.
"""

from typing import Annotated, Final, TypeVar

import msgspec

from infra.kernel.access import MAX_ASKED
from infra.kernel.errors import Refused
from infra.kernel.frames import Call
from infra.kernel.json_text import typed
from infra.kernel.topics import MAX_ID, Kind, Topic, are_topics, kind_of
from infra.runtime.callers import Answerer

from .core import Hours
from .privacy import Privacy
from .privacy_settings import PrivacySettings
from .privacy_store import key_of

T = TypeVar("T")


class PrivateWish(msgspec.Struct, frozen=True):
    """The body of `private`. Without `hours` the session is private until it is said otherwise."""

    on: bool
    hours: Hours | None = None
    id: msgspec.Raw = msgspec.Raw(b"null")


_MAY_SEE: Final = msgspec.msgpack.Decoder(list[bytes])
_TOPIC: Final = msgspec.msgpack.Decoder(bytes)
_WHO_SEES: Final = msgspec.msgpack.Decoder(tuple[bytes, Annotated[list[str], msgspec.Meta(max_length=MAX_ASKED)]])
_ENCODE: Final = msgspec.msgpack.Encoder().encode


def privacy_answers(privacy: Privacy, settings: PrivacySettings) -> dict[str, Answerer]:
    """Returns op -> what answers it."""

    async def may_see(call: Call) -> bytes:
        return _ENCODE(await privacy.rules(call.user, _topics(_read(call.body, _MAY_SEE))))

    async def who_may_see(call: Call) -> bytes:
        topic, users = _read(call.body, _WHO_SEES)
        return bytes(await privacy.rules_of_users(_topics([topic])[0], users))

    async def may_edit(call: Call) -> bytes:
        return _ENCODE(await privacy.edit_rule(call.user, _playlist(_read(call.body, _TOPIC))))

    async def who_sees(call: Call) -> bytes:
        topic, users = _read(call.body, _WHO_SEES)
        return bytes(sees | follows << 1 for sees, follows in await privacy.audience(_topics([topic])[0], users))

    async def visibility(call: Call) -> bytes:
        found = await privacy.playlist(key_of(_playlist(_read(call.body, _TOPIC))))
        return _ENCODE(found.visibility)

    async def private(call: Call) -> bytes:
        wish = typed(call.body, PrivateWish)
        until_ms = await settings.set_private(call.user, _client(call), wish.on, wish.hours)
        return b'{"op":"private","id":%b,"on":%b,"until_ms":%d}' % (wish.id, b"true" if until_ms else b"false", until_ms)

    async def is_private(call: Call) -> bytes:
        return _ENCODE((await settings.private_clients(call.user)).get(call.client, 0))

    return {
        "may-see": may_see,
        "who-may-see": who_may_see,
        "may-edit": may_edit,
        "who-sees": who_sees,
        "visibility": visibility,
        "private": private,
        "is-private": is_private,
    }


def _read(body: bytes, decoder: msgspec.msgpack.Decoder[T]) -> T:
    """Returns what `body` says. Raises `Refused("bad-field")`."""
    try:
        return decoder.decode(body)
    except msgspec.DecodeError as wrong:
        raise Refused("bad-field", f"the body is not the MessagePack of this call: {wrong}") from wrong


def _topics(topics: list[bytes]) -> list[Topic]:
    """Returns topics that came over a link. Raises `Refused` (too-many-topics, bad-topic)."""
    if len(topics) > MAX_ASKED:
        raise Refused("too-many-topics", f"{len(topics)} topics at once; at most {MAX_ASKED} are answered for")
    if not are_topics(topics):
        raise Refused("bad-topic", "what is asked about must be topics in compact form")
    return [Topic(topic) for topic in topics]


def _playlist(topic: bytes) -> Topic:
    (found,) = _topics([topic])
    if kind_of(found) is not Kind.PLAYLIST:
        raise Refused("bad-topic", "only playlists are edited")
    return found


def _client(call: Call) -> str:
    if not 1 <= len(call.client) <= MAX_ID:
        raise Refused("bad-field", f"a private session is one of a client: say which in hello, in 1 to {MAX_ID} characters")
    return call.client
