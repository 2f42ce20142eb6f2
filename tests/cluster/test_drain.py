"""Brokers that leave and come back while services publish: nobody misses an event, nobody gets one twice."""

import asyncio
from collections import Counter, defaultdict
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from accesspoint import source as sources
from accesspoint.move import Step
from accesspoint.options import AccessPointOptions
from broker.options import BrokerOptions
from infra.kernel.frames import Fence, Fenced, Heartbeat, Publish
from infra.kernel.topics import format_topic, user_topic
from tests.support.cluster import DEADLINE_S, FAST, Cluster, lenient, steady
from tests.support.user import User

USERS = [f"u{n}" for n in range(8)]


class Publisher:
    """A publisher on all feeds, round after round, through one broker of each site, until it is stopped."""

    def __init__(self, c: Cluster, brokers: dict[str, int]) -> None:
        self.accepted: Counter[tuple[str, str]] = Counter()
        self._c, self._brokers, self._stop = c, brokers, False

    async def run(self) -> None:
        while not self._stop:
            for site, broker in self._brokers.items():
                batch = [
                    {"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": {"n": self.accepted[user, site]}} for user in USERS
                ]
                status, answer = await self._c.post(batch, site=site, broker=broker)
                assert (status, answer["rejected"]) == (202, []), answer
                self.accepted.update((user, site) for user in USERS)

    async def rounds(self, number: int) -> None:
        """Waits until so many more rounds are through."""
        goal = self.accepted.total() + number * len(USERS) * len(self._brokers)
        await self._c.until(lambda: self.accepted.total() >= goal or self.task.done())

    async def __aenter__(self) -> "Publisher":
        self.task = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._stop = True
        await self.task


@pytest.mark.parametrize("leaving", ["sto/b1", "sto/b3"])
async def test_a_broker_that_leaves_and_comes_back_costs_no_event(tcp: bool, leaving: str) -> None:
    """Leaving -> the others take over -> it is closed -> it starts again: every accepted event reaches every follower
    at both sites once, in order per topic and site, and crosses the site link once (SB-24). The lowest slot issues views, so it
    is tried too."""
    async with Cluster(sites=2, brokers=3, aggregators=2, accesspoints=2, tcp=tcp) as c:
        async with c.user("ann", "sto") as ann, c.user("bob", "sto", 1) as bob, c.user("cyd", "lon") as cyd:
            for user in (ann, bob, cyd):
                await user.follow(*USERS)
            async with Publisher(c, {"sto": 1, "lon": 1}) as publisher:
                await publisher.rounds(3)
                await c.leave(leaving)
                await publisher.rounds(3)
                await c.restart(leaving)
                await c.settle()
                await publisher.rounds(3)
            for user in (ann, bob, cyd):
                await user.heard(publisher.accepted.total())
                await user.fence()
                assert in_order(user) == {key: list(range(count)) for key, count in publisher.accepted.items()}
            for here, there in (("sto", "lon"), ("lon", "sto")):
                assert c.copies(f"{here}/", f"{there}/") == sum(n for (_, site), n in publisher.accepted.items() if site == here)


async def test_the_last_broker_of_a_site_waits_for_no_successor() -> None:
    """All of them leave, one after the other: each hands over to those that stay, the last one goes at once."""
    async with Cluster(sites=1, brokers=3) as c, c.user("ann") as ann:
        await ann.follow(*USERS)
        for name in ("sto/b1", "sto/b3"):
            await c.leave(name)
            for user in USERS:
                await c.play(user)
        await ann.heard(2 * len(USERS))
        async with asyncio.timeout(c.of("broker")[0].options.drain_s / 2):
            await c.leave("sto/b2")


