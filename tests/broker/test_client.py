"""What a client of a site's brokers knows of how far it has got."""

import asyncio
from typing import Any
from unittest.mock import Mock

import pytest

from aggregator.core import AggregatorCore
from broker.client import SiteClient
from broker.taken_stamps import FORMER_BEATS
from infra.kernel import interest, moving_topics
from infra.kernel.events import encode_tail, numbering
from infra.kernel.frames import (
    HIGHEST_TAG,
    Announced,
    Applied,
    Bereft,
    Deliver,
    Heartbeat,
    Hello,
    Inherited,
    Resume,
    Sealed,
    Settled,
    Subscribe,
    Unsubscribe,
    View,
)
from infra.kernel.topics import Kind, user_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

BOTH, LEFT = View(1, ("b1", "b2")), View(2, ("b2",))
ALL = View(1, ("b1", "b2", "b3"))


class ClientOf:
    """A client of some brokers, with links to them."""

    def __init__(self, *slots: str, told: View | None = None, core: AggregatorCore | None = None) -> None:
        """Makes a client with links to all. `told`: the view that their hello names. `core`: has what is wanted."""
        self.told = told or View(1, slots)
        nobody: Any = None  # it dials nobody
        brokers = {slot: f"x{slot[1]}" for slot in slots}
        self.client = SiteClient(nobody, "sto", brokers, core.wanted if core else tuple, core, progressed=self.note)
        self.progressed = asyncio.Event()
        self.wires = {slot: RecordingWire() for slot in slots}
        self.links = {slot: self.linked(slot) for slot in self.wires}

    def note(self) -> None:
        self.progressed.set()

    def linked(self, slot: str, process: int = 1) -> Link:
        hello = Hello("broker", slot, "sto", process, 1, self.told, tags=HIGHEST_TAG)
        link = Link(self.wires[slot], hello, f"x{slot[1]}", 0.0, Link.flush)
        self.client.link_up(link)
        return link

    def hear(self, slot: str, *frames: Any) -> None:
        self.client.frames(self.links[slot], frames)
        self.client.taken(self.links[slot])


class ClientOfTwo(ClientOf):
    """A client of the brokers b1 and b2."""

    def __init__(self, told: View = BOTH, core: AggregatorCore | None = None) -> None:
        super().__init__("b1", "b2", told=told, core=core)


def test_no_stamps_are_named_before_there_is_a_view() -> None:
    """DPS-8: a site begins. Who named the stamp of the first broker alone was told `owner-lost` by all others, and nothing was lost."""
    two = ClientOfTwo(View(0, ()))
    two.hear("b1", Applied(0, {}, {7: 1}))
    assert two.client.stamps == {}
    two.hear("b1", Heartbeat(BOTH, {7: 2}))
    assert two.client.stamps == {}
    two.hear("b2", Heartbeat(BOTH, {8: 2}))
    assert two.client.stamps == {7: 2, 8: 2}


def test_what_a_lost_broker_has_said_counts_until_its_heirs_have_given_the_rest() -> None:
    """DPS-18: it does not know what they have let out, so whoever went by its word would be given that again."""
    two = ClientOfTwo()
    two.hear("b1", Heartbeat(BOTH, {7: 5, 70: 1}))
    two.hear("b2", Heartbeat(BOTH, {8: 9}))
    two.hear("b2", Heartbeat(LEFT, {8: 10}))
    assert Bereft(LEFT, "b1", {7: 5, 70: 1}) in two.wires["b2"].sent
    assert two.client.stamps == {7: 5, 70: 1, 8: 10}
    two.hear("b2", Inherited("b1", ["playlist"], {70: 3}, {7: 6}), Heartbeat(LEFT, {8: 11}))
    assert two.client.stamps == {8: 11, 7: 6, 70: 3}, "no later owner has said a stamp yet by which an access point is known"
    two.hear("b1", Heartbeat(BOTH, {7: 7, 70: 1}))
    assert two.client.stamps == {8: 11, 7: 6, 70: 3}, "it is out, and does not know that"
    for _ in range(FORMER_BEATS + 1):
        two.client.tick()
    assert two.client.stamps == {8: 11}
    back = View(3, ("b1", "b2"))
    two.hear("b1", Heartbeat(back, {7: 8}))
    assert two.client.stamps == {7: 8, 8: 11}


