"""What an heir has of an owner's topics, when that counts, and who gets it when the owner is gone (DPS-18)."""

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from broker.bereavements import Bereavements
from broker.copies import OwnerCopies
from broker.core import BrokerCore
from broker.inheritance import AT_ONCE, Inheritance
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import origin_epoch_seq
from infra.kernel.frames import (
    HIGHEST_TAG,
    Bereft,
    Copies,
    CopiesHeld,
    Frame,
    Hello,
    Inherited,
    KeptEvents,
    Lost,
    Moved,
    Past,
    PastTenure,
    Sealed,
    View,
)
from infra.kernel.topics import Kind, Topic, parse_topic, user_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

BEFORE, AFTER = View(3, ("b1", "b2", "b3")), View(4, ("b2", "b3"))
LISTS = [parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(200)]
MINE = [topic for topic in LISTS if BEFORE.ring.owner(topic) == "b1" and BEFORE.ring.heir(topic) == "b2"]
ONE, OTHER = MINE[:2]
WINDOWS = {Kind.PLAYLIST: WindowBounds(copies=1, events=3)}
STREAM, EPOCH = 1 << 50 | 7, 7


def body(seq: int) -> bytes:
    return b'{"op":"event","site":"sto","epoch":7,"seq":%d,"topic":"hm://playlist/user/ann/playlist/p/"}' % seq


def event(topic: Topic, n: int, *, anew: bool = False, event_id: bytes = b"") -> Copies:
    kept = KeptEvents([topic], [True], [1], [EPOCH if anew else STREAM], [n], [body(n)], [(0, 0, False)], [(0, 0, 0)])
    return Copies(STREAM, 0 if anew else n, [Moved([topic], [(EPOCH, n)], [[event_id] if event_id else []]), kept], anew)


def whole(number: int = BEFORE.number) -> Copies:
    return Copies(STREAM, 0, [Past(number, 0, [PastTenure(EPOCH, "b1", 9, 0, {}, [])])])


def given(n: int, *kinds: str) -> Inherited:
    """Returns the answer to who has lost b1: all is there of these `kinds`, and it is everything up to `n` of its stream."""
    return Inherited("b1", list(kinds), {STREAM: n}, {EPOCH: 9})


class Heir:
    """The broker b2, a link from b1, and aggregators that want everything."""

    def __init__(self, *, is_alone: bool = True, view: View | None = BEFORE) -> None:
        self.copies = OwnerCopies("b2", WINDOWS, 1 << 20, is_alone=is_alone)
        if view is not None:
            self.copies.follow(view, lambda slot: False)
        self.wire = RecordingWire()
        self.link = self.linked("b1", 1)
        self.window = EventWindow(8, WINDOWS, 1 << 20)
        self.core = BrokerCore("sto", 8, window=self.window)
        self.tenure = Tenure("b2", 8, copied=frozenset(WINDOWS))
        self.inheritance = Inheritance("b2", self.core, self.tenure, self.adopt)
        self.bereavements = Bereavements(self.core, self.copies.claims)
        self.got: list[int] = []

    def adopt(self, topics: Sequence[tuple[Topic, bool]]) -> None:
        self.core.recorded.adopt(topics)

    def linked(self, slot: str, incarnation: int) -> Link:
        hello = Hello("broker", slot, "sto", incarnation, 1, View(0, ()), tags=HIGHEST_TAG)
        return Link(self.wire, hello, None, 0.0, Link.flush)

    def deliver(self, handle: int, text: bytes) -> None:
        self.got.append(origin_epoch_seq(text)[2])

    def take(self, *frames: Copies) -> list[Frame]:
        """Returns what is said after a batch."""
        self.wire.sent.clear()
        for frame in frames:
            self.copies.take(self.link, frame)
        self.copies.say(self.link)
        return list(self.wire.sent)

    def taken_over(self, view: View = AFTER, leaving: Sequence[str] = ()) -> list[Frame]:
        """Returns what is taken over under `view`, after it has been."""
        taken = self.copies.follow(view, leaving.__contains__)
        frames = [frame for frame in taken.get("b1", ()) if frame is not None]
        self.tenure.begin(BEFORE, view)
        for frame in frames:
            match frame:
                case KeptEvents():
                    self.inheritance.take("b1", frame)
                case Past():
                    self.inheritance.end("b1", frame)
                case Sealed():
                    self.inheritance.sealed("b1", frame.view)
        return frames

    def bereft(self, stamps: dict[int, int], far: bool = False, later: Collection[Topic] = ()) -> list[Frame]:
        """Returns what somebody is told who has lost b1, and had everything up to `stamps`. What they want `later` they say behind that."""
        self.wire.sent.clear()
        self.got.clear()
        mourner: Any = type("", (), {})()
        mourner.bit, mourner.link = self.core.open(self, far, ("lon", "b1")), self.linked("a1", 1)
        before = [topic for topic in MINE if topic not in later]
        self.core.subscribe(mourner.bit, before, range(len(before)))
        self.bereavements.note(mourner, Bereft(AFTER, "b1", stamps))
        self.bereavements.wants(mourner, MINE)
        self.core.subscribe(mourner.bit, MINE, range(len(MINE)))
        self.bereavements.serve(mourner)
        return list(self.wire.sent)


