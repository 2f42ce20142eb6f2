"""Presence as a process: access points call it, it publishes through the brokers of its site."""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any as Anything
from typing import Final

from broker.client import SiteClient
from infra.kernel.errors import Refused
from infra.kernel.frames import Any as AnyFrame
from infra.kernel.frames import Call, Heartbeat, Hello, Reply, View
from infra.runtime.link import Link
from infra.runtime.node import Node
from infra.runtime.wire import Network

from .core import PresenceCore
from .options import PresenceOptions

ROLE: Final = "presence"


class Presence:
    """One presence service. `start` opens its door, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: PresenceOptions,
        network: Network,
        *,
        log: Anything,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.listen
        self.refused = self.published = 0
        self._wall = wall
        self.links = Node((ROLE, self.node, self.site), network, self, timing=options.link, rng=rng, log=log, wall=wall)
        self.core = PresenceCore(f"{self.links.incarnation:x}", options.max_payload_bytes, options.max_users)
        self._brokers = SiteClient(self.links, self.site, options.brokers)

    async def start(self) -> None:
        """Dial the brokers, then listen for access points. Raises OSError if the address is taken."""
        self._brokers.start()
        self.address = await self.links.listen(self.options.listen)

    async def close(self) -> None:
        """Close all links."""
        await self.links.close()

    def ready(self) -> str | None:
        """Why nothing can be published now; None when it can."""
        if not self._brokers.view.slots:
            return "no broker has told the site's view yet"
        missing = [slot for slot in self._brokers.view.slots if slot not in self._brokers.links]
        return f"no link to {', '.join(missing)}" if missing else None

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The newest view of the site."""
        return self._brokers.view

    def admit(self, hello: Hello) -> None:
        """Access points of this site only."""
        if (hello.role, hello.site) != ("accesspoint", self.site):
            raise Refused("wrong-peer", f"presence of {self.site} serves its access points, not a {hello.role} of {hello.site}")

    def link_up(self, link: Link) -> None:
        """A broker answered, or an access point called."""
        if self._brokers.concerns(link):
            self._brokers.link_up(link)

    def link_down(self, link: Link, reason: str) -> None:
        """A peer is gone."""
        if self._brokers.concerns(link):
            self._brokers.link_down(link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Calls from access points, acknowledgements from brokers."""
        if self._brokers.concerns(link):
            self._brokers.frames(link, frames)
            return
        for frame in frames:
            match frame:
                case Call():
                    self._act(link, frame)
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from an access point makes no sense here")

    def _act(self, link: Link, call: Call) -> None:
        try:
            if call.op != "act":
                raise Refused("unknown-op", f"presence answers act, not {call.op}")
            event = self.core.act(call.user, call.body, int(self._wall() * 1000))
        except Refused as refused:
            self.refused += 1
            link.send(Reply(call.n, refused.code.name, refused.reason, b""))
            return
        self._brokers.publish(event, partial(self._done, link, call.n))

    def _done(self, link: Link, n: int, ok: bool) -> None:
        """The owner has the event, or nobody knows: the user's own last event is kept either way."""
        self.published += ok
        reason = "" if ok else "no broker took the event; friends may not see it"
        link.send(Reply(n, "" if ok else "unavailable", reason, b""))

    def tick(self, now: float) -> None:
        """Nothing to decide on time here."""

    def counters(self) -> dict[str, Anything]:
        """Figures for `metrics.METRICS`."""
        return {
            "presence_users": len(self.core.last),
            "presence_actions_total": dict(self.core.actions),
            "presence_refused_total": self.refused,
            "presence_published_total": self.published,
            "presence_links": len(self.links.links),
        }
