"""Probes: what is counted of an event, and that two probes of one seed ask the same."""

from typing import Any

import numpy as np
import pytest

from overlay.simulator.counters import CONTROL, EVENT, KINDS, UNWANTED
from overlay.simulator.latency.latency import constant
from overlay.simulator.probing import NOTHING, EventProbe
from overlay.simulator.system import Dissemination


class _Scripted:
    """A system of six nodes in which topic t has the nodes up to t, and every event has the same fate."""

    def __init__(self, hops: list[int], copies: list[int]) -> None:
        self.asked: list[tuple[int, int]] = []
        self.messages = np.zeros((len(hops), KINDS), np.int64)
        self._done = np.array(hops, np.int32), np.array(copies, np.int32)

    def members(self, topic: int) -> list[int]:
        return list(range(topic + 1))

    def publish(self, topic: int, publisher: int, latency: object) -> Dissemination:
        self.asked.append((topic, publisher))
        hops, copies = self._done[0].copy(), self._done[1]
        hops[publisher] = 0
        wants = np.arange(len(hops)) <= topic
        self.messages[wants, EVENT] += copies[wants]
        self.messages[~wants, UNWANTED] += copies[~wants]
        self.messages[:, CONTROL] += 7
        return Dissemination(topic, publisher, hops, copies, 1000 * hops.astype(np.int64) if latency else None)


def probe(system: Any, seed: int, events: int, topics: int = 4) -> Any:
    return EventProbe(topics, seed).publish(system, events)


def test_deliveries_copies_and_relays_are_counted_without_the_publisher() -> None:
    # Topic 3 alone has four members: 0 to 3. Node 3 misses it, node 4 relays it twice.
    system = _Scripted([1, 2, 3, -1, 9, -1], [1, 2, 1, 0, 2, 0])
    asking: Any = EventProbe(4, 1)
    counts = [asking.publish(system, 1) for _ in range(40)]
    of_three = [
        each for each, (topic, publisher) in zip([c for c in counts if c.events], system.asked, strict=True) if (topic, publisher) == (3, 0)
    ]
    assert of_three
    for each in of_three:
        assert (each.events, each.missed_events, each.wanted, each.reached, each.hops, each.copies, each.unwanted) == (1, 1, 3, 2, 5, 6, 2)
        assert each.hit_ratio == pytest.approx(2 / 3)
        assert [each.mean_hops, each.copies_per_delivery, each.unwanted_share] == pytest.approx([2.5, 3, 1 / 3])


def test_topics_of_one_live_subscriber_are_passed_over_and_there_are_no_more_events_than_topics() -> None:
    system = _Scripted([1] * 6, [1] * 6)
    assert probe(system, 1, 100).events == 3
    assert {topic for topic, _ in system.asked} == {1, 2, 3}


def test_two_probes_of_one_seed_choose_alike_and_of_another_seed_not() -> None:
    asked = []
    for seed in (1, 1, 2):
        system = _Scripted([1] * 50, [1] * 50)
        probe(system, seed, 20, topics=40)
        asked.append(system.asked)
    assert asked[0] == asked[1] != asked[2]


def test_times_are_those_of_first_copies_of_all_but_the_publisher() -> None:
    system: Any = _Scripted([1, 2, 3, -1, 9, -1], [1, 2, 1, 0, 2, 0])
    found = EventProbe(4, 1).publish(system, 4, constant(1))
    hops = {topic: [system._done[0][node] for node in range(topic + 1) if node != publisher] for topic, publisher in system.asked}
    assert sorted(found.arrivals_us) == sorted(1000 * each for row in hops.values() for each in row if each > 0)
    assert probe(_Scripted([1] * 6, [1] * 6), 1, 4).arrivals_us.tolist() == []


def test_without_any_event_nothing_is_missed_and_nothing_divided_by() -> None:
    assert (NOTHING.hit_ratio, NOTHING.mean_hops, NOTHING.copies_per_delivery, NOTHING.unwanted_share) == (1, 0, 0, 0)
