"""The opener of doors: what may stand in plain, what is renewed, and what the log says of a certificate."""

import time
from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.address import Address
from infra.runtime.door_opener import METRICS, DoorOpener
from infra.runtime.listening import CannotListen
from infra.runtime.tls.contexts import TlsOptions
from tests.support.recording_log import RecordingLog
from tests.support.tls_files import TestAuthority
from tests.support.wide_open import wide_open


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "10.1.2.3:0", "door.example.org:0"])
async def test_a_plain_door_that_others_reach_is_refused(address: str) -> None:
    """DPS-23."""
    with pytest.raises(ConfigError, match=r"broker\.door: .* in the clear.*allow_plain = true") as refusal:
        await DoorOpener().open("broker.door", address, wide_open())
    assert address in str(refusal.value)


async def test_a_plain_door_that_others_reach_is_there_if_the_file_says_so() -> None:
    """DPS-23."""
    door = await DoorOpener(TlsOptions(allow_plain=True)).open("broker.door", "0.0.0.0:0", wide_open())
    assert door.sockets[0].getsockname()[1] > 0
    door.close()


async def test_a_plain_admin_door_stays_on_loopback(tmp_path: Path) -> None:
    """DPS-23."""
    opener = DoorOpener(TestAuthority(tmp_path).options(plain_admin=True))
    with pytest.raises(ConfigError, match=r"leave out tls\.plain_admin"):
        await opener.open("admin", "0.0.0.0:0", wide_open(), plain=True)
    (await opener.open("admin", "127.0.0.1:0", wide_open(), plain=True)).close()


async def test_with_a_certificate_a_door_stands_anywhere(tmp_path: Path) -> None:
    """DPS-23."""
    opener = DoorOpener(TestAuthority(tmp_path).options())
    assert (opener.scheme("http"), opener.scheme("ws"), DoorOpener().scheme("ws")) == ("https", "wss", "ws")
    for address in ("0.0.0.0:0", "localhost:0"):
        door = await opener.open("broker.door", address, wide_open())
        port = door.sockets[0].getsockname()[1]
        with pytest.raises(CannotListen, match=r"broker\.door: cannot listen on"):
            await opener.open("broker.door", str(Address(address.rpartition(":")[0], port)), wide_open())
        door.close()


def test_a_certificate_without_a_proxy_in_front_is_not_both(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave one of them out"):
        TestAuthority(tmp_path).options(allow_plain=True).check()


def test_reloading_says_what_it_did_and_a_bad_file_changes_nothing(tmp_path: Path) -> None:
    """DPS-23."""
    authority, log = TestAuthority(tmp_path), RecordingLog()
    options = authority.options()
    opener = DoorOpener(options, log)
    assert opener.tls is not None
    before = opener.tls.facts
    assert options.key is not None
    whole = options.key.read_bytes()
    options.key.write_bytes(b"nothing")
    opener.reload()
    assert opener.tls.facts == before
    assert opener.counters()["process_tls_reloads_failed_total"] == 1
    options.key.write_bytes(whole)
    authority.renew(options, authority.issue(days=60))
    opener.reload()
    assert opener.counters()["process_tls_expires_seconds"] == opener.tls.facts.valid_until.timestamp() > before.valid_until.timestamp()
    assert [line[:2] for line in log.lines] == [
        ("error", "the certificate of doors not read again; what was there stays"),
        ("info", "the certificate of doors read again"),
    ]


def test_the_end_of_the_certificate_is_known_also_when_it_is_another_one(tmp_path: Path) -> None:
    """DPS-23."""
    authority, log = TestAuthority(tmp_path), RecordingLog()
    options = authority.options(authority.issue(days=13))
    opener = DoorOpener(options, log)
    assert opener.end is not None
    opener.end.check(time.time())
    authority.renew(options, authority.issue(days=60))
    opener.reload()
    opener.end.check(time.time())
    assert [(level, fields.get("of")) for level, _, fields in log.lines] == [("warning", "doors"), ("info", None)]
    assert DoorOpener().end is None


def test_the_figures_are_those_that_are_declared(tmp_path: Path) -> None:
    assert set(DoorOpener(TestAuthority(tmp_path).options()).counters()) == {metric.name for metric in METRICS}
    assert DoorOpener().counters() == {"process_accepts_failed_total": {}}


def test_who_calls_its_own_doors_believes_its_own_certificate(tmp_path: Path) -> None:
    options = TestAuthority(tmp_path).options()
    alone, one_of_many = DoorOpener(options, is_alone=True), DoorOpener(options)
    assert not alone.client_context().check_hostname
    assert one_of_many.client_context().check_hostname
    with pytest.raises(ConfigError, match="cannot be read"):
        DoorOpener(TlsOptions(ca_file=tmp_path / "nothing.pem"))
