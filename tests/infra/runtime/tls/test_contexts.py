"""TLS: files that can be used, files that cannot, and what a context asks of the other side."""

import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from infra.kernel.errors import ConfigError
from infra.runtime.tls.contexts import ServerTls, TlsOptions, client_context
from tests.support.tls_files import TestAuthority


@pytest.fixture
def authority(tmp_path: Path) -> TestAuthority:
    return TestAuthority(tmp_path)


def shaken(server: ssl.SSLContext, client: ssl.SSLContext, name: str = "localhost") -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """Returns both sides of a connection within this process, after their handshake. Raises what a side raises."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = server.wrap_bio(to_server, to_client, server_side=True)
    theirs = client.wrap_bio(to_client, to_server, server_hostname=name)
    for _ in range(4):
        for side in (theirs, ours):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return ours, theirs


def serial(theirs: ssl.SSLObject) -> int:
    certificate = theirs.getpeercert()
    assert certificate
    return int(str(certificate["serialNumber"]), 16)


def test_a_door_shows_its_certificate_and_speaks_1_2_at_least(authority: TestAuthority) -> None:
    """DPS-23."""
    tls = ServerTls(authority.options())
    ours, theirs = shaken(tls.context, client_context(authority.ca_file))
    assert serial(theirs) == tls.facts.serial
    assert ours.version() == "TLSv1.3"
    assert tls.context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_1_3_may_be_the_least_version(authority: TestAuthority) -> None:
    """DPS-23."""
    tls = ServerTls(authority.options(minimum="1.3"))
    older = client_context(authority.ca_file)
    older.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError):
        shaken(tls.context, older)


def test_what_is_reloaded_is_for_new_connections_and_those_that_stand_go_on(authority: TestAuthority) -> None:
    """DPS-23."""
    options = authority.options()
    tls = ServerTls(options)
    ours, theirs = shaken(tls.context, client_context(authority.ca_file))
    before = tls.facts
    authority.renew(options, authority.issue(days=90))
    tls.reload()
    assert tls.facts.serial != before.serial
    assert tls.expires_s == tls.facts.valid_until.timestamp() > before.valid_until.timestamp()
    _, later = shaken(tls.context, client_context(authority.ca_file))
    assert (serial(theirs), serial(later)) == (before.serial, tls.facts.serial)
    ours.write(b"still here")
    assert theirs.read() == b"still here"


def test_bad_files_are_refused_and_the_old_certificate_stays(authority: TestAuthority) -> None:
    """DPS-23."""
    options = authority.options()
    tls = ServerTls(options)
    before = tls.facts
    assert options.certificate is not None
    whole = options.certificate.read_bytes()
    for broken, why in ((b"", "no certificate"), (whole[:300], "no certificate"), (authority.issue().certificate, "is not the key of")):
        options.certificate.write_bytes(broken)
        with pytest.raises(ConfigError, match=why):
            tls.reload()
    options.certificate.unlink()
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        tls.reload()
    _, theirs = shaken(tls.context, client_context(authority.ca_file))
    assert (serial(theirs), tls.facts) == (before.serial, before)


def test_a_key_that_everybody_may_read_is_refused(authority: TestAuthority) -> None:
    options = authority.options()
    assert options.key is not None
    options.key.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        ServerTls(options)


def test_an_encrypted_key_is_refused_instead_of_asking_at_the_terminal(authority: TestAuthority) -> None:
    options = authority.options()
    assert options.key is not None
    key = serialization.load_pem_private_key(options.key.read_bytes(), None)
    hidden = serialization.BestAvailableEncryption(b"sesame")
    options.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden))
    with pytest.raises(ConfigError, match="is encrypted"):
        ServerTls(options)


@pytest.mark.parametrize("given", ["certificate", "key"])
def test_half_a_pair_is_refused(given: str, tmp_path: Path) -> None:
    options = TlsOptions(**{given: tmp_path / "there.pem"})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="belong together"):
        options.check()


def test_a_client_checks_authority_name_and_date(authority: TestAuthority, tmp_path: Path) -> None:
    """DPS-23."""
    stranger = TestAuthority(tmp_path, "Somebody else")
    believing = client_context(authority.ca_file)
    for pair in (stranger.issue(), authority.issue(["elsewhere.example"]), authority.issue(days=30, age_days=40)):
        with pytest.raises(ssl.SSLCertVerificationError):
            shaken(ServerTls(authority.options(pair)).context, believing)
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(ServerTls(authority.options()).context, client_context())


def test_a_file_that_holds_no_authority_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    with pytest.raises(ConfigError, match="holds no certificate"):
        client_context(tmp_path / "empty.pem")
    with pytest.raises(ConfigError, match="cannot be read"):
        client_context(tmp_path / "nothing.pem")
