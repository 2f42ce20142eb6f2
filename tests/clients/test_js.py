"""The package in `clients/js`: its own tests, what it weighs, what it stands on, and that it works with a real site."""

import asyncio
import gzip
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from infra.runtime.tokens import read_secret
from segue.cluster.tokens import user_token
from tests.clients.conformance.drivers import FailedCallError, NodeDriver
from tests.support.node import PACKAGE, built, run
from tests.support.webhook_receiver import WebhookReceiver, is_signed

BOB: Final = "hm://presence/user/bob/"
MAX_GZIPPED_BYTES: Final = 12 * 1024
DEADLINE_S: Final = 60.0
# What a pure file does not touch: clocks, chance, sockets, the page.
OUTSIDE: Final = re.compile(
    r"setTimeout|setInterval|performance\.|Math\.random|WebSocket|fetch\(|localStorage|Date\.now|globalThis|document\.|console\."
)


def test_its_own_tests_pass() -> None:
    built()
    said = run("node", "--test", "dist/test/")
    counted = {name: int(number) for name, number in re.findall(r"^# (tests|pass|fail|skipped) (\d+)$", said, re.MULTILINE)}
    assert counted["tests"] == counted["pass"] > 0


def test_the_client_is_small() -> None:
    found, left = set[str](), {"segue.js"}
    while left - found:
        name = (left - found).pop()
        found.add(name)
        left |= set(re.findall(r'from"\./([\w.-]+)"', (built() / name).read_text(encoding="utf-8")))
    assert len(found) > 1
    assert sum(len(gzip.compress((built() / name).read_bytes(), 9)) for name in found) <= MAX_GZIPPED_BYTES


def test_it_needs_nothing_at_run_time_and_everything_else_is_pinned() -> None:
    package = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
    assert {"dependencies", "peerDependencies", "optionalDependencies"}.isdisjoint(package)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())


def test_the_lock_names_no_address() -> None:
    lock = json.loads((PACKAGE / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, each in lock["packages"].items() if "resolved" in each] == []
    assert "://" not in json.dumps(lock)


def test_a_file_that_calls_itself_pure_is() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in (PACKAGE / "src").rglob("*.ts")}
    pure = {name for name, text in files.items() if re.search(r"\bPure\b", text.partition("*/")[0])}
    assert {"cursors.ts", "recoverer.ts", "reconnect.ts", "messages.ts"} <= pure
    assert {name for name in pure if OUTSIDE.search(re.sub(r"/\*.*?\*/", "", files[name], flags=re.DOTALL))} == set()
    for name in sorted(pure - {"topics.ts"}):
        imported = re.findall(r'^import (?!type).*?from "\./(\w+)\.js"', files[name], re.MULTILINE | re.DOTALL)
        assert {f"{each}.ts" for each in imported} <= pure | {"codes.ts", "errors.ts"}, name


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


@pytest.fixture
async def site(site_folder: Path) -> AsyncIterator[dict[str, Any]]:
    """The addresses of a `segue up` of its own, on ports of its own."""
    command = ("-m", "segue", "up", "--policy", "open", "--json", "--port-base", "0", "--private", "127.0.0.1", "--state", str(site_folder))
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(DEADLINE_S):
            yield json.loads(await process.stdout.readline())
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.e2e
async def test_friends_hear_of_each_other_at_a_real_site(site: dict[str, Any], site_folder: Path) -> None:
    """SB-26, SB-60: two clients of the package at `segue up`, the one follows what the other does."""
    secret = read_secret(site_folder / "secret.key")
    async with NodeDriver() as alice, NodeDriver() as bob, asyncio.timeout(DEADLINE_S):
        for driver, user in ((alice, "alice"), (bob, "bob")):
            await driver.call("connect", {"urls": site["clients"], "tokens": [user_token(secret, user)], "user": user})
        assert (await alice.call("subscribe", {"topics": [BOB], "wait": "all"}))["installed"] == "all"
        while not await acted(bob):
            pass  # an access point that started before presence looks for it again within two seconds
        event = await alice.told["event"].get()
        assert (event["topic"], event["kind"], event["payload"], event["gap"]) == (BOB, "play", {"artist": "Björk"}, 0)
        assert [each["id"] for each in await alice.call("last", {"topics": [BOB]})] == [event["id"]]


@pytest.mark.e2e
async def test_a_friend_gained_and_dropped_elsewhere_is_heard_or_not_at_a_real_site(site: dict[str, Any], site_folder: Path) -> None:
    """SB-4, SB-6: a client follows all friends with one call, and what changes comes to it without another one."""
    secret, carol = read_secret(site_folder / "secret.key"), "hm://presence/user/carol/"
    where = {"urls": {"social": kind_url(site["social"])}, "token": user_token(secret, "dave"), "part": "social"}
    async with NodeDriver() as driver, asyncio.timeout(DEADLINE_S):
        await driver.call("connect", {"urls": site["clients"], "tokens": [user_token(secret, "dave")], "user": "dave"})
        await driver.call("follow", {"whom": "friends"})
        await driver.call("api", {**where, "method": "follow", "args": ["carol"]})
        while carol not in (await driver.told["friends"].get())["topics"]:
            pass  # who follows nobody may be told so first
        assert carol in await driver.call("topics", {})
        await driver.call("api", {**where, "method": "unfollow", "args": ["carol"]})
        while carol not in (await driver.told["friends"].get())["left"]:
            pass
        assert carol not in await driver.call("topics", {})


