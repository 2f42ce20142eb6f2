"""What owners answer to those who were away."""

import inspect
from collections.abc import Sequence
from typing import Any

import pytest

from broker import recaller
from broker.core import BrokerCore
from broker.recaller import Recaller, RecallingLink
from broker.subscribers import Subscriber, Subscribers
from broker.tenure import MOVED, Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from broker.window_origins import InheritedTopic
from infra.kernel.events import Event, numbering, origin_epoch_seq
from infra.kernel.frames import PastTenure, Recall, TenureChange, View
from infra.kernel.topics import Kind, Topic, inbox_topic, parse_topic, user_topic
from tests.support.assignments import assignment

MIX = parse_topic("hm://playlist/user/ann/playlist/mix/")
DAN = user_topic("dan")
EPOCH = 7


class Place:
    """One broker, which one aggregator follows. `events` of the window's kinds can be published."""

    def __init__(self, *, is_alone: bool = True, **bounds: Any) -> None:
        self.window = EventWindow(EPOCH, {Kind.PLAYLIST: WindowBounds(**bounds), Kind.USER: WindowBounds(keep="latest")}, 1 << 20)
        self.mine = True
        self.core = BrokerCore("sto", EPOCH, window=self.window, owns=lambda topic: self.mine)
        self.tenure = Tenure("b1", EPOCH, lambda slot: slot in self.awaited)
        self.recaller = Recaller("sto", self.core, self.tenure, is_alone=is_alone)
        self.awaited: set[str] = set()
        self.link: list[tuple[int, bytes]] = []
        self.bit = self.core.open(self, far=False)
        self.core.subscribe(self.bit, [MIX, DAN], [0, 1])
        self.asker = RecallingLink(self.bit, is_announced=True)

    def deliver(self, handle: int, body: bytes) -> None:
        self.link.append((handle, body))

    def publish(self, topic: Topic, count: int = 1, payload: bytes = b"{}") -> None:
        uri = {MIX: b"hm://playlist/user/ann/playlist/mix/", DAN: b"hm://presence/user/dan/"}[topic]
        for _ in range(count):
            self.core.publish(Event(topic, b"", b'"topic":"%b","payload":%b}' % (uri, payload)))

    def relay(self, seq: int, site: str = "lon", epoch: int = 3) -> None:
        """Takes an event of another site on MIX."""
        tail = b'"topic":"hm://playlist/user/ann/playlist/mix/","payload":{}}'
        self.core.relay([self.core.interest.rows[MIX]], [b"%b%d,%b" % (numbering(site, epoch), seq, tail)])

    def ask(self, topic: Topic = MIX, stamp: int | None = None, *known: tuple[str, int, int], rest: bool = False) -> tuple[str, list[int]]:
        """Returns the reason, and the numbers of the events."""
        stamps = {} if stamp is None else {EPOCH: stamp}
        (answer,) = self.recaller.answers(self.asker, Recall(1, [topic], stamps, [list(known)] if known else [], rest))
        return answer.reasons[0], [int(body.split(b'"seq":')[1].split(b",")[0]) for body in answer.bodies]

    def reached(self) -> dict[int, int]:
        """Returns up to where an answer says that it has everything."""
        (answer,) = self.recaller.answers(self.asker, Recall(1, [MIX], {EPOCH: 0}))
        return answer.stamps


def test_numbers_of_one_site_do_not_hide_that_an_event_of_another_one_was_too_long_to_be_kept() -> None:
    """DPS-5: the asker had events of lon, and was told that nothing is missing."""
    for comes_last in (False, True):
        place = Place(is_alone=False, bytes=300)
        place.relay(1)
        if comes_last:
            place.core.relay([place.core.interest.rows[MIX]], [b'%b2,"x":"%b"}' % (numbering("lon", 3), b"x" * 400)])
        else:
            place.publish(MIX, payload=b'{"x":"%b"}' % (b"x" * 400))
        assert place.ask(MIX, 1, ("lon", 3, 1)) == ("too-much", [])
        assert place.ask(MIX, None, ("lon", 3, 1)) == ("expired", [])
    place = Place(is_alone=False)
    place.relay(1)
    place.publish(MIX)
    assert place.ask(MIX, None, ("lon", 3, 1)) == ("", [1])


