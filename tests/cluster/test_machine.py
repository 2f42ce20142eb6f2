"""A cluster that lives through a random life, against a dumb model of who follows whom.

Whatever happens: nobody gets what they do not follow, nothing twice, and everything in order per topic and site; a jump of
the numbers is never larger than what was missed. And what is published while everybody knows who is there (after
`settle`, and through graceful leaves and returns) reaches every follower that can be reached.

Some go away and come back, some of them to the other site. They say a point, numbers, or both. Nothing comes to them twice, but for what
they did not say that they have. Where they are told that nothing is missing, all of what was published at their site is there of playlists,
and the newest of users. Where they are not told so, there is a reason, and nothing comes of what they missed. And where nothing went wrong
meanwhile, whoever says a point at the same site is told that nothing is missing (DPS-5, DPS-6, DPS-7, DPS-9).
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Coroutine
from itertools import pairwise
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from infra.kernel.loss_reasons import LossReason
from tests.support.cluster import Cluster
from tests.support.user import User, feed

T = TypeVar("T")
SITES = ("sto", "lon")
# Of playlists all events are kept, of users the newest.
LISTS: Final = ["p0", "p1"]
TOPICS = [*LISTS, *(f"t{n}" for n in range(4))]
# What somebody says who is back.
SAYS: Final = ("point", "since", "both")
NAMES = [f"u{n}" for n in range(6)]
TOPIC_SETS = st.sets(st.sampled_from(TOPICS), min_size=1)
PICKS = st.integers(0, 11)
# Each site has two nodes of each of these roles, and one of the two is always there.
NODES = [f"{site}/{kind}{n}" for site in SITES for kind in ("b", "a", "ap") for n in (1, 2)]


class Follower(NamedTuple):
    """One connection: where it is, what it follows, how far its events have been looked at; `earlier` ones came on another connection.

    `again`: of these topics something may come again under its number, for nobody said that it had come.
    """

    user: User
    site: str
    point: str
    follows: set[str]
    seen: list[dict[str, Any]]
    earlier: int = 0
    again: frozenset[str] = frozenset()


class Absence(NamedTuple):
    """Somebody who is away: what they had, and how many publications, and mishaps, there were by then."""

    site: str
    follows: set[str]
    seen: list[dict[str, Any]]
    point: str | None
    since: int
    mishaps: int


class Publication(NamedTuple):
    topic: str
    site: str


def uri(topic: str) -> str:
    """Returns the URI of a topic."""
    return f"hm://playlist/user/ann/playlist/{topic}/" if topic in LISTS else feed(topic)


def numbers(seen: list[dict[str, Any]], follows: set[str]) -> dict[str, dict[str, list[int]]]:
    """Returns the last number of each topic and site among events, as a client says it."""
    since: dict[str, dict[str, list[int]]] = {}
    for event in seen:
        if event["topic"].split("/")[-2] in follows:
            since.setdefault(event["topic"], {})[event["site"]] = [event["epoch"], event["seq"]]
    return since


class ClusterMachine(RuleBasedStateMachine):
    """`looked_at`: what has been checked in all lives so far; a life in which nothing arrives proves nothing."""

    looked_at: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.followers: dict[str, Follower] = {}
        self.publications: list[Publication] = []
        self.accepted: set[int] = set()
        self.away: dict[str, Absence] = {}
        # `mishaps` are never forgotten; `faults` are those since everybody knew who is there.
        self.faults = self.mishaps = 0

    @property
    def settled(self) -> bool:
        """Whether nothing went wrong since everybody knew who is there."""
        return not self.faults

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(coroutine)

    @initialize(seed=st.integers(0, 1 << 16))
    def begin(self, seed: int) -> None:
        async def make() -> Cluster:
            return Cluster(sites=2, brokers=2, aggregators=2, accesspoints=2, seed=seed)

        self.c = self.run(make())
        self.run(self.c.__aenter__())
        for n, name in enumerate(NAMES[:4]):
            self.connect(name=name, site=SITES[n % 2], point=n // 2)
            self.run(self._subscribe(self.followers[name], {TOPICS[n], TOPICS[n + 1]}))
        for n, name in enumerate((NAMES[0], NAMES[2])):  # of playlists, and of users
            self.run(self._go_away(name, self.followers[name]))
            self.run(self._recover(name, self.away.pop(name), SITES[0], 1, SAYS[(seed + n) % len(SAYS)]))

    def teardown(self) -> None:
        try:
            self.run(self._end())
        finally:
            self.loop.close()

    async def _end(self) -> None:
        self.c.heal()
        await self.c.settle()
        for name, absence in self.away.items():
            await self._recover(name, absence, absence.site, 0, "both")
        await self._look()
        for follower in self.followers.values():
            await follower.user.__aexit__()
        await self.c.__aexit__(None)

    # What clients do.

    @rule(name=st.sampled_from(NAMES), site=st.sampled_from(SITES), point=st.sampled_from((0, 1)))
    def connect(self, name: str, site: str, point: int) -> None:
        if name not in self.followers and name not in self.away:
            self.run(self._connect(name, site, point))

    async def _connect(self, name: str, site: str, point: int) -> None:
        points = self.c.of("accesspoint", site)
        place = points[point % len(points)]
        user = self.c.user(name, site, point % len(points))
        await user.__aenter__()
        self.followers[name] = Follower(user, site, f"{site}/{place.node}", set(), [])

    @precondition(lambda self: self.followers)
    @rule(pick=PICKS, kill=st.booleans())
    def disconnect(self, pick: int, kill: bool) -> None:
        self.run(self._disconnect(self.followers.pop(self._picked(pick)), kill))

    async def _disconnect(self, follower: Follower, kill: bool) -> None:
        if kill:
            follower.user.kill()
        await follower.user.__aexit__()
        self._check(follower)

    @precondition(lambda self: self.followers)
    @rule(pick=PICKS)
    def go_away(self, pick: int) -> None:
        name = self._picked(pick)
        self.run(self._go_away(name, self.followers[name]))

    async def _go_away(self, name: str, follower: Follower) -> None:
        if self.settled and not self.c.plan.cuts:
            point: str | None = await follower.user.point()
        else:  # perhaps none is given
            await follower.user.ws.send('{"op":"ping","point":true}')
            point = (await follower.user.answer(lambda m: m["op"] == "pong"))["point"]
        await self._disconnect(self.followers.pop(name), kill=True)
        self.away[name] = Absence(follower.site, follower.follows, follower.seen, point, len(self.publications), self.mishaps)
        for n, topic in enumerate(sorted(follower.follows)[:2]):
            for _ in range(2):
                await self._publish(topic, follower.site, n)

    @precondition(lambda self: self.away)
    @rule(pick=PICKS, is_elsewhere=st.sampled_from((False, False, True)), point=st.sampled_from((0, 1)), says=st.sampled_from(SAYS))
    def recover(self, pick: int, is_elsewhere: bool, point: int, says: str) -> None:
        name = list(self.away)[pick % len(self.away)]
        was = self.away.pop(name)
        site = next(each for each in SITES if (each != was.site) == is_elsewhere)
        self.run(self._recover(name, was, site, point, says))

    async def _recover(self, name: str, was: Absence, site: str, point: int, says: str) -> None:
        await self._connect(name, site, point)
        user = self.followers[name].user
        known = numbers(was.seen, was.follows) if says != "point" else {}
        said: dict[str, Any] = {"point": was.point} if was.point and says != "since" else {}
        said |= {"since": known} if known else {}
        again = frozenset(topic for topic in was.follows if uri(topic) not in known)
        self.followers[name] = follower = self.followers[name]._replace(
            follows=was.follows, seen=was.seen, earlier=len(was.seen), again=again
        )
        if not was.follows:
            return
        before = len(self.publications)
        wait = "all" if self.settled and not self.c.plan.cuts else "local"
        answer = await user.ask("subscribe", topics=[uri(topic) for topic in sorted(was.follows)], recover=True, wait=wait, **said)
        came = list(user.events)
        self._check(follower)
        lost = {each["topic"].split("/")[-2]: LossReason(each["reason"]) for each in answer["lost"]}
        assert answer["recovered"] == (not lost)
        assert lost.keys() <= was.follows
        assert answer["replayed"] <= len(came)
        has_point, is_calm = "point" in said and site == was.site, self.settled and self.mishaps == was.mishaps
        if has_point and is_calm:
            assert not lost, f"nothing went wrong, and {lost} are lost"
            self.looked_at["surely recovered"] += 1
        if is_calm and said:  # who says nothing has missed nothing: what comes is live
            self._check_nothing_came_of(lost.keys(), came, before)
        if said and site == was.site:
            self._check_recovered(follower, was, {topic for topic in was.follows if has_point or uri(topic) in known} - lost.keys())
        if lost:
            self.looked_at["lost"] += 1

    def _check_recovered(self, follower: Follower, was: Absence, recovered: set[str]) -> None:
        """Looks whether all that was missed of playlists is there, and the newest of users."""
        has = {event["payload"]["n"] for event in follower.seen}
        for topic in recovered:
            missed = {n for n in self.accepted if n >= was.since and self.publications[n] == (topic, was.site)}
            if missed:
                wanted = missed if topic in LISTS else {max(missed)}
                assert wanted <= has, (topic, wanted - has, follower)
                self.looked_at["recovered" if topic not in LISTS else "recovered whole"] += 1

    def _check_nothing_came_of(self, topics: Collection[str], came: list[dict[str, Any]], before: int) -> None:
        """Looks whether nothing came of lost topics that was published before they were asked for: it is all or nothing."""
        for event in came:
            assert event["topic"].split("/")[-2] not in topics or event["payload"]["n"] >= before, event

    @precondition(lambda self: self.followers)
    @rule(pick=PICKS, topics=TOPIC_SETS)
    def subscribe(self, pick: int, topics: set[str]) -> None:
        self.run(self._subscribe(self.followers[self._picked(pick)], topics))

    def _picked(self, pick: int) -> str:
        return list(self.followers)[pick % len(self.followers)]

    async def _subscribe(self, follower: Follower, topics: set[str]) -> None:
        follower.follows.update(topics)
        wait = "all" if self.settled and not self.c.plan.cuts else "local"
        answer = await follower.user.ask("subscribe", topics=[uri(topic) for topic in sorted(topics)], wait=wait)
        assert not self.settled or answer["installed"] != "partial", answer
        if self.settled and self.c.plan.cuts:
            await self.c.settle()

    @precondition(lambda self: self.followers)
    @rule(pick=PICKS, topics=TOPIC_SETS)
    def unsubscribe(self, pick: int, topics: set[str]) -> None:
        follower = self.followers[self._picked(pick)]
        self.run(follower.user.ask("unsubscribe", topics=[uri(topic) for topic in sorted(topics)]))
        self._check(follower)
        follower.follows.difference_update(topics)

    # What services do.

    @rule(topic=st.sampled_from(TOPICS), site=st.sampled_from(SITES), broker=st.sampled_from((0, 1)), times=st.integers(1, 3))
    def publish(self, topic: str, site: str, broker: int, times: int) -> None:
        for _ in range(times):
            self.run(self._publish(topic, site, broker))

    async def _publish(self, topic: str, site: str, broker: int) -> None:
        ready = [index for index, door in enumerate(self.c.of("broker", site)) if door.ready() is None]
        if not ready:
            return
        n = len(self.publications)
        self.publications.append(Publication(topic, site))
        event = {"topic": uri(topic), "kind": "play", "payload": {"n": n}}
        service = "playlist" if topic in LISTS else "presence"
        status, answer = await self.c.post(event, site=site, broker=ready[broker % len(ready)], service=service)
        if answer.get("accepted") == 1:
            self.accepted.add(n)
        if self.settled:
            assert (status, answer.get("accepted")) == (202, 1), answer
            for follower in self.followers.values():
                if topic in follower.follows and not self.c.plan.is_cut(f"{site}/", f"{follower.site}/"):
                    await self._until_heard(follower.user, n)
                    self.looked_at["promised"] += 1

    async def _until_heard(self, user: User, n: int) -> None:
        try:
            await user.until(lambda: user.closed is not None or any(event["payload"]["n"] == n for event in user.events))
        except TimeoutError:
            raise AssertionError(f"{user} never got {n} {self.publications[n]}") from None
        assert user.closed is None

    # What goes wrong, and right again.

    @precondition(lambda self: self.faults < 2)
    @rule(name=st.sampled_from(NODES))
    def crash(self, name: str) -> None:
        if self._has_peer(name):
            self._note_fault()
            self.run(self._crash(name))

    async def _crash(self, name: str) -> None:
        await self.c.crash(name)
        for who, follower in list(self.followers.items()):
            if follower.point == name:
                await self._disconnect(self.followers.pop(who), kill=False)

    @precondition(lambda self: self.settled)
    @rule(name=st.sampled_from([name for name in NODES if "/b" in name]))
    def leave(self, name: str) -> None:
        if self._has_peer(name):
            self.run(self.c.leave(name))

    @precondition(lambda self: self.c.down)
    @rule(pick=PICKS)
    def come_back(self, pick: int) -> None:
        self.run(self.c.restart(sorted(self.c.down)[pick % len(self.c.down)]))

    @precondition(lambda self: self.faults < 2 and not self.c.plan.cuts)
    @rule()
    def cut(self) -> None:
        self._note_fault()
        self.c.partition(*SITES)

    @precondition(lambda self: self.c.plan.cuts)
    @rule()
    def heal(self) -> None:
        self._note_fault()
        self.c.heal()

    @precondition(lambda self: not self.settled)
    @rule()
    def settle(self) -> None:
        self.run(self.c.settle())
        self.run(self._look())
        self.faults = 0

    def _note_fault(self) -> None:
        self.faults += 1
        self.mishaps += 1

    def _has_peer(self, name: str) -> bool:
        other = name[:-1] + ("2" if name.endswith("1") else "1")
        return name in self.c.roles and other in self.c.roles

    # What must hold.

    async def _look(self) -> None:
        for follower in self.followers.values():
            await follower.user.fence()
            self._check(follower)

    def _check(self, follower: Follower) -> None:
        """What came since the last look, against what is followed now."""
        news = follower.user.events[len(follower.seen) - follower.earlier :]
        for event in news:
            topic = event["topic"].split("/")[-2]
            assert topic in follower.follows
            assert self.publications[event["payload"]["n"]] == (topic, event["site"])
            self.looked_at["events"] += 1
        news = [event for event in news if not self._may_be_known(follower, event)]
        follower.seen.extend(news)
        by_origin: dict[Publication, list[dict[str, Any]]] = defaultdict(list)
        for event in follower.seen:
            by_origin[self.publications[event["payload"]["n"]]].append(event)
        for origin, events in by_origin.items():
            for earlier, later in pairwise(events):
                self._check_step(origin, earlier, later)

    def _may_be_known(self, follower: Follower, event: dict[str, Any]) -> bool:
        """Returns whether an event has come on an earlier connection, and its follower has not said so."""
        topic, n = event["topic"].split("/")[-2], event["payload"]["n"]
        return topic in follower.again and any(n == each["payload"]["n"] for each in follower.seen)

    def _check_step(self, origin: Publication, earlier: dict[str, Any], later: dict[str, Any]) -> None:
        before, after = earlier["payload"]["n"], later["payload"]["n"]
        assert before < after, f"{origin}: {after} came after {before}"
        if earlier["epoch"] == later["epoch"]:
            self.looked_at["steps"] += 1
            missed = self.publications[before + 1 : after].count(origin)
            assert 1 <= later["seq"] - earlier["seq"] <= 1 + missed


def test_a_random_life() -> None:
    """SB-10, SB-18, SB-25, SB-28, SB-59, SB-61 together, with DPS-5, DPS-6, DPS-7 and DPS-9; numbers and order of design 6."""
    run_state_machine_as_test(
        ClusterMachine,
        settings=settings(
            max_examples=8,
            stateful_step_count=25,
            derandomize=True,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert min(ClusterMachine.looked_at[kind] for kind in ("promised", "events", "steps")) > 10, ClusterMachine.looked_at
    assert min(ClusterMachine.looked_at[kind] for kind in ("recovered", "recovered whole", "surely recovered")) > 5, (
        ClusterMachine.looked_at
    )
