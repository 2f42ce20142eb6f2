"""infra.runtime.link_auth: options that fit together, files that are read again or not at all, and addresses that need a mode.

What strangers can do at a port is in tests/security/test_link_auth.py and test_link_certificates.py.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.link_handshake import LinkCredentials, node_name
from infra.runtime.certificate_end import DAY_S
from infra.runtime.link_auth import FAILURES_LOGGED, METRICS, OPEN, LinkAuth, LinkAuthOptions, StrangerLimits
from tests.support.certificate_folder import CertificateFolder
from tests.support.recording_log import RecordingLog

BROKER = node_name("sto", "broker", "b1")
SECRET, OTHER = b"0123456789abcdef" * 4, b"fedcba9876543210" * 4


def put(path: Path, secret: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(secret)
    path.chmod(mode)
    return path


def by_secret(*files: Path, **others: Any) -> LinkAuth:
    return LinkAuth(LinkAuthOptions(mode="secret", secret_files=files), **others)


@pytest.fixture
def certified() -> Iterator[LinkAuthOptions]:
    """The options of a broker that shows a certificate."""
    folder = CertificateFolder()
    yield folder.options("sto", "broker", "b1")
    assert folder.path.exists()  # it is gone with the last that knows it


def renew(options: LinkAuthOptions) -> None:
    """Puts a new authority, and a certificate of it, in the place of the files of `options`."""
    folder = CertificateFolder()
    files = *folder.issue("renewed", BROKER, days=90), folder.path / "authority.crt"
    for new, old in zip(files, (options.certificate, options.key, options.authority), strict=True):
        assert old is not None
        old.write_bytes(new.read_bytes())


# Options.


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (LinkAuthOptions(mode="tls"), r"needs link_auth\.certificate.*segue certs node"),
        (LinkAuthOptions(mode="tls", certificate=Path("a")), r"needs link_auth\.key"),
        (LinkAuthOptions(mode="tls", certificate=Path("a"), key=Path("b")), r"needs link_auth\.authority"),
        (LinkAuthOptions(mode="secret"), r"needs link_auth\.secret_files: openssl rand"),
        (LinkAuthOptions(mode="secret", secret_files=(Path("a"),), key=Path("b")), 'link_auth.key is for .*the mode is "secret"'),
        (LinkAuthOptions(secret_files=(Path("a"),)), "link_auth.secret_files is for .*the mode is not said"),
        (LinkAuthOptions(mode="open", authority=Path("a")), 'link_auth.authority is for .*the mode is "open"'),
        (LinkAuthOptions(warn_days=-1.0), "link_auth.warn_days"),
        (LinkAuthOptions(max_unfinished=1), "max_unfinished must be at least link_auth.visitors.per_address"),
    ],
)
def test_options_that_contradict_each_other_say_what_to_write(options: LinkAuthOptions, complaint: str) -> None:
    """DPS-24."""
    with pytest.raises(ConfigError, match=complaint):
        LinkAuth(options)


def test_a_secret_that_everybody_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="chmod 600"):
        by_secret(put(tmp_path / "link.key", SECRET, 0o644))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"nothing of the kind", "link_auth: .* holds no certificate as PEM"),
        (None, "link_auth: .* cannot be read: No such file"),
    ],
)
def test_an_authority_that_cannot_be_used_is_named(certified: LinkAuthOptions, content: bytes | None, complaint: str) -> None:
    assert certified.authority is not None
    certified.authority.unlink()
    if content is not None:
        certified.authority.write_bytes(content)
    with pytest.raises(ConfigError, match=complaint):
        LinkAuth(certified)


# Credentials.


@pytest.mark.parametrize("options", [LinkAuthOptions(), OPEN])
def test_without_a_mode_and_with_open_ones_nothing_is_proved_or_asked(options: LinkAuthOptions) -> None:
    auth = LinkAuth(options)
    assert auth.credentials(is_local=False) == LinkCredentials("open", (), b"")
    assert auth.tls is None


def test_the_first_secret_proves_all_are_accepted_and_each_link_has_a_nonce_of_its_own(tmp_path: Path) -> None:
    """DPS-24: so a secret can be changed without a gap, and nothing can be replayed."""
    numbers = count()
    files = put(tmp_path / "new.key", OTHER), put(tmp_path / "old.key", SECRET)
    auth = by_secret(*files, nonce=lambda: b"nonce %d" % next(numbers))
    assert auth.credentials(is_local=False) == LinkCredentials("secret", (OTHER, SECRET), b"nonce 0")
    assert auth.credentials(is_local=False).nonce == b"nonce 1"


def test_nobody_can_guess_a_nonce(tmp_path: Path) -> None:
    auth = by_secret(put(tmp_path / "link.key", SECRET))
    nonces = {auth.credentials(is_local=False).nonce for _ in range(100)}
    assert len(nonces) == 100
    assert {len(nonce) for nonce in nonces} == {32}


def test_with_certificates_the_wire_proves_and_nothing_is_said_about_it(certified: LinkAuthOptions) -> None:
    auth = LinkAuth(certified)
    assert auth.credentials(is_local=False) == LinkCredentials("tls")


def test_nodes_of_one_process_need_no_proof(tmp_path: Path, certified: LinkAuthOptions) -> None:
    for auth in (by_secret(put(tmp_path / "link.key", SECRET)), LinkAuth(certified)):
        assert auth.credentials(is_local=True) == LinkCredentials()


def test_a_link_port_has_as_many_places_for_strangers_as_the_options_say() -> None:
    """DPS-26."""
    limits = StrangerLimits(per_address=2)
    places = LinkAuth(LinkAuthOptions(mode="open", max_unfinished=3, visitors=limits)).places()
    for host in ("192.0.2.1", "192.0.2.1", "192.0.2.2"):
        places.take(host, 0.0)
    for host in ("192.0.2.1", "192.0.2.3"):
        with pytest.raises(Refused, match="overloaded"):
            places.take(host, 0.0)
    assert places.refused == {"address": 1, "door": 1}


# Reading again.


def test_a_secret_is_read_again(tmp_path: Path) -> None:
    """DPS-24."""
    path = put(tmp_path / "link.key", SECRET)
    auth = by_secret(path)
    put(path, OTHER)
    assert auth.credentials(is_local=False).secrets == (SECRET,)
    auth.reload()
    assert auth.credentials(is_local=False).secrets == (OTHER,)


def test_if_one_of_two_secrets_cannot_be_read_both_stay_as_they_are(tmp_path: Path) -> None:
    """DPS-24."""
    first, second = put(tmp_path / "1.key", SECRET), put(tmp_path / "2.key", OTHER)
    auth = by_secret(first, second)
    put(first, OTHER)
    put(second, b"short")
    with pytest.raises(ConfigError, match="at least 32"):
        auth.reload()
    assert auth.credentials(is_local=False).secrets == (SECRET, OTHER)


@pytest.mark.parametrize("broken", ["certificate", "key", "authority"])
def test_if_one_file_of_certificates_cannot_be_used_everything_stays_as_it_is(certified: LinkAuthOptions, broken: str) -> None:
    """DPS-24: also the time at which the certificate expires, which alarms are about."""
    auth = LinkAuth(certified)
    assert auth.tls is not None
    before = auth.tls.context, auth.tls.client, auth.tls.expires_s
    renew(certified)
    getattr(certified, broken).write_bytes(b"nothing")
    with pytest.raises(ConfigError, match="link_auth"):
        auth.reload()
    assert (auth.tls.context, auth.tls.client, auth.tls.expires_s) == before


def test_certificates_are_read_again_for_both_sides_of_new_links(certified: LinkAuthOptions) -> None:
    """DPS-24."""
    auth = LinkAuth(certified)
    assert auth.tls is not None
    context, client, expires_s = auth.tls.context, auth.tls.client, auth.tls.expires_s
    renew(certified)
    auth.reload()
    assert auth.tls.context is not context
    assert auth.tls.client is not client
    assert auth.tls.expires_s > expires_s


# What operators see.


def test_the_end_of_the_certificate_is_known_also_when_it_is_another_one(certified: LinkAuthOptions) -> None:
    """DPS-24: links end with their certificates when they are dialled again, so the log warns before."""
    log = RecordingLog()
    auth = LinkAuth(certified, log=log)
    assert auth.tls is not None
    assert auth.end is not None
    just_before_s = auth.tls.expires_s - DAY_S
    auth.end.check(just_before_s)
    renew(certified)
    auth.reload()
    auth.end.check(just_before_s)
    assert [(level, fields["of"]) for level, _, fields in log.lines] == [("warning", "links")]
    assert LinkAuth().end is None


def test_the_figures_are_those_that_are_declared(tmp_path: Path, certified: LinkAuthOptions) -> None:
    auth = LinkAuth(certified)
    assert set(auth.counters()) == {metric.name for metric in METRICS}
    assert auth.tls is not None
    assert auth.counters()["process_links_tls_expires_seconds"] == auth.tls.expires_s
    by_word = by_secret(put(tmp_path / "link.key", SECRET))
    assert set(by_word.counters()) == {"process_links_turned_away_total", "process_links_reloads_failed_total"}


def test_strangers_without_a_place_are_counted_at_all_ports_together() -> None:
    """DPS-26."""
    auth = LinkAuth(LinkAuthOptions(mode="open", max_unfinished=1, visitors=StrangerLimits(per_address=1)))
    for places in (auth.places(), auth.places()):
        places.take("192.0.2.1", 0.0)
        for host in ("192.0.2.1", "192.0.2.2"):
            with pytest.raises(Refused):
                places.take(host, 0.0)
    assert auth.counters()["process_links_turned_away_total"] == {"address": 2, "door": 2}


# SIGHUP.


@pytest.mark.parametrize("options", [LinkAuthOptions(), OPEN])
def test_where_there_are_no_files_a_hang_up_means_nothing(options: LinkAuthOptions) -> None:
    assert LinkAuth(options).on_hang_up is None


def test_a_hang_up_reads_the_files_again_and_says_so(tmp_path: Path) -> None:
    path, log = put(tmp_path / "link.key", SECRET), RecordingLog()
    auth = by_secret(path, log=log)
    put(path, OTHER)
    assert auth.on_hang_up is not None
    auth.on_hang_up()
    assert auth.credentials(is_local=False).secrets == (OTHER,)
    assert log.lines == [("info", "proofs of links read again", {})]


def test_a_hang_up_with_files_that_cannot_be_used_is_an_error_in_the_log_and_nothing_else(tmp_path: Path) -> None:
    path, log = put(tmp_path / "link.key", SECRET), RecordingLog()
    auth = by_secret(path, log=log)
    path.unlink()
    assert auth.on_hang_up is not None
    auth.on_hang_up()
    assert auth.credentials(is_local=False).secrets == (SECRET,)
    ((level, event, fields),) = log.lines
    assert (level, event) == ("error", "proofs of links not read again; what was there stays")
    assert fields["reason"] == f"{path} cannot be read: No such file or directory"
    assert auth.counters()["process_links_reloads_failed_total"] == 1


def test_a_hang_up_is_for_certificates_too(certified: LinkAuthOptions) -> None:
    log = RecordingLog()
    auth = LinkAuth(certified, log=log)
    assert auth.on_hang_up is not None
    auth.on_hang_up()
    assert log.of("proofs of links read again") == [{}]


# The log.


def test_strangers_cannot_fill_the_log() -> None:
    """DPS-26: a burst is told, then one handshake in a second."""
    now_s, log = [100.0], RecordingLog()
    auth = LinkAuth(log=log, now=lambda: now_s[0])
    for _ in range(1_000):
        auth.refused("192.0.2.1", "no certificate")
    assert log.lines == [
        ("warning", "link refused", {"code": "link-not-proved", "address": "192.0.2.1", "reason": "no certificate"}),
    ] * int(FAILURES_LOGGED.burst)
    now_s[0] += 1 / FAILURES_LOGGED.per_s
    for _ in range(1_000):
        auth.refused("192.0.2.2", "no certificate")
    assert [line["address"] for line in log.of("link refused")][int(FAILURES_LOGGED.burst) :] == ["192.0.2.2"]


# Addresses.


@pytest.mark.parametrize("address", ["127.0.0.1:7811", "[::1]:7811", "localhost:7811", "127.1.2.3:1"])
def test_loopback_needs_no_mode(address: str) -> None:
    auth = LinkAuth(LinkAuthOptions())
    auth.check_address(address, "listen")
    auth.check_address(address, "dial")


@pytest.mark.parametrize("address", ["0.0.0.0:0", "10.0.0.1:7811", "b1.example:7811", "[::]:0"])
def test_addresses_that_others_can_reach_need_a_mode(address: str) -> None:
    """DPS-24: the error says which address, and what to write."""
    auth = LinkAuth(LinkAuthOptions())
    with pytest.raises(ConfigError, match=r"listens for links at .*says no mode.*segue certs") as listening:
        auth.check_address(address, "listen")
    with pytest.raises(ConfigError, match="is to dial") as dialling:
        auth.check_address(address, "dial")
    assert address in str(listening.value)
    assert address in str(dialling.value)


def test_whoever_has_said_a_mode_may_use_every_address(tmp_path: Path, certified: LinkAuthOptions) -> None:
    for auth in (
        LinkAuth(OPEN),
        by_secret(put(tmp_path / "link.key", SECRET)),
        LinkAuth(certified),
    ):
        auth.check_address("0.0.0.0:7811", "listen")
        auth.check_address("10.0.0.1:7811", "dial")
