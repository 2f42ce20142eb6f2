"""The bodies that the playlist service answers with, beside a playlist as it is shown."""

from typing import Annotated

import msgspec

from ..list_page import NextPage
from .store import Summary


class PlaylistChanged(msgspec.Struct, frozen=True):
    """The version that a change made."""

    version: Annotated[int, msgspec.Meta(ge=1)]


class PlaylistFollowers(msgspec.Struct, frozen=True):
    """A page of those who follow a playlist."""

    followers: list[str]
    count: Annotated[int | None, msgspec.Meta(description="How many there are in all; on the first page only.")]
    next: NextPage


class ListedPlaylist(Summary, frozen=True, kw_only=True):
    """A playlist without its tracks, of which there are `tracks`."""

    topic: str


class PlaylistsPage(msgspec.Struct, frozen=True):
    """A page of playlists."""

    playlists: list[ListedPlaylist]
    next: NextPage
