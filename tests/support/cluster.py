"""Whole clusters in one process, with faults: sites x roles on the memory link or on real TCP.

`async with Cluster(sites=3, brokers=3) as c:` is ready when the block begins. Leaving checks the invariants of every
core and that no task was left behind.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import aiohttp
import msgspec

from accesspoint.authorization.arbiter import Policy
from accesspoint.options import AccessPointOptions
from accesspoint.server import AccessPoint
from broker.options import BrokerOptions
from broker.server import Broker
from infra.kernel.frames import Deliver, Frame
from infra.kernel.link_timing import LinkTiming
from infra.kernel.membership import Timing
from infra.kernel.topics import user_topic
from infra.runtime.audit import AuditOptions
from infra.runtime.door_opener import DoorOpener
from infra.runtime.ending import end_all
from infra.runtime.node import Node
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.tokens import AuthOptions, Keys, Verifier, issue
from infra.runtime.wire.memory import MemoryNetwork
from infra.runtime.wire.wire import Network
from notification.options import NotificationOptions
from notification.server import NotificationModule
from segue.cluster.factory import RoleFactory
from segue.cluster.role_spec import RoleOptions
from segue.cluster.roles import in_start_order
from segue.cluster.shape import SITES, Shape

from . import interest_oracle
from .eventually import eventually
from .network import FaultPlan, NamedTcpNetwork
from .samples import service_token
from .user import User

SECRET = b"a secret of thirty-two bytes, ok"
DEADLINE_S = 30.0
FAST = LinkTiming(heartbeat_s=0.02, silent_s=0.2, hello_s=2.0, redial_base_s=0.005, redial_cap_s=0.05)
F = TypeVar("F", bound=Frame)
# On a busy machine a node may not get to renew a short lease, and then answers 503 as it should. Tests in which nodes die choose
# a short one, and repeat what is refused, as services do.
CALM_LEASE_S = 300.0
# So long may an installation take before a client is told `partial`: on a busy machine it may take longer than clients would like to wait.
# Tests in which a site is missing are `impatient`.
CALM_INSTALL_S = 30.0
QUICK = Timing(suspect_s=0.06, dead_s=0.2, grace_s=0.1)


def unrecorded(options: RoleOptions) -> RoleOptions:
    """Returns the options of a role without windows: nothing is kept of topics that nobody follows."""
    return msgspec.structs.replace(options, window={}) if isinstance(options, BrokerOptions) else options


def lenient(options: Any) -> Any:
    """Returns the options of a role that gives nobody up who says nothing for a moment, however busy the machine is."""
    changed = msgspec.structs.replace(options, link=msgspec.structs.replace(FAST, heartbeat_s=0.25, silent_s=10.0))
    if isinstance(options, BrokerOptions):
        # Nor does one that is started claim the ring for itself, since it has not been linked to others yet.
        changed = msgspec.structs.replace(changed, membership=Timing(suspect_s=5.0, dead_s=10.0, grace_s=1.0))
    return changed


def unrushed(options: Any) -> Any:
    """Returns options with which a broker that leaves takes every step, however busy the machine is: it has half of its time for them."""
    return msgspec.structs.replace(options, drain_s=120.0) if isinstance(options, BrokerOptions) else options


def steady(options: Any) -> Any:
    """Returns the options of a role for tests of what is planned, which must go as planned however busy the machine is."""
    return unrushed(lenient(options))


class Cluster:
    """All roles of some sites. Nodes are named "site/node", such as "sto/b1".

    - `sites`, `brokers`, `aggregators`, `accesspoints`: how many sites there are, and how many of each role at each.
    - `tcp`: links are real TCP; without it they are in memory.
    - `elsewhere`: the addresses of nodes that run outside of this process, by name. It goes with `tcp`.
    - `seed`: of the randomness of all roles.
    - `state`: where what is stored is kept. Without it there are no `notifications` and no `services`.
    - `notifications`: how many notification modules there are.
    - `services`: which services the first site has.
    - `policy`: who may see what; everybody everything, unless a test is about that.
    - `change`: changes the options of a role.
    - `audit`: the file where all nodes write down what operators change.
    - `outgoing`: where its roles may call over HTTP.
    - `opener`: opens the doors. With a certificate, clients speak TLS, and believe this certificate.
    """

    def __init__(
        self,
        sites: int = 3,
        brokers: int = 1,
        aggregators: int = 1,
        accesspoints: int = 1,
        *,
        tcp: bool = False,
        elsewhere: Mapping[str, str] = {},
        seed: int = 1,
        state: Path | None = None,
        notifications: int = 1,
        services: tuple[str, ...] = (),
        policy: Policy = "open",
        change: Callable[[RoleOptions], RoleOptions] = lambda options: options,
        audit: Path | None = None,
        opener: DoorOpener | None = None,
        outgoing: OutgoingOptions | None = None,
    ) -> None:
        shape = Shape(
            sites=SITES[:sites],
            brokers=brokers,
            aggregators=aggregators,
            accesspoints=accesspoints,
            notification=notifications if state else 0,
            services=services,
            policy=policy,
            state=state or Path(),
            link=FAST,
            membership=QUICK,
        )
        self.options: dict[str, Any] = {name_of(each): change(_calm(each)) for each in shape.options()}
        self.sites = shape.sites
        self.roles: dict[str, Any] = {}
        self.down: set[str] = set()
        self.rng = random.Random(seed)
        self.plan = FaultPlan(NamedTcpNetwork(elsewhere) if tcp else MemoryNetwork())
        self._verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
        self._doors: dict[str, str] = {}
        self.opener = opener or DoorOpener()
        self.tls = self.opener.tls.own_context() if self.opener.tls is not None else None
        self._audit, self._outgoing = AuditOptions(path=audit), outgoing

    async def __aenter__(self) -> Self:
        self._tasks = asyncio.all_tasks()
        self.http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=self.tls or True))
        try:
            for options in in_start_order(self.options.values()):
                await self.start(name_of(options))
            await self.settle()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, kind: object, *exc: object) -> None:
        try:
            if kind is None:
                self.check()
        finally:
            await self._close()
        left = {task for task in asyncio.all_tasks() - self._tasks if task is not asyncio.current_task() and not task.done()}
        if left:
            await asyncio.wait(left, timeout=DEADLINE_S)
        if kind is None:
            leaked = [task for task in left if not task.done()]
            assert not leaked, f"tasks left behind: {leaked}"

    async def _close(self) -> None:
        """Closes everything that is open, whatever of it fails to close."""
        roles, self.roles = list(self.roles.values()), {}
        await end_all(self.http.close, *(role.close for role in roles))

    async def start(self, name: str) -> None:
        """Starts a node, for the first time or after `crash`."""
        rng = random.Random(self.rng.getrandbits(64))
        shared: dict[str, Any] = {"doors": self._doors, "audit": self._audit, "opener": self.opener, "outgoing": self._outgoing}
        factory = RoleFactory(self.network(name), self._verifier, rng, token=service_token, **shared)
        role = factory.make(self.options[name])
        self.roles[name] = role
        self.down.discard(name)
        await role.start()
        factory.started(role)

    restart = start

    @property
    def addresses(self) -> Mapping[str, str]:
        """The address of each node that takes links, on TCP."""
        assert isinstance(self.plan.inner, NamedTcpNetwork)
        return self.plan.inner.book

    def network(self, name: str) -> Network:
        """Returns the network as the node `name` sees it."""
        return self.plan.of(name)

    async def crash(self, name: str) -> None:
        """Kills a node: its wires break without a goodbye, its memory is gone."""
        role = self.roles.pop(name)
        self.down.add(name)
        self.plan.abort(name)
        if isinstance(role, NotificationModule) and role.stored is not None:
            await role.stored.store.close()  # nothing more is kept, and others are told nothing
        if isinstance(role, AccessPoint):
            for session in list(role.core.sessions):
                session.abort()  # type: ignore[attr-defined]
        await role.close()

    async def leave(self, name: str) -> None:
        """Stops a node gracefully: it drains, then it is closed."""
        await self.roles[name].drain()
        self.down.add(name)
        await self.roles.pop(name).close()
        self.plan.wires.pop(name, None)

    def partition(self, one: str, other: str) -> None:
        """Cuts all links between two sites, or between two nodes. Nobody is told."""
        self.plan.cuts.part(one, other)

    def heal(self) -> None:
        """Lets all sites and nodes reach each other again."""
        self.plan.heal()

    def linked(self, one: str, other: str) -> bool:
        """Returns whether one of two nodes still holds a link to the other."""
        ends = ((one, other), (other, one))
        return any(f"{link.peer.site}/{link.peer.node}" == peer for name, peer in ends for link in links_of(self.roles[name]).links)

    def owner(self, user: str, site: str = "sto") -> str:
        """Returns the broker that owns the feed of `user` at a site, under the view of that site's first broker."""
        slot = self.of("broker", site)[0].ring.owner(user_topic(user))
        return f"{site}/{slot}"

    def aggregator_of(self, site: str, point: int = 0) -> str:
        """Returns the aggregator that an access point uses now."""
        return str(self.of("accesspoint", site)[point].upstream.source.address)

    def frames(self, kind: type[F], source: str = "", target: str = "") -> list[F]:
        """Returns the frames of one `kind` that have crossed links, from nodes whose names begin with `source` to those with `target`."""
        return [
            each.frame
            for each in self.plan.log
            if isinstance(each.frame, kind) and each.source.startswith(source) and each.target.startswith(target)
        ]

    def copies(self, source: str = "", target: str = "") -> int:
        """Returns how many copies of events have crossed links so far, between nodes whose names begin so."""
        return sum(len(frame.handles) for frame in self.frames(Deliver, source, target))

    async def settle(self) -> None:
        """Waits until the cluster is settled.

        Then every node knows which others are there, all brokers of a site agree on its view, and every aggregator and broker holds exactly
        the interest that follows from what clients want now. Sites that are cut off are left out.
        """
        await self.until(lambda: not self.unsettled(), lambda: f"not settled: {self.unsettled()}")

    async def presence_knows(self) -> None:
        """Waits until presence says who is online: it does not know when it has just been started."""
        await self.until(lambda: all(role.answers.is_settled() for role in self.of("presence")))

    def unsettled(self) -> list[str]:
        """Returns what is not settled yet."""
        return [*self._unready(), *self._astray(), *self._divided()] or [*self._misplaced(), *self._uninstalled()]

    def _unready(self) -> Iterator[str]:
        """Yields nodes that say themselves that they are not ready."""
        for name, role in self.roles.items():
            if (why := role.ready()) is not None:
                yield f"{name}: {why}"

    def _astray(self) -> Iterator[str]:
        """Yields links to nodes that are not there any more, or cannot be reached."""
        living = {name: links_of(role).incarnation for name, role in self.roles.items()}
        for name, role in self.roles.items():
            for link in links_of(role).links:
                peer = f"{link.peer.site}/{link.peer.node}"
                if self.plan.is_cut(name, peer) or peer in self.down or living.get(peer, link.peer.incarnation) != link.peer.incarnation:
                    yield f"{name}: still linked to {peer}"

    def _divided(self) -> Iterator[str]:
        """Brokers, aggregators and other sites that go by another view than the one of the living brokers."""
        views = {site: doors[0].view() for site in self.sites if (doors := self.of("broker", site))}
        for door in self.of("broker"):
            if door.view() != views[door.site] or door.view().slots != self._slots(door.site) or not door.view().is_there:
                yield f"{door.site}/{door.node}: view {door.view()}"
            for site, announcer in door.announcers().items():
                if site in views and not self.plan.is_cut(f"{door.site}/{door.node}", f"{site}/") and announcer.view != views[site]:
                    yield f"{door.site}/{door.node}: goes by {announcer.view} of {site}"
        for aggregator in self.of("aggregator"):
            if aggregator.view() != views.get(aggregator.site, aggregator.view()):
                yield f"{aggregator.site}/{aggregator.node}: goes by {aggregator.view()}"

    def _slots(self, site: str) -> tuple[str, ...]:
        return tuple(sorted(door.node for door in self.of("broker", site)))

    def _misplaced(self) -> Iterator[str]:
        """Yields interest that is missing somewhere, or too much."""
        brokers = self.of("broker")
        rings = {broker.site: broker.ring for broker in brokers}
        implied = interest_oracle.implied(self.of("accesspoint"), brokers, rings, self.plan.is_cut)
        held = interest_oracle.held(self.of("aggregator"), brokers)
        for name in {*implied, *held}:
            for topic, peer in implied.get(name, set()) ^ held.get(name, set()):
                yield f"{name}: {peer} and {topic!r}"

    def _uninstalled(self) -> Iterator[str]:
        """Yields access points that do not know yet what is installed."""
        for point in self.of("accesspoint"):
            announcer, mark = point.core.announcer, point.core.announcer.mark()
            for site in self.sites:
                if not self.plan.is_cut(f"{point.site}/", f"{site}/") and announcer.reached.get(site, 0) < mark:
                    yield f"{point.site}/{point.node}: {site} lags"

    async def until(self, condition: Callable[[], bool], why: Callable[[], str] = lambda: "condition not met") -> None:
        """Waits until `condition` holds. Raises AssertionError after a deadline; `why` is its message."""
        await eventually(condition, why, deadline_s=DEADLINE_S)

    def check(self) -> None:
        """Checks the invariants of every core (SB-9 among them)."""
        for point in self.of("accesspoint"):
            check_hub(point)

    def of(self, role: str, site: str | None = None) -> list[Any]:
        """Returns the running nodes of a role, at one site or at all."""
        return [each for each in self.roles.values() if each.role == role and site in (None, each.site)]

    def user(self, name: str, site: str = "sto", point: int = 0, **hello: Any) -> User:
        """Returns a client of an access point, which is a context manager. `hello` are fields of its first message."""
        return User(self.of("accesspoint", site)[point].address, self.token(name), hello, self.tls)

    def url(self, role: Any, path: str) -> str:
        """Returns the URL of `path` at the HTTP door of a role."""
        return f"{self.opener.scheme('http')}://{role.address}{path}"

    def token(self, user: str) -> str:
        """Returns a client's token."""
        return issue(SECRET, user=user, ttl_s=3600, now_s=time.time())

    async def post(self, body: Any, *, site: str = "sto", broker: int = 0, service: str = "presence", **kwargs: Any) -> tuple[int, Any]:
        """Sends POST with `body` to a `broker` of a `site`, as `service`; returns status and JSON."""
        door: Broker = self.of("broker", site)[broker]
        headers = {"Authorization": f"Bearer {service_token(service)}"}
        headers |= kwargs.pop("headers", {})
        payload = {"data": body} if isinstance(body, bytes) else {"json": body}
        if isinstance(body, bytes):
            headers.setdefault("Content-Type", "application/json")
        async with self.http.post(self.url(door, "/v1/events"), headers=headers, **payload, **kwargs) as answer:
            return answer.status, await answer.json()

    async def operate(
        self, method: str, path: str, body: Any = None, *, site: str = "sto", broker: int = 0, service: str = "operator"
    ) -> tuple[int, Any]:
        """Sends a request to the API for operators of a `broker` of a `site`, as `service`. Returns status and JSON."""
        door: Broker = self.of("broker", site)[broker]
        headers = {"Authorization": f"Bearer {service_token(service)}"}
        async with self.http.request(method, self.url(door, path), headers=headers, json=body) as answer:
            return answer.status, await answer.json()

    async def notify(
        self, body: Any, *, service: str = "artist", path: str = "/v1/notifications", node: int = 0, **kwargs: Any
    ) -> tuple[int, Any]:
        """Posts `body` to the door of a notification module, as `service`. Returns status and JSON."""
        door = self.of("notification")[node]
        headers = {"Authorization": f"Bearer {service_token(service)}"}
        headers |= kwargs.pop("headers", {})
        payload = {"data": body} if isinstance(body, bytes) else {"json": body}
        async with self.http.post(self.url(door, path), headers=headers, **payload, **kwargs) as answer:
            return answer.status, await answer.json()

    async def request(self, user: str, method: str, role: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Sends a request of `user` to the HTTP door of the first node of `role`. Returns status and JSON, None if there is none."""
        url = self.url(self.of(role)[0], path)
        async with self.http.request(method, url, json=body, headers={"Authorization": f"Bearer {self.token(user)}"}) as answer:
            text = await answer.text()
            return answer.status, json.loads(text) if text else None

    async def play(self, user: str, *, site: str = "sto", broker: int = 0, **payload: Any) -> None:
        """Publishes a play of `user` at a broker."""
        event = {"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": payload}
        status, answer = await self.post(event, site=site, broker=broker)
        assert (status, answer["accepted"]) == (202, 1), answer


def _calm(options: RoleOptions) -> RoleOptions:
    if isinstance(options, NotificationOptions):
        return msgspec.structs.replace(options, lease_s=CALM_LEASE_S)
    return impatient(options, CALM_INSTALL_S)


def impatient(options: RoleOptions, install_s: float = 0.6) -> RoleOptions:
    """Changes `options`: a client that waits for an installation is answered `partial` after `install_s`."""
    return msgspec.structs.replace(options, install_s=install_s) if isinstance(options, AccessPointOptions) else options


def links_of(role: Any) -> Node:
    """Returns the links of any role."""
    node: Node = (role.upstream if isinstance(role, AccessPoint) else role).links
    return node


def name_of(options: RoleOptions) -> str:
    return f"{options.site}/{options.node}"


def check_hub(point: AccessPoint) -> None:
    """Checks that the two maps of an access point are exact inverses, and that only what is wanted is announced."""
    hub = point.core.hub
    by_topic = {(session, topic) for topic, row in hub.topics.items() for session in row}
    by_session = {(session, topic) for session in point.core.sessions for topic in hub.held(session)}
    assert by_topic == by_session
    assert len(by_topic) == hub.subscriptions
