"""The decision service in whole clusters: what it learns is what happens, and what it predicts is what clients get."""

import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from analytics.offloading.plan import PlanOptions
from infra.kernel.frames import Followed, Frame, Heartbeat, Hello, Surveyed, Tally, Unfollowed
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from services.decision.decision import OffloadingDecision
from services.decision.options import DecisionOptions
from services.decision.server import DecisionService
from tests.support.cluster import FAST, Cluster
from tests.support.scripted_decision import NAME, deciding
from tests.support.user import User

PLAN: dict[str, Any] = {"capacity": 16, "threshold": 3, "weight": 1.0, "period_s": 3600.0, "overlap_ms": 0}
# Who follows whom, and how many events each publishes in a period.
FOLLOWS = {"ann": ["bob", "eve"], "cat": ["bob", "dan"], "dan": ["bob", "eve", "fay"], "fay": ["eve"], "gus": ["bob"]}
EVENTS = {"bob": 3, "eve": 5, "dan": 2, "fay": 4}
SITES = {"ann": "sto", "cat": "lon", "dan": "sto", "fay": "lon", "gus": "sto"}


class Deciding(Cluster):
    """Two sites with two brokers each, and a decision service; `settle` knows when it is linked."""

    def __init__(self, *, tcp: bool, **plan: Any) -> None:
        super().__init__(sites=2, brokers=2, tcp=tcp, change=deciding())
        self.options[NAME] = self.deciding = DecisionOptions(
            site="sto",
            node="decision1",
            sites={site: {slot: f"{site}/{slot}" for slot in ("b1", "b2")} for site in ("sto", "lon")},
            plan=PlanOptions(**(PLAN | plan)),
            listen=NAME,
            link=FAST,
        )

    @property
    def decision(self) -> Any:
        return self.roles[NAME]

    async def restart_behind(self, by_s: float) -> None:
        """Starts the decision service again, with a clock that is so much behind."""
        log = get_logger("decision", "decision1", "sto")
        decision = DecisionService(
            self.deciding, Context(network=self.network(NAME), log=log, rng=self.rng, wall=lambda: time.time() - by_s)
        )
        self.roles[NAME] = decision
        self.down.discard(NAME)
        await decision.start()

    async def settle(self) -> None:
        await super().settle()
        await self.until(lambda: len(self.decision.links.links) == len(self.of("broker")) + len(self.of("accesspoint")))

    async def decide(self) -> OffloadingDecision:
        """Makes a decision; returns it once it holds everywhere."""
        made: OffloadingDecision = await self.decision.decide()
        await self.until(lambda: self.epochs() == {made.epoch})
        return made

    def epochs(self) -> set[int]:
        """Returns the epochs that hold anywhere."""
        points = {point.core.offload_notices.assigned.epoch for point in self.of("accesspoint")}
        return points | {broker.core.assigned.epoch for broker in self.of("broker")}

    async def period(self, events: Mapping[str, int]) -> None:
        """Has everybody publish; which broker takes an event, and of which site, does not matter."""
        for number, (user, count) in enumerate(events.items()):
            for turn in range(count):
                await self.play(user, site=("sto", "lon")[(number + turn) % 2], broker=turn % 2)


@asynccontextmanager
async def everybody(c: Cluster) -> AsyncIterator[dict[str, User]]:
    """Yields all who follow somebody, connected at their sites."""
    async with AsyncExitStack() as stack:
        users = {name: await stack.enter_async_context(c.user(name, SITES[name])) for name in FOLLOWS}
        for name, user in users.items():
            while (await user.follow(*FOLLOWS[name]))["installed"] != "all":
                pass
        yield users


def satisfied(users: Mapping[str, User], got: Mapping[str, int], events: Mapping[str, int], threshold: int) -> int:
    """Returns how many got `threshold` events, or all that their friends have published, counted by hand."""
    return sum(got[name] >= min(threshold, sum(events[friend] for friend in FOLLOWS[name])) for name in users)


async def received(c: Cluster, users: Mapping[str, User], expected: int) -> Counter[str]:
    """Returns what everybody has got since the last time, once it is as much as `expected` and nothing more is on its way."""
    await c.until(lambda: sum(len(user.events) for user in users.values()) >= expected)
    for user in users.values():
        await user.fence()
    got = Counter({name: len(user.events) for name, user in users.items()})
    for user in users.values():
        user.events.clear()
    return got


