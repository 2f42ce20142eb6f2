"""What sessions have missed: they join a topic when the answer is there, and what comes before and after it is in order."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from accesspoint import hub as hub_module
from accesspoint import own_recovery as own_recovery_module
from accesspoint.core import AccessPointCore
from accesspoint.messages import SubscribeMessage
from accesspoint.point import read_point, write_point
from accesspoint.unstamped_events import UnstampedEvents
from infra.kernel.frames import Frame, Keeps, Recall, Recalled
from infra.kernel.topics import Topic, parse_topic
from tests.support.bare_core import FEEDS, KeptFrames, install, linked, make_core, welcomed
from tests.support.recording_session import RecordingSession

DAN, EVE = (parse_topic(uri) for uri in FEEDS[:2])
KEEPS = Keeps({"user": ("latest", 120.0)})


def body(seq: int, uri: str = FEEDS[0]) -> bytes:
    return b'{"op":"event","site":"sto","epoch":7,"seq":%d,"topic":"%b"}' % (seq, uri.encode())


class Place:
    """An access point whose aggregator is linked, and answers as the test says."""

    def __init__(self, **options: Any) -> None:
        self.soon: list[Callable[[], None]] = []
        self.core: AccessPointCore = make_core(soon=self.soon.append, **options)
        self.link: KeptFrames = linked(self.core)
        self.core.keeping.learn(KEEPS)
        self.core.recoveries.fed_by(self.link)

    def turns(self) -> None:
        """Does what is to be done in the next turns."""
        while self.soon:
            self.soon.pop(0)()

    def asked(self) -> list[Recall]:
        return [frame for frame in self.link if isinstance(frame, Recall)]

    def answer(self, recall: Recall, *bodies: bytes, reason: str = "", topic: bytes = DAN) -> None:
        self.core.recoveries.answered(Recalled(recall.n, [topic], [reason], [len(bodies)], list(bodies)), 0.1)
        self.core.hub.flush()

    def publish(self, *seqs: int, topic: Topic = DAN) -> None:
        handle = self.core.hub.topics[topic].handle
        self.core.hub.deliver([handle] * len(seqs), [body(seq) for seq in seqs])
        self.core.hub.flush()

    def installed(self) -> None:
        last: Frame = next(frame for frame in reversed(self.link) if not isinstance(frame, Recall))
        install(self.core, KeptFrames([last]), {"sto": 0})

    def back(self, name: str = "ann", topics: list[str] = FEEDS[:1], **fields: Any) -> RecordingSession:
        session = welcomed(self.core, name)
        session.tell(0.0, op="subscribe", id=1, topics=topics, recover=True, **({"point": write_point("sto", {7: 1})} | fields))
        return session


def seqs(session: RecordingSession) -> list[int]:
    return [message["seq"] for message in session.messages if message["op"] == "event"]


def answers(session: RecordingSession) -> list[dict[str, Any]]:
    return [message for message in session.messages if message["op"] == "subscribed"]


def test_nothing_is_given_before_the_answer_and_everything_behind_it() -> None:
    """DPS-6: without a buffer, and nobody else waits."""
    place = Place()
    other = welcomed(place.core, "bob")
    place.core.subscriptions.add(other, [DAN])
    ann = place.back()
    (recall,) = place.asked()
    assert (recall.topics, recall.stamps, recall.rest) == ([DAN], {7: 1}, False)
    place.publish(5)
    place.installed()
    assert (seqs(ann), seqs(other), answers(ann)) == ([], [5], [])
    place.answer(recall, body(4), body(5))
    place.publish(6)
    assert (seqs(ann), seqs(other)) == ([4, 5, 6], [5, 6])
    assert [message["op"] for message in ann.messages[1:]] == ["event", "event", "subscribed", "event"]
    (answer,) = answers(ann)
    assert (answer["recovered"], answer["lost"], answer["replayed"]) == (True, [], 2)
    assert place.core.recoveries.results == {"recovered": 1}


def test_of_a_topic_that_lacks_something_nothing_comes_and_the_others_are_whole() -> None:
    """DPS-5, DPS-6."""
    place = Place()
    ann = place.back(topics=FEEDS[:2])
    (recall,) = place.asked()
    place.answer(recall, body(4), reason="expired")
    assert answers(ann) == []
    place.answer(recall, body(1, FEEDS[1]), topic=EVE)
    place.installed()
    (answer,) = answers(ann)
    assert (answer["recovered"], answer["lost"], answer["replayed"]) == (False, [{"topic": FEEDS[0], "reason": "expired"}], 1)


def test_a_point_of_another_site_is_not_asked_about() -> None:
    """DPS-9."""
    place = Place()
    ann = place.back(point=write_point("lon", {7: 1}), since={FEEDS[0]: {"lon": [3, 9]}})
    (recall,) = place.asked()
    assert (recall.stamps, recall.since) == ({}, [[("lon", 3, 9)]])
    place.answer(recall, reason="expired")
    place.installed()
    assert answers(ann)[0]["lost"] == [{"topic": FEEDS[0], "reason": "other-site"}]


def test_another_aggregator_is_asked_what_the_one_before_has_not_answered() -> None:
    """DPS-6: the topics that are still open."""
    place = Place()
    ann = place.back(topics=FEEDS[:2])
    (recall,) = place.asked()
    place.answer(recall, body(4))
    place.link.clear()
    place.core.recoveries.fed_by(place.link)
    assert [frame.topics for frame in place.asked()] == [[EVE]]
    place.core.recoveries.fed_by(None)
    assert seqs(ann) == [4]


def test_who_leaves_a_topic_or_goes_meanwhile_gets_nothing() -> None:
    place = Place()
    ann, bob = place.back(), place.back("bob")
    one, two = place.asked()
    ann.tell(0.0, op="unsubscribe", topics=FEEDS[:1])
    place.core.leave(bob, "lost")
    for recall in (one, two):
        place.answer(recall, body(4))
    assert (seqs(ann), seqs(bob), len(place.core.recoveries)) == ([], [], 0)
    assert DAN not in place.core.hub.topics or place.core.hub.topics[DAN].joining is None


def test_a_row_that_is_served_in_slices_is_joined_behind_what_waits_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-6: what waits for the others is in the answer already."""
    monkeypatch.setattr(hub_module, "BURST_FROM", 1)
    monkeypatch.setattr(hub_module, "SLICE", 1)
    place = Place()
    others = [welcomed(place.core, name) for name in ("bob", "eve")]
    for other in others:
        place.core.subscriptions.add(other, [DAN])
    ann = place.back()
    place.publish(5)
    place.publish(6)
    assert place.core.hub.owes(ann)
    assert place.core.recoveries.point(others[0]) is None
    place.answer(place.asked()[0], body(5), body(6))
    place.publish(7)
    while place.core.hub.bursting:
        place.core.hub.step()
        place.core.hub.flush()
    assert [seqs(each) for each in (ann, *others)] == [[5, 6, 7]] * 3