def test_behind_a_stamp_everything_is_there_and_what_is_known_by_number_is_left_out() -> None:
    """DPS-5, DPS-6."""
    place = Place()
    place.publish(MIX, 4)
    assert place.ask(MIX, 0) == ("", [1, 2, 3, 4])
    assert place.ask(MIX, 2) == ("", [3, 4])
    assert place.ask(MIX, 2, ("sto", EPOCH, 3)) == ("", [4])
    assert place.ask(MIX, 4) == ("", [])
    assert place.ask(MIX, 5) == ("owner-lost", [])


def test_an_answer_says_behind_which_stamp_nothing_has_come() -> None:
    """DPS-5: for whoever has got everything up to there, also where the asker had some of it by number."""
    place = Place(is_alone=False)
    place.publish(MIX, 3)
    place.publish(DAN)
    asked = [(0, ()), (2, ()), (4, ()), (1, (("sto", EPOCH, 3),))]
    answers = [next(place.recaller.answers(place.asker, Recall(1, [MIX], {EPOCH: stamp}, [list(known)]))) for stamp, known in asked]
    assert [(answer.epoch, *answer.quiet) for answer in answers] == [(EPOCH, 3), (EPOCH, 3), (EPOCH, 4), (EPOCH, 3)]


def test_who_has_more_than_their_link_was_given_waits_until_it_is_not_behind() -> None:
    """DPS-6, DPS-11: what the link is still given they had by another one, and behind an answer it would come again."""
    place = Place()
    place.publish(MIX, 2)
    laggards = place.core.laggards
    assert laggards is not None
    laggards.resume(place.bit, 1, b"")
    place.publish(MIX, 2)
    assert place.ask(MIX, 0) == ("", [1])
    assert place.ask(MIX, 1) == ("", [])
    for known in ((), (("sto", EPOCH, 3),)):
        assert place.ask(MIX, 3, *known, rest=True) == (MOVED, [])
    laggards.announced(place.bit)
    laggards.serve(place.bit, lambda: False)
    assert place.ask(MIX, 3) == ("", [4])


def test_nobody_says_that_nothing_has_come_where_that_is_not_known() -> None:
    """DPS-5: where something is missing, numbers alone are said, a former owner had the topic, or the link is behind."""
    place = Place(events=2)
    place.publish(MIX, 4)

    def quiet(stamps: dict[int, int], known: Sequence[tuple[str, int, int]] = ()) -> list[int]:
        return next(place.recaller.answers(place.asker, Recall(1, [MIX], stamps, [list(known)]))).quiet

    assert (quiet({EPOCH: 1}), quiet({}, [("sto", EPOCH, 2)]), quiet({EPOCH: 2})) == ([0], [0], [4])
    assert place.core.laggards is not None
    place.core.laggards.fill(place.bit, b"")
    assert quiet({EPOCH: 2}) == [0]
    place.core.laggards.end(place.bit)
    place.mine = False
    assert quiet({EPOCH: 2}) == [0]


def test_each_reason_has_its_cause() -> None:
    """DPS-5: false has its cause."""
    place = Place(events=2)
    place.publish(MIX, 4)
    assert place.ask(MIX, 1) == ("too-much", [])
    assert place.ask(MIX, 1, rest=True) == ("too-much", [3, 4])
    assert place.ask(MIX, 2) == ("", [3, 4])
    assert place.ask(inbox_topic("ann"), 0) == ("no-window", [])
    assert place.ask(MIX) == ("expired", [])
    (answer,) = place.recaller.answers(place.asker, Recall(1, [MIX], {EPOCH - 1: 4}))
    assert answer.reasons == ["owner-lost"]
    place.tenure.begin(View(1, ("b2",)), View(2, ("b1",)))
    assert place.ask(MIX, 2) == ("owner-lost", [])
    place.awaited.add("b2")
    assert place.ask(MIX, 2) == (MOVED, [])
    place.mine = False
    assert place.ask(MIX, 2) == (MOVED, [])


