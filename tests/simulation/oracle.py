"""A dumb model of who must get what. It knows nothing of brokers, views or links."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .client import SimulatedClient
from .operations import PLAYLISTS
from .process import SimulatedProcess

# Topic, site and epoch.
_NumberedLife = tuple[str, str, int]


class Violated(AssertionError):  # noqa: N818 - it says what happened
    """Something that must never happen has happened."""


class Publication(NamedTuple):
    """An event that somebody tried to publish, whatever came of it."""

    topic: str
    site: str


class Position(NamedTuple):
    """A point, when it was given, and the site that gave it."""

    point: str
    now_s: float
    site: str


class Acceptance(NamedTuple):
    """The times at which a service began to publish an event, and was told that it is accepted."""

    began_s: float
    told_s: float


@dataclass(eq=False)
class Follower:
    """One connection of a user.

    - `point`, `process`: the access point, and the life of it, where it has one of its own.
    - `follows`: what events may be about. `wants`: what it asked for, and did not take back. `installed`: what of that it was told to be
      installed everywhere.
    - `asked`: the topics of its subscribes that are not answered, by id. `followed`: those that it was told to be followed, and has not
      given up since.
    - `answers`: to its messages, by id. `got`: how often each event came; `came_s`: when it did for the last time.
    - `last`: the last number of each topic, site and epoch. `lives`: the last of each topic and site.
    - `given_up`: how often it gave up each topic.
    - `ended`: why it is over, as it was told. `lost_s`: when it heard of its end. `has_left`: whether its user has turned away from it.
    - `recovers`: whether it asks for what it misses. `positions`: of each topic, the last point that is about it. A point is about the
      topics that are followed when it comes. `pointed_s`: when the last one came.
    - `away_s`: until when each topic was followed for the last time.
    - `whole_since_s`: from when on it must have everything of a topic, while nothing goes wrong.
    - `gaps`: how often it was told that something of a topic may be missing.
    - `asks`: topics of which it has asked what it missed, as long as the answer has not come. `unexplained`: those of them of which an
      epoch came without what it goes on from, with what is wrong if the answer does not say that something is missing. `told`: those of
      them of which a number told that something is missing, each with the last such event.
    - `firsts`: topics and sites of which it had no number, and got something before an answer had told whether that stands behind a loss.
    - `repeatable`: events that may come again, since it has said a point alone. `covered`: those of them that came so long before its point
      was given that they must not, while nothing goes wrong.
    """

    name: str
    point: str
    process: SimulatedProcess | None = None
    client: SimulatedClient | None = None
    follows: set[str] = field(default_factory=set)
    wants: set[str] = field(default_factory=set)
    installed: set[str] = field(default_factory=set)
    asked: dict[int, set[str]] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)
    answers: dict[int, dict[str, Any]] = field(default_factory=dict)
    got: Counter[int] = field(default_factory=Counter)
    came_s: dict[int, float] = field(default_factory=dict)
    last: dict[tuple[str, str, int], int] = field(default_factory=dict)
    lives: dict[tuple[str, str], _NumberedLife] = field(default_factory=dict)
    given_up: Counter[str] = field(default_factory=Counter)
    welcomed: bool = False
    ended: str = ""
    has_left: bool = False
    lost_s: float | None = None
    recovers: bool = False
    positions: dict[str, Position] = field(default_factory=dict)
    pointed_s: float = -1.0
    away_s: dict[str, float] = field(default_factory=dict)
    whole_since_s: dict[str, float] = field(default_factory=dict)
    gaps: Counter[str] = field(default_factory=Counter)
    repeatable: Counter[int] = field(default_factory=Counter)
    asks: set[str] = field(default_factory=set)
    unexplained: dict[str, str] = field(default_factory=dict)
    told: dict[str, int] = field(default_factory=dict)
    firsts: set[tuple[str, str]] = field(default_factory=set)
    covered: set[int] = field(default_factory=set)

    @property
    def is_there(self) -> bool:
        """Whether the connection stands, as far as the client knows."""
        return self.client is not None and self.welcomed and not self.client.lost and not self.ended

    def still_follows(self, topic: str, times: int) -> bool:
        """Returns whether it has followed `topic`, everywhere, since it had given it up for so many `times`."""
        return self.is_there and topic in self.installed and self.given_up[topic] == times

    def forget(self, topic: str) -> None:
        """Takes what it knows of the numbers of `topic` for nothing: something may be missing."""
        self.lives = {key: life for key, life in self.lives.items() if key[0] != topic}

    def given(self, point: str, now_s: float) -> None:
        """Notes a point. It is about what is followed: a message that is not answered may be one that nobody got."""
        self.pointed_s = now_s
        self.positions |= dict.fromkeys(self.followed, Position(point, now_s, self.point.partition("/")[0]))

    def answered(self, mine: int, rejected: Collection[str]) -> None:
        """Notes that the topics of the message `mine` are followed, but for those that were rejected."""
        self.follows_now(self.asked.pop(mine, set()).difference(rejected))

    def follows_now(self, topics: Collection[str]) -> None:
        """Notes that `topics` are followed. What stands behind a loss there has been told."""
        self.followed |= set(topics)
        self.firsts = {key for key in self.firsts if key[0] not in topics}

    def gives_up(self, topic: str) -> None:
        """Takes back that it wants `topic`, in whatever message it said so."""
        for topics in (self.wants, self.installed, self.followed, *self.asked.values()):
            topics.discard(topic)
        self.given_up[topic] += 1
        self.forget(topic)
        for times in (self.whole_since_s, self.away_s, self.positions):
            times.pop(topic, None)

    def has_given_up(self, topic: str) -> None:
        """Notes that nothing comes of `topic` any more, which it gave up. What has come meanwhile is of before, too."""
        self.follows.discard(topic)
        self.forget(topic)

    def begin_anew(self, topics: set[str], publications: list["Publication"], covered_s: Mapping[str, float]) -> None:
        """Says no numbers of `topics`, nor its first ones of others. What came where none are said may come again, in order.

        So may not what came on a topic before `covered_s`.
        """
        for topic in topics:
            self.forget(topic)
        self.lives = {key: life for key, life in self.lives.items() if key not in self.firsts}
        self.repeatable = Counter(n for n in self.got if publications[n] not in self.lives)
        self.covered = {n for n in self.repeatable if self.came_s[n] < covered_s.get(publications[n].topic, 0.0)}
        self.last = {life: seq for life, seq in self.last.items() if life[:2] in self.lives}

    def go_on_from(self, former: "Follower") -> None:
        """Takes over what the same user had on another connection."""
        self.follows, self.wants = set(former.wants), set(former.wants)
        self.got, self.came_s, self.last, self.lives = former.got, former.came_s, former.last, dict(former.lives)
        self.given_up, self.whole_since_s = former.given_up, former.whole_since_s
        self.positions, self.firsts = dict(former.positions), set(former.firsts)
        # What a number has told of is not owed any more, though no answer has come.
        told_s = {topic: former.came_s[n] for topic, n in former.told.items()}
        self.away_s = former.away_s | told_s
        self.whole_since_s.update(told_s)


class SimulationOracle:
    """All that was published and what came of it. `take` is given each event that anybody gets.

    - `publications`: by number. `accepted`: when those were that are. `repeated`: those that were published again with their ids.
    - `is_calm`: nothing has gone wrong in this life. Then an epoch says what it goes on from, and numbers jump only over what is missing.
    - `was_apart`: brokers of one site may have served the same topics apart. Then what an epoch goes on from is what one part knew
      (docs/promises.md: numbers hide no loss, but where a site falls in parts).
    - `looked_at`: how much was checked; a life in which nothing arrives proves nothing.
    """

    def __init__(self) -> None:
        self.publications: list[Publication] = []
        self.accepted: dict[int, Acceptance] = {}
        self.repeated: set[int] = set()
        self.is_calm = True
        self.was_apart = False
        self.looked_at: Counter[str] = Counter()
        self._numbers: dict[tuple[str, str, int, int], int] = {}
        # What stands at each number of a topic and site, in whatever epoch: owners count on, so that a jump shows what any of them had.
        self._counted: dict[tuple[str, str, int], int] = {}
        # Each number that was higher than all before it, with how many events had been published when it came.
        self._heights: dict[_NumberedLife, list[tuple[int, int]]] = {}

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
        if n in follower.got and n not in self.repeated and not follower.repeatable[n]:
            raise Violated(f"{follower.name} got event {n} twice")
        if n in follower.covered:
            raise Violated(
                f"nothing is wrong, and {follower.name} got event {n} again, which had come long before the point that they said"
            )
        follower.repeatable[n] -= 1
        follower.got[n] += 1
        self._check_number(follower, topic, event, n)

    def _check_number(self, follower: Follower, topic: str, event: dict[str, Any], n: int) -> None:
        life, seq = (topic, event["site"], event["epoch"]), event["seq"]
        if self._numbers.setdefault((*life, seq), n) != n:
            raise Violated(f"the number {seq} of {life} is that of event {self._numbers[(*life, seq)]} and of event {n}")
        if self.is_calm and (other := self._counted.setdefault((*life[:2], seq), n)) != n:
            raise Violated(f"nothing is wrong, and the number {seq} is that of event {other} and, in {life}, of event {n}")
        heights = self._heights.setdefault(life, [])
        if not heights or seq > heights[-1][1]:
            heights.append((len(self.publications), seq))
        before, follower.lives[topic, event["site"]] = follower.lives.get((topic, event["site"])), life
        last, follower.last[life] = follower.last.get(life), seq
        if topic in follower.asks:
            self._note_early(follower, event, n, before, last)
        self._check_after(follower, event, life, before)
        if last is not None:
            self.looked_at["steps"] += 1
            if seq <= last:
                raise Violated(f"{follower.name}: number {seq} of {life} came after {last}")
            if before == life:
                self._check_jump(follower, life, last, seq - 1)

    def _note_early(self, follower: Follower, event: dict[str, Any], n: int, before: _NumberedLife | None, last: int | None) -> None:
        """Notes what event `n` says, which comes before the answer to a recovery: perhaps no answer comes any more.

        - `before`: the life that held on its topic and site; None: the follower said no number.
        - `last`: the last number of the life that holds.
        """
        topic = self.publications[n].topic
        if before is None:
            follower.firsts.add((topic, event["site"]))
        elif before[2] == event["epoch"] and last is not None:
            if event["seq"] > last + 1 + event.get("skipped", 0):
                follower.told[topic] = n
        elif event.get("after") != [before[2], follower.last.get(before)]:
            follower.told[topic] = n

    def _check_jump(self, follower: Follower, life: _NumberedLife, last: int, reached: int) -> None:
        """Looks whether as many numbers as `follower` has not seen, from `last` to the one that is `reached`, may be missing."""
        # While nothing goes wrong. An owner that had lost a topic, and has it again, does not know how many numbers were given meanwhile.
        if not self.is_calm or reached - last <= len(self.repeated):
            return
        missed = sum(each == life[:2] and number not in follower.got for number, each in enumerate(self.publications))
        if reached - last > missed + len(self.repeated):
            raise Violated(
                f"{follower.name}: numbers of {life} go from {last} on behind {reached}, and {missed} events at most were missed"
            )

    def _given_before(self, follower: Follower, life: _NumberedLife, n: int) -> int:
        """Returns the highest number of `life` that was surely given before event `n`, which `follower` gets now, had its own.

        It came to the follower, who gets all in order, or to somebody before the event was published. Higher ones may have come to others
        since: a broker that has a topic again goes on in its epoch, and who was away gets the event only now.
        """
        heights = (seq for published, seq in self._heights.get(life, ()) if published <= n)
        return max(follower.last.get(life, 0), *heights, 0)

    def _check_after(self, follower: Follower, event: dict[str, Any], life: _NumberedLife, before: _NumberedLife | None) -> None:
        """Looks whether an epoch says what it goes on from (DPS-1): always after planned moves, and never what is not so."""
        if (after := event.get("after")) is not None:
            self.looked_at["after"] += 1
            former = (*life[:2], after[0])
            if not self.was_apart and after[1] < (highest := self._given_before(follower, former, event["payload"]["n"])):
                raise Violated(f"{event} goes on from {after}, but number {highest} of that epoch was given")
            if former == before:
                self._check_jump(follower, former, follower.last[former], after[1])
        elif self.is_calm and before not in (None, life) and not (event.get("skipped") and life[0] not in PLAYLISTS):
            # Of what is no playlist the newest is kept: where it skips others, the first one of its epoch may be among them.
            why = f"nothing is wrong, and {follower.name} does not hear which number this goes on from: {event}"
            if life[0] not in follower.asks:
                raise Violated(why)
            # Of a topic of which something is missing nothing that was missed comes. What is live may come before the answer that says so.
            follower.unexplained.setdefault(life[0], why)

    def has_newest(self, follower: Follower, topic: str, numbers: Collection[int]) -> bool:
        """Returns whether a follower has an event of a topic, of the site of `numbers`, that none of these was published behind."""
        began_s = max((self.accepted[n].began_s for n in numbers), default=0.0)
        have = {n for n in follower.got if self.publications[n].topic == topic}
        sites = {self.publications[n].site for n in numbers}
        have = {n for n in have if self.publications[n].site in sites}
        return any(n not in self.accepted or self.accepted[n].told_s >= began_s for n in have)

    def answered(self, follower: Follower, lost: Collection[str]) -> None:
        """Notes that a follower has heard of which topics something may be missing. Raises Violated where it had to hear that.

        Of these it begins anew at once: what is live may come in the same moment.
        """
        wrong = [why for topic, why in follower.unexplained.items() if topic not in lost]
        follower.asks.clear()
        follower.told.clear()
        follower.unexplained.clear()
        for topic in lost:
            follower.forget(topic)
            follower.positions.pop(topic, None)
        if wrong:
            raise Violated(wrong[0])