def test_what_an_access_point_missed_itself_goes_to_all_who_follow_and_not_to_those_who_recover() -> None:
    """DPS-11."""
    place = Place()
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    ann = place.back()
    place.core.recoveries.resume(0.0)
    assert len(place.asked()) == 1  # no stamps were heard of
    place.core.recoveries.own.stamps = {7: 3}
    place.core.recoveries.resume(0.0)
    assert place.core.recoveries.point(bob) is None
    resume = place.asked()[-1]
    assert (resume.topics, resume.stamps, resume.rest) == ([DAN], {7: 3}, True)
    place.publish(5)
    place.core.recoveries.own.stamps = {7: 9}
    place.core.recoveries.resume(0.0)  # lost again before the answer: from where it was
    again = place.asked()[-1]
    assert again.stamps == {7: 3}
    place.answer(resume, body(4), body(5))
    assert seqs(bob) == []
    place.answer(again, body(4), body(5))
    place.publish(6)
    assert (seqs(bob), seqs(ann)) == ([4, 5, 6], [])
    place.answer(place.asked()[0], body(3), body(4), body(5), body(6))
    assert seqs(ann) == [3, 4, 5, 6]
    assert place.core.recoveries.point(bob) is not None


def test_an_answer_that_comes_before_what_the_access_point_missed_itself_is_asked_for_again() -> None:
    """DPS-6, DPS-11: what comes for all would repeat it. Simulated seed 210573."""
    place = Place()
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    ann = place.back()
    place.core.recoveries.note({7: 3})
    place.core.recoveries.resume(0.0)
    mine, resume = place.asked()
    place.answer(mine, body(4))
    place.publish(5)
    assert seqs(ann) == seqs(bob) == []
    place.answer(resume, body(4), body(5))
    assert (seqs(ann), seqs(bob)) == ([], [4, 5])
    again = place.asked()[-1]
    assert (again.n, again.topics, again.stamps) == (mine.n, [DAN], mine.stamps)
    place.answer(again, body(4), body(5))
    place.publish(6)
    assert seqs(ann) == seqs(bob) == [4, 5, 6]