def kinds(frames: Sequence[Frame]) -> list[str]:
    return [type(frame).__name__ for frame in frames]


def test_an_heir_says_what_it_has_once_for_a_batch() -> None:
    """DPS-18: answers are as few as batches."""
    heir = Heir()
    assert heir.take(event(ONE, 1), event(OTHER, 2), event(ONE, 3)) == [CopiesHeld(STREAM, 3)]
    assert heir.take() == []
    assert heir.copies.used_bytes > 3 * 120


def test_what_is_whole_is_taken_over_as_if_its_owner_handed_it_over() -> None:
    """DPS-18: numbers, ids, events; and stamps of the owner, and of its stream, are understood from then on."""
    heir = Heir()
    heir.take(event(ONE, 1, anew=True), event(ONE, 2, event_id=b"a"), event(OTHER, 3), whole())
    frames = heir.taken_over()
    assert kinds(frames) == ["Moved", "Moved", "KeptEvents", "Past", "Sealed"]
    moved = [frame for frame in frames if isinstance(frame, Moved)]
    assert {pair for frame in moved for pair in zip(frame.topics, frame.lasts, strict=True)} >= {(ONE, (EPOCH, 2)), (OTHER, (EPOCH, 3))}
    assert moved[1].ids == [[b"a"]]
    assert {past.epoch for past in heir.tenure.pasts} == {EPOCH, STREAM}
    heir.tenure.end(heir.window.stamp, 0)
    descent = heir.tenure.descend(ONE, {EPOCH: 1, STREAM: 0})
    assert (descent.reason, descent.begins[EPOCH], descent.begins[STREAM]) == ("", 1, 0)


def test_what_another_heir_had_and_kinds_without_copies_are_lost_where_both_owner_and_heir_are_gone() -> None:
    """DPS-5, DPS-18: an heir that is left owns them now, knows their former owner, and has nothing of them."""
    heir = Heir()
    heir.take(event(ONE, 1, anew=True), whole())
    heir.taken_over(View(4, ("b2",)))
    heir.tenure.end(heir.window.stamp, 0)
    stamps = {EPOCH: 1, STREAM: 0}
    others = [topic for topic in LISTS if BEFORE.ring.owner(topic) == "b1" and BEFORE.ring.heir(topic) == "b3"]
    assert {heir.tenure.descend(topic, stamps).reason for topic in others} == {"owner-lost"}
    feeds = [user_topic(f"u{n}") for n in range(60)]
    had = [topic for topic in feeds if BEFORE.ring.owner(topic) == "b1" and BEFORE.ring.heir(topic) == "b2"]
    assert {heir.tenure.descend(topic, stamps).reason for topic in had} == {"owner-lost"}
    assert heir.tenure.descend(ONE, stamps).reason == ""


def test_an_heir_that_hears_of_both_views_in_one_takes_over_as_well() -> None:
    """DPS-18: of the one without the owner, and of the one with its new process, which has nothing yet."""
    heir = Heir()
    heir.take(event(ONE, 1), event(OTHER, 2), whole())
    assert heir.taken_over(View(5, ("b1", "b2", "b3"), (0, 256, 256), (256, 256, 256)))
    assert heir.bereft({EPOCH: 1, STREAM: 1}) == [given(2, "playlist")]
    assert heir.got == [2]


