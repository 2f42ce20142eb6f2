"""`<segue-bell>` in a real browser, against a server that plays a script."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.browser import Browser
from tests.support.element_page import ElementPage
from tests.support.inbox_model import InboxModel
from tests.support.scripted_server import ScriptedServer, error

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = "document.querySelector('segue-bell').shadowRoot"
BADGE = f"{ROOT}.getElementById('badge').textContent"
STATUS = f"{ROOT}.querySelector('[role=status]').textContent"
ROWS = f"[...{ROOT}.querySelectorAll('li .what')].map((row) => row.textContent)"
UNREAD = f"{ROOT}.querySelectorAll('li.unread').length"
MENU = f"{ROOT}.getElementById('menu')"
ENTRIES = f"[...{MENU}.querySelectorAll('[role=menuitem]')].map((entry) => entry.textContent)"
MORE = f"{ROOT}.querySelector('.more')"
EMPTY = f"({ROOT}.getElementById('state').hidden ? '' : {ROOT}.getElementById('state').textContent)"
FOCUSED = f"{ROOT}.activeElement?.querySelector('.about')?.textContent"

# The numbers by which browsers know keys (UI Events, "Fixed virtual key codes").
KEYS = {"Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}


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


async def open_panel(browser: Browser) -> None:
    await browser.value(f"{ROOT}.getElementById('bell').click()")
    await browser.within(f"{ROOT}.getElementById('panel').matches(':popover-open')")


async def choose(browser: Browser, action: str, row: int = 0) -> None:
    await browser.value(f"{ROOT}.querySelectorAll('.more')[{row}].click()")
    await browser.within(f"{MENU}.matches(':popover-open')")
    await browser.value(f"{MENU}.querySelector('[data-action={action}]').click()")


async def show_tab(browser: Browser, tab: str) -> None:
    await browser.value(f"{ROOT}.getElementById('tab-{tab}').click()")


def shows(*albums: str) -> str:
    """Returns the condition that these albums are shown, newest first."""
    return f"[...{ROOT}.querySelectorAll('li .about')].map((about) => about.textContent).join() === {json.dumps(','.join(albums))}"


async def test_keys_open_the_menu_of_one_and_archive_it(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    """Escape closes the menu alone, and its button has the focus again; of one that goes, the next one has it."""
    for name in ("Post", "Homogenic"):
        await album(server, name)
    await opened(browser, page, server, count=2)
    await open_panel(browser)
    await browser.within(f"{BADGE} === ''")
    await browser.value(f"{MORE}.focus()")
    for closing in ("Escape", "Tab"):
        await press(browser, "Enter")
        await browser.within(f"{MENU}.matches(':popover-open') && {ROOT}.activeElement.textContent === 'Mark as read'")
        assert await browser.value(ENTRIES) == ["Mark as read", "Archive", "Delete"]
        assert await browser.value(f"{MENU}.ariaLabel") == "Actions for: Björk has a new album Homogenic"
        await press(browser, closing)
        await browser.within(f"!{MENU}.matches(':popover-open') && {ROOT}.activeElement === {MORE} && {MORE}.ariaExpanded === 'false'")
        assert await browser.value(f"{ROOT}.getElementById('panel').matches(':popover-open')") is True
    await press(browser, "Enter")
    await browser.within(f"{ROOT}.activeElement.textContent === 'Mark as read'")
    for key, label in (
        ("ArrowUp", "Delete"),
        ("ArrowDown", "Mark as read"),
        ("End", "Delete"),
        ("Home", "Mark as read"),
        ("ArrowDown", "Archive"),
    ):
        await press(browser, key)
        await browser.within(f"{ROOT}.activeElement.textContent === '{label}'")
    await press(browser, "Enter")
    await browser.within(shows("Post"))
    await browser.within(f"{ROOT}.activeElement === {MORE}")
    await press(browser, "ArrowLeft")
    await browser.within(f"{FOCUSED} === 'Post'")
    assert browser.problems == []


async def test_a_row_stays_the_same_element_while_others_come_and_go(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    for name in ("Post", "Homogenic"):
        await album(server, name)
    await opened(browser, page, server, count=2)
    await open_panel(browser)
    await browser.value(f"{ROOT}.querySelectorAll('.row')[1].focus(); window.kept = {ROOT}.activeElement; 0")
    await album(server, "Vespertine")
    await browser.within(shows("Vespertine", "Homogenic", "Post"))
    await choose(browser, "delete", 1)
    await browser.within(shows("Vespertine", "Post"))
    assert await browser.value(f"window.kept === {ROOT}.querySelectorAll('.row')[1]")
    assert await browser.value(f"[...{ROOT}.querySelectorAll('li.arrived')].length") == 1


async def test_one_that_another_device_takes_away_takes_its_menu_with_it(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    for name in ("Post", "Homogenic"):
        await album(server, name)
    await opened(browser, page, server, count=2)
    await open_panel(browser)
    await browser.value(f"{MORE}.click()")
    await browser.within(f"{MENU}.matches(':popover-open')")
    assert server.inbox is not None
    server.inbox.change("phone", {"action": "delete", "marks": [2]})
    await server.tell_news()
    await browser.within(f"{shows('Post')} && !{MENU}.matches(':popover-open')")
    frame = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
    await browser.value(frame)  # what has gone keeps the focus until the page is drawn
    assert await browser.value(f"{ROOT}.activeElement === {MORE}")


async def test_what_is_archived_is_shown_apart_and_moved_back_and_what_is_deleted_is_gone(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    """Also what another device has done."""
    for name in ("Post", "Homogenic", "Vespertine"):
        await album(server, name)
    await opened(browser, page, server, count=3)
    await open_panel(browser)
    await choose(browser, "archive")
    await browser.within(shows("Homogenic", "Post"))
    assert server.inbox is not None
    server.inbox.change("phone", {"action": "archive", "marks": [1]})
    await server.tell_news()
    await browser.within(shows("Homogenic"))
    await show_tab(browser, "archived")
    await browser.within(shows("Vespertine", "Post"))
    assert await browser.value(f"{ROOT}.getElementById('tab-archived').ariaSelected") == "true"
    await choose(browser, "unarchive", 1)
    await browser.within(shows("Vespertine"))
    await choose(browser, "delete")
    await browser.within(f"{EMPTY} === 'What you archive is kept here.' && {shows()}")
    assert await browser.value(f"{ROOT}.activeElement.id") == "tab-archived"
    await show_tab(browser, "all")
    await browser.within(shows("Homogenic", "Post"))
    assert server.inbox.states[3]["deleted"]


async def test_one_is_marked_unread_again_and_all_are_read_at_once(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    for name in ("Post", "Homogenic"):
        await album(server, name)
    await opened(browser, page, server, count=2)
    await open_panel(browser)
    await browser.within(f"{BADGE} === '' && {UNREAD} === 2")
    await choose(browser, "read")
    await browser.within(f"{UNREAD} === 1")
    await choose(browser, "unread")
    await browser.within(f"{UNREAD} === 2 && {BADGE} === '1'")
    await browser.value(f"{ROOT}.getElementById('read-all').click()")
    await browser.within(f"{UNREAD} === 0 && {BADGE} === '' && {ROOT}.getElementById('read-all').ariaDisabled === 'true'")
    await show_tab(browser, "unread")
    await browser.within(f"{EMPTY} === 'You have read everything.' && {shows()}")


async def test_all_that_is_read_is_archived_at_once(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    for name in ("Post", "Homogenic", "Vespertine"):
        await album(server, name)
    assert server.inbox is not None
    server.inbox.read_mark = 2
    page.body = f"<segue-bell url='{server.url}' token='secret' reads='chosen'></segue-bell>"
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-bell') && {UNREAD} === 1 && {shows('Vespertine', 'Homogenic', 'Post')}")
    await open_panel(browser)
    await browser.value(f"{ROOT}.getElementById('archive-read').click()")
    await browser.within(shows("Vespertine"))
    assert [mark for mark, state in server.inbox.states.items() if state["archived"]] == [2, 1]


async def test_only_what_is_chosen_is_read_where_the_page_wants_that(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    for name in ("Post", "Homogenic"):
        await album(server, name)
    page.body = f"<segue-bell url='{server.url}' token='secret' reads='chosen'></segue-bell>"
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-bell') && {BADGE} === '2'")
    await open_panel(browser)
    await browser.value(f"{ROOT}.querySelectorAll('.row')[1].click()")
    await browser.within(f"{BADGE} === '1' && {UNREAD} === 1 && {ROOT}.querySelectorAll('li')[0].className === 'unread'")


async def test_it_is_searched_and_filtered(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    await album(server, "Post")
    await album(server, "Homogenic", **{"class": "new-track"})
    await opened(browser, page, server, count=2)
    await open_panel(browser)
    search, about = f"{ROOT}.getElementById('search')", f"{ROOT}.getElementById('class')"

    async def look_for(text: str) -> None:
        await browser.value(f"{search}.value = {json.dumps(text)}; {search}.dispatchEvent(new Event('input'))")

    await look_for("POST")
    await browser.within(shows("Post"))
    await look_for("nothing of ours")
    await browser.within(f"{EMPTY} === 'Nothing here fits.' && {shows()}")
    await look_for("")
    await browser.value(f"{about}.value = 'new-track'; {about}.dispatchEvent(new Event('change'))")
    await browser.within(shows("Homogenic"))
    assert await browser.value(f"[...{about}.options].map((option) => option.label)") == ["All kinds", "New albums", "New tracks"]


async def test_older_ones_are_loaded_when_the_last_ones_come_into_view(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    for number in range(45):
        await album(server, f"No. {number}")
    page.body = f"<header><segue-bell url='{server.url}' token='secret'></segue-bell></header>"
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-bell') && {ROOT}.querySelectorAll('li').length === 20")
    await open_panel(browser)
    await browser.value(f"{ROOT}.querySelector('li:last-child').scrollIntoView()")
    await browser.within(f"{ROOT}.querySelectorAll('li').length === 40")
    await browser.value(f"{ROOT}.querySelector('li:last-child').scrollIntoView()")
    await browser.within(f"{ROOT}.querySelectorAll('li').length === 45 && {ROOT}.getElementById('older').hidden")


async def test_older_ones_that_cannot_be_loaded_are_tried_again_when_that_is_chosen_and_after_a_reconnect(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    """Where one list has failed, the other one is loaded all the same."""
    for number in range(65):
        await album(server, f"No. {number}")
    assert server.inbox is not None
    server.inbox.change("another", {"action": "archive", "marks": [1]})
    page.body = f"<header><segue-bell url='{server.url}' token='secret'></segue-bell></header>"
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-bell') && {ROOT}.querySelectorAll('li').length === 20")
    await open_panel(browser)
    older, last = f"{ROOT}.getElementById('older')", f"{ROOT}.querySelector('li:last-child').scrollIntoView()"

    async def fail() -> None:
        server.answers["list"] = lambda message: error("unavailable", 4300, id=message["id"])
        await browser.value(last)
        await browser.within(f"{older}.textContent === 'Try again'")

    await fail()
    del server.answers["list"]
    await show_tab(browser, "archived")
    await browser.within(f"{shows('No. 0')} && {older}.hidden")
    await show_tab(browser, "all")
    await browser.within(f"{older}.textContent === 'Try again'")
    await browser.value(f"{older}.click()")
    await browser.within(f"{ROOT}.querySelectorAll('li').length === 40 && {older}.textContent === 'Show older'")
    await fail()
    del server.answers["list"]
    (await server.next_peer()).drop()
    await browser.within(f"{ROOT}.querySelectorAll('li').length >= 60 && {older}.textContent === 'Show older'")


async def test_its_panel_stays_within_a_page_that_becomes_narrow(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    await opened(browser, page, server, count=0)
    await browser.screenshot(width=1300)
    await open_panel(browser)
    place = f"{ROOT}.getElementById('panel').getBoundingClientRect()"
    for width in (820, 380, 1300):
        await browser.screenshot(width=width)
        await browser.within(f"{place}.left >= 8 && {place}.right <= {width} - 8 && {place}.width >= 364")
        gap = f"Math.abs({place}.right - {ROOT}.getElementById('bell').getBoundingClientRect().right)"
        await browser.within(f"{gap} < 40 || {width} === 380")


async def test_what_cannot_be_loaded_is_said_and_tried_again(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    await album(server, "Post")
    server.answers["list"] = lambda message: error("unavailable", 4300, id=message["id"])
    page.body = f"<segue-bell url='{server.url}' token='secret'></segue-bell>"
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-bell') && {EMPTY} === 'Notifications could not be loaded.'")
    del server.answers["list"]
    await browser.value(f"{ROOT}.getElementById('again').click()")
    await browser.within(f"{shows('Post')} && {EMPTY} === '' && {ROOT}.getElementById('again').hidden")


async def test_what_cannot_be_done_is_said(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    await album(server, "Post")
    await opened(browser, page, server, count=1)
    await open_panel(browser)
    server.answers["change"] = lambda message: error("unavailable", 4300, id=message["id"])
    await choose(browser, "archive")
    refused = f"{ROOT}.getElementById('refused').textContent"
    await browser.within(f"{refused} === 'That could not be done. Try again.' && {shows('Post')}")
    del server.answers["change"]
    await choose(browser, "archive")
    await browser.within(f"{refused} === '' && {shows()}")


async def test_tabs_are_gone_through_with_keys_in_both_directions(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    for language, forward in (("en", "ArrowRight"), ("ar", "ArrowLeft")):
        page.language = language
        await opened(browser, page, server, count=0)
        await open_panel(browser)
        await browser.value(f"{ROOT}.getElementById('tab-all').focus()")
        for tab in ("unread", "archived", "all"):
            await press(browser, forward)
            await browser.within(f"{ROOT}.activeElement.id === 'tab-{tab}' && {ROOT}.activeElement.ariaSelected === 'true'")
