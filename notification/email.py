"""Mails on their way out: a few SMTP connections that are kept open, and an `Outcome` for everything that a mail server can do to us."""

import asyncio
from collections.abc import Callable
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated, Final, Literal

import aiosmtplib
import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.public_address import is_this_machine
from infra.runtime.given_file import read_password
from infra.runtime.logs import Logger
from infra.runtime.renewal import renewed

from .letter import is_address
from .outcome import Outcome, delivered, failed, retry

_SUBMISSION: Final = 587
# RFC 1870, 6.1: the one refusal of a sender that is about the message.
_TOO_LARGE: Final = 552


class EmailOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mail server that takes our mails, and whose name they bear.

    - `sender`: `notify@example.org` or `Name <notify@example.org>`.
    - `starttls`: "required" sends nothing in the clear, "auto" does so only where the server offers no TLS, "never" always.
    - `implicit_tls`: TLS from the first byte (RFC 8314), as at port 465; then there is no STARTTLS.
    - `ca_file`: the certificate is verified wherever TLS is used, against this or the authorities that the machine trusts.
    - `username`, `password_file`: the login; both or neither.
    - `timeout_s`: for one mail, connecting included.
    """

    host: str
    sender: str
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)] = _SUBMISSION
    starttls: Literal["auto", "required", "never"] = "auto"
    implicit_tls: bool = False
    ca_file: Path | None = None
    username: str | None = None
    password_file: Path | None = None
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)] = 30.0
    max_connections: Annotated[int, msgspec.Meta(ge=1, le=100)] = 4

    def check(self) -> None:
        """Raises `ConfigError` where the fields do not fit together."""
        address = parseaddr(self.sender)[1]
        if not (address.isascii() and is_address(address)):
            raise ConfigError(f"email.sender {self.sender!r} must be like notify@example.org or Name <notify@example.org>")
        if (self.username is None) != (self.password_file is None):
            raise ConfigError("email.username and email.password_file belong together; set both or neither")
        if self.implicit_tls:
            self._check_implicit_tls()
        elif self.username and self.starttls != "required" and not is_this_machine(self.host):
            raise ConfigError('email.username would send the password in the clear; set email.starttls = "required"')

    def _check_implicit_tls(self) -> None:
        if self.port == _SUBMISSION:
            raise ConfigError(f"email.implicit_tls: port {_SUBMISSION} begins in the clear; set email.port = 465")
        if self.starttls != "auto":
            raise ConfigError("email.implicit_tls is TLS from the first byte, so there is nothing to start; leave out email.starttls")


class Mailer:
    """The connections over which mails go out, at most `max_connections`; further callers wait in line, in order.

    `trouble` is why no mail goes out at all: a refused login, a wrong certificate, nobody there. It is None when the last one went
    out or was refused for its own sake.
    """

    def __init__(self, options: EmailOptions, log: Logger) -> None:
        """Raises `ConfigError` when the password cannot be read. Tells `log` when `trouble` begins and ends."""
        self.trouble: str | None = None
        self._options, self._log = options, log
        self._sender = parseaddr(options.sender)[1]
        self._password: str | None = None
        self._read_password()
        self._slots = asyncio.Semaphore(options.max_connections)
        self._idle: list[aiosmtplib.SMTP] = []
        self._is_closed = False

    @property
    def on_hang_up(self) -> Callable[[], None] | None:
        """The step at SIGHUP: connections that are made from then on log in with the password that the file has now. None without a file.

        One that cannot be used is logged, and the old one stays.
        """
        return self._renew_password if self._options.password_file else None

    async def send(self, message: EmailMessage, recipient: str) -> Outcome:
        """Hands `message` over for `recipient`. Raises nothing for what the other side does, or for an address that is none.

        DELIVERED: the server has it. FAILED: it wants neither this message nor this recipient, ever. RETRY: everything else,
        also silence for `timeout_s`; then the server may have it, and the same Message-ID tells.

        Cancelling closes the connection; the server may have the message then.
        """
        if not is_address(recipient):
            return failed(f"{recipient!r} is no mail address")
        async with self._slots:
            if self._is_closed:
                return retry("the mailer has been closed")
            smtp = self._idle.pop() if self._idle else self._connection()
            try:
                return await self._attempt(smtp, message, recipient)
            finally:
                self._put_back(smtp)

    async def close(self) -> None:
        """Says goodbye on idle connections, and lets the busy ones close after their mail. May be called twice."""
        self._is_closed = True
        while self._idle:
            await self._leave(self._idle.pop())

    async def _attempt(self, smtp: aiosmtplib.SMTP, message: EmailMessage, recipient: str) -> Outcome:
        try:
            async with asyncio.timeout(self._options.timeout_s):
                if not smtp.is_connected:
                    await self._connect(smtp)
                outcome = await self._hand_over(smtp, message, recipient)
        except _NoServiceError as error:
            return self._fail(smtp, str(error))
        except TimeoutError:
            return self._fail(smtp, f"it did not answer within {self._options.timeout_s:g} s")
        except BaseException:
            smtp.close()
            raise
        self._note(None)
        return outcome

    async def _connect(self, smtp: aiosmtplib.SMTP) -> None:
        try:
            await smtp.connect()
        except TimeoutError:  # silence is judged in one place, wherever it fell
            raise
        except aiosmtplib.SMTPAuthenticationError as error:
            user = self._options.username
            raise _NoServiceError(f"it refuses the login of {user!r}: {_said(error)}; check email.password_file") from None
        except aiosmtplib.SMTPResponseException as error:
            raise _NoServiceError(f"it refuses us: {_said(error)}") from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise _NoServiceError(str(error)) from None

    async def _hand_over(self, smtp: aiosmtplib.SMTP, message: EmailMessage, recipient: str) -> Outcome:
        try:
            _, answer = await smtp.send_message(message, sender=self._sender, recipients=[recipient])
        except TimeoutError:
            raise
        except aiosmtplib.SMTPRecipientsRefused as refusal:
            return _judge(refusal.recipients[0], "the recipient is refused")
        except aiosmtplib.SMTPSenderRefused as error:
            return self._judge_sender(error)
        except aiosmtplib.SMTPDataError as error:
            return _judge(error, "the message is refused")
        except (aiosmtplib.SMTPNotSupported, ValueError) as error:
            return failed(f"no mail can be sent to this address: {error}")
        except (aiosmtplib.SMTPException, OSError) as error:
            smtp.close()
            return retry(f"the mail server went away: {error}")
        return delivered(answer)

    def _judge_sender(self, error: aiosmtplib.SMTPSenderRefused) -> Outcome:
        if error.code == _TOO_LARGE:
            return failed(f"the message is too large: {_said(error)}")
        if _is_final(error):
            raise _NoServiceError(f"it refuses mails of {self._sender}: {_said(error)}; check email.sender and the login") from None
        return retry(f"the mail server is busy: {_said(error)}")

    def _fail(self, smtp: aiosmtplib.SMTP, complaint: str) -> Outcome:
        """Ends the connection and tells operators: this is no fault of the mail."""
        smtp.close()
        trouble = f"mail server {self._options.host}:{self._options.port}: {complaint}"
        self._note(trouble)
        return retry(trouble)

    def _connection(self) -> aiosmtplib.SMTP:
        options = self._options
        return aiosmtplib.SMTP(
            hostname=options.host,
            port=options.port,
            username=options.username,
            password=self._password,
            # What the machine is called may take DNS long to say, and be wrong.
            local_hostname=self._sender.rpartition("@")[2],
            timeout=options.timeout_s,
            use_tls=options.implicit_tls,
            start_tls=False if options.implicit_tls else {"auto": None, "required": True, "never": False}[options.starttls],
            cert_bundle=str(options.ca_file) if options.ca_file else None,
        )

    def _renew_password(self) -> None:
        renewed("the password of the mail server", self._read_password, self._log)

    def _read_password(self) -> None:
        if (path := self._options.password_file) is not None:
            self._password = read_password("email.password_file", path)

    def _put_back(self, smtp: aiosmtplib.SMTP) -> None:
        if self._is_closed:
            smtp.close()
        elif smtp.is_connected:
            self._idle.append(smtp)

    async def _leave(self, smtp: aiosmtplib.SMTP) -> None:
        try:
            await smtp.quit(timeout=1.0)
        except (aiosmtplib.SMTPException, OSError):
            smtp.close()

    def _note(self, trouble: str | None) -> None:
        if trouble and not self.trouble:
            self._log.error("no mail goes out", reason=trouble)
        elif self.trouble and not trouble:
            self._log.info("mails go out again")
        self.trouble = trouble


class _NoServiceError(Exception):
    """The server serves nobody, or not us."""


def _judge(error: aiosmtplib.SMTPResponseException, what: str) -> Outcome:
    reason = f"{what}: {_said(error)}"
    return failed(reason) if _is_final(error) else retry(reason)


def _is_final(error: aiosmtplib.SMTPResponseException) -> bool:
    """Returns whether an answer is forever: 5yz is (RFC 5321, 4.2.1). Any other in the place of a good one is worth another try."""
    return 500 <= error.code < 600


def _said(error: aiosmtplib.SMTPResponseException) -> str:
    return f"{error.code} {error.message}"
