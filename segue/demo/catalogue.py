"""The catalogue that the artist service reads, and what comes into it. It is a file of JSON lines that is replaced as a whole."""

from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from infra.runtime.whole_file import write_whole


class Release(NamedTuple):
    """An item of the catalogue. `type` is "album" or "track"."""

    id: str
    type: str
    title: str


DEBUT: Final = Release("segue-debut", "album", "Long Ago")
ALBUM: Final = Release("segue-album", "album", "While You Were Sleeping")
SINGLE: Final = Release("segue-single", "track", "Good Morning")
# The items that are announced. No title is a part of another.
RELEASES: Final = (ALBUM, SINGLE)


class DemoCatalogue:
    """The catalogue of one artist, which is empty at first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: list[bytes] = []
        self._write()

    def add(self, artist_id: str, artist_name: str, release: Release) -> None:
        """Adds a line: `release` by the artist with this id and name."""
        self._lines.append(msgspec.json.encode({"artist": artist_id, "name": artist_name, **release._asdict()}))
        self._write()

    def _write(self) -> None:
        write_whole(self.path, b"".join(line + b"\n" for line in self._lines))
