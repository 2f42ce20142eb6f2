"""The ring is changed while services publish: brokers come, grow, shrink and leave, and nobody notices (DPS-15, DPS-16)."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import msgspec
import pytest

from broker.options import BrokerOptions
from infra.kernel.errors import Refused
from infra.kernel.frames import OLD_TAG, Announced, Heartbeat, Hello, Leaving, Sealed, Settled, View
from infra.kernel.membership import Timing
from infra.kernel.ring import Ring
from infra.kernel.topics import user_topic
from infra.runtime.turns import in_turns
from tests.support.cluster import FAST, QUICK, Cluster, lenient, steady, unrushed
from tests.support.peer import Peer
from tests.support.user import User, feed

USERS = [f"u{n}" for n in range(12)]


class Load:
    """A service that publishes on all feeds, at whichever broker of the site is open, and repeats what is refused, until it is stopped."""

    def __init__(self, c: Cluster) -> None:
        self.accepted: Counter[str] = Counter()
        self._c, self._stop, self._ids = c, False, count()

    async def run(self) -> None:
        for turn in count():
            if self._stop:
                return
            for user in USERS:
                event = {"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": {"n": self.accepted[user]}}
                await self._publish(event | {"id": f"e-{next(self._ids)}"}, turn)
                self.accepted[user] += 1

    async def _publish(self, event: Mapping[str, object], turn: int) -> None:
        while True:
            doors = [number for number, door in enumerate(self._c.of("broker", "sto")) if door.ready() is None]
            status, answer = await self._c.post([event], broker=doors[turn % len(doors)])
            if (status, answer.get("accepted")) == (202, 1):
                return
            assert status == 503, (status, answer)

    async def rounds(self, number: int) -> None:
        """Waits until so many more rounds are through."""
        goal = self.accepted.total() + number * len(USERS)
        await self._c.until(lambda: self.accepted.total() >= goal or self.task.done())

    async def __aenter__(self) -> "Load":
        self.task = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._stop = True
        await self.task


def got(user: User) -> dict[str, list[int]]:
    """Returns what came of each feed, in the order in which it came."""
    found: dict[str, list[int]] = defaultdict(list)
    for event in user.events:
        found[event["topic"].split("/")[-2]].append(event["payload"]["n"])
    return dict(found)


async def nothing_is_missing(load: Load, *users: User) -> None:
    """Checks that everybody got everything that was accepted, once and in order."""
    for user in users:
        await user.heard(load.accepted.total())
        await user.fence()
        assert got(user) == {name: list(range(number)) for name, number in load.accepted.items()}


def shares_said(c: Cluster, slot: str, since: int) -> set[int]:
    """Returns the shares that brokers have said of `slot`, in frames from number `since` on."""
    views = {each.frame.view for each in c.plan.log[since:] if isinstance(each.frame, Heartbeat) and each.frame.view.slots}
    return {view.share_of[slot] for view in views if slot in view.slots}


async def test_from_three_brokers_to_five_and_back_under_load_costs_no_event(tcp: bool) -> None:
    """DPS-16: 0 lost, 0 twice, in order. Those that come grow in steps, those that leave shrink in steps."""
    async with Cluster(sites=2, brokers=5, aggregators=2, tcp=tcp, change=steady) as c:
        for slot in ("b4", "b5"):
            for site in c.sites:
                await c.leave(f"{site}/{slot}")
        await c.settle()
        async with c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
            for user in (ann, bob):
                await user.follow(*USERS)
            async with Load(c) as load:
                await load.rounds(2)
                since = len(c.plan.log)
                for slot in ("b4", "b5"):
                    await c.restart(f"sto/{slot}")
                await c.settle()
                assert {32 * step for step in range(1, 9)} <= shares_said(c, "b4", since)
                assert {c.owner(user) for user in USERS} & {"sto/b4", "sto/b5"}
                await load.rounds(2)
                since = len(c.plan.log)
                await asyncio.gather(c.leave("sto/b4"), c.leave("sto/b5"))
                await c.settle()
                assert {32 * step for step in range(1, 9)} <= shares_said(c, "b4", since)
                await load.rounds(2)
            await nothing_is_missing(load, ann, bob)


async def test_a_rolling_restart_of_brokers_and_aggregators_under_load_costs_no_event(tcp: bool) -> None:
    """DPS-16: one node after the other is stopped as an operator does it, and started again: 0 lost, 0 twice, in order."""
    async with (
        Cluster(sites=2, brokers=3, aggregators=2, tcp=tcp, change=steady) as c,
        c.user("ann", "sto") as ann,
        c.user("bob", "lon") as bob,
    ):
        for user in (ann, bob):
            await user.follow(*USERS)
        async with Load(c) as load:
            for name in [name for name, role in c.roles.items() if role.role in ("broker", "aggregator") and role.site == "sto"]:
                await load.rounds(1)
                await c.leave(name)
                await c.restart(name)
                await c.settle()
            await load.rounds(1)
        await nothing_is_missing(load, ann, bob)


async def test_a_broker_that_a_plan_has_left_nothing_to_is_out_of_the_view_before_it_stops(tcp: bool) -> None:
    """DPS-15: started again, it came to a view in which it still was, gave everybody full shares, and topics went to it before others had
    called it. What they handed over was lost."""
    async with Cluster(sites=1, brokers=3, tcp=tcp) as c:
        b1, b2 = c.roles["sto/b1"], c.roles["sto/b2"]
        await b2.ring_keeper.aim(b2.view().goal_of, {"b1": 0})
        await c.settle()
        await c.until(lambda: b1.view().share_of["b1"] == 0 and b1.moves.is_over)
        await b1.leave()
        assert b1.view().slots == ("b2", "b3")


async def test_a_broker_that_leaves_while_a_plan_gives_it_topics_hands_them_over(tcp: bool) -> None:
    """DPS-8, DPS-15: it owned nothing when it was asked to stop, and the view that gave it everything was on its way. So it stopped, and
    everybody heard of a loss."""

    def in_one_step(options: Any) -> Any:
        return msgspec.structs.replace(lenient(options), join_steps=1) if isinstance(options, BrokerOptions) else lenient(options)

    async with Cluster(sites=1, brokers=2, tcp=tcp, change=in_one_step) as c, c.user("ann") as ann:
        b1, held = c.roles["sto/b1"], ("sto/b1", "sto/a1")
        await b1.ring_keeper.aim(b1.view().goal_of, {"b2": 0})
        await c.settle()
        await ann.ask("subscribe", topics=[feed(user) for user in USERS], recover=True)
        for user in USERS:
            await c.play(user)
        c.plan.hold("sto/a1", "sto/b1")
        await b1.ring_keeper.aim(b1.view().goal_of, {"b1": 0, "b2": 256})
        await c.until(lambda: "b2" in b1.mesh.membership.done())
        for source in held:
            c.plan.hold(source, "sto/b2")
        c.plan.release("sto/a1", "sto/b1")
        await c.until(lambda: b1.view().share_of == {"b1": 0, "b2": 256})
        leaving = asyncio.create_task(c.leave("sto/b2"))
        await c.until(lambda: b1.mesh.membership.is_leaving("b2"))
        for source in held:
            c.plan.release(source, "sto/b2")
        await leaving
        await c.settle()
        for user in USERS:
            await c.play(user)
        await ann.heard(2 * len(USERS))
        await ann.fence()
        assert ann.answers == []
        for user in USERS:
            first, second = ann.of(user)
            assert (second["epoch"], second["seq"]) == (first["epoch"], first["seq"] + 1)


async def test_a_step_waits_for_every_broker_and_for_all_who_subscribe(tcp: bool) -> None:
    """DPS-15: an aggregator that has not heard of the view holds the next step up, and events arrive all the while."""
    async with Cluster(sites=1, brokers=3, aggregators=2, tcp=tcp) as c, c.user("ann") as ann:
        await ann.follow(*USERS)
        await c.crash("sto/b3")
        await c.settle()
        other = next(name for name in ("sto/a1", "sto/a2") if c.roles[name].address != c.aggregator_of("sto"))
        await c.restart("sto/b3")
        b1 = c.roles["sto/b1"]
        await c.until(lambda: b1.view().share_of.get("b3") is not None)
        for slot in ("b1", "b2", "b3"):
            c.plan.hold(f"sto/{slot}", other)
        held = b1.view()
        beats = b1.links.now_s
        await c.until(lambda: b1.links.now_s > beats + 4 * b1.options.link.heartbeat_s)
        waits = b1.view().share_of["b3"]
        assert waits <= held.share_of["b3"] + 32
        assert waits < 256
        for user in USERS:
            await c.play(user)
        await ann.heard(len(USERS))
        for slot in ("b1", "b2", "b3"):
            c.plan.release(f"sto/{slot}", other)
        await c.settle()
        assert b1.view().share_of["b3"] == 256


async def test_a_broker_that_leaves_takes_its_steps_also_when_a_link_to_it_breaks(tcp: bool) -> None:
    """DPS-15: the link comes back, and was taken for that of a new process, so all that the broker had went to the others at once."""
    async with Cluster(sites=1, brokers=3, aggregators=2, tcp=tcp, change=unrushed) as c:
        await c.settle()
        b1, b2 = c.roles["sto/b1"], c.roles["sto/b2"]
        for slot in ("b1", "b2", "b3"):
            c.plan.hold(f"sto/{slot}", "sto/a2")
        leaving = asyncio.create_task(c.leave("sto/b2"))
        await c.until(lambda: b1.view().goal_of["b2"] == 0)
        link = b2.mesh.client.links["b1"]
        b2.links.hang_up(link.dialled)
        b2.links.dial(link.dialled, "broker", "sto")
        await c.until(lambda: b2.mesh.client.links.get("b1", link) is not link)
        beats = b1.links.now_s
        await c.until(lambda: b1.links.now_s > beats + 2 * b1.options.link.heartbeat_s)
        assert b1.view().share_of.get("b2", 0) >= 256 - 32
        for slot in ("b1", "b2", "b3"):
            c.plan.release(f"sto/{slot}", "sto/a2")
        await leaving


async def test_that_an_earlier_process_leaves_is_nothing_that_the_one_of_today_does(tcp: bool) -> None:
    """DPS-15: its goodbye was on its way when it ended. The broker stayed out of the ring that was started in its place."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, AsyncExitStack() as stack:
        await c.crash("sto/b2")
        former = Peer(c, "broker", "sto/b2")
        stack.push_async_callback(former.node.close)
        await former.dial("sto/b1")
        await c.restart("sto/b2")
        b1 = c.roles["sto/b1"]
        await c.until(lambda: "b2" in b1.mesh.client.links)
        later = View(b1.view().number + 1, ("b1",))
        former.send("sto/b1", Leaving())
        former.send("sto/b1", Heartbeat(later))
        await c.until(lambda: b1.view().number >= later.number)
        assert not b1.mesh.membership.is_leaving("b2")


