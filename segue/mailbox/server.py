"""A real mail server on the loopback. It takes every mail, and sends none on."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Self, cast

from aiosmtpd.smtp import SMTP, Envelope

from infra.runtime.ending import end_all

HOST: Final = "127.0.0.1"
MAX_MAIL_BYTES: Final = 256 << 10
MAX_CONNECTIONS: Final = 64
MAX_RECIPIENTS: Final = 100


class MailServer:
    """A mail server on `port`: `async with MailServer(took) as server:`. `took(addresses, mail)` is called for each mail.

    It takes mails of up to 256 KiB to up to 100 addresses, over up to 64 connections. `port` 0 takes a free one.
    Entering raises OSError where the port is taken.
    """

    def __init__(self, took: Callable[[Sequence[str], bytes], None], port: int = 0) -> None:
        self.port = port
        self._took = took
        self._transports: set[asyncio.Transport] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(lambda: _Protocol(self), HOST, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        await end_all(self._server.close, *(transport.abort for transport in self._transports), self._server.wait_closed)

    async def handle_DATA(self, _: SMTP, __: object, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd calls it so
        """Takes a mail that has arrived as a whole."""
        assert isinstance(envelope.content, bytes)
        self._took(envelope.rcpt_tos, envelope.content)
        return "250 taken"

    async def handle_RCPT(self, _: SMTP, __: object, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802 - as above
        """Takes one more address of a mail."""
        if len(envelope.rcpt_tos) >= MAX_RECIPIENTS:
            return "452 too many recipients"
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 OK"

    def opened(self, transport: asyncio.Transport) -> None:
        """Takes note that a connection begins. Ends it where there are too many."""
        if len(self._transports) >= MAX_CONNECTIONS:
            transport.abort()
        else:
            self._transports.add(transport)

    def ended(self, transport: asyncio.Transport | None) -> None:
        """Takes note that a connection has ended."""
        if transport is not None:
            self._transports.discard(transport)


class _Protocol(SMTP):
    def __init__(self, server: MailServer) -> None:
        super().__init__(server, hostname="localhost", data_size_limit=MAX_MAIL_BYTES, loop=asyncio.get_running_loop())
        self._mail_server = server
        self._wire: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = cast(asyncio.Transport, transport)  # that of uvloop is one, too, but no subclass
        self._mail_server.opened(self._wire)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._mail_server.ended(self._wire)
        super().connection_lost(error)
