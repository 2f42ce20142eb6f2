"""What is queued on a link leaves in order, in batches, and within a bound."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.codec import MAX_FRAME_BYTES, encode
from infra.kernel.codes import BY_NAME
from infra.kernel.errors import ConfigError, Refused
from infra.kernel.events import encode_tail, numbering
from infra.kernel.frames import Bye, Call, Deliver, Frame, Hello, Published, Reply, View
from infra.runtime.link import MAX_BODY_BYTES, MAX_DELIVER_BYTES, MAX_QUEUED_BYTES, Link, check_bounds
from infra.runtime.wire.wire import OnFrames, OnLost, WireEnd

PEER = Hello("broker", "b1", "sto", 1, 0, View(0, ()))
PRESENCE = numbering("sto", 1) + b"1," + encode_tail("hm://presence/user/ann/", 1, "1", "play", b"{}")
PLAYLIST = numbering("sto", 1) + b"1," + encode_tail("hm://playlist/user/ann/playlist/p/", 1, "1", "edit", b"{}")
BOUND_BYTES = 1000


class RecordingWire:
    """A wire that keeps each call of `send`. `queued_bytes` is what the test says."""

    far_end = WireEnd(is_local=True)

    def __init__(self) -> None:
        self.sent: list[list[Frame]] = []
        self.queued_bytes = 0
        self.is_closed = False

    def trust(self) -> None:
        raise AssertionError("a link does not vouch for its peer")

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        raise AssertionError("a link does not start its wire")

    def send(self, frames: Sequence[Frame]) -> None:
        assert not self.is_closed
        self.sent.append(list(frames))

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = True


@pytest.fixture
def wire() -> RecordingWire:
    return RecordingWire()


@pytest.fixture
def woken() -> list[Link]:
    return []


@pytest.fixture
def link(wire: RecordingWire, woken: list[Link]) -> Link:
    link = Link(wire, PEER, None, 0.0, woken.append)
    link.max_queued_bytes = BOUND_BYTES
    return link


def test_deliveries_of_one_turn_leave_as_one_frame_and_all_frames_as_one_write(link: Link, wire: RecordingWire, woken: list[Link]) -> None:
    for n in range(3):
        link.deliver(n, b"%d" % n)
    assert (wire.sent, woken) == ([], [link])
    link.flush()
    assert wire.sent == [[Deliver([0, 1, 2], [b"0", b"1", b"2"])]]
    link.flush()
    assert len(wire.sent) == 1
    link.send(Published(1))
    assert woken == [link, link]


STEPS = st.lists(st.one_of(st.integers(0, 5), st.builds(Published, st.integers(0, 5)), st.none()))


@given(STEPS)
def test_everything_keeps_its_place(steps: list[int | Published | None]) -> None:
    """Deliveries (numbers), other frames, and turns that end in between."""
    wire = RecordingWire()
    link = Link(wire, PEER, None, 0.0, lambda link: None)
    for step in steps:
        match step:
            case None:
                link.flush()
            case int(handle):
                link.deliver(handle, b"%d" % handle)
            case Published():
                link.send(step)
    link.flush()
    sent: list[int | Frame] = []
    for frame in (frame for write in wire.sent for frame in write):
        if isinstance(frame, Deliver):
            assert [b"%d" % handle for handle in frame.handles] == frame.bodies
            sent += frame.handles
        else:
            sent.append(frame)
    assert sent == [step for step in steps if step is not None]


def test_a_frame_of_deliveries_is_sealed_when_it_is_large(link: Link, wire: RecordingWire) -> None:
    """So no frame comes near the limit of the receiver, however much a turn brings."""
    link.max_queued_bytes = MAX_QUEUED_BYTES
    body = b"x" * 10_000
    for n in range(100):
        link.deliver(n, body)
    link.flush()
    (frames,) = wire.sent
    sizes = [sum(map(len, frame.bodies)) for frame in frames if isinstance(frame, Deliver)]
    assert sum(sizes) == 100 * len(body)
    assert max(sizes) <= MAX_DELIVER_BYTES + len(body)
    assert len(sizes) == 4


def offer(link: Link, wire: RecordingWire, queued_bytes: int) -> list[bytes]:
    """Offers one event of each class while so much waits on the wire, and returns what is let through."""
    wire.queued_bytes = queued_bytes
    link.flush()
    wire.sent.clear()
    link.deliver(1, PRESENCE)
    link.deliver(2, PLAYLIST)
    link.flush()
    return [body for write in wire.sent for frame in write if isinstance(frame, Deliver) for body in frame.bodies]


def test_a_full_link_drops_presence_first_then_every_event_and_counts_each(link: Link, wire: RecordingWire) -> None:
    """Design 5.3: shed by class; other frames, heartbeats among them, always pass."""
    assert offer(link, wire, BOUND_BYTES - 1) == [PRESENCE, PLAYLIST]
    assert link.drops == 0
    assert offer(link, wire, BOUND_BYTES) == [PLAYLIST]
    assert link.drops == 1
    assert offer(link, wire, 2 * BOUND_BYTES - 1) == [PLAYLIST]
    assert offer(link, wire, 2 * BOUND_BYTES) == []
    assert link.drops == 4
    link.send(Published(7))
    link.flush()
    assert wire.sent == [[Published(7)]]
    assert offer(link, wire, 0) == [PRESENCE, PLAYLIST]
    assert link.drops == 4


def test_a_link_says_when_it_is_full_behind_what_was_queued_and_what_stands_before_its_deliveries(link: Link, wire: RecordingWire) -> None:
    """DPS-10, DPS-12: what is asked at that moment holds for everything that was given to it."""
    said, count = list[int](), 0
    link.filled = lambda: said.append(count)
    link.stamps = lambda: {7: count}
    wire.queued_bytes = 0
    for count in range(1, 4):
        link.deliver(count, PLAYLIST)
    link.flush()
    assert (said, wire.sent[-1]) == ([], [Deliver([1, 2, 3], [PLAYLIST] * 3, {7: 3})])
    wire.queued_bytes = BOUND_BYTES
    link.deliver(4, PLAYLIST)
    count = 4
    link.flush()
    assert wire.sent[-1] == [Deliver([4], [PLAYLIST], {7: 4})]
    assert set(said) == {4}


def test_what_one_turn_brings_is_bounded_as_well(link: Link, wire: RecordingWire) -> None:
    """Before anything has reached the wire; a frame of deliveries is the grain."""
    link.max_queued_bytes = 4 * MAX_DELIVER_BYTES
    body = b"x" * (MAX_DELIVER_BYTES // 10)
    for n in range(200):
        link.deliver(n, body)
    link.flush()
    sent = sum(len(frame.bodies) for write in wire.sent for frame in write if isinstance(frame, Deliver))
    assert (sent + link.drops, link.full) == (200, 0)
    assert 2 * link.max_queued_bytes <= sent * len(body) <= 2 * link.max_queued_bytes + 2 * MAX_DELIVER_BYTES


def test_a_link_is_over_when_even_what_is_never_dropped_piles_up(link: Link, wire: RecordingWire) -> None:
    link.max_bytes = 4 * BOUND_BYTES
    for queued_bytes, is_over in ((0, False), (4 * BOUND_BYTES, False), (4 * BOUND_BYTES + 1, True)):
        wire.queued_bytes = queued_bytes
        link.send(Published(1))
        link.flush()
        assert link.is_over == is_over


@pytest.mark.parametrize(("queued", "whole"), [(16, 33), (1, 3)])
def test_a_link_is_closed_only_beyond_the_point_where_the_last_events_are_dropped(queued: int, whole: int) -> None:
    check_bounds("broker", queued, whole)
    with pytest.raises(ConfigError, match=rf"broker\.max_link_queue_bytes \+ 1; write broker\.max_link_bytes = {whole} or more"):
        check_bounds("broker", queued, whole - 1)


def test_a_link_that_has_room_again_is_found_out_by_the_next_event(link: Link, wire: RecordingWire, woken: list[Link]) -> None:
    """Even if nothing but presence goes over it, no heartbeat is waited for."""
    assert offer(link, wire, BOUND_BYTES) == [PLAYLIST]
    wire.queued_bytes = 0
    woken.clear()
    link.deliver(1, PRESENCE)
    assert (link.drops, woken) == (2, [link])
    link.flush()
    link.deliver(1, PRESENCE)
    assert link.drops == 2


def test_closing_says_why_behind_all_that_was_queued(link: Link, wire: RecordingWire) -> None:
    link.deliver(1, PRESENCE)
    link.close("draining")
    assert wire.sent == [[Deliver([1], [PRESENCE]), Bye(4301, BY_NAME["draining"].text)]]
    assert wire.is_closed


def test_a_link_says_whom_it_leads_to(link: Link) -> None:
    assert repr(link) == "<link to broker sto/b1>"


def test_an_answer_that_no_frame_can_hold_fails_alone(link: Link, wire: RecordingWire) -> None:
    """An attack: a pull of 500 items of 16 KiB exceeded a frame's limit, the link dropped, and others' calls failed."""
    link.send(Reply(7, "", "", b"x" * MAX_BODY_BYTES))
    link.send(Reply(8, "", "", b"x" * (MAX_BODY_BYTES + 1)))
    link.flush()
    ((fits, refused),) = wire.sent
    assert isinstance(fits, Reply)
    assert isinstance(refused, Reply)
    assert (refused.n, refused.code, refused.body) == (8, "too-large", b"")
    assert all(len(encode(frame)) <= MAX_FRAME_BYTES for frame in wire.sent[0])


def test_a_call_that_no_frame_can_hold_is_refused_where_it_is_made(link: Link) -> None:
    with pytest.raises(Refused, match=r"too-large.*ask for less"):
        link.send(Call(1, "ann", "", "append", b"x" * (MAX_BODY_BYTES + 1)))
