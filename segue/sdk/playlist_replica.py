"""A playlist that is kept on this device: the same order as on all others within a second, and edits that show at once (SB-33).

    async with segue.Client(...) as client, segue.Api(...) as api:
        async with segue.PlaylistReplica(client, api.playlists, "ann", "mix") as mix:
            mix.add(["t3"])
            print(mix.name, mix.tracks)

It loads the contents and follows the playlist's topic. Edits are about what is shown, and are made at the service one after the other;
what others do meanwhile is merged. What decides is `segue.sdk.replica_core`.
"""

import asyncio
import logging
import random
import uuid
from collections.abc import Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Final, Self

from infra.kernel.backoff import Backoff, Rng
from infra.kernel.topics import format_topic, parse_topic
from segue.sdk.client import Client
from segue.sdk.errors import ConnectionLost, ProtocolError, Refused
from segue.sdk.messages import Event
from segue.sdk.playlists import PlaylistClient
from segue.sdk.replica_core import AwaitVersions, FetchContents, RefusedEdit, ReplicaCore, Request, SendEdit

# So long a version that is on its way is waited for before the playlist is fetched.
LATE_S: Final = 0.5
_LOG: Final = logging.getLogger("segue.sdk.replica")


class PlaylistReplica:
    """The playlist `id` of `owner` on this device, while the block of `async with` lasts.

    - `client`: is connected, and hears of changes. `playlists`: asks the playlist service, as the same user.
    - `on_change(replica)`: is called when something else is shown. What it raises is logged.
    - `on_refused(edit)`: is called with an edit that was taken back, and why. Without it, that is logged as a warning.
    - `backoff`, `rng`: when it is tried again where nobody answers.

    `version` is the one on which the shown `tracks` and `name` stand, `waiting` how many edits are not made yet, and `is_gone` says that
    the playlist was deleted, or may not be seen any more. Positions that are none raise IndexError.
    """

    def __init__(
        self,
        client: Client,
        playlists: PlaylistClient,
        owner: str,
        id: str,
        *,
        on_change: Callable[["PlaylistReplica"], None] | None = None,
        on_refused: Callable[[RefusedEdit], None] | None = None,
        backoff: Backoff | None = None,
        rng: Rng | None = None,
    ) -> None:
        self.owner, self.id = owner, id
        self.topic = format_topic(parse_topic(f"hm://playlist/user/{owner}/playlist/{id}/"))
        self._client, self._playlists = client, playlists
        self._on_change, self._on_refused = on_change, on_refused or _warn_of_refused
        self._backoff, self._rng = backoff or Backoff(base_s=0.5, cap_s=30.0), rng or random.Random()
        self._core = ReplicaCore(lambda: uuid.uuid4().hex)
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._is_open = False
        self._shown: object = None

    async def __aenter__(self) -> Self:
        """Follows the playlist and loads it. Raises Refused where it may not be seen or is not there, and ConnectionLost."""
        self._is_open = True
        await self._client.watch(self.topic, self)
        try:
            self._core.reload()
            found = await self._playlists.get(self.owner, self.id)
        except BaseException:
            await self.close()
            raise
        self._do(self._core.loaded(found.version, found.name, found.collaborative, found.tracks))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Keeps it no longer. Edits that are not made yet are forgotten; see `settled`. May be called twice."""
        self._is_open = False
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._client.unwatch(self.topic, self)

    async def settled(self) -> None:
        """Returns when all edits are made or refused, or the replica is closed."""
        while self._core.waiting and self._tasks:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    @property
    def tracks(self) -> list[str]:
        """The tracks, with the user's own edits."""
        return self._core.tracks

    @property
    def name(self) -> str:
        """The name, with the user's own edits."""
        return self._core.shown_name

    @property
    def collaborative(self) -> bool:
        """Whether editors may change it, too."""
        return self._core.collaborative

    @property
    def version(self) -> int:
        """The newest version that is known."""
        return self._core.version

    @property
    def waiting(self) -> int:
        """How many edits are not made yet."""
        return self._core.waiting

    @property
    def is_gone(self) -> bool:
        """Whether it was deleted, or may not be seen any more."""
        return self._core.is_gone

    def add(self, tracks: Iterable[str], position: int | None = None) -> None:
        """Puts `tracks` at the end, or before the one that is shown at `position`."""
        self._do(self._core.add(tracks, position))

    def remove(self, position: int, count: int = 1) -> None:
        """Takes away `count` tracks that are shown from `position` on."""
        self._do(self._core.remove(position, count))

    def reorder(self, position: int, to: int, count: int = 1) -> None:
        """Moves `count` tracks that are shown from `position` on before the one that is at `to` now."""
        self._do(self._core.reorder(position, to, count))

    def rename(self, name: str) -> None:
        """Calls the playlist `name`."""
        self._do(self._core.rename(name))

    def set_collaborative(self, collaborative: bool) -> None:
        """Says whether the editors of one's own playlist may change it."""
        self._do(self._core.set_collaborative(collaborative))

    # What the client hears (see `TopicWatcher`).

    def heard(self, event: Event) -> None:
        """Takes an event of the playlist."""
        self._do(self._core.changed(event.payload))

    def missed(self) -> None:
        """Takes note that something may be missing."""
        self._do(self._core.reload())

    def ended(self, code: str, reason: str) -> None:
        """Takes note that the user may not see the playlist any more."""
        self._do(self._core.gone(code, reason))

    # What the core asks for.

    def _do(self, requests: Iterable[Request]) -> None:
        if not self._is_open:
            return
        for request in requests:
            match request:
                case SendEdit():
                    self._begin(self._send(request))
                case FetchContents():
                    self._begin(self._fetch())
                case AwaitVersions(version):
                    self._begin(self._wait(version))
                case RefusedEdit():
                    self._on_refused(request)
        shown = (self.version, self.name, self.waiting, self.is_gone, self.tracks)
        if shown != self._shown:
            self._shown = shown
            self._changed()

    def _changed(self) -> None:
        if self._on_change is not None:
            try:
                self._on_change(self)
            except Exception:
                _LOG.exception("on_change failed")

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, request: SendEdit) -> None:
        try:
            version = await self._playlists.change(self.owner, self.id, request.change, version=request.version, edit=request.id)
        except Refused as refused:
            if refused.code.name == "conflict":
                self._do(self._core.conflicted(request.id))
            else:
                self._do(self._core.refused(request.id, refused.code.name, refused.reason))
        except (ConnectionLost, ProtocolError):
            self._do(self._core.unanswered(request.id))
            await self._pause()
            self._do(self._core.retry())
        else:
            self._failures = 0
            self._do(self._core.answered(request.id, version))

    async def _fetch(self) -> None:
        try:
            found = await self._playlists.get(self.owner, self.id)
        except Refused as refused:
            self._do(self._core.gone(refused.code.name, refused.reason))
        except (ConnectionLost, ProtocolError):
            await self._pause()
            self._do(self._core.not_loaded())
        else:
            self._failures = 0
            self._do(self._core.loaded(found.version, found.name, found.collaborative, found.tracks))

    async def _wait(self, version: int) -> None:
        await asyncio.sleep(LATE_S)
        self._do(self._core.late(version))

    async def _pause(self) -> None:
        await asyncio.sleep(self._backoff.delay_s(self._failures, self._rng))
        self._failures += 1


def _warn_of_refused(edit: RefusedEdit) -> None:
    _LOG.warning("the edit %s (%s) was taken back: %s: %s", edit.id, edit.op, edit.code, edit.reason)
