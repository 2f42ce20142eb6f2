"""A simulated cluster: brokers, aggregators and access points of some sites, as processes that can be killed, stalled and cut off."""

import random
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import msgspec

from broker.options import BrokerOptions
from infra.runtime.tokens import AuthOptions, Keys, Verifier, issue
from segue.cluster.factory import RoleFactory
from segue.cluster.role_spec import RoleOptions
from segue.cluster.roles import in_start_order
from segue.cluster.shape import SITES, Shape

from .client import SimulatedClient, SimulatedPublisher
from .loop import BORN_S, SimulatedLoop
from .network import SimulatedInternet, SimulatedNetwork, SimulatedOpener
from .process import SimulatedProcess
from .room import ENOUGH, drawn_room

SECRET = b"a secret of thirty-two bytes, ok"


# Short, so that in a short life topics are also recorded no more, and events are too old. In some lives it is longer.
WINDOW_S = 4.0
WINDOWS_S: Final = (1, 1, 5)
# So many of all lives have copies of what is recorded (DPS-18).
COPIED_SHARE = 0.4


# In how many steps brokers come and go, if that varies.
JOIN_STEPS: Final = (1, 3, 8)
# So long a turn takes at most, where machines are slow.
SLOW_TURN_S: Final = 1e-3
SLOW_SHARE: Final = 0.3


def _hurried(options: RoleOptions, *, copies: int, window_s: float, steps: int | None) -> RoleOptions:
    if not isinstance(options, BrokerOptions):
        return options
    window = {kind: msgspec.structs.replace(bounds, seconds=window_s, copies=copies) for kind, bounds in options.window.items()}
    return msgspec.structs.replace(options, window=window, join_steps=options.join_steps if steps is None else steps)


@cache
def _token(*, user: str | None = None, service: str | None = None) -> str:
    """Returns the token of a user or of a service, which is the same in every life."""
    return issue(SECRET, user=user, service=service, ttl_s=86_400, now_s=BORN_S - 43_200, token_id=user or "service")


def _unlinked(broker: Any) -> str:
    """Returns to whom a broker has no link, of those to which it must forward events; empty if to nobody."""
    missing = {*broker.view().slots} - {broker.node, *broker.mesh.client.links}
    return f"no link to {', '.join(sorted(missing))}" if missing else ""