async def test_a_broker_says_that_it_is_done_only_when_all_who_subscribe_have_parted(tcp: bool) -> None:
    """DPS-15: behind that word, nobody wants anything of it any more that it does not own."""
    async with Cluster(sites=2, brokers=2, tcp=tcp) as c, c.user("ann") as ann:
        await ann.follow(*USERS)
        await c.crash("sto/b2")
        await c.settle()
        await c.restart("sto/b2")
        await c.settle()
        b1 = c.roles["sto/b1"]
        await c.until(lambda: any(said.number == b1.view().number for said in c.frames(Settled, "sto/b1", "sto/b2")))
        assert {b1.ring.owner(topic) for _, topic in b1.core.wanted_here()} <= {"b1"}
        assert isinstance(b1.view(), View)
        assert b1.view().is_there


async def test_while_shares_are_not_full_nobody_is_let_in_who_would_reckon_with_full_ones(tcp: bool) -> None:
    """A node of a version without shares would announce topics to brokers that do not own them."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c:
        b1 = c.roles["sto/b1"]
        old, new = (Hello("aggregator", "old", "sto", 1, 0, View(0, ()), tags=tags) for tags in (OLD_TAG, 31))
        b1.admit(old)
        b1.mesh.offer(View(b1.view().number + 1, ("b1", "b2"), (256, 128)))
        b1.admit(new)
        with pytest.raises(Refused, match="does not know") as refused:
            b1.admit(old)
        assert refused.value.code.name == "unavailable"


async def test_a_former_owner_seals_a_link_that_is_behind_only_when_all_is_served(tcp: bool) -> None:
    """DPS-13: whoever subscribes there confirms the view behind that, so the new owner does not overtake what is still to come."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c:
        await c.settle()
        b1 = c.roles["sto/b1"]
        subscriber = next(iter(b1.subscribers.everyone))
        name = f"sto/{subscriber.link.peer.node}"
        b1.core.laggards.fill(subscriber.bit, b"{")
        view = View(b1.view().number + 1, b1.view().slots)
        b1.mesh.offer(view)
        await c.until(lambda: Sealed(view) in c.frames(Sealed, "sto/b1", "sto/b2"))
        await c.until(lambda: Heartbeat(view) in c.frames(Heartbeat, "sto/b1", name))
        assert Sealed(view) not in c.frames(Sealed, "sto/b1", name)
        assert Announced(view) not in c.frames(Announced, name)
        in_turns(b1.subscribers._serve(subscriber))
        await c.until(lambda: Announced(view) in c.frames(Announced, name, "sto/b1"))
        assert Sealed(view) in c.frames(Sealed, "sto/b1", name)


