"""Topics: the four `hm://` forms of the spec (section 2) and a user's inbox, parsed and checked here and nowhere else.

Past the HTTP and WebSocket handlers a topic is a `Topic`: a compact, reversible byte string (one tag byte, then the ids). A broker keeps
ten million of them in memory, so it is no object with fields: `kind_of` and `format_topic` read it when needed.

=========  ==========================================================  =========================
kind       URI                                                         compact form
=========  ==========================================================  =========================
user       hm://presence/user/<username>/                              U<username>
playlist   hm://playlist/user/<username>/playlist/<playlistid>/        P<username>/<playlistid>
artist     hm://notifications/feed/<artist-id>%<notification-type>/    A<artist-id>%<type>
social     hm://notifications/feed/<username>%<notification-type>/     S<username>%<type>
inbox      hm://notifications/inbox/<username>/                        I<username>
=========  ==========================================================  =========================

The `%` is a literal divider, never percent-encoding; the type tells an artist feed from a social feed (spec 2).
Live copies of a user's stored notifications travel on the user's inbox. No client names it: the access point wants it for the user.
"""

import re
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache
from typing import Final, NewType

from .errors import Refused

Topic = NewType("Topic", bytes)


class Kind(StrEnum):
    """The kind of a topic. It decides which service may publish on the topic (SB-45)."""

    USER = "user"
    PLAYLIST = "playlist"
    ARTIST = "artist"
    SOCIAL = "social"
    INBOX = "inbox"


ARTIST_TYPES: Final = ("new-album", "new-track", "artist-playlist")
SOCIAL_TYPES: Final = ("friend-joined", "new-follower")
MAX_ID: Final = 128
# One question for last events names so many friend feeds at most.
MAX_LAST: Final = 500
# The same topics come again and again: with the friends of each client, with each event of a user.
PARSED: Final = 1 << 14

_ID: Final = rf"[A-Za-z0-9._-]{{1,{MAX_ID}}}"
_ARTIST: Final = "|".join(ARTIST_TYPES)
_SOCIAL: Final = "|".join(SOCIAL_TYPES)


def _uri(one: str) -> re.Pattern[str]:
    """Returns the expression for all forms, in which an id is `one`."""
    return re.compile(
        rf"hm://(?:presence/user/({one})/"
        rf"|playlist/user/({one})/playlist/({one})/"
        rf"|notifications/feed/({one})%(?:({_ARTIST})|({_SOCIAL}))/"
        rf"|notifications/inbox/({one})/)"
    )


_URI: Final = _uri(_ID)
_PATTERN: Final = _uri(rf"{_ID}|\*")
_ONE: Final = rf"U{_ID}|P{_ID}/{_ID}|A{_ID}%(?:{_ARTIST})|S{_ID}%(?:{_SOCIAL})|I{_ID}"
# Each on a line. It never goes back to an earlier one, whatever the lines are.
_COMPACTS: Final = re.compile(rf"(?:(?:{_ONE})\n)*+".encode())
_FORMS: Final = {
    "hm://presence/": "hm://presence/user/<id>/",
    "hm://playlist/": "hm://playlist/user/<id>/playlist/<id>/",
    "hm://notifications/": f"hm://notifications/feed/<id>%<type>/ with a type out of {', '.join(ARTIST_TYPES + SOCIAL_TYPES)}",
}
_KINDS: Final = {ord("U"): Kind.USER, ord("P"): Kind.PLAYLIST, ord("A"): Kind.ARTIST, ord("S"): Kind.SOCIAL, ord("I"): Kind.INBOX}
_TAGS: Final = {str(kind): tag for tag, kind in _KINDS.items()}
USER_TAG: Final = ord("U")
PLAYLIST_TAG: Final = ord("P")


