"""Both SDKs at a real site: each call of a user's API does there what its name says."""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import pytest

from infra.runtime.tokens import read_secret
from segue.cluster.tokens import user_token
from tests.clients.conformance.drivers import FailedCallError, NodeDriver, PythonDriver
from tests.clients.conformance.runner import SCENARIOS
from tests.support.eventually import eventually
from tests.support.webhook_receiver import WebhookReceiver, is_signed

DEADLINE_S: Final = 60.0
PUSH: Final = "https://push.example.org/one"
# A public key and a secret, as a browser makes them.
KEYS: Final = {
    "p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
    "auth": "tBHItJI5svbpez7KI4CCXg",
}
DRIVERS: Final[dict[str, type[PythonDriver] | type[NodeDriver]]] = {"python": PythonDriver, "typescript": NodeDriver}


class Asker:
    """A driver that asks the services of a real site as any user. `asked` are the calls that it has made; users are those of `who`."""

    def __init__(self, driver: PythonDriver | NodeDriver, site: dict[str, Any], folder: Path, who: str) -> None:
        kinds = {"artists": "artist", "playlists": "playlist", "settings": "notification", "social": "social"}
        self._urls = {
            name: (site[kind] if isinstance(site[kind], str) else site[kind][0]).partition("/v1")[0] for name, kind in kinds.items()
        }
        self._driver, self._site, self._secret, self._who = driver, site, read_secret(folder / "secret.key"), who
        self.asked: set[str] = set()

    def name(self, user: str) -> str:
        """Returns the name of `user`, of whom each SDK has one of its own."""
        return f"{user}-{self._who}"

    def token(self, user: str) -> str:
        """Returns the token of `user`."""
        return user_token(self._secret, self.name(user))

    async def __call__(self, user: str, call: str, *args: Any, **named: Any) -> Any:
        self.asked.add(call)
        part, _, method = call.partition(".")
        what = {"part": part, "method": method, "args": args} | ({"named": named} if named else {})
        return await self._driver.call("api", {"urls": self._urls, "token": self.token(user), **what})

    async def connect(self, user: str) -> None:
        """Has the driver's client connect as `user`."""
        await self._driver.call(
            "connect", {"urls": self._site["clients"], "tokens": [self.token(user)], "backoff": {"base_ms": 10, "cap_ms": 50}}
        )

    async def bell(self) -> list[Any]:
        """Returns what is in the bell of whoever is connected."""
        try:
            return list((await self._driver.call("list_notifications", {}))["items"])
        except FailedCallError as failed:
            if failed.code != "unavailable":
                raise
            return []


@pytest.mark.e2e
@pytest.mark.parametrize("who", DRIVERS)
async def test_each_call_of_the_api_does_at_a_real_site_what_its_name_says(site: dict[str, Any], site_folder: Path, who: str) -> None:
    """SB-4, SB-6, SB-7, SB-32, SB-43"""
    async with DRIVERS[who]() as driver, WebhookReceiver() as receiver, asyncio.timeout(DEADLINE_S):
        ask = Asker(driver, site, site_folder, who)
        await make_playlists(ask)
        await know_people(ask)
        await say_who_sees_what(ask)
        await follow_artists(ask)
        await set_preferences(ask)
        await post_to_webhooks(ask, receiver)
        await tell_why(ask)
        assert ask.asked == {each["call"] for each in SCENARIOS["requests"]}


async def make_playlists(ask: Asker) -> None:
    ann, bob = ask.name("ann"), ask.name("bob")
    mix = await ask("ann", "playlists.create", "Mix", id="mix", tracks=["t1", "t2"])
    assert (mix["owner"], mix["version"], mix["tracks"]) == (ann, 1, ["t1", "t2"])
    assert await ask("ann", "playlists.add", ann, "mix", ["t3"]) == 2
    assert await ask("ann", "playlists.reorder", ann, "mix", 2, 0, version=2) == 3
    assert (await ask("bob", "playlists.get", ann, "mix"))["tracks"] == ["t3", "t1", "t2"]
    await ask("bob", "playlists.follow", ann, "mix")
    assert await ask("ann", "playlists.followers", ann, "mix") == [bob]
    assert [each["id"] for each in await ask("bob", "playlists.followed_by", bob)] == ["mix"]
    with pytest.raises(FailedCallError, match="conflict"):
        await ask("ann", "playlists.remove", ann, "mix", 0, version=1)
    assert await ask("ann", "playlists.remove", ann, "mix", 1, count=2, version=3) == 4
    with pytest.raises(FailedCallError, match="forbidden"):
        await ask("bob", "playlists.rename", ann, "mix", "Mine")
    assert await ask("ann", "playlists.rename", ann, "mix", "Ours") == 5
    assert await ask("ann", "playlists.set_collaborative", ann, "mix", True) == 6
    assert await ask("bob", "playlists.change", ann, "mix", {"op": "add", "tracks": ["b1"]}, version=6, edit="e1") == 7
    (owned,) = await ask("ann", "playlists.owned_by", ann)
    assert (owned["name"], owned["tracks"], owned["collaborative"]) == ("Ours", 2, True)
    await ask("bob", "playlists.unfollow", ann, "mix")
    assert await ask("ann", "playlists.followers", ann, "mix") == []


