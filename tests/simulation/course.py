"""What all parts of a simulated life share: who is there, what has happened, and what is under way."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from typing import Any, Final, NamedTuple

from broker.options import BrokerOptions

from .operations import TOPICS, USERS
from .oracle import Follower, SimulationOracle, Violated
from .world import SimulatedWorld

# When faults end, everybody agrees within this time (DPS-31).
SETTLES_S: Final = 10.0
# So many of those that were asked to stop are remembered, the last ones.
LEAVERS: Final = 8


class StoryLine(NamedTuple):
    """Something that happened: when, to whom, and what."""

    now_s: float
    who: str
    what: str

    def __str__(self) -> str:
        return f"{self.now_s:12.6f}  {self.who:12}  {self.what}"


class LifeCourse:
    """The course of a life, which all parts of it share: the world, who is there, what has happened, and what is under way.

    A life is calm while there are no `faults`. What is promised to those who are calm is stricter.

    - `followers`: the last connection of each user. `away`: users whose connection has ended, and who will ask for what they miss.
    - `story`: everything that happened.
    - `faults`: how many things went wrong since all was well; `ever_wrong`: at all. `wrong_s`: when something did for the last time.
    - `changes`: how often each node came or left, or was asked for another plan. `started_s`: when each was started for the last time.
    - `leaving`: nodes that were asked to stop, and have not. `leavers`: the last ones that were asked, which close connections that have
      asked for nothing yet.
    - `again`: events that were published again since all was well.
    - `apart_s`: when brokers of one site could serve the same topics apart for the last time.
    """

    def __init__(self, world: SimulatedWorld) -> None:
        self.world, self.oracle = world, SimulationOracle()
        # Where something may be missing all the same, the event that says what an epoch goes on from may be among it.
        self.oracle.is_calm = not world.room.gaps
        self.followers: dict[str, Follower] = {}
        self.away: dict[str, Follower] = {}
        self.story: list[StoryLine] = []
        self.faults = self.ever_wrong = 0
        # Nothing has gone wrong in the time before all were there.
        self.wrong_s = -SETTLES_S
        self.changes: Counter[str] = Counter()
        self.started_s: dict[str, float] = {}
        self.leaving: set[str] = set()
        self.leavers: deque[Any] = deque(maxlen=LEAVERS)
        self.again: set[int] = set()
        self.apart_s = -inf
        self._under_way: list[asyncio.Task[None]] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._violated: Violated | None = None

    def tell(self, who: str, what: str) -> None:
        """Writes a line of the story."""
        self.story.append(StoryLine(self.world.loop.now_s, who, what))

    def check(self) -> None:
        """Raises Violated where the life is violated by now."""
        if self._violated is not None:
            raise self._violated
        if self.world.loop.failures:
            raise Violated(f"nobody caught this: {self.world.loop.failures[0]}")

    def violate(self, why: str) -> None:
        """Ends the life with a violation, as soon as its turn comes."""
        self._violated = self._violated or Violated(why)

    def meanwhile(self, work: Callable[[], Awaitable[None]]) -> None:
        """Has something happen while the life goes on."""
        self._under_way.append(asyncio.create_task(self._guarded(work)))

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Violated as violated:
            self.violate(str(violated))

    async def finish(self) -> None:
        """Waits until nothing is under way any more. Raises Violated."""
        while self._under_way:  # what is on its way may begin something new
            under_way, self._under_way = self._under_way, []
            await asyncio.wait(under_way)
            self.check()

    async def until(self, condition: Callable[[], bool], limit_s: float) -> None:
        """Lets the world go on until `condition` holds, or for so long. It is looked at whenever a client has heard something."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not condition():
                    heard = self.world.loop.create_future()
                    self._waiting.append(heard)
                    await heard

    def look(self) -> None:
        """Has everybody who waits for something look whether it is there."""
        waiting, self._waiting = self._waiting, []
        for heard in waiting:
            if not heard.done():
                heard.set_result(None)

    def goes_wrong(self) -> None:
        """Notes that something goes wrong."""
        self.faults += 1
        self.ever_wrong += 1
        self.wrong_s = self.world.loop.now_s
        self.oracle.is_calm = False
        self.oracle.repeated |= self.again
        for follower in self.followers.values():
            follower.covered.clear()

    def goes_apart(self, *names: str) -> None:
        """Notes that one of these nodes stands still, or that they do not reach each other: brokers of one site may be apart then.

        Nothing else can do that (docs/recovery.md): who dies serves nothing, and a link that breaks is called for again.
        """
        sites = {name.partition("/")[0] for name in names}
        if len(sites) == 1 and all(isinstance(self.world.options.get(name), BrokerOptions) for name in names):
            self.apart_s = inf

    def all_is_well(self) -> None:
        """Notes that nothing is wrong any more."""
        self.faults = 0
        self.apart_s = min(self.apart_s, self.world.loop.now_s)
        self.again.clear()

    def there(self, who: int) -> Follower | None:
        """Returns the connection of a user; None while it does not stand."""
        follower = self.followers.get(USERS[who % len(USERS)])
        return follower if follower is not None and follower.is_there else None

    def open_points(self, site: str | None = None) -> list[Any]:
        """Returns the access points that take connections, of one site or of all."""
        return [each for each in self.world.of("accesspoint", site) if not each.core.draining]

    def wanted(self) -> list[str]:
        """Returns the topics that somebody follows, or who is away; all where nobody follows any."""
        return sorted({topic for each in [*self.followers.values(), *self.away.values()] for topic in each.wants}) or list(TOPICS)

    def node_that_may_go(self, pick: int, roles: tuple[str, ...] = ()) -> str | None:
        """Returns a node that may go, of some roles or of any: another one stays at its site, and is ready."""
        names = [name for name, each in self.world.roles.items() if (not roles or each.role in roles) and self._has_peer(name)]
        return names[pick % len(names)] if names else None

    def _has_peer(self, name: str) -> bool:
        role = self.world.roles[name]
        return any(each is not role and each.ready() is None for each in self.world.of(role.role, role.site))

    def beside(self, name: str) -> tuple[int, int]:
        """Returns how much has gone wrong, and has changed, but that the node `name` came or left."""
        return self.ever_wrong, self.changes.total() - self.changes[name]
