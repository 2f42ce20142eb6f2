"""Clients that were away, by themselves, without the SDK: what they missed comes, or they are told that something may be missing."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from accesspoint.options import AccessPointOptions
from accesspoint.point import write_point
from aggregator.options import AggregatorOptions
from broker.options import BrokerOptions
from broker.window_bounds import WindowBounds
from infra.kernel.frames import Recall, Strayed
from infra.kernel.topics import Kind, parse_topic
from infra.runtime import introduction
from segue.cluster.role_spec import RoleOptions
from tests.support.cluster import Cluster, lenient, steady
from tests.support.user import User, feed

MIX = "hm://playlist/user/ann/playlist/mix/"
OTHER = "hm://playlist/user/ann/playlist/other/"


async def change(c: Cluster, *numbers: int, site: str = "sto", topic: str = MIX) -> None:
    """Changes a playlist, once for each of `numbers`."""
    events = [{"topic": topic, "kind": "changed", "payload": {"n": n}} for n in numbers]
    status, answer = await c.post(events, site=site, service="playlist")
    assert (status, answer["accepted"]) == (202, len(numbers)), answer


async def point_of(c: Cluster, user: User) -> str:
    """Returns a point of `user` that has everything that was published by now."""
    await c.settle()
    stamps = {broker.window.epoch: broker.window.stamp for broker in c.of("broker", "sto")}
    had = c.of("accesspoint", "sto")[0].core.recoveries.own
    await c.until(lambda: all(had.stamps.get(epoch, 0) >= stamp for epoch, stamp in stamps.items()))
    return await user.point()


def heard(user: User) -> list[int]:
    return [event["payload"]["n"] for event in user.events]


def recovery(answer: dict[str, Any]) -> tuple[bool, list[dict[str, str]], int]:
    return answer["recovered"], answer["lost"], answer["replayed"]


def since(user: User) -> dict[str, dict[str, list[int]]]:
    """Returns the last number of each topic and site that `user` has."""
    last: dict[str, dict[str, list[int]]] = {}
    for event in user.events:
        last.setdefault(event["topic"], {})[event["site"]] = [event["epoch"], event["seq"]]
    return last


async def test_a_client_that_was_away_gets_what_it_missed_and_then_what_is_live(tcp: bool) -> None:
    """DPS-5, DPS-6: in order, once, and the answer comes behind it."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c:
        async with c.user("ann") as ann:
            assert ann.welcome["window"] == {
                "playlist": {"keep": "all", "seconds": 120.0},
                "user": {"keep": "latest", "seconds": 120.0},
            }
            answer = await ann.ask("subscribe", topics=[MIX, OTHER], recover=True)
            assert recovery(answer) == (True, [], 0)
            await change(c, 0, 1)
            await ann.heard(2)
            point, last = await point_of(c, ann), since(ann)
        await change(c, 2, 3)
        await change(c, 9, topic=OTHER)
        async with c.user("ann") as ann:
            answer = await ann.ask("subscribe", topics=[MIX, OTHER], recover=True, point=point, since=last)
            assert recovery(answer) == (True, [], 3)
            assert isinstance(answer["point"], str)
            assert sorted(heard(ann)) == [2, 3, 9]
            await change(c, 4)
            assert [n for n in (event["payload"]["n"] for event in await ann.heard(4)) if n != 9] == [2, 3, 4]
            assert len({(event["topic"], event["epoch"], event["seq"]) for event in ann.events}) == 4


async def test_who_asks_for_nothing_is_told_nothing_new(tcp: bool) -> None:
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        answer = await ann.ask("subscribe", topics=[MIX])
        assert set(answer) == {"op", "id", "installed", "missing_sites", "rejected"}
        await ann.ws.send('{"op":"ping"}')
        assert set(await ann.answer(lambda m: m["op"] == "pong")) == {"op", "time_ms"}
        await c.of("accesspoint")[0].drain()
        assert set(await ann.answer(lambda m: m["op"] == "error")) == {"op", "id", "code", "number", "reason", "reconnect_in_ms"}