def unhurried(options: Any) -> Any:
    """Returns options with which nothing is given up while a link is held back."""
    link = msgspec.structs.replace(FAST, heartbeat_s=1.0, silent_s=60.0, hello_s=60.0)
    timing = Timing(suspect_s=QUICK.suspect_s, dead_s=60.0, grace_s=QUICK.grace_s)
    changes = {"link": link, "membership": timing, "handover_s": 60.0}
    return msgspec.structs.replace(options, **{name: value for name, value in changes.items() if hasattr(options, name)})


@pytest.mark.parametrize("slow", ["sto/a1", "lon/b1"])
async def test_an_event_of_the_new_owner_does_not_overtake_what_the_former_one_has_sent(tcp: bool, slow: str) -> None:
    """DPS-17: the former owner's link to an aggregator, or to another site, is slow. Whoever subscribes hears of the view elsewhere; but
    the new owner waits until it has come on that link, too."""
    before, after = Ring(("b1", "b2")), Ring(("b1", "b2", "b3"))
    user = next(name for name in map(str, range(99)) if (before.owner(user_topic(name)), after.owner(user_topic(name))) == ("b1", "b3"))
    async with Cluster(sites=2, brokers=3, tcp=tcp, change=unhurried) as c:
        for site in c.sites:
            await c.leave(f"{site}/b3")
        async with c.user("ann", slow[:3]) as ann:
            await ann.follow(user)
            await c.settle()
            c.plan.hold("sto/b1", slow)
            await c.play(user, broker=0, n=1)
            await c.restart("sto/b3")
            b1, b3 = c.roles["sto/b1"], c.roles["sto/b3"]
            await c.until(lambda: b1.view().slots == b3.view().slots == after.slots and "b3" in b1.mesh.client.links)
            b1.mesh.offer(View(b1.view().number + 1, after.slots))  # a step would wait for the slow link
            posted = asyncio.create_task(c.play(user, broker=0, n=2))
            await c.until(lambda: b3.counters()["broker_handover_bytes"] > 0)
            await c.until(lambda: user_topic(user) in b3.core.interest.rows)
            assert (ann.events, posted.done()) == ([], False)
            c.plan.release("sto/b1", slow)
            await posted
            assert [event["payload"]["n"] for event in await ann.heard(2)] == [1, 2]
