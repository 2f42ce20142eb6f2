"""Quasar as an overlay: who publishes, and what is refused."""

import pytest

from overlay.simulator.errors import OverlayError
from overlay.simulator.quasar.overlay import QuasarOverlay
from overlay.simulator.quasar.runs import groups


def test_only_live_subscribers_publish() -> None:
    system = QuasarOverlay(groups(60, [5], 1), 1)
    member = system.members(0)[0]
    stranger = next(node for node in range(60) if node not in system.members(0))
    with pytest.raises(OverlayError, match="no live subscriber of topic 0"):
        system.publish(0, stranger)
    system.leave([member])
    with pytest.raises(OverlayError, match="subscribes to its topic first"):
        system.publish(0, member)


def test_members_are_those_who_subscribe_and_are_there() -> None:
    system = QuasarOverlay(groups(60, [5, 4], 1), 1)
    first, second = system.members(0), system.members(1)
    system.change_topics(first[0], [1])
    assert system.members(0) == first[1:]
    assert system.members(1) == sorted({*second, first[0]})
    system.leave(second)
    assert not set(system.members(1)) & set(second)
    system.come(second)
    assert set(second) <= set(system.members(1))


def test_nobody_gets_an_event_before_the_first_update() -> None:
    system = QuasarOverlay(groups(60, [5], 1), 1)
    done = system.publish(0, system.members(0)[0])
    assert (done.hops >= 0).sum() == 1
    assert done.messages == 0
