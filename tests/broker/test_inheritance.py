"""What goes from a window to others with topics that move, and what of it is believed."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broker import inheritance
from broker.core import BrokerCore
from broker.inheritance import Inheritance
from broker.moving import Destinations
from broker.recaller import Recaller, RecallingLink
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, origin_epoch_seq
from infra.kernel.frames import KeptEvents, Past, Recall, View
from infra.kernel.topics import Kind, Topic, format_topic, inbox_topic, parse_topic, user_topic

ONE, TWO = View(1, ("b1",)), View(2, ("b1", "b2"))
GOES = [topic for topic in (user_topic(f"u{n}") for n in range(40)) if TWO.ring.owner(topic) == "b2"]
LISTS = [parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(40)]
MIX, OTHER = [topic for topic in LISTS if TWO.ring.owner(topic) == "b2"][:2]
WINDOWS = {Kind.PLAYLIST: WindowBounds(events=4), Kind.USER: WindowBounds(keep="latest")}


class HeirOrFormer:
    """The broker `slot`, and one aggregator that wants all topics from it."""

    def __init__(self, slot: str, epoch: int, windows: Mapping[Kind, WindowBounds] = WINDOWS, **bounds: Any) -> None:
        self.slot = slot
        self.window = EventWindow(epoch, windows, bounds.get("max_bytes", 1 << 20))
        self.view = ONE
        self.core = BrokerCore("sto", epoch, window=self.window, owns=lambda topic: self.view.ring.owner(topic) == slot)
        self.tenure = Tenure(slot, epoch, lambda former: True)
        self.adopted: list[tuple[Topic, bool]] = []
        self.inheritance = Inheritance(slot, self.core, self.tenure, self.adopt)
        self.recaller = Recaller("sto", self.core, self.tenure, is_alone=True)
        self.bit = self.core.open(self, far=False)

    def adopt(self, topics: Sequence[tuple[Topic, bool]]) -> None:
        self.adopted += topics
        self.core.recorded.adopt(topics)

    def deliver(self, handle: int, body: bytes) -> None:
        pass

    def follow(self, *topics: Topic) -> None:
        self.core.subscribe(self.bit, topics, range(len(topics)))

    def publish(self, topic: Topic) -> None:
        self.core.publish(Event(topic, b"", b'"topic":"%b","payload":{}}' % format_topic(topic).encode()))

    def change(self, view: View) -> None:
        self.tenure.begin(self.view, view)
        self.view = view

    def ask(self, topic: Topic, **stamps: int) -> tuple[str, list[tuple[int, int]]]:
        """Returns the reason, and epoch and number of each event, that somebody with `stamps` is told."""
        recall = Recall(1, [topic], {int(epoch[1:]): stamp for epoch, stamp in stamps.items()})
        (answer,) = self.recaller.answers(RecallingLink(self.bit, is_announced=True), recall)
        return answer.reasons[0], [origin_epoch_seq(body)[1:] for body in answer.bodies]


def parts_of(former: HeirOrFormer) -> list[KeptEvents]:
    """Returns what goes from `former` to b2."""
    goes_to = Destinations("b1", ONE.ring, former.view.ring)
    found = [part for part in former.inheritance.leaving(goes_to, former.inheritance.left()) if part is not None]
    assert {slot for slot, _ in found} <= {"b2"}
    return [kept for _, kept in found]


def hand_over(former: HeirOrFormer, heir: HeirOrFormer, said: int | None = None) -> None:
    """Has all that is b2's go to `heir`; `said`: how many parts are said to have gone."""
    for each in (former, heir):
        each.change(TWO)
    parts = parts_of(former)
    for kept in parts:
        heir.inheritance.take("b1", kept)
    heir.inheritance.end("b1", former.inheritance.ending(2, len(parts) if said is None else said))
    heir.inheritance.sealed("b1", TWO)
    heir.recaller.owns_now()


