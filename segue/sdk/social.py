"""The SDK for what users set: whom they follow and block, and who sees what of theirs. It talks to the HTTP API of social services.

    async with segue.Social("http://127.0.0.1:7731", token) as social:
        await social.block("eve")
        await social.set_listening("friends")

Repeating a request changes nothing more, so a request that was not answered is sent to the next address.
"""

import ssl
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final, Literal, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec

from infra.runtime.bounded_answer import bounded_body
from infra.runtime.network_reason import network_reason
from segue.sdk.address import doors
from segue.sdk.broker_answer import read_as
from segue.sdk.errors import ConnectionLost
from segue.sdk.http_connections import HttpConnections
from segue.sdk.token_source import Token, fresh
from segue.sdk.trust import CaFile

T = TypeVar("T")

Listeners = Literal["everyone", "followers", "friends", "nobody"]
Viewing = Literal["private", "followers", "public"]

TIMEOUT: Final = aiohttp.ClientTimeout(total=30, connect=5)
OK: Final = (200, 204)


class FollowedUser(msgspec.Struct, frozen=True):
    """A user whom one follows. `mutual`: they follow back, so both are friends."""

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


class _Friends(msgspec.Struct):
    friends: list[FollowedUser]
    next: str | None


class _Blocks(msgspec.Struct):
    blocked: list[str]
    next: str | None


class Social(HttpConnections):
    """A client of the social services of `urls`, which are tried in turn, for one user.

    `token` is the user's JWT, or a function (plain or async) that is called for one at every request. All methods raise Refused when
    trying again cannot help, and ConnectionLost when no address answered. Cancelling leaves open whether it was done.

    - `ca_file`: the authorities that are believed at https addresses, as PEM; None: those that this machine trusts.
    - `tls`: a context for https addresses, instead.
    """

    def __init__(self, urls: str | Iterable[str], token: Token, *, ca_file: CaFile = None, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(TIMEOUT, ca_file, tls)
        self._urls = doors(urls, schemes=("http", "https"), path="/v1/social")
        self._token = token

    async def friends(self) -> AsyncIterator[FollowedUser]:
        """Yields all whom the user follows, by name."""
        after: str | None = ""
        while after is not None:
            page = await self._ask(_Friends, "GET", "friends", after=after)
            for each in page.friends:
                yield each
            after = page.next

    async def follow(self, user: str) -> bool:
        """Follows `user`; returns whether they follow back."""
        return (await self._ask(FollowedUser, "PUT", f"friends/{_part(user)}")).mutual

    async def unfollow(self, user: str) -> None:
        """Follows `user` no more."""
        await self._ask(type(None), "DELETE", f"friends/{_part(user)}")

    async def blocks(self) -> AsyncIterator[str]:
        """Yields all whom the user blocks, by name."""
        after: str | None = ""
        while after is not None:
            page = await self._ask(_Blocks, "GET", "blocks", after=after)
            for each in page.blocked:
                yield each
            after = page.next

    async def block(self, user: str) -> None:
        """Blocks `user`: neither of the two sees anything of the other, nor follows them."""
        await self._ask(type(None), "PUT", f"blocks/{_part(user)}")

    async def unblock(self, user: str) -> None:
        """Blocks `user` no more."""
        await self._ask(type(None), "DELETE", f"blocks/{_part(user)}")

    async def privacy(self) -> PrivacyState:
        """Returns what the user has set."""
        return await self._ask(PrivacyState, "GET", "privacy")

    async def set_listening(self, listening: Listeners) -> PrivacyState:
        """Says who sees what the user plays; returns what holds now."""
        return await self._ask(PrivacyState, "PUT", "privacy", {"listening": listening})

    async def begin_private(self, client: str, hours: float | None = None) -> PrivateDevice:
        """Makes the device `client` private, for `hours` or until it is ended: nobody sees what is played on it."""
        return await self._ask(PrivateDevice, "PUT", f"private/{_part(client)}", {"hours": hours})

    async def end_private(self, client: str) -> None:
        """Ends the private session of the device `client`."""
        await self._ask(type(None), "DELETE", f"private/{_part(client)}")

    async def playlist(self, playlist: str) -> PlaylistState:
        """Returns who sees `playlist`, by its id, and who edits it."""
        return await self._ask(PlaylistState, "GET", f"playlists/{_part(playlist)}")

    async def set_playlist(self, playlist: str, visibility: Viewing) -> PlaylistState:
        """Says who sees `playlist`; returns what holds now."""
        return await self._ask(PlaylistState, "PUT", f"playlists/{_part(playlist)}", {"visibility": visibility})

    async def set_editor(self, playlist: str, user: str, *, wanted: bool = True) -> PlaylistState:
        """Puts `user` on the list of editors of `playlist`, or takes them off; returns what holds now."""
        return await self._ask(PlaylistState, "PUT" if wanted else "DELETE", f"playlists/{_part(playlist)}/editors/{_part(user)}")

    async def _ask(self, kind: type[T], method: str, path: str, body: Any = None, **query: str) -> T:
        lost: ConnectionLost | None = None
        for base in self._urls:
            try:
                return await self._try(self._http, kind, method, f"{base}/{path}", body, query)
            except ConnectionLost as error:
                lost = error
        assert lost is not None
        raise lost

    async def _try(self, http: aiohttp.ClientSession, kind: type[T], method: str, url: str, body: Any, query: dict[str, str]) -> T:
        headers = {"Authorization": f"Bearer {await fresh(self._token)}"}
        try:
            async with http.request(method, url, headers=headers, json=body, params=query, allow_redirects=False) as response:
                said = await bounded_body(response) or b"null"
                return read_as(kind, url, response.status, said, response.headers.get("Retry-After"), accepts=OK)
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionLost(f"{url} did not answer: {network_reason(error)}") from error


def _part(name: str) -> str:
    return quote(name, safe="")