@pytest.mark.e2e
async def test_two_devices_keep_one_playlist_of_a_real_site(site: dict[str, Any], site_folder: Path) -> None:
    """SB-33: what one of them edits shows on both, in the same order."""
    secret = read_secret(site_folder / "secret.key")
    urls, token = {"playlists": kind_url(site["playlist"])}, user_token(secret, "fay")
    async with NodeDriver() as one, NodeDriver() as other, asyncio.timeout(DEADLINE_S):
        what = {"part": "playlists", "method": "create", "args": ["Both", {"id": "both", "tracks": ["t1", "t2"]}]}
        await one.call("api", {"urls": urls, "token": token, **what})
        for driver in (one, other):
            await driver.call("connect", {"urls": site["clients"], "tokens": [token], "user": "fay"})
            held = {"urls": urls, "token": token, "owner": "fay", "id": "both"}
            assert await driver.call("open_playlist", held) == ["t1", "t2"]
        await one.call("edit_playlist", {"method": "add", "args": [["t3"]]})
        await other.call("edit_playlist", {"method": "reorder", "args": [1, 0]})
        for driver in (one, other):
            while await driver.told["tracks"].get() != ["t2", "t1", "t3"]:
                pass  # its own edit shows first


@pytest.mark.e2e
async def test_services_of_a_real_site_do_what_the_api_asks(site: dict[str, Any], site_folder: Path) -> None:
    secret = read_secret(site_folder / "secret.key")
    kinds = {"artists": "artist", "playlists": "playlist", "settings": "notification", "social": "social"}
    urls = {name: kind_url(site[kind]) for name, kind in kinds.items()}
    async with NodeDriver() as driver, asyncio.timeout(DEADLINE_S):

        async def ask(user: str, part: str, method: str, *args: Any) -> Any:
            what = {"part": part, "method": method, "args": args}
            return await driver.call("api", {"urls": urls, "token": user_token(secret, user), **what})

        mix = await ask("ann", "playlists", "create", "Mix", {"id": "mix", "tracks": ["t1", "t2"]})
        assert (mix["owner"], mix["version"], mix["tracks"]) == ("ann", 1, ["t1", "t2"])
        assert await ask("ann", "playlists", "add", "ann", "mix", ["t3"]) == 2
        assert await ask("ann", "playlists", "reorder", "ann", "mix", 2, 0, {"version": 2}) == 3
        assert (await ask("bob", "playlists", "get", "ann", "mix"))["tracks"] == ["t3", "t1", "t2"]
        await ask("bob", "playlists", "follow", "ann", "mix")
        assert await ask("ann", "playlists", "followers", "ann", "mix") == ["bob"]
        assert [each["id"] for each in await ask("bob", "playlists", "followedBy", "bob")] == ["mix"]
        with pytest.raises(FailedCallError, match="conflict"):
            await ask("ann", "playlists", "remove", "ann", "mix", 0, {"version": 1})
        assert await ask("ann", "social", "follow", "bob") is False
        assert await ask("ann", "social", "friends") == [{"user": "bob", "mutual": False}]
        assert [each["user"] for each in await ask("bob", "social", "followers")] == ["ann"]
        assert (await ask("ann", "social", "setListening", "friends"))["listening"] == "friends"
        assert "new-album" in await ask("ann", "artists", "follow", "bjork")
        assert {each["artist"] for each in await ask("ann", "artists", "followed")} == {"bjork"}
        held = await ask("ann", "settings", "preferences")
        changed = {"email": held["email"], "channels": {}, "muted": ["artist:bjork"], "tz": "Europe/Stockholm", "quiet": None}
        changed |= {"digest": "daily", "digestAt": "09:00", "digestDay": "monday"}
        await ask("ann", "settings", "setPreferences", changed)
        assert (await ask("ann", "settings", "preferences"))["digest_at"] == "09:00"
        with pytest.raises(FailedCallError, match="not-found"):
            await ask("ann", "settings", "why", "nothing")


@pytest.mark.e2e
async def test_notifications_are_posted_to_a_webhook_that_the_api_has_made(site: dict[str, Any], site_folder: Path) -> None:
    """The client names an endpoint, has it tested, gives it another secret, and removes it."""
    where = {"urls": {"settings": kind_url(site["notification"])}, "token": user_token(read_secret(site_folder / "secret.key"), "ann")}
    async with WebhookReceiver() as receiver, NodeDriver() as driver, asyncio.timeout(DEADLINE_S):

        async def ask(method: str, *args: Any) -> Any:
            return await driver.call("api", {**where, "part": "settings", "method": method, "args": args})

        made = await ask("addWebhook", receiver.url)
        assert [(each["id"], each["url"]) for each in await ask("webhooks")] == [(made["id"], receiver.url)]
        renewed = await ask("rotateWebhook", made["id"])
        assert renewed["secret"] != made["secret"]
        assert (await ask("testWebhook", made["id"]))["state"] == "delivered"
        [(headers, body)] = receiver.messages
        assert all(is_signed(each["secret"], headers, body) for each in (made, renewed))
        assert json.loads(body)["type"] == "test"
        await ask("removeWebhook", made["id"])
        assert await ask("webhooks") == []
        with pytest.raises(FailedCallError, match="not-found"):
            await ask("testWebhook", made["id"])
        with pytest.raises(FailedCallError, match="bad-field"):
            await ask("addWebhook", "http://10.0.0.1/")


def kind_url(found: str | list[str]) -> str:
    """Returns the first address of a kind, without its path."""
    return (found if isinstance(found, str) else found[0]).partition("/v1")[0]


async def acted(driver: NodeDriver) -> bool:
    try:
        await driver.call("act", {"kind": "play", "fields": {"artist": "Björk"}})
    except FailedCallError as failed:
        if failed.code != "unavailable":
            raise
        return False
    return True