def test_up_to_where_all_has_come_of_a_lost_broker_counts_when_all_its_heirs_have_said_so() -> None:
    """DPS-18: until then something of the topics of another one may be missing. Of what it has given to one alone, all has come at once."""
    for other in (Inherited("b3", ["playlist"], {90: 2}, {9: 8}), Inherited("b3", []), None):
        site = ClientOf("b1", "b2", "b3")
        site.hear("b1", Heartbeat(ALL, {7: 1}))
        site.hear("b2", Heartbeat(ALL, {8: 1}))
        site.hear("b3", Heartbeat(ALL, {9: 5, 80: 1, 90: 1}))
        site.hear("b1", Heartbeat(View(2, ("b1", "b2"))))
        assert site.client.stamps == {7: 1, 8: 1, 9: 5, 80: 1, 90: 1}
        site.hear("b1", Inherited("b3", ["playlist"], {80: 4}, {9: 7}))
        assert site.client.stamps == {7: 1, 8: 1, 9: 5, 80: 4, 90: 1}
        if other is not None:
            site.hear("b2", other)
        else:
            site.client.link_down(site.links["b2"])
        whole = {9: 8, 80: 4, 90: 2} if other and other.ends else {9: 7, 80: 4, 90: 1} if other else {9: 5, 80: 4, 90: 1}
        assert site.client.stamps == {7: 1, 8: 1, **whole}
        assert site.client.bequests["b3"].is_open is False
        # Where it was not dead, it cannot go on from what it had said: the heirs have given the rest.
        site.client.link_down(site.links["b3"])
        site.wires["b3"].sent.clear()
        site.links["b3"] = site.linked("b3")
        assert not any(isinstance(frame, Resume) for frame in site.wires["b3"].sent)


def test_an_heir_says_nothing_of_what_other_brokers_have() -> None:
    """DPS-9: one that lies could have everybody take for seen what nobody was given."""
    two = ClientOfTwo()
    two.hear("b1", Heartbeat(BOTH, {7: 5, 70: 1}))
    two.hear("b2", Heartbeat(BOTH, {8: 9}))
    two.hear("b2", Heartbeat(LEFT), Inherited("b1", ["playlist"], {8: 1000, 70: 2}, {8: 1000}))
    assert two.client.stamps == {8: 9, 7: 5, 70: 2}


def test_what_heirs_have_of_a_broker_counts_also_where_it_is_back_before_they_have_said_that() -> None:
    """DPS-5, DPS-18: it was replaced, so it was out of one view. It begins with nothing, so what it had is still its heirs'."""
    two, back = ClientOfTwo(), View(3, ("b1", "b2"), (0, 256), (256, 256))
    two.hear("b1", Heartbeat(BOTH, {7: 5, 70: 1}))
    two.hear("b2", Heartbeat(BOTH, {8: 9}))
    two.client.link_down(two.links["b1"])
    two.hear("b2", Heartbeat(LEFT), Heartbeat(back))
    assert two.client.bequests["b1"].is_open
    two.links["b1"] = two.linked("b1")
    two.hear("b1", Sealed(back), Heartbeat(back, {9: 1}))
    two.hear("b2", Inherited("b1", ["playlist"]), Heartbeat(back, {8: 11}))
    assert two.client.bequests["b1"].heirs == {"b2": ["playlist"]}
    assert two.client.bequests["b1"].ring.slots == LEFT.slots
    assert two.client.stamps == {9: 1, 8: 11, 7: 5, 70: 1}, "what its new process has said has nothing to do with that"


def test_who_hears_of_the_view_without_a_broker_and_of_the_one_with_its_new_process_in_one_asks_its_heirs() -> None:
    """DPS-5, DPS-18: it was cut off when the first one held. It asked nobody, so it was given nothing, and told of everything."""
    two, back = ClientOfTwo(), View(3, ("b1", "b2"), (0, 256), (256, 256))
    two.hear("b1", Heartbeat(BOTH, {7: 5, 70: 1}))
    two.hear("b2", Heartbeat(BOTH, {8: 9}))
    two.client.link_down(two.links["b1"])
    two.links["b1"] = two.linked("b1")
    two.hear("b2", Heartbeat(back))
    assert Bereft(back, "b1", {7: 5, 70: 1}) in two.wires["b2"].sent
    assert not any(isinstance(frame, Bereft) for frame in two.wires["b1"].sent)
    two.hear("b2", Inherited("b1", ["playlist"]))
    assert two.client.bequests["b1"].heirs == {"b2": ["playlist"]}
    assert two.client.bequests["b1"].ring.slots == LEFT.slots