def test_what_one_aggregator_brought_of_the_past_is_not_asked_of_the_next() -> None:
    """DPS-11: it is lost right behind its answers, and has said no stamps yet."""
    place = Place()
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    place.core.subscriptions.add(bob, [EVE])
    place.core.recoveries.note({7: 3, 8: 1})
    place.core.recoveries.resume(0.0)
    (resume,) = place.asked()
    place.core.recoveries.answered(Recalled(resume.n, [DAN], [""], [1], [body(4)], {7: 5}), 0.1)
    place.core.recoveries.note({7: 4, 8: 2})
    place.core.recoveries.resume(0.2)
    asked = {topic: recall.stamps for recall in place.asked()[1:] for topic in recall.topics}
    assert asked == {DAN: {7: 5, 8: 2}, EVE: {7: 3, 8: 1}}
    for recall in place.asked()[1:]:
        place.core.recoveries.answered(Recalled(recall.n, recall.topics, [""], [0], [], {7: 6, 8: 3}), 0.3)
    place.core.hub.flush()
    assert seqs(bob) == [4]
    place.core.recoveries.note({7: 6, 8: 3})
    place.core.recoveries.resume(0.4)
    assert [(set(recall.topics), recall.stamps) for recall in place.asked()[3:]] == [({DAN, EVE}, {7: 6, 8: 3})]


def test_what_is_named_no_more_is_said_all_the_same_for_as_long_as_events_are_kept() -> None:
    """DPS-11, DPS-18: a broker is dead, and what came of it has come. Simulated seed 25001509 with 400 operations."""
    place = Place()
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    place.core.tick(0.0, 0.1)
    place.core.recoveries.note({7: 3, 8: 1})
    place.core.recoveries.note({8: 2})
    place.core.recoveries.resume(0.0)
    (resume,) = place.asked()
    assert resume.stamps == {8: 2, 7: 3}
    # The heir of the dead one had events that nobody else has let out.
    place.core.recoveries.answered(Recalled(resume.n, [DAN], [""], [1], [body(4)], {7: 5, 8: 3}), 0.1)
    place.core.hub.flush()
    assert seqs(bob) == [4]
    place.core.recoveries.resume(0.2)
    assert place.asked()[-1].stamps == {8: 3, 7: 5}
    place.answer(place.asked()[-1])
    # So it is for topics that are wanted since, and where clients go elsewhere.
    place.core.subscriptions.add(bob, [EVE])
    place.installed()
    assert read_point(place.core.recoveries.point(bob) or "").stamps == {8: 2, 7: 5}
    place.core.recoveries.tick(KEEPS.kinds["user"][1] - 0.1)
    place.core.recoveries.resume(0.3)
    assert {topic: recall.stamps for recall in place.asked()[2:] for topic in recall.topics}[EVE] == {8: 2, 7: 5}
    for recall in place.asked()[2:]:
        for topic in recall.topics:
            place.answer(recall, topic=topic)
    place.core.recoveries.tick(KEEPS.kinds["user"][1])
    place.core.recoveries.note({8: 9})
    assert read_point(place.core.recoveries.point(bob) or "").stamps == {8: 9}


