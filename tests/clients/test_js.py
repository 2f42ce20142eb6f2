"""The package in `clients/js`: its own tests, what it weighs, what it stands on, and that it works with a real site."""

import asyncio
import gzip
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from infra.runtime.tokens import read_secret
from segue.cluster.tokens import user_token
from tests.clients.conformance.drivers import FailedCallError, NodeDriver
from tests.support.node import PACKAGE, built, run

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


@pytest.mark.e2e
async def test_friends_hear_of_each_other_at_a_real_site(site: dict[str, Any], site_folder: Path) -> None:
    """SB-26, SB-60: two clients of the package at `segue up`, the one follows what the other does."""
    secret = read_secret(site_folder / "secret.key")
    async with NodeDriver() as alice, NodeDriver() as bob, asyncio.timeout(DEADLINE_S):
        for driver, user in ((alice, "alice"), (bob, "bob")):
            await driver.call("connect", {"urls": site["clients"], "tokens": [user_token(secret, user)], "user": user})
        while (await alice.call("subscribe", {"topics": [BOB], "wait": "all"}))["installed"] != "all":
            pass  # on a busy machine it takes longer than the access point waits
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
            await driver.call("settled", {})
        for driver in (one, other):
            while await driver.told["tracks"].get() != ["t2", "t1", "t3"]:
                pass  # its own edit shows first
        what = {"part": "playlists", "method": "get", "args": ["fay", "both"]}
        assert (await one.call("api", {"urls": urls, "token": token, **what}))["tracks"] == ["t2", "t1", "t3"]
        await one.call("close_playlist", {})
        await one.call("settled", {})  # nothing is waited for that will never be made


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
