"""The calls to other nodes: a link to each address that is wanted is kept, and called for again when it is lost."""

import asyncio
from functools import partial

from infra.kernel.backoff import Backoff
from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Hello
from infra.kernel.link_handshake import LinkHandshake, LinkSide
from infra.kernel.link_timing import LinkTiming

from .context import Context
from .introduction import Introduction
from .link import Link
from .loops import Loops
from .network_reason import network_reason
from .standing_links import StandingLinks
from .wire.wire import Wire, say_bye


class _Wanted:
    """A link that is to be kept: whom to call, how often that has failed in a row, and what was logged of it last."""

    __slots__ = ("address", "attempt", "role", "said", "site")

    def __init__(self, address: str, role: str, site: str | None) -> None:
        self.address, self.role, self.site = address, role, site
        self.attempt = 0
        self.said = ""


class Dialler:
    """The addresses to which a node keeps links. The task that dials an address owns the links to it.

    `loops`: those of the node, which ends them.
    """

    def __init__(
        self,
        standing: StandingLinks,
        introduction: Introduction,
        context: Context,
        *,
        timing: LinkTiming,
        loops: Loops,
    ) -> None:
        self._standing, self._introduction = standing, introduction
        self._network, self._rng, self._log = context.network, context.rng, context.log
        self._timing, self._loops = timing, loops
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._backoff = Backoff(base_s=timing.redial_base_s, cap_s=timing.redial_cap_s)
        self._is_closed = False

    def keep(self, address: str, role: str, site: str | None) -> None:
        """Keeps a link to `address` from now on, where a `role` of `site` (None: of any) is expected. Repeating it changes nothing."""
        if address not in self._tasks and not self._is_closed:
            keep = partial(self._keep, _Wanted(address, role, site))
            self._tasks[address] = self._loops.every(0.0, keep, "dialling", at_once=True, again_s=self._redial_s)

    def hang_up(self, address: str) -> None:
        """Stops dialling `address`, and closes the link to it."""
        if task := self._tasks.pop(address, None):
            task.cancel()

    def close(self) -> None:
        """Begins to dial nobody any more. The tasks end with the `loops`."""
        self._is_closed = True  # a role that loses a link may want to dial another node
        self._tasks.clear()

    async def _keep(self, wanted: _Wanted) -> float:
        """Calls, and holds the link for as long as it lives. Returns in how many seconds to call again."""
        try:
            async with asyncio.timeout(self._timing.hello_s):
                link, gone = await self._call(wanted.address, wanted.role, wanted.site)
            wanted.attempt, wanted.said = 0, ""
            await self._hold(link, gone)
        except (OSError, TimeoutError, Refused) as trouble:
            reason = self._why(trouble)
            if reason != wanted.said:
                self._log.info("peer unreachable", address=wanted.address, peer_role=wanted.role, reason=reason)
            wanted.said = reason
        wanted.attempt += 1
        return self._redial_s(wanted.attempt)

    def _redial_s(self, attempt: int) -> float:
        return self._backoff.delay_s(attempt, self._rng)

    def _why(self, trouble: Exception) -> str:
        if not str(trouble):
            return f"no answer within {self._timing.hello_s:g} s"
        return str(trouble) if isinstance(trouble, Refused) else network_reason(trouble)

    async def _hold(self, link: Link, gone: "asyncio.Future[None]") -> None:
        try:
            await gone
        finally:  # also when the task is cancelled: hanging up closes the link
            self._standing.part(link, "hung up")

    async def _call(self, address: str, role: str, site: str | None) -> "tuple[Link, asyncio.Future[None]]":
        wire = await self._network.dial(address)
        gone: asyncio.Future[None] = self._loop.create_future()
        met: asyncio.Future[Hello] = self._loop.create_future()
        early: list[AnyFrame] = []
        link: Link | None = None

        def expect(hello: Hello) -> None:
            if hello.role != role or site not in (None, hello.site):
                wanted = f"{role} of {site or 'any site'}"
                raise Refused("wrong-peer", f"{address} is {hello.role} of {hello.site}, the configuration says {wanted}")

        handshake = self._introduction.handshake(LinkSide.CALLER, wire, expect)

        def on_frames(frames: list[AnyFrame]) -> None:
            if link is not None:
                self._standing.received(link, frames)
                return
            if not met.done():
                frames = _greet(handshake, wire, frames, met)
            early.extend(frames)

        def on_lost(reason: str) -> None:
            if not met.done():
                met.set_exception(ConnectionResetError(reason))
            if link is not None:
                self._standing.lost(link, reason)
            if not gone.done():
                gone.set_result(None)

        wire.start(on_frames, on_lost)
        wire.send(handshake.begin())
        try:
            link = self._standing.up(wire, await met, address, handshake)
        except Refused as refused:
            say_bye(wire, refused)
            raise
        except BaseException:
            wire.abort()
            raise
        if early:
            self._standing.received(link, early)
        return link, gone


def _greet(handshake: LinkHandshake, wire: Wire, frames: list[AnyFrame], met: "asyncio.Future[Hello]") -> list[AnyFrame]:
    """Takes the frames of a node that was called, until `met` says who it is. Returns what came behind the handshake."""
    for position, frame in enumerate(frames, 1):
        try:
            step = handshake.take(frame)
        except Refused as refused:
            met.set_exception(refused)
            return []
        if step.say:
            wire.send(step.say)
        if step.peer is not None:
            met.set_result(step.peer)
            return frames[position:]
    return []