def test_nothing_is_remembered_of_how_far_all_has_come_where_nothing_was_wanted_meanwhile() -> None:
    """DPS-5: what an heir has given others meanwhile has not come here. Whoever follows then has missed nothing of it."""
    place = Place()
    place.core.tick(0.0, 0.1)
    place.core.recoveries.note({7: 3, 8: 1})
    place.core.recoveries.note({8: 2})
    place.core.recoveries.resume(0.0)
    assert place.core.recoveries.own.stamps == {8: 2}


def test_who_comes_back_and_has_no_answer_in_time_is_late_and_does_not_wait_for_ever() -> None:
    """DPS-5."""
    place = Place(install_s=2.0)
    ann = place.back()
    place.core.tick(2.1, 2.1)
    place.publish(6)
    place.core.tick(4.2, 2.1)
    assert seqs(ann) == [6]
    assert answers(ann)[0]["lost"] == [{"topic": FEEDS[0], "reason": "late"}]
    assert answers(ann)[0]["installed"] == "partial"


def gaps(session: RecordingSession) -> list[tuple[list[str], str]]:
    return [(message["topics"], message["reason"]) for message in session.messages if message["op"] == "gap"]


def test_what_an_access_point_missed_and_hears_of_late_is_told_in_time_and_given_once() -> None:
    """DPS-8, DPS-11: its aggregator does not reach the owner, and is given what it missed itself when it does. The access point has had
    some of that from another one. Simulated seed 9200133 with 400 operations."""
    place = Place(install_s=2.0)
    bob = welcomed(place.core, "bob")
    bob.tell(0.0, op="subscribe", id=1, topics=FEEDS[:2], recover=True)
    place.core.recoveries.note({7: 3})
    place.core.recoveries.resume(0.0)
    (resume,) = place.asked()
    place.answer(resume, topic=EVE)
    for now_s in (1.9, 2.0, 2.5):
        place.core.tick(now_s, 0.1)
        place.turns()
        assert gaps(bob) == ([] if now_s < 2.0 else [(FEEDS[:1], "late")])
    place.publish(2, 3, 4)
    place.publish(1, topic=EVE)
    assert (seqs(bob), place.core.recoveries.point(bob)) == ([1], None)
    place.answer(resume, body(4))
    place.publish(5)
    place.turns()
    assert seqs(bob) == [1, 4, 5]
    assert gaps(bob) == [(FEEDS[:1], "late")]


@pytest.mark.parametrize(("reason", "told"), [("late", ["late"]), ("owner-lost", ["late", "owner-lost"])])
def test_whoever_was_told_that_an_answer_is_late_hears_what_else_is_lost_by_then(reason: str, told: list[str]) -> None:
    """DPS-8: they may have fetched all of it when they heard the first, and something came since. An older aggregator gives up itself."""
    place = Place(install_s=2.0)
    bob = welcomed(place.core, "bob")
    bob.tell(0.0, op="subscribe", id=1, topics=FEEDS[:1], recover=True)
    place.core.recoveries.note({7: 3})
    place.core.recoveries.resume(0.0)
    place.core.tick(2.0, 0.1)
    place.turns()
    place.answer(place.asked()[-1], body(9), reason=reason)
    place.turns()
    place.publish(10)
    assert (seqs(bob), [each for _, each in gaps(bob)]) == ([9, 10], told)


def test_the_next_aggregator_is_asked_what_the_one_before_has_answered_late() -> None:
    """DPS-11: from where it was, whatever that one has said of itself."""
    place = Place(install_s=2.0)
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    place.core.recoveries.note({7: 3})
    place.core.recoveries.resume(0.0)
    place.core.recoveries.note({7: 9})
    place.core.tick(2.0, 0.1)
    place.core.recoveries.resume(2.5)
    assert [recall.stamps for recall in place.asked()] == [{7: 3}] * 2
    place.answer(place.asked()[-1], body(4))
    assert seqs(bob) == [4]