async def test_who_goes_elsewhere_because_an_access_point_drains_has_a_point(tcp: bool) -> None:
    """DPS-9: with it they get what they miss on the way."""
    async with Cluster(sites=1, accesspoints=2, tcp=tcp) as c:
        async with c.user("ann", point=0) as ann:
            await ann.ask("subscribe", topics=[MIX], recover=True)
            await point_of(c, ann)
            await c.of("accesspoint")[0].drain()
            goodbye = await ann.answer(lambda m: m["op"] == "error")
        await change(c, 1)
        async with c.user("ann", point=1) as ann:
            answer = await ann.ask("subscribe", topics=[MIX], recover=True, point=goodbye["point"])
            assert (recovery(answer), heard(ann)) == ((True, [], 1), [1])


async def test_of_users_the_newest_comes_and_counts_the_others(tcp: bool) -> None:
    """DPS-7."""
    async with Cluster(sites=1, tcp=tcp) as c:
        async with c.user("ann") as ann:
            await ann.ask("subscribe", topics=[feed("dan")], recover=True)
            await c.play("dan", n=0)
            (first,) = await ann.heard(1)
            point, last = await point_of(c, ann), since(ann)
        for n in range(1, 5):
            await c.play("dan", n=n)
        for how in ({"point": point}, {"since": last}, {"point": point, "since": last}):
            async with c.user("ann") as ann:
                answer = await ann.ask("subscribe", topics=[feed("dan")], recover=True, **how)
                assert recovery(answer) == (True, [], 1)
                (event,) = ann.events
                assert (event["payload"], event["seq"] - first["seq"], event["skipped"] >= 3) == ({"n": 4}, 4, True)


def hurried(**bounds: Any) -> Any:
    """Returns a change of options after which playlists have these bounds."""

    def apply(options: RoleOptions) -> RoleOptions:
        windows = {Kind.PLAYLIST: WindowBounds(**bounds)}
        return msgspec.structs.replace(options, window=windows) if isinstance(options, BrokerOptions) else options

    return apply


async def test_who_was_away_for_too_long_hears_that_at_once(tcp: bool) -> None:
    """DPS-5: and gets nothing of the topic that is not all of it."""
    async with Cluster(sites=1, tcp=tcp, change=hurried(seconds=0.1)) as c:
        async with c.user("ann") as ann:
            await ann.ask("subscribe", topics=[MIX], recover=True)
            point = await point_of(c, ann)
        await change(c, 1)
        await c.until(lambda: c.of("broker")[0].counters()["broker_window_events"] == 0)
        await c.settle()
        async with c.user("ann") as ann:
            answer = await ann.ask("subscribe", topics=[MIX], recover=True, point=point)
            assert (recovery(answer), heard(ann)) == ((False, [{"topic": MIX, "reason": "expired"}], 0), [])


async def test_who_missed_more_of_a_topic_than_is_kept_hears_that_and_has_the_others(tcp: bool) -> None:
    """DPS-2, DPS-5, DPS-6: all or nothing for each topic."""
    async with Cluster(sites=1, tcp=tcp, change=hurried(events=3)) as c:
        async with c.user("ann") as ann:
            await ann.ask("subscribe", topics=[MIX, OTHER], recover=True)
            point = await point_of(c, ann)
        await change(c, 1, 2, 3, 4)
        await change(c, 5, topic=OTHER)
        async with c.user("ann") as ann:
            answer = await ann.ask("subscribe", topics=[MIX, OTHER], recover=True, point=point)
            assert recovery(answer) == (False, [{"topic": MIX, "reason": "too-much"}], 1)
            assert heard(ann) == [5]


