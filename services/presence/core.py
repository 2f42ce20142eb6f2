"""The decisions of presence: which actions there are, and what a user's last event is. In memory only (SB-29, SB-30). Pure."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.events import Event, encode_tail
from infra.kernel.topics import format_topic, user_topic

# What a user does that friends may see (spec 1.2).
ACTIONS: Final = ("play", "pause", "favourite", "playlist")

_DECODER: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENCODER: Final = msgspec.json.Encoder()
_OWN_FIELDS: Final = ("op", "id", "kind")


class PresenceCore:
    """The last event of each user. With more than `max_users` the user whose last event is the oldest is forgotten."""

    def __init__(self, prefix: str, max_payload_bytes: int, max_users: int) -> None:
        self.last: dict[str, Event] = {}
        self.actions: Counter[str] = Counter()
        self._prefix = prefix
        self._max_payload_bytes = max_payload_bytes
        self._max_users = max_users
        self._n = 0

    def act(self, user: str, message: bytes, ts_ms: int) -> Event:
        """Returns the event that a client's `act` message makes at `ts_ms`. Raises `Refused` (bad-field, too-large).

        Its payload is what the `message` of `user` holds besides op, id and kind, as it was written.
        """
        try:
            fields = _DECODER.decode(message)
            kind = msgspec.json.decode(fields["kind"], type=str)
        except (msgspec.DecodeError, KeyError, RecursionError) as wrong:  # the access point lets none through
            raise Refused("bad-field", f"an action is a JSON object with a kind: {wrong}") from wrong
        if kind not in ACTIONS:
            raise Refused("bad-field", f"kind must be one of {', '.join(ACTIONS)}")
        payload = _ENCODER.encode({name: value for name, value in fields.items() if name not in _OWN_FIELDS})
        if len(payload) > self._max_payload_bytes:
            raise Refused("too-large", f"an action of {len(payload)} bytes; at most {self._max_payload_bytes} are taken")
        self._n += 1
        topic = user_topic(user)
        tail = encode_tail(format_topic(topic), ts_ms, f"{self._prefix}-{self._n}", kind, payload)
        return self._remember(user, kind, Event(topic, b"", tail))

    def tails(self, users: Iterable[str]) -> list[bytes]:
        """Returns the last event of each user as an event's tail (see `events`); empty for a user who has none."""
        found = (self.last.get(user) for user in users)
        return [event.tail if event is not None else b"" for event in found]

    def _remember(self, user: str, kind: str, event: Event) -> Event:
        self.actions[kind] += 1
        # Taken out first: a dictionary keeps its order, so the first user in it is the one to forget.
        self.last.pop(user, None)
        self.last[user] = event
        if len(self.last) > self._max_users:
            del self.last[next(iter(self.last))]
        return event