@pytest.mark.parametrize("is_linked", [True, False])
def test_nobody_waits_where_nobody_can_answer(is_linked: bool) -> None:
    """DPS-5: an aggregator of an older version knows of no questions, and where too much came without stamps nothing can be asked."""
    place = Place(install_s=2.0)
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    place.core.recoveries.note({7: 3})
    place.core.recoveries.resume(0.0)
    if is_linked:
        place.core.recoveries.own.stamps = {}
    else:
        place.core.recoveries.fed_by(None)
    place.core.tick(1.9, 0.1)
    place.publish(5)
    place.core.tick(2.0, 0.1)
    place.publish(6)
    assert seqs(bob) == [6]


def test_who_named_numbers_and_was_late_gets_nothing_again_of_what_the_access_point_missed_itself() -> None:
    """DPS-6, DPS-11: they come from another one that had got further. Simulated seed 3000645 with 400 operations."""
    place = Place(install_s=2.0)
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    place.core.recoveries.note({7: 3})
    ann = place.back(since={FEEDS[0]: {"sto": [7, 4]}})
    place.core.tick(2.1, 2.1)
    place.core.recoveries.resume(2.2)
    place.publish(6)
    place.answer(place.asked()[-1], body(4), body(5), body(6))
    place.publish(7)
    assert (seqs(ann), seqs(bob)) == ([5, 6, 7], [4, 5, 6, 7])


@pytest.mark.parametrize("reason", ["", "owner-lost"])
def test_what_clients_got_while_nobody_said_up_to_where_everything_has_come_is_not_given_again(reason: str) -> None:
    """DPS-11: an aggregator says no stamps while a broker of its site has said none. Simulated seed 8000685 with 400 operations."""
    place = Place()
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    place.core.recoveries.note({7: 3})
    for lost in (body(4), body(5)):
        handle = place.core.hub.topics[DAN].handle
        place.core.recoveries.own.delivered([handle, 99], [lost, lost])
        place.core.hub.deliver([handle], [lost])
        place.core.recoveries.cut_off()
        place.core.recoveries.resume(0.0)
    place.core.recoveries.own.delivered([handle], [body(6)])  # as 5, nobody gets it now: they are in the answer
    place.core.hub.deliver([handle], [body(6)])
    assert [recall.stamps for recall in place.asked()] == [{7: 3}] * 2
    place.answer(place.asked()[-1], body(4), body(5), body(6), reason=reason)
    assert seqs(bob) == [4, 5, 6]
    place.core.recoveries.note({7: 9})
    place.core.recoveries.resume(0.0)
    place.answer(place.asked()[-1], body(4))  # as no broker does: what stamps say is remembered no longer
    assert seqs(bob) == [4, 5, 6, 4]


