"""The HTTP handlers of the playlist service: requests become steps, and steps are stored."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from infra.kernel.access import PLAYLIST_RULE, refusal
from infra.kernel.errors import Refused
from infra.kernel.topics import format_topic, parse_topic
from infra.runtime.context import Context
from infra.runtime.http.web import Answer, Request, Route

from ..follows import FollowStore
from . import core
from .answers import PlaylistChanged
from .change import Create, Edit, EditId, Name, Tracks
from .core import Playlist, PlaylistStep
from .following import follow_seen
from .parameters import number_of, topic_of
from .store import Playlists, find, names_of
from .viewers import Viewers

# How often a change without a version is made anew when somebody else was quicker.
TRIES: Final = 8


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request for a new playlist. Without an `id` one is made."""

    name: Name
    id: str = ""
    collaborative: bool = False
    tracks: Tracks = []


class Editing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a change. With a `version` it is refused as a conflict unless the playlist is at that one."""

    change: Edit
    version: int | None = None
    edit: EditId | None = None


class Shown(msgspec.Struct, frozen=True):
    """A playlist, as it is shown."""

    topic: str
    owner: str
    id: str
    version: int
    name: str
    collaborative: bool
    tracks: list[str]
    changed_ms: int


class PlaylistHandlers:
    """The handlers of requests. They call `written` when there may be something new in the outbox."""

    def __init__(
        self, playlists: Playlists, follows: FollowStore, viewers: Viewers, context: Context, *, written: Callable[[], None]
    ) -> None:
        self.changes: Counter[str] = Counter()
        self.conflicts = 0
        self._playlists, self._follows, self._written = playlists, follows, written
        self._viewers, self._rng, self._wall = viewers, context.rng, context.wall

    def routes(self) -> list[Route]:
        """Returns what is answered over HTTP."""
        one = "/v1/playlists/{owner}/{id}"
        return [
            Route("POST", "/v1/playlists", "user", self._create, max_body_bytes=None),
            Route("GET", one, "any", self._show),
            Route("POST", one + "/changes", "user", self._edit, max_body_bytes=None),
            Route("DELETE", one, "user", self._delete),
            Route("PUT", one + "/follow", "user", self._follow),
            Route("DELETE", one + "/follow", "user", self._unfollow),
        ]

    async def _create(self, request: Request) -> Answer:
        wanted = await request.body(Wanted)
        playlist_id = wanted.id or self._make_id()
        parse_topic(f"hm://playlist/user/{request.user}/playlist/{playlist_id}/")
        step = core.create(
            request.user, playlist_id, Create(wanted.name, wanted.collaborative, wanted.tracks), self._now_ms(), self._make_id()
        )
        if not await self._stored(self._playlists.create(step)):
            self.conflicts += 1
            raise Refused("conflict", f"{request.user} has or had a playlist {playlist_id}; choose another id, or none")
        self.changes["create"] += 1
        return Answer(201, _shown(step.playlist), {"Location": f"/v1/playlists/{request.user}/{playlist_id}"})

    async def _show(self, request: Request) -> Answer:
        await self._viewers.check_sees(request.user, topic_of(request))
        return Answer(200, _shown(await self._get(request)))

    async def _edit(self, request: Request) -> Answer:
        body = await request.body(Editing)
        step = await self._step(
            request,
            body.version,
            lambda now: core.edit(now, request.user, body.change, body.version, self._now_ms(), self._make_id(), body.edit or ""),
        )
        self.changes[str(body.change.__struct_config__.tag)] += 1
        return Answer(200, PlaylistChanged(step.playlist.version))

    async def _delete(self, request: Request) -> Answer:
        version = number_of(request, "version")
        await self._step(request, version, lambda now: core.delete(now, request.user, version, self._now_ms(), self._make_id()))
        self.changes["delete"] += 1
        return Answer(204)

    async def _step(self, request: Request, version: int | None, make: Callable[[Playlist], PlaylistStep]) -> PlaylistStep:
        """Makes and stores a step. Raises Refused("conflict") when the playlist is, or has just become, another version."""
        for _ in range(TRIES if version is None else 1):
            try:
                now = await self._get(request)
                await self._viewers.check_edits(request.user, now)
                step = make(now)
            except Refused as refused:
                self.conflicts += refused.code.name == "conflict"
                raise
            if await self._stored(self._playlists.replace(step)):
                return step
        self.conflicts += 1
        raise Refused("conflict", "others change this playlist at the same time; fetch it and try again")

    async def _follow(self, request: Request) -> Answer:
        await self._viewers.check_sees(request.user, topic_of(request))
        playlist = await self._get(request)
        if not all(await follow_seen(self._follows, self._viewers, request.user, [playlist.topic])):
            raise refusal(PLAYLIST_RULE, playlist.topic)
        return Answer(204)

    async def _unfollow(self, request: Request) -> Answer:
        await self._follows.remove(request.user, [topic_of(request)])
        return Answer(204)

    async def _get(self, request: Request) -> Playlist:
        return await find(self._playlists, *names_of(topic_of(request)))

    async def _stored(self, writing: Awaitable[bool]) -> bool:
        try:
            return await writing
        finally:
            self._written()  # also after an error: the write may have been done

    def _now_ms(self) -> int:
        return int(self._wall() * 1000)

    def _make_id(self) -> str:
        return f"{self._rng.getrandbits(96):024x}"


def _shown(playlist: Playlist) -> Shown:
    topic = format_topic(playlist.topic)
    where = topic, playlist.owner, playlist.id, playlist.version
    return Shown(*where, playlist.name, playlist.collaborative, playlist.tracks, playlist.changed_ms)