class SimulatedWorld:
    """Some sites in virtual time. Nodes are named "site/node", such as "sto/b1".

    - `seed`: everything random follows from it. Each purpose has a stream of its own, so that one more draw changes nothing else.
    - `sites`, `brokers`, `aggregators`, `accesspoints`: how many there are, and at each site.
    - `copies`: with 1, heirs have events before anybody gets them (`has_copies`); by default that follows from the seed, too.
    - `is_varied`: whether that follows from the seed, too: how long windows are, in how many steps brokers come and go, how fast machines
      are, and how much is done in a turn (`knobs`). Else it is the same in all worlds.
    - `roles`: those that run, by name. `down`: those that do not.
    """

    def __init__(
        self,
        seed: int,
        *,
        sites: int = 2,
        brokers: int = 2,
        aggregators: int = 2,
        accesspoints: int = 2,
        copies: int | None = None,
        is_varied: bool = False,
    ) -> None:
        self.seed = seed
        self.loop = SimulatedLoop(self.stream("turns"))  # type: ignore[abstract]  # no sockets, signals, processes
        self.room = drawn_room(self.stream("room")) if is_varied else ENOUGH
        self.internet = SimulatedInternet(self.loop, self.stream("network"), self.room.buffer_bytes)
        self.has_copies = self.stream("copies").random() < COPIED_SHARE if copies is None else bool(copies)
        shape = Shape(sites=SITES[:sites], brokers=brokers, aggregators=aggregators, accesspoints=accesspoints, presence=0, policy="open")
        self.window_s = WINDOW_S * (self.stream("window").choice(WINDOWS_S) if is_varied else 1)
        steps = self.stream("steps").choice(JOIN_STEPS) if is_varied else None
        self.knobs = self.stream("knobs") if is_varied else None
        if is_varied and self.stream("turn length").random() < SLOW_SHARE:
            self.loop.turn_s = self.loop.turn_s[0], SLOW_TURN_S
        self.options: dict[str, RoleOptions] = {
            f"{each.site}/{each.node}": self.room.limited(_hurried(each, copies=int(self.has_copies), window_s=self.window_s, steps=steps))
            for each in in_start_order(list(shape.options()))
        }
        self.sites = shape.sites
        self.roles: dict[str, Any] = {}
        self.processes: dict[str, SimulatedProcess] = {}
        self.down: dict[str, None] = {}
        self._lives = 0
        self._keys = Keys(secret=SECRET)

    def stream(self, name: str) -> random.Random:
        """Returns the random numbers of one purpose."""
        return random.Random(f"{self.seed} {name}")  # a text, unlike its hash, gives the same stream in every process

    def process(self, name: str) -> SimulatedProcess:
        """Returns a new process."""
        process = SimulatedProcess(name)
        self.loop.processes.append(process)
        return process

    async def within(self, process: SimulatedProcess, work: Callable[[], Any]) -> Any:
        """Returns what `work`, a coroutine function, returns when `process` does it."""
        return await self.loop.create_task(work(), context=process.context)

    # Nodes.

    async def start(self, name: str) -> None:
        """Starts a node, for the first time or after it was stopped or killed."""
        process = self.process(name)
        self._lives += 1
        verifier = Verifier(AuthOptions(), self._keys, lambda: None)

        async def begin() -> Any:
            factory = RoleFactory(
                SimulatedNetwork(self.internet, process),
                verifier,
                self.stream(f"{name} {self._lives}"),
                wall=self.loop.wall,
                now=self.loop.time,
                opener=SimulatedOpener(self.internet, process),
            )
            role = factory.make(self.options[name])
            await role.start()
            return role

        self.processes[name] = process
        self.roles[name] = await self.within(process, begin)
        self.down.pop(name, None)

    def kill(self, name: str, *, power: bool = False) -> None:
        """Ends a node at once. Its machine resets its connections; with `power`, the machine is gone, too, and says nothing."""
        process = self.processes.pop(name)
        self.roles.pop(name)
        self.down[name] = None
        self.loop.kill(process)
        for address, (owner, _) in list(self.internet.doors.items()):
            if owner is process:
                del self.internet.doors[address]
        for transport in list(process.transports):
            if power:
                transport.sent.clear()
            else:
                transport.abort()

    async def leave(self, name: str) -> None:
        """Stops a node as an operator does: it drains, then it is closed."""
        process, role = self.processes[name], self.roles[name]
        self.roles.pop(name)
        await self.within(process, role.drain)
        await self.within(process, role.close)
        self.processes.pop(name)
        self.down[name] = None
        self.loop.kill(process)

    def of(self, role: str, site: str | None = None) -> list[Any]:
        """Returns the running nodes of a role, at one site or at all."""
        return [each for each in self.roles.values() if each.role == role and site in (None, each.site)]

    # Clients and publishers.

    async def connect(self, name: str, role: Any, told: Callable[[dict[str, Any]], None]) -> SimulatedClient:
        """Returns a new connection of the user `name` to an access point. Raises OSError."""
        process = self.process(f"{role.site}/{name}")
        hello = {"op": "hello", "token": _token(user=name), "client": "phone"}

        async def call() -> SimulatedClient:
            transport = await self.internet.connect(process, role.address)
            client = SimulatedClient(hello, told)
            transport.begin(client)
            return client

        client: SimulatedClient = await self.within(process, call)
        return client

    async def publish(self, role: Any, events: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        """Publishes events at a broker, as a service beside it. Returns status and answer. Raises OSError."""
        process = self.process(f"{role.site}/service")
        service = "playlist" if events[0]["topic"].startswith("hm://playlist/") else "presence"

        async def call() -> tuple[int, dict[str, Any]]:
            transport = await self.internet.connect(process, role.address)
            publisher = SimulatedPublisher(_token(service=service), events)
            transport.begin(publisher)
            return await publisher.answer

        try:
            answer: tuple[int, dict[str, Any]] = await self.within(process, call)
            return answer
        finally:
            self.loop.kill(process)

    def unsettled(self) -> list[str]:
        """Returns what nodes say themselves of why they are not ready."""
        why = {name: role.ready() for name, role in self.roles.items()}
        views = {site: {str(broker.view()) for broker in self.of("broker", site)} for site in self.sites}
        moving = [f"{broker.site}/{broker.node}: {broker.view()}" for broker in self.of("broker") if not broker.view().is_there]
        # A broker says no more of this once it was ready. But what it takes for another one's topic it must be able to forward.
        links = [(name, _unlinked(each)) for name, each in self.roles.items() if each.role == "broker"]
        why_not = [f"{name}: {said}" for name, said in [*why.items(), *links] if said]
        return why_not + [site for site in self.sites if len(views[site]) > 1] + moving

    def close(self) -> None:
        """Ends everything."""
        self.loop.close()
