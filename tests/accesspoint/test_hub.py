import random
from itertools import pairwise

from accesspoint.hub import BURST_FROM, COMPACT_FROM, Hub
from accesspoint.row import Member
from infra.kernel.topics import Topic, parse_topic


class Listener(Member):
    """A member that remembers what was written to its socket."""

    __slots__ = ("written",)

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


def pairs_by_topic(hub: Hub) -> set[tuple[Member, Topic]]:
    return {(member, topic) for topic, row in hub.topics.items() for member in row}


def test_the_two_maps_stay_inverse_over_a_hundred_thousand_random_steps() -> None:
    """SB-9: after 10^5 connects, disconnects, subscribes and unsubscribes; checked on the way against a dumb model."""
    rng, hub = random.Random(9), Hub()
    topics = [parse_topic(f"hm://presence/user/u{n}/") for n in range(300)]
    model: dict[Listener, set[Topic]] = {}
    dead: list[tuple[int, Topic]] = []
    for step in range(100_000):
        match rng.choices(("connect", "disconnect", "subscribe", "unsubscribe", "release"), (2, 1, 10, 6, 1))[0]:
            case "connect":
                model[Listener()] = set()
            case "disconnect" if model:
                member = rng.choice(list(model)) if len(model) < 50 else next(iter(model))
                dead += [(row.handle, row.topic) for row in hub.leave(member)]
                del model[member]
            case "subscribe" if model:
                member, topic = rng.choice(list(model)[:50]), rng.choice(topics)
                first = all(topic not in wanted for wanted in model.values())
                assert (hub.subscribe(member, topic) is not None) == first
                model[member].add(topic)
            case "unsubscribe" if model:
                member, topic = rng.choice(list(model)[:50]), rng.choice(topics)
                wanted = topic in model[member]
                model[member].discard(topic)
                last = wanted and all(topic not in others for others in model.values())
                row = hub.unsubscribe(member, topic)
                assert (row is not None) == last
                dead += [(row.handle, topic)] if row is not None else []
            case "release" if dead:
                hub.release(*dead.pop(rng.randrange(len(dead))))
        if step % 5_000 == 0 or step == 99_999:
            expected = {(member, topic) for member, wanted in model.items() for topic in wanted}
            by_session = {(member, topic) for member in model for topic in hub.held(member)}
            assert all(hub.count(member) == len(wanted) == len(hub.held(member)) for member, wanted in model.items())
            assert all(len(member.handles) <= 2 * (COMPACT_FROM + len(wanted)) for member, wanted in model.items())
            assert pairs_by_topic(hub) == by_session == expected
            assert hub.subscriptions == len(expected)


def test_ten_thousand_topics_are_left_in_steps_that_are_not_dearer_for_it() -> None:
    """DPS-26: one after the other, first come first left, as one client did that made everybody wait for seconds."""
    hub, member = Hub(), Listener()
    topics = [parse_topic(f"hm://presence/user/u{n}/") for n in range(10_000)]
    hub.subscribe_all(member, topics)
    lengths = [len(member.handles)]
    for topic in topics:
        hub.unsubscribe(member, topic)
        lengths.append(len(member.handles))
    compacted = sum(before for before, after in pairwise(lengths) if after < before)
    assert compacted < 2 * 10_000 + 40 * COMPACT_FROM
    assert (hub.count(member), hub.subscriptions) == (0, 0)


def test_one_that_follows_and_leaves_the_same_topic_for_ever_does_not_grow() -> None:
    hub, member, topic = Hub(), Listener(), parse_topic("hm://presence/user/u1/")
    for _ in range(1000):
        hub.subscribe(member, topic)
        hub.unsubscribe(member, topic)
        assert len(member.handles) <= 2 * (COMPACT_FROM + 1)


def test_an_event_is_framed_and_written_once_for_each_session_of_its_topic() -> None:
    hub, ann, bob = Hub(), Listener(), Listener()
    one, two = parse_topic("hm://presence/user/one/"), parse_topic("hm://presence/user/two/")
    hub.subscribe(ann, one)
    hub.subscribe(bob, one)
    hub.subscribe(ann, two)
    hub.deliver([0, 1, 0, 7], [b"a", b"b", b"c", b"nobody"])
    hub.flush()
    assert ann.written == [b"\x81\x01a\x81\x01c\x81\x01b"]
    assert bob.written == [b"\x81\x01a\x81\x01c"]
    assert (hub.received, hub.deliveries, hub.stale) == (4, 5, 1)


def test_a_very_popular_topic_keeps_its_order_while_it_is_served_in_slices() -> None:
    hub, topic = Hub(), parse_topic("hm://presence/user/star/")
    crowd = [Listener() for _ in range(BURST_FROM + 1)]
    for member in crowd:
        hub.subscribe(member, topic)
    for n in range(3):
        hub.deliver([0], [b"%d" % n])
    left = crowd.pop()
    hub.leave(left)
    while hub.bursting:
        hub.step()
        hub.flush()
    assert {b"".join(member.written) for member in crowd} == {b"\x81\x010\x81\x011\x81\x012"}
    assert left.written == []


def test_events_that_come_faster_than_a_crowd_can_be_served_are_given_up_oldest_first_and_counted() -> None:
    hub, topic = Hub(), parse_topic("hm://presence/user/star/")
    crowd = [Listener() for _ in range(BURST_FROM + 1)]
    for member in crowd:
        hub.subscribe(member, topic)
    for n in range(1000):
        hub.deliver([0], [b"%04d" % n + b"x" * 996])
    while hub.bursting:
        hub.step()
        hub.flush()
    heard = b"".join(crowd[0].written)
    assert hub.shed > 0
    assert heard.count(b"x" * 996) == 1000 - hub.shed
    assert b"0000x" in heard
    assert b"0999x" in heard
