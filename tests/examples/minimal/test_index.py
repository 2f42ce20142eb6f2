"""examples/minimal/index.html in a real browser, at a real site: a feed and a bell, from two elements."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from aiohttp import web

from infra.runtime.tokens import read_secret
from segue.cluster.tokens import user_token
from tests.architecture.sources import ROOT
from tests.support.browser import Browser, find_browser
from tests.support.node import built

DEADLINE_S: Final = 100.0
FEED: Final = "document.querySelector('segue-feed').shadowRoot"
BELL: Final = "document.querySelector('segue-bell').shadowRoot"


async def segue(*arguments: str, state: Path) -> None:
    """Runs a command as a reader would; asks again while the site is starting."""
    while True:
        command = (sys.executable, "-m", "segue", *arguments, "--state", str(state))
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        _, words = await process.communicate()
        if process.returncode == 0:
            return
        assert b"unavailable" in words, words.decode()


@pytest.mark.e2e
async def test_a_friend_plays_and_an_album_comes_out(tmp_path: Path) -> None:
    """SB-26: seen in a page of another origin on this machine."""
    built()
    app = web.Application()
    app.router.add_static("/", ROOT)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    up = ("-m", "segue", "up", "--policy", "open", "--json", "--port-base", "0", "--state", str(tmp_path))
    site = await asyncio.create_subprocess_exec(sys.executable, *up, stdout=asyncio.subprocess.PIPE, start_new_session=True)
    try:
        assert site.stdout is not None
        async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as browser:
            addresses = json.loads(await site.stdout.readline())
            clients, notification = addresses["clients"][0], addresses["notification"]
            token = user_token(read_secret(tmp_path / "secret.key"), "alice")
            page = f"http://127.0.0.1:{runner.addresses[0][1]}/examples/minimal/index.html"
            await browser.open(f"{page}?{urlencode({'friends': 'bob', 'url': clients})}#token={token}")
            await browser.until("document.querySelector('segue-feed').getAttribute('phase') === 'connected'")
            await segue("act", "play", "artist=Björk", "track=Jóga", "--user", "bob", "--url", clients, state=tmp_path)
            await browser.within(f"{FEED}.querySelector('li .what')?.textContent === 'bob playsJóga · Björk'")
            album = ("hm://notifications/feed/bjork%new-album/", "--kind", "album", "--payload", '{"artist": "Björk", "album": "Post"}')
            url = notification if isinstance(notification, str) else notification[0]
            await segue("notify", *album, "--to", "alice", "--url", url.partition("/v1")[0], state=tmp_path)
            await browser.within(f"{BELL}.getElementById('badge').textContent === '1'")
            assert await browser.value(f"{BELL}.querySelector('li .what').textContent") == "Björk has a new albumPost"
            assert browser.problems == []
    finally:
        site.terminate()
        await site.wait()
        await runner.cleanup()