@lru_cache(maxsize=PARSED)
def parse_topic(uri: str) -> Topic:
    """Returns the topic that `uri` names. Raises `Refused("bad-topic")` that says what is wrong with it (SB-1, SB-2)."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise Refused("bad-topic", _complaint(uri))
    return _compact(match)


def parse_pattern(uri: str) -> bytes:
    """Returns the compact form of `uri`, a topic in which whole ids may be `*`, which no id contains. Raises as `parse_topic`."""
    match = _PATTERN.fullmatch(uri)
    if match is None:
        raise Refused("bad-topic", f"{_complaint(uri)}, or * for any id")
    return _compact(match)


def user_topic(username: str) -> Topic:
    """Returns the topic of a user's friend feed. The caller has checked `username`."""
    return Topic(b"U" + username.encode())


def inbox_topic(username: str) -> Topic:
    """Returns the topic of a user's notifications. The caller has checked `username`."""
    return Topic(b"I" + username.encode())


def format_topic(topic: Topic) -> str:
    """Returns the URI of `topic`: `parse_topic(format_topic(t)) == t` for every topic."""
    text = topic[1:].decode()
    match kind_of(topic):
        case Kind.USER:
            return f"hm://presence/user/{text}/"
        case Kind.PLAYLIST:
            owner, playlist = text.split("/")
            return f"hm://playlist/user/{owner}/playlist/{playlist}/"
        case Kind.ARTIST | Kind.SOCIAL:
            return f"hm://notifications/feed/{text}/"
        case Kind.INBOX:
            return f"hm://notifications/inbox/{text}/"


def tag_of(kind: str) -> int | None:
    """Returns the first byte of topics of this `kind`; None for a kind that a newer version may know."""
    return _TAGS.get(kind)


def kind_of(topic: Topic) -> Kind:
    """Returns the kind of `topic`."""
    return _KINDS[topic[0]]


def user_of(topic: Topic) -> str:
    """Returns the user whom a friend feed, a social feed or an inbox is about."""
    return topic[1:].partition(b"%")[0].decode()


def owner_of(topic: Topic) -> str:
    """Returns the user whose topic it is. For an artist's feed it is the artist."""
    return topic[1:].partition(b"/" if topic[0] == PLAYLIST_TAG else b"%")[0].decode()


def check_last(count: int) -> None:
    """Raises `Refused("too-many-topics")` if `count` feeds are more than one question for last events may name."""
    if count > MAX_LAST:
        raise Refused("too-many-topics", f"{count} topics in one last; ask for at most {MAX_LAST} at a time")


def check_feed(topic: Topic) -> None:
    """Raises `Refused("bad-topic")` unless `topic` is a friend feed: no other kind has a last event."""
    if kind_of(topic) is not Kind.USER:
        raise Refused("bad-topic", f"{format_topic(topic)} is not a user's friend feed; only hm://presence/user/<id>/ has a last event")


def are_topics(compacts: Collection[bytes]) -> bool:
    """Returns whether all bytes that came over a link are topics in compact form. To look at each alone would cost four times as much."""
    lines = b"\n".join([*compacts, b""])
    return lines.count(b"\n") == len(compacts) and _COMPACTS.fullmatch(lines) is not None


def _compact(match: re.Match[str]) -> Topic:
    user, owner, playlist, feed, artist, social, inbox = match.groups()
    if user is not None:
        return user_topic(user)
    if inbox is not None:
        return inbox_topic(inbox)
    if owner is not None:
        return Topic(f"P{owner}/{playlist}".encode())
    return Topic(f"A{feed}%{artist}".encode() if artist else f"S{feed}%{social}".encode())


def _complaint(uri: str) -> str:
    shown = uri if len(uri) <= 80 else uri[:77] + "..."
    if not uri.startswith("hm://"):
        return f"{shown!r} must start with hm://"
    if not uri.endswith("/"):
        return f"{shown!r} must end with a slash"
    form = next((form for prefix, form in _FORMS.items() if uri.startswith(prefix)), None)
    if form is None:
        return f"{shown!r} must be under {', '.join(_FORMS)}"
    return f"{shown!r} must be {form}; an id is 1 to {MAX_ID} characters out of A-Z a-z 0-9 . _ -"
