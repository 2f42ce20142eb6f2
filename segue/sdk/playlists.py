"""The SDK for playlists: made, changed, listed, followed. It talks to the HTTP API of playlist services.

    async with segue.PlaylistClient("http://127.0.0.1:7730", token) as playlists:
        summer = await playlists.create("Sumar", id="summer", tracks=["t1"])
        await playlists.add(summer.owner, summer.id, ["t2"])

A playlist is named by its owner and its id. Who sees it and who edits it is said by `Social.set_playlist` and `Social.set_editor`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from segue.sdk.service_client import AnsweredPage, ServiceClient, path_part


class PlaylistContents(msgspec.Struct, frozen=True):
    """A playlist with its tracks, at one version.

    - `topic`: what a client subscribes to, to hear of its changes.
    - `collaborative`: whether its editors may change it, too.
    - `changed_ms`: when this version was made, as Unix time.
    """

    topic: str
    owner: str
    id: str
    version: int
    name: str
    collaborative: bool
    tracks: list[str]
    changed_ms: int


class PlaylistSummary(msgspec.Struct, frozen=True):
    """A playlist without its tracks, of which there are `tracks`. The other fields are those of PlaylistContents."""

    topic: str
    owner: str
    id: str
    version: int
    name: str
    collaborative: bool
    tracks: int
    changed_ms: int


class _Playlists(AnsweredPage):
    playlists: list[PlaylistSummary]


class _Followers(AnsweredPage):
    followers: list[str]


class _Changed(msgspec.Struct):
    version: int


class PlaylistClient(ServiceClient):
    """A client of playlist services. Its arguments and errors are those of every ServiceClient.

    A change that was not answered may have been made. The error is ConnectionLost then: fetch the playlist and look.
    """

    async def create(
        self, name: str, *, id: str | None = None, tracks: Sequence[str] = (), collaborative: bool = False
    ) -> PlaylistContents:
        """Creates a playlist of the user and returns it. Raises Refused (`conflict`) where the user has or had one with this `id`.

        - `name`: what people read.
        - `id`: its name in addresses; one is made without it.
        - `tracks`, `collaborative`: see PlaylistContents.
        """
        body = {"name": name, "id": id or "", "tracks": list(tracks), "collaborative": collaborative}
        return await self._ask(PlaylistContents, "POST", "playlists", body, is_repeatable=False)

    async def get(self, owner: str, id: str) -> PlaylistContents:
        """Returns the newest version of a playlist."""
        return await self._ask(PlaylistContents, "GET", _place(owner, id))

    async def owned_by(self, user: str) -> AsyncIterator[PlaylistSummary]:
        """Yields the playlists that `user` owns, by id: those that one may see."""
        async for page in self._pages(_Playlists, f"users/{path_part(user)}/playlists"):
            for each in page.playlists:
                yield each

    async def followed_by(self, user: str) -> AsyncIterator[PlaylistSummary]:
        """Yields the playlists that `user` follows: those that one may see."""
        async for page in self._pages(_Playlists, f"users/{path_part(user)}/followed"):
            for each in page.playlists:
                yield each

    async def followers(self, owner: str, id: str) -> AsyncIterator[str]:
        """Yields the users who follow a playlist. Its owner is told of all, others of those of whom they may see what they play."""
        async for page in self._pages(_Followers, f"{_place(owner, id)}/followers"):
            for each in page.followers:
                yield each

    async def follow(self, owner: str, id: str) -> None:
        """Follows a playlist: on all devices, and for longer than a connection."""
        await self._ask(type(None), "PUT", f"{_place(owner, id)}/follow")

    async def unfollow(self, owner: str, id: str) -> None:
        """Follows a playlist no more."""
        await self._ask(type(None), "DELETE", f"{_place(owner, id)}/follow")

    async def rename(self, owner: str, id: str, name: str, *, version: int | None = None) -> int:
        """Calls a playlist `name`; returns the version that this makes. `version` is as in `add`."""
        return await self._change(owner, id, version, op="rename", name=name)

    async def set_collaborative(self, owner: str, id: str, collaborative: bool, *, version: int | None = None) -> int:
        """Says whether the editors of one's own playlist may change it; returns the version that this makes. `version` is as in `add`."""
        return await self._change(owner, id, version, op="collaborative", collaborative=collaborative)

    async def add(self, owner: str, id: str, tracks: Sequence[str], *, position: int | None = None, version: int | None = None) -> int:
        """Puts `tracks` at the end, or before the one at `position`; returns the version that this makes.

        `version` is the one to which the change is made. Raises Refused (`conflict`) where the playlist has another one by now.
        A change that names positions needs it.
        """
        return await self._change(owner, id, version, op="add", tracks=list(tracks), position=position)

    async def remove(self, owner: str, id: str, position: int, *, count: int = 1, version: int) -> int:
        """Takes away `count` tracks from `position` on; returns the version that this makes. `version` is as in `add`."""
        return await self._change(owner, id, version, op="remove", position=position, count=count)

    async def reorder(self, owner: str, id: str, position: int, to: int, *, count: int = 1, version: int) -> int:
        """Moves `count` tracks from `position` on; returns the version that this makes.

        - `to`: before which track, counted in the list as it was.
        - `version`: as in `add`.
        """
        return await self._change(owner, id, version, op="reorder", position=position, to=to, count=count)

    async def change(self, owner: str, id: str, change: Mapping[str, Any], *, version: int, edit: str) -> int:
        """Makes a `change`, as the page on playlists has them, to a `version`; returns the version that this makes.

        Followers are told the id `edit`, by which a replica knows its own change. Raises as `add`.
        """
        return await self._make(owner, id, {"change": change, "version": version, "edit": edit})

    async def delete(self, owner: str, id: str, *, version: int | None = None) -> None:
        """Deletes one's own playlist. Its id is not used again. `version` is as in `add`."""
        query = {} if version is None else {"version": str(version)}
        await self._ask(type(None), "DELETE", _place(owner, id), is_repeatable=False, **query)

    async def _change(self, owner: str, id: str, version: int | None, **change: Any) -> int:
        body: dict[str, Any] = {"change": {name: value for name, value in change.items() if value is not None}}
        if version is not None:
            body["version"] = version
        return await self._make(owner, id, body)

    async def _make(self, owner: str, id: str, body: Mapping[str, Any]) -> int:
        return (await self._ask(_Changed, "POST", f"{_place(owner, id)}/changes", body, is_repeatable=False)).version


def _place(owner: str, id: str) -> str:
    return f"playlists/{path_part(owner)}/{path_part(id)}"
