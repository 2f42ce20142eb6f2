"""Certificates: an authority for development and small installations, and what it issues to nodes and doors.

- A *door's* certificate has the host names and addresses by which clients reach it.
- A *node's* certificate has the URI `segue://SITE/ROLE/NODE`, which links compare with the peer's `Hello` (`link_handshake.node_name`).
  It may have host names, too.

Keys are on the curve P-256, and not encrypted: their files have mode 0600. Time is an argument (Unix time in seconds).
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from infra.kernel.errors import ConfigError

from .given_file import read_given
from .whole_file import write_new

SCHEME: Final = "segue://"
AUTHORITY_DAYS: Final = 3650
CERTIFICATE_DAYS: Final = 397  # what browsers take at most
# Clocks of machines differ: a certificate that was made just now must be valid on a machine that is behind.
EARLIER: Final = timedelta(minutes=10)
_MOST_COMMON_NAME: Final = 64  # RFC 5280, A.1: ub-common-name
_UNUSED: Final = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only")


class KeyPair(NamedTuple):
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes

    def write(self, certificate: Path, key: Path) -> None:
        """Writes both files with mode 0600. Raises ConfigError, and writes nothing, where one of them exists or cannot be written."""
        for path in (certificate, key):
            if path.exists():
                raise ConfigError(f"{path} exists; it is never overwritten: choose another place, or remove it first")
        try:
            write_new(key, self.key)
            write_new(certificate, self.certificate)
        except OSError as error:
            raise ConfigError(f"{error.filename2 or error.filename} cannot be written: {error.strerror}") from None

    @classmethod
    def read(cls, certificate: Path, key: Path) -> Self:
        """Returns the pair in two files. Raises ConfigError."""
        return cls(read_given(certificate), read_given(key))


class CertificateFacts(NamedTuple):
    """The contents of a certificate. `names`: host names, addresses and URIs, as in the certificate."""

    subject: str
    issuer: str
    names: tuple[str, ...]
    is_authority: bool
    valid_from: datetime
    valid_until: datetime
    serial: int


def make_authority(name: str, now_s: float, *, days: int = AUTHORITY_DAYS) -> KeyPair:
    """Returns a new authority called `name`, which signs itself, and is valid for `days`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(name)
    builder = (
        _begun(subject, subject, key.public_key(), now_s, days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
    )
    return _signed(builder, key, key)


def issue_certificate(names: Sequence[str], authority: KeyPair, now_s: float, *, days: int = CERTIFICATE_DAYS) -> KeyPair:
    """Returns a certificate for `names`, signed by `authority`: host names, IP addresses, and URIs such as those of `node_name`.

    It serves both sides of a connection. Raises ConfigError for names or an authority that cannot be used.
    """
    if not names:
        raise ConfigError("a certificate needs a name at least: a host name, an address, or the URI of a node")
    issuer, signing_key = _authority(authority)
    key = ec.generate_private_key(ec.SECP256R1())
    usage = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = (
        _begun(_subject(names[0].removeprefix(SCHEME)), issuer.subject, key.public_key(), now_s, days)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usage), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()), critical=False)
    )
    return _signed(builder, key, signing_key)


def certificate_facts(pem: bytes) -> CertificateFacts:
    """Returns what the first certificate in `pem` says. Raises ConfigError if there is none."""
    certificate = _parsed(pem)
    return CertificateFacts(
        subject=certificate.subject.rfc4514_string(),
        issuer=certificate.issuer.rfc4514_string(),
        names=_names(certificate),
        is_authority=_is_authority(certificate),
        valid_from=certificate.not_valid_before_utc,
        valid_until=certificate.not_valid_after_utc,
        serial=certificate.serial_number,
    )


def _begun(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    now_s: float,
    days: int,
) -> x509.CertificateBuilder:
    now = datetime.fromtimestamp(now_s, UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLIER)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _signed(builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey, signing_key: ec.EllipticCurvePrivateKey) -> KeyPair:
    certificate = builder.sign(signing_key, hashes.SHA256())
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), secret)


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:_MOST_COMMON_NAME])])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    others = dict.fromkeys(_UNUSED, False)
    return x509.KeyUsage(digital_signature=not signs_certificates, key_cert_sign=signs_certificates, crl_sign=signs_certificates, **others)


def _general_name(name: str) -> x509.GeneralName:
    try:
        if "://" in name:
            return x509.UniformResourceIdentifier(name)
        try:
            return x509.IPAddress(ip_address(name))
        except ValueError:
            return x509.DNSName(name)
    except ValueError:
        raise ConfigError(f"{name!r} cannot stand in a certificate: write a host name, an IP address or a URI in ASCII") from None


def _authority(pair: KeyPair) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    certificate = _parsed(pair.certificate)
    try:
        key = serialization.load_pem_private_key(pair.key, password=None)
    except (ValueError, TypeError):
        raise ConfigError("the authority's key is no private key as plain PEM") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise ConfigError("the authority's key and its certificate do not belong together")
    if not _is_authority(certificate):
        raise ConfigError(f"{certificate.subject.rfc4514_string()} is no authority: it may not sign certificates")
    return certificate, key


def _parsed(pem: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError:
        raise ConfigError("there is no certificate in it, as PEM") from None


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    return tuple(str(name.value) for name in names)


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False
