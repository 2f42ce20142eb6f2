"""The SDK for settings of notifications, against a real notification module."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

import segue
from rule_engine.preferences import Preferences
from segue.sdk.settings import NotificationPreferences, PushDevice, QuietHours, SettingsClient
from tests.support.cluster import Cluster
from tests.support.stored import decided

ENDPOINT = "https://push.example.org/send/a?b=c&d"
KEYS = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}


@pytest.fixture
async def c(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with Cluster(sites=1, state=tmp_path) as c:
        yield c


def settings(c: Cluster, user: str) -> SettingsClient:
    """Returns a client of `user`, who asks in vain at the first address."""
    return segue.SettingsClient(["http://127.0.0.1:1", f"http://{c.of('notification')[0].address}"], lambda: c.token(user))


async def test_what_a_user_sets_is_what_holds(c: Cluster) -> None:
    """SB-43."""
    wanted = NotificationPreferences(
        email="ann@example.org",
        channels={"new-album": {"email": False}},
        muted=["artist:nickelback"],
        tz="Europe/Stockholm",
        quiet=QuietHours(since="22:00", until="07:00"),
        digest="weekly",
        digest_at="18:30",
        digest_day="friday",
    )
    async with settings(c, "ann") as ann:
        assert msgspec.json.encode(await ann.preferences()) == msgspec.json.encode(Preferences())
        assert await ann.set_preferences(wanted) == await ann.preferences() == wanted
        with pytest.raises(segue.Refused, match="bad-field"):
            await ann.set_preferences(msgspec.structs.replace(wanted, tz="Europe/Stokholm"))
        assert await ann.preferences() == wanted


def test_the_preferences_of_the_sdk_are_those_of_the_server() -> None:
    """A field that is missing here would be forgotten when they are replaced."""
    assert msgspec.json.encode(NotificationPreferences()) == msgspec.json.encode(Preferences())
    assert QuietHours.__struct_encode_fields__ == ("from", "to")


async def test_a_browser_takes_pushes_until_it_is_removed(c: Cluster) -> None:
    async with settings(c, "ann") as ann:
        assert await ann.add_device(ENDPOINT, KEYS) == PushDevice(ENDPOINT)
        assert await ann.devices() == [PushDevice(ENDPOINT)]
        await ann.remove_device(ENDPOINT)
        assert await ann.devices() == []
        with pytest.raises(segue.Refused, match=r"notification\.push is not configured"):
            await ann.push_key()


async def test_why_says_what_was_decided_for_this_user(c: Cluster) -> None:
    notice = {"id": "album-7", "topic": "hm://notifications/feed/bjork%new-album/", "kind": "album", "payload": {"a": 1}}
    status, _ = await c.notify(notice | {"followers": ["ann"]})
    assert status == 202
    await decided(c, 1)
    async with settings(c, "ann") as ann, settings(c, "bob") as bob:
        found = await ann.why("album-7")
        assert (found.event, found.topic, found.kind, found.mark) == ("album-7", notice["topic"], "album", 1)
        assert "in-client" in found.types
        assert found.reasons
        with pytest.raises(segue.Refused, match="not among those"):
            await bob.why("album-7")


async def test_an_endpoint_gets_notifications_until_it_is_removed(c: Cluster) -> None:
    """It is tested in vain: this site calls public addresses only."""
    async with settings(c, "ann") as ann:
        made = await ann.add_webhook("https://app.example.org/hook")
        assert (made.url, made.secret.startswith("whsec_")) == ("https://app.example.org/hook", True)
        assert (await ann.rotate_webhook(made.id)).secret != made.secret
        (listed,) = await ann.webhooks()
        assert (listed.id, listed.url, listed.previous_until_ms > listed.made_ms) == (made.id, made.url, True)
        with pytest.raises(segue.Refused, match="bad-field"):
            await ann.add_webhook("https://127.0.0.1/")
        with pytest.raises(segue.Refused, match="not-found"):
            await ann.test_webhook("none")
        await ann.remove_webhook(made.id)
        assert await ann.webhooks() == []
