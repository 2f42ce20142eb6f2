"""A dumb model of who must get what. It knows nothing of brokers, views or links."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .client import SimulatedClient
from .process import SimulatedProcess


class Violated(AssertionError):  # noqa: N818 - it says what happened
    """Something that must never happen has happened."""


class Publication(NamedTuple):
    """An event that somebody tried to publish, whatever came of it."""

    topic: str
    site: str


@dataclass(eq=False)
class Follower:
    """One connection of a user.

    - `point`, `process`: the access point, and the life of it.
    - `follows`: what events may be about. `wants`: what it asked for, and did not take back. `installed`: what of that it was told to be
      installed everywhere.
    - `answers`: to its messages, by id. `got`: how often each event came.
    - `last`: the last number of each topic, site and epoch.
    - `ended`: why it is over, as it was told.
    """

    name: str
    point: str
    process: SimulatedProcess
    client: SimulatedClient | None = None
    follows: set[str] = field(default_factory=set)
    wants: set[str] = field(default_factory=set)
    installed: set[str] = field(default_factory=set)
    answers: dict[int, dict[str, Any]] = field(default_factory=dict)
    got: Counter[int] = field(default_factory=Counter)
    last: dict[tuple[str, str, int], int] = field(default_factory=dict)
    welcomed: bool = False
    ended: str = ""

    @property
    def is_there(self) -> bool:
        """Whether the connection stands, as far as the client knows."""
        return self.client is not None and self.welcomed and not self.client.lost and not self.ended


class SimulationOracle:
    """All that was published and what came of it. `take` is given each event that anybody gets.

    - `publications`: by number. `repeated`: those that were published again with their ids.
    - `looked_at`: how much was checked; a life in which nothing arrives proves nothing.
    """

    def __init__(self) -> None:
        self.publications: list[Publication] = []
        self.repeated: set[int] = set()
        self.looked_at: Counter[str] = Counter()
        self._numbers: dict[tuple[str, str, int, int], int] = {}

    def published(self, topic: str, site: str) -> int:
        """Returns the number of a new publication."""
        self.publications.append(Publication(topic, site))
        return len(self.publications) - 1

    def take(self, follower: Follower, event: dict[str, Any]) -> None:
        """Looks at an event that a follower got. Raises Violated."""
        topic, n = event["topic"].split("/")[-2], event["payload"]["n"]
        self.looked_at["events"] += 1
        if topic not in follower.follows:
            raise Violated(f"{follower.name} got an event of {topic}, which they do not follow")
        if self.publications[n] != (topic, event["site"]):
            raise Violated(f"event {n} was {self.publications[n]}, and came as one of {topic} at {event['site']}")
        if n in follower.got and n not in self.repeated:
            raise Violated(f"{follower.name} got event {n} twice")
        follower.got[n] += 1
        self._check_number(follower, topic, event, n)

    def _check_number(self, follower: Follower, topic: str, event: dict[str, Any], n: int) -> None:
        life, seq = (topic, event["site"], event["epoch"]), event["seq"]
        if self._numbers.setdefault((*life, seq), n) != n:
            raise Violated(f"the number {seq} of {life} is that of event {self._numbers[(*life, seq)]} and of event {n}")
        last = follower.last.get(life)
        follower.last[life] = seq
        if last is None:
            return
        self.looked_at["steps"] += 1
        if seq <= last:
            raise Violated(f"{follower.name}: number {seq} of {life} came after {last}")
        missed = sum(each == (topic, event["site"]) and number not in follower.got for number, each in enumerate(self.publications))
        if seq - last - 1 > missed + len(self.repeated):
            raise Violated(f"{follower.name}: numbers of {life} jump from {last} to {seq}, and {missed} events at most were missed")