def test_what_was_not_delivered_because_the_topic_was_out_is_said_so() -> None:
    """DPS-5: `offloaded`."""
    place = Place()
    place.publish(MIX)
    place.core.assign(assignment(1, MIX))
    place.publish(MIX)
    place.core.assign(assignment(2))
    place.publish(MIX)
    assert place.ask(MIX, 1) == ("offloaded", [])
    assert place.ask(MIX, 2) == ("", [3])


def test_without_a_window_nothing_is_there() -> None:
    core = BrokerCore("sto", EPOCH)
    (answer,) = Recaller("sto", core, Tenure("b1", EPOCH), is_alone=True).answers(RecallingLink(0, is_announced=True), Recall(1, [MIX], {}))
    assert answer.reasons == ["no-window"]


def test_numbers_show_that_nothing_is_missing_or_they_do_not() -> None:
    """DPS-5: where there is no point of this site."""
    place = Place(events=3)
    place.publish(MIX, 5)
    assert place.ask(MIX, None, ("sto", EPOCH, 5)) == ("", [])
    assert place.ask(MIX, None, ("sto", EPOCH, 2)) == ("", [3, 4, 5])
    assert place.ask(MIX, None, ("sto", EPOCH, 1)) == ("expired", [])
    assert place.ask(MIX, None, ("sto", EPOCH, 6)) == ("expired", [])
    assert place.ask(MIX, None, ("sto", EPOCH - 1, 5)) == ("expired", [])


def test_among_several_sites_an_event_that_is_known_must_be_there_still() -> None:
    """DPS-5: who has none of what is here may have been away for long, and missed what another site published."""
    place = Place(is_alone=False, events=3)
    place.publish(MIX)
    for seq in (8, 9):
        place.relay(seq)
    assert place.ask(MIX, None, ("sto", EPOCH, 1)) == ("", [8, 9])
    assert place.ask(MIX, None, ("lon", 3, 8)) == ("", [1, 9])
    assert place.ask(MIX, None, ("lon", 3, 7)) == ("expired", [])
    assert place.ask(MIX, None, ("lon", 2, 8)) == ("expired", [])
    place.relay(11)
    assert place.ask(MIX, None, ("lon", 3, 8)) == ("expired", [])
    assert place.ask(MIX, None, ("lon", 3, 11)) == ("", [])


def test_an_event_that_was_recorded_before_other_sites_knew_that_the_topic_is_wanted_shows_nothing() -> None:
    """DPS-5: another site wanted it, so there are events of this site, and perhaps none of what a third one published."""
    place = Place(is_alone=False)
    row, unheard = place.core.interest.rows[MIX], place.core.unheard
    assert unheard is not None
    place.publish(MIX, 2)
    unheard.add([row], {"lon": 5})
    assert place.ask(MIX, None, ("sto", EPOCH, 1)) == ("expired", [])
    unheard.reach({"lon": 5})
    assert place.ask(MIX, None, ("sto", EPOCH, 2)) == ("expired", []), "it is of before"
    place.publish(MIX, 2)
    assert place.ask(MIX, None, ("sto", EPOCH, 3)) == ("", [4])
    assert Place().ask(MIX, 0) == ("", []), "a stamp shows it"


