"""What a client may follow, and which of it lasts (SB-12).

A user's friend feed is followed in the engine alone, while the connection lasts. Playlists, artists and friends who join
are followed durably as well: the service behind them hears of it, and goes on knowing when the client is gone.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from infra.kernel.access import check_may_see
from infra.kernel.roles import ARTIST, PLAYLIST, SOCIAL
from infra.kernel.topics import Kind, Topic, format_topic, kind_of, parse_topic

DURABLE: Final = {Kind.PLAYLIST: PLAYLIST, Kind.ARTIST: ARTIST, Kind.SOCIAL: SOCIAL}

_ENCODE: Final = msgspec.json.Encoder().encode


def parse_followable(user: str, uri: str) -> Topic:
    """Returns the topic that a client of `user` names. Raises `Refused` (bad-topic; forbidden for one that they may not see)."""
    topic = parse_topic(uri)
    check_may_see(user, topic)
    return topic


def durable_requests(topics: Iterable[Topic]) -> Iterator[tuple[str, bytes]]:
    """Returns service and body of the request about `topics`, for each service that is concerned."""
    by_service: dict[str, list[str]] = {}
    for topic in topics:
        if (service := DURABLE.get(kind_of(topic))) is not None:
            by_service.setdefault(service, []).append(format_topic(topic))
    return ((service, _ENCODE({"topics": uris})) for service, uris in by_service.items())
