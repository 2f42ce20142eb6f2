"""Bytes of a stranger at the engine's HTTP server: requests and handshakes of WebSockets."""

import asyncio
from types import TracebackType
from typing import Final, Self

from tests.fuzz.target import outcome
from tests.support.http_desk import HANDSHAKE, Answers, Desk, get, post
from tests.support.recording_transport import RecordingTransport

CHUNKED: Final = get("/stream", "Transfer-Encoding: chunked", method="POST")


class HttpRequests:
    """The reader of requests, behind it a small service, and no sockets."""

    seeds = (
        get("/echo?a=1"),
        post("/echo", b"hello", "X-Twice: a", "x-twice: b"),
        get("/echo") + post("/echo", b"body") + get("/nowhere"),
        CHUNKED + b"5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\nTrailer: t\r\n\r\n",
        HANDSHAKE + b"\x81\x80\0\0\0\0",
        post("/closed", b"x" * 100),
        post("/echo", b"", "Expect: 100-continue", "Connection: close"),
        b"GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        get("http://x/echo?absolute") + get("*", method="OPTIONS"),
    )
    words = (
        b"Content-Length: 5\r\n",
        b"Content-Length: 0\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 99999999999999999999\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Upgrade: websocket\r\n",
        b"Connection: Upgrade\r\n",
        b"Host: y\r\n",
        b"Expect: 100-continue\r\n",
        b" HTTP/1.1\r\n",
        b" HTTP/1.0\r\n",
        b" HTTP/2.0\r\n",
        b"\r\n\r\n",
        b"0\r\n\r\n",
        b"fffffffffffffff0\r\n",
        b"\x0b",
        b"%00",
    )

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._runner.close()

    def play(self, data: bytes) -> str:
        """Reads `data` at once and in pieces: the same answers, none of which is a defect of ours."""
        return self._runner.run(self._play(data))

    async def _play(self, data: bytes) -> str:
        whole, pieces = Desk(), Desk()
        try:
            if b"HEAD" in data:
                return "an answer without its body, which the parser of these tests would wait for"
            at_once = _said(whole, data, len(data) or 1)
            in_pieces = _said(pieces, data, 7)
            statuses = [[status for status, _ in answers] for answers in (at_once, in_pieces)]
            # Where a head is about as long as it may be, the pieces in which it comes decide.
            assert statuses[0] == statuses[1] or 413 in statuses[0] + statuses[1], (at_once, in_pieces)
            if b"/broken" not in data:
                assert not any(status == 500 for status, _ in at_once)
            return outcome(at_once[-3:], len(whole.taken_over))
        finally:
            for desk in (whole, pieces):
                desk.door.close()
            await asyncio.sleep(0)


def _said(desk: Desk, data: bytes, size_bytes: int) -> list[tuple[int, str]]:
    """Returns status and reason of each answer to `data`, which comes in pieces of `size_bytes`."""
    transport = desk.connect()
    for start in range(0, len(data), size_bytes):
        if transport.done or transport.half_closed:
            break
        assert isinstance(transport.protocol, asyncio.Protocol)
        transport.protocol.data_received(data[start : start + size_bytes])
    return [(status, body.decode(errors="replace") if status >= 400 else "") for status, _, body in Answers(_plain(transport)).found]


def _plain(transport: RecordingTransport) -> RecordingTransport:
    """Returns the transport without the 101 and what follows it, which is no HTTP."""
    head, upgraded, _ = transport.written.partition(b"HTTP/1.1 101 ")
    if upgraded:
        transport.writes = [head]
    return transport
