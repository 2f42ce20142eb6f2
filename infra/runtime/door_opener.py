"""The way in which a process opens its doors: with TLS or without, and never in plain where others can listen in (DPS-23)."""

import socket
import ssl
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol

from infra.kernel.errors import ConfigError

from .acceptor import Acceptor, bound_sockets
from .address import Address
from .certificate_end import CertificateEnd
from .entrance import Entrance
from .listening import listening
from .logs import Logger, get_logger
from .metrics import Metric, Value
from .renewal import renewed
from .tls.contexts import ServerTls, TlsOptions, client_context
from .tls.handshakes import TlsHandshakes

BACKLOG: Final = 4096
METRICS: Final = (
    Metric(
        "process_accepts_failed_total",
        "counter",
        "Times at which a door or a link port could accept nobody for a second, by the system's error: EMFILE, ENFILE, ENOBUFS, ENOMEM.",
        "failures",
        "error",
    ),
    Metric(
        "process_tls_handshakes_total",
        "counter",
        "TLS handshakes at the doors: done, or why they failed (busy, closed, distrusted, garbled, plain, timeout, untrusted, version).",
        "handshakes",
        "outcome",
    ),
    Metric("process_tls_expires_seconds", "gauge", "When the certificate of the doors ends, in Unix time.", "seconds"),
    Metric(
        "process_tls_reloads_failed_total",
        "counter",
        "Times at which the certificate's files could not be used when they were read again. The old one stays.",
        "reloads",
    ),
)


class OpenDoor(Protocol):
    """Listening sockets, as `asyncio.Server` has them."""

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        """The sockets. At least one, until it is closed."""

    def close(self) -> None:
        """Stops accepting. Connections that stand are not touched. May be called twice."""


class DoorOpener:
    """The opener of all doors of one process, as its table `[tls]` says. `tls` is its certificate; None without one.

    - `is_alone`: all doors of Segue that the process calls are its own.
    - `end`: of the certificate, for those who watch it.
    - `outcomes` counts TLS handshakes, and `failures` the times at which a door could accept nobody (see `Acceptor`).
    """

    def __init__(self, options: TlsOptions | None = None, log: Logger | None = None, *, is_alone: bool = False) -> None:
        """Reads the certificate and the authorities, if there are any. Raises ConfigError."""
        self.options = options or TlsOptions()
        self._is_alone = is_alone
        self._client_context: ssl.SSLContext | None = None
        if self.options.ca_file is not None:
            self.client_context()
        self.tls = ServerTls(self.options) if self.options.certificate is not None else None
        self.outcomes: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.failed_reloads = 0
        self._log = log or get_logger("doors", "", "")
        self.end: CertificateEnd | None = None
        if (tls := self.tls) is not None:
            self.end = CertificateEnd("doors", lambda: tls.expires_s, self.options.warn_days, self._log)

    def scheme(self, plain: str) -> str:
        """Returns "https" for "http" and "wss" for "ws" where there is a certificate, else `plain`."""
        return f"{plain}s" if self.tls is not None else plain

    async def open(
        self,
        option: str,
        address: str,
        entrance: Entrance,
        *,
        bind: Callable[[Address], socket.socket] | None = None,
        plain: bool = False,
    ) -> OpenDoor:
        """Listens at `address`, which `option` says. `entrance` says who gets in, with TLS or without.

        - `bind`: makes the socket, where it needs options of its own.
        - `plain`: there is no TLS at this door, whatever the process has.

        Raises CannotListen if the address is taken, and ConfigError for a door in plain that others could listen in on.
        """
        where = Address.parse(address)
        tls = None if plain else self.tls
        if tls is None:
            self._check_plain(option, where)
        with listening(option, address):
            sockets = [bind(where)] if bind is not None else await bound_sockets(where)
            return self._accepting(sockets, entrance, tls)

    def _accepting(self, sockets: Sequence[socket.socket], entrance: Entrance, tls: ServerTls | None) -> Acceptor:
        handshakes = TlsHandshakes(tls, self.options, self.outcomes, self._log) if tls is not None else None
        return Acceptor(sockets, entrance, backlog=BACKLOG, failures=self.failures, log=self._log, handshakes=handshakes)

    def _check_plain(self, option: str, address: Address) -> None:
        if address.is_loopback or self.options.allow_plain:
            return
        if self.tls is not None:
            raise ConfigError(f"{option}: {address} can be reached by other machines, so it needs TLS: leave out tls.plain_admin")
        raise ConfigError(
            f"{option}: {address} can be reached by other machines, and tokens would go there in the clear. Give tls.certificate and "
            f"tls.key, listen on 127.0.0.1, or write allow_plain = true in [tls] if a proxy in front of this door speaks TLS"
        )

    def client_context(self) -> ssl.SSLContext:
        """Returns the context in which this process calls doors of Segue. Raises ConfigError."""
        if self._is_alone and self.tls is not None:
            return self.tls.own_context()
        if self._client_context is None:
            self._client_context = client_context(self.options.ca_file)
        return self._client_context

    def reload(self) -> None:
        """Reads the certificate again, for new connections. A file that cannot be used is logged, and the old certificate stays."""
        if (tls := self.tls) is not None:
            self.failed_reloads += not renewed("the certificate of doors", partial(_read_again, tls), self._log)

    @property
    def on_hang_up(self) -> Callable[[], None] | None:
        """What SIGHUP does: `reload`. None without a certificate, when it stops the process."""
        return self.reload if self.tls is not None else None

    def counters(self) -> Mapping[str, Value]:
        """Returns the figures of `METRICS`; of TLS, none where there is no certificate."""
        failures: Mapping[str, Value] = {"process_accepts_failed_total": dict(self.failures)}
        if self.tls is None:
            return failures
        return {
            **failures,
            "process_tls_handshakes_total": dict(self.outcomes),
            "process_tls_expires_seconds": self.tls.expires_s,
            "process_tls_reloads_failed_total": self.failed_reloads,
        }


def _read_again(tls: ServerTls) -> dict[str, object]:
    """Has the files read, and returns what the log shows of them. Raises ConfigError."""
    tls.reload()
    return {"names": list(tls.facts.names), "valid_until": str(tls.facts.valid_until)}
