"""Answers about the past that stand: for who comes back next nobody is asked, until an event comes or events come by another way."""

from collections.abc import Callable
from typing import Any

import pytest

from accesspoint import recent_answers
from accesspoint.point import write_point
from accesspoint.recent_answer import RecentAnswer
from accesspoint.recent_answers import KEPT_S, RecentAnswers
from accesspoint.row import Row
from infra.kernel.frames import Recalled
from infra.kernel.loss_reasons import LossReason
from infra.kernel.roles import DECISION
from tests.support.bare_core import FEEDS, welcomed
from tests.support.recording_session import RecordingSession

from .test_recoveries import DAN, EVE, Place, answers, body, seqs

EPOCH = 7


def came_back(place: Place, name: str, stamp: int, topics: list[str] = FEEDS[:1], **fields: Any) -> RecordingSession:
    """Returns a session of `name` that goes on from `stamp`."""
    return place.back(name, topics, **({"point": write_point("sto", {EPOCH: stamp})} | fields))


def answered(since: dict[str, Any] | None = None, stamps: dict[int, int] | None = None, **options: Any) -> Place:
    """Returns an access point where bob has come back from the stamp 10, and was given the event 4 of DAN, which has the stamp 14.

    - `since`: the numbers that bob said. `stamps`: those of the answer.
    """
    place = Place(**options)
    place.core.recoveries.note({EPOCH: 20})
    came_back(place, "bob", 10, FEEDS[:2], since=since or {})
    (recall,) = place.asked()
    reached = {EPOCH: 20} if stamps is None else stamps
    place.core.recoveries.answered(Recalled(recall.n, [DAN, EVE], ["", ""], [1, 0], [body(4)], reached, EPOCH, [14, 10]), 0.1)
    place.installed()
    place.core.hub.flush()
    place.link.clear()
    return place


def test_who_comes_back_from_the_same_point_gets_the_same_and_nobody_is_asked() -> None:
    """DPS-5, DPS-6: what was missed first, then the answer, then what is live."""
    place = answered()
    ann = came_back(place, "ann", 10, FEEDS[:2])
    place.publish(5)
    assert (place.asked(), [message["op"] for message in ann.messages[1:]]) == ([], ["event", "subscribed", "event"])
    (answer,) = answers(ann)
    assert (seqs(ann), answer["recovered"], answer["lost"], answer["replayed"]) == ([4, 5], True, [], 1)
    assert place.core.recoveries.results == {"recovered": 2}


def test_who_has_got_everything_behind_which_nothing_has_come_has_missed_nothing() -> None:
    """DPS-5: from whatever point. Who may have missed something is asked for."""
    place = answered()
    for stamp in (14, 17, 20):
        assert answers(came_back(place, f"u{stamp}", stamp))[0]["replayed"] == 0
    assert place.asked() == []
    for stamp in (9, 13):
        came_back(place, f"u{stamp}", stamp)
    assert [recall.stamps[EPOCH] for recall in place.asked()] == [9, 13]


def test_what_is_known_by_number_does_not_come() -> None:
    """DPS-6: nothing that is in `since` comes twice, and what was answered to who had some of it is no answer for others."""
    place = answered()
    ann = came_back(place, "ann", 10, since={FEEDS[0]: {"sto": [EPOCH, 4]}})
    assert (place.asked(), seqs(ann), answers(ann)[0]["replayed"]) == ([], [], 0)
    place = answered(since={FEEDS[0]: {"sto": [EPOCH, 3]}})
    came_back(place, "ann", 10)
    assert [recall.topics for recall in place.asked()] == [[DAN]]
    assert answers(came_back(place, "eve", 14))[0]["recovered"] is True


def test_who_got_further_than_this_access_point_is_asked_for() -> None:
    """DPS-6: what they have would come again."""
    place = answered()
    came_back(place, "ann", 21)
    place.back("eve", point=write_point("sto", {EPOCH: 14, 8: 1}))
    place.back("joe", point=write_point("lon", {EPOCH: 14}))
    place.back("zoe", point=None, since={FEEDS[0]: {"sto": [EPOCH, 4]}})
    assert len(place.asked()) == 4


def _publishes(place: Place) -> None:
    place.publish(5)


