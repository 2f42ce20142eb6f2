"""Numbers (design 6): per topic and origin site they rise by one, within an epoch they never repeat."""

from collections import defaultdict
from itertools import pairwise
from typing import Any

import msgspec

from broker.options import BrokerOptions
from tests.support.cluster import Cluster
from tests.support.user import User, feed


def numbers(user: User, topic: str, site: str) -> list[tuple[int, int]]:
    """Returns (epoch, seq) of what came of a feed from a site, in the order in which it came."""
    return [(event["epoch"], event["seq"]) for event in user.events if (event["topic"], event["site"]) == (feed(topic), site)]


def steps(found: list[tuple[int, int]]) -> list[int]:
    return [later[1] - earlier[1] for earlier, later in pairwise(found)]


async def test_numbers_rise_by_one_for_each_topic_and_origin_site(tcp: bool) -> None:
    """Whatever broker takes the event in, whatever is published in between, and whoever comes and goes meanwhile."""
    async with Cluster(sites=2, brokers=2, tcp=tcp) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        for user in (ann, bob):
            await user.follow("dan", "eve")
        for n in range(6):
            async with c.user("cyd", "sto") as cyd:
                await cyd.follow("dan", "fay")
                for site in ("sto", "lon"):
                    for topic in ("dan", "eve", "fay"):
                        await c.play(topic, site=site, broker=n % 2)
        for user in (ann, bob):
            await user.heard(24)
            for topic in ("dan", "eve"):
                for site in ("sto", "lon"):
                    found = numbers(user, topic, site)
                    assert len({epoch for epoch, _ in found}) == 1
                    assert steps(found) == [1] * 5


async def test_a_broker_that_lost_its_memory_starts_a_new_epoch(tcp: bool) -> None:
    """The numbers of the other site go on as they were."""
    async with Cluster(sites=2, tcp=tcp) as c, c.user("ann", "lon") as ann:
        await ann.follow("dan")
        for _ in range(2):
            for site in ("sto", "lon"):
                await c.play("dan", site=site)
                await c.play("dan", site=site)
            await ann.heard(4)
            await c.crash("sto/b1")
            await c.restart("sto/b1")
            await c.settle()
        for site in ("sto", "lon"):
            await c.play("dan", site=site)
        await ann.heard(10)
        assert [len(times) for times in by_epoch(numbers(ann, "dan", "sto")).values()] == [2, 2, 1]
        assert steps(numbers(ann, "dan", "lon")) == [1] * 4
        assert all(steps([(0, seq) for seq in seqs]) in ([1], []) for seqs in by_epoch(numbers(ann, "dan", "sto")).values())


def by_epoch(found: list[tuple[int, int]]) -> dict[int, list[int]]:
    epochs: dict[int, list[int]] = defaultdict(list)
    for epoch, seq in found:
        epochs[epoch].append(seq)
    return dict(epochs)


async def test_a_topic_that_moves_to_another_broker_and_back_never_repeats_a_number(tcp: bool) -> None:
    """Each owner numbers under its own epoch, and goes on above what it gave before."""
    topics = [f"u{n}" for n in range(6)]
    async with Cluster(sites=1, brokers=3, tcp=tcp) as c, c.user("ann") as ann:
        await ann.follow(*topics)
        published = 0
        for turn in range(3):
            for topic in topics * 2:
                await c.play(topic, broker=1)
                published += 1
            await ann.heard(published)
            if turn % 2 == 0:
                await c.leave("sto/b1")
            else:
                await c.restart("sto/b1")
            await c.settle()
        found = {topic: by_epoch(numbers(ann, topic, "sto")) for topic in topics}
        assert [sum(map(len, epochs.values())) for epochs in found.values()] == [3 * 2] * len(topics)
        assert any(len(epochs) > 1 for epochs in found.values())
        assert [seqs for epochs in found.values() for seqs in epochs.values() if seqs != sorted(set(seqs))] == []


async def test_a_topic_that_moves_away_from_a_living_broker_and_back_goes_on_under_its_epoch(tcp: bool) -> None:
    """b3 comes and goes, and with it some topics of b1: back at b1, its numbers are all higher than before."""
    topics = [f"u{n}" for n in range(12)]
    async with Cluster(sites=1, brokers=3, tcp=tcp) as c, c.user("ann") as ann:
        await ann.follow(*topics)
        await c.crash("sto/b3")
        published = 0
        for turn in range(4):
            await c.settle()
            for topic in topics:
                await c.play(topic, broker=0)
                published += 1
            await ann.heard(published)
            if turn % 2 == 0:
                await c.restart("sto/b3")
            else:
                await c.crash("sto/b3")
        moved = [topic for topic in topics if len(by_epoch(numbers(ann, topic, "sto"))) > 1]
        assert moved
        for topic in moved:
            for seqs in by_epoch(numbers(ann, topic, "sto")).values():
                assert seqs == sorted(set(seqs))


def windowless(options: Any) -> Any:
    """Returns options with which brokers keep no events for those who were cut off."""
    return msgspec.structs.replace(options, window={}) if isinstance(options, BrokerOptions) else options


async def test_who_missed_an_event_sees_a_gap_although_nobody_else_wanted_it(tcp: bool) -> None:
    """A site is cut off, and with it the only follower: what is published meanwhile uses its number up, where no window keeps it."""
    async with Cluster(sites=2, tcp=tcp, change=windowless) as c, c.user("ann", "lon") as ann:
        await ann.follow("dan")
        await c.play("dan", site="sto")
        await ann.heard(1)
        c.partition("sto", "lon")
        await c.settle()
        for _ in range(2):
            await c.play("dan", site="sto")
        c.heal()
        await c.settle()
        await c.play("dan", site="sto")
        await ann.heard(2)
        assert steps(numbers(ann, "dan", "sto")) == [3]
