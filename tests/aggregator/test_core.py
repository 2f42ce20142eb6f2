"""Many subscriptions become one per topic; one event becomes one copy per access point."""

import random

from aggregator.core import LEFT_AT_ONCE, AggregatorCore
from infra.kernel.topics import Topic, user_topic

DAN, EVE = user_topic("dan"), user_topic("eve")


def closed(core: AggregatorCore, bit: int) -> list[tuple[int, Topic]]:
    return [pair for part in core.close(bit) for pair in part]


class Receiver(list[tuple[int, bytes]]):
    """A link to an access point that keeps what was delivered."""

    def deliver(self, handle: int, body: bytes) -> None:
        self.append((handle, body))


def test_only_the_first_one_in_is_announced_and_only_the_last_one_out_withdraws() -> None:
    """SB-14, SB-15."""
    core = AggregatorCore()
    one, two = core.open(Receiver()), core.open(Receiver())
    ((row, topic),) = core.subscribe(one, [DAN], [7])
    assert topic == DAN
    assert core.subscribe(two, [DAN, EVE], [3, 4]) == [(row + 1, EVE)]
    assert core.subscribe(two, [DAN, EVE], [5, 6]) == []
    assert core.unsubscribe(one, [DAN, EVE]) == []
    assert core.unsubscribe(one, [DAN]) == []
    assert closed(core, two) == [(row, DAN), (row + 1, EVE)]
    assert (core.subscribes, core.unsubscribes) == (2, 2)


def test_announcements_balance_over_random_subscriptions_of_random_access_points() -> None:
    """SB-14, SB-15: against a dumb model; what is announced at any time is what any access point wants."""
    rng, core = random.Random(14), AggregatorCore()
    topics = [user_topic(f"u{n}") for n in range(15)]
    model: dict[int, set[Topic]] = {}
    announced: set[Topic] = set()
    for _ in range(5000):
        chosen = rng.sample(topics, 3)
        match rng.choice(("open", "close", "subscribe", "subscribe", "unsubscribe", "unsubscribe")):
            case "open" if len(model) < 9:
                model[core.open(Receiver())] = set()
            case "close" if model:
                bit = rng.choice(list(model))
                del model[bit]
                announced -= released(core, closed(core, bit))
            case "subscribe" if model:
                bit = rng.choice(list(model))
                news = {topic for _, topic in core.subscribe(bit, chosen, [1, 2, 3])}
                assert not news & announced
                announced |= news
                model[bit] |= set(chosen)
            case "unsubscribe" if model:
                bit = rng.choice(list(model))
                announced -= released(core, core.unsubscribe(bit, chosen))
                model[bit] -= set(chosen)
        assert announced == set[Topic]().union(*model.values()) == {topic for _, topic in core.wanted()}
    assert core.subscribes - core.unsubscribes == len(announced)


def released(core: AggregatorCore, rows: list[tuple[int, Topic]]) -> set[Topic]:
    for row, topic in rows:
        core.interest.release(row, topic)
    return {topic for _, topic in rows}


def test_an_event_goes_to_each_access_point_that_wants_it_once_under_its_own_handle() -> None:
    """SB-16."""
    core, points = AggregatorCore(), [Receiver() for _ in range(3)]
    bits = [core.open(point) for point in points]
    ((row, _),) = core.subscribe(bits[0], [DAN], [7])
    core.subscribe(bits[1], [DAN], [8])
    core.subscribe(bits[2], [EVE], [9])
    core.fan_out([row, row], [b"one", b"two"])
    assert points == [[(7, b"one"), (7, b"two")], [(8, b"one"), (8, b"two")], []]
    assert (core.received, core.fanout.deliveries, core.stale) == (2, 4, 0)


def test_what_comes_for_a_topic_that_nobody_wants_any_more_is_counted_and_goes_nowhere() -> None:
    core, point = AggregatorCore(), Receiver()
    bit = core.open(point)
    ((row, _),) = core.subscribe(bit, [DAN], [7])
    core.unsubscribe(bit, [DAN])
    core.fan_out([row, row + 1, 999], [b"late", b"odd", b"odd"])
    assert (point, core.stale) == ([], 3)


def test_gains_of_access_points_are_summed_up_and_told_on_when_the_sum_changes() -> None:
    """DPS-20: one that is new is told with its gain, one that leaves or closes is taken off."""
    core = AggregatorCore()
    one, two = core.open(Receiver()), core.open(Receiver())
    ((row, _),) = core.subscribe(one, [DAN], [7], b"\5")
    assert core.gains.of([row]) == b"\5"
    core.subscribe(two, [DAN], [3], b"\5")
    assert (core.gains.changed(), core.gains.of([row])) == ([(row, DAN)], b"\6")
    assert core.gains.changed() == []
    core.unsubscribe(two, [DAN])
    assert (core.gains.changed(), core.gains.of([row])) == ([(row, DAN)], b"\5")
    core.subscribe(two, [DAN], [3], b"\x08")
    core.gains.changed()
    closed(core, two)
    assert (core.gains.changed(), core.gains.of([row])) == ([(row, DAN)], b"\5")
    closed(core, one)
    assert core.gains.changed() == []


def test_of_one_that_is_gone_a_part_is_taken_away_at_a_time_and_it_gets_nothing_meanwhile() -> None:
    """DPS-26: what others want stays announced, also where they begin in between."""
    core, gone, other = AggregatorCore(), Receiver(), Receiver()
    topics = [user_topic(f"u{n}") for n in range(2 * LEFT_AT_ONCE + 1)]
    bit = core.open(gone)
    core.subscribe(bit, topics, range(len(topics)))
    row = core.interest.rows[topics[-1]]
    parts = core.close(bit)
    assert {topic for _, topic in next(parts)} == {*topics[:LEFT_AT_ONCE]}
    core.fan_out([row], [b"one"])
    second = core.open(other)
    assert second != bit
    assert core.subscribe(second, topics[-2:], [7, 8]) == []
    assert [{topic for _, topic in part} for part in parts] == [{*topics[LEFT_AT_ONCE:-2]}, set()]
    core.fan_out([row], [b"two"])
    third = Receiver()
    assert core.open(third) == bit
    core.subscribe(bit, topics[-1:], [9])
    core.fan_out([row], [b"three"])
    assert (gone, other, third) == ([], [(8, b"two"), (8, b"three")], [(9, b"three")])
