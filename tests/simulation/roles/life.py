"""A life of roles: services publish all the time, and operations are played meanwhile."""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from infra.kernel.events import Event
from infra.kernel.topics import parse_topic

from ..events import feed
from ..network import site_of
from ..operations import MORE_PLAYLISTS, MOST, PICKS, TOPICS, Operation
from ..oracle import Acceptance, SimulationOracle, Violated
from .faults import RoleFaults
from .role_process import RoleProcess
from .troubles import LOOKS_S, RoleTroubles
from .user import RoleUser
from .world import POINTS, RoleWorld

ALL_TOPICS: Final = (*MORE_PLAYLISTS, *TOPICS[:5:2])
USERS: Final = 5
# Everything goes wrong.
WILD: Final = {
    "kill": 12,
    "kill_two": 1,
    "leave": 10,
    "kill_aggregator": 6,
    "drain_aggregator": 6,
    "snap": 6,
    "slow": 20,
    "cut": 4,
    "cut_any": 4,
    "go_away": 30,
    "come_back": 40,
    "point": 60,
}
# Nobody is lost: connections break, and brokers leave.
SHAKY: Final = {"leave": 20, "snap": 50, "slow": 20, "go_away": 30, "come_back": 40, "point": 60}
# Nodes are only stopped and started as operators do it.
CALM: Final = {"leave": 30, "drain_aggregator": 10, "go_away": 40, "come_back": 60, "point": 60}
# So many operations, and publications, there are in a second. So many events are published at once.
PACES: Final = (0.7, 2.0, 6.0)
RATES: Final = (5.0, 40.0)
BATCHES: Final = (1, 1, 3)
# Within so long all must be well when nothing goes wrong any more, and all events are there after so long.
SETTLES_S: Final = 120.0
ARRIVE_S: Final = 6.0


class RoleShape(NamedTuple):
    """The shape of a life: what happens how often, how many sites there are, and how many copies of what is recorded."""

    kinds: dict[str, int]
    sites: int
    copies: int

    @classmethod
    def drawn(cls, rng: random.Random) -> "RoleShape":
        """Returns the shape of one life."""
        (kinds,) = rng.choices((WILD, SHAKY, CALM), (5, 3, 2))
        return cls(kinds, *rng.choices((1, 2), (7, 3)), *rng.choices((1, 0), (7, 3)))


def drawn_for_roles(shape: RoleShape, rng: random.Random, number: int) -> list[Operation]:
    """Returns so many operations."""
    pace = rng.choice(PACES)
    kinds = rng.choices(list(shape.kinds), list(shape.kinds.values()), k=number)
    return [Operation(kind, round(rng.expovariate(pace), 4), tuple(rng.randrange(MOST) for _ in range(PICKS))) for kind in kinds]


