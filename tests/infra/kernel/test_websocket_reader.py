"""What clients say, whole, in pieces and wrong; with the `websockets` package as an independent client."""

import sys
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from infra.kernel.websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT
from infra.kernel.websocket_reader import FRAME_COST, FrameReader, Message
from tests.support.client_frames import client_frame

LIMIT = 100_000

texts = st.text(max_size=60).map(str.encode)
controls = st.tuples(st.sampled_from([PING, PONG]), st.binary(max_size=125))
chunk_sizes = st.sampled_from([1 << 20, 4096, 31, 1])
messages = st.lists(st.tuples(st.just(TEXT), texts) | controls, max_size=8)


def read(chunks: Iterable[bytes], limit: int = LIMIT) -> tuple[list[Message], str]:
    """Returns all messages in `chunks`, and the name of the refusal that ended them or ""."""
    reader = FrameReader(limit)
    found = [message for chunk in chunks for message in reader.feed(chunk)]
    return found, reader.error.code.name if reader.error else ""


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@given(messages, st.sampled_from([0, 125, 126, 600, 70000]), chunk_sizes)
@settings(max_examples=60)
def test_messages_of_an_independent_client_arrive_as_sent_in_any_chunking(sent: list[Message], length: int, size: int) -> None:
    sent = [*sent, (TEXT, b"x" * length), *sent]
    client = ClientProtocol(parse_uri("ws://localhost/"), state=OPEN)
    for opcode, payload in sent:
        {TEXT: client.send_text, PING: client.send_ping, PONG: client.send_pong}[opcode](payload)
    assert read(pieces(b"".join(client.data_to_send()), size)) == (sent, "")


@given(st.lists(st.binary(max_size=40), min_size=2, max_size=6), controls, st.binary(min_size=4, max_size=4), chunk_sizes)
@settings(max_examples=60)
def test_fragments_are_joined_and_control_frames_between_them_come_at_once(
    parts: list[bytes], control: Message, mask: bytes, size: int
) -> None:
    parts = [part.hex().encode() for part in parts]
    frames = [client_frame(CONTINUATION if n else TEXT, part, final=False, mask=mask) for n, part in enumerate(parts[:-1])]
    stream = b"".join([*frames, client_frame(*control, mask=mask), client_frame(CONTINUATION, parts[-1], mask=mask)])
    assert read(pieces(stream, size)) == ([control, (TEXT, b"".join(parts))], "")


def test_a_character_may_be_split_between_fragments() -> None:
    stream = client_frame(TEXT, b"caf\xc3", final=False) + client_frame(CONTINUATION, b"\xa9")
    assert read([stream]) == ([(TEXT, "café".encode())], "")


frames = st.builds(client_frame, st.integers(0, 15), st.binary(max_size=30), final=st.booleans())

WRONG = {
    "binary": (client_frame(BINARY, b"x"), "bad-frame"),
    "unmasked": (client_frame(TEXT, b"", masked=False), "bad-frame"),
    "reserved bit 1": (client_frame(TEXT, b"x", reserved=4), "bad-frame"),
    "reserved bit 3": (client_frame(TEXT, b"x", reserved=1), "bad-frame"),
    "undefined opcode": (client_frame(3, b"x"), "bad-frame"),
    "undefined control opcode": (client_frame(11, b"x"), "bad-frame"),
    "fragmented ping": (client_frame(PING, b"x", final=False), "bad-frame"),
    "long ping": (client_frame(PING, b"x" * 126), "bad-frame"),
    "continuation of nothing": (client_frame(CONTINUATION, b"x"), "bad-frame"),
    "message in a message": (client_frame(TEXT, b"x", final=False) + client_frame(TEXT, b"y"), "bad-frame"),
    "length in too many bytes": (b"\x81\xfe\x00\x7d" + bytes(4), "bad-frame"),
    "length in far too many bytes": (b"\x81\xff" + (65535).to_bytes(8, "big") + bytes(4), "bad-frame"),
    "close with half a code": (client_frame(CLOSE, b"\x03"), "bad-frame"),
    "close with a code that is never sent": (client_frame(CLOSE, (1006).to_bytes(2, "big")), "bad-frame"),
    "close with a reason that is not UTF-8": (client_frame(CLOSE, (1000).to_bytes(2, "big") + b"\xff"), "bad-utf8"),
    "text that is not UTF-8": (client_frame(TEXT, b"caf\xe9"), "bad-utf8"),
    "long text that is not UTF-8": (client_frame(TEXT, b"x" * 600 + b"\xff"), "bad-utf8"),
    "bad UTF-8 split between fragments": (
        client_frame(TEXT, b"caf\xc3", final=False) + client_frame(CONTINUATION, b"x"),
        "bad-utf8",
    ),
    "too large": (client_frame(TEXT, b"x" * (LIMIT + 1)), "too-large"),
    "fragments too large together": (
        client_frame(TEXT, b"x" * LIMIT, final=False) + client_frame(CONTINUATION, b"x"),
        "too-large",
    ),
}


