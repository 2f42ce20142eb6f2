"""A world of roles: the sites, their processes, and what is between these."""

import random
from collections import Counter
from typing import Any, Final

from aggregator.options import AggregatorOptions
from aggregator.server import Aggregator
from broker.options import BrokerOptions
from broker.server import Broker
from broker.window_bounds import WindowBounds
from infra.kernel.roles import AGGREGATOR, BROKER
from infra.kernel.topics import Kind
from infra.runtime.context import Context

from ..network import site_of
from ..world import JOIN_STEPS
from .bare_point import BarePoint
from .frame_wire import FrameConnection
from .role_process import RoleProcess
from .timeline import Timeline

SITES: Final = ("sto", "lon")
BROKERS: Final = ("b1", "b2", "b3")
AGGREGATORS: Final = ("a1", "a2")
POINTS: Final = ("p1", "p2")
# So long a way takes, and a turn; each world has one of them. A way takes a tenth to eleven tenths of that.
WAYS_S: Final = (0.001, 0.01, 0.05)
TURNS_S: Final = (0.0002, 0.002, 0.02)
# So long events are kept.
WINDOW_S: Final = WindowBounds().seconds


class RoleWorld:
    """The processes of some sites, on one timeline. They are named "site/node", such as "sto/b1", and that is their address, too.

    - `seed`: everything random follows from it. Each purpose has a stream of its own.
    - `sites`, `copies`: how many sites there are, and how many copies of what is recorded.
    - `processes`: the last one of each name. `connections`: those that some process may still hear of.
    - `slow`: how much longer a way from one process to another one may take. `cuts`: until when two do not reach each other.
    - `story`: everything that happened.
    """

    def __init__(self, seed: int, sites: int, copies: int) -> None:
        self.seed, self.sites, self.copies = seed, SITES[:sites], copies
        self.timeline = Timeline()
        self.turn_s = self.stream("turn length").choice(TURNS_S)
        self.slow: dict[tuple[str, str], float] = {}
        self.cuts: dict[tuple[str, str], float] = {}
        self.connections: list[FrameConnection] = []
        self.processes: dict[str, RoleProcess] = {}
        self.story: list[str] = []
        self._way_s = self.stream("way length").choice(WAYS_S)
        self._steps = self.stream("steps").choice(JOIN_STEPS)
        self._network = self.stream("network")
        self._lives = Counter[str]()

    @property
    def now_s(self) -> float:
        """Seconds since the beginning."""
        return self.timeline.now_s

    def stream(self, name: str) -> random.Random:
        """Returns the random numbers of one purpose."""
        return random.Random(f"{self.seed} {name}")  # a text, unlike its hash, gives the same stream in every process

    def born_stream(self, name: str) -> random.Random:
        """Returns the random numbers of a new process."""
        self._lives[name] += 1
        return self.stream(f"{name} {self._lives[name]}")

    def chance(self) -> float:
        """Returns a random number of the network."""
        return self._network.random()

    def tell(self, who: str, what: str) -> None:
        """Writes a line of the story."""
        self.story.append(f"{self.now_s:12.6f}  {who:12}  {what}")

    # Ways.

    def delay_s(self, source: str, target: str) -> float:
        """Returns how long what is sent now takes."""
        chance = self.chance()
        return self._way_s * (0.1 + chance) + self.slow.get((source, target), 0.0) * chance

    def is_cut(self, one: str, other: str) -> bool:
        """Returns whether nothing gets from one process to another."""
        return max(self.cuts.get((one, other), 0.0), self.cuts.get((other, one), 0.0)) > self.now_s

    def is_troubled(self) -> bool:
        """Returns whether ways are cut or slow."""
        return bool(self.slow) or any(until_s > self.now_s for until_s in self.cuts.values())

    # Processes.

    def start_all(self) -> None:
        """Starts all processes of all sites."""
        for site in self.sites:
            for node in (*BROKERS, *AGGREGATORS, *POINTS):
                self.start(f"{site}/{node}")

    def start(self, name: str) -> None:
        """Starts a process, for the first time or after its end."""
        site, _, node = name.partition("/")
        make = {BROKERS: self._broker, AGGREGATORS: self._aggregator, POINTS: self._point}
        (maker,) = (each for nodes, each in make.items() if node in nodes)
        self.tell(name, "begins")
        self.processes[name] = RoleProcess(self, name, lambda context, loop: maker(site, node, context, loop))

    def _broker(self, site: str, slot: str, context: Context, _: Any) -> Broker:
        window = {Kind.PLAYLIST: WindowBounds(copies=self.copies), Kind.USER: WindowBounds(keep="latest", copies=self.copies)}  # type: ignore[arg-type]
        sites = {each: {node: f"{each}/{node}" for node in BROKERS} for each in self.sites}
        options = BrokerOptions(site=site, slot=slot, sites=sites, window=window, join_steps=self._steps)
        broker = Broker(options, context, verify=_nobody)
        for client in (broker.mesh.client, *broker.far.values()):
            client.start()
        broker.tick(broker.links.now_s)
        return broker

    def _aggregator(self, site: str, node: str, context: Context, _: Any) -> Aggregator:
        brokers = {slot: f"{site}/{slot}" for slot in BROKERS}
        aggregator = Aggregator(AggregatorOptions(site=site, node=node, brokers=brokers), context)
        aggregator._brokers.start()
        return aggregator

    def _point(self, site: str, node: str, context: Context, loop: Any) -> BarePoint:
        return BarePoint(site, node, [f"{site}/{each}" for each in AGGREGATORS], context, loop)

    def end(self, name: str, *, silently: bool = False, is_planned: bool = False) -> None:
        """Ends a process at once; where that `is_planned`, when it has said what it had to say. Some machines die `silently`, too."""
        process = self.processes[name]
        self.tell(name, "closes" if is_planned else f"is killed{' silently' * silently}")
        if is_planned:
            process.does(process.node.standing.part_from_all, "closed here")
        process.loop.is_dead = True
        for connection in self.connections:
            for side, each in enumerate(connection.processes):
                if each is process and is_planned:
                    connection.closed(side)
                elif each is process:
                    connection.died(side, silently=silently)
        self.connections = [each for each in self.connections if not all(process.is_dead for process in each.processes)]

    def of(self, role: str, site: str | None = None) -> list[RoleProcess]:
        """Returns the processes of a role that live, at one site or at all."""
        return [
            each for each in self.processes.values() if not each.is_dead and each.role.role == role and site in (None, site_of(each.name))
        ]

    def open_brokers(self, site: str | None = None) -> list[RoleProcess]:
        """Returns the brokers that take events from services, of one site or of all."""
        return [each for each in self.of(BROKER, site) if not each.role.mesh.draining and each.role.ready() is None]

    # Whether all is well.

    def unsettled(self) -> str:
        """Returns why not all is well: somebody is not there, or does not agree with the others; empty when all is."""
        if dead := [name for name, each in self.processes.items() if each.is_dead]:
            return f"{dead[0]} is dead"
        for site in self.sites:
            if why := self._unsettled_at(site):
                return why
        return "ways are slow or cut" if self.is_troubled() else ""

    def _unsettled_at(self, site: str) -> str:
        brokers = [each.role for each in self.of(BROKER, site)]
        for broker in brokers:
            if why := self._unsettled_broker(broker):
                return f"{site}/{broker.node}: {why}"
        if len(views := {each.mesh.view for each in brokers}) > 1:
            return f"{site}: several views"
        (view,) = views
        for each in self.of(AGGREGATOR, site):
            brokers_known = each.role._brokers
            if (brokers_known.view, brokers_known._announced) != (view, view) or each.role.ready() or not each.role.points.losses.are_told:
                return f"{each.name} does not know of the view, or of a loss"
        return next((each.name for name in POINTS if (each := self.processes[f"{site}/{name}"]).role.ready()), "")

    def _unsettled_broker(self, broker: Broker) -> str:
        view = broker.mesh.view
        if broker.mesh.draining or broker.ready():
            return broker.ready() or "leaves"
        if len(view.slots) < len(BROKERS) or any(
            view.share_of[slot] != view.goal_of[slot] or not view.share_of[slot] for slot in view.slots
        ):
            return str(view)
        if not (broker.moves.is_over and broker.handover.over and broker.tenure.is_over and broker.parting.is_over):
            return "topics move"
        if broker.heirs is not None and broker.heirs.uncopied:
            return "heirs lack something"
        return "" if all(len(client.links) == len(BROKERS) for client in broker.far.values()) else "links to the other site"


def _nobody(token: str, wall_s: float) -> Any:
    """Lets nobody publish over HTTP, which is not there."""
    raise AssertionError("lives of roles have no HTTP door")
