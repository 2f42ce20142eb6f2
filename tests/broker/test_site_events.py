"""The way of events of other sites, while their topics move between brokers of this one."""

from broker.core import BrokerCore
from broker.handover import Handover
from broker.site_events import SiteEvents
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import encode_tail, numbering
from infra.kernel.frames import HIGHEST_TAG, Deliver, Hello, Strayed, View
from infra.kernel.ring import Ring
from infra.kernel.topics import Kind, Topic, format_topic, user_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

BEFORE, NOW = Ring(("b1", "b2")), Ring(("b1", "b2", "b3"))
USERS = [user_topic(f"u{n}") for n in range(200)]
STAYS = next(topic for topic in USERS if BEFORE.owner(topic) == NOW.owner(topic) == "b1")
GOES = next(topic for topic in USERS if (BEFORE.owner(topic), NOW.owner(topic)) == ("b1", "b3"))


def body(topic: Topic, seq: int = 1) -> bytes:
    return b"%b%d,%b" % (numbering("lon", 9), seq, encode_tail(format_topic(topic), 1, "x", "play", b"{}"))


class Site:
    """The broker b1 after b3 has come, an aggregator that wants all topics, and the link to b3."""

    def __init__(self, ring: Ring = NOW, *, tags: int = HIGHEST_TAG, window: bool = False) -> None:
        self.got: list[tuple[int, bytes]] = []
        recorded = EventWindow(7, {Kind.USER: WindowBounds()}, 1 << 20) if window else None
        self.core, self.handover = BrokerCore("sto", 7, window=recorded), Handover("b1", 1 << 20)
        self.wire, self.has_parted = RecordingWire(), False
        self.core.subscribe(self.core.open(self, far=False), [STAYS, GOES], [0, 1])
        link = Link(self.wire, Hello("broker", "b3", "sto", 1, 1, View(0, ()), tags=tags), "b3", 0.0, Link.flush)
        self.links = {"b3": link}
        self.events = SiteEvents(self.core, self.handover, self.links, ring.owner, lambda: self.has_parted)

    def deliver(self, handle: int, body: bytes) -> None:
        self.got.append((handle, body))

    def strayed(self) -> list[bytes]:
        return [each for frame in self.wire.sent if isinstance(frame, Strayed) for each in frame.bodies]


def test_what_comes_late_on_a_topic_that_has_gone_goes_to_its_new_owner_and_nothing_else_does() -> None:
    """DPS-13, SB-25"""
    site = Site()
    site.events.relay(Deliver([0, 1], [body(STAYS), body(GOES)]))
    assert (site.got, site.strayed()) == ([(0, body(STAYS))], [body(GOES)])
    site.has_parted = True
    site.events.relay(Deliver([1], [body(GOES, 2)]))
    assert site.got[1:] == [(1, body(GOES, 2))], "nothing has gone to others: then nobody is asked whose a topic is"


def test_a_new_owner_of_an_older_version_takes_no_such_events() -> None:
    site = Site(tags=0)
    site.events.relay(Deliver([1], [body(GOES)]))
    site.events.stray(body(GOES))
    assert (site.got, site.strayed()) == ([(1, body(GOES))], [])


def test_what_has_strayed_is_passed_on_given_to_followers_or_counted() -> None:
    """DPS-13"""
    site, unknown = Site(), next(topic for topic in USERS if NOW.owner(topic) == "b1" and topic != STAYS)
    site.events.take_strayed([body(GOES), body(STAYS), body(unknown), b"no event"])
    assert (site.got, site.strayed(), site.core.stale) == ([(0, body(STAYS))], [body(GOES)], 2)


def test_what_comes_on_a_topic_before_everybody_has_said_that_they_follow_it_waits() -> None:
    """SB-25: directly, and by the broker that had it before."""
    site = Site(ring=BEFORE)
    site.handover = Handover("b1", 1 << 20)
    site.events = SiteEvents(site.core, site.handover, {}, BEFORE.owner, lambda: True)
    site.handover.begin(Ring(("b2",)), ["a1"])
    site.events.relay(Deliver([0], [body(STAYS, 1)]))
    site.events.take_strayed([body(STAYS, 2)])
    assert site.got == []
    site.handover.announced("a1")
    assert site.got == [(0, body(STAYS, 1)), (0, body(STAYS, 2))]