@pytest.mark.parametrize(
    ("said", "view", "leaving"),
    [
        (None, AFTER, ()),
        (whole(2), AFTER, ()),
        (whole(), AFTER, ("b1",)),
        (whole(), View(4, ("b1", "b2")), ()),
    ],
    ids=["it was not told that it is whole", "it was whole under another view", "its owner leaves as planned", "its owner is there"],
)
def test_what_does_not_count_claims_nothing(said: Copies | None, view: View, leaving: Sequence[str]) -> None:
    """DPS-18."""
    heir = Heir()
    heir.take(event(ONE, 1), *([said] if said else []))
    assert heir.taken_over(view, leaving) == []
    assert heir.bereft({EPOCH: 0}) == [Inherited("b1", [])]
    assert heir.got == []


def test_the_bereft_get_what_they_have_not_got_once_and_in_order() -> None:
    """DPS-18: by the numbers of the stream, and by the stamps of what was there before it."""
    heir = Heir()
    heir.take(event(ONE, 5, anew=True), event(ONE, 1), event(ONE, 2), whole())
    heir.taken_over()
    assert heir.bereft({EPOCH: 4}) == [given(2, "playlist")]
    assert heir.got == [5, 1, 2]
    assert heir.bereft({EPOCH: 6, STREAM: 1}) == [given(2, "playlist")]
    assert heir.got == [2]
    heir.bereft({EPOCH: 6, STREAM: 2})
    assert heir.got == []
    assert heir.bereft({99: 1}) == [Inherited("b1", [])], "whoever had nothing from it may lack anything"


def test_the_bereft_get_nothing_of_what_they_want_since_they_have_lost_the_owner() -> None:
    """DPS-18: it may have come to their clients another way. What they say again, they have wanted before."""
    heir = Heir()
    heir.take(event(ONE, 1), event(OTHER, 2), event(ONE, 3), whole())
    heir.taken_over()
    assert heir.bereft({EPOCH: 1, STREAM: 1}, later=[ONE]) == [given(3, "playlist")]
    assert heir.got == [2]
    heir.bereft({EPOCH: 1, STREAM: 1})
    assert sorted(heir.got) == [2, 3]


def test_the_bereft_hear_of_topics_of_which_more_was_missed_than_is_kept() -> None:
    heir = Heir()
    heir.take(*(event(ONE, n) for n in range(1, 6)), whole())
    heir.taken_over()
    assert heir.bereft({EPOCH: 1, STREAM: 1}) == [given(5, "playlist"), Lost([ONE], "too-much")]


def test_where_there_are_other_sites_followers_get_everything_and_nothing_is_claimed() -> None:
    """DPS-18: events of other sites may be missing."""
    heir = Heir(is_alone=False)
    heir.take(event(ONE, 1), whole())
    assert "Past" not in kinds(heir.taken_over())
    assert heir.bereft({EPOCH: 1}) == [given(1)]
    assert heir.got == [1]
    assert heir.bereft({EPOCH: 1}, far=True) == [given(1)]
    assert heir.got == [1], "another site gets events of this one"


def test_what_is_told_anew_replaces_what_came_before() -> None:
    """A topic had another heir meanwhile."""
    heir = Heir()
    heir.take(event(ONE, 1), event(ONE, 5, anew=True), whole())
    heir.taken_over()
    heir.bereft({EPOCH: 0})
    assert heir.got == [5]


def test_an_heir_goes_on_from_nothing_where_its_owner_has_no_number_any_more() -> None:
    """DPS-1: the topic was another broker's meanwhile, which is gone without a word. What that one gave nobody may take for nothing."""
    heir = Heir()
    anew = KeptEvents([ONE], [True], [0], [], [], [], [(0, 0, False)], [(0, 0, 0)])
    heir.take(
        event(ONE, 5), event(OTHER, 6), Copies(STREAM, 6, [Moved([ONE], [(0, 0)], [[]])], anew=True), Copies(STREAM, 6, [anew], anew=True)
    )
    heir.take(whole())
    lasts = [pair for frame in heir.taken_over() if isinstance(frame, Moved) for pair in zip(frame.topics, frame.lasts, strict=True)]
    assert [pair for pair in lasts if pair[1] != (0, 0)] == [(OTHER, (EPOCH, 6))]


