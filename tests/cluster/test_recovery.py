"""Links that break and come back: who is behind them misses nothing of what is recorded, gets nothing twice, and all of it in order."""

from itertools import pairwise

import msgspec
import pytest

from aggregator.options import AggregatorOptions
from broker.options import BrokerOptions
from broker.window_bounds import WindowBounds
from infra.kernel.frames import Applied, Deliver, Heartbeat, Resume, Subscribe
from infra.kernel.topics import Kind, Topic
from infra.runtime import introduction
from segue.cluster.role_spec import RoleOptions
from tests.support.cluster import FAST, Cluster
from tests.support.peer import Peer
from tests.support.user import User

MIX = "hm://playlist/user/ann/playlist/mix/"
INBOX = "hm://notifications/inbox/ann/"


async def change(c: Cluster, *numbers: int, site: str = "sto", topic: str = MIX) -> None:
    """Changes a playlist, once for each of `numbers`."""
    events = [{"topic": topic, "kind": "changed", "payload": {"n": n}} for n in numbers]
    status, answer = await c.post(events, site=site, service="playlist")
    assert (status, answer["accepted"]) == (202, len(numbers)), answer


def counter(c: Cluster, name: str) -> int:
    return sum(broker.counters()[name] for broker in c.of("broker"))


def heard(user: User) -> list[int]:
    return [event["payload"]["n"] for event in user.events]


def steps(user: User) -> list[int]:
    """Returns by how much numbers rise from one event to the next."""
    numbers = [event["seq"] for event in user.events]
    return [later - earlier for earlier, later in pairwise(numbers)]


async def test_an_aggregator_that_was_cut_off_from_a_broker_gets_what_followed_before_what_is_live(tcp: bool) -> None:
    """DPS-10: nothing is missing, nothing is twice, and nothing live overtakes."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[MIX], wait="all")
        await change(c, 0, 1)
        await ann.heard(2)
        for cut in range(2):
            c.partition("sto/a1", "sto/b1")
            await c.until(lambda: not c.linked("sto/a1", "sto/b1"))
            first = 2 + 50 * cut
            await change(c, *range(first, first + 40))
            c.heal()
            await change(c, *range(first + 40, first + 50))
            assert [event["payload"]["n"] for event in await ann.heard(first + 50)] == list(range(first + 50))
        assert set(steps(ann)) == {1}
        assert counter(c, "broker_window_served_total") >= 80
        assert counter(c, "broker_links_behind") == 0


async def test_a_site_that_was_cut_off_gets_what_followed_from_each_other_site(tcp: bool) -> None:
    """DPS-10: over the links between sites, in both directions, and what is live goes behind it."""
    async with Cluster(sites=2, brokers=2, tcp=tcp) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        for user in (ann, bob):
            await user.ask("subscribe", topics=[MIX], wait="all")
        await change(c, 0, site="sto")
        await change(c, 1, site="lon")
        for user in (ann, bob):
            await user.heard(2)
        await c.settle()
        await c.until(lambda: all(broker.mesh.era() for broker in c.of("broker")))
        c.partition("sto", "lon")
        await c.settle()
        await change(c, *range(10, 40), site="sto")
        await change(c, *range(50, 80), site="lon")
        await c.until(lambda: len(ann.events) == len(bob.events) == 32)
        c.heal()
        await c.settle()
        await change(c, 90, site="sto")
        for user in (ann, bob):
            await user.heard(63)
            await user.fence()
            numbers = heard(user)
            assert sorted(numbers) == [0, 1, *range(10, 40), *range(50, 80), 90]
            assert [n for n in numbers if 10 <= n < 40 or n == 90] == [*range(10, 40), 90]
            assert [n for n in numbers if 50 <= n < 80] == list(range(50, 80))


async def test_of_users_the_latest_event_comes_and_says_what_it_replaced(tcp: bool) -> None:
    """DPS-7, DPS-10: a client is not told of a gap for what a newer event has replaced."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        await ann.follow("dan")
        await c.play("dan", n=0)
        await ann.heard(1)
        c.partition("sto/a1", "sto/b1")
        await c.until(lambda: not c.linked("sto/a1", "sto/b1"))
        for n in range(1, 5):
            await c.play("dan", n=n)
        c.heal()
        first, last = await ann.heard(2)
        assert (last["payload"], last["seq"] - first["seq"]) == ({"n": 4}, 4)
        assert last["skipped"] >= 3


