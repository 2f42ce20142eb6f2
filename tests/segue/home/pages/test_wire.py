"""The connection of the first page, in a real browser, against a server that plays a script."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import web

from segue.demo.loopback import Loopback
from tests.support.browser import Browser, find_browser
from tests.support.scripted_server import ScriptedServer, error

PAGES: Final = Path(__file__).resolve().parents[4] / "segue" / "home" / "pages"
PAGE: Final = """<!doctype html><title>Wire</title><link rel="icon" href="data:,"><script type="module">
import {{ Wire }} from "/pages/wire.js";
const heard = (name) => (...told) => {{ document.title += ` ${{name}}:${{told[0]}}`; window.why = told[1]; }};
const on = {{ state: heard("state"), welcome() {{}}, event() {{}}, ended() {{}}, pulled() {{}} }};
new Wire({url}, async () => "secret", on).open();
</script>"""


@asynccontextmanager
async def page(url: str) -> AsyncIterator[str]:
    """Yields the address of a page with a connection to `url`, whose title has the states that it has been told."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=PAGE.format(url=json.dumps(url)), content_type="text/html")

    async with Loopback(web.get("/", answer), web.static("/pages", PAGES)) as server:
        yield f"http://{server.address}/"


async def test_a_final_error_ends_it_at_once_whatever_becomes_of_the_close_behind_it() -> None:
    async with ScriptedServer() as server, Browser(find_browser()) as browser, page(server.url) as url:
        await browser.open(url)
        peer = await server.next_peer()
        await browser.within("document.title.endsWith('state:connected')")
        await peer.send(error("token-revoked", 4205, reason="an operator has taken this token back"))
        await browser.within("document.title.endsWith('state:failed')")
        assert await browser.value("window.why") == "token-revoked: an operator has taken this token back"
        await peer.gone()


async def test_a_lost_connection_comes_back_by_itself() -> None:
    async with ScriptedServer() as server, Browser(find_browser()) as browser, page(server.url) as url:
        await browser.open(url)
        peer = await server.next_peer()
        await browser.within("document.title.endsWith('state:connected')")
        await peer.send(error("unavailable", 4300))
        peer.drop()
        await server.next_peer()
        await browser.within("document.title.endsWith('state:waiting state:connecting state:connected')")
