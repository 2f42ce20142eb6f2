"""services.presence.reporter_link: an access point says who is there, and asks; what else it says makes no sense."""

from typing import cast

import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import Call, Gone, Heartbeat, Hello, Here, Reply, View
from infra.runtime.link import Link
from services.presence.answers import PresenceAnswers
from services.presence.leases import Leases
from services.presence.reporter_link import PresenceReporter

VIEW = View(0, ())
GRACE_S = 5.0
CALL = Call(1, "ann", "", "act", b"{}")


class Point:
    """An access point with a link, whose calls are kept in `asked`. The test moves the time."""

    def __init__(self) -> None:
        self.peer = Hello("accesspoint", "ap1", "sto", 1, 0, VIEW)
        self.link = cast(Link, self)
        self.asked: list[Call] = []
        self.now_s = 100.0
        self.leases = Leases(GRACE_S, jitter_s=0.0, max_users=10)
        self.reporter = PresenceReporter(self.link, cast(PresenceAnswers, self), self.leases, lambda: self.now_s)

    def answer(self, link: Link, call: Call) -> None:
        assert link is self.link
        self.asked.append(call)

    def online(self) -> list[bool]:
        """Returns whether ann is online, and whether bob is."""
        return [devices > 0 for devices in self.leases.whereabouts(["ann", "bob"], self.now_s)]


def test_whoever_is_reported_is_online_until_they_are_reported_gone() -> None:
    """SB-30."""
    point = Point()
    point.reporter.frames([Here(["ann", "bob"], ["phone", "desk"], [2, 1]), Heartbeat(VIEW)])
    assert point.online() == [True, True]
    point.reporter.frames([Gone(["ann"], ["phone"])])
    point.now_s += GRACE_S
    assert point.online() == [False, True]


def test_calls_are_answered_beside_reports() -> None:
    point = Point()
    point.reporter.frames([CALL, Here(["ann"], ["phone"], [2]), CALL])
    assert point.asked == [CALL, CALL]
    assert point.online() == [True, False]


def test_with_its_link_all_users_of_an_access_point_go_after_the_grace() -> None:
    """SB-30: one that comes back in time has lost nobody."""
    point = Point()
    point.reporter.frames([Here(["ann", "bob"], ["phone", "desk"], [2, 1])])
    point.reporter.down("over")
    point.now_s += GRACE_S - 0.001
    assert point.online() == [True, True]
    point.now_s += 0.001
    assert point.online() == [False, False]


def test_an_access_point_answers_nothing_here() -> None:
    """DPS-24."""
    point = Point()
    with pytest.raises(Refused, match="Reply from a accesspoint makes no sense here"):
        point.reporter.frames([Reply(1, "", "", b"")])
