"""The words of a notification. What payloads say is written by strangers: it is cleaned and bounded here, and escaped where it is used."""

import unicodedata
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from infra.kernel.errors import Refused
from infra.kernel.topics import Kind, kind_of, parse_topic

MAX_FIELD_CHARS: Final = 80
# Emoji sequences and some scripts need the joiners; other invisible characters only serve to deceive.
_JOINERS: Final = "\u200c\u200d"


class Words(NamedTuple):
    """The words for an event. `headline` says what happened, `detail` (may be empty) to what. One line each, without markup."""

    headline: str
    detail: str

    def __str__(self) -> str:
        return f"{self.headline}: {self.detail}" if self.detail else self.headline


def words(uri: str, cls: str, kind: str, payload: Mapping[str, Any]) -> Words:
    """Returns what to call an event of class `cls` and `kind` on the topic `uri`.

    Every field of `payload` may be missing or of any type.

    Raises `Refused("bad-topic")`, also for presence: it is told live or never (SB-30).
    """
    subject = _subject(uri)
    match cls:
        case "new-album":
            return Words(f"New album by {_artist(payload, subject)}", _field(payload, "album_name", "album", "title"))
        case "new-track":
            return Words(f"New track by {_artist(payload, subject)}", _field(payload, "track_name", "track", "title"))
        case "artist-playlist":
            return Words(f"New playlist by {_artist(payload, subject)}", _field(payload, "playlist_name", "playlist", "title"))
        case "friend-joined":
            return Words(f"{_field(payload, 'friend_name', 'friend', 'user') or 'A friend of yours'} has joined", "")
        case "new-follower":
            return Words(f"{_field(payload, 'user') or 'Somebody'} follows you now", "")
        case "playlist":
            return _playlist(kind, payload, subject)
        case _:
            return Words("News for you", _field(payload, "title", "name"))


def clean(text: str, max_chars: int = MAX_FIELD_CHARS) -> str:
    """Returns `text` on one line, without control characters and what reverses or hides text, not longer than `max_chars`."""
    kept = "".join(_plain(char) for char in text[: 4 * max_chars])
    line = " ".join(kept.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def _plain(char: str) -> str:
    if char in _JOINERS:
        return char
    category = unicodedata.category(char)
    if category == "Cc":
        return " "
    return "" if category[0] == "C" else char


# What the playlist service says was done (`docs/playlists.md`), and what others may say as the kind of the event.
_DONE: Final = {
    "create": "made",
    "created": "made",
    "rename": "renamed",
    "renamed": "renamed",
    "add": "added to",
    "track-added": "added to",
    "remove": "removed from",
    "track-removed": "removed from",
    "delete": "deleted",
}


def _playlist(kind: str, payload: Mapping[str, Any], owner: str) -> Words:
    who = _field(payload, "by", "user") or owner
    name = _field(payload, "playlist_name", "playlist", "name")
    which = f"the playlist “{name}”" if name else "a playlist"
    change = payload.get("change")
    op = _field(change, "op") if isinstance(change, Mapping) else ""
    done = _DONE.get(op) or _DONE.get(kind, "changed")
    verb, _, where = done.partition(" ")
    track = _field(payload, "track_name", "track")
    headline = f"{who} {verb} a track {where} {which}" if where else f"{who} {verb} {which}"
    return Words(headline, "" if verb in ("made", "renamed") else track)


def _artist(payload: Mapping[str, Any], artist_id: str) -> str:
    return _field(payload, "artist_name", "name", "artist") or artist_id


def _field(payload: Mapping[str, Any], *names: str) -> str:
    found = (payload.get(name) for name in names)
    return next((text for value in found if isinstance(value, str) and (text := clean(value))), "")


def _subject(uri: str) -> str:
    """Returns whom the topic is about: an artist's id, the owner of a playlist, a user."""
    topic = parse_topic(uri)
    if kind_of(topic) is Kind.USER:
        raise Refused("bad-topic", f"{uri!r} is presence, which is neither stored, nor mailed, nor pushed")
    text = topic[1:].decode()
    return clean(text.partition("/" if kind_of(topic) is Kind.PLAYLIST else "%")[0])
