"""Node: everything that every role does with links.

It listens and dials, shakes hands, sends heartbeats, notices silence, dials again with backoff and jitter, and refuses a second process
under the same name. What a link means is the role's business (`LinkRole`).

The task that dials an address owns the links to it; links that came in are owned by the node. `close` ends them all.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from infra.kernel.backoff import Backoff
from infra.kernel.codes import BY_NUMBER
from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.frames import HIGHEST_TAG, AnyFrame, Bye, Frame, Heartbeat, Hello, View
from infra.kernel.link_handshake import LinkHandshake, LinkSide
from infra.kernel.link_rights import LINK_KINDS, LinkKind, Rights, rights_of_peer
from infra.kernel.link_timing import LinkTiming

from .context import Context
from .ending import end_all
from .link import Link
from .link_handlers import LinkHandler
from .listening import listening
from .loops import Loops
from .network_reason import network_reason
from .wire.wire import Listener, Wire

SKEW_WARNING_S = 60.0
_LAST = (Bye, Hello)


class LinkRole(Protocol):
    """A role as its links see it. Nothing here may block. A `Refused` closes the link with its code."""

    def view(self) -> View:
        """Returns the view of its site that this role knows. It travels in hellos and heartbeats."""

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` if this peer has no business here."""

    def link_up(self, link: Link) -> LinkHandler:
        """Chooses the handler of `link`, whose handshake is done. `link.dialled` is the address if we called, None if they did.

        If this raises there is no link, and nobody is told that it is down.
        """

    def tick(self, now: float) -> None:
        """Does what is due in each heartbeat interval. `now` is the node's time (see `Node`)."""


class _Wanted:
    """A link that is to be kept: whom to call, how often that has failed in a row, and what was logged of it last."""

    __slots__ = ("address", "attempt", "role", "said", "site")

    def __init__(self, address: str, role: str, site: str | None) -> None:
        self.address, self.role, self.site = address, role, site
        self.attempt = 0
        self.said = ""


