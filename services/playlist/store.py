"""The port of the playlist store: playlists, in the same atomic write with what is promised about them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic

from ..follows import PAGE, FollowStore
from ..list_page import ListPage
from ..tasks import TaskOutbox
from .core import Playlist, PlaylistStep

MAX_OWNED: Final = 5_000


class Summary(msgspec.Struct, frozen=True):
    """A playlist without its tracks, of which there are `tracks`."""

    owner: str
    id: str
    version: int
    name: str
    collaborative: bool
    tracks: int
    changed_ms: int


class Playlists(Protocol):
    """All methods raise Unavailable when the store cannot answer now. A write that did so may have been done."""

    async def get(self, owner: str, playlist_id: str) -> Playlist | None:
        """The newest version, also of one that is deleted."""

    async def create(self, step: PlaylistStep) -> bool:
        """Write version 1 and its tasks. False, and nothing is written, if the id is in use or was. Raises
        Refused("too-many-topics") when the owner has as many as one may have."""

    async def replace(self, step: PlaylistStep) -> bool:
        """Write a version and its tasks. False, and nothing is written, unless the version before it is the newest."""

    async def owned(self, owner: str, after: str = "", limit: int = PAGE) -> ListPage[Summary]:
        """Up to `limit` playlists of `owner` that are not deleted, by id."""

    async def summaries(self, topics: Sequence[Topic]) -> list[Summary]:
        """Those of `topics` that are there and not deleted, in no order."""


class PlaylistStores(NamedTuple):
    """All that a playlist service keeps, in one database."""

    playlists: Playlists
    follows: FollowStore
    outbox: TaskOutbox
    close: Callable[[], Awaitable[None]]


async def find(playlists: Playlists, owner: str, playlist_id: str) -> Playlist:
    """A playlist that is there. Raises Refused("not-found") and Unavailable."""
    playlist = await playlists.get(owner, playlist_id)
    if playlist is None or playlist.deleted:
        raise Refused("not-found", f"{owner} has no playlist {playlist_id}")
    return playlist


def names_of(topic: Topic) -> tuple[str, str]:
    """Owner and id of the playlist whose topic this is."""
    owner, _, playlist_id = topic[1:].decode().partition("/")
    return owner, playlist_id
