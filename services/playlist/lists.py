"""The HTTP handlers of lists: who follows a playlist, and which playlists a user has and follows (SB-32)."""

import msgspec

from infra.kernel.topics import Kind, format_topic, kind_of
from infra.runtime.http.web import Answer, Request, Route

from ..follows import FollowStore
from .answers import ListedPlaylist, PlaylistFollowers, PlaylistsPage
from .core import playlist_topic
from .parameters import checked_name, page_of, topic_of
from .store import Playlists, Summary, find, names_of


class PlaylistListHandlers:
    """The handlers of requests for lists, which are answered page by page."""

    def __init__(self, playlists: Playlists, follows: FollowStore) -> None:
        self._playlists, self._follows = playlists, follows

    def routes(self) -> list[Route]:
        """Returns what is answered over HTTP."""
        return [
            Route("GET", "/v1/playlists/{owner}/{id}/followers", "any", self._followers),
            Route("GET", "/v1/users/{user}/playlists", "any", self._owned),
            Route("GET", "/v1/users/{user}/followed", "any", self._followed),
        ]

    async def _followers(self, request: Request) -> Answer:
        topic = (await find(self._playlists, *names_of(topic_of(request)))).topic
        after, limit = page_of(request)
        page = await self._follows.followers(topic, after, limit)
        count = None if after else await self._follows.count(topic)  # counting looks at every follower: once is enough
        return Answer(200, PlaylistFollowers(page.items, count, page.next))

    async def _owned(self, request: Request) -> Answer:
        page = await self._playlists.owned(checked_name(request.path["user"]), *page_of(request))
        return Answer(200, PlaylistsPage([_shown(each) for each in page.items], page.next))

    async def _followed(self, request: Request) -> Answer:
        page = await self._follows.topics(checked_name(request.path["user"]), *page_of(request))
        topics = [topic for topic in page.items if kind_of(topic) is Kind.PLAYLIST]
        found = sorted(await self._playlists.summaries(topics), key=lambda each: (each.owner, each.id))
        return Answer(200, PlaylistsPage([_shown(each) for each in found], page.next))


def _shown(summary: Summary) -> ListedPlaylist:
    topic = format_topic(playlist_topic(summary.owner, summary.id))
    return ListedPlaylist(**msgspec.structs.asdict(summary), topic=topic)
