"""examples/minimal/index.html and the page of docs/browser.md in a real browser, at a real site: a feed and a bell, from two elements."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from aiohttp import web

from infra.runtime.tokens import read_secret
from segue.cluster.tokens import user_token
from segue.demo.loopback import Loopback
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


def of_the_docs(clients: str, notification: str, token: str) -> str:
    """Returns the page of docs/browser.md with these addresses and this token."""
    found: list[str] = re.findall(r"```html\n(.*?)```", (ROOT / "docs" / "browser.md").read_text(encoding="utf-8"), re.DOTALL)
    (page,) = found
    for said, meant in (("ws://127.0.0.1:7700", clients), ("http://127.0.0.1:7720", notification), ('token="..."', f'token="{token}"')):
        assert said in page
        page = page.replace(said, meant)
    return page


@pytest.mark.e2e
@pytest.mark.parametrize("is_of_docs", [False, True], ids=["minimal", "docs"])
async def test_a_friend_plays_and_an_album_comes_out(tmp_path: Path, is_of_docs: bool) -> None:
    """SB-26: seen in a page of another origin on this machine, as the pages say it, line by line.

    On the page of the example bob is refused at first. When they have become friends, bob is heard, and nobody loads the page again.
    """
    page = ""

    async def shown(_: web.Request) -> web.Response:
        return web.Response(text=page, content_type="text/html")

    folders = {"/segue": built(), "/examples": ROOT / "examples", "/clients": ROOT / "clients"}
    server = Loopback(web.get("/", shown), *(web.static(place, folder) for place, folder in folders.items()))
    up = ("-m", "segue", "up", "--json", "--port-base", "0", "--state", str(tmp_path))
    site = await asyncio.create_subprocess_exec(sys.executable, *up, stdout=asyncio.subprocess.PIPE, start_new_session=True)
    try:
        assert site.stdout is not None
        async with asyncio.timeout(DEADLINE_S), server, Browser(find_browser()) as browser:
            addresses = json.loads(await site.stdout.readline())
            clients, notification, social = (first(addresses[kind]) for kind in ("clients", "notification", "social"))
            token = user_token(read_secret(tmp_path / "secret.key"), "alice")
            if is_of_docs:
                await segue("privacy", "listening", "everyone", "--user", "bob", "--url", social, state=tmp_path)
            page, here = of_the_docs(clients, notification, token), f"http://{server.address}"
            minimal = f"{here}/examples/minimal/index.html?{urlencode({'friends': 'bob', 'url': clients})}#token={token}"
            await browser.open(f"{here}/" if is_of_docs else minimal)
            await browser.until("document.querySelector('segue-feed').getAttribute('phase') === 'connected'")
            if not is_of_docs:
                await browser.within(f"{FEED}.getElementById('refused').childElementCount === 1")
                for user, friend in (("alice", "bob"), ("bob", "alice")):
                    await segue("friends", "add", friend, "--user", user, "--url", social, state=tmp_path)
                await browser.within(f"{FEED}.getElementById('refused').childElementCount === 0")
                await browser.within(f"{BELL}.getElementById('badge').textContent === '1'")  # that bob follows, before the album
            await segue("act", "play", "artist=Björk", "track=Jóga", "--user", "bob", "--url", clients, state=tmp_path)
            await browser.within(f"{FEED}.querySelector('li .what')?.textContent === 'bob playsJóga · Björk'")
            album = ("hm://notifications/feed/bjork%new-album/", "--kind", "album", "--payload", '{"artist": "Björk", "album": "Post"}')
            await segue("notify", *album, "--to", "alice", "--url", notification, state=tmp_path)
            told = ["Björk has a new albumPost", *([] if is_of_docs else ["bob follows you now"])]
            await browser.within(f"{BELL}.getElementById('badge').textContent === '{len(told)}'")
            rows = f"[...{BELL}.querySelectorAll('li .what')].map((row) => row.textContent)"
            assert await browser.value(rows) == told
            if is_of_docs:
                await browser.within("document.querySelector('segue-preferences').shadowRoot.querySelector('table')")
            assert [each for each in browser.problems if "404" not in each] == []  # the page of the docs has no icon
    finally:
        site.terminate()
        await site.wait()


def first(found: str | list[str]) -> str:
    """Returns the first address of a kind, without its path."""
    return (found if isinstance(found, str) else found[0]).partition("/v1")[0]