@pytest.mark.parametrize("both_views", [True, False])
def test_what_still_comes_of_a_lost_broker_is_its_heirs_until_it_goes_by_the_view_into_which_it_came_anew(*, both_views: bool) -> None:
    """DPS-5, DPS-18: its link is half open. It came from there and from the heir, wherever its slot was in the view again by then."""
    two, back = ClientOfTwo(), View(3, ("b1", "b2"), (0, 256), (256, 256))
    two.client.copied = {Kind.USER}
    late = Deliver([0], [b"%b1,%b" % (numbering("sto", 7), encode_tail("hm://presence/user/ann/", 1, "x", "play", b"{}"))])
    two.hear("b1", Sealed(BOTH), Heartbeat(BOTH, {7: 5}))
    two.hear("b2", Sealed(BOTH), Heartbeat(BOTH, {8: 9}))

    def taken() -> list[Any]:
        return [deliver.bodies for deliver in two.client.frames(two.links["b1"], [late])]

    assert taken() == [late.bodies]
    two.hear("b2", *([Heartbeat(LEFT)] if both_views else []), Heartbeat(back))
    assert taken() == [[]]
    two.hear("b1", Heartbeat(BOTH, {7: 6}))
    assert two.client.stamps[7] == 5, "nor does it count how far that is"
    two.hear("b1", Sealed(back))
    assert taken() == [late.bodies]
    two.hear("b2", Sealed(whole := View(4, ("b1", "b2"))), Heartbeat(whole))
    assert taken() == [late.bodies], "it is in every view since"


def test_a_broker_that_is_out_does_not_say_how_far_all_has_come_where_nothing_has_copies_either() -> None:
    """DPS-8: what it sends counts. But who wants something since then has it by the new owner alone, and lacks what is published here."""
    core = AggregatorCore()
    two, point = ClientOfTwo(core=core), core.open(Mock())
    topic = next(topic for topic in (user_topic(f"u{n}") for n in range(40)) if BOTH.ring.owner(topic) == "b1")
    two.hear("b1", Sealed(BOTH), Heartbeat(BOTH, {7: 5}))
    two.hear("b2", Sealed(BOTH), Heartbeat(BOTH, {8: 9}), Sealed(LEFT))
    two.client.want(core.subscribe(point, [topic], [0]))
    assert [slot for slot, wire in two.wires.items() if any(isinstance(each, Subscribe) and each.topics for each in wire.sent)] == ["b2"]
    given = Deliver([0], [b"of another topic"], {7: 6})
    assert two.client.frames(two.links["b1"], [given, Heartbeat(BOTH, {7: 7})]) == [given]
    two.client.taken(two.links["b1"])
    assert two.client.stamps == {7: 5, 8: 9}


@pytest.mark.parametrize(("process", "has_said", "resumes"), [(1, True, True), (1, False, False), (2, False, True)])
def test_a_broker_that_is_back_is_believed_on_a_later_link_also_before_it_says_there_by_which_view_it_goes(
    process: int, *, has_said: bool, resumes: bool
) -> None:
    """DPS-10, DPS-11: it goes on where its link broke, or has another process. What came first was dropped, and said to have come.

    - `process`: the one that comes on the later link. `has_said`: it has said by its first link how far it is since it was out.
    - `resumes`: whether it is asked to go on. What it has let out while it was out has come from its heirs.
    """
    two, back = ClientOfTwo(), View(3, ("b1", "b2"))
    two.client.copied = {Kind.USER}
    two.hear("b1", Sealed(BOTH), Heartbeat(BOTH, {7: 5}))
    two.hear("b2", Heartbeat(BOTH, {8: 9}), Heartbeat(LEFT), Heartbeat(View(3, ("b1", "b2"), (0, 256), (256, 256))))
    two.hear("b1", Sealed(back), *([Heartbeat(back, {7: 6})] if has_said else []))
    two.client.link_down(two.links["b1"])
    two.wires["b1"].sent.clear()
    two.told = back
    two.links["b1"] = two.linked("b1", process)
    assert any(isinstance(frame, Resume) for frame in two.wires["b1"].sent) is resumes
    body = b"%b1,%b" % (numbering("sto", 7), encode_tail("hm://presence/user/ann/", 1, "x", "play", b"{}"))
    taken = two.client.frames(two.links["b1"], [Deliver([0], [body], {7: 8})])
    assert [deliver.bodies for deliver in taken] == [[body]]
    two.client.taken(two.links["b1"])
    assert two.client.stamps[7] == 8


