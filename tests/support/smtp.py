"""A real SMTP server (aiosmtpd) on the loopback that plays a script: refuses, hangs, hangs up, wants TLS or a login."""

import asyncio
import ssl
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP as POLICY
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from infra.runtime.tls.contexts import ServerTls

from .tls_files import TestAuthority

DEADLINE_S: Final = 20.0
OK: Final = "250 OK"
TAKEN: Final = "250 taken"
# In place of an answer: silence until the server closes, and a cut connection.
HANG: Final = "hang"
CUT: Final = "cut"


class ScriptedSmtp:
    """`async with ScriptedSmtp() as server:` listens on `server.port`.

    Answers are taken from `to_sender`, `to_recipient` and `to_data`, first one first; when a list is empty the answer is good.
    `refused` has answers by recipient that never change. `mails` holds what was taken, `connections` counts. With `tls` it offers STARTTLS,
    or speaks TLS from the first byte if `is_implicit`.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, is_implicit: bool = False, password: str | None = None) -> None:
        self.to_sender: list[str] = []
        self.to_recipient: list[str] = []
        self.to_data: list[str] = []
        self.refused: dict[str, str] = {}
        self.mails: list[tuple[str, EmailMessage]] = []
        self.connections = 0
        self.open = 0
        self.most_open = 0
        self.was_encrypted: list[bool] = []
        self.hanging = asyncio.Event()
        self.port = 0
        self._tls, self._is_implicit = tls, is_implicit
        self._password = password
        self._end = asyncio.Event()
        self._transports: list[asyncio.Transport] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(
            self._protocol, "127.0.0.1", 0, ssl=self._tls if self._is_implicit else None
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._end.set()
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        async with asyncio.timeout(DEADLINE_S):
            while not all(map(_is_closed, self._transports)):  # noqa: ASYNC110 - where TLS fails to begin, no event tells the end
                await asyncio.sleep(0)
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._server.wait_closed()

    def cut(self) -> None:
        """Ends every connection without a word."""
        for transport in self._transports:
            transport.abort()

    async def handle_MAIL(self, smtp: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        assert smtp.transport is not None
        self.was_encrypted.append(smtp.transport.get_extra_info("sslcontext") is not None)
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return await self._answer(self.to_sender, OK)

    async def handle_RCPT(self, _: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return await self._answer(self.to_recipient, OK)

    async def handle_DATA(self, _: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        answer = await self._answer(self.to_data, TAKEN)
        if answer == TAKEN:
            assert isinstance(envelope.content, bytes)
            message = message_from_bytes(envelope.content, EmailMessage, policy=POLICY)
            self.mails.extend((recipient, message) for recipient in envelope.rcpt_tos)
        return answer

    async def _answer(self, script: list[str], good: str) -> str:
        answer = script.pop(0) if script else good
        if answer == HANG:
            self.hanging.set()
            await self._end.wait()
        elif answer == CUT:
            self.cut()
        return answer

    def _protocol(self) -> SMTP:
        return _Protocol(
            self,
            hostname="localhost",
            tls_context=None if self._is_implicit else self._tls,
            auth_require_tls=False,
            auth_required=False,
            authenticator=self._authenticate if self._password else None,
            enable_SMTPUTF8=False,
            loop=asyncio.get_running_loop(),
        )

    def _authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        return AuthResult(success=data.password.decode() == self._password, handled=False)

    def note_open(self, transport: asyncio.Transport, task: asyncio.Task[None]) -> None:
        """Notes that a connection begins, and `task` serves it."""
        self._transports.append(transport)
        self._tasks.append(task)
        self.connections += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)

    def note_closed(self) -> None:
        """Notes that a connection ends."""
        self.open -= 1


class _Protocol(SMTP):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        is_new = self.session is None  # it is not, when TLS begins
        super().connection_made(transport)
        if is_new:
            assert self._handler_coroutine is not None
            self.event_handler.note_open(cast(asyncio.Transport, transport), self._handler_coroutine)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self.event_handler.note_closed()


def _is_closed(transport: asyncio.BaseTransport) -> bool:
    try:
        sock = transport.get_extra_info("socket")  # uvloop forgets it, asyncio keeps it closed
    except AttributeError:  # one of TLS that has ended
        return True
    return sock is None or sock.fileno() == -1


def certified_by_nobody(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Returns a server's TLS context for 127.0.0.1, and the file of the authority behind its certificate, which no machine believes."""
    authority = TestAuthority(folder)
    options = authority.options()
    return ServerTls(options).context, authority.ca_file
