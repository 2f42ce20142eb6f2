"""Who hears that something may be missing, also where a link breaks before they have heard it."""

import asyncio

import pytest

from broker import told_losses
from broker.core import BrokerCore
from broker.told_losses import MOST_TOLD, ToldLosses
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.frames import OLD_TAG, Hello, Lost, View
from infra.kernel.loss_reasons import LossReason
from infra.kernel.topics import Kind, Topic, inbox_topic, user_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

TOPICS = [user_topic(f"u{n}") for n in range(5)]
UNKEPT = inbox_topic("u1")


class Followed:
    """A broker's losses, and aggregators that follow by links which keep what is said."""

    def __init__(self) -> None:
        self.core = BrokerCore("sto", 7, window=EventWindow(7, {Kind.USER: WindowBounds()}, 10**6))
        self.links: dict[int, Link] = {}
        self.losses = ToldLosses(self.core, self.links.items)

    def link(self, *topics: Topic, stamp: int | None = None, old: bool = False) -> int:
        """Returns the bit of one more link, which wants `topics`; `stamp`: up to where it has got everything, if it has come back."""
        hello = Hello("aggregator", "a1", "sto", 1, 1, View(0, ()), tags=OLD_TAG if old else 39)
        link = Link(RecordingWire(), hello, "", 0.0, Link.flush)
        bit = self.core.open(link, False)
        self.links[bit] = link
        if stamp is not None:
            self.losses.resume(bit, stamp)
        self.core.subscribe(bit, list(topics), range(len(topics)))
        self.losses.announced(bit)
        return bit

    async def told(self, bit: int) -> list[Topic]:
        """Returns what a link has been told, in some turns from now."""
        for _ in range(20):
            await asyncio.sleep(0)
        wire = self.links[bit].wire
        assert isinstance(wire, RecordingWire)
        lost = [frame for frame in wire.sent if isinstance(frame, Lost)]
        assert all(frame.reason == LossReason.SPLIT for frame in lost)
        return [Topic(topic) for frame in lost for topic in frame.topics]

    def stamp(self) -> int:
        """Returns a new stamp of the window."""
        window = self.core.window
        assert window is not None
        window.give_stamp()
        return window.stamp


@pytest.mark.parametrize("at_once", [1, 2, 1024])
async def test_everybody_is_told_of_what_they_want_and_is_kept(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-19: as many topics as there are, a share in each turn."""
    monkeypatch.setattr(told_losses, "AT_ONCE", at_once)
    broker = Followed()
    one, other, old = broker.link(*TOPICS[:3], UNKEPT), broker.link(TOPICS[2], TOPICS[4]), broker.link(*TOPICS, old=True)
    broker.losses.tell(lambda topic: topic != TOPICS[0], LossReason.SPLIT)
    assert await broker.told(one) == TOPICS[1:3]
    assert await broker.told(other) == [TOPICS[2], TOPICS[4]]
    assert await broker.told(old) == [], "a peer of an older version does not know the word"


@pytest.mark.parametrize(("behind", "hears"), [(-1, True), (0, True), (1, False)])
async def test_whoever_comes_back_is_told_again_unless_they_have_something_from_behind_it(behind: int, hears: bool) -> None:
    """DPS-8, DPS-19: the link had broken with the word on its way, and nobody who came back heard of the split."""
    broker = Followed()
    lost = broker.link(*TOPICS)
    broker.stamp()
    broker.losses.tell(lambda topic: topic == TOPICS[1], LossReason.SPLIT)
    assert await broker.told(lost) == [TOPICS[1]]
    until = broker.core.window.stamp if broker.core.window is not None else 0
    broker.stamp()
    again = broker.link(*TOPICS[:2], stamp=until + behind)
    assert await broker.told(again) == ([TOPICS[1]] if hears else [])


async def test_whoever_comes_back_while_it_is_being_told_is_told_too_and_who_is_new_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-19: a new one had nothing of this broker that could be missing."""
    monkeypatch.setattr(told_losses, "AT_ONCE", 1)
    broker = Followed()
    broker.link(*TOPICS)
    broker.losses.tell(lambda topic: topic == TOPICS[0], LossReason.SPLIT)
    await asyncio.sleep(0)  # the first topic has been looked at
    await asyncio.sleep(0)
    back, new = broker.link(*TOPICS, stamp=0), broker.link(*TOPICS)
    assert await broker.told(back) == [TOPICS[0]]
    assert await broker.told(new) == []


async def test_whoever_loses_the_next_link_while_it_is_told_again_is_told_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-19: with many topics that takes turns, and what is sent meanwhile has stamps from behind the first time."""
    monkeypatch.setattr(told_losses, "AT_ONCE", 1)
    broker = Followed()
    first = broker.link(*TOPICS)
    broker.losses.tell(lambda topic: topic == TOPICS[4], LossReason.SPLIT)
    assert await broker.told(first) == [TOPICS[4]]
    broker.link(*TOPICS, stamp=0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    between = broker.stamp()
    assert await broker.told(broker.link(*TOPICS, stamp=between)) == [TOPICS[4]]


async def test_no_more_losses_are_known_than_may_be_and_those_who_are_gone_are_forgotten() -> None:
    broker = Followed()
    there = broker.link(*TOPICS)
    for _ in range(MOST_TOLD + 5):
        broker.losses.tell(lambda topic: topic == TOPICS[0], LossReason.SPLIT)
    assert len(await broker.told(there)) == MOST_TOLD + 5
    back = broker.link(*TOPICS, stamp=0)
    assert len(await broker.told(back)) == MOST_TOLD
    broker.losses.resume(9, 0)
    broker.losses.forget(9)
    broker.losses.announced(9)