@pytest.mark.parametrize("process", [1, 2])
def test_an_heir_hears_behind_the_loss_of_what_the_lost_process_of_a_broker_had_not_said_to_deliver(process: int) -> None:
    """DPS-11, DPS-18: its link was half open when an access point came that had had the topic by another aggregator, which went."""
    core = AggregatorCore()
    two, point = ClientOfTwo(core=core), core.open(Mock())
    topic = next(topic for topic in (user_topic(f"u{n}") for n in range(40)) if BOTH.ring.owner(topic) == "b1")
    two.hear("b1", Heartbeat(BOTH, {7: 5, 70: 1}))
    two.client.want(core.subscribe(point, [topic], [0]))
    two.client.link_down(two.links["b1"])
    two.links["b1"] = two.linked("b1", process)
    two.hear("b1", Applied(9, {"sto": 9}, {7 if process == 1 else 9: 6}))
    two.hear("b2", Heartbeat(LEFT, {8: 10}))
    told = [type(frame) for frame in two.wires["b2"].sent if isinstance(frame, Bereft) or (isinstance(frame, Subscribe) and frame.topics)]
    assert told == ([Subscribe, Bereft] if process == 1 else [Bereft, Subscribe])


@pytest.mark.parametrize(
    "later",
    [
        View(2, ("b1", "b2"), (0, 256), (0, 256)),  # as a plan wants it
        View(2, ("b1", "b2"), (224, 256), (0, 256)),
        View(2, ("b1", "b2", "b3"), (256, 256, 0), (256, 256, 256)),
    ],
)
def test_heirs_are_not_asked_of_a_broker_that_has_less_as_planned(later: View) -> None:
    two = ClientOfTwo()
    two.hear("b1", Heartbeat(BOTH, {7: 5}))
    two.hear("b2", Heartbeat(later))
    assert not two.client.bequests


def test_what_heirs_have_counts_no_more_where_a_broker_is_back_with_topics_or_has_left_as_planned_since() -> None:
    """DPS-8: its topics may have gone from an heir before that one has given us what it had."""
    for later in (
        [View(3, ("b1", "b2"))],
        [View(3, ("b1", "b2"), (0, 256), (256, 256)), View(4, ("b1", "b2"), (0, 256)), View(5, ("b2",))],
    ):
        two = ClientOfTwo()
        two.hear("b1", Heartbeat(BOTH, {7: 5}))
        two.hear("b2", Heartbeat(LEFT), *map(Heartbeat, later))
        assert not two.client.bequests
        two.hear("b2", Inherited("b1", ["playlist"]))
        assert not two.client.bequests


def test_a_broker_whose_hello_was_before_its_first_view_is_asked_whether_it_goes_by_one() -> None:
    """DPS-15: it went over to the view before the link stood, and said so to others. Without its word nobody would ever be done."""
    two, nobody = ClientOfTwo(View(0, ())), View(0, ())
    assert [wire.sent[-1] for wire in two.wires.values()] == [Announced(nobody)] * 2
    two.hear("b1", Heartbeat(BOTH), Sealed(BOTH))
    two.hear("b2", Heartbeat(BOTH))
    assert Announced(BOTH) not in two.wires["b1"].sent
    two.hear("b2", Sealed(BOTH))  # the answer
    for wire in two.wires.values():
        assert wire.sent[-2:] == [Announced(BOTH), Settled(1)]


