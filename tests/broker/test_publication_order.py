"""What waits for a former owner, and what lets it go."""

from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.publication_order import PublicationOrder, Way
from infra.kernel.events import waiting_bytes
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic, user_topic

SLOTS = ("b1", "b2", "b3")
RINGS = [Ring(some) for some in (("b1",), ("b2",), ("b3",), SLOTS[:2], SLOTS)]
TOPICS = [user_topic(f"u{n}") for n in range(6)]
ONE, OTHER = TOPICS[:2]


class Waits:
    """Events that wait, by name; `gone` are those that went, in order."""

    def __init__(self, order: PublicationOrder) -> None:
        self.gone: list[str] = []
        self._order = order

    def hold(self, topic: Topic, name: str) -> bool:
        return self._order.hold((0, topic), [b"tail"], partial(self.gone.append, name))


def test_what_follows_waits_until_the_former_owner_has_answered_for_all_that_it_was_sent() -> None:
    """DPS-17."""
    order = PublicationOrder(1.0)
    waits, first, second = Waits(order), order.sent("b1", 0, [ONE]), order.sent("b1", 0, [ONE, OTHER])
    order.moved(Ring(("b2",)), 0.0)
    assert order.awaited.keys() == {(0, ONE), (0, OTHER)}
    assert all([waits.hold(ONE, "a"), waits.hold(ONE, "b"), waits.hold(OTHER, "c")])
    order.answered(first)
    assert waits.gone == []
    order.answered(second)
    assert waits.gone == ["a", "b", "c"]
    assert (order.awaited, order.waiting_bytes) == ({}, 0)


def test_it_is_idle_when_nothing_is_on_its_way_and_nothing_waits() -> None:
    """SB-24: only then a broker that leaves may close."""
    order = PublicationOrder(1.0)
    waits, number = Waits(order), order.sent("b1", 0, [ONE])
    assert not order.is_idle
    order.moved(Ring(("b2",)), 0.0)
    assert waits.hold(ONE, "a")
    order.tick(2.0, lambda slot: True)
    assert (waits.gone, order.is_idle) == (["a"], False)
    order.answered(number)
    assert order.is_idle


def test_what_was_forwarded_waits_for_what_was_forwarded_and_what_came_here_first_for_the_same() -> None:
    """DPS-17: where an event waits for one of the other way, two brokers may wait for each other."""
    order = PublicationOrder(1.0)
    for hops in (0, 1):
        number = order.sent("b1", hops, [ONE])
        order.moved(Ring(("b2",)), 0.0)
        assert order.awaited.keys() == {(hops, ONE)}
        order.answered(number)


def test_nothing_waits_while_topics_stay_where_they_are() -> None:
    order = PublicationOrder(1.0)
    number = order.sent("b1", 0, [ONE])
    order.moved(Ring(("b1",)), 0.0)
    assert not order.awaited
    order.answered(number)
    order.moved(Ring(("b2",)), 0.0)
    assert not order.awaited


def test_a_former_owner_that_does_not_answer_is_waited_for_as_long_as_it_is_not_suspected_and_then_until_the_limit() -> None:
    order = PublicationOrder(1.0)
    waits, number = Waits(order), order.sent("b1", 0, [ONE])
    order.moved(Ring(("b2",)), 5.0)
    waits.hold(ONE, "a")
    order.tick(5.9, {"b1"}.__contains__)
    order.tick(99.0, {"b2"}.__contains__)
    assert waits.gone == []
    order.tick(6.0, {"b1"}.__contains__)
    assert waits.gone == ["a"]
    order.answered(number)
    assert waits.gone == ["a"]


def test_no_more_waits_than_may_and_there_is_room_again_when_it_has_gone() -> None:
    order = PublicationOrder(1.0, max_waiting_bytes=waiting_bytes([b"tail"]))
    waits, number = Waits(order), order.sent("b1", 0, [ONE])
    order.moved(Ring(("b2",)), 0.0)
    assert waits.hold(ONE, "a")
    assert not waits.hold(ONE, "b")
    assert order.overflowed == 1
    order.answered(number)
    assert (waits.gone, order.waiting_bytes) == (["a"], 0)


def test_who_goes_finds_the_topic_free() -> None:
    """What goes is sent to the new owner: it must not wait for itself."""
    order, seen = PublicationOrder(1.0), list[bool]()
    number = order.sent("b1", 0, [ONE])
    order.moved(Ring(("b2",)), 0.0)
    order.hold((0, ONE), [b""], lambda: seen.append((0, ONE) in order.awaited))
    order.answered(number)
    assert seen == [False]


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.tuples(st.integers(0, 1), st.sampled_from(TOPICS[:3]))),
        st.tuples(st.just("answer"), st.integers(0, 9)),
        st.tuples(st.just("view"), st.sampled_from(RINGS)),
        st.tuples(st.just("tick"), st.just(0.5)),
    ),
    max_size=40,
)


@given(ACTS)
@settings(max_examples=150)
def test_of_one_way_nothing_is_with_two_owners_at_once_whatever_happens(acts: list[tuple[str, object]]) -> None:
    """DPS-17: before the limit is reached. Everything goes in the end, in order for each topic and way."""
    order, ring, log = PublicationOrder(1e9), RINGS[0], list[tuple[Way, int]]()
    under_way: dict[int, tuple[Way, str]] = {}
    published = 0

    def send(way: Way, n: int) -> None:
        hops, topic = way
        slot = ring.owner(topic)
        assert slot is not None
        assert all(other == slot for each, other in under_way.values() if each == way), "it could overtake another one"
        under_way[order.sent(slot, hops, [topic])] = way, slot
        log.append((way, n))

    def answer(number: int) -> None:
        del under_way[number]
        order.answered(number)

    for act, what in acts:
        if act == "publish":
            assert isinstance(what, tuple)
            published += 1
            go = partial(send, what, published)
            if what not in order.awaited:
                go()
            else:
                assert order.hold(what, [b""], go)
        elif act == "answer" and under_way:
            assert isinstance(what, int)
            answer(sorted(under_way)[what % len(under_way)])
        elif act == "view":
            assert isinstance(what, Ring)
            ring = what
            order.moved(ring, 0.0)
        elif act == "tick":
            order.tick(0.5, lambda slot: True)
    while under_way:
        answer(min(under_way))
    assert not order.awaited
    assert order.waiting_bytes == 0
    assert len(log) == published
    for way in {way for way, _ in log}:
        numbers = [n for each, n in log if each == way]
        assert numbers == sorted(numbers)
