"""TLS handshakes of those who come to a door: how many, how long each may take, and what becomes of those who speak something else.

The socket is accepted already (`Acceptor`). Its first byte says whether TLS begins; the door's protocol hears of a connection when it
stands.
"""

import asyncio
import errno
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeAlias

from infra.kernel.errors import Refused

from ..http.message import closing_answer
from ..logs import Logger
from ..loop_turns import LoopTurns
from ..network_reason import is_about_our_certificate, network_reason
from .contexts import TlsOptions
from .securing import readable, secured

# So many begin in one turn of the loop. Each costs half a millisecond; 400 at once made turns of 48 ms.
BEGUN_AT_ONCE: Final = 4
_NOTHING_IN_COMMON: Final = ("UNSUPPORTED_PROTOCOL", "NO_SHARED_CIPHER", "VERSION_TOO_LOW", "NO_SUITABLE_SIGNATURE_ALGORITHM")
_HANDSHAKE: Final = 0x16  # the first byte of TLS (RFC 8446, 5.1: ContentType)

Failure: TypeAlias = Literal["busy", "closed", "distrusted", "garbled", "plain", "timeout", "untrusted", "version"]
"""Why there was no connection.

- "busy": there were `max_handshakes` already.
- "closed": the client left.
- "distrusted": the client does not believe our certificate.
- "garbled": it sent what is neither TLS nor HTTP, or broke the handshake off with another alert.
- "plain": it spoke plain HTTP.
- "timeout": its first byte, or its handshake, did not come in time.
- "untrusted": we do not believe its certificate. Links show one, clients do not.
- "version": there is no version or cipher that both speak.
"""

_EXPLANATION: Final = closing_answer(Refused("bad-request", "this door speaks TLS; write https:// or wss:// in the address"))

ProtocolFactory = Callable[[], asyncio.Protocol]
# Sends somebody an answer, and ends their connection (`TurnedAway.tell`).
Tell = Callable[[socket.socket, bytes], None]


class ShownCertificate(Protocol):
    """The certificate that a listener shows, in the context of new connections: `ServerTls`, or that of links."""

    @property
    def context(self) -> ssl.SSLContext:
        """The context in which the next connection is accepted."""


class TlsHandshakes:
    """The handshakes of those who come to one door, between their socket and their protocol.

    - `tls`: the certificate that they see.
    - `options`: how many may be under way, and how long each may take.
    - `outcomes` counts them: "done", and why others failed.
    - `failed(host, reason)` is called for each of those; without it the log tells, at level debug.
    """

    def __init__(
        self,
        tls: ShownCertificate,
        options: TlsOptions,
        outcomes: Counter[str],
        log: Logger,
        failed: Callable[[str, str], None] | None = None,
    ) -> None:
        self._tls, self._options, self._outcomes = tls, options, outcomes
        self._log, self._failed = log, failed
        self._turns = LoopTurns(BEGUN_AT_ONCE)

    def has_room(self, under_way: int) -> bool:
        """Returns whether one more may begin when so many are under way. If not, that is counted as "busy"."""
        if under_way < self._options.max_handshakes:
            return True
        self._outcomes["busy"] += 1
        return False

    async def open(self, sock: socket.socket, host: str, factory: ProtocolFactory, tell: Tell) -> bool:
        """Brings the connection of `sock`, which comes from `host`, to a protocol of `factory`; or closes it, and counts why.

        `tell` has somebody who speaks plain HTTP told why. Returns whether there is a connection.
        """
        failure, words = await self._shake(sock, factory, tell)
        self._outcomes[failure or "done"] += 1
        if failure is None:
            return True
        reason = f"{failure}: {words}" if words else failure
        if self._failed is not None:
            self._failed(host, reason)
        else:
            self._log.debug("no connection", reason=reason)
        return False

    async def _shake(self, sock: socket.socket, factory: ProtocolFactory, tell: Tell) -> tuple[Failure | None, str]:
        """Returns why there is no connection, and what TLS says of it; None when there is one. Closes the socket in the first case."""
        first = await _first_byte(sock, self._options.handshake_s)
        if isinstance(first, str) or first != _HANDSHAKE:
            return _turn_away(sock, first, tell), ""
        try:
            await self._turns.wait()
        except BaseException:
            sock.close()
            raise
        try:
            await secured(sock, self._tls.context, factory, timeout_s=self._options.handshake_s, is_called=True)
        except OSError as error:  # an SSLError is an OSError
            failure = _reason(error)
            return failure, "" if failure in ("closed", "timeout") else network_reason(error)
        return None, ""


def _turn_away(sock: socket.socket, first: Failure | int, tell: Tell) -> Failure:
    if not isinstance(first, str) and chr(first).isupper():  # a method of HTTP
        tell(sock, _EXPLANATION)
        return "plain"
    sock.close()
    return first if isinstance(first, str) else "garbled"


async def _first_byte(sock: socket.socket, timeout_s: float) -> Failure | int:
    """Returns the first byte that a client sends, which stays where it is; or why there is none."""
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                try:
                    found = sock.recv(1, socket.MSG_PEEK)
                except (BlockingIOError, InterruptedError):
                    await readable(sock)
                else:
                    return found[0] if found else "closed"
    except TimeoutError:
        return "timeout"
    except OSError:
        return "closed"


def _reason(error: OSError) -> Failure:
    """Returns why a handshake failed that raised `error`."""
    if isinstance(error, TimeoutError):
        return "timeout"
    if not isinstance(error, ssl.SSLError) or isinstance(error, ssl.SSLEOFError) or error.errno == errno.ENOTCONN:
        return "closed"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "untrusted"
    if is_about_our_certificate(error):
        return "distrusted"
    return "version" if error.reason in _NOTHING_IN_COMMON else "garbled"