async def test_a_broker_that_leaves_takes_nothing_new_and_passes_on_what_still_comes(tcp: bool) -> None:
    """Its door answers 503 `draining`; the other broker, which has not heard of it yet, has its event accepted."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("ann") as ann:
        user = next(user for user in USERS if c.owner(user) == "sto/b2")
        await ann.follow(user)
        event = {"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": {}}
        for source in ("sto/b2", "sto/a1", "sto/p1"):
            c.plan.hold(source, "sto/b1")
        leaving = asyncio.create_task(c.roles["sto/b2"].drain())
        await c.until(lambda: c.roles["sto/b2"].mesh.draining)
        status, answer = await c.post(event, broker=1)
        assert (status, answer["code"]) == (503, "draining")
        asked = asyncio.create_task(c.post(event, broker=0))
        await ann.heard(1)
        for source in ("sto/b2", "sto/a1", "sto/p1"):
            c.plan.release(source, "sto/b1")
        assert (await asked)[0] == 202
        await leaving
        await c.leave("sto/b2")
        assert (await c.post(event, broker=0))[0] == 202
        await ann.heard(2)


def at_once(options: Any) -> Any:
    """Returns the options of a role with which brokers leave in one step, and nobody is given up whose frames are held back."""
    changed = msgspec.structs.replace(steady(options), link=msgspec.structs.replace(FAST, silent_s=DEADLINE_S))
    return msgspec.structs.replace(changed, join_steps=1) if isinstance(changed, BrokerOptions) else changed


async def test_a_broker_that_leaves_waits_for_what_is_on_its_way_to_it_and_for_what_it_has_passed_on(tcp: bool) -> None:
    """SB-24: nothing of it is left but an event that another one had sent when it did not know of the view, and then its answer. Both
    are held back here, and its publisher is told `accepted` all the same."""
    async with Cluster(sites=1, brokers=3, tcp=tcp, change=at_once) as c:
        b1, b2 = c.of("broker")[:2]
        moving = next(topic for topic in map(user_topic, USERS) if (b1.ring.owner(topic), b1.ring.heir(topic)) == ("b2", "b3"))
        beats = partial(c.frames, Heartbeat, "sto/b2", "sto/b3")

        async def stays() -> None:
            number = len(beats())
            await c.until(lambda: leaving.done() or len(beats()) > number + 5)
            assert not leaving.done()

        c.plan.hold("sto/b1", "sto/b2")
        asked = asyncio.create_task(c.post({"topic": format_topic(moving), "kind": "play", "payload": {}}))
        await c.until(lambda: bool(c.frames(Publish, "sto/b1", "sto/b2")))
        leaving = asyncio.create_task(c.leave("sto/b2"))
        await c.until(lambda: "b2" not in b2.mesh.view.slots and b2.moves.is_over and not any(b2.core.wanted_here()))
        await stays()
        c.plan.hold("sto/b3", "sto/b2")
        c.plan.release("sto/b1", "sto/b2")
        await c.until(lambda: bool(c.frames(Publish, "sto/b2", "sto/b3")))
        await stays()
        c.plan.release("sto/b3", "sto/b2")
        assert await asked == (202, {"accepted": 1, "rejected": []})
        await leaving


def in_order(user: User) -> dict[tuple[str, str], list[int]]:
    """Returns what came of each feed from each site, in the order in which it came."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for event in user.events:
        found[event["topic"].split("/")[-2], event["site"]].append(event["payload"]["n"])
    return dict(found)


# Aggregators.


@pytest.mark.parametrize("rounds", range(3))
async def test_an_aggregator_that_leaves_costs_no_event(tcp: bool, rounds: int) -> None:
    """Its access points go to the other one while services publish: every accepted event reaches every follower once, in order per
    topic and site, and nobody sees a gap. Access points call the other one for no longer than three heartbeats, so these are long."""
    async with Cluster(sites=2, brokers=3, aggregators=2, accesspoints=3, tcp=tcp, seed=rounds, change=lenient) as c:
        async with AsyncExitStack() as stack:
            users = [await stack.enter_async_context(c.user(f"l{n}", "sto", n)) for n in range(3)]
            for user in users:
                await user.follow(*USERS)
            leaving, failed_over = c.aggregator_of("sto"), failovers(c)
            async with Publisher(c, {"sto": 1, "lon": 1}) as publisher:
                await publisher.rounds(2 + rounds)
                await c.leave(leaving)
                await publisher.rounds(3)
                await c.restart(leaving)
                await publisher.rounds(3)
                await c.leave(c.aggregator_of("sto"))
                await publisher.rounds(3)
            for user in users:
                await user.heard(publisher.accepted.total())
                await user.fence()
                assert in_order(user) == {key: list(range(count)) for key, count in publisher.accepted.items()}
        moves = sum((Counter(point.upstream.source.moves) for point in c.of("accesspoint", "sto")), Counter())
        assert moves.keys() == {"whole"}
        assert failovers(c) == failed_over


def failovers(c: Cluster) -> int:
    """Returns how often access points of the first site have lost their aggregator; on a busy machine also while they start."""
    return sum(point.upstream.source.failovers for point in c.of("accesspoint", "sto"))


def unhurried(options: Any) -> Any:
    """Returns options with which nothing is given up while a link is held back."""
    changes = {"link": msgspec.structs.replace(FAST, heartbeat_s=5.0, silent_s=60.0, hello_s=60.0), "drain_s": 60.0}
    return msgspec.structs.replace(options, **{name: value for name, value in changes.items() if hasattr(options, name)})