class RoleLife:
    """A life of the seed `world.seed`. Each operation is a method of its name, here or of `RoleFaults`, which takes the picks.

    - `published`: publications of each topic. `let_out`: when owners let them out, in which order.
    """

    def __init__(self, world: RoleWorld) -> None:
        self.world, self.oracle = world, SimulationOracle()
        self.troubles = RoleTroubles(lambda: world.now_s, world.unsettled)
        self.published: dict[str, list[int]] = defaultdict(list)
        self.let_out: dict[int, int] = {}
        self.tell = world.tell
        self.users: list[RoleUser] = []
        self._faults = RoleFaults(world, self.oracle, self.troubles)
        self._services = world.stream("services")
        self._rate = self._services.choice(RATES)
        self._is_over = False

    def note_out(self, tail: bytes) -> None:
        """Notes that the owner of a topic lets an event out."""
        self.is_out(json.loads(b"{" + tail)["payload"]["n"])

    def is_out(self, n: int) -> None:
        """Notes that an event is out. What an heir gives that its owner has never let out is so when it comes."""
        self.let_out.setdefault(n, len(self.let_out))

    def play(self, operations: list[Operation]) -> None:
        """Plays `operations`, and lets all be well in the end. Raises Violated, also for an error of production that nobody expects."""
        try:
            self._begin()
            for operation in operations:
                self.world.timeline.pass_s(operation.after_s)
                self.tell("", str(operation))
                by = self if hasattr(self, operation.what) else self._faults
                act: Callable[..., None] = getattr(by, operation.what)
                act(*operation.picks)
            self._end()
        except Violated:
            raise
        except Exception as error:
            raise Violated(f"nobody expects {error!r}") from error

    # From the beginning to the end.

    def _begin(self) -> None:
        self.world.start_all()
        self._settle("never begins")
        self.troubles.begin()
        rng = self.world.stream("users")
        for n in range(USERS):
            site = rng.choice(self.world.sites)
            self.users.append(RoleUser(self, f"u{n}", site, rng.sample(ALL_TOPICS, rng.choice((3, 8, 12)))))
            self.users[-1].connect(f"{site}/{rng.choice(POINTS)}")
            self.users[-1].follow()
        self.world.timeline.pass_s(1.0)
        self._look()
        self._serve()

    def _settle(self, otherwise: str) -> None:
        """Lets time pass until all is well. Raises Violated where that takes too long."""
        until_s = self.world.now_s + SETTLES_S
        while self.world.now_s < until_s:
            self.world.timeline.pass_s(0.5)
            if not self.troubles.open and not self.world.unsettled():
                return
        raise Violated(f"the cluster {otherwise}: {self.world.unsettled()}, since {self.troubles.open}")

    def _look(self) -> None:
        self.troubles.look()
        self.world.timeline.at(self.world.now_s + LOOKS_S, self._look)

    def _end(self) -> None:
        """Lets all be well, and looks whether everybody has everything, and gets what comes then."""
        self.world.cuts.clear()
        self.world.slow.clear()
        self._settle("is never well again")
        self._is_over = True
        for user in self.users:
            user.come_back(f"{user.site}/p1", 0)
        self.world.timeline.pass_s(ARRIVE_S)
        self._check(is_anywhere=False)
        for topic in ALL_TOPICS:
            for site in self.world.sites:
                self._publish(topic, 1, site)
        self.world.timeline.pass_s(ARRIVE_S)
        self._check(is_anywhere=True)

    def _check(self, *, is_anywhere: bool) -> None:
        for user in self.users:
            if user.session is None:
                raise Violated(f"{user.name} is not connected")
            if user.questions:
                raise Violated(f"{user.name} gets no answer")
            if owed := user.owed(is_anywhere=is_anywhere):
                raise Violated(f"{user.name} never got {owed[:5]} of {self.oracle.publications[owed[0]]}, and was told nothing")
            self.oracle.looked_at["whole"] += len(user.first)

    # Services.

    def _serve(self) -> None:
        if not self._is_over:
            self._publish(self._services.choice(ALL_TOPICS), self._services.choice(BATCHES))
            self.world.timeline.at(self.world.now_s + self._services.expovariate(self._rate), self._serve)

    def _publish(self, topic: str, number: int, site: str | None = None) -> None:
        if brokers := self.world.open_brokers(site):
            process = self._services.choice(brokers)
            for _ in range(number):
                process.does(self._submit, process, topic)

    def _submit(self, process: RoleProcess, topic: str) -> None:
        site, began_s = site_of(process.name), self.world.now_s
        n = self.oracle.published(topic, site)
        self.published[topic].append(n)
        self.tell(process.name, f"is given {n} of {topic}")

        def done(failed: Sequence[int]) -> None:
            self.tell(process.name, f"has {'refused' if failed else 'accepted'} {n}")
            if not failed:
                self.oracle.accepted[n] = Acceptance(began_s, self.world.now_s)

        uri, event_id = feed(topic), b"i%d" % n
        tail = b'"topic":"%b","ts":1,"id":"%b","kind":"play","payload":{"n":%d}}' % (uri.encode(), event_id, n)
        process.role.submit([Event(parse_topic(uri), event_id, tail)], 0, done)

    # What users do.

    def go_away(self, who: int, *_: int) -> None:
        self.users[who % len(self.users)].leave()

    def come_back(self, who: int, where: int, how: int, *_: int) -> None:
        user = self.users[who % len(self.users)]
        user.come_back(f"{user.site}/{POINTS[where % len(POINTS)]}", how)

    def point(self, who: int, *_: int) -> None:
        self.users[who % len(self.users)].say(op="ping", point=True)
