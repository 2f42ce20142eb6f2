"""Certificates for development: what they say, who believes them, and how their files are kept."""

import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from infra.kernel.link_handshake import node_name
from infra.runtime.certificates import (
    EARLIER,
    KeyPair,
    certificate_facts,
    issue_certificate,
    make_authority,
)

NOW_S = 1_800_000_000.0
NAMES = (node_name("sto", "broker", "b1"), "b1.sto.example", "127.0.0.1", "::1")


def test_a_certificate_says_its_names_its_authority_and_until_when() -> None:
    issued = issue_certificate(NAMES, make_authority("Segue test", NOW_S), NOW_S, days=30)
    facts = certificate_facts(issued.certificate)
    assert facts.names == NAMES
    assert (facts.subject, facts.issuer, facts.is_authority) == ("CN=sto/broker/b1", "CN=Segue test", False)
    now = datetime.fromtimestamp(NOW_S, UTC)
    assert (facts.valid_from, facts.valid_until) == (now - EARLIER, now + timedelta(days=30))


def test_each_certificate_has_a_number_and_a_key_of_its_own() -> None:
    authority = make_authority("Segue test", NOW_S)
    one, two = (issue_certificate(["a.example"], authority, NOW_S) for _ in range(2))
    assert one.key != two.key
    assert certificate_facts(one.certificate).serial != certificate_facts(two.certificate).serial


def test_the_ssl_library_takes_a_pair_and_its_authority(tmp_path: Path) -> None:
    authority = make_authority("Segue test", NOW_S)
    issue_certificate(["a.example"], authority, NOW_S).write(tmp_path / "node.crt", tmp_path / "node.key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "node.crt", tmp_path / "node.key")
    context.load_verify_locations(cadata=authority.certificate.decode())
    assert [dict(*found["subject"]) for found in context.get_ca_certs()] == [{"commonName": "Segue test"}]


def test_files_are_for_their_owner_only_and_are_never_overwritten(tmp_path: Path) -> None:
    authority = make_authority("Segue test", NOW_S)
    certificate, key = tmp_path / "certs" / "ca.crt", tmp_path / "certs" / "ca.key"
    authority.write(certificate, key)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (certificate, key)] == [0o600, 0o600]
    assert KeyPair.read(certificate, key) == authority
    with pytest.raises(ConfigError, match=r"ca\.crt exists; it is never overwritten"):
        make_authority("Another", NOW_S).write(certificate, tmp_path / "new.key")
    assert KeyPair.read(certificate, key) == authority
    assert sorted(path.name for path in certificate.parent.iterdir()) == ["ca.crt", "ca.key"]
    assert not (tmp_path / "new.key").exists()


def test_a_place_that_cannot_be_written_or_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ConfigError, match="cannot be written"):
        make_authority("Segue test", NOW_S).write(tmp_path / "file" / "ca.crt", tmp_path / "file" / "ca.key")
    with pytest.raises(ConfigError, match=r"none\.crt cannot be read"):
        KeyPair.read(tmp_path / "none.crt", tmp_path / "none.key")


def test_only_an_authority_issues_and_only_with_its_own_key() -> None:
    authority, other = (make_authority(name, NOW_S) for name in ("Segue test", "Another"))
    node = issue_certificate(NAMES, authority, NOW_S)
    with pytest.raises(ConfigError, match="is no authority"):
        issue_certificate(["evil.example"], node, NOW_S)
    with pytest.raises(ConfigError, match="do not belong together"):
        issue_certificate(["evil.example"], KeyPair(authority.certificate, other.key), NOW_S)
    with pytest.raises(ConfigError, match="no private key"):
        issue_certificate(["a.example"], KeyPair(authority.certificate, b"garbage"), NOW_S)
    with pytest.raises(ConfigError, match="no certificate in it"):
        issue_certificate(["a.example"], KeyPair(b"garbage", authority.key), NOW_S)


def test_names_that_cannot_stand_in_a_certificate_are_refused() -> None:
    authority = make_authority("Segue test", NOW_S)
    with pytest.raises(ConfigError, match="needs a name"):
        issue_certificate([], authority, NOW_S)
    with pytest.raises(ConfigError, match="cannot stand in a certificate"):
        issue_certificate(["bücher.example"], authority, NOW_S)
