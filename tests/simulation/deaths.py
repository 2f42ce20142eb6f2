"""Deaths of nodes in a simulated life, and who must hear of them."""

from collections import Counter
from functools import partial
from typing import Any, Final

from infra.kernel.topics import parse_topic

from .arrivals import Followers
from .course import LifeCourse
from .events import feed
from .operations import TOPICS
from .oracle import Violated
from .returns import ARRIVES_S

# Who is gone without a word is noticed so late that a loss is told within this time.
HANGS_S: Final = 4.0
# Within this time heirs have given everybody what a broker that is gone had let out.
INHERITS_S: Final = 6.0


class NodeDeaths:
    """Nodes that end at once. Those who may lack something hear of it, and where heirs have everything nobody lacks anything."""

    def __init__(self, course: LifeCourse) -> None:
        self._course, self._world, self._oracle = course, course.world, course.oracle
        # A broker that died whose heirs had everything, and how many things had gone wrong, and had changed, beside that it came back.
        self._inherited: tuple[str, tuple[int, int]] | None = None

    def kill(self, name: str, *, power: bool) -> None:
        """Ends a node at once, and looks meanwhile whether those hear of it who must. `power`: see `SimulatedWorld.kill`."""
        owned = self._owned_by(self._world.roles[name]) if not self._course.faults else set()
        has_heirs = bool(owned) and self._has_whole_heirs(name.partition("/")[0])
        self._course.goes_wrong()
        has_all = has_heirs and self._world.room.keeps_all
        if has_all:
            self._inherited = name, self._course.beside(name)
        self._course.tell(name, "is gone without a word" if power else "is killed")
        self._world.kill(name, power=power)
        if has_all:
            self._course.meanwhile(self._hear_of_nothing)
        elif owned and not has_heirs:
            self._course.meanwhile(partial(self._hear_of_gaps, name, owned, HANGS_S if power else ARRIVES_S))

    @property
    def only_an_owner_died(self) -> bool:
        """Whether all was well but for one broker that is gone, whose heirs had everything. It may be back."""
        return self._inherited is not None and self._inherited[1] == self._course.beside(self._inherited[0])

    def _has_whole_heirs(self, site: str) -> bool:
        """Tells whether every heir has everything, so that nothing is lost with one broker. Events of other sites may be."""
        brokers = self._world.of("broker", site)
        return (
            self._world.has_copies and len(self._world.sites) == 1 and len(brokers) > 1 and not any(each.heirs.uncopied for each in brokers)
        )

    def _owned_by(self, role: Any) -> set[str]:
        """Returns the topics that a broker owns, none where something is moving, or about to: somebody was asked to stop."""
        is_to_move = any(name.startswith(f"{role.site}/") for name in self._course.leaving)
        if role.role != "broker" or is_to_move or self._world.unsettled():
            return set()
        return {topic for topic in TOPICS if role.ring.owner(parse_topic(feed(topic))) == role.node}

    async def _hear_of_nothing(self) -> None:
        """Raises Violated where somebody is told that something may be missing though heirs have everything (DPS-18)."""
        before = {each: Counter(each.gaps) for each in self._course.followers.values()}

        def told() -> list[str]:
            return [each.name for each, gaps in before.items() if each.gaps - gaps]

        await self._course.until(lambda: not self.only_an_owner_died or bool(told()), INHERITS_S)
        if self.only_an_owner_died:
            if names := told():
                raise Violated(f"a broker is dead whose heirs have everything, and {names} hear that something may be missing")
            self._oracle.looked_at["inherited"] += 1

    async def arrived_from_heirs(self, topic: str, numbers: set[int], late: Followers) -> None:
        """Raises Violated where those who follow a topic do not get what was accepted though only an owner died (DPS-18)."""

        def missing() -> list[str]:
            return [each.name for each, times in late.items() if not numbers <= each.got.keys() and each.still_follows(topic, times)]

        await self._course.until(lambda: not self.only_an_owner_died or not missing(), INHERITS_S)
        if self.only_an_owner_died:
            if names := missing():
                raise Violated(f"a broker is dead whose heirs have everything, and {names} never got {sorted(numbers)} of {topic}")
            self._oracle.looked_at["inherited events"] += 1

    async def _hear_of_gaps(self, name: str, owned: set[str], within_s: float) -> None:
        """Waits until those are told whose topics the broker `name` `owned` that is dead, however soon it is started again (DPS-8).

        Raises Violated where they are not `within_s`, also after that start, or where others are, while nothing else goes wrong.
        """
        site, undisturbed = name.partition("/")[0], self._course.beside(name)
        before = {each: Counter(each.gaps) for each in self._course.followers.values()}
        concerned = [
            (each, topic, each.given_up[topic])
            for each in before
            if each.recovers and each.is_there and each.point.startswith(f"{site}/")
            for topic in owned & each.installed
        ]

        def untold() -> list[tuple[str, str]]:
            return [
                (each.name, topic)
                for each, topic, times in concerned
                if each.still_follows(topic, times) and each.gaps[topic] == before[each][topic]
            ]

        def is_over() -> bool:
            return self._course.beside(name) != undisturbed or not untold()

        died_s = self._world.loop.now_s
        await self._course.until(is_over, within_s)
        if (started_s := self._course.started_s.get(name, 0.0)) > died_s:
            await self._course.until(is_over, started_s + within_s - self._world.loop.now_s)
        if self._course.beside(name) != undisturbed:
            return
        if missing := untold():
            raise Violated(f"a broker is dead, and who may lack something did not hear of that: {missing}")
        for each, gaps in before.items():
            if others := sorted((each.gaps - gaps).keys() - owned):
                raise Violated(f"{each.name} hears that something of {others} may be missing, which the dead broker did not own")
        self._oracle.looked_at["owners lost"] += bool(concerned)
        self._oracle.looked_at["owners lost for a moment"] += bool(concerned) and started_s > died_s
