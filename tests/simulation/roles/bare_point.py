"""An access point without doors: what it decides, and the links from which its events come. Clients talk to it at once."""

from collections.abc import Sequence

from msgspec.structs import replace

from accesspoint.core import AccessPointCore
from accesspoint.server import TICK_S
from accesspoint.session import Session
from accesspoint.upstream import Upstream
from infra.kernel.frames import Hello
from infra.kernel.roles import ACCESSPOINT
from infra.runtime.context import Context
from infra.runtime.tokens import Identity
from tests.support.bare_core import OPTIONS

from .timeline import RoleLoop


class BarePoint:
    """An access point of a site, which `loop` runs. Whoever connects is who they say that they are."""

    role = ACCESSPOINT

    def __init__(self, site: str, node: str, aggregators: Sequence[str], context: Context, loop: RoleLoop) -> None:
        self.site, self.node = site, node
        self._now, self._wall, self._loop = context.now, context.wall, loop
        options = replace(OPTIONS, site=site, node=node, aggregators=list(aggregators))
        self.core = AccessPointCore(options, lambda token, _: Identity(token, 1e12), context.rng, loop.call_soon)
        self.upstream = Upstream(options, self.core, context)
        self.upstream.start()
        loop.call_later(TICK_S, self._sweep)

    def ready(self) -> str | None:
        """Returns why clients are not served by an aggregator now; None when they are."""
        source = self.upstream.source
        is_whole = source.link is not None and source._move is None and not self.core.recoveries.own.is_open
        return None if is_whole else "no aggregator"

    def admit(self, hello: Hello) -> None:
        """See `Upstream`."""
        self.upstream.admit(hello)

    def tick(self, now_s: float) -> None:
        """See `Upstream`."""
        self.upstream.tick(now_s)
        self._flush()

    def _sweep(self) -> None:
        self.core.tick(self._now(), self._wall())
        self._flush()
        self._loop.owner.node.flush()
        self._loop.call_later(TICK_S, self._sweep)

    def say(self, session: Session, message: bytes) -> None:
        """Takes a message of a client."""
        self.core.receive(session, message, self._now(), self._wall())
        self._flush()

    def leave(self, session: Session) -> None:
        """Takes the end of a client's connection."""
        self.core.leave(session, "lost")
        self._flush()

    def _flush(self) -> None:
        self.core.subscriptions.advance(self._now())
        self.upstream._flush()
