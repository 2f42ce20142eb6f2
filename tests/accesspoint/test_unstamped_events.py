"""What is remembered of events that came without a word up to where everything has come."""

from accesspoint.unstamped_events import UnstampedEvents
from infra.kernel.topics import user_topic

DAN, EVE = user_topic("dan"), user_topic("eve")


def body(site: str, seq: int) -> bytes:
    return b'{"op":"event","site":"%b","epoch":7,"seq":%d,"topic":"x"}' % (site.encode(), seq)


def test_the_last_number_of_each_topic_and_site_is_remembered_once() -> None:
    """DPS-11"""
    events = UnstampedEvents()
    events.add([(DAN, body("sto", 1)), (DAN, body("lon", 9)), (DAN, body("sto", 2)), (EVE, body("sto", 4)), (EVE, b"no event")])
    assert events.taken() == {DAN: [("sto", 7, 2), ("lon", 7, 9)], EVE: [("sto", 7, 4)]}
    assert events.taken() == {}


def test_more_topics_than_may_be_are_not_remembered_and_that_is_known() -> None:
    events = UnstampedEvents(most=1)
    events.add([(DAN, body("sto", 1)), (DAN, body("sto", 2))])
    assert not events.is_full
    events.add([(EVE, body("sto", 1))])
    assert (events.is_full, len(events)) == (True, 1)
    events.clear()
    assert (events.is_full, len(events)) == (False, 0)