def test_what_is_recorded_of_topics_that_go_is_there_and_stamps_of_before_are_understood() -> None:
    """DPS-13: also of topics without events, and of those that somebody has left. What stays, and what has no window, does not go."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8)
    stays = next(topic for topic in LISTS if TWO.ring.owner(topic) == "b1")
    former.window.tick(0.0)
    former.follow(MIX, OTHER, GOES[0], stays, inbox_topic("u1"))
    for topic in (MIX, MIX, GOES[0], GOES[0], stays):
        former.publish(topic)
    point = former.window.stamp
    former.publish(MIX)
    former.core.unsubscribe(former.bit, [OTHER])
    heir.window.tick(0.0)
    hand_over(former, heir)
    assert sorted(heir.adopted) == sorted([(MIX, True), (OTHER, True), (GOES[0], True)])
    assert heir.ask(MIX, e7=point) == ("", [(7, 3)])
    assert heir.ask(MIX, e7=point + 1) == ("", [])
    assert heir.ask(MIX, e7=0) == ("", [(7, 1), (7, 2), (7, 3)])
    assert heir.ask(OTHER, e7=point) == ("", [])
    assert heir.ask(GOES[0], e7=0) == ("", [former.core.numbers.last(GOES[0])])
    heir.publish(OTHER)
    assert heir.ask(OTHER, e7=point)[0] == ""
    assert len(heir.ask(OTHER, e7=point)[1]) == 1, "it is recorded on, though nobody follows it"


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "not known yet"])
def test_of_what_other_sites_may_not_have_sent_everything_the_new_owner_knows_that_too(is_known: bool) -> None:
    """DPS-5, DPS-13: so an event of before shows nothing there either."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8)
    assert former.core.unheard is not None
    assert heir.core.unheard is not None
    former.follow(MIX, OTHER, GOES[0])
    for topic in (MIX, OTHER):
        former.publish(topic)
    row = former.core.interest.rows[MIX]
    former.core.unheard.add([row], {"lon": 1})
    if is_known:
        former.core.unheard.reach({"lon": 1})
        former.publish(MIX)
    heir.follow(MIX, OTHER, GOES[0])
    heir.core.unheard.add([heir.core.interest.rows[topic] for topic in (MIX, OTHER, GOES[0])], {"lon": 1})
    hand_over(former, heir)
    rows = heir.core.interest.rows
    assert [rows[topic] in heir.core.unheard for topic in (MIX, OTHER, GOES[0])] == [not is_known, False, True]

    def shows(topic: Topic, seq: int) -> bool:
        return heir.window.is_whole_behind(rows[topic], lambda body: origin_epoch_seq(body)[2] == seq)

    numbers = [origin_epoch_seq(body)[2] for body in heir.window.kept(rows[MIX])]
    assert [shows(MIX, seq) for seq in numbers] == ([False, True] if is_known else [False])
    assert shows(OTHER, 2), "it has the second number that the former owner gave"


def test_of_a_latest_kind_the_new_owner_goes_on_counting_what_was_replaced() -> None:
    """DPS-7."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8)
    former.follow(GOES[0])
    for _ in range(3):
        former.publish(GOES[0])
    hand_over(former, heir)
    heir.publish(GOES[0])
    recall = Recall(1, [GOES[0]], {7: 1})
    (answer,) = heir.recaller.answers(RecallingLink(heir.bit, is_announced=True), recall)
    assert answer.counts == [1]
    assert answer.bodies[0].startswith(b'{"op":"event","skipped":3,')


def test_what_a_topic_had_lost_is_lost_for_its_new_owner_too() -> None:
    """DPS-2, DPS-5."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8)
    former.follow(MIX)
    for _ in range(6):
        former.publish(MIX)
    hand_over(former, heir)
    assert heir.ask(MIX, e7=1) == ("too-much", [])
    assert heir.ask(MIX, e7=2) == ("", [(7, 3), (7, 4), (7, 5), (7, 6)])
    heir.publish(MIX)
    assert heir.ask(MIX, e7=2)[0] == "too-much"
    assert len(heir.ask(MIX, e7=3)[1]) == 4


@pytest.mark.parametrize("said", [0, 2])
def test_where_a_part_is_missing_nothing_is_claimed(said: int) -> None:
    """DPS-13: never true where something may be missing."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8)
    former.follow(MIX)
    former.publish(MIX)
    hand_over(former, heir, said)
    assert heir.ask(MIX, e7=0) == ("owner-lost", [])


def test_who_has_the_last_stamp_of_before_a_former_owner_was_lost_is_not_taken_for_one_of_after() -> None:
    """DPS-5: the heir had given no other stamp meanwhile, not even to a tick, so it said that nothing is missing."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8)
    for each in (former, heir):
        each.window.tick(0.0)
        each.follow(MIX)
    stamps = {"e7": former.window.stamp, "e8": heir.window.stamp}
    former.publish(MIX)
    heir.change(TWO)
    heir.recaller.owns_now()
    assert heir.ask(MIX, **stamps) == ("owner-lost", [])
    assert heir.ask(MIX, e8=heir.window.stamp) == ("", []), "that is one of after"


def test_who_has_the_last_stamp_of_before_a_planned_move_misses_nothing() -> None:
    """DPS-13: nor is a broker that begins with others taken for one that others had topics before."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8)
    for each in (former, heir):
        each.tenure.begin(View(0, ()), ONE)
        each.window.tick(0.0)
        each.recaller.owns_now()
        each.follow(MIX)
        assert each.window.stamp == 1, "nobody had topics before"
    stamps = {"e7": former.window.stamp, "e8": heir.window.stamp}
    hand_over(former, heir)
    assert heir.ask(MIX, **stamps) == ("", [])
    assert heir.ask(MIX, **{**stamps, "e8": heir.window.stamp}) == ("", [])


def test_what_came_over_another_link_does_not_count_and_a_seal_of_a_later_step_needs_its_own_end() -> None:
    """DPS-13."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8)
    former.follow(MIX)
    former.publish(MIX)
    for each in (former, heir):
        each.change(TWO)
    (kept,) = parts_of(former)
    heir.inheritance.take("b1", kept)
    heir.inheritance.link_up("b1")
    heir.inheritance.end("b1", former.inheritance.ending(2, 1))
    heir.inheritance.sealed("b1", TWO)
    heir.inheritance.take("b1", kept)
    heir.inheritance.end("b1", former.inheritance.ending(1, 1))
    heir.inheritance.sealed("b1", TWO)
    heir.recaller.owns_now()
    assert heir.ask(MIX, e7=0) == ("owner-lost", [])
    assert heir.window.kept(heir.core.interest.rows[MIX]) == former.window.kept(former.core.interest.rows[MIX]), "it came once"


