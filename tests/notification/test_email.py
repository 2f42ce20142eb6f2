"""The mailer against a real SMTP server that plays a script."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from infra.kernel.errors import ConfigError
from notification.email import EmailOptions, Mailer
from notification.letter import Line, compose, stable_message_id
from notification.outcome import OutcomeState
from tests.support.recording_log import RecordingLog
from tests.support.smtp import CUT, HANG, ScriptedSmtp, certified_by_nobody

ALICE = "alice@example.org"
SENDER = "Segue <notify@example.org>"
PASSWORD = "open sesame"
SHORT_S = 0.1
URL = "https://segue.example.org/v1/unsubscribe?token=" + "t" * 230


def mail() -> EmailMessage:
    line = Line(
        topic="hm://notifications/feed/bjork%new-album/",
        cls="new-album",
        kind="new-album",
        ts_ms=1_795_000_000_000,
        id="e1",
        payload={"artist_name": "Björk", "album_name": "Vulnicura"},
    )
    return compose("alice", ALICE, SENDER, [line], URL, stable_message_id("alice", SENDER, ["e1"]), 1_795_000_000_000)


@contextlib.asynccontextmanager
async def mailer_to(port: int, log: RecordingLog | None = None, **options: Any) -> AsyncIterator[Mailer]:
    defaults: dict[str, Any] = {"host": "127.0.0.1", "port": port, "sender": SENDER, "timeout_s": 5.0}
    mailer = Mailer(EmailOptions(**(defaults | options)), log or RecordingLog())
    try:
        yield mailer
    finally:
        await mailer.close()


def password_file(folder: Path, password: str = PASSWORD, mode: int = 0o600) -> Path:
    path = folder / "password"
    path.write_text(password + "\n", encoding="utf-8")
    path.chmod(mode)
    return path


async def test_a_mail_arrives_as_it_was_composed_and_its_unsubscribe_header_is_not_mangled() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        outcome = await mailer.send(mail(), ALICE)
    assert outcome.state is OutcomeState.DELIVERED
    assert "taken" in outcome.reason
    [(recipient, arrived)] = server.mails
    assert recipient == ALICE
    assert arrived["Subject"] == "New album by Björk: Vulnicura"
    assert arrived["List-Unsubscribe"] == f"<{URL}>"
    assert f"List-Unsubscribe: <{URL}>\r\n".encode() in arrived.as_bytes(policy=arrived.policy.clone(max_line_length=998))
    assert arrived["Message-ID"] == stable_message_id("alice", SENDER, ["e1"])
    assert [part.get_content_type() for part in arrived.iter_parts()] == ["text/plain", "text/html"]


async def test_one_connection_carries_many_mails() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        for _ in range(5):
            assert (await mailer.send(mail(), ALICE)).state is OutcomeState.DELIVERED
    assert (len(server.mails), server.connections) == (5, 1)


async def test_many_mails_at_once_share_a_bounded_number_of_connections() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port, max_connections=3) as mailer:
        outcomes = await asyncio.gather(*(mailer.send(mail(), ALICE) for _ in range(20)))
    assert {outcome.state for outcome in outcomes} == {OutcomeState.DELIVERED}
    assert len(server.mails) == 20
    assert server.most_open <= 3


@pytest.mark.parametrize("place", ["to_sender", "to_recipient", "to_data"])
async def test_a_451_is_to_be_tried_again_and_the_next_try_goes_through_on_the_same_connection(place: str) -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        getattr(server, place).append("451 greylisted, come back later")
        first = await mailer.send(mail(), ALICE)
        second = await mailer.send(mail(), ALICE)
    assert (first.state, second.state) == (OutcomeState.RETRY, OutcomeState.DELIVERED)
    assert "451 greylisted" in first.reason
    assert (len(server.mails), server.connections) == (1, 1)


async def test_a_550_for_one_recipient_is_final_for_him_and_nobody_else() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        server.refused["ghost@example.org"] = "550 no such mailbox"
        outcomes = [await mailer.send(mail(), recipient) for recipient in ("ghost@example.org", ALICE)]
        assert mailer.trouble is None
    assert [outcome.state for outcome in outcomes] == [OutcomeState.FAILED, OutcomeState.DELIVERED]
    assert "550 no such mailbox" in outcomes[0].reason
    assert server.connections == 1


async def test_a_554_to_the_message_is_final() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        server.to_data.append("554 looks like spam")
        assert (await mailer.send(mail(), ALICE)).state is OutcomeState.FAILED


@pytest.mark.parametrize(("answer", "state"), [("552 too large", OutcomeState.FAILED), ("553 not your address", OutcomeState.RETRY)])
async def test_a_sender_that_is_refused_is_our_trouble_unless_the_message_is_too_large(answer: str, state: OutcomeState) -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        server.to_sender.append(answer)
        assert (await mailer.send(mail(), ALICE)).state is state
        assert (mailer.trouble is not None) == (state is OutcomeState.RETRY)


@pytest.mark.parametrize("place", ["to_sender", "to_recipient", "to_data"])
async def test_a_server_that_hangs_costs_no_more_than_the_timeout(place: str) -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port, timeout_s=SHORT_S) as mailer:
        getattr(server, place).append(HANG)
        async with asyncio.timeout(30):
            outcome = await mailer.send(mail(), ALICE)
            assert outcome.state is OutcomeState.RETRY
            assert f"did not answer within {SHORT_S:g} s" in outcome.reason
            while (await mailer.send(mail(), ALICE)).state is not OutcomeState.DELIVERED:
                pass  # a busy machine takes longer, too
    assert server.connections >= 2


async def test_a_server_that_says_nothing_at_all_is_given_up_too() -> None:
    ended = asyncio.Event()

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        ended.set()

    async with await asyncio.start_server(swallow, "127.0.0.1", 0) as silent:
        async with mailer_to(silent.sockets[0].getsockname()[1], timeout_s=SHORT_S) as mailer:
            assert (await mailer.send(mail(), ALICE)).state is OutcomeState.RETRY
        async with asyncio.timeout(30):
            await ended.wait()


@pytest.mark.parametrize("place", ["to_sender", "to_recipient", "to_data"])
async def test_a_connection_that_is_cut_in_the_middle_is_to_be_tried_again(place: str) -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        getattr(server, place).append(CUT)
        assert (await mailer.send(mail(), ALICE)).state is OutcomeState.RETRY
        assert (await mailer.send(mail(), ALICE)).state is OutcomeState.DELIVERED


async def test_a_connection_that_the_server_closed_meanwhile_is_replaced() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        await mailer.send(mail(), ALICE)
        server.cut()
        outcomes = [await mailer.send(mail(), ALICE) for _ in range(2)]
    assert outcomes[-1].state is OutcomeState.DELIVERED
    assert {outcome.state for outcome in outcomes} <= {OutcomeState.RETRY, OutcomeState.DELIVERED}


async def test_nobody_there_is_told_to_operators_until_mails_go_out_again() -> None:
    log = RecordingLog()
    async with ScriptedSmtp() as server:
        port = server.port
    async with mailer_to(port, log) as mailer:
        outcomes = [await mailer.send(mail(), ALICE) for _ in range(2)]
        assert [outcome.state for outcome in outcomes] == [OutcomeState.RETRY] * 2
        assert mailer.trouble == outcomes[0].reason
        assert f"127.0.0.1:{port}" in mailer.trouble
    assert log.lines == [("error", "no mail goes out", {"reason": mailer.trouble})]


@pytest.mark.parametrize("mode", ["auto", "required"])
async def test_a_mail_goes_out_encrypted_where_the_server_offers_it(mode: str, tmp_path: Path) -> None:
    tls, certificate = certified_by_nobody(tmp_path)
    async with ScriptedSmtp(tls=tls) as server, mailer_to(server.port, starttls=mode, ca_file=certificate) as mailer:
        assert (await mailer.send(mail(), ALICE)).state is OutcomeState.DELIVERED
        assert server.was_encrypted == [True]


async def test_a_certificate_that_nobody_vouches_for_gets_no_mail(tmp_path: Path) -> None:
    tls, _ = certified_by_nobody(tmp_path)
    async with ScriptedSmtp(tls=tls) as server, mailer_to(server.port) as mailer:
        outcome = await mailer.send(mail(), ALICE)
        assert outcome.state is OutcomeState.RETRY
        assert "certificate verify failed" in outcome.reason
        assert mailer.trouble == outcome.reason
        assert server.mails == []


async def test_required_means_that_a_server_without_tls_gets_no_mail() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port, starttls="required") as mailer:
        outcome = await mailer.send(mail(), ALICE)
        assert outcome.state is OutcomeState.RETRY
        assert "STARTTLS" in outcome.reason
        assert server.mails == []


async def test_never_means_plain_text_also_where_tls_is_offered(tmp_path: Path) -> None:
    tls, _ = certified_by_nobody(tmp_path)
    async with ScriptedSmtp(tls=tls) as server, mailer_to(server.port, starttls="never") as mailer:
        assert (await mailer.send(mail(), ALICE)).state is OutcomeState.DELIVERED
        assert server.was_encrypted == [False]


async def test_the_password_in_the_file_opens_the_server(tmp_path: Path) -> None:
    async with ScriptedSmtp(password=PASSWORD) as server:
        async with mailer_to(server.port, username="segue", password_file=password_file(tmp_path)) as mailer:
            assert (await mailer.send(mail(), ALICE)).state is OutcomeState.DELIVERED


async def test_a_refused_login_is_to_be_tried_again_and_operators_learn_whose(tmp_path: Path) -> None:
    async with ScriptedSmtp(password="another") as server:
        async with mailer_to(server.port, username="segue", password_file=password_file(tmp_path)) as mailer:
            outcome = await mailer.send(mail(), ALICE)
            assert outcome.state is OutcomeState.RETRY
            assert "refuses the login of 'segue': 535" in outcome.reason
            assert mailer.trouble == outcome.reason
            assert server.mails == []


@pytest.mark.parametrize("recipient", ["a@example.org\r\nRCPT TO:<b@example.org>", "a b@example.org", "ünal@example.org"])
async def test_what_is_no_address_for_this_server_is_final(recipient: str) -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        assert (await mailer.send(mail(), recipient)).state is OutcomeState.FAILED
        assert server.mails == []
        assert mailer.trouble is None


async def test_a_cancelled_mail_gives_its_connection_and_its_place_in_line_back() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port, max_connections=1) as mailer:
        server.to_data.append(HANG)
        sending = asyncio.create_task(mailer.send(mail(), ALICE))
        async with asyncio.timeout(30):
            await server.hanging.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert (await mailer.send(mail(), ALICE)).state is OutcomeState.DELIVERED


async def test_a_closed_mailer_sends_nothing_and_may_be_closed_again() -> None:
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        await mailer.close()
        assert (await mailer.send(mail(), ALICE)).state is OutcomeState.RETRY
        await mailer.close()
        assert server.connections == 0


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"sender": "nobody"}, "email.sender 'nobody' must be like"),
        ({"username": "segue"}, "belong together"),
        ({"username": "segue", "password_file": Path("p"), "host": "mail.example.org"}, 'set email.starttls = "required"'),
    ],
)
def test_options_that_do_not_fit_together_are_refused(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        EmailOptions(**({"host": "127.0.0.1", "sender": SENDER} | wrong)).check()


@pytest.mark.parametrize(("password", "mode", "complaint"), [("secret", 0o604, "chmod 600"), ("", 0o600, "is empty")])
def test_a_password_file_is_private_and_not_empty(password: str, mode: int, complaint: str, tmp_path: Path) -> None:
    path = password_file(tmp_path, password, mode)
    with pytest.raises(ConfigError, match=complaint):
        Mailer(EmailOptions(host="localhost", sender=SENDER, username="segue", password_file=path), RecordingLog())


def test_a_password_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere cannot be read: No such file"):
        Mailer(EmailOptions(host="localhost", sender=SENDER, username="segue", password_file=tmp_path / "nowhere"), RecordingLog())


async def test_tls_from_the_first_byte_carries_mails_and_the_login_in_it(tmp_path: Path) -> None:
    """DPS-23: as at port 465 (RFC 8314, 3.3)."""
    tls, ca_file = certified_by_nobody(tmp_path)
    login: dict[str, Any] = {"username": "segue", "password_file": password_file(tmp_path)}
    async with ScriptedSmtp(tls=tls, is_implicit=True, password=PASSWORD) as server:
        async with mailer_to(server.port, implicit_tls=True, ca_file=ca_file, **login) as mailer:
            outcomes = [await mailer.send(mail(), ALICE) for _ in range(2)]
    assert [outcome.state for outcome in outcomes] == [OutcomeState.DELIVERED] * 2
    assert (server.was_encrypted, server.connections) == ([True, True], 1)


async def test_a_certificate_that_nobody_vouches_for_gets_no_mail_over_tls_from_the_first_byte(tmp_path: Path) -> None:
    """DPS-23: it is verified without a word in the options, and so is the name in it."""
    tls, ca_file = certified_by_nobody(tmp_path)
    async with ScriptedSmtp(tls=tls, is_implicit=True) as server:
        for options in ({}, {"ca_file": ca_file, "host": "127.0.0.2"}):
            log = RecordingLog()
            async with mailer_to(server.port, log, implicit_tls=True, **options) as mailer:
                outcome = await mailer.send(mail(), ALICE)
            assert outcome.state is OutcomeState.RETRY
            assert mailer.trouble is not None
    assert server.mails == []


async def test_a_server_that_speaks_no_tls_gets_nothing_where_tls_is_from_the_first_byte(tmp_path: Path) -> None:
    """DPS-23: nobody is talked down to plain text."""
    async with ScriptedSmtp() as server, mailer_to(server.port, implicit_tls=True, timeout_s=1.0) as mailer:
        assert (await mailer.send(mail(), ALICE)).state is OutcomeState.RETRY
    assert (server.mails, server.was_encrypted) == ([], [])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"port": 587}, "port = 465"),
        ({"starttls": "required"}, "leave out email.starttls"),
        ({"starttls": "never"}, "leave out email.starttls"),
    ],
)
def test_tls_from_the_first_byte_does_not_go_with_what_says_something_else(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        EmailOptions(**{"host": "smtp.example.org", "sender": SENDER, "port": 465, "implicit_tls": True, **options}).check()


def test_a_login_may_go_over_tls_from_the_first_byte_to_another_machine(tmp_path: Path) -> None:
    path = password_file(tmp_path)
    EmailOptions(host="smtp.example.org", sender=SENDER, port=465, implicit_tls=True, username="segue", password_file=path).check()


async def test_the_password_is_read_again_and_one_that_cannot_be_used_leaves_the_old_one(tmp_path: Path) -> None:
    """DPS-26: at SIGHUP, as all other secrets."""
    path, log = password_file(tmp_path, "an old one"), RecordingLog()
    async with ScriptedSmtp(password=PASSWORD) as server:
        async with mailer_to(server.port, log, username="segue", password_file=path, starttls="never") as mailer:
            assert (await mailer.send(mail(), ALICE)).state is OutcomeState.RETRY
            assert mailer.on_hang_up is not None
            password_file(tmp_path)
            mailer.on_hang_up()
            password_file(tmp_path, "", mode=0o600)
            mailer.on_hang_up()
            assert (await mailer.send(mail(), ALICE)).state is OutcomeState.DELIVERED
    async with ScriptedSmtp() as server, mailer_to(server.port) as mailer:
        assert mailer.on_hang_up is None
