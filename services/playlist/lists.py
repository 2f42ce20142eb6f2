"""The HTTP handlers of lists: who follows a playlist, and which playlists a user has and follows (SB-32)."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from infra.kernel.topics import Kind, Topic, format_topic, kind_of, owner_of, user_topic
from infra.runtime.http.web import Answer, Request, Route

from ..follows import FollowStore
from ..parameters import page_of
from .answers import ListedPlaylist, PlaylistFollowers, PlaylistsPage
from .core import playlist_topic
from .parameters import checked_name, topic_of
from .store import Playlists, Summary, find, names_of
from .viewers import Viewers

T = TypeVar("T")


class PlaylistListHandlers:
    """The handlers of requests for lists, which are answered page by page."""

    def __init__(self, playlists: Playlists, follows: FollowStore, viewers: Viewers) -> None:
        self._playlists, self._follows, self._viewers = playlists, follows, viewers

    def routes(self) -> list[Route]:
        """Returns what is answered over HTTP."""
        return [
            Route("GET", "/v1/playlists/{owner}/{id}/followers", "any", self._followers),
            Route("GET", "/v1/users/{user}/playlists", "any", self._owned),
            Route("GET", "/v1/users/{user}/followed", "any", self._followed),
        ]

    async def _followers(self, request: Request) -> Answer:
        topic = topic_of(request)
        await self._viewers.check_sees(request.user, topic)
        await find(self._playlists, *names_of(topic))
        after, limit = page_of(request.query)
        page = await self._follows.followers(topic, after, limit)
        count = None if after else await self._follows.count(topic)  # counting looks at every follower: once is enough
        return Answer(200, PlaylistFollowers(await self._shown_followers(request, topic, page.items), count, page.next))

    async def _shown_followers(self, request: Request, topic: Topic, followers: list[str]) -> list[str]:
        """Returns those of `followers` whom the asker is told: what somebody follows says what they listen to.

        The owner of the playlist is told of all.
        """
        if request.user == owner_of(topic):
            return followers
        return await self._seen(request, followers, user_topic)

    async def _owned(self, request: Request) -> Answer:
        page = await self._playlists.owned(checked_name(request.path["user"]), *page_of(request.query))
        return Answer(200, PlaylistsPage([_shown(each) for each in await self._seen(request, page.items, _topic)], page.next))

    async def _followed(self, request: Request) -> Answer:
        user = checked_name(request.path["user"])
        request.check_granted(user_topic(user))
        await self._viewers.check_sees(request.user, user_topic(user))
        page = await self._follows.topics(user, *page_of(request.query))
        topics = [topic for topic in page.items if kind_of(topic) is Kind.PLAYLIST]
        there = await self._seen(request, await self._playlists.summaries(topics), _topic)
        found = sorted(there, key=lambda each: (each.owner, each.id))
        return Answer(200, PlaylistsPage([_shown(each) for each in found], page.next))

    async def _seen(self, request: Request, items: Sequence[T], topic: Callable[[T], Topic]) -> list[T]:
        """Returns those of `items` whose `topic` is one that the asker may see, and their token lets them."""
        granted = [item for item in items if request.is_granted(topic(item))]
        seen = await self._viewers.seen(request.user, [topic(item) for item in granted])
        return [item for item, sees in zip(granted, seen, strict=True) if sees]


def _topic(summary: Summary) -> Topic:
    return playlist_topic(summary.owner, summary.id)


def _shown(summary: Summary) -> ListedPlaylist:
    topic = format_topic(playlist_topic(summary.owner, summary.id))
    return ListedPlaylist(**msgspec.structs.asdict(summary), topic=topic)
