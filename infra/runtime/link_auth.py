"""The proofs of links: how the nodes of one process show who they are, and what they ask of others (`[link_auth]`, DPS-24).

`infra.kernel.link_handshake` decides; here are the files, and the certificates that wires show.
"""

import secrets
import ssl
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.link_handshake import NONCE_BYTES, LinkAuthMode, LinkCredentials
from infra.kernel.option_checks import check_at_least, check_numbers
from infra.kernel.places import CallerLimits, Places
from infra.kernel.rates import Bucket, Rate

from .address import Address
from .certificate_end import CertificateEnd
from .logs import Logger, get_logger
from .metrics import Metric, Value
from .renewal import renewed
from .secret_file import read_secret
from .tls.contexts import ServerTls, TlsOptions, believe, load_pair
from .tls.handshakes import TlsHandshakes

# TLS handshakes of callers that failed, in the log.
FAILURES_LOGGED: Final = Rate(per_s=1, burst=10)
# So long a TLS handshake may take.
HANDSHAKE_S: Final = 5.0
METRICS: Final = (
    Metric(
        "process_links_turned_away_total",
        "counter",
        "Callers at link ports who got no place: too many strangers were there (door, address), or came a second (rate, address_rate).",
        "connections",
        "limit",
    ),
    Metric(
        "process_links_tls_handshakes_total",
        "counter",
        "TLS handshakes of callers at link ports: done, or why they failed (see process_tls_handshakes_total).",
        "handshakes",
        "outcome",
    ),
    Metric("process_links_tls_expires_seconds", "gauge", "When the certificate that links show ends, in Unix time.", "seconds"),
    Metric(
        "process_links_reloads_failed_total",
        "counter",
        "Times at which the files that prove links could not be used when they were read again. The old ones stay.",
        "reloads",
    ),
)
_FILES: Final = ("certificate", "key", "authority")