async def test_what_is_counted_under_a_limit_is_what_was_predicted_in_every_period_in_which_rates_are_as_forecast(tcp: bool) -> None:
    """WA-29, SB-65: cost and satisfaction; also when the second decision keeps the first."""
    async with Deciding(tcp=tcp) as c, everybody(c) as users:
        await c.period(EVENTS)
        demand = sum(EVENTS[friend] for friends in FOLLOWS.values() for friend in friends)
        assert (await received(c, users, demand)).total() == demand == 33
        epochs = []
        for _ in range(2):
            made = await c.decide()
            assert 0 < made.cost <= 16
            assert made.value > 0
            assert made.out
            await c.period(EVENTS)
            got = await received(c, users, made.cost)
            assert (got.total(), satisfied(users, got, EVENTS, 3)) == (made.cost, made.value)
            epochs.append((made.epoch, made.out))
        assert epochs[1] == (epochs[0][0] + 1, epochs[0][1])


async def test_only_counts_and_follows_reach_the_service_and_never_an_event(tcp: bool) -> None:
    """SB-63: whoever comes, goes, publishes."""
    async with Deciding(tcp=tcp) as c, everybody(c) as users:
        await users["ann"].ask("unsubscribe", topics=["hm://presence/user/eve/"])
        await c.period(EVENTS)
        await c.decide()
        told: list[Frame] = c.frames(Frame, target=NAME)
        assert {type(frame) for frame in told} == {Hello, Heartbeat, Tally, Followed, Surveyed}
        counted: Counter[bytes] = Counter()
        for tally in c.frames(Tally, target=NAME):
            counted.update(dict(zip(tally.topics, tally.counts, strict=True)))
        assert counted == {b"U" + name.encode(): count for name, count in EVENTS.items()}
        await users["cat"].ask("unsubscribe", topics=["hm://presence/user/dan/"])
        await c.decide()
        (ended,) = c.frames(Unfollowed, target=NAME)
        assert (ended.users, ended.topics) == (["cat"], [b"Udan"])


async def test_nodes_that_restart_and_a_service_that_does_come_to_the_same_decision(tcp: bool) -> None:
    """A broker, an access point, the service: in turn, each loses its memory."""
    async with Deciding(tcp=tcp) as c, everybody(c):
        await c.period(EVENTS)
        made = await c.decide()
        for name in ("lon/b1", "sto/ap1"):
            await c.crash(name)
            await c.restart(name)
            await c.until(lambda: len(c.decision.links.links) == 6)
            await c.until(lambda: c.epochs() == {made.epoch})
        await c.crash(NAME)
        await c.restart(NAME)
        await c.until(lambda: len(c.decision.links.links) == 6)
        assert c.epochs() == {made.epoch}
        async with c.user("ann") as ann:
            assert (await ann.follow("bob", "eve"))["installed"] == "all"
            await c.period(EVENTS)
            again = await c.decide()
        assert again.epoch > made.epoch
        # At the access point that was killed, ann alone is back; those of the other site have never been away.
        assert again.topics == 3


async def test_a_service_that_is_back_with_its_clock_behind_is_heard_at_once(tcp: bool) -> None:
    """SB-68: brokers and access points tell which epoch holds there, and the first decision is newer."""
    async with Deciding(tcp=tcp) as c, everybody(c):
        await c.period(EVENTS)
        before = await c.decide()
        await c.crash(NAME)
        await c.restart_behind(3600)
        await c.until(lambda: len(c.decision.links.links) == 6)
        await c.period(EVENTS)
        after = await c.decide()
        assert (after.epoch, after.out) == (before.epoch + 1, before.out)
        assert all(door.counters()["broker_assignments_stale_total"] == 0 for door in c.of("broker"))


async def test_at_a_reduced_rate_what_is_counted_is_what_was_predicted_and_within_the_limit(tcp: bool) -> None:
    """SB-65: an event a period, and site, of each topic that is out."""
    async with Deciding(tcp=tcp, capacity=26, every_ms=3_600_000) as c, everybody(c) as users:
        await c.period(EVENTS)
        await received(c, users, 33)
        made = await c.decide()
        assert made.out
        assert made.value > 0
        assert 0 < made.reduced <= made.cost + made.reduced <= 26
        await c.period(EVENTS)
        got = await received(c, users, made.cost + made.reduced)
        counters = c.decision.counters()
        assert got.total() == made.cost + made.reduced == counters["decision_expected_deliveries"] + counters["decision_reduced_deliveries"]
        assert satisfied(users, got, EVENTS, 3) >= made.value


async def test_who_unsubscribes_makes_room_for_others() -> None:
    """WA-29: new statistics, another decision. bob costs 12 deliveries of 19; eve costs 15 at first, and 5 when only fay is left."""
    async with Deciding(tcp=False, capacity=19) as c, everybody(c) as users:
        await c.period(EVENTS)
        before = await c.decide()
        assert (before.value, b"Ueve" in before.out) == (4, True)
        for name in ("ann", "dan"):
            await users[name].ask("unsubscribe", topics=["hm://presence/user/eve/"])
        await c.period(EVENTS)
        after = await c.decide()
        assert (after.value, after.cost, b"Ueve" in after.came) == (5, 19, True)
