"""A real mail server on the loopback. It takes all mails of the demo, and reads their subjects."""

import asyncio
from collections.abc import Callable
from email.parser import BytesHeaderParser
from email.policy import SMTP as POLICY
from typing import Final, Self

from aiosmtpd.smtp import SMTP, Envelope

from infra.runtime.ending import end_all

HOST: Final = "127.0.0.1"
_HEADERS: Final = BytesHeaderParser(policy=POLICY)


class Mailbox:
    """A mail server on `port`: `async with Mailbox(took) as mailbox:`. `took(address, subject)` is called for each mail."""

    def __init__(self, took: Callable[[str, str], None]) -> None:
        self.port = 0
        self._took = took
        self._transports: set[asyncio.BaseTransport] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(lambda: _Protocol(self), HOST, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        await end_all(self._server.close, *(transport.close for transport in self._transports), self._server.wait_closed)

    async def handle_DATA(self, _: SMTP, __: object, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd calls it so
        """Takes a mail that has arrived as a whole."""
        assert isinstance(envelope.content, bytes)
        subject = str(_HEADERS.parsebytes(envelope.content)["Subject"])
        for address in envelope.rcpt_tos:
            self._took(address, subject)
        return "250 taken"

    def opened(self, transport: asyncio.BaseTransport) -> None:
        """Takes note that a connection begins."""
        self._transports.add(transport)

    def ended(self, transport: asyncio.BaseTransport | None) -> None:
        """Takes note that a connection has ended."""
        if transport is not None:
            self._transports.discard(transport)


class _Protocol(SMTP):
    def __init__(self, mailbox: Mailbox) -> None:
        super().__init__(mailbox, hostname="localhost", loop=asyncio.get_running_loop())
        self._mailbox = mailbox
        self._wire: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = transport
        self._mailbox.opened(transport)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._mailbox.ended(self._wire)
        super().connection_lost(error)