@pytest.mark.parametrize("meanwhile", ["nothing", "another view", "a link breaks"])
async def test_a_view_is_announced_and_settled_behind_the_last_part_of_what_moves(monkeypatch: pytest.MonkeyPatch, meanwhile: str) -> None:
    """DPS-13: a new owner that is told so publishes at once, and whoever has not been announced by then would miss it."""
    for module, name in ((interest, "ROWS_AT_ONCE"), (interest, "LOOKS_AT_ONCE"), (moving_topics, "WITHDRAWN_AT_ONCE")):
        monkeypatch.setattr(module, name, 1)
    core, topics = AggregatorCore(), [user_topic(f"u{n}") for n in range(12)]
    core.subscribe(core.open(Mock()), topics, range(len(topics)))
    first, views = View(1, ("b1", "b2"), (256, 0)), [View(2, ("b1", "b2"), (0, 256)), View(3, ("b1", "b2"), (256, 32))]
    two = ClientOfTwo(first, core)
    for slot in ("b1", "b2"):
        two.hear(slot, Sealed(first), Applied(sent(two, slot), {"sto": sent(two, slot)}))
    view = views[0]
    for slot in ("b1", "b2"):
        two.hear(slot, Sealed(view))
    await asyncio.sleep(0)
    assert not two.client.announcer.is_announced
    if meanwhile == "another view":
        view = views[1]
        for slot in ("b1", "b2"):
            two.hear(slot, Sealed(view))
    elif meanwhile == "a link breaks":
        two.client.link_down(two.links["b1"])
        two.wires["b1"], two.told = RecordingWire(), view
        two.links["b1"] = two.linked("b1")
        two.hear("b1", Sealed(view))
    is_said = any(Announced(view) in wire.sent for wire in two.wires.values())
    assert is_said == (meanwhile == "a link breaks")  # then the rest is told at once
    await two.progressed.wait()
    assert two.client.announcer.is_announced
    for slot, wire in two.wires.items():
        behind = wire.sent[wire.sent.index(Announced(view)) :]
        assert not any(isinstance(frame, Subscribe) and frame.topics for frame in behind)
        owned = {topic for topic in topics if view.ring.owner(topic) == slot}
        assert owned <= {topic for frame in wire.sent if isinstance(frame, Subscribe) for topic in frame.topics}
    two.progressed.clear()
    for _ in range(2):  # the second answer is that to the question behind which former owners are let go
        for slot in ("b1", "b2"):
            two.hear(slot, Applied(sent(two, slot), {"sto": sent(two, slot)}))
    assert (Settled(view.number) in two.wires["b2"].sent) == two.client.announcer.is_parted
    while not two.client.announcer.is_parted:
        await two.progressed.wait()
        two.progressed.clear()
    for wire in two.wires.values():
        behind = wire.sent[wire.sent.index(Settled(view.number)) :]
        assert not any(isinstance(frame, Subscribe | Unsubscribe) for frame in behind)


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_former_owner_that_has_not_heard_of_the_view_goes_on_serving_what_has_moved(*, is_gone: bool) -> None:
    """DPS-5, DPS-13: it still numbers what is published on it. Withdrawn before, that would come to nobody."""
    core, topics = AggregatorCore(), [user_topic(f"u{n}") for n in range(12)]
    core.subscribe(core.open(Mock()), topics, range(len(topics)))
    first, second = View(1, ("b1", "b2"), (0, 256)), View(2, ("b1", "b2"), (256, 0))
    two = ClientOfTwo(first, core)
    for slot in ("b1", "b2"):
        two.hear(slot, Sealed(first), Applied(sent(two, slot), {"sto": sent(two, slot)}))
    two.hear("b1", Sealed(second))
    for _ in range(2):
        for slot in ("b1", "b2"):
            two.hear(slot, Applied(sent(two, slot), {"sto": sent(two, slot)}))
    assert not two.client.announcer.is_parted
    assert not any(isinstance(frame, Unsubscribe) for frame in two.wires["b2"].sent)
    if is_gone:
        two.client.link_down(two.links["b2"])
    else:
        two.hear("b2", Sealed(second))
        assert {topic for frame in two.wires["b2"].sent if isinstance(frame, Unsubscribe) for topic in frame.topics} == {*topics}
        assert two.wires["b2"].sent[-1] == Settled(2)
    assert two.client.announcer.is_parted


def sent(two: ClientOfTwo, slot: str) -> int:
    """Returns the number of the last change that `slot` was sent."""
    return two.client.announcer.told()[slot]