async def test_at_another_site_numbers_recover_and_a_point_does_not(tcp: bool) -> None:
    """DPS-5, DPS-9."""
    async with Cluster(sites=2, tcp=tcp) as c, c.user("bob", "lon") as bob:
        await bob.ask("subscribe", topics=[MIX], wait="all")
        async with c.user("ann", "sto") as ann:
            await ann.ask("subscribe", topics=[MIX, OTHER], recover=True, wait="all")
            await change(c, 0)
            await ann.heard(1)
            point, last = await point_of(c, ann), since(ann)
        await change(c, 1, 2)
        await bob.heard(3)
        for how, lost in ({"point": point}, [MIX, OTHER]), ({"point": point, "since": last}, [OTHER]), ({"since": last}, [OTHER]):
            async with c.user("ann", "lon") as ann:
                answer = await ann.ask("subscribe", topics=[MIX, OTHER], recover=True, **how)
                assert [each["topic"] for each in answer["lost"]] == lost
                assert {each["reason"] for each in answer["lost"]} == {"other-site" if "point" in how else "expired"}
                assert heard(ann) == ([] if MIX in lost else [1, 2])


async def test_topics_without_a_window_say_so(tcp: bool) -> None:
    """DPS-3, DPS-5: at once, and nobody is asked."""
    topic = "hm://notifications/feed/bjork%new-album/"
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        answer = await ann.ask("subscribe", topics=[topic], recover=True, point=write_point("sto", {1: 1}))
        assert recovery(answer) == (False, [{"topic": topic, "reason": "no-window"}], 0)
        assert c.frames(Recall) == []


