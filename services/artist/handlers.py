"""The HTTP handlers of artist monitoring, as docs/openapi-artist.json describes them."""

import asyncio
from typing import cast

from infra.kernel.errors import Unavailable
from infra.kernel.topics import ARTIST_TYPES, Topic, parse_topic
from infra.runtime.ending import end_tasks
from infra.runtime.http.web import Answer, Request, Route
from infra.runtime.logs import Logger

from ..follows import FollowStore
from ..parameters import page_of
from .answers import FeedType, FollowedArtist, FollowedFeed, FollowedFeeds, RunStarted, RunState
from .core import artist_uri
from .job import DailyJob


class ArtistHandlers:
    """The handlers of requests."""

    def __init__(self, follows: FollowStore, job: DailyJob, log: Logger) -> None:
        self._follows, self._job, self._log = follows, job, log
        self._run: asyncio.Task[None] | None = None

    def routes(self) -> list[Route]:
        """Returns what is answered over HTTP."""
        return [
            Route("GET", "/v1/artists/followed", "user", self._list),
            Route("PUT", "/v1/artists/{artist}/follow", "user", self._follow),
            Route("DELETE", "/v1/artists/{artist}/follow", "user", self._unfollow),
            Route("GET", "/v1/artists/run", "operator", self._state),
            Route("POST", "/v1/artists/run", "operator", self._start, audited="artist run"),
        ]

    async def close(self) -> None:
        """Stops a run that was asked for. May be called twice."""
        await end_tasks(self._run)

    async def _list(self, request: Request) -> Answer:
        topics, after = await self._follows.topics(request.user, *page_of(request.query))
        return Answer(200, FollowedFeeds([_named(topic) for topic in topics], after))

    async def _follow(self, request: Request) -> Answer:
        artist = request.path["artist"]
        feeds = _feeds(artist)
        for feed in feeds:
            request.check_granted(feed)
        await self._follows.add(request.user, feeds)
        return Answer(200, FollowedArtist(artist, list(ARTIST_TYPES)))

    async def _unfollow(self, request: Request) -> Answer:
        await self._follows.remove(request.user, _feeds(request.path["artist"]))
        return Answer(204)

    async def _state(self, request: Request) -> Answer:
        return Answer(200, RunState(self._job.is_running, self._job.tally))

    async def _start(self, request: Request) -> Answer:
        started = not self._job.is_running and (self._run is None or self._run.done())
        if started:
            self._run = asyncio.get_running_loop().create_task(self._run_once(), name="artist run")
        return Answer(202, RunStarted(started))

    async def _run_once(self) -> None:
        try:
            await self._job.run_once()
        except Unavailable as trouble:
            self._log.warning("artist run broke off", reason=str(trouble))
        except Exception:
            self._log.exception("artist run failed")


def _feeds(artist: str) -> list[Topic]:
    """Returns all feeds of an artist. Raises `Refused("bad-topic")`."""
    return [parse_topic(artist_uri(artist, kind)) for kind in ARTIST_TYPES]


def _named(topic: Topic) -> FollowedFeed:
    artist, _, kind = topic[1:].decode().rpartition("%")
    return FollowedFeed(artist, cast(FeedType, kind))  # `parse_topic` has let in no other kind
