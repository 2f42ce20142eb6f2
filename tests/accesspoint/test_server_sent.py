"""accesspoint.server_sent: WebSocket frames as lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accesspoint.server_sent import blocks, position
from infra.kernel.websocket import close_frame, ping_frame, text_frame

EVENT = b'{"op":"event","site":"sto","payload":{"n":1}}'


def test_an_event_is_a_message_without_a_name_and_all_else_has_one() -> None:
    frames = text_frame(EVENT) + ping_frame() + text_frame(b'{"op":"gap","topics":[]}') + close_frame(4000, "gone")
    assert blocks(frames) == b'data: %b\n\nevent: gap\ndata: {"op":"gap","topics":[]}\n\n' % EVENT


def test_an_error_says_when_to_come_back_and_is_not_called_as_a_lost_connection_is() -> None:
    said = b'{"op":"error","code":"going-away","reconnect_in_ms":250}'
    assert blocks(text_frame(said)) == b"retry: 250\nevent: refused\ndata: %b\n\n" % said
    assert blocks(text_frame(b'{"op":"error","code":"x"}')).startswith(b"event: refused\n")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_payload_of_several_lines_is_one(end: bytes) -> None:
    body = EVENT.replace(b'"n":1', b'"n":' + end + b"1")
    assert blocks(text_frame(body)) == b"data: %b\n\n" % body.replace(end, b" " * len(end))


@given(st.lists(st.integers(0, 70_000), max_size=3))
def test_frames_of_all_lengths_are_told_apart(lengths: list[int]) -> None:
    bodies = [b'{"op":"event","x":"%b"}' % (b"x" * length) for length in lengths]
    assert blocks(b"".join(map(text_frame, bodies))) == b"".join(b"data: %b\n\n" % body for body in bodies)


def test_a_position_brings_no_message() -> None:
    assert position("abc") == b"id: abc\n\n"
