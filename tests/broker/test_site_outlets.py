"""Each link to another site has its outlet; what waits there ends with what it was about, and counts stay."""

import asyncio

from broker.overload_options import OverloadOptions
from broker.site_outlet import SiteOutlet
from broker.site_outlets import SiteOutlets
from infra.kernel.events import encode_tail, numbering
from infra.kernel.frames import Deliver, Hello, View
from infra.kernel.interest import Interest
from infra.kernel.topics import user_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

ON = OverloadOptions(enabled=True, queue_bytes=1000)
NAMES = ("ann", "ben")


def body(name: str, seq: int) -> bytes:
    return b"%b%d,%b" % (numbering("sto", 7), seq, encode_tail(f"hm://presence/user/{name}/", 1, str(seq), "play", b"{}"))


def busy_link() -> Link:
    """Returns a link on which too much waits."""
    wire = RecordingWire()
    wire.queued_bytes = 1000
    return Link(wire, Hello("broker", "b1", "lon", 1, 1, View(1, ("b1",))), None, 0.0, lambda link: None)


async def held_by(outlets: SiteOutlets, link: Link) -> None:
    """Has an event of each name wait for `link`, and one more of the first."""
    outlet = outlets.open(link)
    assert isinstance(outlet, SiteOutlet)
    await asyncio.sleep(0)  # it is looked at in the next turn
    for handle, name in enumerate((*NAMES, NAMES[0])):
        outlet.deliver(handle % 2, body(name, handle))


async def test_without_the_option_links_have_none() -> None:
    """Nothing stands between core and link then."""
    link, outlets = busy_link(), SiteOutlets(OverloadOptions(), lambda: 0.0)
    assert outlets.open(link) is link
    outlets.release(link)
    outlets.close(link)
    assert outlets.counters()["broker_overload_shed_total"] == {"user": 0}


async def test_what_waits_for_a_link_that_is_gone_is_shed_and_its_counts_stay() -> None:
    link, outlets = busy_link(), SiteOutlets(ON, lambda: 0.0)
    await held_by(outlets, link)
    assert outlets.counters()["broker_overload_held_bytes"] != 0
    expected = {
        "broker_overload_conflated_total": 1,
        "broker_overload_shed_total": {"user": 2},
        "broker_overload_overdue_total": 0,
        "broker_overload_held_bytes": 0,
    }
    outlets.close(link)
    assert outlets.counters() == expected
    outlets.close(link)
    assert outlets.counters() == expected


async def test_a_link_whose_peer_tells_gains_gets_what_most_follow_first() -> None:
    """DPS-22. Of a link without an outlet nothing is kept."""
    link, outlets = busy_link(), SiteOutlets(ON, lambda: 0.0)
    outlet = outlets.open(link)
    assert isinstance(outlet, SiteOutlet)
    outlets.weigh(link, [0, 1], b"\1\5")
    outlets.weigh(busy_link(), [0], b"\7")
    await asyncio.sleep(0)  # it is looked at in the next turn
    for handle, name in enumerate(NAMES):
        outlet.deliver(handle, body(name, handle))
    outlets.release(link)
    link.flush()
    assert isinstance(link.wire, RecordingWire)
    assert [frame.handles for frame in link.wire.sent if isinstance(frame, Deliver)] == [[1, 0]]
    outlets.close(link)


async def test_what_nobody_wants_any_more_does_not_wait() -> None:
    """A handle that is given up may soon be another topic's: nothing comes under it."""
    link, outlets, interest = busy_link(), SiteOutlets(ON, lambda: 0.0), Interest()
    bit = interest.open()
    interest.subscribe(bit, [user_topic(name) for name in NAMES], [0, 1])
    await held_by(outlets, link)
    outlets.unwanted(link, interest, bit, [user_topic("ann"), user_topic("never")])
    outlets.release(link)
    link.flush()
    assert isinstance(link.wire, RecordingWire)
    assert [frame.handles for frame in link.wire.sent if isinstance(frame, Deliver)] == [[1]]
    assert outlets.counters()["broker_overload_shed_total"] == {"user": 0}
