"""`<segue-bell>` in a real browser, against a server that plays a script."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.browser import Browser
from tests.support.element_page import ElementPage
from tests.support.inbox_model import InboxModel
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = "document.querySelector('segue-bell').shadowRoot"
BADGE = f"{ROOT}.getElementById('badge').textContent"
STATUS = f"{ROOT}.querySelector('[role=status]').textContent"
ROWS = f"[...{ROOT}.querySelectorAll('li .what')].map((row) => row.textContent)"
UNREAD = f"{ROOT}.querySelectorAll('li.unread').length"
FOCUSED = f"{ROOT}.activeElement?.querySelector('.about')?.textContent"

# The numbers by which browsers know keys (UI Events, "Fixed virtual key codes").
KEYS = {"Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40}


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer(InboxModel()) as running:
        yield running


async def opened(browser: Browser, page: ElementPage, server: ScriptedServer, *, count: int) -> None:
    """Opens a page with a bell, as soon as it shows that `count` notifications are unread."""
    page.body = f"<header><segue-bell url='{server.url}' token='secret'></segue-bell></header>"
    await browser.open(page.url)
    await browser.within(
        f"customElements.get('segue-bell') && {BADGE} === '{count or ''}' && {ROOT}.querySelectorAll('li').length === {count}"
    )


async def album(server: ScriptedServer, name: str, **fields: Any) -> None:
    await server.publish(**{"kind": "album", "class": "new-album", "payload": {"artist": "Björk", "album": name}, **fields})


async def press(browser: Browser, key: str) -> None:
    what = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]} | ({"text": "\r"} if key == "Enter" else {})
    for kind in ("keyDown", "keyUp"):
        await browser.call("Input.dispatchKeyEvent", type=kind, **what)


async def test_what_is_stored_and_what_comes_live_is_shown_and_counted(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    await album(server, "Post")
    await opened(browser, page, server, count=1)
    await album(server, "Homogenic")
    await album(server, "only in the feed", rings=False)
    await browser.within(f"{BADGE} === '2'")
    assert await browser.value(ROWS) == ["Björk has a new albumHomogenic", "Björk has a new albumPost"]
    assert await browser.value(STATUS) == "Notifications, 2 unread"
    assert browser.problems == []


async def test_opening_it_reads_and_what_was_unread_stays_marked_until_it_is_closed(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    await album(server, "Post")
    await album(server, "Homogenic")
    await opened(browser, page, server, count=2)
    await browser.value(f"{ROOT}.getElementById('bell').click()")
    await browser.within(f"{BADGE} === '' && {STATUS} === 'Notifications'")
    assert await browser.value(f"{ROOT}.getElementById('bell').ariaExpanded") == "true"
    assert await browser.value(UNREAD) == 2
    await press(browser, "Escape")
    await browser.within(f"{UNREAD} === 0 && {ROOT}.getElementById('bell').ariaExpanded === 'false'")
    assert server.inbox is not None
    assert server.inbox.read_mark == 2


async def test_keys_open_it_and_go_through_it_and_choose(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    await album(server, "Post")
    await album(server, "Homogenic", id="chosen")
    await opened(browser, page, server, count=2)
    await browser.value("addEventListener('segue-open', (event) => { window.opened = event.detail.id; })")
    await browser.value(f"{ROOT}.getElementById('bell').focus()")
    await press(browser, "Enter")
    await browser.within(f"{ROOT}.getElementById('panel').matches(':popover-open')")
    await browser.value(f"{ROOT}.querySelector('li button').focus()")
    for key, about in (("End", "Post"), ("ArrowUp", "Homogenic"), ("ArrowDown", "Post"), ("Home", "Homogenic")):
        await press(browser, key)
        await browser.within(f"{FOCUSED} === '{about}'")
    await press(browser, "Enter")
    assert await browser.value("window.opened") == "chosen"


async def test_what_is_read_elsewhere_is_read_here(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    await album(server, "Post")
    await opened(browser, page, server, count=1)
    await server.tell("marks", {"epoch": server.inbox.epoch if server.inbox else 0, "read": 1, "unread": 0})
    await browser.within(f"{BADGE} === ''")


async def test_markup_in_a_notification_stays_text(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    markup = "<img src=x onerror='window.hacked = 1'>"
    fields: dict[str, Any] = {"kind": markup, "class": markup, "topic": markup, "payload": {"artist": markup, "album": markup}}
    await server.publish(**fields)
    await opened(browser, page, server, count=1)
    assert await browser.value(f"{ROOT}.querySelectorAll('img').length") == 0
    assert markup in json.dumps(await browser.value(ROWS))


async def test_it_speaks_the_language_of_the_page(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    page.language = "sv-SE"
    await album(server, "Post")
    await opened(browser, page, server, count=1)
    assert await browser.value(STATUS) == "Aviseringar, 1 oläst"
    assert await browser.value(ROWS) == ["Björk har ett nytt albumPost"]


async def test_two_elements_of_one_user_share_a_connection_that_ends_with_the_last(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    await opened(browser, page, server, count=0)
    peer = await server.next_peer()
    await browser.value("document.body.append(document.querySelector('segue-bell').cloneNode())")
    await browser.value("document.querySelectorAll('segue-bell')[0].remove()")
    await album(server, "Post")
    await browser.within(f"{BADGE} === '1'")
    await browser.value("document.querySelector('segue-bell').remove()")
    await peer.gone()
