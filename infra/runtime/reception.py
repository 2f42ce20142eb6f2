"""The reception of a node: callers who have not shown yet who they are."""

import asyncio

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame
from infra.kernel.link_handshake import LinkHandshake, LinkSide
from infra.kernel.link_timing import LinkTiming

from .context import Context
from .introduction import Introduction
from .link import Link
from .link_handlers import LinkRole
from .standing_links import StandingLinks
from .wire.wire import Wire, say_bye


class Reception:
    """The callers at the listeners of one node, until each is linked or turned away. `refused` counts the latter.

    How many there may be is not decided here: they have places (`LinkAuth.places`).
    """

    def __init__(
        self,
        owner: LinkRole,
        standing: StandingLinks,
        introduction: Introduction,
        context: Context,
        *,
        timing: LinkTiming,
    ) -> None:
        self.refused = 0
        self._owner, self._standing, self._introduction = owner, standing, introduction
        self._log, self._timing = context.log, timing
        self._loop = asyncio.get_running_loop()
        self._waiting: set[Wire] = set()
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self) -> None:
        """Lets nobody in any more."""
        self._is_closed = True

    def cut_all(self) -> None:
        """Cuts those who wait."""
        for wire in list(self._waiting):
            wire.abort()

    def accept(self, wire: Wire) -> None:
        """Takes the `wire` of a caller. It is linked when it has said, and proved, who it is."""
        link: Link | None = None
        if self._is_closed:  # the wire was on its way when the listener closed
            wire.abort()
            return
        self._waiting.add(wire)
        handshake = self._introduction.handshake(LinkSide.CALLED, wire)
        deadline = self._loop.call_later(self._timing.hello_s, self._late, wire, handshake)

        def on_frames(frames: list[AnyFrame]) -> None:
            nonlocal link
            if link is not None:
                self._standing.received(link, frames)
                return
            try:
                link, frames = self._greeted(wire, handshake, frames)
            except Refused as refused:
                deadline.cancel()
                self._turn_away(wire, refused)
                return
            if link is not None:
                deadline.cancel()
                self._waiting.discard(wire)
                self._standing.received(link, frames)

        def on_lost(reason: str) -> None:
            deadline.cancel()
            if link is not None:
                self._standing.lost(link, reason)
                return
            if wire in self._waiting:
                self._waiting.discard(wire)
                self._log.info("peer left before its hello", reason=reason)

        wire.start(on_frames, on_lost)

    def _greeted(self, wire: Wire, handshake: LinkHandshake, frames: list[AnyFrame]) -> tuple[Link | None, list[AnyFrame]]:
        """Takes the frames of a caller who is not linked yet. Returns the link, once it stands, and what came behind the handshake."""
        for position, frame in enumerate(frames, 1):
            step = handshake.take(frame)
            if step.peer is None:
                wire.send(step.say)
                continue
            self._standing.refuse_duplicate(step.peer)  # first: a peer that comes back gives up its old link, and needs no room beside it
            self._owner.admit(step.peer)
            wire.trust()
            wire.send(step.say)
            return self._standing.up(wire, step.peer, None, handshake), frames[position:]
        return None, []

    def _late(self, wire: Wire, handshake: LinkHandshake) -> None:
        self._turn_away(wire, Refused("hello-timeout", f"no {handshake.stage.value} within {self._timing.hello_s:g} s"))

    def _turn_away(self, wire: Wire, refused: Refused) -> None:
        self.refused += 1
        self._waiting.discard(wire)
        self._log.warning("link refused", code=refused.code.name, reason=refused.reason)
        say_bye(wire, refused)