class StrangerLimits(CallerLimits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds of `CallerLimits` for those at a link port who have not shown yet who they are."""

    per_address: int = 64


class LinkAuthOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the table `[link_auth]`.

    - `mode`: `tls`, `secret` or `open`; see `infra.kernel.link_handshake`. Without it links are open, and on loopback only.
    - `certificate`, `key`: what nodes of this process show, for `tls`.
    - `authority`: the certificates of those that issue certificates to nodes, as PEM; nobody else is believed.
    - `secret_files`: for `secret`. The first one proves; a caller may have any of them.
    - `warn_days`: from when on the log warns of the end of the certificate.
    - `max_unfinished`: so many may be at a link port at once who have not shown yet who they are.
    - `visitors`: how many of them may come from where.
    """

    mode: LinkAuthMode | None = None
    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None
    secret_files: tuple[Path, ...] = ()
    warn_days: float = 14.0
    max_unfinished: Annotated[int, msgspec.Meta(ge=1)] = 256
    visitors: StrangerLimits = StrangerLimits()

    def check(self) -> None:
        """Raises ConfigError where the fields do not fit together."""
        set_files = [name for name in _FILES if getattr(self, name) is not None]
        missing = [name for name in _FILES if name not in set_files]
        if self.mode == "tls" and missing:
            raise ConfigError(f'link_auth.mode = "tls" needs link_auth.{missing[0]}, too: segue certs node makes what is needed')
        if self.mode == "secret" and not self.secret_files:
            raise ConfigError('link_auth.mode = "secret" needs link_auth.secret_files: openssl rand -hex 32 > link.key; chmod 600 link.key')
        if self.mode != "tls" and set_files:
            raise ConfigError(f'link_auth.{set_files[0]} is for link_auth.mode = "tls", and the mode is {self._said()}')
        if self.mode != "secret" and self.secret_files:
            raise ConfigError(f'link_auth.secret_files is for link_auth.mode = "secret", and the mode is {self._said()}')
        why = "one address would have more room than all have together"
        check_at_least("link_auth.max_unfinished", self.max_unfinished, "link_auth.visitors.per_address", self.visitors.per_address, why)
        check_numbers("link_auth", self, ("warn_days",))
        self.visitors.check_in("link_auth")

    def _said(self) -> str:
        return f'"{self.mode}"' if self.mode else "not said"


OPEN: Final = LinkAuthOptions(mode="open")


class LinkTls:
    """The certificate that our side of a link shows, and the authorities that it believes. `reload` makes new contexts, so links that
    stand do not notice, and an authority that is no longer in the file is no longer believed."""

    context: ssl.SSLContext
    """The context in which callers are accepted."""
    client: ssl.SSLContext
    """The context in which we call."""

    def __init__(self, options: LinkAuthOptions) -> None:
        """Reads the files that `options` name. Raises ConfigError."""
        assert options.certificate is not None
        assert options.key is not None
        assert options.authority is not None
        self.outcomes: Counter[str] = Counter()
        self._max_unfinished = options.max_unfinished
        self._certificate, self._key, self._authority = options.certificate, options.key, options.authority
        self.reload()

    def reload(self) -> None:
        """Reads the files again, for links from now on. Raises ConfigError; then everything stays as it is."""
        try:
            server = ServerTls(TlsOptions(certificate=self._certificate, key=self._key, minimum="1.3"))
            client = self._client()
            self._verify(server.context)
            self._verify(client)
        except ConfigError as error:
            raise ConfigError(f"link_auth: {error}") from None
        server.context.num_tickets = 0  # links are long: nobody takes one up again
        self.context, self.client, self.expires_s = server.context, client, server.expires_s

    def _client(self) -> ssl.SSLContext:
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # Nodes are named by a URI, which is compared with the hello; a host name says nothing about who somebody is (`node_name`).
        client.check_hostname = False
        client.minimum_version = ssl.TLSVersion.TLSv1_3
        load_pair(client, self._certificate, self._key)
        return client

    def _verify(self, context: ssl.SSLContext) -> None:
        context.verify_mode = ssl.CERT_REQUIRED
        believe(context, self._authority)

    def handshakes(self, log: Logger, failed: Callable[[str, str], None]) -> TlsHandshakes:
        """Returns the handshakes of callers at one listener; see `TlsHandshakes`."""
        options = TlsOptions(handshake_s=HANDSHAKE_S, max_handshakes=self._max_unfinished)
        return TlsHandshakes(self, options, self.outcomes, log, failed)


class LinkAuth:
    """The proofs of the links of one process.

    - `tls`: the certificates, where that is the mode; `end`: of the one that we show, for those who watch it.
    - `nonce()`: makes bytes that nobody has seen before.
    - `log`: tells of TLS handshakes with callers that fail, and of files that were read again.
    - `now`: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        options: LinkAuthOptions = OPEN,
        *,
        nonce: Callable[[], bytes] = lambda: secrets.token_bytes(NONCE_BYTES),
        log: Logger | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Reads the files that `options` name. Raises ConfigError."""
        options.check()
        self.options = options
        self.tls: LinkTls | None = None
        if options.mode == "tls":
            self.tls = LinkTls(options)
        self.log, self._logged = log or get_logger("links", "", ""), Bucket(FAILURES_LOGGED)
        self.end: CertificateEnd | None = None
        if (tls := self.tls) is not None:
            self.end = CertificateEnd("links", lambda: tls.expires_s, options.warn_days, self.log)
        self.failed_reloads = 0
        self._places: list[Places] = []
        self._nonce, self._now = nonce, now
        self._secrets = tuple(read_secret(path) for path in options.secret_files)

    def handshakes(self) -> TlsHandshakes | None:
        """Returns the handshakes of callers at one listener; None where certificates are not the mode."""
        return self.tls.handshakes(self.log, self.refused) if self.tls is not None else None

    def refused(self, address: str, reason: str) -> None:
        """Logs that the TLS handshake with a caller at `address` has failed. Strangers cannot fill the log with that."""
        if not self._logged.allow(self._now()):
            self.log.warning("link refused", code="link-not-proved", address=address, reason=reason)

    @property
    def on_hang_up(self) -> Callable[[], None] | None:
        """What SIGHUP does: files are read again, and those that cannot be used are logged. None where there are no files."""
        return self._renew if self.options.mode in ("tls", "secret") else None

    def _renew(self) -> None:
        self.failed_reloads += not renewed("proofs of links", self.reload, self.log)

    def reload(self) -> None:
        """Reads the files again. What stands, stands. Raises ConfigError; then everything stays as it is."""
        known = tuple(read_secret(path) for path in self.options.secret_files)
        if self.tls is not None:
            self.tls.reload()
        self._secrets = known

    def places(self) -> Places:
        """Returns the places for strangers at one link port. Who has shown who they are needs none."""
        self._places.append(Places(self.options.max_unfinished, self.options.visitors))
        return self._places[-1]

    def counters(self) -> Mapping[str, Value]:
        """Returns the figures of `METRICS`; of certificates, none where they are not the mode."""
        refused = sum((places.refused for places in self._places), Counter())
        figures: dict[str, Value] = {
            "process_links_turned_away_total": dict(refused),
            "process_links_reloads_failed_total": self.failed_reloads,
        }
        if self.tls is not None:
            figures["process_links_tls_handshakes_total"] = dict(self.tls.outcomes)
            figures["process_links_tls_expires_seconds"] = self.tls.expires_s
        return figures

    def credentials(self, is_local: bool) -> LinkCredentials:
        """Returns what one side of a new link can prove, and asks for. Nodes of one process (`is_local`) need no proof."""
        if is_local or self.options.mode in (None, "open"):
            return LinkCredentials()
        if self.options.mode == "tls":
            return LinkCredentials("tls")
        return LinkCredentials("secret", self._secrets, self._nonce())

    def check_address(self, address: str, what: Literal["listen", "dial"]) -> None:
        """Raises ConfigError if links at `address` must be proved, and nobody has said how, or that they need not."""
        if self.options.mode is None and not Address.parse(address).is_loopback:
            verb = "listens for links at" if what == "listen" else "is to dial"
            raise ConfigError(
                f"this process {verb} {address}, which others can reach, and [link_auth] says no mode: "
                'write mode = "tls" (segue certs makes the certificates) or "secret", or mode = "open" to let everybody in'
            )
