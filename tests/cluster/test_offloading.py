"""Topics leave real time and come back: whole clusters, and a decision service that says what the test says."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from infra.kernel.frames import Applied, Deliver, Frame, Leaving, Publish, Subscribe, Surveyed
from infra.kernel.topics import Topic, parse_topic, user_topic
from tests.support.assignments import assignment
from tests.support.cluster import Cluster
from tests.support.scripted_decision import ScriptedDecision, deciding
from tests.support.user import User, feed

BOB, EVE = user_topic("bob"), user_topic("eve")
MIX_URI = "hm://playlist/user/dan/playlist/mix/"
MIX = parse_topic(MIX_URI)


def end_overlaps(c: Cluster, now_s: float = 1e9) -> None:
    """Ends, for every broker, the overlap of what has left."""
    for door in c.of("broker"):
        door.offloading.tick(now_s)


class Stream:
    """Plays of bob, numbered, one after the other, now at this site and now at that: `begun` of them, `done` of those."""

    def __init__(self, c: Cluster) -> None:
        self.begun = self.done = 0
        self._cluster = c

    async def run(self) -> None:
        """Goes on for ever."""
        while True:
            self.begun += 1
            await self._cluster.play("bob", site=("sto", "lon")[self.done % 2], n=self.done)
            self.done += 1

    async def more(self) -> None:
        """Returns after a few further ones."""
        enough = self.done + 7
        await self._cluster.until(lambda: self.done >= enough)


def numbers(user: User) -> list[Any]:
    return [event["payload"]["n"] for event in user.events]


async def heard_of(user: User, epoch: int) -> dict[str, Any]:
    """Returns what a client is told of one epoch."""
    found = await user.answer(lambda m: m["op"] == "offloaded" and m["epoch"] == epoch)
    return {key: found[key] for key in ("left", "back", "every_ms")}


def held_back(c: Cluster) -> int:
    return sum(door.core.offloaded for door in c.of("broker"))


async def test_what_is_out_reaches_nobody_at_any_site_and_comes_back_with_the_true_gap(tcp: bool) -> None:
    """SB-64: whatever the site that it is published at; other topics go on."""
    async with Cluster(sites=2, brokers=2, tcp=tcp, change=deciding()) as c, ScriptedDecision(c) as decision:
        async with c.user("ann") as ann, c.user("lars", "lon") as lars:
            for user in (ann, lars):
                await user.follow("bob", "eve")
            await c.play("bob", n=1)
            for user in (ann, lars):
                await user.heard(1)
            await decision.say(assignment(1, BOB))
            for user in (ann, lars):
                assert await heard_of(user, 1) == {"left": [feed("bob")], "back": [], "every_ms": 0}
            copies = len(c.frames(Deliver))
            for site in ("sto", "lon"):
                await c.play("bob", site=site, n=2)
            assert (len(c.frames(Deliver)), held_back(c)) == (copies, 2)
            await c.play("eve", n=3)
            await decision.say(assignment(2, base=1, come=(BOB,)))
            await c.play("bob", n=4)
            for user in (ann, lars):
                assert await heard_of(user, 2) == {"left": [], "back": [feed("bob")], "every_ms": 0}
                await user.heard(3)
                first, last = (event["seq"] for event in user.events if event["topic"] == feed("bob"))
                assert (sorted(numbers(user)), last - first) == ([1, 3, 4], 2)


async def test_a_topic_that_leaves_and_comes_back_loses_nothing_in_between_and_shows_nothing_twice(tcp: bool) -> None:
    """SB-66: everything of the overlap arrives, once; then nothing does, until it is back."""
    async with (
        Cluster(sites=2, tcp=tcp, change=deciding()) as c,
        ScriptedDecision(c) as decision,
        c.user("ann") as ann,
        c.user("lars", "lon") as lars,
    ):
        for user in (ann, lars):
            await user.follow("bob")
        await c.play("bob", n=1)
        await decision.say(assignment(1, BOB, overlap_ms=60_000))
        for n in (2, 3, 4):
            await c.play("bob", n=n)
        end_overlaps(c)
        await c.play("bob", n=5)
        await decision.say(assignment(2, base=1, come=(BOB,)))
        await c.play("bob", n=6)
        for user in (ann, lars):
            await user.heard(5)
            await user.fence()
            assert numbers(user) == [1, 2, 3, 4, 6]
            assert [event["seq"] - user.events[0]["seq"] for event in user.events] == [0, 1, 2, 3, 5]


async def test_whoever_publishes_while_topics_switch_loses_nothing_up_to_the_end_of_each_overlap(tcp: bool) -> None:
    """SB-66: ten switches under a stream of events, of which every one arrives once that is published while the topic is in real time
    or in its overlap."""
    async with (
        Cluster(sites=2, tcp=tcp, change=deciding()) as c,
        ScriptedDecision(c) as decision,
        c.user("ann") as ann,
        c.user("lars", "lon") as lars,
    ):
        for user in (ann, lars):
            await user.follow("bob")
        stream = Stream(c)
        publishing = asyncio.create_task(stream.run())
        sure, never, begin = set[int](), set[int](), 0
        for epoch in range(1, 11, 2):
            await decision.say(assignment(epoch, BOB, base=epoch - 1, overlap_ms=60_000))
            await stream.more()
            sure |= set(range(begin, stream.done))
            end_overlaps(c, 1e9 * epoch)
            begin = stream.begun
            await stream.more()
            never |= set(range(begin, stream.done))
            await decision.say(assignment(epoch + 1, base=epoch, come=(BOB,)))
            begin = stream.begun
        await stream.more()
        sure |= set(range(begin, stream.done))
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        assert len(never) >= 25
        assert len(sure) >= 25
        for user in (ann, lars):
            await c.until(lambda user=user: sure <= set(numbers(user)))  # type: ignore[misc]
            await user.fence()
            assert sorted(numbers(user)) == sorted(set(numbers(user)) - never)


async def test_at_a_reduced_rate_one_event_in_the_time_arrives(tcp: bool) -> None:
    async with Cluster(sites=1, tcp=tcp, change=deciding()) as c, ScriptedDecision(c) as decision, c.user("ann") as ann:
        await ann.follow("bob", "eve")
        await decision.say(assignment(1, BOB, every_ms=600_000))
        assert await heard_of(ann, 1) == {"left": [feed("bob")], "back": [], "every_ms": 600_000}
        for n in (1, 2, 3):
            await c.play("bob", n=n)
        await c.play("eve", n=4)
        await ann.heard(2)
        assert (numbers(ann), held_back(c)) == ([1, 4], 2)


async def test_notifications_of_a_playlist_that_is_out_still_arrive(tmp_path: Path) -> None:
    """SB-67: live on the inbox, and pulled later; its events in real time do not. An assignment that names an inbox is not obeyed there."""
    notice = {"id": "mix-1", "topic": MIX_URI, "kind": "add", "producer": "dan", "payload": {"n": 1}, "followers": ["ann", "bob"]}
    async with Cluster(sites=1, state=tmp_path, change=deciding()) as c, ScriptedDecision(c) as decision, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[MIX_URI], wait="all")
        await decision.say(assignment(1, MIX, parse_topic("hm://notifications/inbox/ann/")))
        await c.post({"topic": MIX_URI, "kind": "add", "payload": {"n": 1}}, service="playlist")
        assert held_back(c) == 1
        status, _ = await c.notify(notice, service="playlist")
        assert status == 202
        (live,) = await ann.heard(1)
        assert (live["topic"], live["id"]) == ("hm://notifications/inbox/ann/", "mix-1")
        async with c.user("bob") as bob:
            pulled = await bob.ask("pull", since=0)
            assert [item["id"] for item in pulled["items"]] == ["mix-1"]


async def test_a_stale_epoch_is_ignored_everywhere(tcp: bool) -> None:
    """SB-68: by brokers and by access points, which tell their clients nothing."""
    async with Cluster(sites=1, brokers=2, tcp=tcp, change=deciding()) as c, ScriptedDecision(c) as decision, c.user("ann") as ann:
        await ann.follow("bob", "eve")
        await decision.say(assignment(5, BOB))
        await heard_of(ann, 5)
        for stale in (assignment(4, EVE), assignment(5), assignment(3, EVE, base=2)):
            for link in decision.node.links:
                link.send(stale)
        await c.until(lambda: all(door.counters()["broker_assignments_stale_total"] == 3 for door in c.of("broker")))
        (point,) = c.of("accesspoint")
        await c.until(lambda: point.counters()["accesspoint_assignments_stale_total"] == 3)
        await c.play("bob", n=1)
        await c.play("eve", n=2)
        await ann.heard(1)
        await ann.fence()
        assert (numbers(ann), ann.answers, decision.epochs(), decision.lost) == ([2], [], {5}, [])


async def test_who_subscribes_to_what_is_out_is_told_so_whatever_the_access_point(tcp: bool) -> None:
    async with Cluster(sites=2, tcp=tcp, change=deciding()) as c, ScriptedDecision(c) as decision:
        await decision.say(assignment(7, BOB, every_ms=50))
        for site in ("sto", "lon"):
            async with c.user("ann", site) as ann:
                assert (await ann.follow("bob", "eve"))["installed"] == "all"
                assert await heard_of(ann, 7) == {"left": [feed("bob")], "back": [], "every_ms": 50}


async def test_a_broker_and_an_access_point_that_restart_get_the_whole(tcp: bool) -> None:
    async with Cluster(sites=1, brokers=2, tcp=tcp, change=deciding()) as c, ScriptedDecision(c) as decision:
        whole = assignment(3, BOB, EVE)
        await decision.say(whole)
        decision.whole = [assignment(3, BOB, last=False), assignment(3, EVE)]
        for name in ("sto/b1", "sto/b2", "sto/ap1"):
            await c.crash(name)
            await c.restart(name)
            await c.until(lambda: decision.epochs() == {3})
        await c.settle()
        async with c.user("ann") as ann:
            await ann.follow("bob", "eve", "dan")
            assert sorted((await heard_of(ann, 3))["left"]) == [feed("bob"), feed("eve")]
            for user in ("bob", "eve", "dan"):
                await c.play(user, n=user)
            await ann.heard(1)
            assert numbers(ann) == ["dan"]


async def test_what_was_said_last_goes_on_without_the_service_and_with_every_owner(tcp: bool) -> None:
    """Each broker has the whole assignment, so a topic that moves to another one stays out."""
    async with Cluster(sites=1, brokers=2, tcp=tcp, change=deciding()) as c, c.user("ann") as ann:
        async with ScriptedDecision(c) as decision:
            await decision.say(assignment(1, BOB))
        await ann.follow("bob", "eve")
        await c.crash(c.owner("bob"))
        await c.settle()
        await c.play("bob", n=1)
        await c.play("eve", n=2)
        await ann.heard(1)
        assert (numbers(ann), held_back(c)) == ([2], 1)


async def test_a_change_that_cannot_be_followed_ends_the_link_which_comes_back_with_the_whole(tcp: bool) -> None:
    async with Cluster(sites=1, tcp=tcp, change=deciding()) as c, ScriptedDecision(c) as decision:
        await decision.say(assignment(1, BOB))
        decision.whole = [assignment(9, EVE)]
        for link in decision.node.links:
            link.send(assignment(9, EVE, base=8))
        await c.until(lambda: decision.epochs() == {9})
        assert len(decision.lost) == 2
        assert all("changes 8, but 1 holds here" in reason for reason in decision.lost)


async def test_brokers_count_what_is_published_there_once_and_access_points_who_follows_it(tcp: bool) -> None:
    """SB-63: at every site, by the owner, out or not; a user with two connections is one."""
    async with Cluster(sites=2, brokers=2, tcp=tcp, change=deciding()) as c, c.user("ann") as phone:
        await phone.follow("bob", "eve")
        async with ScriptedDecision(c) as decision, c.user("ann") as desktop, c.user("lars", "lon") as lars:
            await desktop.follow("bob")
            await lars.follow("bob")
            await lars.ask("subscribe", topics=["hm://notifications/feed/a%new-album/"])
            await decision.say(assignment(1, BOB))
            plays: Counter[Topic] = Counter({BOB: 3, EVE: 2})
            for topic, count in plays.items():
                for n in range(count):
                    await c.play(topic[1:].decode(), site="lon" if n == 0 else "sto", broker=n % 2)
            await decision.survey()
            assert decision.counts == plays
            assert decision.followed() == {("ann", BOB), ("ann", EVE), ("lars", BOB)}
            await phone.ask("unsubscribe", topics=[feed("bob"), feed("eve")])
            await c.play("eve", n=9)
            await decision.survey()
            assert decision.counts == plays + Counter([EVE])
            assert decision.followed() == {("ann", BOB), ("lars", BOB)}
            assert decision.repeated == 0


async def test_after_a_link_that_broke_access_points_tell_everything_again_and_brokers_begin_to_count(tcp: bool) -> None:
    async with Cluster(sites=1, tcp=tcp, change=deciding()) as c, c.user("ann") as ann:
        await ann.follow("bob")
        async with ScriptedDecision(c) as decision:
            await c.play("bob", n=1)
            for wire in c.plan.wires[decision.name]:
                wire.abort()
            await c.until(lambda: len(decision.lost) == 2 and len(decision.node.links) == 2)
            await c.play("bob", n=2)
            await decision.survey()
            assert (decision.counts, decision.followed(), decision.repeated) == ({BOB: 1}, {("ann", BOB)}, 0)
        await c.play("bob", n=3)
        assert len(c.of("broker")[0].core.counts) == 0


async def test_there_is_one_decision_service_at_a_time_and_another_takes_over_when_it_is_gone(tcp: bool) -> None:
    async with Cluster(sites=1, tcp=tcp, change=deciding("sto/decision1", "sto/decision2")) as c, c.user("ann") as ann:
        await ann.follow("bob")
        (door,), (point,) = c.of("broker"), c.of("accesspoint")
        async with ScriptedDecision(c) as first:
            second = ScriptedDecision(c, "sto/decision2")
            await second.node.listen(second.name)
            second.node.dial("sto/b1", "broker", "sto")
            await c.until(lambda: door.links.refused > 0)
            await c.until(lambda: any("there is one at a time" in reason for reason in second.lost))
            await first.say(assignment(1, BOB))
        await c.until(lambda: len(second.node.links) == 2)
        await second.say(assignment(2, EVE))
        await second.survey()
        assert second.followed() == {("ann", BOB)}
        assert point.core.offload_notices.assigned.out == door.core.assigned.out == {EVE}
        await second.node.close()


async def test_a_service_that_says_what_is_not_its_business_loses_that_link_and_nobody_else_does(tcp: bool) -> None:
    """Frames of others, on both kinds of link; what was said before goes on."""
    async with Cluster(sites=1, tcp=tcp, change=deciding()) as c, ScriptedDecision(c) as decision, c.user("ann") as ann:
        await ann.follow("bob", "eve")
        await decision.say(assignment(1, BOB))
        wrong: list[Frame] = [
            Deliver([0], [b"{}"]),
            Subscribe(1, [0], [BOB]),
            Publish(1, 0, [EVE], [b""], [b"x"]),
            Leaving(),
            Applied(1 << 40, {}),
            Surveyed(1),
        ]
        for n, frame in enumerate(wrong):
            await c.until(lambda: len(decision.node.links) == 2)
            for link in list(decision.node.links):
                link.send(frame)
            await c.until(lambda n=n: len(decision.lost) == 2 * (n + 1))  # type: ignore[misc]
        assert all("from a decision makes no sense here" in reason for reason in decision.lost)
        await c.play("bob", n=1)
        await c.play("eve", n=2)
        await ann.heard(1)
        assert numbers(ann) == [2]