def _all_leave(place: Place) -> None:
    for session in list(place.core.sessions):
        place.core.leave(session, "lost")


def _unsubscribes(place: Place) -> None:
    for session in list(place.core.sessions):
        place.core.subscriptions.drop(session, [DAN])


def _says_no_stamps(place: Place) -> None:
    place.core.recoveries.note({})
    place.core.recoveries.note({EPOCH: 20})


def _loses(place: Place) -> None:
    place.core.recoveries.lose([EVE], LossReason.TOO_MUCH)


def _goes_to_another(place: Place) -> None:
    place.core.recoveries.fed_by(place.link)
    place.core.recoveries.note({EPOCH: 20})


def _is_cut_off(place: Place) -> None:
    place.core.recoveries.cut_off()


def _recovers_itself(place: Place) -> None:
    place.core.recoveries.resume(0.2)


def _moves(place: Place) -> None:
    place.core.announcer.keeps_former = True


def _waits(place: Place) -> None:
    place.core.recoveries.tick(0.1 + KEPT_S)


CHANGES: list[Callable[[Place], None]] = [
    _publishes,
    _all_leave,
    _unsubscribes,
    _says_no_stamps,
    _loses,
    _goes_to_another,
    _is_cut_off,
    _recovers_itself,
    _moves,
    _waits,
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_answer_stands_as_long_as_everything_comes_and_nothing_has_come(change: Callable[[Place], None]) -> None:
    """DPS-5, DPS-11, DPS-12."""
    place = answered()
    change(place)
    place.link.clear()
    came_back(place, "ann", 14)
    assert [recall.topics for recall in place.asked()] == [[DAN]]


@pytest.mark.parametrize("options", [{"stamps": {}}, {"services": {DECISION: ["d1:1"]}}], ids=["behind", "offloads"])
def test_an_answer_that_may_not_be_all_there_is_for_others_is_not_kept(options: dict[str, Any]) -> None:
    """DPS-5: that of a link that is behind; that of a topic whose events may not be delivered."""
    place = answered(**options)
    came_back(place, "ann", 14)
    assert [recall.topics for recall in place.asked()] == [[DAN]]


def test_an_answer_to_who_has_left_the_topic_meanwhile_is_not_kept() -> None:
    """DPS-5: others have not followed it all the time."""
    place = Place()
    place.core.recoveries.note({EPOCH: 20})
    bob = came_back(place, "bob", 10)
    (recall,) = place.asked()
    bob.tell(0.0, op="unsubscribe", topics=FEEDS[:1])
    place.core.subscriptions.add(welcomed(place.core, "eve"), [DAN])
    place.core.recoveries.answered(Recalled(recall.n, [DAN], [""], [0], [], {EPOCH: 20}, EPOCH, [10]), 0.1)
    place.link.clear()
    came_back(place, "ann", 14)
    assert [recall.topics for recall in place.asked()] == [[DAN]]


def test_who_asks_anew_waits_no_more_for_the_answer_before() -> None:
    """DPS-6."""
    place = answered()
    ann = came_back(place, "ann", 9)
    (recall,) = place.asked()
    ann.tell(0.1, op="subscribe", id=2, topics=FEEDS[:1], recover=True, point=write_point("sto", {EPOCH: 14}))
    place.publish(5)
    place.answer(recall, body(3), body(4), body(5))
    assert seqs(ann) == [5]
    assert [answer["id"] for answer in answers(ann)] == [2, 1]


def test_what_waits_for_a_slice_is_in_no_answer_that_stands() -> None:
    """DPS-6."""
    kept, row = RecentAnswers(), Row(0, DAN)
    row.is_held = True
    kept.keep(row, RecentAnswer(EPOCH, 1, {}, []), 0.0)
    assert (row.answer, len(kept)) == (None, 0)


def test_answers_take_a_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_answers, "MOST_BYTES", 1000)
    kept, rows = RecentAnswers(), [Row(0, DAN), Row(1, EVE)]
    for row in rows:
        kept.keep(row, RecentAnswer(EPOCH, 1, {}, [b"x" * 400]), 0.0)
    assert ([row.answer is None for row in rows], len(kept)) == ([True, False], 1)