async def test_peers_of_before_keep_nothing_for_clients(tcp: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-10: a client that recovers hears that there is no window, and is served as today."""
    monkeypatch.setattr(introduction, "HIGHEST_TAG", 34)
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        assert ann.welcome["window"] == {}
        answer = await ann.ask("subscribe", topics=[MIX], recover=True, point=write_point("sto", {1: 1}))
        assert recovery(answer) == (False, [{"topic": MIX, "reason": "no-window"}], 0)
        await change(c, 1)
        await ann.heard(1)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"point": "no point"}, "bad-field"),
        ({"point": "gaFh"}, "bad-field"),
        ({"point": "p" * 1025}, "bad-field"),
        ({"point": 7}, "bad-field"),
        ({"since": {MIX: {"sto": [1]}}}, "bad-field"),
        ({"since": {MIX: {"sto": [-1, 2]}}}, "bad-field"),
        ({"since": {MIX: {"sto": [1, 1 << 63]}}}, "bad-field"),
        ({"since": {f"hm://presence/user/u{n}/": {} for n in range(2001)}}, "too-many-topics"),
        ({"since": {MIX: {f"s{n}": [1, 1] for n in range(65)}}}, "bad-field"),
    ],
)
async def test_what_is_no_point_and_no_number_is_refused(fields: dict[str, Any], code: str) -> None:
    """DPS-9: with a code, and the connection goes on; nothing is followed."""
    async with Cluster(sites=1) as c, c.user("ann") as ann:
        answer = await ann.ask("subscribe", topics=[MIX], recover=True, **fields)
        assert (answer["op"], answer["code"]) == ("error", code)
        assert c.frames(Recall) == []
        assert (await ann.ask("subscribe", topics=[MIX]))["installed"] == "local"


async def test_points_that_were_never_given_are_served_like_old_ones(tcp: bool) -> None:
    """DPS-9: from the future, of another life, of a stranger, and numbers of the future."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("bob") as bob:
        await bob.ask("subscribe", topics=[MIX], recover=True)
        await change(c, 0)
        strangers = await point_of(c, bob)
        broker = c.of("broker")[0]
        epoch, stamp = broker.window.epoch, broker.window.stamp
        await change(c, 1)
        (_, last) = await bob.heard(2)
        tries: list[tuple[dict[str, Any], str | None]] = [
            ({"point": write_point("sto", {epoch: stamp + (1 << 40)})}, "owner-lost"),
            ({"point": write_point("sto", {epoch - 1: stamp})}, "owner-lost"),
            ({"point": write_point("mars", {epoch: stamp})}, "other-site"),
            ({"since": {MIX: {"sto": [epoch, last["seq"] + 5]}}}, "expired"),
            ({"since": {MIX: {"mars": [1, 1]}, "hm://presence/user/dan/": {"sto": [1, 1]}, "x": {"sto": [1, 1]}}}, "expired"),
            ({"point": strangers}, None),
        ]
        for fields, reason in tries:
            async with c.user("eve") as eve:
                answer = await eve.ask("subscribe", topics=[MIX], recover=True, **fields)
                assert answer["lost"] == ([{"topic": MIX, "reason": reason}] if reason else [])
                assert heard(eve) == ([] if reason else [1])


@pytest.mark.parametrize(
    "fields", [{"point": "p" * 1_000_000}, {"since": {f"hm://presence/user/{n:06}{'u' * 100}/": {"sto": [1, 1]} for n in range(10_000)}}]
)
async def test_who_says_a_megabyte_is_ended_alone(fields: dict[str, Any]) -> None:
    """DPS-9: a message is at most so long, and nobody else notices."""
    async with Cluster(sites=1) as c, c.user("bob") as bob, c.user("ann") as ann:
        await bob.ask("subscribe", topics=[MIX], recover=True)
        await ann.ws.send(json.dumps({"op": "subscribe", "id": 7, "topics": [MIX], "recover": True} | fields))
        await ann.ended()
        assert [answer["code"] for answer in ann.answers if answer["op"] == "error"] == ["too-large"]
        assert c.frames(Recall) == []
        await change(c, 1)
        await bob.heard(1)


@pytest.mark.parametrize("entry", [{}, {"sto": [1, 1]}])
async def test_ten_thousand_numbers_get_their_code_before_any_of_them_is_looked_at(entry: dict[str, Any]) -> None:
    """DPS-9: in one message that is not too long. No topic is read, nobody is asked, nothing is followed, and the connection goes on."""
    many = {f"hm://presence/user/u{n}/": entry for n in range(10_000)}
    async with Cluster(sites=1, change=roomy) as c, c.user("bob") as bob, c.user("ann") as ann:
        await bob.ask("subscribe", topics=[MIX], recover=True)
        read = parse_topic.cache_info().misses
        for _ in range(3):
            answer = await ann.ask("subscribe", topics=[MIX], recover=True, since=many)
            assert (answer["op"], answer["code"]) == ("error", "too-many-topics")
            assert "10000" in answer["reason"]
        assert parse_topic.cache_info().misses - read <= 1
        assert c.frames(Recall) == []
        await change(c, 1)
        await bob.heard(1)
        assert (await ann.ask("subscribe", topics=[MIX]))["installed"] == "local"
        assert ann.events == []


def roomy(options: RoleOptions) -> RoleOptions:
    """Returns the options of a role with which clients may send a megabyte in one message."""
    if not isinstance(options, AccessPointOptions):
        return options
    return msgspec.structs.replace(options, max_message_bytes=1 << 20, max_calls_bytes=4 << 20, max_bytes_per_s=64 << 20)


async def test_recoveries_in_a_loop_are_bounded(tcp: bool) -> None:
    """DPS-9: so many at once are open, and others do not notice."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        c.plan.hold("sto/a1", "sto/ap1")
        point = write_point("sto", {1: 1})
        for n in range(30):
            await ann.ws.send(json.dumps({"op": "subscribe", "id": f"r{n}", "topics": [MIX], "recover": True, "point": point}))
        await ann.until(lambda: sum(answer.get("code") == "rate-limited" for answer in ann.answers) == 22)
        c.plan.release("sto/a1", "sto/ap1")
        await ann.until(lambda: sum(answer["op"] == "subscribed" for answer in ann.answers) == 8)
        assert len(c.of("accesspoint")[0].core.recoveries) == 0


async def test_who_waits_for_an_answer_that_does_not_come_is_served_live(tcp: bool) -> None:
    """DPS-5: after `install_s`, with the reason `late`."""

    def impatient(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, install_s=0.05) if isinstance(options, AccessPointOptions) else options

    async with Cluster(sites=1, tcp=tcp, change=impatient) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[OTHER], recover=True)
        point = await point_of(c, ann)
        c.plan.hold("sto/b1", "sto/a1")
        answer = await ann.ask("subscribe", topics=[MIX], recover=True, point=point)
        assert (recovery(answer), answer["installed"]) == ((False, [{"topic": MIX, "reason": "late"}], 0), "partial")
        c.plan.release("sto/b1", "sto/a1")
        await c.settle()
        await change(c, 1)
        assert [event["payload"]["n"] for event in await ann.heard(1)] == [1]


async def test_an_access_point_that_goes_to_another_aggregator_gets_what_it_missed(tcp: bool) -> None:
    """DPS-11: it alone, in order and before what is live; others get nothing twice."""
    async with Cluster(sites=1, aggregators=2, accesspoints=2, tcp=tcp) as c, c.user("ann", point=0) as ann, c.user("bob", point=1) as bob:
        for user in (ann, bob):
            await user.ask("subscribe", topics=[MIX], recover=True)
        await change(c, 0)
        await ann.heard(1)
        await point_of(c, ann)
        source = c.of("accesspoint")[0].upstream.source
        failed_over = source.failovers
        c.partition("sto/ap1", source.address)
        await change(c, 1, 2, 3)
        await c.until(lambda: source.failovers > failed_over)
        await c.settle()
        await change(c, 4)
        for user in (ann, bob):
            await user.heard(5)
            await user.fence()
            assert heard(user) == [0, 1, 2, 3, 4]
            assert [answer for answer in user.answers if answer["op"] == "gap"] == []


def seldom_beating(options: RoleOptions) -> RoleOptions:
    """Returns options with which an aggregator says up to where everything has come only with events."""
    if not isinstance(options, AggregatorOptions):
        return options
    return msgspec.structs.replace(options, link=msgspec.structs.replace(options.link, heartbeat_s=30.0, silent_s=100.0))


async def test_whoever_is_cut_off_before_an_access_point_has_stamps_hears_that_something_may_be_missing(tcp: bool) -> None:
    """DPS-8: its access point cannot say from where on it lacks events. Nobody was told."""
    async with Cluster(sites=1, aggregators=2, tcp=tcp, change=seldom_beating) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[MIX, "hm://presence/user/bob/"], recover=True)
        assert not c.of("accesspoint")[0].core.recoveries.own.stamps
        await c.crash(c.aggregator_of("sto", 0))
        gap = await ann.answer(lambda m: m["op"] == "gap")
        assert (sorted(gap["topics"]), gap["reason"], gap["point"]) == ([MIX, "hm://presence/user/bob/"], "expired", None)
        await change(c, 1)
        await ann.heard(1)
        await ann.fence()
        assert ann.answers == []


async def test_who_follows_what_a_killed_broker_owned_hears_of_the_loss_and_nobody_else_does(tcp: bool) -> None:
    """DPS-8: those of its topics that are followed with `recover`, and no others."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("ann") as ann, c.user("bob") as bob:
        users = [f"u{n}" for n in range(12)]
        await ann.ask("subscribe", topics=[feed(user) for user in users], recover=True)
        await bob.ask("subscribe", topics=[feed(user) for user in users])
        lost = {feed(user) for user in users if c.owner(user).endswith("b2")}
        assert 0 < len(lost) < 12
        await c.crash("sto/b2")
        gap = await ann.answer(lambda m: m["op"] == "gap")
        assert (set(gap["topics"]), gap["reason"]) == (lost, "owner-lost")
        await c.settle()
        for user in (ann, bob):
            await user.fence()
            assert user.answers == []


async def test_brokers_that_leave_as_planned_lose_nothing(tcp: bool) -> None:
    """DPS-8: nobody is told of a loss that was none."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[feed(f"u{n}") for n in range(12)], recover=True)
        await c.leave("sto/b2")
        await c.settle()
        await ann.fence()
        assert ann.answers == []


async def test_who_is_behind_for_longer_than_events_are_kept_hears_of_the_loss(tcp: bool) -> None:
    """DPS-8, DPS-12: the horizon has passed the aggregator."""
    async with Cluster(sites=1, tcp=tcp, change=hurried(seconds=0.1)) as c, c.user("bob") as bob, c.user("ann") as ann:
        for user in (ann, bob):
            await user.ask("subscribe", topics=[MIX], recover=True)
        await change(c, 0)
        await ann.heard(1)
        c.partition("sto/a1", "sto/b1")
        await c.until(lambda: not c.linked("sto/a1", "sto/b1"))
        await change(c, 1)
        await c.until(lambda: c.of("broker")[0].counters()["broker_window_events"] == 0)
        c.heal()
        gap = await ann.answer(lambda m: m["op"] == "gap")
        assert (gap["topics"], gap["reason"]) == ([MIX], "expired")


async def test_what_is_dropped_on_the_way_to_an_access_point_is_told_and_no_point_claims_it(tcp: bool) -> None:
    """DPS-8, DPS-9: of the topics concerned, as soon as the access point reads again; a point goes on behind that."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[MIX, OTHER], recover=True)
        await change(c, 0)
        await ann.heard(1)
        await point_of(c, ann)
        aggregator = c.roles["sto/a1"]
        (point,) = aggregator.points.everyone
        assert point.link.stamps()
        # Everything up to the gap is one turn of the loop: the link has no room for one event, and then it has.
        point.link.full = 2
        aggregator.core.fan_out([aggregator.core.interest.rows[parse_topic(MIX)]], [b"an event"])
        assert (point.link.drops, point.link.stamps()) == (1, {})
        gap = await ann.answer(lambda m: m["op"] == "gap")
        assert (gap["topics"], gap["reason"]) == ([MIX], "too-much")
        await change(c, 1)
        assert await point_of(c, ann)
        await ann.fence()
        assert ann.answers == []


async def test_who_is_away_while_topics_move_as_planned_recovers_by_numbers(tcp: bool) -> None:
    """DPS-1, DPS-5: where somebody has followed all along, the new owner has the events, and says after which one it goes on."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("bob") as bob:
        topics = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(12)]
        await bob.ask("subscribe", topics=topics)
        async with c.user("ann") as ann:
            await ann.ask("subscribe", topics=topics, recover=True)
            for topic in topics:
                await change(c, 0, topic=topic)
            await ann.heard(12)
            point, last = await point_of(c, ann), since(ann)
        await c.leave("sto/b2")
        await c.settle()
        for topic in topics:
            await change(c, 1, topic=topic)
        async with c.user("ann") as ann:
            answer = await ann.ask("subscribe", topics=topics, recover=True, point=point, since=last)
            assert recovery(answer) == (True, [], 12)
            assert heard(ann) == [1] * 12
            assert any("after" in event for event in ann.events)


async def test_who_is_away_while_brokers_are_restarted_and_come_and_go_gets_what_they_missed(tcp: bool) -> None:
    """DPS-13, DPS-16: the window goes with its topics, also of those that nobody else follows and that move several times."""
    topics = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(24)]
    quiet, busy = topics[:8], topics[8:]
    async with Cluster(sites=2, brokers=3, tcp=tcp, change=steady) as c:
        await c.leave("sto/b3")
        async with c.user("ann") as ann:
            await ann.ask("subscribe", topics=[*topics, feed("dan")], recover=True)
            for topic in busy:
                await change(c, 0, topic=topic)
            await c.play("dan", n=0)
            await ann.heard(len(busy) + 1)
            point = await point_of(c, ann)
        expected: dict[str, list[int]] = {topic: [] for topic in busy}
        rounds = [("sto", c.restart, "sto/b3"), ("lon", c.leave, "sto/b1"), ("sto", c.restart, "sto/b1"), ("lon", c.leave, "sto/b3")]
        for n, (site, action, name) in enumerate(rounds, 1):
            for topic in busy:
                await change(c, n, topic=topic, site=site)
                expected[topic].append(n)
            await c.play("dan", n=n)
            await action(name)
            await c.settle()
        async with c.user("ann") as ann:
            answer = await ann.ask("subscribe", topics=[*topics, feed("dan")], recover=True, point=point)
            assert recovery(answer) == (True, [], 4 * len(busy) + 1)
            came = {topic: [event["payload"]["n"] for event in ann.events if event["topic"] == topic] for topic in busy}
            assert came == expected
            assert [event["payload"]["n"] for event in ann.events if event["topic"] == feed("dan")] == [4]
            for topic in quiet:
                await change(c, 9, topic=topic)
            await ann.heard(4 * len(busy) + 1 + len(quiet))


def moving_at_once(options: Any) -> Any:
    """Returns lenient options, of brokers whose topics move in one step."""
    changed = lenient(options)
    return msgspec.structs.replace(changed, join_steps=1) if isinstance(changed, BrokerOptions) else changed


async def test_an_event_of_another_site_that_comes_late_to_a_former_owner_is_passed_on_and_recorded(tcp: bool) -> None:
    """DPS-13, DPS-16: who follows its topic gets it once, and who was away gets it when they come back."""
    topics = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(24)]
    async with Cluster(sites=2, brokers=2, tcp=tcp, change=moving_at_once) as c:
        former = c.roles["sto/b2"]
        mine = [topic for topic in topics if former.ring.owner(parse_topic(topic)) == "b2"]
        async with c.user("ann") as ann:
            await ann.ask("subscribe", topics=mine, recover=True, wait="all")
            point = await point_of(c, ann)
        async with c.user("bob") as bob:
            await bob.ask("subscribe", topics=mine, recover=True, wait="all")
            for source in ("lon/b1", "lon/b2"):
                c.plan.hold(source, "sto/b2")
            for topic in mine:
                await change(c, 1, topic=topic, site="lon")
            leaving = asyncio.create_task(c.leave("sto/b2"))
            await c.until(lambda: any(former.ring.owner(parse_topic(topic)) != "b2" for topic in mine))
            for source in ("lon/b1", "lon/b2"):
                c.plan.release(source, "sto/b2")
            await leaving
            await bob.heard(len(mine))
            await bob.fence()
            assert sorted(event["topic"] for event in bob.events) == sorted(mine)
            assert c.frames(Strayed, "sto/b2", "sto/b1")
        async with c.user("ann") as ann:
            assert recovery(await ann.ask("subscribe", topics=mine, recover=True, point=point)) == (True, [], len(mine))
            assert sorted(event["topic"] for event in ann.events) == sorted(mine)


async def test_who_leaves_a_quiet_topic_in_the_moment_in_which_it_moves_gets_what_comes_of_it_then(tcp: bool) -> None:
    """DPS-13: the former owner heard that they left when it had handed over, so the new one had never heard of them."""
    topics = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(24)]
    async with Cluster(sites=2, brokers=2, tcp=tcp, change=moving_at_once) as c:
        former, new, others = c.roles["sto/b2"], c.roles["sto/b1"], ("sto/b1", "sto/b2")
        mine = [topic for topic in topics if former.ring.owner(parse_topic(topic)) == "b2"]
        async with c.user("ann") as ann:
            await ann.ask("subscribe", topics=mine, recover=True, wait="all")
            point = await point_of(c, ann)
            for name in others:
                c.plan.hold(name, "sto/a1")
            leaving = asyncio.create_task(c.leave("sto/b2"))
            await c.until(lambda: former.ring.slots == new.ring.slots == ("b1",))
            later_s = former.links.now_s + 0.1  # five heartbeats, in which it would have handed over
            await c.until(lambda: former.links.now_s >= later_s)
        await c.until(lambda: not any(c.roles["sto/a1"].core.wanted()))
        for name in others:
            c.plan.release(name, "sto/a1")
        await leaving
        for n, site in enumerate(("sto", "lon"), 1):
            for topic in mine:
                await change(c, n, topic=topic, site=site)
        await c.settle()
        async with c.user("ann") as ann:
            assert recovery(await ann.ask("subscribe", topics=mine, recover=True, point=point)) == (True, [], 2 * len(mine))


async def test_who_is_away_while_a_broker_is_killed_is_told_of_what_it_had_and_of_nothing_else(tcp: bool) -> None:
    """DPS-5, DPS-13: it could hand nothing over. What had moved to it before is gone, too; what it had handed over is not."""
    topics = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(24)]
    async with Cluster(sites=1, brokers=3, tcp=tcp) as c:
        async with c.user("ann") as ann:
            await ann.ask("subscribe", topics=topics, recover=True)
            point = await point_of(c, ann)
        for topic in topics:
            await change(c, 1, topic=topic)
        await c.leave("sto/b3")
        await c.settle()
        lost = {topic for topic in topics if c.roles["sto/b1"].ring.owner(parse_topic(topic)) == "b2"}
        await c.crash("sto/b2")
        await c.settle()
        async with c.user("ann") as ann:
            answer = await ann.ask("subscribe", topics=topics, recover=True, point=point)
            assert {each["topic"] for each in answer["lost"]} == lost
            assert {each["reason"] for each in answer["lost"]} == {"owner-lost"}
            assert answer["replayed"] == len(topics) - len(lost)


async def test_parts_of_a_site_that_served_apart_say_so_when_they_meet_and_no_recovery_claims_more(tcp: bool) -> None:
    """DPS-19: whoever followed in either part with `recover` hears of it; numbers do not go on; who was away is told `split`."""
    async with Cluster(sites=1, brokers=2, aggregators=2, accesspoints=2, tcp=tcp) as c:
        one, other = ("sto/b1", "sto/a1", "sto/ap1"), ("sto/b2", "sto/a2", "sto/ap2")
        topics = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(8)]
        async with c.user("ann", point=0) as ann, c.user("bob", point=1) as bob:
            for user in (ann, bob):
                assert recovery(await user.ask("subscribe", topics=topics, recover=True)) == (True, [], 0)
            for topic in topics:
                await change(c, 0, topic=topic)
            await ann.heard(8)
            await bob.heard(8)
            point = await point_of(c, ann)
            for here in one:
                for there in other:
                    c.partition(here, there)
            await c.until(lambda: [len(each.view().slots) for each in c.of("broker", "sto")] == [1, 1])
            brokers = c.of("broker", "sto")
            await c.until(lambda: all(len(list(each.core.wanted_here())) == 8 for each in brokers))
            for broker, n in ((0, 1), (1, 2)):
                events = [{"topic": topic, "kind": "changed", "payload": {"n": n}} for topic in topics]
                assert (await c.post(events, broker=broker, service="playlist"))[1]["accepted"] == 8
            await ann.heard(16)
            await bob.heard(16)
            c.heal()
            for user in (ann, bob):
                named: set[str] = set()
                while named != set(topics):
                    gap = await user.answer(lambda m: m["op"] == "gap" and m["reason"] == "split")
                    named |= set(gap["topics"])
            await c.settle()
            had = since(ann), since(bob)
            for topic in topics:
                await change(c, 3, topic=topic)
            for user, before in zip((ann, bob), had, strict=True):
                for event in (await user.heard(24))[16:]:
                    epoch, seq = before[event["topic"]]["sto"]
                    assert (event["epoch"], event["seq"]) != (epoch, seq + 1)
                    assert event.get("after") != [epoch, seq]
        async with c.user("eve") as eve:
            answer = await eve.ask("subscribe", topics=topics, recover=True, point=point)
            assert (answer["recovered"], {each["topic"] for each in answer["lost"]}) == (False, set(topics))
            assert {each["reason"] for each in answer["lost"]} <= {"split", "owner-lost"}