def test_another_process_gives_nothing_while_what_the_former_one_gave_counts() -> None:
    """DPS-18: it was started again before the others had missed it, and knows nothing of what it has let out."""
    heir = Heir()
    heir.take(event(ONE, 1), whole())
    heir.link = heir.linked("b1", 2)
    assert heir.take(Copies(1 << 51 | 9, 1, [])) == []
    assert "KeptEvents" in kinds(heir.taken_over())


@pytest.mark.parametrize("view", [None, View(2, ("b2", "b3"))], ids=["it knows of none", "the owner came with it"])
def test_an_heir_that_hears_of_the_view_behind_its_owner_has_all_that_was_given_before(view: View | None) -> None:
    """DPS-18: it dropped what came first, and its owner took it for one that has everything."""
    heir = Heir(view=view)
    assert heir.take(event(ONE, 1)) == [], "nothing may be let out: its owner may be out of the view, and not know that"
    assert heir.take(whole()) == []
    heir.copies.follow(BEFORE, lambda slot: False)
    assert heir.take() == [CopiesHeld(STREAM, 1)], "with what comes next, such as a heartbeat"
    assert heir.taken_over()
    assert heir.bereft({EPOCH: 1, STREAM: 0}) == [given(1, "playlist")]
    assert heir.got == [1]


def test_what_was_whole_before_the_first_view_of_an_heir_claims_nothing_under_that() -> None:
    """DPS-18: what was whole under an earlier view is not whole now, and another process takes the place of that one."""
    heir = Heir(view=None)
    heir.take(event(ONE, 1), whole(BEFORE.number - 1))
    heir.copies.follow(BEFORE, lambda slot: False)
    heir.link = heir.linked("b1", 2)
    assert heir.take(Copies(1 << 51 | 9, 1, [])) == [CopiesHeld(1 << 51 | 9, 1)]
    assert heir.taken_over() == []


def test_whoever_was_to_be_in_a_view_and_is_another_process_in_it_gives_all_itself() -> None:
    """DPS-18: what its former life gave before there was a view counts for none."""
    heir = Heir(view=None)
    heir.take(event(ONE, 1), whole())
    heir.link = heir.linked("b1", 2)
    heir.take(Copies(1 << 51 | 9, 1, []))
    heir.copies.follow(BEFORE, lambda slot: False)
    assert heir.take() == [CopiesHeld(1 << 51 | 9, 1)]
    assert heir.taken_over() == []


def test_whoever_is_out_of_the_view_gives_nothing() -> None:
    """DPS-18: so one that does not know it lets nothing out."""
    heir = Heir()
    heir.taken_over()
    assert heir.take(event(ONE, 1)) == []
    assert heir.copies.used_bytes == 0


def test_what_is_too_old_goes_and_is_told_as_that() -> None:
    heir = Heir()
    heir.take(event(ONE, 1), event(OTHER, 2), whole())
    heir.copies.tick(0.0)
    heir.copies.tick(121.0)
    (past,) = [frame for frame in heir.taken_over() if isinstance(frame, Past)]
    assert {tenure.epoch: tenure.too_old for tenure in past.tenures}[STREAM] == {"playlist": 2}
    assert heir.bereft({EPOCH: 1, STREAM: 2}) == [given(2, "playlist")]
    assert heir.got == []


def test_a_topic_that_comes_when_others_were_forgotten_has_its_own_events() -> None:
    """DPS-18: it got the place of one that was still there, and followers of either got events of both."""
    heir = Heir()
    fillers = [parse_topic(f"hm://playlist/user/ann/playlist/q{n}/") for n in range(AT_ONCE + 2)]
    heir.take(event(fillers[0], 1), event(ONE, 2), *(event(topic, n) for n, topic in enumerate(fillers[1:], 3)))
    heir.copies.tick(0.0)
    heir.take(event(ONE, 5000))
    heir.copies.tick(100.0)
    heir.copies.tick(121.0)
    heir.take(event(OTHER, 5001), whole())
    (kept,) = [frame for frame in heir.taken_over() if isinstance(frame, KeptEvents)]
    assert dict(zip(kept.topics, kept.counts, strict=True)) == {ONE: 1, OTHER: 1}
    assert heir.bereft({EPOCH: 0}) == [given(5001, "playlist")]
    assert heir.got == [5000, 5001]