def test_parts_are_of_some_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounded: so many topics, and so many bytes."""
    monkeypatch.setattr(inheritance, "AT_ONCE", 5)
    former = HeirOrFormer("b1", 7)
    former.follow(*GOES)
    for topic in GOES:
        former.publish(topic)
    former.view = TWO
    parts = parts_of(former)
    assert max(len(kept.topics) for kept in parts) <= 5
    assert sorted(topic for kept in parts for topic in kept.topics) == sorted(GOES)
    monkeypatch.setattr(inheritance, "FRAME_BYTES", 1)
    assert {len(kept.topics) for kept in parts_of(former)} == {1}


def test_without_a_window_nothing_goes_and_nothing_is_taken() -> None:
    """DPS-3"""
    core = BrokerCore("sto", 8)
    bare = Inheritance("b2", core, Tenure("b2", 8), lambda topics: None)
    assert list(bare.leaving(lambda topics: ["b1"] * len(topics), [])) == []
    bare.take("b1", KeptEvents([MIX], [True], [0], [], [], [], [(0, 0, False)], [(0, 0, 0)]))
    bare.end("b1", Past(2, 1, []))
    bare.sealed("b1", TWO)
    assert len(core.interest) == 0


def test_memory_stays_within_its_bound_and_what_does_not_fit_is_missed() -> None:
    """DPS-2: what comes takes the place of what is oldest here."""
    former, heir = HeirOrFormer("b1", 7), HeirOrFormer("b2", 8, max_bytes=4_000)
    former.follow(*GOES)
    for topic in GOES:
        former.publish(topic)
    hand_over(former, heir)
    assert heir.window.used_bytes <= heir.window.max_bytes
    reasons = [heir.ask(topic, e7=0)[0] for topic in GOES]
    assert set(reasons) == {"evicted"}
    assert heir.ask(GOES[-1], e7=former.window.stamp - 1) == ("", [former.core.numbers.last(GOES[-1])])


@given(
    st.lists(st.sampled_from(["publish", "move", "tick"]), max_size=40),
    st.integers(0, 40),
    st.integers(1, 6),
)
@example(acts=["publish", "move", "publish", "publish", "move"], at=1, events=1)  # something older goes while what lost something comes
def test_from_owner_to_owner_who_is_told_that_nothing_is_missing_gets_each_event_once(acts: list[str], at: int, events: int) -> None:
    """DPS-5, DPS-6, DPS-13: a topic goes to and fro between two brokers, and somebody was away since some moment."""
    topic, views = MIX, [View(1, ("b1",)), View(2, ("b2",))]
    windows = {Kind.PLAYLIST: WindowBounds(events=events, seconds=3.0)}
    brokers = [HeirOrFormer(f"b{n + 1}", n + 7, windows) for n in range(2)]
    for each in brokers:
        each.tenure.begin(View(0, ()), views[0])
        each.window.tick(0.0)
        each.recaller.owns_now()
        each.follow(topic)
    owner, number, now_s = 0, 1, 0.0
    stamps: dict[int, int] = {}
    missed: list[tuple[int, int]] = []
    for turn, act in enumerate([*acts, "ask"]):
        if turn == min(at, len(acts)):
            stamps, missed = {each.window.epoch: each.window.stamp for each in brokers}, []
        if act == "publish":
            brokers[owner].publish(topic)
            missed.append((owner + 7, brokers[owner].core.numbers.last(topic)[1]))  # type: ignore[index]
        elif act == "tick":
            now_s += 1.0
            for each in brokers:
                each.window.tick(now_s)
                each.recaller.owns_now()
        elif act == "move":
            number += 1
            view = View(number, views[1 - owner].slots)
            former, heir = brokers[owner], brokers[1 - owner]
            for each in brokers:
                each.change(view)
            goes_to = Destinations(former.slot, View(number - 1, (former.slot,)).ring, view.ring)
            leaving = former.inheritance.leaving(goes_to, former.inheritance.left())
            parts = [part[1] for part in leaving if part is not None]
            for kept in parts:
                heir.inheritance.take(former.slot, kept)
            heir.inheritance.end(former.slot, former.inheritance.ending(number, len(parts)))
            heir.inheritance.sealed(former.slot, view)
            if (last := former.core.numbers.last(topic)) is not None:
                former.core.numbers.give_up(topic)
                heir.core.numbers.inherit(topic, last)
            owner = 1 - owner
            for each in brokers:
                each.recaller.owns_now()
    reason, got = brokers[owner].ask(topic, **{f"e{epoch}": stamp for epoch, stamp in stamps.items()})
    if not reason:
        assert got == missed
    elif len(missed) <= events and "tick" not in acts:
        pytest.fail(f"nothing has gone, and yet it says {reason}")