def test_what_waits_on_a_topic_that_goes_on_to_another_broker_meanwhile_goes_with_it() -> None:
    """DPS-13, DPS-17: it was given to those who followed it here, when all had said so, and these had gone to the new owner by then."""
    site, ring = Site(window=True), BEFORE
    site.events = SiteEvents(site.core, site.handover, site.links, lambda topic: ring.owner(topic), lambda: site.has_parted)
    site.handover.begin(Ring(("b2",)), ["a1"])
    site.events.take_strayed([body(GOES, 1)])
    site.events.relay(Deliver([1, 0, 1], [body(GOES, 2), body(STAYS, 1), body(GOES, 3)]))
    assert (site.got, site.strayed()) == ([], [])
    ring = NOW
    site.handover.begin(BEFORE, ["a1"])
    assert site.strayed() == [body(GOES, 1), body(GOES, 2), body(GOES, 3)], "at once: what comes behind it must not overtake it"
    site.events.relay(Deliver([1], [body(GOES, 4)]))
    assert site.strayed()[3:] == [body(GOES, 4)]
    site.core.unsubscribe(0, [GOES])
    site.handover.announced("a1")
    assert (site.got, len(site.strayed()), site.handover.held_bytes) == ([(0, body(STAYS, 1))], 4, 0)


def test_what_waits_on_a_topic_that_has_gone_waits_on_while_there_is_no_link_to_its_owner() -> None:
    """DPS-13: it is routed again when all have said that they follow."""
    site, ring = Site(), BEFORE
    links = dict[str, Link]()
    site.events = SiteEvents(site.core, site.handover, links, lambda topic: ring.owner(topic), lambda: site.has_parted)
    site.handover.begin(Ring(("b2",)), ["a1"])
    site.events.relay(Deliver([1], [body(GOES)]))
    ring = NOW
    site.handover.begin(BEFORE, ["a1"])
    assert (site.got, site.strayed()) == ([], [])
    links |= site.links
    site.has_parted = True
    site.handover.announced("a1")
    assert (site.got, site.strayed()) == ([], [body(GOES)])


def test_events_of_one_batch_go_one_after_the_other_while_their_topic_comes_here() -> None:
    """DPS-17: each of them shows that the next one is next. The second one waited for the former owner, and nothing was missing."""
    site = Site(window=True)
    site.events.take_strayed([body(STAYS, 1)])
    site.events.order.begin(Ring(("b2",)), NOW, "b1", ["b2"])
    site.events.relay(Deliver([0, 0, 0], [body(STAYS, 2), body(STAYS, 3), body(STAYS, 5)]))
    assert site.got == [(0, body(STAYS, seq)) for seq in (1, 2, 3)]
    site.events.order.settled(["b2"])
    assert site.got[3:] == [(0, body(STAYS, 5))]


def test_events_by_way_of_two_former_owners_go_to_followers_in_order() -> None:
    """DPS-17: b2 and b4 had owned the topic, one right after the other, and the link to the later one was faster."""
    site = Site(window=True)
    site.events.take_strayed([body(STAYS, 1)])
    site.events.order.begin(Ring(("b2",)), Ring(("b4",)), "b1", ["b2", "b4"])
    site.events.order.begin(Ring(("b4",)), NOW, "b1", ["b2", "b4"])
    site.events.take_strayed([body(STAYS, 3)])
    site.events.relay(Deliver([0], [body(STAYS, 4)]))
    assert site.got == [(0, body(STAYS, 1))]
    site.events.take_strayed([body(STAYS, 2)])
    assert site.got == [(0, body(STAYS, seq)) for seq in (1, 2, 3, 4)]
