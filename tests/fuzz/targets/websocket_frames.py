"""Bytes of a client after the handshake: any stream means the same in whatever portions it arrives."""

from typing import Final

from infra.kernel.websocket import CLOSE, PING, PONG, TEXT
from infra.kernel.websocket_reader import FRAME_COST, FrameReader, Message
from tests.fuzz.target import Ready, outcome
from tests.support.client_frames import client_frame

MAX_MESSAGE_BYTES: Final = 2_000
CONTINUATION: Final = 0


class WebSocketFrames(Ready):
    """The reader of WebSocket frames."""

    seeds = (
        client_frame(TEXT, b'{"op":"ping"}'),
        client_frame(TEXT, "Jóga".encode()) + client_frame(TEXT, b"x" * 300),
        client_frame(TEXT, b"Po", final=False) + client_frame(PING, b"?") + client_frame(CONTINUATION, b"st"),
        client_frame(PING, b"") + client_frame(PONG, b"") + client_frame(CLOSE, b"\x03\xe8bye"),
        client_frame(TEXT, b"x" * 1_999) + client_frame(CLOSE, b""),
        client_frame(TEXT, b"\xf0\x9f", final=False) + client_frame(CONTINUATION, b"\x8e\xb5"),
        client_frame(2, b"binary") + client_frame(TEXT, b"", reserved=4),
        client_frame(TEXT, b"bare", masked=False),
    )
    words = (
        b"\x81\x80",
        b"\x81\xfe",
        b"\x81\xff",
        b"\x01\x81",
        b"\x80\x81",
        b"\x88\x82",
        b"\x89\xfe",
        b"\0" * 8,
        b"\x03\xe7",
        b"\x11\xa2\x33\xf4",
    )

    def play(self, data: bytes) -> str:
        """Reads `data` at once, byte by byte, and with a budget of one frame at a time."""
        whole, bytewise, frugal = (FrameReader(MAX_MESSAGE_BYTES) for _ in range(3))
        messages = whole.feed(data)
        assert [message for at in range(len(data)) for message in bytewise.feed(data[at : at + 1])] == messages
        assert _frame_by_frame(frugal, data) == messages
        errors = [reader.error.code.name if reader.error else "" for reader in (whole, bytewise, frugal)]
        assert len(set(errors)) == 1, errors
        assert whole.held_bytes <= len(data)
        for opcode, payload in messages:
            assert len(payload) <= MAX_MESSAGE_BYTES
            if opcode == TEXT:
                payload.decode()
        return outcome(sorted({opcode for opcode, _ in messages}), whole.error or "", bool(whole.held_bytes))


def _frame_by_frame(reader: FrameReader, data: bytes) -> list[Message]:
    messages = reader.feed(data, FRAME_COST)
    while reader.stopped:
        messages += reader.feed(b"", FRAME_COST)
    return messages
