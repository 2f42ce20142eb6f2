"""A user of a life of roles, who follows topics with `recover`, goes away, comes back, and looks at all that comes."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from accesspoint.core import AccessPointCore
from accesspoint.session import SessionState
from infra.kernel.errors import Refused

from ..cores.recovery_life import ReturningSession
from ..events import feed, topics_of
from ..operations import PLAYLISTS
from ..oracle import Follower, Position, Violated
from ..returns import ARRIVES_S, POINT_AGE_S, Return, check_gap, check_return
from .world import WINDOW_S

if TYPE_CHECKING:
    from .life import RoleLife

# A loss is told within so long after it was one: until then a former trouble is a cause.
TOLD_S = 8.0
# An access point that knows from an answer that nothing has come does not know of what is on its way, nor, for so long, that its aggregator
# is dead. What comes then comes behind what is said, and must be there in the end.
ON_WAY_S = 5.0


class UserSession(ReturningSession):
    """A connection of a user, who answers pings, and hears of its end."""

    def __init__(
        self, core: AccessPointCore, told: Callable[[bytes], None], ended: Callable[[str], None], now: Callable[[], float]
    ) -> None:
        super().__init__(core, told, now())
        self._ended, self._clock = ended, now

    def ping(self) -> None:
        """Answers at once."""
        self.heard_s, self.pinged = self._clock(), False

    def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
        """Leaves the access point, and hears why."""
        super().end(refused, reconnect_in_ms)
        self._ended(str(refused))


class RoleQuestion(NamedTuple):
    """A question for topics: what was `said`, of which is the answer `asked_s`, and by whom the user was connected before."""

    said: frozenset[str]
    asked_s: float
    was: Follower | None


class RoleUser:
    """A user at one site. What somebody who recovers may say and hears is as docs/client-protocol.md has it.

    - `follower`: what they have. `session`: their connection; None while they are away.
    - `first`: topic -> the first publication that they must get, since they follow it or have heard that something may be missing.
    - `told`: publications of which numbers have told that they may be missing.
    """

    def __init__(self, life: "RoleLife", name: str, site: str, topics: list[str]) -> None:
        self.life, self.name, self.site = life, name, site
        self.follower = Follower(name, site, follows=set(topics), wants=set(topics), recovers=True)
        self.session: UserSession | None = None
        self.first: dict[str, int] = {}
        self.told: set[int] = set()
        self.questions: dict[int, RoleQuestion] = {}
        self._asked = 0
        # The first event of an epoch that does not say what it goes on from, while the `gap` has not come that those hear who stay.
        self._anew: dict[str, int] = {}

    # What they do.

    def connect(self, point: str) -> None:
        """Connects to an access point. Raises Violated where it does not take them."""
        self._process = self.life.world.processes[point]
        self.session = UserSession(self._process.role.core, self._heard, self._ended, lambda: self.life.world.now_s)
        self.say(op="hello", token=self.name, client="phone")
        if self.session.state is not SessionState.READY:
            raise Violated(f"{self.name} cannot connect to {point}")

    def say(self, **message: Any) -> None:
        """Says something, if there is a connection."""
        if self.session is not None:
            self._process.does(self._process.role.say, self.session, json.dumps(message).encode())

    def follow(self, was: Follower | None = None, **said: Any) -> None:
        """Asks for all topics, and for what was missed of them where a point or numbers are said."""
        self._asked += 1
        self.follower.asks = set(self.follower.wants) if said else set()
        self.questions[self._asked] = RoleQuestion(frozenset(said), self.life.world.now_s, was)
        topics = [feed(topic) for topic in sorted(self.follower.wants)]
        self.say(op="subscribe", id=self._asked, topics=topics, recover=True, wait="all", **said)

    def leave(self) -> None:
        """Goes away."""
        if self.session is not None:
            session = self.session
            self._ended("")
            self._process.does(self._process.role.leave, session)

    def come_back(self, point: str, how: int) -> None:
        """Comes back with a point and numbers, as SDKs do, or, once in a while, with one of the two."""
        if self.session is not None:
            return
        was, now_s = self.follower, self.life.world.now_s
        self.follower = Follower(self.name, self.site, recovers=True)
        self.follower.go_on_from(was)
        said: dict[str, Any] = {}
        position = _position(was)
        if position is not None and how % 8 != 1:
            said["point"] = position.point
        if (how % 8 != 2 or not said) and (since := self._numbers(was)):
            said["since"] = since
        is_wild = position is None or self.life.troubles.was_grave_since(position.now_s)
        covered_s = position.now_s - POINT_AGE_S if position is not None and "point" in said and not is_wild else 0.0
        none_said = set() if "since" in said else set(was.wants)
        self.follower.begin_anew(none_said, self.life.oracle.publications, dict.fromkeys(was.wants, covered_s))
        for topic, n in self._anew.items() if "since" in said else ():
            if feed(topic) in said["since"]:
                self._shows(topic, n)
        self._anew.clear()
        if not said:
            self.first.clear()
            self.follower.whole_since_s.clear()
        self.life.tell(self.name, f"comes back to {point} with {', '.join(sorted(said)) or 'nothing'}, {now_s - (was.lost_s or 0.0):.3f} s")
        self.connect(point)
        self.follow(was, **said)

    def _numbers(self, was: Follower) -> dict[str, dict[str, list[int]]]:
        """Returns the last number of each topic and site, as clients say it."""
        since: dict[str, dict[str, list[int]]] = {}
        for (topic, site), life in was.lives.items():
            if (topic, site) not in was.firsts:
                since.setdefault(feed(topic), {})[site] = [life[2], was.last[life]]
        return since

    def owed(self, *, is_anywhere: bool = False) -> list[int]:
        """Returns what was accepted on playlists, has not come, and of which nobody has told that it may be missing.

        What other sites have accepted counts where that is asked for (`is_anywhere`): numbers alone tell of a loss there.
        """
        oracle = self.life.oracle
        return [
            n
            for topic, first in self.first.items()
            if topic in PLAYLISTS
            for n in self.life.published[topic]
            if n >= first and n in oracle.accepted and n not in self.follower.got and n not in self.told
            if is_anywhere or oracle.publications[n].site == self.site
        ]

    # What they hear.

    def _ended(self, why: str) -> None:
        self.session = None
        self.follower.lost_s = self.life.world.now_s
        self.questions.clear()
        self.life.tell(self.name, f"is not connected any more {why}")

    def _heard(self, text: bytes) -> None:
        message = json.loads(text)
        self.life.tell(self.name, text.decode())
        match message["op"]:
            case "event":
                self._got(message)
            case "subscribed":
                self._answered(message)
            case "gap":
                self._told_gap(message)
            case "pong":
                self._given(message.get("point"))
            case "error":
                raise Violated(f"{self.name} is told {message}")

    def _given(self, point: str | None) -> None:
        if point is not None:
            self.follower.given(point, self.life.world.now_s)

    def _got(self, event: dict[str, Any]) -> None:
        topic, site, n = event["topic"].split("/")[-2], event["site"], event["payload"]["n"]
        before = self.follower.lives.get((topic, site))
        goes_on = before is not None and _goes_on(event, before[2], self.follower.last[before])
        self.life.oracle.take(self.follower, event)
        self.follower.came_s[n] = self.life.world.now_s
        self.life.is_out(n)
        is_first = (topic, site) in self.follower.firsts
        if topic in self.follower.asks and not is_first and not goes_on:
            self._shows(topic, n)
        if site != self.site and not goes_on and self.life.troubles.was_grave_since(0.0):
            self._shows(topic, n)  # of what another site has lost nobody hears otherwise
        if before is not None and event["epoch"] != before[2] and event.get("after") is None and not is_first:
            self._anew[topic] = n

    def _shows(self, topic: str, n: int) -> None:
        """Notes that the number of an event has told that something of its site may be missing in front of it: what was let out before."""
        first, out, publications = self.first.get(topic), self.life.let_out, self.life.oracle.publications
        if first is not None:
            published = [
                each
                for each in self.life.published[topic]
                if each >= first and publications[each] == publications[n] and each in out and out[each] < out[n]
            ]
            lacking = {each for each in published if each not in self.follower.got}
            self.life.oracle.looked_at["told by numbers"] += len(lacking - self.told)
            self.told |= lacking

    def _answered(self, answer: dict[str, Any]) -> None:
        question, now_s = self.questions.pop(answer["id"]), self.life.world.now_s
        lost = topics_of(answer["lost"])
        self.life.oracle.answered(self.follower, lost)
        self.follower.follows_now(self.follower.wants)
        self._given(answer["point"])
        self.follower.whole_since_s.update(dict.fromkeys(lost, now_s))
        if question.was is not None and question.said:
            self._check(question, question.was, answer)
        elif lost:
            raise Violated(f"{self.name} says nothing, and is told {answer['lost']}")
        self._excuse(lost)
        if answer["installed"] == "all":
            self.follower.installed |= self.follower.wants
            for topic in self.follower.wants:
                self.first.setdefault(topic, len(self.life.oracle.publications))
                self.follower.whole_since_s.setdefault(topic, now_s)
        elif not self.life.troubles.was_uneasy_since(question.asked_s):
            raise Violated(f"nothing is wrong, and {self.name} is told {answer}")

    def _check(self, question: RoleQuestion, was: Follower, answer: dict[str, Any]) -> None:
        """Raises Violated where the answer to who came back is not true, or lazy."""
        troubles = self.life.troubles
        position = _position(was)
        since_s = position.now_s - POINT_AGE_S if position is not None else 0.0
        reasons = {each["reason"] for each in answer["lost"]}
        is_late = "late" in reasons and troubles.was_uneasy_since(question.asked_s)
        is_split = "split" in reasons and troubles.apart_s >= since_s
        is_grave = troubles.was_grave_since(since_s) or is_late or is_split
        faults = int(troubles.is_grave or is_late)
        topics = frozenset(self.follower.wants)
        asked_s = question.asked_s - (ON_WAY_S if troubles.was_uneasy_since(question.asked_s - ON_WAY_S) else 0.0)
        its = Return(was, self.follower, topics, position, asked_s, troubles.grave_s, is_grave, faults, WINDOW_S, troubles.apart_s)
        for topic, numbers in check_return(self.life.oracle, its, answer, set(question.said)).items():
            self.life.world.timeline.at(self.life.world.now_s + ARRIVES_S, self._check_arrived, self.follower, topic, numbers)

    def _check_arrived(self, follower: Follower, topic: str, numbers: set[int]) -> None:
        is_same = self.session is not None and self.follower is follower and self.follower.gaps[topic] == 0
        is_calm = not self.life.troubles.was_uneasy_since(self.life.world.now_s - 2 * ARRIVES_S)
        if is_same and is_calm and (missing := sorted(numbers - follower.got.keys())):
            raise Violated(f"nothing is wrong, and {self.name} never got {missing} of {topic}")

    def _told_gap(self, gap: dict[str, Any]) -> None:
        now_s, troubles, reason = self.life.world.now_s, self.life.troubles, gap["reason"]
        topics = topics_of([{"topic": topic} for topic in gap["topics"]])
        has_cause = troubles.was_uneasy_since if reason == "late" else troubles.was_grave_since
        is_apart = troubles.apart_s >= now_s - TOLD_S
        is_calm = not has_cause(now_s - TOLD_S) and not (reason == "split" and is_apart)
        check_gap(self.follower, topics, reason, is_calm=is_calm, is_apart=is_apart)
        self.life.oracle.looked_at[f"gaps, {reason}"] += 1
        for topic in topics:
            self.follower.gaps[topic] += 1
            self.follower.forget(topic)
            self.follower.positions.pop(topic, None)
            self.follower.whole_since_s[topic] = now_s
        self._given(gap["point"])
        self._excuse(topics)

    def _excuse(self, topics: list[str]) -> None:
        """Notes that they have heard of topics of which something may be missing: what comes from now on must come."""
        for topic in topics:
            self._anew.pop(topic, None)
            if topic in self.first:
                self.first[topic] = len(self.life.oracle.publications)


def _position(follower: Follower) -> Position | None:
    """Returns the oldest point that is about something that a user wants; None where there is one of which they have none."""
    positions = [follower.positions.get(topic) for topic in follower.wants]
    known = [each for each in positions if each is not None]
    return min(known, key=lambda each: each.now_s) if known and len(known) == len(positions) else None


def _goes_on(event: dict[str, Any], epoch: int, last: int) -> bool:
    """Returns whether an event comes right behind the number `last`, or shows again what came already."""
    if event.get("after") == [epoch, last]:
        return True
    return bool(event["epoch"] == epoch and event["seq"] <= last + 1)
