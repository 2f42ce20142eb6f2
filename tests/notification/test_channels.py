"""notification.channels: from notifications to one mail or one push, and an outcome for those that make none (SB-42, SB-44)."""

import contextlib
import random
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import msgspec
import pytest

from infra.runtime.context import Context
from infra.runtime.wire.memory import MemoryNetwork
from notification import unsubscribe
from notification.channels import Mail, Push
from notification.email import EmailOptions
from notification.letter import Line, stable_message_id
from notification.outcome import OutcomeState
from notification.push import Pusher, PushOptions, collapse_key, push_payload
from notification.store import Device
from notification.vapid import Vapid
from tests.support.push_receiver import PushReceiver
from tests.support.recording_log import RecordingLog
from tests.support.smtp import ScriptedSmtp

ALICE, SENDER = "alice@example.org", "Segue <notify@example.org>"
SECRET = b"s" * 32
NOW_S = 1_795_000_000.0
PUBLIC = "https://segue.example.org"


def line(id_: str = "e1", *, cls: str = "new-album", **more: Any) -> Line:
    fields: dict[str, Any] = {
        "topic": "hm://notifications/feed/bjork%new-album/",
        "kind": "new-album",
        "ts_ms": int(NOW_S * 1000),
        "payload": {"artist_name": "Björk", "album_name": "Vulnicura"},
    }
    return Line(id=id_, cls=cls, **(fields | more))


# Mail.


@contextlib.asynccontextmanager
async def channel_to(server: ScriptedSmtp, url: str = PUBLIC) -> AsyncIterator[Mail]:
    options = EmailOptions(host="127.0.0.1", port=server.port, sender=SENDER, timeout_s=5.0)
    context = Context(network=MemoryNetwork(), log=RecordingLog(), rng=random.Random(1), wall=lambda: NOW_S)
    mail = Mail(options, SECRET, lambda: url, context)
    yield mail
    await mail.mailer.close()


def wish_of(arrived: EmailMessage, url: str = PUBLIC) -> unsubscribe.UnsubscribeWish:
    """Returns what the unsubscribe link of a mail does."""
    link = arrived["List-Unsubscribe"].strip("<>")
    start = f"{url}/v1/unsubscribe/"
    assert link.startswith(start)
    return unsubscribe.verify(SECRET, link.removeprefix(start), NOW_S)


async def test_a_mail_is_about_all_its_lines_and_ends_mails_of_their_class() -> None:
    """SB-42, SB-44."""
    async with ScriptedSmtp() as server, channel_to(server) as mail:
        outcome = await mail.mail("alice", ALICE, [line("e1"), line("e2")], "UTC")
    assert outcome.state is OutcomeState.DELIVERED
    ((recipient, arrived),) = server.mails
    assert (recipient, arrived["From"]) == (ALICE, SENDER)
    assert arrived["Subject"] == "New album by Björk: Vulnicura (and 1 more)"
    assert arrived["Message-ID"] == stable_message_id("alice", SENDER, ["e1", "e2"])
    assert wish_of(arrived) == unsubscribe.UnsubscribeWish("alice", "new-album")


async def test_the_link_of_a_mail_about_several_classes_ends_all_mails() -> None:
    async with ScriptedSmtp() as server, channel_to(server) as mail:
        await mail.mail("alice", ALICE, [line("e1"), line("e2", cls="new-track", kind="new-track")], "UTC")
    assert wish_of(server.mails[0][1]) == unsubscribe.UnsubscribeWish("alice", unsubscribe.ALL)


async def test_a_slash_at_the_end_of_the_public_url_is_not_doubled() -> None:
    async with ScriptedSmtp() as server, channel_to(server, f"{PUBLIC}/segue/") as mail:
        await mail.mail("alice", ALICE, [line()], "UTC")
    assert wish_of(server.mails[0][1], f"{PUBLIC}/segue").user == "alice"


async def test_times_in_a_mail_are_those_of_the_reader() -> None:
    """SB-44."""
    async with ScriptedSmtp() as server, channel_to(server) as mail:
        for zone in ("UTC", "Asia/Tokyo"):
            await mail.mail("alice", ALICE, [line()], zone)
    texts = [arrived.get_body(("plain",)) for _, arrived in server.mails]
    assert [text is not None and zone in text.get_content() for text, zone in zip(texts, ("11:06 UTC", "20:06 JST"), strict=True)] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("address", "lines", "zone", "reason"),
    [
        ("no address", [line()], "UTC", "'no address' is no mail address"),
        (ALICE, [line()], "Nowhere/Atall", "Nowhere/Atall"),
        (ALICE, [line()], "../../etc/passwd", "passwd"),
        (ALICE, [line(topic="hm://presence/user/bob/", cls="presence")], "UTC", "neither stored, nor mailed, nor pushed"),
        (ALICE, [line(topic="nonsense")], "UTC", "nonsense"),
    ],
)
async def test_what_would_be_as_wrong_the_next_time_is_not_tried_again(address: str, lines: list[Line], zone: str, reason: str) -> None:
    """SB-42: one mail that cannot be written stops no other."""
    async with ScriptedSmtp() as server, channel_to(server) as mail:
        outcome = await mail.mail("alice", address, lines, zone)
        assert outcome.state is OutcomeState.FAILED
        assert reason in outcome.reason
        assert (await mail.mail("alice", ALICE, [line()], "UTC")).state is OutcomeState.DELIVERED
    assert len(server.mails) == 1


# Push.


@contextlib.asynccontextmanager
async def push_channel(folder: Path) -> AsyncIterator[Push]:
    pusher = Pusher(PushOptions(contact="mailto:ops@example.org", allow_loopback=True, timeout_s=5.0), Vapid.ensure(folder), lambda: NOW_S)
    yield Push(pusher)
    await pusher.close()


async def test_a_push_waits_three_days_for_a_device_and_replaces_itself(tmp_path: Path) -> None:
    """SB-42: the same notification twice is one at the device."""
    async with PushReceiver() as receiver, push_channel(tmp_path) as push:
        device = Device(*msgspec.structs.astuple(receiver.subscription()))
        outcome = await push.push(device, line())
    assert outcome.state is OutcomeState.DELIVERED
    (arrived,) = receiver.pushes
    assert arrived.payload == push_payload(line())
    assert (arrived.headers["TTL"], arrived.headers["Topic"]) == (str(3 * 86_400), collapse_key("e1"))


async def test_a_line_that_cannot_be_told_is_not_pushed(tmp_path: Path) -> None:
    """SB-30: presence is told live or never."""
    async with PushReceiver() as receiver, push_channel(tmp_path) as push:
        device = Device(*msgspec.structs.astuple(receiver.subscription()))
        outcome = await push.push(device, line(topic="hm://presence/user/bob/", cls="presence"))
    assert outcome.state is OutcomeState.FAILED
    assert "nor pushed" in outcome.reason
    assert receiver.requests == 0


async def test_a_device_that_is_gone_is_told_as_such(tmp_path: Path) -> None:
    async with PushReceiver() as receiver, push_channel(tmp_path) as push:
        receiver.answers.append((410, {}, ""))
        outcome = await push.push(Device(*msgspec.structs.astuple(receiver.subscription())), line())
    assert outcome.state is OutcomeState.GONE
