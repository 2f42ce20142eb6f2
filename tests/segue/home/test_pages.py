"""The first page and the mailbox in a real browser, at a real `segue up --mail`."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urldefrag

import pytest

import segue
from infra.runtime.tokens import read_secret
from segue.cluster.tokens import service_token, user_token
from segue.sdk.settings import NotificationPreferences
from tests.support.axe import judge
from tests.support.browser import Browser, find_browser
from tests.support.node import built

DEADLINE_S: Final = 100.0
ALBUM: Final = ("hm://notifications/feed/bjork%new-album/", "album", {"artist_name": "Björk", "album": "<script>Post"})
MOTION: Final = {"name": "prefers-reduced-motion", "value": "reduce"}
CONNECTED: Final = "document.getElementById('page').dataset.phase === 'connected'"


@asynccontextmanager
async def up(folder: Path) -> AsyncIterator[tuple[dict[str, Any], asyncio.subprocess.Process]]:
    """Yields the addresses and the process of a site of its own."""
    command = ("-m", "segue", "up", "--mail", "--json", "--port-base", "0", "--state", str(folder))
    site = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE, start_new_session=True)
    try:
        assert site.stdout is not None
        yield json.loads(await site.stdout.readline()), site
    finally:
        if site.returncode is None:
            site.terminate()
        await site.wait()


def rows(list_id: str, count: int) -> str:
    return f"document.querySelectorAll('#{list_id} li').length === {count}"


def click(selector: str) -> str:
    return f"document.querySelector({selector!r}).click()"


@pytest.mark.e2e
async def test_the_first_minute(tmp_path: Path) -> None:
    """SB-26, SB-50: log in, follow, hear, play, be told; come back, and find out that nobody answers."""
    async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as browser, up(tmp_path) as (addresses, site):
        assert next(iter(addresses)) == "page"
        await browser.open(addresses["page"])
        await browser.within("!document.getElementById('login').hidden")
        assert await browser.value("location.hash") == ""
        await browser.value(click("[value=alice]"))
        await browser.within(f"{CONNECTED} && document.getElementById('quiet').textContent.startsWith('You follow nobody yet')")
        await browser.value(click("#follow button"))
        await browser.within("document.getElementById('quiet').textContent.startsWith('bob does not follow you back yet')")
        token = user_token(read_secret(tmp_path / "secret.key"), "bob")
        async with segue.Client(addresses["clients"][0], token) as bob, segue.Social(addresses["social"], token) as social:
            await bob.act("play", artist="Portishead", track="Roads")
            await social.follow("alice")
            # It asks what was played before: nobody looks at an empty page.
            await browser.within(f"{rows('feed', 1)} && document.querySelector('#feed .what').textContent === 'bob plays PortisheadRoads'")
            await bob.act("favourite", artist="<img src=x onerror=alert(1)>")
            await browser.within(f"{rows('feed', 2)} && document.getElementById('unread').textContent === '1'")  # bob follows alice
        async with segue.PlaylistClient(addresses["playlist"], token) as playlists:
            await playlists.create("Mix", id="mix")
        await browser.within(f"{rows('feed', 3)} && document.querySelector('#feed .what').textContent === 'bob changed the playlist mix'")
        await browser.value(click("#play .main"))
        # The bell has the playlist, too: what comes of one change by two ways comes in either order.
        await browser.within(f"{rows('feed', 4)} && document.getElementById('unread').textContent === '2'")
        notification = addresses["notification"][0].partition("/v1/")[0]
        async with segue.Notifier(notification, service_token(read_secret(tmp_path / "secret.key"), "artist")) as notifier:
            await notifier.notify(ALBUM[0], "album", {"artist": "a1", "name": "Björk", "title": "Fossora"}, ["alice"])
        await browser.within("document.querySelector('#notices .what')?.textContent === 'Björk has a new albumFossora'")
        await browser.value(click("#release button"))
        await browser.within("document.getElementById('unread').textContent === '4'")
        await browser.value(click("#bell"))
        await browser.within(f"document.getElementById('unread').textContent === '' && {rows('notices', 4)}")
        await browser.open(urldefrag(addresses["page"])[0])
        await browser.within(f"{CONNECTED} && {rows('feed', 2)}")  # the last one of each
        assert await browser.value("document.getElementById('state').textContent") == "alice, live"
        assert browser.problems == []
        site.terminate()
        await browser.within("document.getElementById('notice').textContent.includes('Nobody answers at http://127.0.0.1:')")


@pytest.mark.e2e
async def test_mails_are_shown_and_do_nothing(tmp_path: Path) -> None:
    """SB-41: whoever is away and has an address is mailed; the mail is a stranger's markup."""
    async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as browser, up(tmp_path) as (addresses, _):
        secret, notification = read_secret(tmp_path / "secret.key"), addresses["notification"][0].partition("/v1/")[0]
        async with segue.SettingsClient(notification, user_token(secret, "bob")) as settings:
            await settings.set_preferences(NotificationPreferences(email="bob@example.org"))
        async with segue.Notifier(notification, service_token(secret, "artist")) as notifier:
            await notifier.notify(*ALBUM, ["bob"])
        page = urldefrag(addresses["page"])[0]
        await browser.open(f"{page}mailbox")
        await browser.within("document.getElementById('notice').textContent.startsWith('This page needs the whole address')")
        await browser.open(addresses["page"])
        await browser.within("!document.getElementById('login').hidden")
        await browser.open(f"{page}mailbox")
        await browser.within(rows("list", 1))
        await browser.value(click("#list button"))
        await browser.within("document.querySelector('#letter iframe') !== null")
        assert await browser.value("document.querySelector('#letter iframe').getAttribute('sandbox')") == ""
        assert await browser.value("document.getElementById('subject').textContent") == "New album by Björk: <script>Post"
        await browser.value("document.querySelectorAll('.tabs button')[2].click()")
        assert "List-Unsubscribe" in await browser.value("document.querySelector('#shown pre').textContent")
        assert browser.problems == []


@pytest.mark.e2e
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nobody_is_kept_out(tmp_path: Path, scheme: str) -> None:
    """axe-core finds nothing that a screen reader, a keyboard or weak eyes stumble over."""
    built()
    async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as browser, up(tmp_path) as (addresses, _):
        await browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}, MOTION])
        await browser.open(addresses["page"])
        await browser.within("!document.getElementById('login').hidden")
        await judge(browser)
        await browser.value(click("[value=alice]"))
        await browser.within(CONNECTED)
        for step in ("#play .main", "#follow button", "#release button"):
            await browser.value(click(step))
        await browser.within(f"document.getElementById('unread').textContent === '1' && {rows('feed', 1)} && {rows('friends', 1)}")
        await judge(browser)
        await browser.value(click("#bell"))
        await browser.within(rows("notices", 1))
        await judge(browser)
