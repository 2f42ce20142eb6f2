"""What waits for slow clients: bounded, the newest of each feed, everything else in order; and a million of them."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from accesspoint.hub import SLICE, Hub
from accesspoint.outbox import Outbox
from accesspoint.row import Member
from infra.kernel.events import encode_tail, numbering
from infra.kernel.topics import Topic

LIMIT_BYTES = 10_000


def body(seq: int, site: str = "sto", size_bytes: int = 1) -> bytes:
    """Returns an event as its owner at `site` numbered it, `seq`, of about `size_bytes`."""
    tail = encode_tail("hm://presence/user/dan/", 0, "e", "play", b'{"x":"%b"}' % (b"x" * size_bytes))
    return b"%b%d,%b" % (numbering(site, 1), seq, tail)


def drained(outbox: Outbox) -> list[tuple[str, int, int]]:
    """Returns (site, seq, skipped) of what an independent client reads."""
    client = ClientProtocol(parse_uri("ws://localhost/"), state=OPEN)
    client.receive_data(outbox.drain())
    events = [json.loads(bytes(frame.data)) for frame in client.events_received() if isinstance(frame, Frame)]
    return [(event["site"], event["seq"], event.get("skipped", 0)) for event in events]


def test_the_newest_of_each_feed_and_site_stays_and_says_how_many_it_replaced() -> None:
    """Design 5.3: latest wins, per (topic, origin site)."""
    outbox = Outbox(0.0, LIMIT_BYTES)
    outbox.add(1, True, [body(1), body(2), body(1, "lon"), body(3)])
    outbox.add(2, True, [body(7)])
    outbox.add(1, True, [body(2, "lon")])
    assert outbox.skipped == 3
    assert drained(outbox) == [("sto", 3, 2), ("sto", 7, 0), ("lon", 2, 1)]


def test_what_is_no_presence_is_kept_in_order() -> None:
    outbox = Outbox(0.0, LIMIT_BYTES)
    outbox.add(1, False, [body(1), body(2)])
    outbox.add(1, False, [body(3)])
    assert (outbox.skipped, drained(outbox)) == (0, [("sto", 1, 0), ("sto", 2, 0), ("sto", 3, 0)])


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["sto", "lon"]), st.booleans()), max_size=60))
def test_seq_and_skipped_explain_every_number_and_the_size_is_what_is_kept(adds: Sequence[tuple[int, str, bool]]) -> None:
    outbox, sent, told = Outbox(0.0, 1 << 20), dict[str, int](), dict[str, int]()
    for _, site, drain in adds:
        sent[site] = sent.get(site, 0) + 1
        outbox.add(0, True, [body(sent[site], site)])
        assert outbox.size_bytes <= 2 * len(body(99))
        for at, seq, skipped in drained(outbox) if drain else []:
            assert seq == told.get(at, 0) + skipped + 1
            told[at] = seq
    for at, seq, skipped in drained(outbox):
        assert seq == told.get(at, 0) + skipped + 1
        told[at] = seq
    assert (told, outbox.size_bytes) == (sent, 0)


@pytest.mark.parametrize("presence", [False, True], ids=["playlist", "presence"])
def test_over_the_limit_it_is_full_and_keeps_nothing_more(presence: bool) -> None:
    outbox = Outbox(0.0, LIMIT_BYTES)
    for handle in range(1000):
        outbox.add(handle, presence, [body(1, size_bytes=1000)] * 3)
    assert outbox.is_full
    assert LIMIT_BYTES < outbox.size_bytes <= LIMIT_BYTES + len(body(1, size_bytes=1000))


class Listener(Member):
    """A member that is noted in `reached` for each write."""

    __slots__ = ("reached",)

    def __init__(self, reached: list["Listener"]) -> None:
        super().__init__()
        self.reached = reached

    def write(self, data: bytes) -> None:
        self.reached.append(self)


def test_one_event_reaches_a_great_crowd_while_other_topics_get_their_turns() -> None:
    """SB-56 with 2·10⁵ outboxes, a thousandth of them slow; the bench has 10⁶. A topic with one listener never waits for
    more than a slice of the crowd."""
    hub, reached, heard = Hub(), list[Listener](), list[Listener]()
    topics, alone = (Topic(b"Aabba%new-album"), Topic(b"Udan")), Listener(heard)
    members = [Listener(reached) for _ in range(200_000)]
    for member in members:
        hub.subscribe(member, topics[0])
    hub.subscribe(alone, topics[1])
    crowded, quiet = (hub.topics[topic].handle for topic in topics)
    slow = members[::1000]
    for member in slow:
        member.chunks, member.outbox = None, Outbox(0.0, LIMIT_BYTES)

    hub.deliver([crowded], [body(1)])
    turns = 0
    while hub.bursting:
        turns, before = turns + 1, len(reached)
        hub.deliver([quiet], [body(turns)])
        hub.step()
        hub.flush()
        assert (len(heard), len(reached) - before <= SLICE) == (turns, True)
    assert len(reached) == len(set(reached)) == len(members) - len(slow)
    assert all(member.outbox and drained(member.outbox) == [("sto", 1, 0)] for member in slow)
