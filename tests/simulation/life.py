"""A simulated life: operations are played on a world, and what must hold is looked at all the time."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from hashlib import sha256

from infra.kernel.roles import ACCESSPOINT

from .absences import UserAbsences
from .agreement import WorldAgreement
from .arrivals import EventArrivals
from .births import hashed_by_birth
from .connections import UserConnections
from .course import LifeCourse, StoryLine
from .deaths import NodeDeaths
from .error_watch import ErrorWatch
from .events import feed
from .knobs import turned
from .link_faults import LinkFaults
from .node_faults import NodeFaults
from .operations import PLAYLISTS, Operation
from .operators import SiteOperators
from .oracle import SimulationOracle, Violated
from .plans import RingPlans
from .returns import ARRIVES_S
from .services import SimulatedServices
from .subscriptions import UserSubscriptions
from .world import SimulatedWorld

_Act = Callable[..., Awaitable[None]]


class SimulatedLife:
    """A life of one world: whoever acts in it, and what happens to them. `acts`: what each operation does."""

    def __init__(self, seed: int, *, is_varied: bool = False, **shape: int) -> None:
        self.world = SimulatedWorld(seed, is_varied=is_varied, **shape)
        self._course = course = LifeCourse(self.world)
        self._arrivals = EventArrivals(course)
        self._connections = UserConnections(course)
        self._subscriptions = UserSubscriptions(course, self._connections)
        self._absences = UserAbsences(course, self._connections, self._subscriptions, self._arrivals)
        self._operators = SiteOperators(course)
        self._plans = RingPlans(course, self._absences)
        deaths = NodeDeaths(course)
        self._services = SimulatedServices(course, deaths, self._arrivals)
        self._node_faults = NodeFaults(course, deaths, self._operators)
        self._link_faults = LinkFaults(course)
        self._agreement = WorldAgreement(course)
        self.acts = self._what_happens()

    def _what_happens(self) -> dict[str, _Act]:
        """Returns what each operation does, by its name."""
        return {
            "connect": self._connections.connect,
            "disconnect": self._connections.disconnect,
            "subscribe": self._subscriptions.subscribe,
            "unsubscribe": self._subscriptions.unsubscribe,
            "swap": self._subscriptions.swap,
            "point": self._absences.point,
            "go_away": self._absences.go_away,
            "recover": self._absences.recover,
            "flicker": self._absences.flicker,
            "publish": self._services.publish,
            "busy": self._services.busy,
            "repeat": self._services.repeat,
            "kill": self._node_faults.kill,
            "kill_broker": self._node_faults.kill_broker,
            "power": self._node_faults.power,
            "power_broker": self._node_faults.power_broker,
            "restart": self._node_faults.restart,
            "stall": self._node_faults.stall,
            "clock": self._node_faults.clock,
            "leave": self._operators.leave,
            "start": self._operators.start,
            "plan": self._plans.plan,
            "replan": self._plans.replan,
            "cut": self._link_faults.cut,
            "cut_one_way": self._link_faults.cut_one_way,
            "heal": self._link_faults.heal,
            "snap": self._link_faults.snap,
            "slow": self._link_faults.slow,
            "settle": self._settle,
        }

    @property
    def oracle(self) -> SimulationOracle:
        """What looks at everything that clients get."""
        return self._course.oracle

    @property
    def story(self) -> list[StoryLine]:
        """Everything that happened."""
        return self._course.story

    @property
    def digest(self) -> str:
        """The story as one number: two runs of one seed have the same."""
        return sha256("\n".join(map(str, self.story)).encode()).hexdigest()

    def play(self, operations: list[Operation]) -> None:
        """Plays `operations`, and lets all be well in the end. Raises Violated."""
        try:
            with hashed_by_birth(), turned(self.world.knobs), ErrorWatch(self._course.violate):
                self.world.loop.run_until_complete(self._live(operations))
        finally:
            self.world.close()

    async def _live(self, operations: list[Operation]) -> None:
        for name in self.world.options:
            await self.world.start(name)
        await self._settle()
        for operation in operations:
            await asyncio.sleep(operation.after_s)
            self._course.tell("life", str(operation))
            await self.acts[operation.what](*operation.picks)
            self._course.check()
            self._check_links()
            self._check_room()
        await self._settle()

    def _check_links(self) -> None:
        """Raises Violated where one node has accepted two links under one name (docs/failure.md: a second process under the same name)."""
        for name, role in self.world.roles.items():
            links = (role.upstream if role.role == ACCESSPOINT else role).links.links
            peers = [link.peer for link in links if link.dialled is None]
            if len({(peer.role, peer.site, peer.node) for peer in peers}) < len(peers):
                names = Counter(f"{peer.role} {peer.site}/{peer.node}" for peer in peers)
                twins = [peer for peer, number in names.items() if number > 1]
                raise Violated(f"{name} has two links of {twins}")

    def _check_room(self) -> None:
        """Raises Violated where a broker keeps more than it may."""
        for broker in self.world.of("broker"):
            if exceeded := self.world.room.exceeded(broker.core.window, broker.copies.used_bytes):
                raise Violated(f"{broker.site}/{broker.node}: {exceeded}, and may take {self.world.room.window_bytes}")

    async def _settle(self, *_: int) -> None:
        """Ends all faults, waits until everybody agrees, lets clients come back, and looks whether everything arrives (DPS-31)."""
        self.world.internet.heal()
        await self._course.finish()
        if self._course.faults:
            self._course.wrong_s = self.world.loop.now_s
        for name in list(self.world.down):
            await self._operators.begin(name)
        await self._agreement.wait()
        await self._arrivals.check_owed()
        self._course.all_is_well()
        self._services.forget()  # owners may have died since, who knew its ids
        await self._come_back()
        await self._agreement.wait(0.0, ARRIVES_S)
        self.oracle.looked_at["interest"] += 1
        self._arrivals.begin_anew()
        await self._reach_everybody()
        self._course.check()

    async def _reach_everybody(self) -> None:
        """Publishes at every site on all that anybody follows. Raises Violated where it does not come."""
        for site in self.world.sites:
            for of_service in (PLAYLISTS.issuperset, PLAYLISTS.isdisjoint):
                wanted = [each for each in self._course.wanted() if of_service({each})]
                events = [{"topic": feed(each), "kind": "play", "payload": {"n": self.oracle.published(each, site)}} for each in wanted]
                if events:
                    await self._services.send(self.world.of("broker", site)[0], events)

    async def _come_back(self) -> None:
        for name, follower in list(self._course.followers.items()):
            follower.installed.clear()
            if follower.is_there and self.world.processes.get(follower.point) is follower.process:
                await self._subscriptions.follow(follower, set(follower.wants))
                continue
            site = follower.point.partition("/")[0]
            if follower.client is not None:
                follower.client.end(kill=True)
            back = await self._connections.come(name, self.world.of("accesspoint", site)[0])
            if back is None:
                raise Violated(f"nothing is wrong, and {name} cannot connect")
            back.recovers = follower.recovers
            await self._subscriptions.follow(back, set(follower.wants))
        for where, name in enumerate(list(self._course.away), 1):
            await self._absences.come_back(name, where, said=2)
            if name in self._course.away:
                raise Violated(f"nothing is wrong, and {name} cannot come back")
