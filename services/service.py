"""The shell that every publisher service shares: links in and out, the HTTP door, follow and unfollow, and their order.

A role holds one, and starts it, with what it answers, when its own store is open and its own tasks run.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any as Anything
from typing import Final, Protocol

from broker.client import SiteClient
from infra.kernel.errors import Refused
from infra.kernel.frames import Any as AnyFrame
from infra.kernel.frames import Call, Heartbeat, Hello, Reply, View
from infra.kernel.topics import Kind
from infra.runtime.callers import Answerer, Callers
from infra.runtime.link import Link
from infra.runtime.node import Node
from infra.runtime.tokens import Identity, Service
from infra.runtime.web import Route, Web
from infra.runtime.wire import Network

from .follows import Follows, read_topics
from .options import ServiceOptions
from .peers import Peers

# Who may call a publisher service over a link.
CALLERS: Final = frozenset({"accesspoint", "presence", "playlist", "social", "artist", "notification"})


class Tokens(Protocol):
    """Who is at the HTTP door; `Verifier` has it. Both raise Refused."""

    def client(self, token: str, now_s: float) -> Identity:
        """The user who shows `token`."""

    def service(self, token: str, now_s: float) -> Service:
        """The service that shows `token`."""


class ServiceNode:
    """Links and door of one service of one role. `brokers` (slot -> address): for a service that publishes through the engine.
    `peers` (role -> addresses): services that this one calls."""

    def __init__(
        self,
        role: str,
        options: ServiceOptions,
        network: Network,
        tokens: Tokens,
        *,
        log: Anything,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
        brokers: Mapping[str, str] = {},
        peers: Mapping[str, Sequence[str]] = {},
    ) -> None:
        self.role, self.site, self.node = role, options.site, options.node
        self.address, self.door = options.listen, options.door
        self._options, self._tokens, self._log, self._wall = options, tokens, log, wall
        self.links = Node((role, self.node, self.site), network, self, timing=options.link, rng=rng, log=log, wall=wall)
        self.brokers = SiteClient(self.links, self.site, brokers)
        self._publishes = bool(brokers)
        self.peers = Peers(self.links, self.site, peers)
        self._callers = Callers({}, log)
        self._web: Web | None = None

    async def start(self, routes: Sequence[Route], answers: Mapping[str, Answerer]) -> None:
        """Dial brokers and peers, open the HTTP door with `routes`, then listen for calls, which `answers` (by op) answer.

        Raises OSError if an address is taken.
        """
        options, tokens = self._options, self._tokens
        self._callers = Callers(answers, self._log)
        self._web = Web(
            routes,
            verify_user=tokens.client,
            verify_service=tokens.service,
            wall=self._wall,
            max_body_bytes=options.max_body_bytes,
            log=self._log,
        )
        self.brokers.start()
        self.peers.start()
        self.door = await self._web.start(options.door)
        self.address = await self.links.listen(options.listen)

    def drain(self) -> None:
        """Take nothing new over HTTP."""
        if self._web is not None:
            self._web.drain()

    async def close(self) -> None:
        """Close the door and the links; calls that are open are given up. May be called twice."""
        self.drain()
        if self._web is not None:
            await self._web.close()
        await self.links.close()
        await self._callers.close()

    def ready(self) -> str | None:
        """Why not everything can be done now; None when it can."""
        if self._web is None:
            return "it is starting"
        if self._publishes:
            if not self.brokers.view.slots:
                return "no broker has told the site's view yet"
            if missing := [slot for slot in self.brokers.view.slots if slot not in self.brokers.links]:
                return f"no link to {', '.join(missing)}"
        missing = self.peers.missing()
        return f"no link to any service of {', '.join(missing)}" if missing else None

    def counters(self) -> dict[str, Anything]:
        """Figures for `metrics.service_metrics(role)`."""
        return {
            f"{self.role}_links": len(self.links.links),
            f"{self.role}_http_requests_total": self._web.requests if self._web is not None else 0,
            f"{self.role}_calls_total": dict(self._callers.answered),
            f"{self.role}_calls_refused_total": self._callers.refused,
        }

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The newest view of the site."""
        return self.brokers.view

    def admit(self, hello: Hello) -> None:
        """Access points, of any site: one service may serve several; and services of this site."""
        if hello.role not in CALLERS or (hello.role != "accesspoint" and hello.site != self.site):
            raise Refused("wrong-peer", f"{self.role} of {self.site} does not serve a {hello.role} of {hello.site}")

    def link_up(self, link: Link) -> None:
        """A broker or a peer answered, or somebody called."""
        if self.brokers.concerns(link):
            self.brokers.link_up(link)
        elif self.peers.concerns(link):
            self.peers.link_up(link)

    def link_down(self, link: Link, reason: str) -> None:
        """A node is gone."""
        if self.brokers.concerns(link):
            self.brokers.link_down(link)
        elif self.peers.concerns(link):
            self.peers.link_down(link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Acknowledgements from brokers, replies of peers, calls from everybody else."""
        if self.brokers.concerns(link):
            self.brokers.frames(link, frames)
            return
        for frame in frames:
            match frame:
                case Call() if link.dialled is None:
                    self._callers.take(link, frame)
                case Reply() if link.dialled is not None:
                    self.peers.reply(frame)
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from a {link.peer.role} makes no sense here")

    def tick(self, now: float) -> None:
        """Nothing to decide on time here."""


def follow_answers(follows: Follows, kinds: frozenset[Kind]) -> dict[str, Answerer]:
    """Answers to `follow` and `unfollow`, which access points relay from clients' subscriptions (SB-12)."""

    async def follow(call: Call) -> bytes:
        await follows.add(call.user, read_topics(call.body, kinds))
        return b""

    async def unfollow(call: Call) -> bytes:
        await follows.remove(call.user, read_topics(call.body, kinds))
        return b""

    return {"follow": follow, "unfollow": unfollow}
