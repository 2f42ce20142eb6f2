"""The SDK for what users set: whom they follow and block, and who sees what of theirs. It talks to the HTTP API of social services.

    async with segue.Social("http://127.0.0.1:7731", token) as social:
        await social.block("eve")
        await social.set_listening("friends")

Repeating a request changes nothing more, so a request that was not answered is sent to the next address.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Literal

import msgspec

from segue.sdk.service_client import AnsweredPage, ServiceClient, path_part

Listeners = Literal["everyone", "followers", "friends", "nobody"]
Viewing = Literal["private", "followers", "public"]


class FollowedUser(msgspec.Struct, frozen=True):
    """A user whom one follows, or who follows one. `mutual`: it goes both ways, so both are friends."""

    user: str
    mutual: bool


class PrivateDevice(msgspec.Struct, frozen=True):
    """A device that is private, until `until_ms` (Unix time) or until it is ended (None)."""

    client: str
    until_ms: int | None


class PrivacyState(msgspec.Struct, frozen=True):
    """The settings of a user: who sees what they play, and the devices that are private."""

    listening: Listeners
    private: list[PrivateDevice]


class PlaylistState(msgspec.Struct, frozen=True):
    """The settings of a playlist: who sees it, and who is on its list of editors."""

    playlist: str
    visibility: Viewing
    editors: list[str]


class LinkedBook(msgspec.Struct, frozen=True):
    """An address book or a social account that the user has linked.

    - `contacts`: how many of them are remembered.
    - `verified`: whether a service vouches for who the user is there.
    """

    provider: str
    contacts: int
    verified: bool


class _Links(msgspec.Struct):
    links: list[LinkedBook]


class _Wall(msgspec.Struct):
    enabled: bool


class _Friends(AnsweredPage):
    friends: list[FollowedUser]


class _Followers(AnsweredPage):
    followers: list[FollowedUser]


class _Blocks(AnsweredPage):
    blocked: list[str]


class Social(ServiceClient):
    """A client of social services. Its arguments and errors are those of every ServiceClient."""

    path = "/v1/social"

    async def friends(self) -> AsyncIterator[FollowedUser]:
        """Yields all whom the user follows, by name."""
        async for page in self._pages(_Friends, "friends"):
            for each in page.friends:
                yield each

    async def followers(self) -> AsyncIterator[FollowedUser]:
        """Yields all who follow the user, and whether the user follows them, too. By name, where services keep things in SQLite."""
        async for page in self._pages(_Followers, "followers"):
            for each in page.followers:
                yield each

    async def follow(self, user: str) -> bool:
        """Follows `user`; returns whether they follow back."""
        return (await self._ask(FollowedUser, "PUT", f"friends/{path_part(user)}")).mutual

    async def unfollow(self, user: str) -> None:
        """Follows `user` no more."""
        await self._ask(type(None), "DELETE", f"friends/{path_part(user)}")

    async def links(self) -> list[LinkedBook]:
        """Returns what the user has linked."""
        return (await self._ask(_Links, "GET", "links")).links

    async def link(self, provider: str, contacts: Sequence[str], *, me: str | None = None) -> int:
        """Links an address book: whoever of its contacts is here, or comes later, is followed. Returns how many of these were taken.

        - `provider`: where it is from, such as "address-book".
        - `contacts`: ids of people there, at most 5,000; those of an earlier call stay.
        - `me`: the user's own id there, which is left out of the contacts.
        """
        body = {"contacts": list(contacts), "me": me}
        return (await self._ask(LinkedBook, "PUT", f"links/{path_part(provider)}", body)).contacts

    async def unlink(self, provider: str) -> None:
        """Has the user's id and contacts at `provider` forgotten."""
        await self._ask(type(None), "DELETE", f"links/{path_part(provider)}")

    async def wall(self) -> bool:
        """Returns whether the user wants wall posts."""
        return (await self._ask(_Wall, "GET", "wall")).enabled

    async def set_wall(self, wanted: bool) -> bool:
        """Says whether the user wants wall posts; returns what holds now."""
        return (await self._ask(_Wall, "PUT", "wall", {"enabled": wanted})).enabled

    async def blocks(self) -> AsyncIterator[str]:
        """Yields all whom the user blocks, by name."""
        async for page in self._pages(_Blocks, "blocks"):
            for each in page.blocked:
                yield each

    async def block(self, user: str) -> None:
        """Blocks `user`: neither of the two sees anything of the other, nor follows them."""
        await self._ask(type(None), "PUT", f"blocks/{path_part(user)}")

    async def unblock(self, user: str) -> None:
        """Blocks `user` no more."""
        await self._ask(type(None), "DELETE", f"blocks/{path_part(user)}")

    async def privacy(self) -> PrivacyState:
        """Returns what the user has set."""
        return await self._ask(PrivacyState, "GET", "privacy")

    async def set_listening(self, listening: Listeners) -> PrivacyState:
        """Says who sees what the user plays; returns what holds now."""
        return await self._ask(PrivacyState, "PUT", "privacy", {"listening": listening})

    async def begin_private(self, client: str, hours: float | None = None) -> PrivateDevice:
        """Makes the device `client` private, for `hours` or until it is ended: nobody sees what is played on it."""
        return await self._ask(PrivateDevice, "PUT", f"private/{path_part(client)}", {"hours": hours})

    async def end_private(self, client: str) -> None:
        """Ends the private session of the device `client`."""
        await self._ask(type(None), "DELETE", f"private/{path_part(client)}")

    async def playlist(self, playlist: str) -> PlaylistState:
        """Returns who sees `playlist`, by its id, and who edits it."""
        return await self._ask(PlaylistState, "GET", f"playlists/{path_part(playlist)}")

    async def set_playlist(self, playlist: str, visibility: Viewing) -> PlaylistState:
        """Says who sees `playlist`; returns what holds now."""
        return await self._ask(PlaylistState, "PUT", f"playlists/{path_part(playlist)}", {"visibility": visibility})

    async def set_editor(self, playlist: str, user: str, *, wanted: bool = True) -> PlaylistState:
        """Puts `user` on the list of editors of `playlist`, or takes them off; returns what holds now."""
        return await self._ask(PlaylistState, "PUT" if wanted else "DELETE", f"playlists/{path_part(playlist)}/editors/{path_part(user)}")