def test_what_another_site_published_before_something_of_it_did_not_come_is_not_given() -> None:
    """DPS-5: nobody followed here for a while, and another site did. Numbers would jump behind it, though nothing is said to be missing."""
    place = Place(is_alone=False)
    unheard = place.core.unheard
    assert unheard is not None
    place.relay(7)
    unheard.add([place.core.interest.rows[MIX]], {"lon": 5})
    place.publish(MIX)
    unheard.reach({"lon": 5})
    place.publish(MIX, 2)
    assert place.ask(MIX, None, ("sto", EPOCH, 2)) == ("", [3]), "8 to 21 were published at lon meanwhile"
    assert place.ask(MIX, None, ("sto", EPOCH, 2), ("lon", 3, 7)) == ("expired", []), (
        "they have not been here since, and nothing shows more"
    )
    assert place.ask(MIX, None, ("sto", EPOCH, 2), ("lon", 3, 6)) == ("expired", [])
    place.relay(22)
    assert place.ask(MIX, None, ("sto", EPOCH, 2)) == ("", [3, 22])
    assert place.ask(MIX, None, ("sto", EPOCH, 2), ("lon", 3, 21)) == ("", [3, 22])
    assert place.ask(MIX, None, ("sto", EPOCH, 2), ("lon", 3, 7)) == ("expired", [])
    assert place.ask(MIX, None, ("lon", 3, 22)) == ("", [1, 2, 3]), "this site's own were all here"
    assert place.ask(MIX, 0) == ("", [7, 1, 2, 3, 22]), "who has a stamp was here"


def test_what_a_site_published_before_an_event_that_is_not_kept_is_not_given_where_numbers_of_another_one_show_the_rest() -> None:
    """DPS-5: else numbers jump, though nothing is said to be missing."""
    place = Place(is_alone=False, bytes=900)
    place.publish(MIX)
    place.publish(MIX, payload=b'{"x":"%b"}' % (b"x" * 1000))
    place.publish(MIX)
    place.relay(1)
    assert place.ask(MIX, None, ("lon", 3, 1)) == ("", [3])
    assert place.ask(MIX, None, ("lon", 3, 1), ("sto", EPOCH, 1)) == ("expired", [])
    assert place.ask(MIX, None, ("lon", 3, 1), ("sto", EPOCH, 2)) == ("", [3])


def test_numbers_go_on_from_one_epoch_to_the_next_where_it_says_after_which_event() -> None:
    """DPS-1, DPS-5: a topic that has moved as planned."""
    place = Place()
    place.core.numbers.inherit(MIX, (3, 41))
    assert place.ask(MIX, None, ("sto", 3, 41)) == ("", [])
    assert place.ask(MIX, None, ("sto", 3, 40)) == ("expired", [])
    place.publish(MIX, 2)
    first, second = place.ask(MIX, None, ("sto", 3, 41))[1]
    assert second == first + 1
    assert place.ask(MIX, None, ("sto", EPOCH, first)) == ("", [second])
    for known in (("sto", 3, 40), ("sto", 3, 42), ("sto", 2, 41)):
        assert place.ask(MIX, None, known) == ("expired", [])


def test_of_a_latest_kind_the_newest_comes_and_says_what_it_replaced() -> None:
    """DPS-7."""
    place = Place()
    place.publish(DAN, 5)
    (answer,) = place.recaller.answers(place.asker, Recall(1, [DAN], {}, [[("sto", EPOCH, 2)]]))
    assert (answer.reasons, answer.counts) == ([""], [1])
    assert answer.bodies[0].startswith(b'{"op":"event","skipped":2,')
    assert place.ask(DAN, 2) == ("", [5])
    assert place.ask(DAN, 5) == ("", [])


class Heir(Place):
    """A broker to which all topics have come from b2, whose window counts in `FORMER`: of the playlist that has the events 1 to 3."""

    def __init__(self, *, evicted: int = 0, too_old: int = 0, **bounds: Any) -> None:
        super().__init__(**bounds)
        self.tenure.begin(View(1, ("b2",)), View(2, ("b1",)))
        self.awaited.add("b2")
        row = self.core.interest.rows[MIX]
        entries = [((FORMER, 10 * seq), b'%b%d,"topic":"hm://playlist/user/ann/playlist/mix/"}' % (OF_FORMER, seq)) for seq in (1, 2, 3)]
        self.window.inherit(row, MIX, InheritedTopic(entries))
        self.tenure.handed(
            "b2",
            View(2, ("b1",)),
            [PastTenure(FORMER, "b2", 40, evicted, {"playlist": too_old}, [TenureChange(View(1, ("b2",)), View(2, ("b1",)))])],
            self.window.stamp,
        )
        self.core.numbers.inherit(MIX, (FORMER, 3))

    def end(self) -> None:
        self.awaited.clear()
        self.recaller.owns_now()

    def told(self, stamps: dict[int, int], *known: tuple[str, int, int], rest: bool = False) -> tuple[str, list[int]]:
        """Returns the reason and the numbers that somebody with these stamps is told."""
        (answer,) = self.recaller.answers(self.asker, Recall(1, [MIX], stamps, [list(known)] if known else [], rest))
        return answer.reasons[0], [origin_epoch_seq(body)[2] for body in answer.bodies]