class Node:
    """The links of one process of one role, and its `loops`.

    - `identity`: role, name and site.
    - `owner`: the role that takes links and frames.
    - `link_kinds`: which links there are, and what may be said on them.
    - `now_s`: its time, in seconds since its start, counted in its own heartbeats. So a process that was stalled does not find, when
      it goes on, that all its peers have been silent.
    """

    def __init__(
        self,
        identity: tuple[str, str, str],
        context: Context,
        owner: LinkRole,
        *,
        timing: LinkTiming,
        link_kinds: Sequence[LinkKind] = LINK_KINDS,
    ) -> None:
        self.role, self.name, self.site = identity
        self.incarnation = context.rng.getrandbits(52)
        self.now_s = 0.0
        self.links: set[Link] = set()
        self.refused = self.slow = 0
        self._dropped = 0
        self._owner, self._timing, self._link_kinds = owner, timing, link_kinds
        self._auth = context.link_auth
        self._network, self._rng, self._log, self._wall = context.network, context.rng, context.log, context.wall
        self._loop = asyncio.get_running_loop()
        self._handlers: dict[Link, tuple[LinkHandler, Rights, frozenset[type[Frame]]]] = {}
        self._dialers: dict[str, asyncio.Task[None]] = {}
        self._listeners: list[Listener] = []
        self._waiting: set[Wire] = set()
        self._dirty: list[Link] = []
        self._busy = self._closed = False
        self._backoff = Backoff(base_s=timing.redial_base_s, cap_s=timing.redial_cap_s)
        self.loops = Loops(self._log)
        self._heartbeats = self.loops.every(timing.heartbeat_s, self._tick, "heartbeats")

    @property
    def drops(self) -> int:
        """How many deliveries were dropped, on all links that there are and were."""
        return self._dropped + sum(link.drops for link in self.links)

    @property
    def queued_bytes(self) -> int:
        """How much waits to be written, on all links together."""
        return sum(link.wire.queued_bytes for link in self.links)

    async def listen(self, address: str) -> str:
        """Accepts links at `address`, and returns it with the real port. Raises CannotListen if it is taken, and ConfigError if others
        can reach it and nobody has said how links are proved."""
        self._auth.check_address(address, "listen")
        with listening(f"{self.role}.listen", address):
            listener = await self._network.listen(address, self._accept)
        self._listeners.append(listener)
        return listener.address

    def dial(self, address: str, role: str, site: str | None) -> None:
        """Keeps a link to `address` from now on, where a `role` of `site` (None: of any) is expected. Repeating it changes nothing.

        Raises ConfigError if `address` is not on loopback and nobody has said how links are proved.
        """
        self._auth.check_address(address, "dial")
        if address not in self._dialers and not self._closed:
            keep = partial(self._keep, _Wanted(address, role, site))
            self._dialers[address] = self.loops.every(0.0, keep, "dialling", at_once=True, again_s=self._redial_s)

    def hang_up(self, address: str) -> None:
        """Stops dialling `address`, and closes the link to it."""
        if task := self._dialers.pop(address, None):
            task.cancel()

    async def close(self) -> None:
        """Stops listening, dialling and all other loops, and closes all links. May be called twice."""
        self._closed = True  # a role that loses a link may want to dial another node
        self._dialers.clear()
        await end_all(*(listener.close for listener in self._listeners), self.loops.close, self._part_from_all)

    def _part_from_all(self) -> None:
        for_every_one(partial(self._part, link, "closed here") for link in list(self.links))
        for wire in list(self._waiting):
            wire.abort()

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
            self._part(link, "hung up")

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

        handshake = self._handshake(LinkSide.CALLER, wire, expect)

        def on_frames(frames: list[AnyFrame]) -> None:
            if link is not None:
                self._received(link, frames)
                return
            if not met.done():
                frames = _greet(handshake, wire, frames, met)
            early.extend(frames)

        def on_lost(reason: str) -> None:
            if not met.done():
                met.set_exception(ConnectionResetError(reason))
            if link is not None:
                self._lost(link, reason)
            if not gone.done():
                gone.set_result(None)

        wire.start(on_frames, on_lost)
        wire.send(handshake.begin())
        try:
            link = self._up(wire, await met, address, handshake)
        except Refused as refused:
            _say_bye(wire, refused)
            raise
        except BaseException:
            wire.abort()
            raise
        if early:
            self._received(link, early)
        return link, gone

    def _handshake(self, side: LinkSide, wire: Wire, expect: Callable[[Hello], None] = lambda hello: None) -> LinkHandshake:
        end = wire.far_end
        return LinkHandshake(side, self._auth.credentials(end.is_local), self._hello, names=end.names, expect=expect)

    def _hello(self, nonce: bytes) -> Hello:
        time_ms, view = int(self._wall() * 1000), self._owner.view()
        return Hello(self.role, self.name, self.site, self.incarnation, time_ms, view, tags=HIGHEST_TAG, nonce=nonce)

    def _accept(self, wire: Wire) -> None:
        link: Link | None = None
        if self._closed:  # the wire was on its way when the listener closed
            wire.abort()
            return
        self._waiting.add(wire)
        handshake = self._handshake(LinkSide.CALLED, wire)
        deadline = self._loop.call_later(self._timing.hello_s, self._late, wire, handshake)

        def on_frames(frames: list[AnyFrame]) -> None:
            nonlocal link
            if link is not None:
                self._received(link, frames)
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
                self._received(link, frames)

        def on_lost(reason: str) -> None:
            deadline.cancel()
            if link is not None:
                self._lost(link, reason)
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
            self._refuse_duplicate(step.peer)  # first: a peer that comes back gives up its old link, and needs no room beside it
            self._owner.admit(step.peer)
            wire.trust()
            wire.send(step.say)
            return self._up(wire, step.peer, None, handshake), frames[position:]
        return None, []

    def _late(self, wire: Wire, handshake: LinkHandshake) -> None:
        self._turn_away(wire, Refused("hello-timeout", f"no {handshake.stage.value} within {self._timing.hello_s:g} s"))

    def _turn_away(self, wire: Wire, refused: Refused) -> None:
        self.refused += 1
        self._waiting.discard(wire)
        self._log.warning("link refused", code=refused.code.name, reason=refused.reason)
        _say_bye(wire, refused)

    def _refuse_duplicate(self, hello: Hello) -> None:
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
            self._lost(link, "replaced by a newer link")

    def _up(self, wire: Wire, peer: Hello, dialled: str | None, handshake: LinkHandshake) -> Link:
        rights = rights_of_peer(self._hello(b""), peer, we_called=dialled is not None, table=self._link_kinds)
        link = Link(wire, peer, dialled, self.now_s, self._wake)
        if handshake.is_by_secret:  # on each link the view comes first, and the one in our hello may be an old one by now
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

    def _part(self, link: Link, reason: str) -> None:
        if link in self.links:
            link.flush()
            link.wire.close()
            self._lost(link, reason)

    def _lost(self, link: Link, reason: str) -> None:
        if (found := self._handlers.pop(link, None)) is not None:
            handler, *_ = found
            self.links.discard(link)
            self._dropped += link.drops
            self._log.info("link down", peer=link.peer.node, peer_role=link.peer.role, peer_site=link.peer.site, reason=reason)
            handler.down(reason)

    def _received(self, link: Link, frames: list[AnyFrame]) -> None:
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
            self._part(link, f"{_code_name(last.number)}: {last.reason}")
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
        self.refused += 1
        self._end(link, refused)

    def _end(self, link: Link, refused: Refused) -> None:
        self._log.warning("link broken", peer=link.peer.node, code=refused.code.name, reason=refused.reason)
        link.close(refused.code.name, refused.reason)
        self._lost(link, str(refused))

    def _tick(self) -> None:
        """Sends heartbeats whatever the role makes of the tick: a node without them would be taken for dead."""
        self.now_s += self._timing.heartbeat_s
        for_every_one([partial(self._owner.tick, self.now_s), self._beat])

    def _beat(self) -> None:
        beat = Heartbeat(self._owner.view())
        for_every_one(partial(self._beat_on, link, beat) for link in list(self.links))

    def _beat_on(self, link: Link, beat: Heartbeat) -> None:
        if (silent_s := self.now_s - link.heard) > self._timing.silent_s:
            link.wire.abort()
            self._lost(link, f"silent-peer: nothing heard for {silent_s:.1f} s")
        else:
            link.send(beat)


def _say_bye(wire: Wire, refused: Refused) -> None:
    wire.send([Bye(refused.code.number, refused.reason)])
    wire.close()


def _code_name(number: int) -> str:
    return BY_NUMBER[number].name if number in BY_NUMBER else str(number)


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