@pytest.mark.parametrize("size", [1 << 20, 5000])
@pytest.mark.parametrize("name", WRONG)
def test_a_violation_is_named_and_what_was_complete_before_it_is_delivered(name: str, size: int) -> None:
    stream, code = WRONG[name]
    before, after = client_frame(TEXT, b"before"), client_frame(TEXT, b"after")
    assert read(pieces(before + stream + after, size)) == ([(TEXT, b"before")], code)


@pytest.mark.parametrize("name", [name for name, (stream, _) in WRONG.items() if len(stream) < 1000])
def test_a_violation_is_the_same_byte_by_byte(name: str) -> None:
    stream, code = WRONG[name]
    assert read(pieces(stream, 1)) == ([], code)


def test_ten_megabytes_are_refused_by_their_header_before_any_of_them_arrived() -> None:
    reader = FrameReader(64 << 10)
    assert reader.feed(b"\x81\xff" + (10 << 20).to_bytes(8, "big")) == []
    assert reader.error is not None
    assert str(reader.error) == "too-large: a message of 10485760 bytes; the limit is 65536"


@given(st.lists(st.binary(max_size=30) | frames, max_size=8))
@settings(max_examples=150)
def test_garbage_is_messages_or_a_documented_refusal_whole_or_byte_by_byte(parts: list[bytes]) -> None:
    stream = b"".join(parts)
    whole = read([stream])
    assert whole == read(pieces(stream, 1))
    assert whole[1] in {"", "bad-frame", "bad-utf8", "too-large"}


def test_nothing_is_read_after_a_close_frame() -> None:
    payload = (1000).to_bytes(2, "big") + b"bye"
    reader = FrameReader(LIMIT)
    assert reader.feed(client_frame(CLOSE, payload) + client_frame(TEXT, b"more")) == [(CLOSE, payload)]
    assert reader.feed(client_frame(TEXT, b"still more")) == []
    assert reader.error is None


@given(messages, st.integers(1, 3 * FRAME_COST), chunk_sizes)
@settings(max_examples=60)
def test_with_a_budget_nothing_is_lost_and_no_call_reads_more_than_it_and_one_frame(sent: list[Message], budget: int, size: int) -> None:
    """DPS-26: a budget of bytes and frames for each turn of the loop."""
    reader, found = FrameReader(LIMIT), list[Message]()
    stream = b"".join(client_frame(*message) for message in sent)
    for chunk in pieces(stream, size):
        found += reader.feed(chunk, 0)
        assert (reader.frames, reader.size_bytes, reader.stopped) == (0, 0, True)
        while reader.stopped:
            found += (now := reader.feed(b"", budget))
            assert len(now) == reader.frames <= 1 + budget // FRAME_COST
            assert reader.cost - FRAME_COST - 131 < budget
    assert (found, reader.error, reader.held_bytes) == (sent, None, 0)


def test_the_bound_of_a_message_may_change_between_two_messages() -> None:
    reader = FrameReader(200)
    stream = client_frame(TEXT, b"x" * 200) + client_frame(TEXT, b"y" * 1000)
    assert reader.feed(stream, 1) == [(TEXT, b"x" * 200)]
    reader.max_message_bytes = 1000
    assert reader.feed(b"", 1) == [(TEXT, b"y" * 1000)]


def test_an_idle_reader_holds_no_buffer() -> None:
    """A million idle connections are only possible if each costs next to nothing."""
    reader = FrameReader(LIMIT)
    frame = client_frame(TEXT, b"x" * 500)
    for chunk in pieces(frame * 3, 200):
        reader.feed(chunk)
    held = [getattr(reader, name) for name in reader.__slots__]
    assert sys.getsizeof(reader) <= 100
    assert not any(isinstance(value, bytes | bytearray) for value in held)


def test_a_limit_below_a_small_frame_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="at least 125"):
        FrameReader(100)
