"""Node: everything that every role does with links.

It listens (`Reception`) and dials (`Dialler`), shakes hands, sends heartbeats, notices silence, and refuses a second process under the
same name (`StandingLinks`). What a link means is the role's business (`LinkRole`).
"""

from collections.abc import Sequence
from functools import partial

from infra.kernel.every_one import for_every_one
from infra.kernel.link_rights import LINK_KINDS, LinkKind
from infra.kernel.link_timing import LinkTiming

from .context import Context
from .dialler import Dialler
from .ending import end_all
from .introduction import Introduction
from .link import Link
from .link_handlers import LinkRole
from .listening import listening
from .loops import Loops
from .reception import Reception
from .standing_links import StandingLinks
from .wire.wire import Listener


class Node:
    """The links of one process of one role, and its `loops`.

    - `identity`: role, name and site.
    - `owner`: the role that takes links and frames.
    - `link_kinds`: which links there are, and what may be said on them.
    - `links`: those that stand.
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
        self.loops = Loops(context.log)
        self._owner, self._timing = owner, timing
        self._auth, self._network = context.link_auth, context.network
        introduction = Introduction(identity, self.incarnation, context.link_auth, wall=context.wall, view=owner.view)
        self._standing = StandingLinks(owner, introduction, context, timing=timing, link_kinds=link_kinds)
        self._dialler = Dialler(self._standing, introduction, context, timing=timing, loops=self.loops)
        self._reception = Reception(owner, self._standing, introduction, context, timing=timing)
        self._listeners: list[Listener] = []
        self.links: set[Link] = self._standing.links
        self._heartbeats = self.loops.every(timing.heartbeat_s, self._tick, "heartbeats")

    @property
    def now_s(self) -> float:
        """Its time, in seconds since its start, counted in its own heartbeats.

        So a process that was stalled does not find, when it goes on, that all its peers have been silent.
        """
        return self._standing.now_s

    @property
    def strangers(self) -> int:
        """The number of callers who have not shown yet who they are."""
        return len(self._reception)

    @property
    def refused(self) -> int:
        """How many callers were turned away, and how many links ended, because of what a peer said."""
        return self._reception.refused + self._standing.broken

    @property
    def slow(self) -> int:
        """How many links ended because too much waited for the peer."""
        return self._standing.slow

    @property
    def drops(self) -> int:
        """How many deliveries were dropped, on all links that there are and were."""
        return self._standing.drops

    @property
    def queued_bytes(self) -> int:
        """How much waits to be written, on all links together."""
        return self._standing.queued_bytes

    async def listen(self, address: str) -> str:
        """Accepts links at `address`, and returns it with the real port. Raises CannotListen if it is taken, and ConfigError if others
        can reach it and nobody has said how links are proved."""
        self._auth.check_address(address, "listen")
        with listening(f"{self.role}.listen", address):
            listener = await self._network.listen(address, self._reception.accept)
        self._listeners.append(listener)
        return listener.address

    def dial(self, address: str, role: str, site: str | None) -> None:
        """Keeps a link to `address` from now on, where a `role` of `site` (None: of any) is expected. Repeating it changes nothing.

        Raises ConfigError if `address` is not on loopback and nobody has said how links are proved.
        """
        self._auth.check_address(address, "dial")
        self._dialler.keep(address, role, site)

    def hang_up(self, address: str) -> None:
        """Stops dialling `address`, and closes the link to it."""
        self._dialler.hang_up(address)

    async def close(self) -> None:
        """Stops listening, dialling and all other loops, and closes all links. May be called twice."""
        self._reception.close()
        self._dialler.close()
        part = partial(self._standing.part_from_all, "closed here")
        await end_all(*(listener.close for listener in self._listeners), self.loops.close, part, self._reception.cut_all)

    def _tick(self) -> None:
        """Sends heartbeats whatever the role makes of the tick: a node without them would be taken for dead."""
        self._standing.now_s += self._timing.heartbeat_s
        for_every_one([partial(self._owner.tick, self.now_s), self._standing.beat])
