"""Events of a simulated life, as services say them and clients get them."""

from typing import Any

from .operations import PLAYLISTS


def feed(topic: str) -> str:
    """Returns a topic of one of the two kinds that are recorded: of playlists all events are kept, of users the latest."""
    return f"hm://playlist/user/ann/playlist/{topic}/" if topic in PLAYLISTS else f"hm://presence/user/{topic}/"


def topics_of(events: list[dict[str, Any]]) -> list[str]:
    """Returns the topics of events, in order."""
    return sorted({event["topic"].split("/")[-2] for event in events})


def numbers_of(events: list[dict[str, Any]], topic: str) -> set[int]:
    """Returns which publications those of `events` are that are about `topic`."""
    return {event["payload"]["n"] for event in events if event["topic"] == feed(topic)}
