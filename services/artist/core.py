"""What artist monitoring decides: what an item of the catalogue becomes, and when the daily run is due. Pure."""

from enum import IntEnum
from hashlib import blake2b
from typing import Annotated, Final, Literal

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.json_text import read_json
from infra.kernel.topics import MAX_ID, Topic, parse_topic

DAY_S: Final = 86_400
SKEW_S: Final = 3600
MAX_TEXT: Final = 500

_TYPE_OF: Final = {"album": "new-album", "track": "new-track", "playlist": "artist-playlist"}
_ID: Final = rf"^[A-Za-z0-9._-]{{1,{MAX_ID}}}\Z"
_Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]


class Standing(IntEnum):
    """The standing of an item: seen before, new, or of an artist who was never met before this run."""

    SEEN = 0
    NEW = 1
    FIRST = 2


class CatalogueItem(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a catalogue. `artist` is the id in topics; `id` is unique among the artist's items of this type."""

    artist: Annotated[str, msgspec.Meta(pattern=_ID)]
    type: Literal["album", "track", "playlist"]
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID)]
    title: _Text
    name: _Text = ""
    released: Annotated[str, msgspec.Meta(max_length=32)] = ""

    @property
    def key(self) -> bytes:
        """Sixteen bytes that stand for (artist, type, id) wherever the item is remembered."""
        parts = [self.artist, self.type, self.id]
        return blake2b(msgspec.msgpack.encode(parts), digest_size=16).digest()

    @property
    def topic(self) -> Topic:
        """The feed on which the item is announced (spec 2)."""
        return parse_topic(artist_uri(self.artist, _TYPE_OF[self.type]))

    def notification_id(self) -> str:
        """Returns an id that is the same in every run, so that a receiver drops what it had before (SB-35)."""
        return f"artist-{self.key.hex()}"

    def payload(self) -> dict[str, str]:
        """Returns what followers are told."""
        return {"artist": self.artist, "name": self.name, "id": self.id, "title": self.title, "released": self.released}


_DECODER: Final = msgspec.json.Decoder(CatalogueItem)


def parse_line(line: bytes) -> CatalogueItem:
    """Returns one line of a catalogue. Raises `Refused` (bad-json, bad-field, bad-utf8)."""
    return read_json(line, _DECODER)


def artist_uri(artist: str, kind: str) -> str:
    """Returns the URI of one of an artist's feeds."""
    return f"hm://notifications/feed/{artist}%{kind}/"


def time_of_day_s(text: str) -> int:
    """Returns the seconds after midnight of a `text` such as "06:00". Raises ConfigError."""
    hour, colon, minute = text.partition(":")
    if not (colon and len(hour) == len(minute) == 2 and (hour + minute).isascii() and (hour + minute).isdigit()):
        raise ConfigError(f'a time of day is HH:MM in UTC, for example "06:00"; got {text!r}')
    if int(hour) > 23 or int(minute) > 59:
        raise ConfigError(f"there is no time of day {text!r}; hours go to 23, minutes to 59")
    return int(hour) * 3600 + int(minute) * 60


def is_due(now_s: float, at_s: int, started_s: float | None) -> bool:
    """Returns whether a run is due at `now_s`.

    - `at_s`: the moment of the day, in seconds after midnight UTC. The newest such moment is the one that counts.
    - `started_s`: when the last run started; None if there was none.

    A service that was down at that moment runs when it is up again. One that runs for the first time runs at once.
    """
    # A run that started in the future was started by a clock that was wrong. It does not count, or no run would be due for long.
    newest_s = (now_s - at_s) // DAY_S * DAY_S + at_s
    return started_s is None or not newest_s <= started_s <= now_s + SKEW_S