async def test_an_aggregator_is_left_when_other_sites_have_nothing_more_on_its_way(tcp: bool) -> None:
    """Found by the simulation: an event of another site was on its way to a broker that left at the same time. Nobody was there any more
    who had wanted it of that broker."""
    async with Cluster(sites=2, aggregators=2, tcp=tcp, change=unhurried) as c, c.user("ann") as ann:
        await ann.follow("dan")
        c.plan.hold("lon/b1", "sto/b1")
        leaving = asyncio.create_task(c.leave(c.aggregator_of("sto")))
        await c.until(lambda: bool(c.frames(Fence)))
        await c.play("dan", n=1)
        await ann.heard(1)
        assert (c.frames(Fenced), leaving.done()) == ([], False)
        c.plan.release("lon/b1", "sto/b1")
        await leaving
        assert c.of("accesspoint")[0].upstream.source.moves == {"whole": 1}


async def test_the_last_aggregator_of_a_site_waits_for_nobody() -> None:
    async with Cluster(sites=1, aggregators=2) as c, c.user("ann") as ann:
        await ann.follow(*USERS)
        first = c.aggregator_of("sto")
        await c.leave(first)
        for user in USERS:
            await c.play(user)
        await ann.heard(len(USERS))
        (last,) = c.of("aggregator")
        async with asyncio.timeout(last.options.drain_s / 2):
            await c.leave(f"sto/{last.node}")
        await c.restart(first)
        await c.settle()
        await c.play(USERS[0])
        await ann.heard(len(USERS) + 1)


PATIENT = msgspec.structs.replace(FAST, silent_s=60.0)


def patient(options: Any, **of_points: Any) -> Any:
    """Returns the options of a role whose links may be held up for as long as a test likes."""
    fields = of_points if isinstance(options, AccessPointOptions) else {}
    return msgspec.structs.replace(options, link=PATIENT, **fields)


class Leaving:
    """A site whose access point moves from `old` to the next aggregator, where one frame after the other can be held up."""

    def __init__(self, tcp: bool, **of_points: Any) -> None:
        self.c = Cluster(sites=1, aggregators=3, tcp=tcp, change=partial(patient, **of_points))
        self.plays = 0

    async def __aenter__(self) -> "Leaving":
        await self.c.__aenter__()
        (self.point,) = self.c.of("accesspoint")
        self.source = self.point.upstream.source
        # On a busy machine it may have gone on to the next one already.
        addresses = [self.source.address, *self.source._others()]
        self.old, self.new, self.third = (f"sto/{address.partition('/')[2]}" for address in addresses)
        self.ann = self.c.user("ann")
        await self.ann.__aenter__()
        await self.ann.follow(*USERS)
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self.ann.__aexit__(*exc)
        await self.c.__aexit__(*exc)

    async def play(self, rounds: int = 3) -> None:
        """Has everybody play; returns when the broker has it."""
        for _ in range(rounds):
            for user in USERS:
                event = {"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": {"n": self.plays}}
                assert (await self.c.post(event))[0] == 202
            self.plays += 1

    def leave(self) -> asyncio.Task[None]:
        return asyncio.create_task(self.c.leave(self.old))

    async def reaches(self, step: Step) -> None:
        await self.c.until(lambda: self.source._move is not None and self.source._move.step is step)

    async def has_heard_everything(self) -> None:
        await self.ann.heard(self.plays * len(USERS))
        await self.ann.fence()
        assert in_order(self.ann) == {(user, "sto"): list(range(self.plays)) for user in USERS}

    async def has_heard_the_newest(self) -> None:
        """Waits until the last event of everybody has come, which may have replaced others. Nothing comes twice or out of order."""
        await self.c.until(lambda: sum(event["payload"]["n"] == self.plays - 1 for event in self.ann.events) >= len(USERS))
        await self.ann.fence()
        for numbers in in_order(self.ann).values():
            assert numbers == sorted({*numbers})


async def test_what_is_on_its_way_to_the_aggregator_that_leaves_is_waited_for_and_not_overtaken(tcp: bool) -> None:
    async with Leaving(tcp) as site:
        site.c.plan.hold("sto/b1", site.old)
        await site.play()
        leaving = site.leave()
        await site.reaches(Step.FENCING)
        await site.play()
        await site.c.until(lambda: site.c.copies(site.new, "sto/ap1") == 3 * len(USERS))
        await site.ann.fence()
        assert (site.ann.events, leaving.done()) == ([], False)
        site.c.plan.release("sto/b1", site.old)
        await leaving
        await site.has_heard_everything()
        assert site.source.moves == {"whole": 1}


