"""A decision service that decides what the test says: it asks and tells every broker and access point that is linked."""

from collections import Counter
from collections.abc import Callable
from typing import Self

import msgspec

from accesspoint.options import AccessPointOptions
from infra.kernel.frames import AnyFrame, Assignment, Followed, Frame, Survey, Surveyed, Tally, Unfollowed
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from segue.cluster.role_spec import RoleOptions

from .cluster import Cluster
from .peer import Peer

NAME = "sto/decision1"


def deciding(*names: str) -> Callable[[RoleOptions], RoleOptions]:
    """Returns a `change` of a cluster: access points link to decision services of these names, or to the usual one."""

    def change(options: RoleOptions) -> RoleOptions:
        if isinstance(options, AccessPointOptions):
            return msgspec.structs.replace(options, services=options.services | {"decision": list(names or (NAME,))})
        return options

    return change


class ScriptedDecision(Peer):
    """`async with ScriptedDecision(c) as decision:` is linked with every broker and access point of the cluster. `whole` is said to whoever
    links from then on."""

    def __init__(self, c: Cluster, name: str = NAME) -> None:
        super().__init__(c, "decision", name)
        self.whole: list[Frame] = []
        self.counts: Counter[Topic] = Counter()
        self.pairs: dict[Link, set[tuple[str, bytes]]] = {}
        self.repeated = 0
        self._cluster = c
        self._asked = 0
        self._answers: Counter[int] = Counter()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        for door in self._cluster.of("broker"):
            self.node.dial(f"{door.site}/{door.node}", "broker", door.site)
        peers = len(self._cluster.of("broker")) + len(self._cluster.of("accesspoint"))
        await self._cluster.until(lambda: len(self.node.links) == peers)
        return self

    async def say(self, *frames: Assignment) -> None:
        """Tells everybody, and waits until it holds everywhere."""
        for link in self.node.links:
            for frame in frames:
                link.send(frame)
        await self._cluster.until(lambda: self.epochs() == {frames[-1].epoch})

    def epochs(self) -> set[int]:
        """Returns the epochs that hold anywhere now."""
        points = [point.core.offload_notices.assigned for point in self._cluster.of("accesspoint")]
        return {assigned.epoch for assigned in (*points, *(broker.core.assigned for broker in self._cluster.of("broker")))}

    async def survey(self) -> None:
        """Asks everybody, and waits until all have answered: `counts` and `pairs` have grown."""
        self._asked += 1
        asked = len(self.node.links)
        for link in self.node.links:
            link.send(Survey(self._asked))
        await self._cluster.until(lambda: self._answers[self._asked] == asked)

    def followed(self) -> set[tuple[str, bytes]]:
        """Returns who follows what, at all access points that are linked."""
        return set().union(*self.pairs.values())

    def link_up(self, link: Link) -> LinkHandler:
        handler = super().link_up(link)
        if link.dialled is None:
            self.pairs[link] = set()
        for frame in self.whole:
            link.send(frame)
        return handler

    def link_down(self, link: Link, reason: str) -> None:
        super().link_down(link, reason)
        self.pairs.pop(link, None)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        super().frames(link, frames)
        for frame in frames:
            match frame:
                case Tally(topics, counts):
                    for topic, count in zip(topics, counts, strict=True):
                        self.counts[Topic(topic)] += count
                case Followed(users, topics):
                    told = set(zip(users, topics, strict=True))
                    self.repeated += len(users) - len(told - self.pairs[link])
                    self.pairs[link] |= told
                case Unfollowed(users, topics):
                    told = set(zip(users, topics, strict=True))
                    self.repeated += len(told - self.pairs[link])
                    self.pairs[link] -= told
                case Surveyed(n):
                    self._answers[n] += 1
