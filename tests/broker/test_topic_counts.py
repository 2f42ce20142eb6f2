"""What the decision service is told of events."""

import random
from collections import Counter

from broker.topic_counts import BULK, TopicCounts
from infra.kernel.events import Event
from infra.kernel.topics import Topic, inbox_topic, user_topic


def counted(counts: TopicCounts) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    for (frame,) in counts.take():
        assert 0 < len(frame.topics) == len(frame.counts) <= BULK
        assert not found.keys() & set(frame.topics)
        found.update(dict(zip(frame.topics, frame.counts, strict=True)))
    return found


def event(topic: Topic) -> Event:
    return Event(topic, b"", b"")


def test_every_event_is_told_once_however_many_topics_there_are() -> None:
    """SB-63: in frames of a bounded size."""
    rng, tally = random.Random(63), TopicCounts()
    topics = [user_topic(f"u{n}") for n in range(2 * BULK + 10)]
    for _ in range(2):
        published = topics + rng.choices(topics, k=1000)
        for topic in published:
            tally.event(event(topic))
        assert counted(tally) == Counter(published)
    assert counted(tally) == Counter()


def test_what_is_published_while_it_is_told_is_told_the_next_time() -> None:
    tally = TopicCounts()
    for n in range(BULK + 1):
        tally.event(event(user_topic(f"u{n}")))
    portions = tally.take()
    next(portions)
    tally.event(event(user_topic("u0")))
    assert sum(len(frame.topics) for (frame,) in portions) == 1
    assert counted(tally) == {user_topic("u0"): 1}


def test_topics_that_never_leave_are_not_counted() -> None:
    tally = TopicCounts()
    tally.event(event(inbox_topic("ann")))
    assert (len(tally), tally.missed) == (0, 0)


def test_beyond_the_bound_topics_that_are_counted_go_on_and_further_ones_are_missed() -> None:
    tally = TopicCounts(max_topics=1)
    for user in ("bob", "eve", "bob", "eve", "eve"):
        tally.event(event(user_topic(user)))
    assert (counted(tally), tally.missed) == ({user_topic("bob"): 2}, 3)
    tally.event(event(user_topic("eve")))
    tally.clear()
    assert counted(tally) == {}