async def test_an_aggregator_that_dies_before_it_has_taken_over_costs_no_event(tcp: bool) -> None:
    """The one that leaves goes on meanwhile, and then the next one takes over."""
    async with Leaving(tcp) as site:
        site.c.plan.hold("sto/b1", site.new)
        leaving = site.leave()
        await site.reaches(Step.ANNOUNCING)
        await site.play()
        await site.ann.heard(site.plays * len(USERS))
        await site.c.crash(site.new)
        site.c.plan.release("sto/b1", site.new)
        await leaving
        await site.play()
        await site.has_heard_everything()
        assert (site.source.moves, site.source.address) == ({"whole": 1}, site.third)


async def test_where_the_one_that_leaves_dies_the_newest_of_what_has_waited_comes_at_once(tcp: bool) -> None:
    """As in a failover: of presence the next one gives the newest."""
    async with Leaving(tcp) as site:
        site.c.plan.hold("sto/b1", site.old)
        leaving = site.leave()
        await site.reaches(Step.FENCING)
        await site.play()
        await site.c.until(lambda: site.c.copies(site.new, "sto/ap1") == site.plays * len(USERS))
        await site.c.crash(site.old)
        await site.has_heard_the_newest()
        assert site.source.moves == {"cut": 1}
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)


async def test_where_too_much_waits_the_next_one_takes_over_at_once(tcp: bool) -> None:
    async with Leaving(tcp, move_bytes=1000) as site:
        site.c.plan.hold("sto/b1", site.old)
        leaving = site.leave()
        await site.reaches(Step.FENCING)
        await site.play()
        await leaving
        await site.has_heard_the_newest()
        assert site.source.moves == {"cut": 1}
        site.c.plan.release("sto/b1", site.old)


async def test_an_aggregator_whose_access_points_find_no_other_one_says_so_and_waits_no_longer(tcp: bool) -> None:
    async with Leaving(tcp) as site:
        for other in (site.new, site.third):
            await site.c.crash(other)
        with capture_logs() as lines:
            await site.c.leave(site.old)
        assert [line["points"] for line in lines if line["event"].startswith("no other aggregator")] == [1]
        await site.c.start(site.new)
        await site.c.until(lambda: site.source.link is not None)


async def test_the_last_other_aggregator_is_called_for_longer_while_the_one_that_leaves_delivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found under load: it had just been started, answered too late, and events were lost that somebody could still have delivered."""
    monkeypatch.setattr(sources, "LAST_BEATS", 1 << 20)
    async with Leaving(tcp=False) as site:
        await site.c.crash(site.new)
        site.c.plan.hold(site.third, "sto/ap1")
        leaving = site.leave()
        await site.c.until(lambda: site.source._waited > sources.FAILOVER_BEATS and not site.source._untried)
        assert (site.source._move is not None, leaving.done()) == (True, False)
        site.c.plan.release(site.third, "sto/ap1")
        await leaving
        await site.play()
        await site.has_heard_everything()
        assert site.source.moves == {"whole": 1}


async def test_an_aggregator_waits_for_its_access_points_no_longer_than_it_may(tcp: bool) -> None:
    async with Leaving(tcp) as site:
        role = site.c.roles[site.old]
        role.options = msgspec.structs.replace(role.options, drain_s=0.05)
        site.c.plan.hold("sto/b1", site.old)
        with capture_logs() as lines:
            await site.c.leave(site.old)
        assert [line["points"] for line in lines if line["event"] == "access points have not moved"] == [1]
        await site.c.until(lambda: site.source.link is not None and site.source._move is None)
        await site.play()
        await site.has_heard_everything()
        site.c.plan.release("sto/b1", site.old)


async def test_numbers_of_topics_are_not_given_to_others_while_events_wait_that_name_them(tcp: bool) -> None:
    async with Leaving(tcp) as site, site.c.user("bob") as bob:
        await bob.follow("dan")
        site.c.plan.hold("sto/b1", site.old)
        leaving = site.leave()
        await site.reaches(Step.FENCING)
        await site.c.play("dan")
        await site.c.until(lambda: site.c.copies(site.new, "sto/ap1") == 1)
        await bob.ask("unsubscribe", topics=["hm://presence/user/dan/"])
        site.c.plan.release("sto/b1", site.old)
        await site.c.until(lambda: site.source._move is None or site.source._move.step is Step.CATCHING_UP)
        await bob.follow("eve")
        await leaving
        await site.c.play("eve")
        await bob.heard(1)
        await bob.fence()
        assert [event["topic"] for event in bob.events] == ["hm://presence/user/eve/"]
