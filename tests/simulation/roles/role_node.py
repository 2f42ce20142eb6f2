"""A node without servers, sockets and handshakes: the links that stand are production's own."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import accesspoint.upstream
import aggregator.server
import broker.server
from broker.core import BrokerCore
from infra.kernel.frames import Hello
from infra.kernel.link_rights import LINK_KINDS, LinkKind
from infra.kernel.link_timing import LinkTiming
from infra.runtime.context import Context
from infra.runtime.introduction import Introduction
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkRole
from infra.runtime.standing_links import StandingLinks

# A call is given up after so long without an answer. Who calls begins within the time of a turn.
GIVES_UP_S = 5.0
CALLS_S = 0.05


class _NoDoor:
    """The place of what has a door for people, or files: whatever it is asked, it does nothing."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


class RoleNode:
    """The links of one role; see `Node`, whose place it takes. `dials`: what is called, with the last connection there.

    `standing`: its links, which are production's own.
    """

    refused = slow = drops = queued_bytes = strangers = 0

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
        self.incarnation, self.timing = context.rng.getrandbits(52), timing
        self.loops = SimpleNamespace(every=lambda *_, **__: None, counters=dict)
        self.dials: dict[str, Any] = {}
        introduction = Introduction(identity, self.incarnation, context.link_auth, wall=context.wall, view=owner.view)
        self.hello: Callable[[], Hello] = introduction.hello
        self.standing = StandingLinks(owner, introduction, context, timing=timing, link_kinds=link_kinds)
        self._process: Any = asyncio.get_running_loop().owner  # type: ignore[attr-defined]
        self._process.node = self

    @property
    def links(self) -> set[Link]:
        """Those that stand."""
        return self.standing.links

    @property
    def now_s(self) -> float:
        """See `Node`."""
        return self.standing.now_s

    def flush(self) -> None:
        """Sends what was said."""
        self.standing._flush()

    def dial(self, address: str, role: str, site: str | None) -> None:
        """See `Node`."""
        if address not in self.dials:
            self.dials[address] = None
            self._process.call_soon(address)

    def hang_up(self, address: str) -> None:
        """See `Node`."""
        self.dials.pop(address, None)
        for link in list(self.links):
            if link.dialled == address:
                self.standing.part(link, "hung up")


@contextmanager
def bare_roles(let_out: Callable[[bytes], None]) -> Iterator[None]:
    """Has roles that are made in the block have no servers. `let_out` is given the tail of each event when its owner lets it out.

    An event may wait at its owner while later ones of its topic get their numbers. What a number tells of is what got out before it.
    """
    with ExitStack() as stack:
        for module in (broker.server, aggregator.server, accesspoint.upstream):
            stack.enter_context(patch.object(module, "Node", RoleNode))
        for name in ("BrokerDoor", "RevocationKeeper"):
            stack.enter_context(patch.object(broker.server, name, _NoDoor))
        stack.enter_context(patch.object(BrokerCore, "publish", _noting(BrokerCore.publish, lambda event: let_out(event.tail))))
        stack.enter_context(patch.object(BrokerCore, "let_out", _noting(BrokerCore.let_out, lambda each: let_out(each.event.tail))))
        yield


def _noting(method: Callable[..., Any], note: Callable[[Any], None]) -> Callable[..., Any]:
    def noted(core: BrokerCore, what: Any) -> Any:
        note(what)
        return method(core, what)

    return noted