async def test_what_is_too_old_when_a_link_is_back_is_lost_and_counted(tcp: bool) -> None:
    """DPS-12: the rest comes all the same, and the numbers show what is missing."""

    def hurried(options: RoleOptions) -> RoleOptions:
        return (
            msgspec.structs.replace(options, window={Kind.PLAYLIST: WindowBounds(seconds=0.1)})
            if isinstance(options, BrokerOptions)
            else options
        )

    async with Cluster(sites=1, tcp=tcp, change=hurried) as c, c.user("ann") as ann, c.user("bob", point=0) as bob:
        for user in (ann, bob):
            await user.ask("subscribe", topics=[MIX])
        await change(c, 0)
        await ann.heard(1)
        c.partition("sto/a1", "sto/b1")
        await c.until(lambda: not c.linked("sto/a1", "sto/b1"))
        await change(c, 1, 2, 3)
        await c.until(lambda: counter(c, "broker_window_events") == 0)
        c.heal()
        await c.settle()
        await change(c, 4)
        assert [event["payload"]["n"] for event in await ann.heard(2)] == [0, 4]
        assert counter(c, "broker_window_passed_total") >= 3


@pytest.mark.parametrize("size", [100, 2_000])
async def test_a_link_on_which_too_much_waits_is_behind_and_drops_nothing_that_is_recorded(tcp: bool, size: int) -> None:
    """DPS-12: it is served when there is room again."""

    def narrow(options: RoleOptions) -> RoleOptions:
        if isinstance(options, BrokerOptions):
            return msgspec.structs.replace(options, max_link_queue_bytes=20_000, link=msgspec.structs.replace(FAST, silent_s=30.0))
        if isinstance(options, AggregatorOptions):
            return msgspec.structs.replace(options, link=msgspec.structs.replace(FAST, silent_s=30.0))
        return options

    async with Cluster(sites=1, tcp=tcp, change=narrow) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[MIX])
        c.plan.hold("sto/b1", "sto/a1")
        await change(c, *range(90))
        c.plan.release("sto/b1", "sto/a1")
        assert [event["payload"]["n"] for event in await ann.heard(90)] == list(range(90))
        assert counter(c, "broker_link_drops_total") == 0


async def test_stamps_that_were_never_given_end_the_link(tcp: bool) -> None:
    """DPS-9: and a stamp of another life is none."""
    async with Cluster(sites=1, tcp=tcp) as c, Peer(c, "aggregator", "sto/x1") as peer:
        broker = c.of("broker")[0]
        await peer.dial("sto/b1")
        peer.send("sto/b1", Resume({broker.window.epoch - 1: 1 << 60}))
        peer.send("sto/b1", Subscribe(1, [0], [Topic(b"Pann/mix")]))
        await c.until(lambda: bool(peer.of(Applied)))
        assert peer.lost == []
        await peer.dial("sto/b1")
        peer.send("sto/b1", Resume({broker.window.epoch: broker.window.stamp + 1000}))
        await c.until(lambda: bool(peer.lost))


async def test_a_stamp_that_falls_changes_nothing(tcp: bool) -> None:
    """DPS-10: nobody asks again for what they have."""
    async with Cluster(sites=1, tcp=tcp) as c:
        client = c.roles["sto/a1"]._brokers
        link = client.links["b1"]
        for stamp in (50, 20):
            client.frames(link, [Deliver([], [], {7: stamp})])
            client.taken(link)
        assert client.stamps[7] == 50
        client.frames(link, [Heartbeat(client.view, {9: 1})])
        client.taken(link)
        assert next(iter(client.stamps.items())) == (9, 1)
        assert client.stamps[7] == 50, "it has come, though nobody says so any more"


async def test_a_peer_of_before_is_served_as_it_was(tcp: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-10: it says no stamps, and is told what it wants from the moment that it says so."""
    monkeypatch.setattr(introduction, "HIGHEST_TAG", 31)
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[MIX])
        await change(c, 0)
        await ann.heard(1)
        c.partition("sto/a1", "sto/b1")
        await c.until(lambda: not c.linked("sto/a1", "sto/b1"))
        await change(c, 1)
        c.heal()
        await c.settle()
        await change(c, 2)
        assert [event["payload"]["n"] for event in await ann.heard(2)] == [0, 2]
        assert c.frames(Resume) == []
