"""What connections must do in time, and that one that cannot be ended keeps no other from its end."""

import pytest

from accesspoint.options import AccessPointOptions
from accesspoint.session import SessionState
from accesspoint.silence import Silence
from accesspoint.timeouts import GOODBYE_S, Timeouts
from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from tests.support.broken_session import BrokenSession

HELLO_S = 10.0


class Place:
    """Connections that something is expected of."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.timeouts: Timeouts[BrokenSession] = Timeouts(HELLO_S, self.check_slow)

    def check_slow(self, session: BrokenSession, now_s: float) -> None:
        session.end(Refused("slow-consumer"))

    def pair(self, name: str, state: SessionState = SessionState.READY) -> list[BrokenSession]:
        """Returns two sessions, the first of which cannot be ended."""
        return [BrokenSession(name, self.ended, state, is_bad=True), BrokenSession(name, self.ended, state)]

    def at(self, now_s: float) -> list[str]:
        """Returns who is ended at `now_s`."""
        self.ended.clear()
        for_every_one(self.timeouts.due(now_s))
        return self.ended


def test_a_hello_is_due_in_time_and_only_of_those_that_have_not_said_it() -> None:
    place = Place()
    (_, late), (_, welcome) = place.pair("late", SessionState.NEW), place.pair("welcome")
    for session in (late, welcome):
        place.timeouts.joined(session, 5.0)
    assert place.at(5.0 + HELLO_S - 0.1) == []
    assert place.at(5.0 + HELLO_S) == ["late"]
    assert place.at(1e9) == []


def test_who_is_not_let_in_in_time_does_not_wait_for_ever() -> None:
    place = Place()
    _, asking = place.pair("asking", SessionState.ASKING)
    place.timeouts.joined(asking, 5.0)
    assert place.at(5.0 + HELLO_S) == ["asking"]


def test_who_does_not_leave_is_cut_and_who_does_is_forgotten() -> None:
    place = Place()
    (_, stays), (_, goes) = place.pair("stays"), place.pair("goes")
    for session in (stays, goes):
        place.timeouts.stopped(session)
        place.timeouts.left(session, 5.0)
    place.timeouts.lost(goes)
    assert (place.timeouts.leaving, list(place.timeouts.slow)) == ([stays], [])
    assert place.at(5.0 + GOODBYE_S - 0.1) == []
    assert place.at(5.0 + GOODBYE_S) == ["stays"]


def test_who_reads_again_is_not_slow_any_more() -> None:
    place = Place()
    (_, slow), (_, quick) = place.pair("slow"), place.pair("quick")
    for session in (slow, quick):
        place.timeouts.stopped(session)
    place.timeouts.resumed(quick)
    assert place.at(0.0) == ["slow"]


def test_a_session_that_cannot_be_ended_stops_the_timeouts_of_no_other() -> None:
    """Those that are slow, that never said hello, and that do not leave."""
    place = Place()
    for session in place.pair("young", SessionState.NEW):
        place.timeouts.joined(session, 0.0)
    for session in place.pair("slow"):
        place.timeouts.stopped(session)
    for session in place.pair("leaving"):
        place.timeouts.left(session, 0.0)
    with pytest.raises(ExceptionGroup) as raised:
        place.at(HELLO_S + GOODBYE_S)
    assert sorted(place.ended) == ["leaving", "leaving", "slow", "slow", "young", "young"]
    assert len(raised.value.exceptions) == 3


def test_a_silent_session_that_cannot_be_ended_keeps_no_other_from_its_end() -> None:
    options = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["a1"])
    place = Place()
    silence = Silence(options, place.pair("silent"))  # type: ignore[arg-type]
    silence.tick(0.0, options.ping_s)  # it takes everybody in
    with pytest.raises(KeyError):
        silence.tick(options.silent_s + 1, options.ping_s)
    assert place.ended == ["silent", "silent"]
