"""The clients of the benchmarks find every event, however the bytes come in."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bench.client import BenchClient
from bench.clients import Clients
from bench.dialects.naive import NaiveDialect
from bench.dialects.nats import Nats
from bench.frames import BINARY, CLOSE, PING, PONG, TEXT, masked, split, whole
from bench.plan import Speaks
from bench.stamp import payload, read
from infra.kernel.websocket import close_frame, ping_frame, text_frame
from infra.kernel.websocket_reader import FrameReader
from tests.support.recording_transport import RecordingTransport

UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
CONFIRMED = text_frame(b'{"subscribed":1}')
AT_US = 10**12


def event(number: int, size: int) -> bytes:
    return text_frame(b'{"data":%b,"more":"%b"}' % (payload(AT_US, number), b"y" * size))


def feed(subscriber: BenchClient, data: bytes) -> None:
    """Feeds data as an event loop does: as much as the buffer takes at a time."""
    buffer = subscriber.get_buffer(-1)
    for start in range(0, len(data), len(buffer)):
        part = data[start : start + len(buffer)]
        buffer[: len(part)] = part
        subscriber.buffer_updated(len(part))


def connected(speaks: Speaks = "naive") -> tuple[Clients, BenchClient, RecordingTransport]:
    clients = Clients(NaiveDialect() if speaks == "naive" else Nats(), "127.0.0.1:1", 1, lambda: None)
    subscriber = BenchClient(clients, 0, b"")
    return clients, subscriber, RecordingTransport(subscriber)  # type: ignore[arg-type]  # it reads in another way, writes alike


def noted(clients: Clients) -> list[int]:
    return [read(stamp)[1] for client, _, stamps in clients.arrivals for stamp in stamps if client == 0]


@given(st.lists(st.integers(0, 70_000), max_size=6), st.lists(st.integers(0, 1 << 19), max_size=8), st.integers(0, 6))
def test_every_event_is_found_once_and_in_order_under_any_chunking(sizes: list[int], cuts: list[int], pinged: int) -> None:
    frames = [event(number, size) for number, size in enumerate(sizes)]
    frames.insert(min(pinged, len(frames)), ping_frame(b"there?"))
    stream = UPGRADED + CONFIRMED + b"".join(frames)
    bounds = sorted({0, len(stream), *(cut % len(stream) for cut in cuts)})
    clients, subscriber, transport = connected()
    for start, stop in pairwise(bounds):
        feed(subscriber, stream[start:stop])
    assert subscriber.is_ready
    assert noted(clients) == list(range(len(sizes)))
    assert transport.writes[-1] == masked(PONG, b"there?")


def test_one_byte_at_a_time_is_a_chunking_too() -> None:
    clients, subscriber, _ = connected()
    for byte in UPGRADED + CONFIRMED + event(0, 0) + event(1, 200) + close_frame(4001, "slow"):
        feed(subscriber, bytes((byte,)))
    assert noted(clients) == [0, 1]
    assert subscriber.close_number == 4001


def test_a_peer_s_own_ping_is_answered_and_events_in_one_frame_are_all_found() -> None:
    clients, subscriber, transport = connected("nats")
    feed(subscriber, UPGRADED + text_frame(b"PONG\r\n") + text_frame(b"PING\r\n"))
    assert transport.writes[-1] == masked(BINARY, b"PONG\r\n")
    lines = b"".join(b"MSG hm.presence.user.u1 1 120\r\n%b\r\n" % payload(AT_US, number) for number in range(3))
    feed(subscriber, text_frame(lines))
    assert noted(clients) == [0, 1, 2]


@given(st.binary(max_size=70_000))
def test_the_server_s_reader_understands_masked_frames(content: bytes) -> None:
    frame = masked(PING, content) if len(content) < 126 else masked(TEXT, content.hex().encode())
    reader = FrameReader(1 << 20)
    assert [text for _, text in reader.feed(frame)] == [content if len(content) < 126 else content.hex().encode()]
    assert reader.error is None


def test_whole_frames_end_before_a_control_frame_and_before_an_unfinished_one() -> None:
    one, closing = event(0, 0), close_frame(1001, "")
    assert whole(one * 2 + closing + one, 3 * len(one) + len(closing)) == 2 * len(one)
    assert whole(one + one[:-1], 2 * len(one) - 1) == len(one)
    assert [opcode for opcode, _, _ in split(one + closing + one[:-1])] == [TEXT, CLOSE]
