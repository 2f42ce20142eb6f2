"""The SDK for artists: whom the user follows, and so hears of for good. It talks to the HTTP API of artist monitoring.

async with segue.ArtistClient("http://127.0.0.1:7732", token) as artists:
    await artists.follow("bjork")
"""

from collections.abc import AsyncIterator
from typing import Literal

import msgspec

from segue.sdk.service_client import AnsweredPage, ServiceClient, path_part

ArtistNews = Literal["new-album", "new-track", "artist-playlist"]


class ArtistFeed(msgspec.Struct, frozen=True):
    """One feed of an artist: news of one `type`."""

    artist: str
    type: ArtistNews


class _Feeds(AnsweredPage):
    topics: list[ArtistFeed]


class _Followed(msgspec.Struct):
    types: list[ArtistNews]


class ArtistClient(ServiceClient):
    """A client of artist monitoring. Its arguments and errors are those of every ServiceClient.

    Repeating a request changes nothing more, so a request that was not answered is sent to the next address.
    """

    path = "/v1/artists"

    async def followed(self) -> AsyncIterator[ArtistFeed]:
        """Yields the feeds that the user follows, by artist."""
        async for page in self._pages(_Feeds, "followed"):
            for each in page.topics:
                yield each

    async def follow(self, artist: str) -> list[ArtistNews]:
        """Follows all feeds of `artist`, by their id; returns the types of news in them."""
        return (await self._ask(_Followed, "PUT", f"{path_part(artist)}/follow")).types

    async def unfollow(self, artist: str) -> None:
        """Follows `artist` no more, in none of their feeds."""
        await self._ask(type(None), "DELETE", f"{path_part(artist)}/follow")