async def know_people(ask: Asker) -> None:
    ann, bob = ask.name("ann"), ask.name("bob")
    assert await ask("ann", "social.follow", bob) is False
    assert await ask("bob", "social.follow", ann) is True
    assert await ask("ann", "social.friends") == [{"user": bob, "mutual": True}]
    await ask("bob", "social.unfollow", ann)
    assert await ask("bob", "social.followers") == [{"user": ann, "mutual": False}]
    assert await ask("ann", "social.link", "address-book", ["bob@example.org", "ann@example.org"], me="ann@example.org") == 1
    assert [(each["provider"], each["contacts"]) for each in await ask("ann", "social.links")] == [("address-book", 1)]
    await ask("ann", "social.unlink", "address-book")
    assert await ask("ann", "social.links") == []
    assert await ask("ann", "social.wall") is False
    assert await ask("ann", "social.set_wall", True) is await ask("ann", "social.wall") is True
    await ask("ann", "social.block", bob)
    assert (await ask("ann", "social.blocks"), await ask("ann", "social.friends")) == ([bob], [])
    await ask("ann", "social.unblock", bob)
    assert await ask("ann", "social.blocks") == []


async def say_who_sees_what(ask: Asker) -> None:
    assert (await ask("ann", "social.set_listening", "friends"))["listening"] == "friends"
    private = await ask("ann", "social.begin_private", "phone", 2)
    assert await ask("ann", "social.privacy") == {"listening": "friends", "private": [private]}
    await ask("ann", "social.end_private", "phone")
    assert (await ask("ann", "social.privacy"))["private"] == []
    assert (await ask("ann", "social.set_playlist", "mix", "private"))["visibility"] == "private"
    assert (await ask("ann", "social.set_editor", "mix", ask.name("bob")))["editors"] == [ask.name("bob")]
    assert (await ask("ann", "social.set_editor", "mix", ask.name("bob"), wanted=False))["editors"] == []
    assert await ask("ann", "social.playlist", "mix") == {"playlist": "mix", "visibility": "private", "editors": []}
    await ask("ann", "playlists.delete", ask.name("ann"), "mix")
    with pytest.raises(FailedCallError, match="not-found"):
        await ask("ann", "playlists.get", ask.name("ann"), "mix")


async def follow_artists(ask: Asker) -> None:
    types = await ask("ann", "artists.follow", "bjork")
    assert "new-album" in types
    assert sorted((each["artist"], each["type"]) for each in await ask("ann", "artists.followed")) == sorted(
        ("bjork", each) for each in types
    )
    await ask("ann", "artists.unfollow", "bjork")
    assert await ask("ann", "artists.followed") == []


async def set_preferences(ask: Asker) -> None:
    held = await ask("ann", "settings.preferences")
    assert (held["muted"], held["tz"]) == ([], "UTC")
    wanted: dict[str, Any] = {
        "email": None,
        "channels": {"new-album": {"push": False}},
        "muted": ["artist:bjork"],
        "tz": "Europe/Stockholm",
    }
    wanted |= {"quiet": {"from": "22:00", "to": "07:00"}, "digest": "weekly", "digest_at": "09:00", "digest_day": "friday"}
    await ask("ann", "settings.set_preferences", wanted)
    held = await ask("ann", "settings.preferences")
    assert {name: held[name] for name in wanted if name != "quiet"} == {name: each for name, each in wanted.items() if name != "quiet"}
    assert sorted(held["quiet"].values()) == ["07:00", "22:00"]
    with pytest.raises(FailedCallError, match="not-found"):  # a site of `segue up` sends no pushes
        await ask("ann", "settings.push_key")
    assert (await ask("ann", "settings.add_device", PUSH, KEYS))["endpoint"] == PUSH
    assert [each["endpoint"] for each in await ask("ann", "settings.devices")] == [PUSH]
    await ask("ann", "settings.remove_device", PUSH)
    assert await ask("ann", "settings.devices") == []


async def post_to_webhooks(ask: Asker, receiver: WebhookReceiver) -> None:
    made = await ask("ann", "settings.add_webhook", receiver.url)
    assert [(each["id"], each["url"]) for each in await ask("ann", "settings.webhooks")] == [(made["id"], receiver.url)]
    renewed = await ask("ann", "settings.rotate_webhook", made["id"])
    assert renewed["secret"] != made["secret"]
    assert (await ask("ann", "settings.test_webhook", made["id"]))["state"] == "delivered"
    [(headers, body)] = receiver.messages
    assert all(is_signed(each["secret"], headers, body) for each in (made, renewed))
    assert json.loads(body)["type"] == "test"
    await ask("ann", "settings.remove_webhook", made["id"])
    assert await ask("ann", "settings.webhooks") == []
    with pytest.raises(FailedCallError, match="not-found"):
        await ask("ann", "settings.test_webhook", made["id"])
    with pytest.raises(FailedCallError, match="bad-field"):
        await ask("ann", "settings.add_webhook", "http://10.0.0.1/")


async def tell_why(ask: Asker) -> None:
    """Asks, for the one who is followed, why they were told."""
    await ask.connect("cyd")
    await ask("dan", "social.follow", ask.name("cyd"))
    (item,) = await eventually(ask.bell, "nobody tells cyd that dan follows them")
    why = await ask("cyd", "settings.why", item["id"])
    assert (why["event"], why["mark"], why["topic"]) == (item["id"], item["mark"], item["topic"])
    assert "in-client" in why["types"]
    with pytest.raises(FailedCallError, match="not-found"):
        await ask("dan", "settings.why", item["id"])