FORMER = 5
OF_FORMER = numbering("sto", FORMER)


def test_a_stamp_of_the_former_owner_is_understood_by_the_one_that_has_what_it_recorded() -> None:
    """DPS-13: behind it come the rest of what that one had, and all that came here."""
    heir = Heir()
    assert heir.told({FORMER: 10}) == (MOVED, []), "some of it may still be on its way"
    heir.end()
    heir.publish(MIX)
    (first,) = heir.told({EPOCH: heir.window.stamp - 1})[1]
    assert heir.told({FORMER: 10}) == ("", [2, 3, first])
    assert heir.told({FORMER: 30}) == ("", [first])
    assert heir.told({FORMER: 10, EPOCH: 0}) == ("", [2, 3, first])
    assert heir.told({FORMER: 30, EPOCH: heir.window.stamp}) == ("", [])
    assert heir.told({FORMER: 20}, ("sto", FORMER, 3)) == ("", [first])
    assert heir.told({}, ("sto", FORMER, 1)) == ("", [2, 3, first]), "numbers go on from one epoch to the next"
    assert heir.told({99: 1}) == ("owner-lost", [])
    assert heir.told({}) == ("expired", [])
    assert heir.told({FORMER: 20, EPOCH: heir.window.stamp}) == ("owner-lost", []), "it was lost on the way, before what came here"
    assert heir.reached() == {FORMER: 40, EPOCH: heir.window.stamp}


def test_who_has_a_number_of_this_epoch_gets_nothing_again_of_those_before_it() -> None:
    """DPS-5, DPS-13: an asker names one epoch of a site, and has what stands before it of former ones."""
    heir = Heir()
    heir.end()
    heir.publish(MIX, 2)
    first, second = heir.told({FORMER: 30})[1]
    assert heir.told({FORMER: 10}, ("sto", EPOCH, first)) == ("", [second]), "their stamp is older than their number"
    assert heir.told({}, ("sto", EPOCH, first)) == ("", [second]), "numbers alone show that nothing is missing"
    assert heir.told({FORMER: 10}, ("lon", 3, 1)) == ("", [2, 3, first, second]), "of this site they name none"
    alone = Heir(is_alone=False)
    alone.end()
    alone.relay(4)
    alone.publish(MIX)
    (own,) = alone.told({FORMER: 30}, ("lon", 3, 4))[1]
    assert alone.told({FORMER: 10}, ("lon", 3, 4)) == ("", [2, 3, own]), "what they have of one site says nothing of another one"


def test_what_had_come_before_a_point_that_is_too_old_does_not_come_again_where_numbers_show_the_rest() -> None:
    """DPS-5, DPS-6: numbers of another site showed that nothing is missing, and all of this site came, also what the point covers."""
    heir = Heir(is_alone=False, too_old=11)
    older = b'%b9,"topic":"hm://playlist/user/ann/playlist/mix/"}' % numbering("sto", FORMER - 1)
    heir.window.inherit(heir.core.interest.rows[MIX], MIX, InheritedTopic([((FORMER - 1, 7), older)]))
    heir.end()
    for seq in (4, 5):
        heir.relay(seq)
    last = "lon", 3, 4
    assert heir.told({FORMER: 10}) == ("expired", [])
    assert heir.told({FORMER: 10}, last) == ("", [2, 3, 5]), "also of who had owned it before"
    assert heir.told({}, last) == ("", [1, 2, 3, 9, 5]), "numbers alone say nothing of other sites"
    assert heir.told({FORMER - 1: 7}, last) == ("", [1, 2, 3, 5]), "who owned it then is not known, and a stamp counts all the same"
    assert heir.told({FORMER - 1: 6}, last) == ("", [1, 2, 3, 9, 5])
    assert heir.told({FORMER: 10, EPOCH: heir.window.stamp + 1}, last) == ("", [1, 2, 3, 9, 5]), "nobody was given that"


