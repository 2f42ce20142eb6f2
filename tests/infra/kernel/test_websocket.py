"""Server frames, read back by an independent client."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame
from websockets.streams import StreamReader

from infra.kernel.codes import BY_NAME
from infra.kernel.websocket import CLOSE, PING, PONG, TEXT, close_frame, ping_frame, pong_frame, text_frame


def read_back(data: bytes) -> Frame:
    """Returns the one frame in `data`, as the `websockets` package understands an unmasked one."""
    stream = StreamReader()
    stream.feed_data(data)
    stream.feed_eof()
    parser = Frame.parse(stream.read_exact, mask=False)
    with pytest.raises(StopIteration) as stop:
        next(parser)
    with pytest.raises(StopIteration) as rest:
        next(stream.at_eof())
    assert rest.value.value is True
    frame = stop.value.value
    assert isinstance(frame, Frame)
    return frame


@pytest.mark.parametrize("length", [0, 1, 125, 126, 1023, 1024, 65535, 65536, 70000])
def test_a_text_frame_of_any_length_is_read_back_whole(length: int) -> None:
    frame = read_back(text_frame(b"x" * length))
    assert (frame.opcode, frame.fin, frame.data) == (TEXT, True, b"x" * length)


@given(st.sampled_from(sorted(BY_NAME)), st.text(max_size=200))
def test_a_close_frame_carries_its_number_and_as_much_of_the_reason_as_fits(name: str, reason: str) -> None:
    number = BY_NAME[name].number
    frame = read_back(close_frame(number, reason))
    said = bytes(frame.data[2:]).decode()
    assert (frame.opcode, int.from_bytes(frame.data[:2], "big")) == (CLOSE, number)
    assert reason.startswith(said)
    assert said == reason or len((said + reason[len(said)]).encode()) > 123


def test_a_reason_that_cannot_be_encoded_still_closes() -> None:
    assert read_back(close_frame(4302, "half of \ud83d")).data[2:] == b"half of ?"


@given(st.binary(max_size=125))
def test_pings_and_pongs_carry_their_payload(payload: bytes) -> None:
    ping, pong = read_back(ping_frame(payload)), read_back(pong_frame(payload))
    assert (ping.opcode, ping.data) == (PING, payload)
    assert (pong.opcode, pong.data) == (PONG, payload)
