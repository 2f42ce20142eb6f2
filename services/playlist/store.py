"""The port of the playlist store. A playlist and what is promised about it are one atomic write."""

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
    """The playlists. All methods raise Unavailable when the store cannot answer now. A write that did so may have been done."""

    async def get(self, owner: str, playlist_id: str) -> Playlist | None:
        """Returns the newest version, also of a playlist that is deleted; None if there never was one."""

    async def create(self, step: PlaylistStep) -> bool:
        """Writes version 1 and its tasks; returns whether it did. If the id is in use, or ever was, nothing is written.

        Raises Refused("too-many-topics") when the owner has as many playlists as a user may have.
        """

    async def replace(self, step: PlaylistStep) -> bool:
        """Writes a version and its tasks; returns whether it did. Unless the version before it is the newest, nothing is written."""

    async def owned(self, owner: str, after: str = "", limit: int = PAGE) -> ListPage[Summary]:
        """Returns up to `limit` playlists of `owner` that are not deleted, by id, from the cursor `after` on."""

    async def summaries(self, topics: Sequence[Topic]) -> list[Summary]:
        """Returns the playlists of `topics` that are there and not deleted, in no order."""


class PlaylistStores(NamedTuple):
    """The stores of a playlist service, all in one database."""

    playlists: Playlists
    follows: FollowStore
    outbox: TaskOutbox
    close: Callable[[], Awaitable[None]]


async def find(playlists: Playlists, owner: str, playlist_id: str) -> Playlist:
    """Returns the playlist `playlist_id` of `owner`. Raises Refused("not-found") and Unavailable."""
    playlist = await playlists.get(owner, playlist_id)
    if playlist is None or playlist.deleted:
        raise Refused("not-found", f"{owner} has no playlist {playlist_id}")
    return playlist


def names_of(topic: Topic) -> tuple[str, str]:
    """Returns owner and id of the playlist whose topic this is."""
    owner, _, playlist_id = topic[1:].decode().partition("/")
    return owner, playlist_id
