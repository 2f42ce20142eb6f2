"""The file that keeps the positions of a client after its process has ended: JSON, written whole, of a bounded length."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import msgspec

from infra.runtime.whole_file import write_whole
from segue.sdk.cursor import MAX_EPOCHS, MAX_SITES, MAX_TOPICS, Number, Numbers, Position
from segue.sdk.errors import Misuse

VERSION: Final = 1
MAX_FILE_BYTES: Final = 1 << 24
MAX_POINTS: Final = 64
MAX_POINT_CHARS: Final = 1024

_Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Numbers = Annotated[list[tuple[_Whole, _Whole]], msgspec.Meta(min_length=1, max_length=MAX_EPOCHS)]
_Point = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_POINT_CHARS)]


class _SavedTopic(msgspec.Struct, array_like=True):
    """A topic: which of the points is its own (None: it has none), and its numbers by site."""

    point: Annotated[int, msgspec.Meta(ge=0)] | None
    sites: Annotated[dict[str, _Numbers], msgspec.Meta(max_length=MAX_SITES)]


class _SavedPositions(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    user: str
    points: Annotated[list[_Point], msgspec.Meta(max_length=MAX_POINTS)]
    topics: Annotated[dict[str, _SavedTopic], msgspec.Meta(max_length=MAX_TOPICS)]


class _AnyVersion(msgspec.Struct):
    version: int


class PositionFile:
    """The file at `path` with the positions of one user on one device. Its folder must exist.

    It is written as a whole: a crash leaves the old positions or the new ones. It is not forced to the disk.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def load(self) -> tuple[str, dict[str, Position]]:
        """Returns whose positions they are, and those of each topic; an empty name and nothing if there is no file yet.

        Raises Misuse if the file cannot be read, or holds anything else, or something of a newer version.
        """
        try:
            with self._path.open("rb") as file:
                text = file.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            if not self._path.parent.is_dir():
                raise Misuse(f"{self._path}: there is no folder {self._path.parent}; make it, or give another path") from None
            return "", {}
        except OSError as error:
            raise Misuse(f"{self._path} cannot be read ({error}); {_ELSE}") from error
        if len(text) > MAX_FILE_BYTES:
            raise Misuse(f"{self._path} holds no positions (it has more than {MAX_FILE_BYTES} bytes); {_ELSE}")
        saved = self._decoded(text)
        return saved.user, {topic: self._position(each, saved.points) for topic, each in saved.topics.items()}

    def save(self, user: str, positions: dict[str, Position]) -> None:
        """Replaces the positions by `positions`, which are those of `user`. Raises OSError.

        Of more than fit, the topics that were followed first are left out.
        """
        points: dict[str, int] = {}
        topics = {}
        for topic, position in islice(positions.items(), max(0, len(positions) - MAX_TOPICS), None):
            point = position.point
            if point is not None and (point in points or len(points) < MAX_POINTS) and len(point) <= MAX_POINT_CHARS:
                points.setdefault(point, len(points))
            topics[topic] = _SavedTopic(points.get(point or ""), {site: list(each) for site, each in position.sites.items()})
        text = msgspec.json.encode(_SavedPositions(VERSION, user, list(points), topics))
        if len(text) > MAX_FILE_BYTES:
            raise OSError(f"{self._path} would have {len(text)} bytes; {MAX_FILE_BYTES} is the most that is read again")
        write_whole(self._path, text)

    def _decoded(self, text: bytes) -> _SavedPositions:
        try:
            version = msgspec.json.decode(text, type=_AnyVersion).version
            if version > VERSION:
                raise Misuse(f"{self._path} was written by a newer version of Segue (its version is {version}, ours {VERSION}); {_ELSE}")
            return msgspec.json.decode(text, type=_SavedPositions)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise Misuse(f"{self._path} holds no positions ({error}); {_ELSE}") from None

    def _position(self, saved: _SavedTopic, points: list[str]) -> Position:
        if saved.point is not None and saved.point >= len(points):
            raise Misuse(f"{self._path} holds no positions (it names point {saved.point} of {len(points)}); {_ELSE}")
        sites: dict[str, Numbers] = {site: tuple(Number(*each) for each in numbers) for site, numbers in saved.sites.items()}
        return Position(None if saved.point is None else points[saved.point], sites)


_ELSE: Final = "give another path, or delete it to begin with what comes from now on"