def test_who_may_still_be_given_something_by_a_former_owner_is_asked_to_ask_again() -> None:
    """DPS-6: else it would come twice."""
    heir = Heir()
    heir.end()
    heir.asker = RecallingLink(heir.bit, is_announced=False)
    assert heir.told({FORMER: 10}) == (MOVED, [])


def test_what_had_gone_where_it_was_recorded_or_has_gone_since_is_missing() -> None:
    """DPS-5: with its reason. The rest comes to whoever wants that."""
    for heir, reason in ((Heir(evicted=11), "evicted"), (Heir(too_old=11), "expired"), (Heir(events=2), "too-much")):
        heir.end()
        assert heir.told({FORMER: 10})[0] == (reason if reason != "too-much" else "")
        assert heir.told({FORMER: 9}) == (reason, [])
        assert heir.told({FORMER: 9}, rest=True) == (reason, [2, 3] if reason == "too-much" else [1, 2, 3])
        assert heir.told({FORMER: 15}) == ("", [2, 3])
    heir = Heir()
    heir.end()
    for now_s in (0.0, 121.0, 242.0):
        heir.window.tick(now_s)
    assert heir.told({FORMER: 25})[0] == "expired"


def test_a_link_that_is_behind_gets_what_former_owners_recorded_with_the_answer_and_never_from_the_window() -> None:
    """DPS-6, DPS-10: the former owner has given it to all its links."""
    heir = Heir()
    heir.end()
    assert heir.core.laggards is not None
    heir.core.laggards.fill(heir.bit, b"")
    heir.publish(MIX)
    assert heir.told({FORMER: 10}) == ("", [2, 3])
    assert heir.core.laggards.serve(heir.bit, lambda: False)
    assert len(heir.link) == 1


def test_a_link_that_is_behind_gets_of_the_past_what_will_not_come_anyway() -> None:
    """DPS-6: no copy."""
    place = Place()
    place.publish(MIX, 2)
    assert place.core.laggards is not None
    place.core.laggards.fill(place.bit, b"")
    place.publish(MIX, 2)
    assert place.ask(MIX, 0) == ("", [1, 2])
    assert place.reached() == {}
    place.core.laggards.end(place.bit)
    assert place.ask(MIX, 0) == ("", [1, 2, 3, 4])
    assert place.reached() == {EPOCH: 4}


def test_answers_are_bounded_and_come_in_frames_of_some_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-9: a question costs bounded work."""
    place = Place()
    place.publish(MIX, 2)
    size = sum(len(body) for _, body in place.link)
    monkeypatch.setattr(recaller, "FRAME_BYTES", size)
    monkeypatch.setattr(recaller, "MOST_BYTES", 2 * size)
    answers = list(place.recaller.answers(place.asker, Recall(1, [MIX] * 3, {EPOCH: 0})))
    assert [(answer.reasons, answer.counts) for answer in answers] == [([""], [2]), (["", "too-much"], [2, 0])]
    assert [answer.n for answer in answers] == [1, 1]


def test_the_window_is_read_and_the_answer_queued_in_one_turn() -> None:
    """DPS-6: what is published between the two would be missing, or come twice."""
    for step in (Subscriber.frames, Subscribers.recall, *vars(Recaller).values()):
        if inspect.isfunction(step):
            assert not inspect.iscoroutinefunction(step)
            code = inspect.getsource(step)
            assert not any(word in code for word in ("await ", "call_soon", "call_later", "in_turns", "create_task"))
