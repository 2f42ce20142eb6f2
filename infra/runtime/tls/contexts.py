"""TLS: the certificate that a process shows at its doors, and whom its own connections believe (DPS-23).

The library's own choice of ciphers and curves is kept. What is decided here: the least version, that nobody negotiates anew within a
connection, and that a certificate can be renewed while connections stand.
"""

import ssl
from pathlib import Path
from typing import Final, Literal, NoReturn

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.option_checks import check_numbers

from ..certificates import CertificateFacts, certificate_facts
from ..given_file import check_closed, read_given

_VERSIONS: Final = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


class TlsOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the table `[tls]`: how the doors of a process are opened. Without `certificate` they speak plain HTTP.

    - `certificate`: the certificates of the door and of those that issued it, as PEM, its own first.
    - `key`: its private key, as PEM, not encrypted.
    - `minimum`: the least version that is spoken.
    - `allow_plain`: doors without a certificate may stand on other addresses than loopback. It is for a proxy in front that speaks TLS.
    - `plain_admin`: the admin door speaks plain HTTP all the same, on loopback.
    - `ca_file`: the authorities that this process believes when it calls doors of Segue, as PEM. Without it: those that the machine trusts.
    - `handshake_s`: how long a client has for its first byte, and again for its handshake.
    - `max_handshakes`: how many clients may be at that at once, at each door. Others are cut.
    - `warn_days`: from when on the log warns of the end of the certificate.
    """

    certificate: Path | None = None
    key: Path | None = None
    minimum: Literal["1.2", "1.3"] = "1.2"
    allow_plain: bool = False
    plain_admin: bool = False
    ca_file: Path | None = None
    handshake_s: float = 10.0
    max_handshakes: int = 1_000
    warn_days: float = 14.0

    def check(self) -> None:
        """Raises ConfigError where the fields do not fit together."""
        if (self.certificate is None) != (self.key is None):
            missing = "key" if self.key is None else "certificate"
            raise ConfigError(f"tls.certificate and tls.key belong together: give tls.{missing}, too, or leave both out for plain HTTP")
        if self.certificate is not None and self.allow_plain:
            raise ConfigError("tls.allow_plain is for doors without a certificate, and tls.certificate is given: leave one of them out")
        check_numbers("tls", self, ("warn_days",))


class ServerTls:
    """The certificate of a process, and the `context` in which its doors and links accept connections.

    `facts` say what the certificate in use contains. Connections that stand do not notice a `reload`.
    """

    def __init__(self, options: TlsOptions) -> None:
        """Reads the files that `options` name, which have some. Raises ConfigError that says what is wrong with them."""
        assert options.certificate is not None, "there is nothing to load without a certificate"
        assert options.key is not None, "check() sees to it that there is a key"
        self._certificate, self._key = options.certificate, options.key
        self.facts: CertificateFacts = _checked(self._certificate, self._key)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = _VERSIONS[options.minimum]
        self.context.options |= ssl.OP_NO_RENEGOTIATION
        self.context.set_alpn_protocols(["http/1.1"])
        self._own: ssl.SSLContext | None = None
        self._load()

    @property
    def expires_s(self) -> float:
        """When the certificate ends, in Unix time."""
        return self.facts.valid_until.timestamp()

    def reload(self) -> None:
        """Reads the files again. New connections get what they hold now.

        Raises ConfigError for files that cannot be used; then everything stays as it is.
        """
        facts = _checked(self._certificate, self._key)
        self._load()
        self.facts = facts

    def own_context(self) -> ssl.SSLContext:
        """Returns the context in which this process calls its own doors. It believes this certificate alone, whatever host is dialled."""
        if self._own is None:
            self._own = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self._own.check_hostname = False
            self._own.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # nobody has to vouch for it
            self._believe(self._own)
        return self._own

    def _load(self) -> None:
        _load_chain(self.context, self._certificate, self._key)
        if self._own is not None:
            self._believe(self._own)

    def _believe(self, context: ssl.SSLContext) -> None:
        # Not the whole file: with the authority behind it, all that it has issued would be believed.
        context.load_verify_locations(cadata=_first_certificate(self._certificate.read_text(encoding="utf-8")))


def client_context(ca_file: Path | None = None) -> ssl.SSLContext:
    """Returns the context of connections that we make. They check the peer's certificate and its host name.

    `ca_file`: the authorities that are believed, as PEM; None: those that this machine trusts. Raises ConfigError.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if ca_file is None:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
        return context
    believe(context, ca_file)
    return context


def believe(context: ssl.SSLContext, authorities: Path) -> None:
    """Has `context` believe the `authorities` in a file, as PEM. Raises ConfigError."""
    try:
        context.load_verify_locations(authorities)
    except ssl.SSLError:
        raise ConfigError(f"{authorities} holds no certificate as PEM; it must be the file of the other side's authority") from None
    except OSError as error:
        raise ConfigError(f"{authorities} cannot be read: {error.strerror}") from None


def load_pair(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Gives `context` a certificate to show, and its key. Raises ConfigError for files that cannot be used."""
    _checked(certificate, key)
    _load_chain(context, certificate, key)


def _checked(certificate: Path, key: Path) -> CertificateFacts:
    """Returns what is in the files. Raises ConfigError unless a context could use them."""
    data = read_given(certificate)
    try:
        facts = certificate_facts(data)
    except ConfigError as error:
        raise ConfigError(f"certificate {certificate}: {error}") from None
    check_closed(key)
    # A context of its own: one that is in use would keep the half that it could read.
    _load_chain(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), certificate, key)
    return facts


def _first_certificate(pem: str) -> str:
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    return pem[pem.index(begin) : pem.index(end) + len(end)]


def _load_chain(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    def ask() -> NoReturn:
        raise ConfigError(f"key {key} is encrypted, and nobody is there to type its password; give a key without one, mode 600")

    try:
        context.load_cert_chain(certificate, key, password=ask)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ConfigError(f"key {key} is not the key of certificate {certificate}; the server's own comes first") from None
        raise ConfigError(f"{certificate} and {key} are not a certificate and its key as PEM: {error.reason or error}") from None
    except OSError as error:
        raise ConfigError(f"{certificate} and {key} cannot be read: {error.strerror}") from None
