"""The links that stand: what is said on them, what keeps them alive, and how they end."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from infra.kernel.codes import BY_NUMBER
from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.frames import AnyFrame, Bye, Frame, Heartbeat, Hello
from infra.kernel.link_handshake import LinkHandshake
from infra.kernel.link_rights import LinkKind, Rights, rights_of_peer
from infra.kernel.link_timing import LinkTiming

from .context import Context
from .introduction import Introduction
from .link import Link
from .link_handlers import LinkHandler, LinkRole
from .wire.wire import Wire

SKEW_WARNING_S: Final = 60.0
_LAST: Final = (Bye, Hello)


class StandingLinks:
    """The links of one node whose handshake is done.

    - `links`: all of them.
    - `now_s`: the node's time (see `Node`).
    - `broken`, `slow`: how many were ended because of what the peer said, and because it took too little.
    """

    def __init__(
        self,
        owner: LinkRole,
        introduction: Introduction,
        context: Context,
        *,
        timing: LinkTiming,
        link_kinds: Sequence[LinkKind],
    ) -> None:
        self.links: set[Link] = set()
        self.now_s = 0.0
        self.broken = self.slow = 0
        self._dropped = 0
        self._owner, self._introduction = owner, introduction
        self._timing, self._link_kinds = timing, link_kinds
        self._log, self._wall = context.log, context.wall
        self._loop = asyncio.get_running_loop()
        self._handlers: dict[Link, tuple[LinkHandler, Rights, frozenset[type[Frame]]]] = {}
        self._dirty: list[Link] = []
        self._busy = False

    @property
    def drops(self) -> int:
        """How many deliveries were dropped, on all links that there are and were."""
        return self._dropped + sum(link.drops for link in self.links)

    @property
    def queued_bytes(self) -> int:
        """How much waits to be written, on all links together."""
        return sum(link.wire.queued_bytes for link in self.links)

    def up(self, wire: Wire, peer: Hello, dialled: str | None, handshake: LinkHandshake) -> Link:
        """Makes the link on `wire` to `peer`, whose `handshake` is done. `dialled` is the address if we called.

        Raises what the role raises, which may be `Refused`; then there is no link.
        """
        rights = rights_of_peer(self._introduction.hello(), peer, we_called=dialled is not None, table=self._link_kinds)
        link = Link(wire, peer, dialled, self.now_s, self._wake)
        if handshake.takes_time:  # on each link the view comes first, and the one in our hello may be an old one by now
            link.send(Heartbeat(self._owner.view()))
        self.links.add(link)
        try:
            self._handlers[link] = self._owner.link_up(link), rights, rights.unquestioned.difference(_LAST)
        except BaseException:
            self.links.discard(link)
            raise
        skew_s = peer.time_ms / 1000 - self._wall()
        if abs(skew_s) > SKEW_WARNING_S:
            self._log.warning("clocks differ", peer=peer.node, peer_site=peer.site, skew_s=round(skew_s))
        self._log.info("link up", peer=peer.node, peer_role=peer.role, peer_site=peer.site)
        return link

    def refuse_duplicate(self, hello: Hello) -> None:
        """Raises Refused for a second process under a name that is linked, as long as the first one shows signs of life.

        A link of the same process, which has dialled again, replaces the old one.
        """
        for link in list(self.links):
            peer = link.peer
            if link.dialled is not None or (peer.role, peer.site, peer.node) != (hello.role, hello.site, hello.node):
                continue
            silent = self.now_s - link.heard > 2 * self._timing.heartbeat_s
            if peer.incarnation != hello.incarnation and not silent:
                name = f"{hello.role} {hello.site}/{hello.node}"
                raise Refused("duplicate-node", f"{name} is connected already; give each process its own name")
            link.wire.abort()
            self.lost(link, "replaced by a newer link")

    def part(self, link: Link, reason: str) -> None:
        """Closes `link` behind what was said on it."""
        if link in self.links:
            link.flush()
            link.wire.close()
            self.lost(link, reason)

    def part_from_all(self, reason: str) -> None:
        """Closes all links."""
        for_every_one(partial(self.part, link, reason) for link in list(self.links))

    def lost(self, link: Link, reason: str) -> None:
        """Forgets `link`, which is gone. May be called twice."""
        if (found := self._handlers.pop(link, None)) is not None:
            handler, *_ = found
            self.links.discard(link)
            self._dropped += link.drops
            self._log.info("link down", peer=link.peer.node, peer_role=link.peer.role, peer_site=link.peer.site, reason=reason)
            handler.down(reason)

    def received(self, link: Link, frames: list[AnyFrame]) -> None:
        """Takes what was said on `link`: what the peer may say goes to the role, and anything else ends it."""
        found = self._handlers.get(link)
        if found is None:
            return
        handler, rights, unquestioned = found
        link.heard = self.now_s
        if not unquestioned.issuperset(map(type, frames)):  # most batches are events: one look at all of them
            for position, frame in enumerate(frames):
                refused = None if isinstance(frame, _LAST) else rights.refusal(frame, f"a {link.peer.role}")
                if refused is not None or isinstance(frame, _LAST):
                    self._pass_on(link, handler, frames[:position])  # what was said before a goodbye counts
                    self._finish(link, refused or frame)
                    return
        self._pass_on(link, handler, frames)

    def beat(self) -> None:
        """Sends heartbeats, and gives up peers that have been silent for too long."""
        beat = Heartbeat(self._owner.view())
        for_every_one(partial(self._beat_on, link, beat) for link in list(self.links))

    def _beat_on(self, link: Link, beat: Heartbeat) -> None:
        if (silent_s := self.now_s - link.heard) > self._timing.silent_s:
            link.wire.abort()
            self.lost(link, f"silent-peer: nothing heard for {silent_s:.1f} s")
        else:
            link.send(beat if link.stamps is None else Heartbeat(beat.view, link.stamps()))

    def _pass_on(self, link: Link, handler: LinkHandler, frames: list[AnyFrame]) -> None:
        self._busy = True
        try:
            handler.frames(frames)
        except Refused as refused:
            self._break(link, refused)
        except Exception:
            self._log.exception("frames could not be handled", peer=link.peer.node)
            self._break(link, Refused("internal-error"))
        finally:
            self._busy = False
            self._flush()

    def _finish(self, link: Link, last: AnyFrame | Refused) -> None:
        if isinstance(last, Bye):
            self.part(link, f"{_code_name(last.number)}: {last.shown}")
        elif link in self.links:
            self._break(link, last if isinstance(last, Refused) else Refused("bad-link-frame", "hello was said already"))

    def _wake(self, link: Link) -> None:
        """Flushes a link that has something to send: after the batch of frames that caused it, or else at the end of the turn."""
        if not self._dirty and not self._busy:
            self._loop.call_soon(self._flush)
        self._dirty.append(link)

    def _flush(self) -> None:
        dirty, self._dirty = self._dirty, []
        for link in dirty:
            link.flush()
            if link.is_over and link in self.links:
                self._give_up_slow(link)

    def _give_up_slow(self, link: Link) -> None:
        self.slow += 1
        reason = f"{link.wire.queued_bytes} bytes wait for {link.peer.node}, a link may hold {link.max_bytes}"
        self._end(link, Refused("slow-link", f"{reason}: see max_link_bytes"))

    def _break(self, link: Link, refused: Refused) -> None:
        self.broken += 1
        self._end(link, refused)

    def _end(self, link: Link, refused: Refused) -> None:
        self._log.warning("link broken", peer=link.peer.node, code=refused.code.name, reason=refused.reason)
        link.close(refused.code.name, refused.reason)
        self.lost(link, str(refused))


def _code_name(number: int) -> str:
    return BY_NUMBER[number].name if number in BY_NUMBER else str(number)
