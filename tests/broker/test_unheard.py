"""Of which topics other sites may not send everything."""

from broker.unheard import UnheardTopics
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import numbering
from infra.kernel.topics import Kind, Topic

STO = numbering("sto", 7)


def window_of(*rows: int) -> EventWindow:
    """Returns a window with one event on each topic."""
    window = EventWindow(7, {Kind.PLAYLIST: WindowBounds()}, 1 << 20)
    for row in rows:
        record(window, row)
    return window


def record(window: EventWindow, row: int) -> None:
    window.record(row, b'%b%d,"payload":{}}' % (STO, row), b"sto", Topic(b"Pann/mix"))


def is_whole(window: EventWindow, row: int) -> bool:
    """Returns whether nothing is missing behind the newest event of a topic."""
    return window.is_whole_behind(row, lambda body: True)


def test_a_topic_is_unheard_until_every_site_knows_that_it_is_wanted() -> None:
    """DPS-5: and events of before show nothing."""
    window = window_of(1, 2, 3)
    unheard = UnheardTopics(window)
    unheard.add([1], {"lon": 1, "ash": 4})
    unheard.add([2], {"lon": 2, "ash": 4})
    unheard.reach({"lon": 9})
    assert [row in unheard for row in (1, 2, 3)] == [True, True, False]
    unheard.reach({"lon": 1, "ash": 4})
    assert [row in unheard for row in (1, 2, 3)] == [False, True, False]
    assert [is_whole(window, row) for row in (1, 3)] == [False, True]
    record(window, 1)
    assert is_whole(window, 1)
    unheard.reach({"lon": 2, "ash": 5})
    assert 2 not in unheard
    assert not is_whole(window, 2)


def test_one_that_is_wanted_anew_waits_anew_and_where_there_are_no_other_sites_nothing_waits() -> None:
    unheard = UnheardTopics(window_of())
    unheard.add([1, 2], {"lon": 1})
    unheard.add([1], {"lon": 2})
    unheard.reach({"lon": 1})
    assert [row in unheard for row in (1, 2)] == [True, False]
    unheard.discard(1)
    assert 1 not in unheard
    unheard.add([3], {})
    assert 3 not in unheard


def test_of_too_many_all_are_unheard_until_the_last_is_known() -> None:
    """DPS-5: memory is bounded, and nothing that may not be so is claimed."""
    window = window_of(1, 9)
    unheard = UnheardTopics(window, most=2)
    unheard.add([1, 2], {"lon": 1})
    unheard.add([3], {"lon": 2})
    unheard.add([4], {"lon": 3})
    unheard.reach({"lon": 2})
    assert 9 in unheard
    unheard.reach({"lon": 3})
    assert 9 not in unheard
    assert not is_whole(window, 9)
    record(window, 9)
    assert is_whole(window, 9)


def test_topics_that_come_and_go_while_a_site_is_away_take_no_more_memory_than_as_many_others() -> None:
    """DPS-5: each time they are wanted anew counts."""
    unheard = UnheardTopics(window_of(9), most=3)
    for mark in range(1, 5):
        unheard.add([1], {"lon": mark})
    assert 9 in unheard
    unheard.reach({"lon": 4})
    assert [row in unheard for row in (1, 9)] == [False, False]