def test_who_was_given_more_than_can_be_remembered_hears_that_something_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-8: it is not asked for, since it might come again."""
    monkeypatch.setattr(own_recovery_module, "UnstampedEvents", partial(UnstampedEvents, most=1))
    place = Place()
    bob = welcomed(place.core, "bob")
    bob.tell(0.0, op="subscribe", id=1, topics=FEEDS[:2], recover=True)
    place.core.recoveries.note({7: 3})
    handles = [place.core.hub.topics[topic].handle for topic in (DAN, EVE)]
    place.core.recoveries.own.delivered(handles, [body(4), body(4, FEEDS[1])])
    place.core.recoveries.cut_off()
    place.core.recoveries.resume(0.0)
    place.turns()
    assert place.asked() == []
    assert [message["reason"] for message in bob.messages if message["op"] == "gap"] == ["expired"]


def test_who_named_numbers_and_was_late_gets_nothing_again_of_what_comes_when_the_way_is_mended() -> None:
    """DPS-6, DPS-10: the aggregator had lost the owner of the topic, and another access point had not."""
    place = Place(install_s=2.0)
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    ann = place.back(since={FEEDS[0]: {"sto": [7, 4]}})
    place.core.tick(2.1, 2.1)
    place.publish(3, 4, 5)
    place.publish(6)
    assert (seqs(ann), seqs(bob)) == ([5, 6], [3, 4, 5, 6])


@pytest.mark.parametrize("point", [write_point("lon", {9: 1}), None])
@pytest.mark.parametrize("reason", ["", "expired"])
def test_who_comes_from_a_site_that_had_more_of_a_third_one_gets_nothing_again(point: str | None, reason: str) -> None:
    """DPS-6, DPS-9: events of a third site come to one site before the other. Simulated seed 8000402 with 400 operations."""
    place = Place()
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    ann = place.back(since={FEEDS[0]: {"ash": [7, 4], "sto": [7, 2]}}, point=point)
    place.answer(place.asked()[-1], *([] if reason else [body(3)]), reason=reason)
    handle = place.core.hub.topics[DAN].handle
    for seq in (3, 4, 5, 6):
        place.core.hub.deliver([handle], [body(seq).replace(b"sto", b"ash")])
    place.core.hub.flush()
    assert (seqs(ann), seqs(bob)) == ([*([] if reason else [3]), 5, 6], [3, 4, 5, 6])


def test_whoever_was_late_and_is_gone_is_forgotten() -> None:
    """DPS-6: nothing is kept of them."""
    place = Place(install_s=2.0)
    ann = place.back(since={FEEDS[0]: {"sto": [7, 4]}})
    place.core.tick(2.1, 2.1)
    assert len(place.core.recoveries.named) == 1
    place.core.leave(ann, "gone")
    assert len(place.core.recoveries.named) == 0


def test_whoever_leaves_a_topic_leaves_nothing_of_it_behind() -> None:
    """DPS-6: a connection that follows one topic after the other would cost more and more."""
    place = Place(install_s=2.0)
    ann = place.back(topics=FEEDS[:2], since={FEEDS[0]: {"sto": [7, 4]}})
    place.core.tick(2.1, 2.1)
    ann.tell(2.1, op="unsubscribe", id=2, topics=FEEDS[:1])
    assert ann.follows_with_recovery == {EVE}
    assert len(place.core.recoveries.named) == 0


def test_who_was_late_and_asks_anew_waits_for_the_new_answer_alone() -> None:
    """DPS-6."""
    place = Place(install_s=2.0)
    place.core.recoveries.note({7: 3})
    ann = place.back(since={FEEDS[0]: {"sto": [7, 4]}})
    place.core.tick(2.1, 2.1)
    ann.tell(2.1, op="unsubscribe", id=2, topics=FEEDS[:1])
    ann.tell(2.1, op="subscribe", id=3, topics=FEEDS[:1], recover=True, since={FEEDS[0]: {"sto": [7, 4]}})
    place.core.recoveries.resume(2.2)
    place.answer(place.asked()[-1], body(4), body(5))
    assert seqs(ann) == []
    place.answer(place.asked()[1], body(5))
    assert seqs(ann) == [5]


def test_a_message_that_is_refused_leaves_nobody_waiting() -> None:
    place = Place(max_topics=1)
    ann = place.back(topics=FEEDS[:2])
    assert place.core.hub.held(ann) == [DAN]
    (recall,) = place.asked()
    place.answer(recall, body(1))
    place.installed()
    (answer,) = answers(ann)
    assert [each["code"] for each in answer["rejected"]] == ["too-many-topics"]
    plan = place.core.recoveries.plan(ann, _message())
    assert plan is not None
    place.core.recoveries.hold(ann, plan, [DAN])
    place.core.recoveries.give_up(ann, plan)
    place.publish(2)
    assert seqs(ann) == [1, 2]


def _message() -> SubscribeMessage:
    return SubscribeMessage(FEEDS[:1], recover=True, point=write_point("sto", {7: 1}))


def test_a_topic_that_nobody_wants_when_its_link_breaks_again_is_not_held_for_who_wants_it_later() -> None:
    """DPS-11: they never got anything of it. Cores, life `recovery`, seed 54."""
    place = Place()
    bob = welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    place.core.recoveries.note({7: 3})
    place.core.recoveries.resume(0.0)
    place.core.subscriptions.drop(bob, [DAN])
    place.core.recoveries.resume(0.0)
    place.core.subscriptions.add(bob, [DAN])
    place.publish(5)
    assert seqs(bob) == [5]


def test_what_an_answer_has_brought_is_not_asked_for_again_when_the_link_breaks_before_a_sign_of_life() -> None:
    """DPS-6, DPS-11: it came twice. Cores, life `recovery`, seed 108."""
    place = Place()
    place.core.recoveries.note({7: 3})
    ann = place.back()
    place.core.recoveries.answered(Recalled(place.asked()[0].n, [DAN], [""], [1], [body(4)], {7: 8}), 0.1)
    place.core.recoveries.resume(0.2)
    assert (place.asked()[-1].topics, place.asked()[-1].stamps) == ([DAN], {7: 8})
    place.answer(place.asked()[-1])
    place.publish(5)
    assert seqs(ann) == [4, 5]


def test_nobody_has_a_point_before_the_owner_knows_that_they_follow() -> None:
    """DPS-5, DPS-9: what is published before that is recorded nowhere, so a point from then would hide its loss."""
    place = Place()
    place.core.recoveries.note({7: 1})
    ann = place.back()
    place.answer(place.asked()[0])
    assert place.core.recoveries.point(ann) is None
    place.installed()
    assert place.core.recoveries.point(ann) is not None
    place.core.announcer.node_down("a1")
    again = KeptFrames()
    place.core.announcer.node_up("a1", again)
    assert place.core.recoveries.point(ann) is None
    install(place.core, again, {"sto": 0})
    assert place.core.recoveries.point(ann) is not None


def test_whoever_is_cut_off_before_the_first_stamps_came_is_told_when_it_is_fed_again() -> None:
    """DPS-8: nobody can be asked from where on. Only those hear of it that follow with `recover`, and nobody a second time."""
    place = Place()
    ann, bob = place.back(point=None), welcomed(place.core, "bob")
    place.core.subscriptions.add(bob, [DAN])
    place.installed()
    place.core.recoveries.cut_off()
    place.core.recoveries.fed_by(None)
    late = place.back("cyd", [FEEDS[1]], point=None)
    place.core.recoveries.fed_by(place.link)
    place.core.recoveries.resume(0.1)
    place.core.recoveries.resume(0.2)
    place.turns()
    gaps = [[message for message in session.messages if message["op"] == "gap"] for session in (ann, bob, late)]
    assert gaps == [[{"op": "gap", "topics": FEEDS[:1], "reason": "expired", "point": None}], [], []]
    assert place.asked() == []


def test_whoever_has_stamps_when_it_is_cut_off_asks_and_tells_nothing() -> None:
    """DPS-11"""
    place = Place()
    ann = place.back(point=None)
    place.core.recoveries.note({7: 3})
    place.core.recoveries.cut_off()
    place.core.recoveries.fed_by(None)
    place.core.recoveries.fed_by(place.link)
    place.core.recoveries.resume(0.1)
    place.turns()
    assert [recall.stamps for recall in place.asked()] == [{7: 3}]
    assert not [message for message in ann.messages if message["op"] == "gap"]


def test_whoever_comes_to_an_access_point_that_had_nobody_when_its_aggregator_was_lost_gets_a_point() -> None:
    """DPS-9: it had missed nothing itself, and waited for that for ever."""
    place = Place()
    place.core.recoveries.note({7: 3})
    place.core.recoveries.resume(0.0)
    place.core.recoveries.note({7: 4})
    place.core.tick(60.0, 0.1)
    bob = welcomed(place.core, "bob")
    assert place.core.recoveries.point(bob) is not None
    assert place.asked() == []
